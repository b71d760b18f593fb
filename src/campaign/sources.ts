import type { Diagnostic } from '../errors.ts';
import type { InputFile, SourceText, Template } from '../model.ts';
import { displayPath, findFileAnywhere, findFileInside } from '../util/paths.ts';
import type { Merged } from './merge.ts';
import { includedPartials, readPartials } from './partials.ts';
import { fromRoot } from './project.ts';
import { faultAt, readTemplateFile, trimText } from './read-text.ts';

/** The files that a campaign names: found, and read where they are small. */
export interface Sources {
  /** Null where it could not be read, or none is named. */
  readonly template: Template | null;
  readonly partials: ReadonlyMap<string, SourceText>;
  readonly list: ListFile | null;
  readonly inputs: readonly InputFile[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The list: its real path, and as the user would name it. */
export interface ListFile {
  readonly path: string;
  readonly file: string;
}

export interface SourcesOptions {
  /** Real path of the project's root. */
  readonly root: string;
  /** Real path of the campaign's folder. */
  readonly folder: string;
  /** Real path of the current folder. */
  readonly cwd: string;
  /** What `--recipients` says, relative to `cwd`. */
  readonly recipients: string | null;
  readonly sharedPartials: { readonly path: string; readonly where: Partial<Diagnostic> } | null;
}

/** Finds and reads template, partials and list; everything that is wrong with them at once. */
export async function readSources(merged: Merged, options: SourcesOptions): Promise<Sources> {
  const diagnostics: Diagnostic[] = [];
  const main = await readTemplate(merged, options, diagnostics);
  const { partials, diagnostics: wrong } = await readPartials({
    ...options,
    template: main.path,
    shared: options.sharedPartials,
  });
  diagnostics.push(...wrong);

  const texts = [
    ...(main.template?.kind === 'text' ? [main.template.source.text] : []),
    ...Object.values(merged.file.variables ?? {}),
    ...Object.values(merged.file.recipientMetaData ?? {}),
  ];
  // A partial that nobody includes changes no message: its faults do not matter here, and its hash is not an input.
  const included = includedPartials(texts, partials);
  const sources = new Map<string, SourceText>();
  const inputs = [...main.inputs];
  for (const [name, { result }] of partials) {
    if ('source' in result) sources.set(name, result.source);
    if (!included.has(name)) continue;
    if ('problem' in result) diagnostics.push(result.problem);
    else inputs.push(result.input);
  }
  const list = await findList(merged, options, diagnostics);
  return { template: main.template, partials: sources, list, inputs, diagnostics };
}

async function readTemplate(
  merged: Merged,
  options: SourcesOptions,
  diagnostics: Diagnostic[],
): Promise<{
  readonly template: Template | null;
  readonly path: string | null;
  readonly inputs: readonly InputFile[];
}> {
  const { template } = merged.file;
  const nothing = { template: null, path: null, inputs: [] };
  if (template === undefined) return nothing;
  if (typeof template !== 'string' && template.id !== undefined) {
    return { ...nothing, template: { kind: 'provider', id: template.id } };
  }
  if (typeof template !== 'string' && template.text !== undefined) {
    const source = merged.text('/template/text');
    const text = trimText(template.text);
    return { ...nothing, template: source === null ? null : { kind: 'text', source: { ...source, text } } };
  }
  const written = typeof template === 'string' ? template : template.file;
  if (written === undefined) return nothing;
  const where = merged.where(typeof template === 'string' ? '/template' : '/template/file') ?? {};
  const found = await findFileInside(options.root, options.folder, written);
  if ('fault' in found) {
    diagnostics.push(faultAt(found.fault, where));
    return nothing;
  }
  const read = await readTemplateFile(found.path, displayPath(found.path, options.cwd), where);
  if ('problem' in read) {
    diagnostics.push(read.problem);
    return { ...nothing, path: found.path };
  }
  const input: InputFile = { role: 'template', file: fromRoot(options.root, found.path), sha256: read.sha256 };
  return { template: { kind: 'text', source: read.source }, path: found.path, inputs: [input] };
}

/** Only found, not read: it may have a million rows. */
async function findList(merged: Merged, options: SourcesOptions, diagnostics: Diagnostic[]): Promise<ListFile | null> {
  const written = options.recipients ?? merged.recipients.csv;
  if (written === undefined) return null;
  const where = options.recipients === null ? (merged.where('/recipients/csv') ?? {}) : {};
  const found =
    options.recipients === null
      ? await findFileInside(options.root, options.folder, written)
      : await findFileAnywhere(options.cwd, written);
  if ('path' in found) return { path: found.path, file: displayPath(found.path, options.cwd) };
  diagnostics.push(faultAt(found.fault, where));
  return null;
}

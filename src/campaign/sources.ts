import type { Diagnostic } from '../errors.ts';
import type { Channel, InputFile, SourceText } from '../model.ts';
import { displayPath, findFileAnywhere, findFileInside } from '../util/paths.ts';
import { type LegSources, readLeg } from './leg-sources.ts';
import type { Merged } from './merge.ts';
import { includedPartials, readPartials } from './partials.ts';
import { faultAt } from './read-text.ts';
import type { FallbackFile, LegFile } from './written.ts';

/** The files that a campaign names: found, and read where they are small. */
export interface Sources {
  /** Of the campaign itself, of each variant, of each fallback. */
  readonly main: LegSources;
  readonly variants: readonly LegSources[];
  readonly fallbacks: readonly LegSources[];
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
  /** Real path of the campaign file, and as the user would name it. */
  readonly path: string;
  readonly file: string;
  /** Real path of the campaign's folder. */
  readonly folder: string;
  /** Real path of the current folder. */
  readonly cwd: string;
  /** What `--recipients` says, relative to `cwd`. */
  readonly recipients: string | null;
  readonly sharedPartials: { readonly path: string; readonly where: Partial<Diagnostic> } | null;
}

/** Finds and reads templates, content, partials and list; everything that is wrong with them at once. */
export async function readSources(merged: Merged, options: SourcesOptions): Promise<Sources> {
  const diagnostics: Diagnostic[] = [];
  const { file } = merged;
  const channel = file.channel ?? 'sms';
  const leg = (written: LegFile, pointer: string, of: Channel) =>
    readLeg(written, merged, { ...options, pointer, channel: of }, diagnostics);
  const main = await leg(file, '', channel);
  const variants: LegSources[] = [];
  for (const [i, variant] of (file.variants ?? []).entries()) {
    variants.push(await leg(variant, `/variants/${i}`, channel));
  }
  const fallbacks: LegSources[] = [];
  for (const { written, pointer } of fallbackFiles(file)) {
    fallbacks.push(await leg(written, pointer, written.channel ?? 'sms'));
  }
  const legs = [main, ...variants, ...fallbacks];
  const { partials, diagnostics: wrong } = await readPartials({
    ...options,
    templates: new Set(legs.flatMap(({ paths }) => paths)),
    shared: options.sharedPartials,
  });
  diagnostics.push(...wrong);

  // A partial that is not included changes no message: its faults do not matter here, and its hash is not an input.
  const included = includedPartials([...legs.flatMap(textsOf), ...expressionsOf(file)], partials);
  const sources = new Map<string, SourceText>();
  const inputs = uniqueInputs(legs.flatMap((read) => read.inputs));
  for (const [name, { result }] of partials) {
    if ('source' in result) sources.set(name, result.source);
    if (!included.has(name)) continue;
    if ('problem' in result) diagnostics.push(result.problem);
    else inputs.push(result.input);
  }
  const list = await findList(merged, options, diagnostics);
  return { main, variants, fallbacks, partials: sources, list, inputs, diagnostics };
}

/** The fallbacks in order, however they are written, with the pointer of each. */
export function fallbackFiles(
  file: Merged['file'],
): readonly { readonly written: FallbackFile; readonly pointer: string }[] {
  const { fallback } = file;
  if (fallback === undefined) return [];
  if (!isSeveral(fallback)) return [{ written: fallback, pointer: '/fallback' }];
  return fallback.map((written, i) => ({ written, pointer: `/fallback/${i}` }));
}

function isSeveral(fallback: FallbackFile | readonly FallbackFile[]): fallback is readonly FallbackFile[] {
  return Array.isArray(fallback);
}

function textsOf({ template, content }: LegSources): readonly string[] {
  const own = template?.kind === 'text' ? [template.source.text] : [];
  return content === null ? own : [...own, ...[...content.texts.values()].map(({ text }) => text)];
}

function expressionsOf(file: Merged['file']): readonly string[] {
  const fallbacks = fallbackFiles(file).map(({ written }) => written);
  const variables = [file, ...(file.variants ?? []), ...fallbacks].flatMap((leg) =>
    Object.values(leg.variables ?? {}).flatMap((one) => (typeof one === 'string' ? [one] : Object.values(one))),
  );
  return [...variables, ...Object.values(file.recipientMetaData ?? {})];
}

/** Two legs may share a template; it is one input. */
function uniqueInputs(inputs: readonly InputFile[]): InputFile[] {
  return [...new Map(inputs.map((input) => [input.file, input])).values()];
}

/** Only found, not read: it may have a million rows. */
async function findList(merged: Merged, options: SourcesOptions, diagnostics: Diagnostic[]): Promise<ListFile | null> {
  const { csv, list, contacts } = merged.recipients;
  const written = options.recipients ?? csv;
  if (written === undefined) {
    return list === undefined && contacts === undefined ? null : { path: options.path, file: options.file };
  }
  const where = options.recipients === null ? (merged.where('/recipients/csv') ?? {}) : {};
  const found =
    options.recipients === null
      ? await findFileInside(options.root, options.folder, written)
      : await findFileAnywhere(options.cwd, written);
  if ('path' in found) return { path: found.path, file: displayPath(found.path, options.cwd) };
  diagnostics.push(faultAt(found.fault, where));
  return null;
}

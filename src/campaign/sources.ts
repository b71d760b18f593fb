import { basename, join, resolve } from 'node:path';
import { type Diagnostic, problem, warning } from '../errors.ts';
import type { Channel, Content, InputFile, JsonObject, ListSpec, SourceText, Template } from '../model.ts';
import { FORBIDDEN_NAMES, isList, pointerTo } from '../util/json.ts';
import { displayPath, findFolderInside, fromRoot, isInside } from '../util/paths.ts';
import type { Merged } from './merge.ts';
import { findNamedFile, MAX_HTML_BYTES, MAX_TEMPLATE_BYTES, readNamedText, trimText } from './named-file.ts';
import { entriesOf } from './place.ts';
import type { FallbackFile, MessageFile, StepFile } from './written.ts';

export type Sources = ReturnType<typeof readSources>;

interface SourcesOptions {
  /** Real path of the project's root. */
  readonly root: string;
  /** Real path of the campaign file, and as the user would name it. */
  readonly path: string;
  readonly file: string;
  readonly folder: string;
  readonly cwd: string;
  /** From `--recipients`, relative to `cwd`. */
  readonly recipients: string | null;
  /** The file that holds standard input, where that is the list. */
  readonly pipedList: string | null;
  /** Folders outside the project in which the list may be. */
  readonly listFolders: readonly string[];
  readonly withSample: boolean;
  readonly sharedPartials: { readonly path: string; readonly where: Partial<Diagnostic> } | null;
}

export function readSources(merged: Merged, options: SourcesOptions) {
  const diagnostics: Diagnostic[] = [];
  const { file } = merged;
  const channel = file.channel ?? 'sms';
  const step = (written: StepFile, pointer: string, of: Channel) =>
    readStep(written, merged, { ...options, pointer, channel: of }, diagnostics);
  const message = (written: MessageFile, pointer: string): MessageSources => {
    const fallbacks = fallbackFiles(written, pointer).map((one) =>
      step(one.written, one.pointer, one.written.channel ?? 'sms'),
    );
    return { ...step(written, pointer, channel), fallbacks };
  };
  const main = message(file, '');
  const variants = (file.variants ?? []).map((variant, i) => message(variant, `/variants/${i}`));
  const steps = [main, ...variants].flatMap((one) => [one, ...one.fallbacks]);
  const templates = new Set(steps.flatMap(({ paths }) => paths));
  const partials = readPartials(options, templates, diagnostics);

  // A partial that is not included changes no message: its faults do not matter here, and its hash is not an input.
  const texts = steps.flatMap(({ template, content }) => [
    ...(template?.kind === 'text' ? [template.source] : []),
    ...(content?.texts.values() ?? []),
  ]);
  const included = includedPartials([...texts.map(({ text }) => text), ...expressionsOf(file)], partials);
  const sources = new Map<string, SourceText>();
  // Two steps may share a template; it is one input.
  const inputs = [...new Map(steps.flatMap((read) => read.inputs).map((input) => [input.file, input])).values()];
  for (const [name, read] of partials) {
    if ('source' in read) sources.set(name, read.source);
    if (!included.has(name)) continue;
    if ('problem' in read) diagnostics.push(read.problem);
    else inputs.push(read.input);
  }
  const list = findList(merged, options, diagnostics);
  return { main, variants, partials: sources, list, inputs, diagnostics };
}

/** @param pointer - of the message: empty for the campaign itself, else such as `/variants/0` */
export function fallbackFiles(
  { fallback }: Pick<MessageFile, 'fallback'>,
  pointer: string,
): readonly { readonly written: FallbackFile; readonly pointer: string }[] {
  const at = `${pointer}/fallback`;
  if (fallback === undefined) return [];
  if (!isList(fallback)) return [{ written: fallback, pointer: at }];
  return fallback.map((written, i) => ({ written, pointer: `${at}/${i}` }));
}

function expressionsOf(file: Merged['file']): readonly string[] {
  const messages: readonly MessageFile[] = [file, ...(file.variants ?? [])];
  const fallbacks = messages.flatMap((one) => fallbackFiles(one, '')).map(({ written }) => written);
  const variables = [...messages, ...fallbacks].flatMap((step) =>
    Object.values(step.variables ?? {}).flatMap((one) => (typeof one === 'string' ? [one] : Object.values(one))),
  );
  return [...variables, ...Object.values(file.recipientMetaData ?? {})];
}

/** Finds it without reading it: it may have a million rows. */
function findList(
  merged: Merged,
  options: SourcesOptions,
  diagnostics: Diagnostic[],
): Pick<ListSpec, 'path' | 'file' | 'given' | 'missing' | 'sample' | 'sampled'> | null {
  const { csv, list, contacts } = merged.recipients;
  const written = options.recipients ?? csv;
  if (written === undefined) {
    return list === undefined && contacts === undefined ? null : { path: options.path, file: options.file };
  }
  if (options.recipients === '-') {
    if (options.pipedList !== null) return { path: options.pipedList, file: 'standard input', given: '-' };
    diagnostics.push(problem('usage', 'A list from standard input cannot be used here.', { hint: NOT_PIPED }));
    return null;
  }
  const isOwn = options.recipients === null;
  const where = isOwn ? (merged.where('/recipients/csv') ?? {}) : {};
  const outside = isOwn ? options.listFolders : 'anywhere';
  const found = findNamedFile(written, {
    ...options,
    folder: isOwn ? options.folder : options.cwd,
    where,
    outside,
  });
  const sample = isOwn ? findSample(merged, options, diagnostics) : null;
  const own = sample === null ? {} : { sample };
  if ('path' in found) {
    if (found.path === sample?.path) {
      const hint = 'Name a file with invented people: `send` goes to those of the list.';
      const at = merged.where('/recipients/sample') ?? {};
      diagnostics.push(problem('invalid-value', '"recipients.sample" is the list itself.', { ...at, hint }));
    }
    if (isOwn) return { ...found, ...own };
    return { ...found, given: isInside(options.root, found.path) ? fromRoot(options.root, found.path) : found.path };
  }
  const fault = found.problem;
  const isOutside = fault.code === 'path-outside-project' && isOwn && !written.includes('\0');
  if ((fault.code === 'file-not-found' || isOutside) && written.trim() !== '') {
    // Continue, so that faults of the templates are reported together with this.
    const path = resolve(isOwn ? options.folder : options.cwd, written);
    const file = displayPath(path, options.cwd);
    if (sample === null) return { path, file, missing: fault };
    if (!options.withSample) return { path, file, missing: isOutside ? fault : { ...fault, hint: NOT_SENT }, ...own };
    const message = `The list ${file} is ${isOutside ? 'outside of the project' : 'not there'}: its sample ${sample.file} is read in its place.`;
    const hint = 'Recipients, parts and cost are those of the sample. `send` reads the list, and never the sample.';
    return { ...sample, sampled: warning('list-sampled', message, { ...where, hint }) };
  }
  diagnostics.push(fault);
  return null;
}

const NOT_PIPED =
  'Give the same list again with `--recipients -`, or name a file with the same bytes with `--recipients FILE`.';
const NOT_SENT = 'Put the list there. Its sample is for `validate`, `preview` and `diff`, and never sent to.';

/** The committed file with invented people in place of the list; null: none. */
function findSample(merged: Merged, options: SourcesOptions, diagnostics: Diagnostic[]) {
  const { sample } = merged.recipients;
  if (sample === undefined) return null;
  const found = findNamedFile(sample, { ...options, where: merged.where('/recipients/sample') ?? {} });
  if ('path' in found) return found;
  // Commands that send do not use it.
  if (options.withSample) diagnostics.push(found.problem);
  return null;
}

export interface StepSources {
  /** Null: it could not be read, or none is named. */
  readonly template: Template | null;
  readonly content: Content | null;
  /** Real paths of the files: they are no partials. */
  readonly paths: readonly string[];
  readonly inputs: readonly InputFile[];
}

interface MessageSources extends StepSources {
  readonly fallbacks: readonly StepSources[];
}

interface StepPlace extends SourcesOptions {
  /** The JSON pointer of the step: empty for the campaign itself, else such as `/variants/0`. */
  readonly pointer: string;
  readonly channel: Channel;
}

function readStep(written: StepFile, merged: Merged, place: StepPlace, diagnostics: Diagnostic[]) {
  const reading: Reading = { merged, place, diagnostics, paths: [], inputs: [] };
  const main = readTemplate(written, reading);
  const html = main !== null && 'html' in main ? main.html : readHtml(written, reading);
  const own = main !== null && 'kind' in main ? main : null;
  const at = `${place.pointer}/content/text`;
  const hasText = typeof written.content?.['text'] === 'string';
  const template = own ?? (hasText ? textAt(merged, at) : null);
  if (own !== null && hasText) {
    const message = '"template" and "content.text" both say what the message is.';
    const where = merged.where(at) ?? {};
    diagnostics.push(problem('invalid-value', message, { ...where, hint: 'Remove "content.text", or "template".' }));
  }
  const content = readContent(written, html, reading);
  return { template, content, paths: reading.paths, inputs: reading.inputs };
}

interface Reading {
  readonly merged: Merged;
  readonly place: StepPlace;
  readonly diagnostics: Diagnostic[];
  readonly paths: string[];
  readonly inputs: InputFile[];
}

interface Html {
  readonly source: SourceText;
  readonly pointer: string;
}

/** An email's template can be HTML: files with this ending, also before a Handlebars ending. */
const HTML_FILE = /\.(?:html?|mjml)(?:\.hbs|\.handlebars)?$/i;

function readTemplate(written: StepFile, reading: Reading): Template | { readonly html: Html } | null {
  const { template } = written;
  const { merged, place } = reading;
  const at = `${place.pointer}/template`;
  if (template === undefined) return null;
  if (typeof template === 'string') return readTemplateAt(template, at, reading);
  // Counts values that were reported and dropped, too.
  const kinds = ['file', 'text', 'id'].filter((key) => merged.isWritten(`${at}/${key}`));
  if (kinds.length !== 1) {
    const message = '"template" takes exactly one of "file", "text" and "id".';
    reading.diagnostics.push(problem('invalid-value', message, merged.where(at) ?? {}));
    return null;
  }
  if (template.needs !== undefined && !kinds.includes('id')) {
    const message = '"template.needs" is for a template of the provider.';
    const hint = 'A text that is rendered here is checked against the columns anyway. Remove it, or use template.id.';
    reading.diagnostics.push(problem('invalid-value', message, { ...merged.where(`${at}/needs`), hint }));
  }
  if (template.id !== undefined) {
    const where = merged.where(`${at}/needs`) ?? merged.where(`${at}/id`) ?? {};
    return { kind: 'provider', id: template.id, needs: template.needs ?? null, place: where };
  }
  if (template.file !== undefined) return readTemplateAt(template.file, `${at}/file`, reading);
  return textAt(merged, `${at}/text`);
}

function textAt(merged: Merged, pointer: string): Template | null {
  const source = merged.text(pointer);
  return source === null ? null : { kind: 'text', source: { ...source, text: trimText(source.text) } };
}

function readTemplateAt(written: string, pointer: string, reading: Reading): Template | { readonly html: Html } | null {
  const isHtml = reading.place.channel === 'email' && HTML_FILE.test(written);
  const source = readFileAt(written, pointer, isHtml ? MAX_HTML_BYTES : MAX_TEMPLATE_BYTES, reading);
  if (source === null) return null;
  return isHtml ? { html: { source, pointer } } : { kind: 'text', source };
}

function readHtml(written: StepFile, reading: Reading): Html | null {
  const file = written.content?.['html'];
  if (typeof file !== 'string') return null;
  const pointer = `${reading.place.pointer}/content/html`;
  const source = readFileAt(file, pointer, MAX_HTML_BYTES, reading);
  return source === null ? null : { source, pointer };
}

function readFileAt(
  written: string,
  pointer: string,
  mostBytes: number,
  { merged, place, diagnostics, paths, inputs }: Reading,
): SourceText | null {
  const read = readNamedText(written, { ...place, where: merged.where(pointer) ?? {} }, mostBytes);
  if (read.path !== undefined) paths.push(read.path);
  if ('source' in read) {
    inputs.push({ role: 'template', file: fromRoot(place.root, read.path), sha256: read.sha256 });
    return read.source;
  }
  // A file name has no tags; it may have spaces, but then ends in `.hbs` or the like.
  const isText = written.includes('{{') || (/\s/.test(written.trim()) && !/\.[a-z]{2,10}$/i.test(written));
  const isMeant = isText && read.path === undefined && pointer.includes('/template');
  diagnostics.push(isMeant ? { ...read.problem, hint: AS_TEXT } : read.problem);
  return null;
}

const AS_TEXT = '`template` names a file. A text is written so: `template: { text: "Hi {{name}}" }`.';

function readContent(written: StepFile, html: Html | null, { merged, place }: Reading): Content | null {
  if (written.content === undefined && html === null) return null;
  const { text: _, ...rest } = written.content ?? {};
  const tree: JsonObject = html === null ? rest : { ...rest, html: '' };
  const base = `${place.pointer}/content`;
  const texts = new Map<string, SourceText>();
  const places = new Map<string, NonNullable<ReturnType<Merged['where']>>>();
  const visit = (value: unknown, pointer: string): void => {
    const where = merged.where(base + pointer);
    if (where !== null) places.set(pointer, where);
    const source = typeof value === 'string' ? merged.text(base + pointer) : null;
    if (source !== null) texts.set(pointer, source);
    if (value === null || typeof value !== 'object') return;
    for (const [key, inner] of Object.entries(value)) visit(inner, pointer + pointerTo([key]));
  };
  visit(rest, '');
  const textAt = merged.where(`${base}/text`) ?? merged.where(`${place.pointer}/template`);
  if (textAt !== null) places.set('/text', textAt);
  if (html !== null) {
    texts.set('/html', html.source);
    const where = merged.where(html.pointer);
    if (where !== null) places.set('/html', where);
  }
  return { tree, texts, places };
}

/** A partial that could not be read only matters where it is included. */
type ReadPartial = { readonly source: SourceText; readonly input: InputFile } | { readonly problem: Diagnostic };

/** A folder with more files does not hold partials of a campaign. */
const MAX_PARTIALS = 500;

/** Partials by name, without `.hbs`. Later folders hide earlier ones: the project's, the campaign's, `partials/`. */
function readPartials(options: SourcesOptions, templates: ReadonlySet<string>, diagnostics: Diagnostic[]) {
  const { root, folder, sharedPartials: shared } = options;
  const files = new Map<string, string>();
  if (shared !== null) {
    const found = findFolderInside(root, root, shared.path);
    if ('fault' in found) diagnostics.push({ ...found.fault, ...shared.where });
    else addFiles(files, found.path);
  }
  const names = addFiles(files, folder);
  if (names.includes('partials')) {
    const own = findFolderInside(root, folder, 'partials');
    if ('path' in own) addFiles(files, own.path);
  }
  const partials = new Map<string, ReadPartial>();
  for (const [name, path] of files) {
    if (!templates.has(path)) partials.set(name, readPartial(name, path, options));
  }
  return partials;
}

function addFiles(files: Map<string, string>, folder: string): readonly string[] {
  const names = entriesOf(folder).map(({ name }) => name);
  const templates = names.filter((name) => name.endsWith('.hbs') && name !== '.hbs');
  for (const name of templates.slice(0, MAX_PARTIALS)) files.set(basename(name, '.hbs'), join(folder, name));
  return names;
}

function readPartial(name: string, path: string, options: SourcesOptions): ReadPartial {
  const where = { at: { file: displayPath(path, options.cwd) } };
  if (FORBIDDEN_NAMES.has(name)) {
    return { problem: problem('yaml-forbidden-key', `A partial cannot be named "${name}".`, where) };
  }
  // Resolved again: a link in the folder may lead out of the project.
  const named = fromRoot(options.root, path);
  const read = readNamedText(named, { ...options, folder: options.root, where });
  if ('problem' in read) return read;
  return { source: read.source, input: { role: 'partial', file: named, sha256: read.sha256 } };
}

/** The partials that texts include, also through other partials. An expression as the name can mean any. */
function includedPartials(texts: readonly string[], partials: ReadonlyMap<string, ReadPartial>): ReadonlySet<string> {
  const included = new Set<string>();
  const open = [...texts];
  for (let text = open.pop(); text !== undefined; text = open.pop()) {
    for (const [, quoted, plain, dynamic] of text.matchAll(INCLUDE)) {
      const names = dynamic === undefined ? [quoted ?? plain ?? ''] : [...partials.keys()];
      for (const name of names) {
        const read = partials.get(name);
        if (read === undefined || included.has(name)) continue;
        included.add(name);
        if ('source' in read) open.push(read.source.text);
      }
    }
  }
  return included;
}

const INCLUDE = /\{\{~?#?>\s{0,100}(?:["'[]([^"'\]]{1,200})["'\]]|([^\s"'()[\]{}|~]{1,200})|(\())/g;

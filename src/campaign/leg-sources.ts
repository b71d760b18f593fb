import { type Diagnostic, problem } from '../errors.ts';
import type { Channel, Content, InputFile, JsonObject, SourceText, Template } from '../model.ts';
import { pointerTo } from '../util/json.ts';
import { displayPath, findFileInside } from '../util/paths.ts';
import type { Merged } from './merge.ts';
import { fromRoot } from './project.ts';
import { faultAt, MAX_HTML_BYTES, MAX_TEMPLATE_BYTES, readTemplateFile, trimText } from './read-text.ts';
import type { LegFile } from './written.ts';

/** What the message of a leg is made of, with its files read. */
export interface LegSources {
  /** Null where it could not be read, or none is named. */
  readonly template: Template | null;
  readonly content: Content | null;
  /** Real paths of the files: they are no partials. */
  readonly paths: readonly string[];
  readonly inputs: readonly InputFile[];
}

export interface LegPlace {
  /** Where the leg is written: empty for the campaign itself, else such as `/variants/0`. */
  readonly pointer: string;
  readonly channel: Channel;
  /** Real path of the project's root. */
  readonly root: string;
  /** Real path of the campaign's folder. */
  readonly folder: string;
  /** Real path of the current folder. */
  readonly cwd: string;
}

/** Reads the template and the content of a leg; what is wrong goes to `diagnostics`. */
export async function readLeg(
  written: LegFile,
  merged: Merged,
  place: LegPlace,
  diagnostics: Diagnostic[],
): Promise<LegSources> {
  const reading: Reading = { merged, place, diagnostics, paths: [], inputs: [] };
  const main = await readTemplate(written, reading);
  const html = main !== null && 'html' in main ? main.html : await readHtml(written, reading);
  const own = main !== null && 'kind' in main ? main : null;
  const template = own ?? textOfContent(written, reading);
  if (own !== null) refuseSecondText(written, reading);
  const content = readContent(written, html, reading);
  return { template, content, paths: reading.paths, inputs: reading.inputs };
}

interface Reading {
  readonly merged: Merged;
  readonly place: LegPlace;
  readonly diagnostics: Diagnostic[];
  readonly paths: string[];
  readonly inputs: InputFile[];
}

/** The HTML of an email, and where it is named. */
interface Html {
  readonly source: SourceText;
  readonly pointer: string;
}

/** An email's template can be its HTML: files that end so, also when a Handlebars ending follows. */
const HTML_FILE = /\.(?:html?|mjml)(?:\.hbs|\.handlebars)?$/i;

async function readTemplate(written: LegFile, reading: Reading): Promise<Template | { readonly html: Html } | null> {
  const { template } = written;
  const { merged, place } = reading;
  const at = `${place.pointer}/template`;
  if (template === undefined) return null;
  if (typeof template === 'string') return readTemplateAt(template, at, reading);
  // One that was reported and left out counts too: what is wrong with it has been said.
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
  const source = merged.text(`${at}/text`);
  return source === null ? null : { kind: 'text', source: { ...source, text: trimText(source.text) } };
}

async function readTemplateAt(
  written: string,
  pointer: string,
  reading: Reading,
): Promise<Template | { readonly html: Html } | null> {
  const isHtml = reading.place.channel === 'email' && HTML_FILE.test(written);
  const source = await readFileAt(written, pointer, isHtml ? MAX_HTML_BYTES : MAX_TEMPLATE_BYTES, reading);
  if (source === null) return null;
  return isHtml ? { html: { source, pointer } } : { kind: 'text', source };
}

async function readHtml(written: LegFile, reading: Reading): Promise<Html | null> {
  const file = written.content?.['html'];
  if (typeof file !== 'string') return null;
  const pointer = `${reading.place.pointer}/content/html`;
  const source = await readFileAt(file, pointer, MAX_HTML_BYTES, reading);
  return source === null ? null : { source, pointer };
}

async function readFileAt(
  written: string,
  pointer: string,
  mostBytes: number,
  { merged, place, diagnostics, paths, inputs }: Reading,
): Promise<SourceText | null> {
  const where = merged.where(pointer) ?? {};
  const found = await findFileInside(place.root, place.folder, written);
  if ('fault' in found) {
    diagnostics.push(faultAt(found.fault, where));
    return null;
  }
  paths.push(found.path);
  const read = await readTemplateFile(found.path, displayPath(found.path, place.cwd), where, mostBytes);
  if ('problem' in read) {
    diagnostics.push(read.problem);
    return null;
  }
  inputs.push({ role: 'template', file: fromRoot(place.root, found.path), sha256: read.sha256 });
  return read.source;
}

/** `content.text` is the text of the message, as `template` would be. */
function textOfContent(written: LegFile, { merged, place }: Reading): Template | null {
  if (typeof written.content?.['text'] !== 'string') return null;
  const source = merged.text(`${place.pointer}/content/text`);
  return source === null ? null : { kind: 'text', source: { ...source, text: trimText(source.text) } };
}

function refuseSecondText(written: LegFile, { merged, place, diagnostics }: Reading): void {
  if (typeof written.content?.['text'] !== 'string') return;
  const where = merged.where(`${place.pointer}/content/text`) ?? {};
  const hint = 'Remove "content.text", or "template".';
  diagnostics.push(
    problem('invalid-value', '"template" and "content.text" both say what the message is.', { ...where, hint }),
  );
}

/** The content with the place of everything in it; null where there is none. */
function readContent(written: LegFile, html: Html | null, { merged, place }: Reading): Content | null {
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

import { type Diagnostic, problem } from '../errors.ts';
import type { Content, Json, JsonObject, SourceText } from '../model.ts';
import type { CompiledTemplate, TemplateValues } from '../templates/compile.ts';
import { pointerTo } from '../util/json.ts';
import { compileText, MOST_HTML_BYTES, type Workshop } from './workshop.ts';

export interface CompiledContent {
  readonly source: Content;
  render(values: TemplateValues): JsonObject;
}

export interface ReadContent {
  readonly source: Content;
  readonly compiled: CompiledContent;
  readonly isPersonal: boolean;
}

/** Compiles every text of the content that holds an expression; what holds none is the same for all recipients. */
export async function compileContent(
  written: Content,
  shop: Workshop,
  required: Set<string>,
): Promise<ReadContent | null> {
  const html = await withHtml(written, shop);
  if (html === null) return null;
  const { content: source, relocate } = html;
  let isPersonal = false;
  const compile = (value: Json, pointer: string): ((values: TemplateValues) => Json) => {
    if (typeof value === 'string') {
      const text = source.texts.get(pointer);
      if (pointer === '/html' && text !== undefined) checkHtmlSize(text, shop);
      if (text === undefined || !text.text.includes('{{')) return constant(text?.text ?? value);
      const template = pointer === '/html' ? compileHtml(text, shop, relocate) : compileText(text, shop);
      for (const column of template?.required ?? []) required.add(column);
      isPersonal ||= (template?.columns.length ?? 0) > 0;
      return template === null ? constant('') : (values) => template.render(values);
    }
    if (value === null || typeof value !== 'object') return constant(value);
    if (Array.isArray(value)) {
      const items = value.map((item: Json, i) => compile(item, `${pointer}/${i}`));
      return (values) => items.map((item) => item(values));
    }
    const entries = Object.entries(value).map(
      ([key, inner]: [string, Json]) => [key, compile(inner, pointer + pointerTo([key]))] as const,
    );
    return (values) => withoutEmpty(entries.map(([key, inner]) => [key, inner(values)]));
  };
  const render = compile(source.tree, '');
  return {
    source,
    isPersonal,
    compiled: { source, render: isPersonal ? (values) => render(values) as JsonObject : once(render) },
  };
}

/** A part that comes out empty is not sent: a footer that only some rows have. What is needed is missed by the check. */
function withoutEmpty(entries: readonly (readonly [string, Json])[]): JsonObject {
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

function constant(value: Json): () => Json {
  return () => value;
}

/** Content without a column in it is rendered for the first recipient and shared by all. */
function once(render: (values: TemplateValues) => Json): (values: TemplateValues) => JsonObject {
  let rendered: JsonObject | null = null;
  return (values) => {
    rendered ??= render(values) as JsonObject;
    return rendered;
  };
}

/** What holds expressions is measured by the template, before and after they are filled in. */
function checkHtmlSize({ text, file }: SourceText, { diagnostics }: Workshop): void {
  if (text.includes('{{') || Buffer.byteLength(text) <= MOST_HTML_BYTES) return;
  const message = `The HTML has more than ${MOST_HTML_BYTES / 1024} KB.`;
  const hint = 'Shorten the page; MJML becomes about five times as long.';
  diagnostics.push(problem('template-too-large', message, { at: { file }, hint }));
}

type Relocate = (diagnostics: readonly Diagnostic[]) => readonly Diagnostic[];

/** What is wrong with HTML that was made is shown where it was written. */
function compileHtml(html: SourceText, shop: Workshop, relocate: Relocate): CompiledTemplate | null {
  const diagnostics: Diagnostic[] = [];
  const template = compileText(html, { ...shop, diagnostics }, true);
  shop.diagnostics.push(...relocate(diagnostics));
  return template;
}

/** MJML becomes HTML once, before anything is filled in. */
async function withHtml(
  content: Content,
  shop: Workshop,
): Promise<{ readonly content: Content; readonly relocate: Relocate } | null> {
  const html = content.texts.get('/html');
  if (html === undefined || !/\.mjml(?:\.hbs|\.handlebars)?$/i.test(html.file)) {
    return { content, relocate: (diagnostics) => diagnostics };
  }
  const { compileMjml } = await import('../content/mjml.ts');
  const compiled = await compileMjml(html);
  if ('html' in compiled) {
    const texts = new Map(content.texts).set('/html', { ...html, text: compiled.html });
    return { content: { ...content, texts }, relocate: compiled.relocate };
  }
  shop.diagnostics.push(compiled.problem);
  return null;
}

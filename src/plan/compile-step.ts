import { normaliseText } from '../content/unicode.ts';
import { type Diagnostic, problem } from '../errors.ts';
import type { Content, Json, JsonObject, SourceText, Step, Variables } from '../model.ts';
import {
  type CompiledTemplate,
  columnTag,
  type Escape,
  RenderError,
  type TemplateValues,
} from '../templates/compile.ts';
import { createValues } from '../templates/values.ts';
import { REPORT_COLUMN_PREFIX } from '../util/csv.ts';
import { pointerTo } from '../util/json.ts';
import { addressKindOf } from './step-of.ts';
import {
  type CheckContent,
  checkAtLoad,
  compileNamed,
  compileText,
  type FilledIn,
  isText,
  MOST_HTML_BYTES,
  type Personalised,
  type Workshop,
} from './workshop.ts';

/** A step with everything compiled that is filled in for each recipient. */
export interface CompiledStep {
  readonly step: Step;
  readonly text: CompiledTemplate | null;
  readonly variables: Personalised | null;
  readonly content: CompiledContent | null;
  /** Columns that must not be empty. */
  readonly required: readonly string[];
  /** Text or content differ from recipient to recipient, so that recipients cannot share a request. */
  readonly isPersonal: boolean;
  /** Makes the last changes to an email; null for every other channel. */
  readonly finishEmail: EmailFinisher | null;
  /** Judges the content of each recipient; null for SMS. */
  readonly check: CheckContent | null;
}

/** The email as it goes on the wire, and the headers of its metadata. */
type EmailFinisher = (
  content: JsonObject,
  text: string | null,
) => { readonly content: JsonObject; readonly text: string | null; readonly headers: Readonly<Record<string, string>> };

/** Compiles a step; null where something is wrong with it, which is reported. */
export async function compileStep(step: Step, shop: Workshop): Promise<CompiledStep | null> {
  const before = shop.diagnostics.length;
  const { template } = step;
  const required = new Set<string>();
  const text = template?.kind === 'text' ? compileText(template.source, shop) : null;
  for (const column of text?.required ?? []) required.add(column);
  const variables = template?.kind === 'provider' ? compileVariables(step, template, shop, required) : null;
  const content = step.content === null ? null : await compileContent(step.content, shop, required);
  const isPersonal = (text?.columns.length ?? 0) > 0 || content?.isPersonal === true;
  const isBroken = (): boolean => shop.diagnostics.slice(before).some((d) => d.severity === 'error');
  // Content that could not be read is not judged: what it lacks, it may have.
  const isRead = step.content === null || content !== null;
  if (isRead && (step.channel !== 'sms' || step.content !== null)) {
    const filledIn = isPersonal || isBroken() ? null : fillIn(text, content?.compiled ?? null);
    checkAtLoad(step, content?.source ?? null, filledIn, shop);
  }
  if (isBroken()) return null;
  return {
    step,
    text,
    variables,
    content: content?.compiled ?? null,
    required: [...required],
    isPersonal,
    check: shop.check,
    finishEmail: step.channel === 'email' ? await emailFinisher(content?.source ?? null) : null,
  };
}

/** A message without columns; null where it cannot be made, which every row will say. */
function fillIn(text: CompiledTemplate | null, content: CompiledContent | null): FilledIn | null {
  const values = createValues([], [])([]);
  try {
    const said = text === null ? null : normaliseText(text.render(values));
    return { content: content?.render(values) ?? null, text: said };
  } catch (error) {
    if (error instanceof RenderError) return null;
    throw error;
  }
}

/** What makes a text of HTML is loaded only where there is HTML. */
async function emailFinisher(content: Content | null): Promise<EmailFinisher> {
  const { emailContent } = await import('../content/email-content.ts');
  const { unsubscribeHeaders } = await import('../content/email-content.ts');
  const { loadHtmlText } = await import('../content/html-text.ts');
  const textOfHtml = content?.texts.has('/html') === true ? await loadHtmlText() : () => '';
  return (tree, text) => {
    const finished = emailContent(tree, text ?? undefined, textOfHtml);
    return { content: finished.content, text: finished.text ?? null, headers: unsubscribeHeaders(tree) };
  };
}

interface CompiledContent {
  readonly source: Content;
  render(values: TemplateValues): JsonObject;
}

interface ReadContent {
  readonly source: Content;
  readonly compiled: CompiledContent;
  readonly isPersonal: boolean;
}

/** Compiles every text of the content that holds an expression; what holds none is the same for all recipients. */
async function compileContent(written: Content, shop: Workshop, required: Set<string>): Promise<ReadContent | null> {
  const html = await withHtml(written, shop);
  if (html === null) return null;
  const { content: source, relocate } = html;
  let isPersonal = false;
  const compile = (value: Json, pointer: string): ((values: TemplateValues) => Json) => {
    if (typeof value === 'string') {
      const text = source.texts.get(pointer);
      if (pointer === '/html' && text !== undefined) checkHtmlSize(text, shop);
      if (text === undefined || !text.text.includes('{{')) return constant(text?.text ?? value);
      const template =
        pointer === '/html' ? compileHtml(text, shop, relocate) : compileText(text, shop, ESCAPES[pointer]);
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

const ESCAPES: Readonly<Record<string, Escape>> = { '/unsubscribe/url': 'url', '/unsubscribe/mailto': 'mailto' };

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
  const template = compileText(html, { ...shop, diagnostics }, 'html');
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
  const compiled = await compileMjml(html, /\S/.test(content.texts.get('/preheader')?.text ?? ''));
  if ('html' in compiled) {
    shop.diagnostics.push(...compiled.warnings);
    const texts = new Map(content.texts).set('/html', { ...html, text: compiled.html });
    return { content: { ...content, texts }, relocate: compiled.relocate };
  }
  shop.diagnostics.push(compiled.problem);
  return null;
}

type ProviderTemplate = Extract<Step['template'], { kind: 'provider' }>;

/** The variables of a template of the provider; null where an error prevents them, or contacts take none. */
function compileVariables(
  step: Step,
  template: ProviderTemplate,
  shop: Workshop,
  required: Set<string>,
): Personalised | null {
  const { campaign, diagnostics } = shop;
  if (addressKindOf(campaign, step) === 'contact') {
    if (step.variables !== null || template.needs !== null) {
      const message = 'Contacts of the address book take no variables: the API has no place for them.';
      const hint = 'Remove "variables" and "template.needs", or send to numbers (`recipients.to`).';
      diagnostics.push(problem('invalid-value', message, { ...template.place, hint }));
    }
    return null;
  }
  const sources = step.variables ?? defaultVariables(template, shop);
  if (step.variables !== null && template.needs !== null) checkNeeds(step.variables, template, shop);
  const compiled = compileNamed(sources, shop);
  // Variables that are written, or listed as needed, must be there; every column is only an offer.
  if (step.variables !== null || template.needs !== null) addRequired(compiled, required);
  return compiled;
}

function addRequired(variables: Personalised, required: Set<string>): void {
  for (const variable of variables) {
    if ('group' in variable) addRequired(variable.group, required);
    else for (const column of variable.template.required) required.add(column);
  }
}

/**
 * Without `variables`: the columns that the template is said to need, else every column but the address and those of a
 * report.
 */
function defaultVariables(template: ProviderTemplate, shop: Workshop): Variables<SourceText> {
  const { campaign, columns } = shop;
  const at = { file: campaign.file, line: template.place.at?.line ?? 1, column: template.place.at?.column ?? 1 };
  if (template.needs === null) {
    const addresses = [campaign.recipients.to, ...campaign.fallbacks.map(({ to }) => to)];
    const isOffered = (name: string): boolean => !addresses.includes(name) && !name.startsWith(REPORT_COLUMN_PREFIX);
    const others = columns.filter(isOffered);
    return Object.fromEntries(others.map((name) => [name, { text: name, ...at }]));
  }
  const found: Record<string, SourceText | Record<string, SourceText>> = Object.create(null);
  const missing = template.needs.filter((name) => !columns.includes(lastOf(name)));
  checkGroups(template.needs, template, shop);
  for (const name of template.needs) {
    const [group, inner] = groupOf(name);
    const source = { text: columnTag(lastOf(name)), ...at };
    if (inner === null) found[name] = source;
    else found[group] = { ...(found[group] as Record<string, SourceText> | undefined), [inner]: source };
  }
  if (missing.length === 0) return found;
  const names = missing.map((name) => `"${name}"`).join(', ');
  const hint = `Add ${missing.length === 1 ? 'it' : 'them'} to the list, or say under "variables" where the values come from.`;
  const message = `The template needs ${names}, which the list does not have as ${missing.length === 1 ? 'a column' : 'columns'}.`;
  shop.diagnostics.push(problem('template-needs', message, { ...template.place, hint }));
  return {};
}

/** Names that no object from outside may have. */
const FORBIDDEN: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** JSON holds either a value or a group under one name. */
function checkGroups(needs: readonly string[], template: ProviderTemplate, shop: Workshop): void {
  const groups = new Set(needs.filter((name) => groupOf(name)[1] !== null).map((name) => groupOf(name)[0]));
  const impossible = [...groups].filter((name) => name === '' || FORBIDDEN.has(name));
  if (impossible.length > 0) {
    const message = `"template.needs" has a group called ${quoted(impossible)}, which is never allowed.`;
    shop.diagnostics.push(
      problem('template-needs', message, { ...template.place, hint: 'Name it as the template does.' }),
    );
  }
  const both = [...new Set(needs)].filter((name) => groups.has(name));
  if (both.length === 0) return;
  const message = `"template.needs" names ${quoted(both)} both as a variable and as a group of variables.`;
  const hint = 'Keep one of the two: "header", or "header.image".';
  shop.diagnostics.push(problem('template-needs', message, { ...template.place, hint }));
}

/** Missing and superfluous variables are errors: the provider would send a hole, or refuse. */
function checkNeeds(variables: Variables<SourceText>, template: ProviderTemplate, shop: Workshop): void {
  const given = new Set(
    Object.entries(variables).flatMap(([name, value]) =>
      isText(value) ? [name] : Object.keys(value).map((inner) => `${name}.${inner}`),
    ),
  );
  const needs = new Set(template.needs ?? []);
  const report = (message: string, hint: string) =>
    shop.diagnostics.push(problem('template-needs', message, { ...template.place, hint }));
  const missing = [...needs].filter((name) => !given.has(name));
  const superfluous = [...given].filter((name) => !needs.has(name));
  if (missing.length > 0) {
    report(`The template needs ${quoted(missing)}, which "variables" does not give.`, 'Add what is missing.');
  }
  if (superfluous.length > 0) {
    const hint = 'Remove it, or add it to "template.needs".';
    report(`"variables" gives ${quoted(superfluous)}, which the template does not need.`, hint);
  }
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

function groupOf(name: string): readonly [group: string, inner: string | null] {
  const dot = name.indexOf('.');
  return dot === -1 ? [name, null] : [name.slice(0, dot), name.slice(dot + 1)];
}

function lastOf(name: string): string {
  const [group, inner] = groupOf(name);
  return inner ?? group;
}

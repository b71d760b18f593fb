import type { ContentProblem } from '../content/problem.ts';
import { type Diagnostic, problem } from '../errors.ts';
import type { Campaign, Channel, Content, Json, JsonObject, Leg, SourceText, Variables } from '../model.ts';
import { type CompiledTemplate, columnTag, compileTemplate, type TemplateValues } from '../templates/compile.ts';
import { pointerTo } from '../util/json.ts';

/** A leg with everything compiled that is filled in for each recipient. */
export interface CompiledLeg {
  readonly leg: Leg;
  readonly text: CompiledTemplate | null;
  readonly variables: Personalised | null;
  readonly content: CompiledContent | null;
  /** Columns that must not be empty. */
  readonly required: readonly string[];
  /** Text or content differ from recipient to recipient, so that nobody can share a request with others. */
  readonly isPersonal: boolean;
  /** Makes the last changes to an email; null for every other channel. */
  readonly finishEmail: EmailFinisher | null;
  /** Judges the content of each recipient; null for SMS. */
  readonly check: CheckContent | null;
}

/** The email as it goes on the wire, and the headers of its metadata. */
export type EmailFinisher = (
  content: JsonObject,
  text: string | null,
) => { readonly content: JsonObject; readonly text: string | null; readonly headers: Readonly<Record<string, string>> };

export type Personalised = readonly (
  | { readonly name: string; readonly template: CompiledTemplate }
  | { readonly name: string; readonly group: Personalised }
)[];

export interface CompiledContent {
  readonly source: Content;
  render(values: TemplateValues): JsonObject;
}

/** What all legs of a campaign are compiled with, and where what is found goes. */
export interface Workshop {
  readonly campaign: Campaign;
  readonly columns: readonly string[];
  readonly diagnostics: Diagnostic[];
  /** Columns that anything uses. */
  readonly used: Set<string>;
  /** Null where there is nothing but SMS. */
  readonly check: CheckContent | null;
}

export type CheckContent = (
  channel: Channel,
  content: JsonObject,
  text: string | null | undefined,
) => readonly ContentProblem[];

/** What knows the limits of every channel is loaded by campaigns that have anything but SMS. */
export async function loadCheck(legs: readonly Leg[]): Promise<CheckContent | null> {
  if (legs.every(({ channel, content }) => channel === 'sms' && content === null)) return null;
  return (await import('../content/check.ts')).checkContent;
}

/** How long the HTML of an email may be before and after it is rendered, in bytes: MJML grows about fivefold. */
const MOST_HTML_BYTES = 1 << 20;

/** Compiles a leg; null where something is wrong with it, which is reported. */
export async function compileLeg(leg: Leg, shop: Workshop): Promise<CompiledLeg | null> {
  const before = shop.diagnostics.length;
  const { template } = leg;
  const required = new Set<string>();
  const text = template?.kind === 'text' ? compileText(template.source, shop) : null;
  for (const column of text?.required ?? []) required.add(column);
  const variables = template?.kind === 'provider' ? compileVariables(leg, template, shop, required) : null;
  const content = leg.content === null ? null : await compileContent(leg.content, shop, required);
  if (leg.channel === 'email' || leg.content !== null) checkAtLoad(leg, content?.source ?? null, shop);
  const failed = shop.diagnostics.slice(before).some((d) => d.severity === 'error');
  if (failed) return null;
  return {
    leg,
    text,
    variables,
    content: content?.compiled ?? null,
    required: [...required],
    isPersonal: (text?.columns.length ?? 0) > 0 || content?.isPersonal === true,
    check: shop.check,
    finishEmail: leg.channel === 'email' ? await emailFinisher(content?.source ?? null) : null,
  };
}

/** What makes a text of HTML is loaded only where there is HTML. */
async function emailFinisher(content: Content | null): Promise<EmailFinisher> {
  const { emailContent } = await import('../content/email-content.ts');
  const { unsubscribeHeaders } = await import('../content/email-headers.ts');
  const { loadHtmlText } = await import('../content/html-text.ts');
  const textOfHtml = content?.texts.has('/html') === true ? await loadHtmlText() : () => '';
  return (tree, text) => {
    const finished = emailContent(tree, text ?? undefined, textOfHtml);
    return { content: finished.content, text: finished.text ?? null, headers: unsubscribeHeaders(tree) };
  };
}

/** Compiles a text that is rendered for each recipient; its columns count as used. */
export function compileText(
  source: SourceText,
  { campaign, columns, diagnostics, used }: Workshop,
  html = false,
): CompiledTemplate | null {
  const { template, diagnostics: found } = compileTemplate(source, {
    columns,
    partials: campaign.partials,
    escape: html ? 'html' : 'none',
    locale: campaign.locale,
    timeZone: campaign.timeZone,
    ...(html ? { maxSource: MOST_HTML_BYTES, maxOutput: MOST_HTML_BYTES } : {}),
  });
  diagnostics.push(...found);
  for (const column of template?.columns ?? []) used.add(column);
  return template;
}

/** Compiles named expressions: a bare column name is that column, anything with braces is an expression. */
export function compileNamed(sources: Variables<SourceText>, shop: Workshop): Personalised {
  return Object.entries(sources).flatMap(([name, source]): Personalised => {
    if (!isText(source)) return [{ name, group: compileNamed(source, shop) }];
    const template = compileText(expression(source), shop);
    return template === null ? [] : [{ name, template }];
  });
}

function isText(source: SourceText | Readonly<Record<string, SourceText>>): source is SourceText {
  return typeof source.text === 'string';
}

function expression(source: SourceText): SourceText {
  return source.text.includes('{{') ? source : { ...source, text: columnTag(source.text) };
}

type ProviderTemplate = Extract<Leg['template'], { kind: 'provider' }>;

function compileVariables(
  leg: Leg,
  template: ProviderTemplate,
  shop: Workshop,
  required: Set<string>,
): Personalised | null {
  const { campaign, diagnostics } = shop;
  if (campaign.recipients.kind === 'contact') {
    if (leg.variables !== null || template.needs !== null) {
      const message = 'Contacts of the address book take no variables: the API has no place for them.';
      const hint = 'Remove "variables" and "template.needs", or send to numbers (`recipients.to`).';
      diagnostics.push(problem('invalid-value', message, { ...template.place, hint }));
    }
    return null;
  }
  const sources = leg.variables ?? defaultVariables(template, shop);
  if (leg.variables !== null && template.needs !== null) checkNeeds(leg.variables, template, shop);
  const compiled = compileNamed(sources, shop);
  // Whoever writes the variables, or says what is needed, means them to be there; every column is only an offer.
  if (leg.variables !== null || template.needs !== null) addRequired(compiled, required);
  return compiled;
}

function addRequired(variables: Personalised, required: Set<string>): void {
  for (const variable of variables) {
    if ('group' in variable) addRequired(variable.group, required);
    else for (const column of variable.template.required) required.add(column);
  }
}

/** Without `variables`: the columns that the template is said to need, else every column but the address. */
function defaultVariables(template: ProviderTemplate, shop: Workshop): Variables<SourceText> {
  const { campaign, columns } = shop;
  const at = { file: campaign.file, line: template.place.at?.line ?? 1, column: template.place.at?.column ?? 1 };
  if (template.needs === null) {
    const others = columns.filter((name) => name !== campaign.recipients.to);
    return Object.fromEntries(others.map((name) => [name, { text: name, ...at }]));
  }
  const found: Record<string, SourceText | Record<string, SourceText>> = Object.create(null);
  const missing = template.needs.filter((name) => !columns.includes(lastOf(name)));
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

interface ReadContent {
  readonly source: Content;
  readonly compiled: CompiledContent;
  readonly isPersonal: boolean;
}

/** Compiles every text of the content that holds an expression; what holds none is the same for everybody. */
async function compileContent(written: Content, shop: Workshop, required: Set<string>): Promise<ReadContent | null> {
  const html = await withHtml(written, shop);
  if (html === null) return null;
  const { content: source, relocate } = html;
  let isPersonal = false;
  const compile = (value: Json, pointer: string): ((values: TemplateValues) => Json) => {
    if (typeof value === 'string') {
      const text = source.texts.get(pointer);
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

/** What can be said before the first row: texts with expressions in them are not known yet. */
function checkAtLoad(leg: Leg, content: Content | null, shop: Workshop): void {
  const { template } = leg;
  // The provider has the rest of an email: its subject need not stand here.
  if (leg.channel === 'email' && template?.kind === 'provider') return;
  const source = template?.kind === 'text' ? template.source.text : undefined;
  const text = template?.kind === 'provider' || source?.includes('{{') ? null : source;
  const tree = content === null ? {} : (known(content.tree, '', content) as JsonObject);
  for (const found of shop.check?.(leg.channel, tree, text) ?? []) {
    shop.diagnostics.push(diagnosticOf(found, leg, content, shop.campaign));
  }
}

function known(value: Json, pointer: string, content: Content): Json {
  if (typeof value === 'string') {
    const text = content.texts.get(pointer)?.text ?? value;
    return text.includes('{{') ? null : text;
  }
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item: Json, i) => known(item, `${pointer}/${i}`, content));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]: [string, Json]) => [
      key,
      known(inner, pointer + pointerTo([key]), content),
    ]),
  );
}

/** At the part of the content that is wrong; where that is not written, at what encloses it. */
function diagnosticOf(found: ContentProblem, leg: Leg, content: Content | null, campaign: Campaign): Diagnostic {
  const { code, severity, message, hint } = found;
  const place = placeOf(found.pointer, content) ?? templatePlace(leg) ?? { at: { file: campaign.file } };
  return { code, severity, message, ...place, ...(hint === undefined ? {} : { hint }) };
}

function placeOf(pointer: string, content: Content | null): Pick<Diagnostic, 'at' | 'source'> | null {
  if (content === null) return null;
  for (let p = pointer; ; p = p.slice(0, p.lastIndexOf('/'))) {
    const place = content.places.get(p);
    if (place !== undefined) return place;
    if (p === '') return null;
  }
}

function templatePlace(leg: Leg): Pick<Diagnostic, 'at' | 'source'> | null {
  if (leg.template?.kind === 'provider') return leg.template.place;
  if (leg.template?.kind !== 'text') return null;
  const { file, line, column } = leg.template.source;
  return { at: { file, line, column } };
}

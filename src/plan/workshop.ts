import { checkContent } from '../content/channels.ts';
import type { ContentProblem } from '../content/check-values.ts';
import type { Diagnostic } from '../errors.ts';
import type { Campaign, Content, Json, JsonObject, SourceText, Step, Variables } from '../model.ts';
import {
  type Comparison,
  type CompiledTemplate,
  columnTag,
  compileTemplate,
  type Escape,
  type Shown,
} from '../templates/compile.ts';
import type { LinkPart } from '../templates/links.ts';
import { pointerTo } from '../util/json.ts';

/** What all steps of a campaign are compiled with, and where what is found goes. */
export interface Workshop {
  readonly campaign: Campaign;
  readonly columns: readonly string[];
  readonly diagnostics: Diagnostic[];
  /** Columns that anything uses. */
  readonly used: Set<string>;
  /** How the texts show the cells of columns. */
  readonly shown: Map<string, Shown>;
  readonly comparisons: Comparison[];
  /** Columns that become parts of web addresses. */
  readonly links: LinkPart[];
  /** Null where there is nothing but SMS. */
  readonly check: CheckContent | null;
}

export type CheckContent = typeof checkContent;

/** What checks the content of every message; null where there is nothing but SMS. */
export function checkFor(steps: readonly Step[]): CheckContent | null {
  return steps.every(({ channel, content }) => channel === 'sms' && content === null) ? null : checkContent;
}

/** How long the HTML of an email may be before and after it is rendered, in bytes: MJML grows about fivefold. */
export const MOST_HTML_BYTES = 1 << 20;

export type Personalised = readonly (
  | { readonly name: string; readonly template: CompiledTemplate }
  | { readonly name: string; readonly group: Personalised }
)[];

/** Compiles a text that is rendered for each recipient; its columns count as used. */
export function compileText(
  source: SourceText,
  { campaign, columns, diagnostics, used, shown, comparisons, links }: Workshop,
  escaping: Escape = 'none',
): CompiledTemplate | null {
  const { template, diagnostics: found } = compileTemplate(source, {
    columns,
    partials: campaign.partials,
    escape: escaping,
    locale: campaign.locale,
    timeZone: campaign.timeZone,
    ...(escaping === 'html' ? { maxSource: MOST_HTML_BYTES, maxOutput: MOST_HTML_BYTES } : {}),
  });
  diagnostics.push(...found);
  for (const column of template?.columns ?? []) used.add(column);
  for (const [column, { whole, always }] of template?.shown ?? []) {
    const before = shown.get(column);
    shown.set(column, { whole: whole || before?.whole === true, always: always || before?.always === true });
  }
  comparisons.push(...(template?.comparisons ?? []));
  links.push(...(template?.links ?? []));
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

export function isText(source: SourceText | Readonly<Record<string, SourceText>>): source is SourceText {
  return typeof source.text === 'string';
}

/** The braces that were not written are before the place of the name. */
function expression(source: SourceText): SourceText {
  if (source.text.includes('{{')) return source;
  return { ...source, text: columnTag(source.text), column: source.column - 2 };
}

/** A message that is the same for all recipients, with everything filled in. */
export interface FilledIn {
  readonly content: JsonObject | null;
  readonly text: string | null;
}

/**
 * What can be said before the first row: texts with expressions in them are not known yet, but for those of a message
 * that names no column, which is judged as it will be sent: no row would be asked for it.
 */
export function checkAtLoad(step: Step, content: Content | null, filledIn: FilledIn | null, shop: Workshop): void {
  const source = step.template?.kind === 'text' ? step.template.source.text : undefined;
  const text = step.template?.kind === 'provider' || source?.includes('{{') ? null : source;
  const tree = content === null ? {} : (known(content.tree, '', content) as JsonObject);
  const judge = (what: JsonObject, said: string | null | undefined) =>
    shop.check?.(step.channel, withProviders(step, what), said) ?? [];
  const written = judge(tree, text);
  const whole = written.some(({ severity }) => severity === 'error') ? null : filledIn;
  const found =
    whole === null
      ? written
      : judge(whole.content ?? {}, step.template?.kind === 'provider' ? null : (whole.text ?? undefined));
  for (const one of found) shop.diagnostics.push(diagnosticOf(one, step, content, shop.campaign));
}

/** Of an email with a template of the provider's, what the provider has: subject and HTML need not be here. */
export function withProviders({ channel, template }: Step, content: JsonObject): JsonObject {
  return channel === 'email' && template?.kind === 'provider' ? { subject: null, html: null, ...content } : content;
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
function diagnosticOf(found: ContentProblem, step: Step, content: Content | null, campaign: Campaign): Diagnostic {
  const { code, severity, message, hint } = found;
  const place = placeOf(found.pointer, content) ?? templatePlace(step) ?? { at: { file: campaign.file } };
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

function templatePlace(step: Step): Pick<Diagnostic, 'at' | 'source'> | null {
  if (step.template?.kind === 'provider') return step.template.place;
  if (step.template?.kind !== 'text') return null;
  const { file, line, column } = step.template.source;
  return { at: { file, line, column } };
}

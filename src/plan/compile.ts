import { CHANNEL_TABLE, checkContent } from '../content/channels.ts';
import { normaliseText } from '../content/unicode.ts';
import { type Diagnostic, problem } from '../errors.ts';
import type {
  AddressKind,
  Campaign,
  Content,
  Fallback,
  Json,
  JsonObject,
  Recipient,
  Row,
  SourceText,
  Step,
  StepMessage,
  Variables,
  Variant,
  Where,
} from '../model.ts';
import type { Provider } from '../providers/provider.ts';
import { createAddressReader } from '../recipients/address.ts';
import { resolveColumns } from '../recipients/columns.ts';
import { columnTypes, isRelative } from '../recipients/query.ts';
import type { List } from '../recipients/read.ts';
import { createRecipientReader, type InvalidRow } from '../recipients/recipient.ts';
import { compileSegment, type Segment } from '../recipients/segment.ts';
import {
  type Comparison,
  type CompiledTemplate,
  columnTag,
  compileTemplate,
  type Escape,
  RenderError,
  type Shown,
  type TemplateValues,
} from '../templates/compile.ts';
import type { LinkPart } from '../templates/links.ts';
import { createValues } from '../templates/values.ts';
import { REPORT_COLUMN_PREFIX } from '../util/csv.ts';
import { FORBIDDEN_NAMES, pointerTo } from '../util/json.ts';
import { didYouMean } from '../util/suggest.ts';
import { compileDisplay } from './display.ts';
import {
  type CheckContent,
  type CompiledStep,
  createWriter,
  type FallbackMessage,
  type FirstMessage,
  type Mark,
  type Message,
  overLimit,
  type Personalised,
  textLimitOf,
  withProviders,
} from './write-message.ts';

export interface CompiledCampaign {
  /** Null: all recipients. */
  readonly segment: Segment | null;
  readonly recipient: (row: Row) => Recipient | InvalidRow;
  readonly values: (values: readonly string[]) => TemplateValues;
  /** The columns that any message uses, by position. */
  readonly used: readonly number[];
  readonly shown: readonly (Shown & { readonly index: number; readonly name: string })[];
  readonly links: readonly LinkPart[];
  readonly comparisons: readonly Comparison[];
  /** One for each variant, in order; then the campaign's own, unless recipients are divided among variants. */
  readonly messages: readonly FirstMessage[];
  /** Which of the messages recipients get by a condition; the first that holds counts. */
  readonly branches: readonly Branch[];
}

/** A message for those who meet a condition. */
interface Branch {
  readonly segment: Segment;
  /** Its place among the messages. */
  readonly index: number;
  readonly name: string;
  readonly at: Where['at'];
}

/** @param today - midnight in UTC of the day from which relative dates in `where` count */
export async function compileCampaign(
  campaign: Campaign,
  list: Pick<List, 'columns' | 'headerLine' | 'laterHeader'>,
  check: CheckContent | null,
  today: number,
  { mark = null, provider = null }: { readonly mark?: Mark | null; readonly provider?: Provider | null } = {},
): Promise<{
  /** Null where an error prevents it. */
  readonly compiled: CompiledCampaign | null;
  readonly diagnostics: readonly Diagnostic[];
  readonly isPersonal: boolean;
}> {
  const { columns } = list;
  const diagnostics: Diagnostic[] = [];
  const found = { diagnostics, used: new Set<string>(), shown: new Map(), comparisons: [], links: [] };
  const context: CompileContext = { campaign, locale: campaign.locale, columns, check, provider, ...found };
  const mains = messagesIn(campaign);
  const steps = new Map<Step, CompiledStep>();
  for (const step of new Set([...mains.map((one) => one.step), ...mains.flatMap((one) => one.fallbacks)])) {
    const compiled = await compileStep(step, context);
    if (compiled !== null) steps.set(step, compiled);
  }
  const metaData = campaign.recipientMetaData === null ? null : compileNamed(campaign.recipientMetaData, context);
  const addresses = resolveColumns(campaign.recipients, columns, list.headerLine, list.laterHeader);
  if (Array.isArray(addresses)) diagnostics.push(...addresses);
  diagnostics.push(...compileDisplay(campaign, columns).diagnostics);
  const segmentOf = (where: Where | null, report: Diagnostic[]): Segment | null => {
    if (where === null) return null;
    const compiled = compileSegment(where, columns, columnTypes(campaign.recipients), today);
    if ('segment' in compiled) return compiled.segment;
    report.push(...compiled);
    return null;
  };
  const segment = segmentOf(campaign.recipients.where, diagnostics);
  const branches = campaign.variants.flatMap(({ name, where }, index): Branch[] => {
    if (isRelative(where)) {
      const message = `The condition of the variant "${name}" depends on the day of the start.`;
      const hint = 'Write a date, or put the condition under `recipients.where`.';
      diagnostics.push(problem('invalid-where', message, { at: where?.at ?? { file: campaign.file }, hint }));
    }
    const found: Diagnostic[] = [];
    const own = segmentOf(where, found);
    // A query is named after the place where most of them are.
    const named = (message: string): string => message.replaceAll('`recipients.where', `\`variants[${index}].where`);
    diagnostics.push(...found.map((one) => ({ ...one, message: named(one.message) })));
    return own === null || where === null ? [] : [{ segment: own, index, name, at: where.at }];
  });
  for (const fallback of campaign.fallbacks) checkFallbackAddress(fallback, campaign, list, diagnostics);
  const isPersonal = mains.some(({ step }) => steps.get(step)?.isPersonal === true);
  // Variants share metadata and may share texts.
  const unique = [...new Map(diagnostics.map((d) => [JSON.stringify([d.code, d.message, d.at]), d])).values()];
  if (unique.some((d) => d.severity === 'error')) return { compiled: null, diagnostics: unique, isPersonal };

  const message = (variant: string | null, step: Step, index: number): Message => {
    const compiled = steps.get(step);
    if (compiled === undefined) throw new Error('a step without an error was compiled');
    const required = compiled.required.map((name) => ({ index: columns.indexOf(name), name }));
    return { variant, required, write: createWriter(compiled, index, metaData, mark) };
  };
  const later = new Map<Fallback, FallbackMessage>();
  for (const { name, fallbacks } of mains) {
    for (const [i, fallback] of fallbacks.entries()) {
      if (later.has(fallback)) continue;
      const variant = campaign.fallbacks.includes(fallback) ? null : name;
      const { to } = fallback;
      const kind = addressKindOf(campaign, fallback);
      const read = createAddressReader(kind, campaign.recipients.defaultCountry);
      const address = to === null ? null : { column: columns.indexOf(to), name: to, kind, read };
      later.set(fallback, { ...message(variant, fallback, i + 1), address });
    }
  }
  const compiled: CompiledCampaign = {
    segment,
    recipient: createRecipientReader(campaign.recipients, columns),
    values: createValues(columns, [...context.used]),
    used: columns.flatMap((name, i) => (context.used.has(name) ? [i] : [])),
    shown: [...context.shown].map(([name, how]) => ({ ...how, name, index: columns.indexOf(name) })),
    comparisons: context.comparisons,
    links: [...new Map(context.links.map((one) => [JSON.stringify(one), one])).values()],
    branches,
    messages: mains.map(({ name, step, fallbacks }) => ({
      ...message(name, step, 0),
      fallbacks: fallbacks.flatMap((fallback) => later.get(fallback) ?? []),
    })),
  };
  return { compiled, diagnostics: unique, isPersonal };
}

function checkFallbackAddress(
  fallback: Fallback,
  campaign: Campaign,
  list: Pick<List, 'columns' | 'headerLine'>,
  diagnostics: Diagnostic[],
): void {
  const { recipients, file } = campaign;
  const needed = addressKindOf(campaign, fallback);
  if (fallback.to === null) {
    if (needed === recipients.kind) return;
    const message = `The fallback to ${fallback.channel} has no address: the list is one of ${KINDS[recipients.kind]}.`;
    const hint = `Name the column with the ${KINDS[needed]}: fallback: { channel: ${fallback.channel}, to: COLUMN }`;
    diagnostics.push(problem('missing-key', message, { at: { file }, hint }));
  } else if (!list.columns.includes(fallback.to)) {
    diagnostics.push(
      problem('unknown-column', `The list has no column "${fallback.to}" (\`fallback.to\`).`, {
        at: { file: recipients.file, line: list.headerLine },
        ...didYouMean(fallback.to, list.columns),
      }),
    );
  }
}

const KINDS: Readonly<Record<AddressKind, string>> = {
  msisdn: 'phone numbers',
  email: 'email addresses',
  contact: 'ids of contacts',
};

interface CompileContext {
  readonly campaign: Campaign;
  /** That of the message; metadata are written in that of the campaign. */
  readonly locale: string;
  readonly columns: readonly string[];
  readonly diagnostics: Diagnostic[];
  readonly used: Set<string>;
  readonly shown: Map<string, Shown>;
  readonly comparisons: Comparison[];
  readonly links: LinkPart[];
  /** Null where there is nothing but SMS. */
  readonly check: CheckContent | null;
  /** Null: no environment is known. */
  readonly provider: Provider | null;
}

/** How long the HTML of an email may be before and after it is rendered, in bytes: MJML grows about fivefold. */
const MOST_HTML_BYTES = 1 << 20;

/** Its columns count as used. */
function compileText(
  source: SourceText,
  { campaign, locale, columns, diagnostics, used, shown, comparisons, links }: CompileContext,
  escaping: Escape = 'none',
): CompiledTemplate | null {
  const { template, diagnostics: found } = compileTemplate(source, {
    columns,
    partials: campaign.partials,
    escape: escaping,
    locale,
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
function compileNamed(sources: Variables<SourceText>, context: CompileContext): Personalised {
  return Object.entries(sources).flatMap(([name, source]): Personalised => {
    if (!isText(source)) return [{ name, group: compileNamed(source, context) }];
    // The place of the name stays: the braces that are added are before it.
    const isName = !source.text.includes('{{');
    const named = { ...source, text: columnTag(source.text), column: source.column - 2 };
    const template = compileText(isName ? named : source, context);
    return template === null ? [] : [{ name, template }];
  });
}

export function isText(source: SourceText | Readonly<Record<string, SourceText>>): source is SourceText {
  return typeof source.text === 'string';
}

/** Checks a step before the first row: all of a message without columns, else the texts without expressions. */
function checkAtLoad(step: Step, content: Content | null, filledIn: FilledIn | null, context: CompileContext): void {
  const { template, channel } = step;
  const isProvider = template?.kind === 'provider';
  const source = template?.kind === 'text' ? template.source.text : undefined;
  const check = (tree: JsonObject, text: string | null | undefined) =>
    context.check?.(channel, withProviders(step, tree), text) ?? [];
  const tree = content === null ? {} : (known(content.tree, '', content) as JsonObject);
  const written = check(tree, isProvider || source?.includes('{{') ? null : source);
  const isWhole = filledIn !== null && !written.some(({ severity }) => severity === 'error');
  const found = isWhole ? check(filledIn.content ?? {}, isProvider ? null : (filledIn.text ?? undefined)) : written;
  for (const { code, severity, message, hint, pointer } of found) {
    const place = placeOf(pointer, content) ?? templatePlace(step) ?? { at: { file: context.campaign.file } };
    context.diagnostics.push({ code, severity, message, ...place, hint });
  }
}

/** The content without the texts that hold expressions. */
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

/** Points at the wrong value, or at its nearest parent in the file. */
export function placeOf(pointer: string, content: Content | null): Pick<Diagnostic, 'at' | 'source'> | null {
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

async function compileStep(step: Step, ofCampaign: CompileContext): Promise<CompiledStep | null> {
  const context = { ...ofCampaign, locale: step.locale };
  const before = context.diagnostics.length;
  const { template } = step;
  const required = new Set<string>();
  const text = template?.kind === 'text' ? compileText(template.source, context) : null;
  for (const column of text?.required ?? []) required.add(column);
  const variables = template?.kind === 'provider' ? compileVariables(step, template, context, required) : null;
  const content = step.content === null ? null : await compileContent(step.content, context, required);
  const isPersonal = (text?.columns.length ?? 0) > 0 || content?.isPersonal === true;
  const isBroken = (): boolean => context.diagnostics.slice(before).some((d) => d.severity === 'error');
  // Content that could not be read is not checked: a part that seems to be missing may be in it.
  const isRead = step.content === null || content !== null;
  const limit = textLimitOf(step, context.provider);
  const whole = limit === null || isPersonal || isBroken() ? null : fillIn(text, null);
  const tooLong = limit === null || whole?.text == null ? null : overLimit(whole.text, limit);
  if (tooLong !== null) {
    const place = templatePlace(step) ?? { at: { file: context.campaign.file } };
    context.diagnostics.push(problem(tooLong.code, tooLong.message, { ...place, hint: tooLong.hint }));
  }
  if (isRead && (step.channel !== 'sms' || step.content !== null)) {
    const filledIn = isPersonal || isBroken() ? null : fillIn(text, content?.render ?? null);
    checkAtLoad(step, content?.source ?? null, filledIn, context);
  }
  if (isBroken()) return null;
  return {
    step,
    text,
    variables,
    content: content?.render ?? null,
    required: [...required],
    isPersonal,
    check: context.check,
    limit,
    finishEmail: step.channel === 'email' ? await emailFinisher(content?.source ?? null) : null,
  };
}

/** A message without columns, with everything filled in; null where it cannot be made, which every row reports. */
function fillIn(text: CompiledTemplate | null, content: CompiledStep['content']): FilledIn | null {
  const values = createValues([], [])([]);
  try {
    return { content: content?.(values) ?? null, text: text === null ? null : normaliseText(text.render(values)) };
  } catch (error) {
    if (error instanceof RenderError) return null;
    throw error;
  }
}

type FilledIn = { readonly content: JsonObject | null; readonly text: string | null };

/** Loads the library for HTML only where there is HTML. */
async function emailFinisher(content: Content | null): Promise<NonNullable<CompiledStep['finishEmail']>> {
  const { emailContent, unsubscribeHeaders } = await import('../content/email-content.ts');
  const { loadHtmlText } = await import('../content/html-text.ts');
  const textOfHtml = content?.texts.has('/html') === true ? await loadHtmlText() : () => '';
  return (tree, text) => {
    const finished = emailContent(tree, text ?? undefined, textOfHtml);
    return { content: finished.content, text: finished.text ?? null, headers: unsubscribeHeaders(tree) };
  };
}

async function compileContent(written: Content, context: CompileContext, required: Set<string>) {
  const html = await withHtml(written, context);
  if (html === null) return null;
  const { content: source, relocate } = html;
  let isPersonal = false;
  const compile = (value: Json, pointer: string): ((values: TemplateValues) => Json) => {
    if (typeof value === 'string') {
      const text = source.texts.get(pointer);
      const isHtml = pointer === '/html';
      if (text === undefined || !text.text.includes('{{')) {
        // HTML with expressions is measured by its template, before and after it is filled in.
        if (isHtml && Buffer.byteLength(text?.text ?? '') > MOST_HTML_BYTES) {
          const message = `The HTML has more than ${MOST_HTML_BYTES / 1024} KB.`;
          const hint = 'Shorten the page; MJML becomes about five times as long.';
          context.diagnostics.push(problem('template-too-large', message, { at: { file: text?.file ?? '' }, hint }));
        }
        return () => text?.text ?? value;
      }
      const diagnostics: Diagnostic[] = [];
      const template = compileText(text, { ...context, diagnostics }, isHtml ? 'html' : ESCAPES[pointer]);
      // Errors in HTML that was made of MJML point at the MJML.
      context.diagnostics.push(...(isHtml ? relocate(diagnostics) : diagnostics));
      for (const column of template?.required ?? []) required.add(column);
      isPersonal ||= (template?.columns.length ?? 0) > 0;
      return (values) => template?.render(values) ?? '';
    }
    if (value === null || typeof value !== 'object') return () => value;
    if (Array.isArray(value)) {
      const items = value.map((item: Json, i) => compile(item, `${pointer}/${i}`));
      return (values) => items.map((item) => item(values));
    }
    const entries = Object.entries(value).map(
      ([key, inner]: [string, Json]) => [key, compile(inner, pointer + pointerTo([key]))] as const,
    );
    // An empty part is not sent, such as a footer that only some rows have. The check reports one that is needed.
    return (values) =>
      Object.fromEntries(entries.map(([key, inner]) => [key, inner(values)]).filter(([, part]) => part !== ''));
  };
  const compiled = compile(source.tree, '');
  let shared: JsonObject | undefined;
  const render = (values: TemplateValues): JsonObject => {
    if (isPersonal) return compiled(values) as JsonObject;
    shared ??= compiled(values) as JsonObject;
    return shared;
  };
  return { source, isPersonal, render };
}

const ESCAPES: Readonly<Record<string, Escape>> = { '/unsubscribe/url': 'url', '/unsubscribe/mailto': 'mailto' };

/** MJML becomes HTML once, before anything is filled in. */
async function withHtml(content: Content, context: CompileContext) {
  const html = content.texts.get('/html');
  if (html === undefined || !/\.mjml(?:\.hbs|\.handlebars)?$/i.test(html.file)) {
    return { content, relocate: (diagnostics: readonly Diagnostic[]) => diagnostics };
  }
  const { compileMjml } = await import('../content/mjml.ts');
  const compiled = await compileMjml(html, /\S/.test(content.texts.get('/preheader')?.text ?? ''));
  if ('html' in compiled) {
    context.diagnostics.push(...compiled.warnings);
    const texts = new Map(content.texts).set('/html', { ...html, text: compiled.html });
    return { content: { ...content, texts }, relocate: compiled.relocate };
  }
  context.diagnostics.push(compiled.problem);
  return null;
}

type ProviderTemplate = Extract<Step['template'], { kind: 'provider' }>;

function compileVariables(
  step: Step,
  template: ProviderTemplate,
  context: CompileContext,
  required: Set<string>,
): Personalised | null {
  const { campaign, diagnostics } = context;
  if (addressKindOf(campaign, step) === 'contact') {
    if (step.variables !== null || template.needs !== null) {
      const message = 'Contacts of the address book take no variables: the API has no place for them.';
      const hint = 'Remove "variables" and "template.needs", or send to numbers (`recipients.to`).';
      diagnostics.push(problem('invalid-value', message, { ...template.place, hint }));
    }
    return null;
  }
  const sources = step.variables ?? defaultVariables(template, context);
  if (step.variables !== null && template.needs !== null) checkNeeds(step.variables, template, context);
  const compiled = compileNamed(sources, context);
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

/** Without `variables`: the columns that `template.needs` names, else all except the address and those of a report. */
function defaultVariables(template: ProviderTemplate, context: CompileContext): Variables<SourceText> {
  const { campaign, columns } = context;
  const at = { file: campaign.file, line: template.place.at?.line ?? 1, column: template.place.at?.column ?? 1 };
  if (template.needs === null) {
    const addresses = [campaign.recipients.to, ...campaign.fallbacks.map(({ to }) => to)];
    const isOffered = (name: string): boolean => !addresses.includes(name) && !name.startsWith(REPORT_COLUMN_PREFIX);
    const others = columns.filter(isOffered);
    return Object.fromEntries(others.map((name) => [name, { text: name, ...at }]));
  }
  const found: Record<string, SourceText | Record<string, SourceText>> = Object.create(null);
  const missing = template.needs.filter((name) => !columns.includes(lastOf(name)));
  checkGroups(template.needs, template, context);
  for (const name of template.needs) {
    const [group, inner] = groupOf(name);
    const source = { text: columnTag(lastOf(name)), ...at };
    if (inner === null) found[name] = source;
    else found[group] = { ...(found[group] as Record<string, SourceText> | undefined), [inner]: source };
  }
  if (missing.length === 0) return found;
  const [it, column] = missing.length === 1 ? ['it', 'a column'] : ['them', 'columns'];
  const hint = `Add ${it} to the list, or say under "variables" where the values come from.`;
  const message = `The template needs ${quoted(missing)}, which the list does not have as ${column}.`;
  reportNeeds(template, context, message, hint);
  return {};
}

/** JSON holds either a value or a group under one name. */
function checkGroups(needs: readonly string[], template: ProviderTemplate, context: CompileContext): void {
  const groups = new Set(needs.filter((name) => groupOf(name)[1] !== null).map((name) => groupOf(name)[0]));
  const impossible = [...groups].filter((name) => name === '' || FORBIDDEN_NAMES.has(name));
  if (impossible.length > 0) {
    const message = `"template.needs" has a group called ${quoted(impossible)}, which is never allowed.`;
    reportNeeds(template, context, message, 'Name it as the template does.');
  }
  const both = [...new Set(needs)].filter((name) => groups.has(name));
  if (both.length === 0) return;
  const message = `"template.needs" names ${quoted(both)} both as a variable and as a group of variables.`;
  reportNeeds(template, context, message, 'Keep one of the two: "header", or "header.image".');
}

function reportNeeds(template: ProviderTemplate, { diagnostics }: CompileContext, message: string, hint: string): void {
  diagnostics.push(problem('template-needs', message, { ...template.place, hint }));
}

/** Missing and superfluous variables are errors: the provider would send a hole, or refuse. */
function checkNeeds(variables: Variables<SourceText>, template: ProviderTemplate, context: CompileContext): void {
  const given = new Set(
    Object.entries(variables).flatMap(([name, value]) =>
      isText(value) ? [name] : Object.keys(value).map((inner) => `${name}.${inner}`),
    ),
  );
  const needs = new Set(template.needs ?? []);
  const missing = [...needs].filter((name) => !given.has(name));
  const superfluous = [...given].filter((name) => !needs.has(name));
  if (missing.length > 0) {
    const message = `The template needs ${quoted(missing)}, which "variables" does not give.`;
    reportNeeds(template, context, message, 'Add what is missing.');
  }
  if (superfluous.length > 0) {
    const message = `"variables" gives ${quoted(superfluous)}, which the template does not need.`;
    reportNeeds(template, context, message, 'Remove it, or add it to "template.needs".');
  }
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

/** `header.image` is in a group; other names are not. */
function groupOf(name: string): readonly [group: string, inner: string | null] {
  const dot = name.indexOf('.');
  return dot === -1 ? [name, null] : [name.slice(0, dot), name.slice(dot + 1)];
}

/** The part behind the dot. */
function lastOf(name: string): string {
  return name.slice(name.indexOf('.') + 1);
}

/** A message that recipients get first, and what follows it; without a name, it is the campaign's own. */
type FirstStep = Pick<Variant, 'step' | 'fallbacks'> & { readonly name: string | null };

/** One for each variant; then the campaign's own, unless all recipients are divided among variants. */
export function messagesIn(campaign: Campaign): readonly FirstStep[] {
  const { variants, fallbacks } = campaign;
  return variants.some(({ where }) => where === null)
    ? variants
    : [...variants, { name: null, step: campaign, fallbacks }];
}

/** The variant decides about the fallbacks too. */
export function channelStepsOf(campaign: Campaign): (message: StepMessage, variant: string | null) => Step {
  const variants = new Map<string | null, FirstStep>(campaign.variants.map((one) => [one.name, one]));
  const own: FirstStep = { name: null, step: campaign, fallbacks: campaign.fallbacks };
  return ({ step, channel }, variant) => {
    const first = variants.get(variant) ?? own;
    return step === 0 ? first.step : (first.fallbacks.find((one) => one.channel === channel) ?? campaign);
  };
}

/** Every message, also those that no recipient may get. */
export function stepsIn(campaign: Campaign): readonly Step[] {
  const { variants } = campaign;
  const fallbacks = new Set([campaign, ...variants].flatMap((one) => one.fallbacks));
  return [campaign, ...variants.map(({ step }) => step), ...fallbacks];
}

export function addressKindOf({ recipients }: Campaign, step: Step & { readonly to?: string | null }): AddressKind {
  const hasColumn = typeof step.to === 'string';
  return recipients.kind === 'contact' && !hasColumn ? 'contact' : CHANNEL_TABLE[step.channel].address;
}

/** Null for a campaign of SMS without content. */
export function checkFor(steps: readonly Step[]): CheckContent | null {
  return steps.every(({ channel, content }) => channel === 'sms' && content === null) ? null : checkContent;
}

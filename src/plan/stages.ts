import type { ContentProblem } from '../content/check-values.ts';
import { isGsm, MAX_SMS_PARTS, smsFacts } from '../content/sms-parts.ts';
import { normaliseText, transliterate } from '../content/unicode.ts';
import { type Diagnostic, type Position, problem } from '../errors.ts';
import type {
  AddressKind,
  Campaign,
  Fallback,
  JsonObject,
  PossibleMessage,
  Recipient,
  Replacement,
  Row,
  SmsFacts,
  Step,
  StepMessage,
  Variables,
  Where,
} from '../model.ts';
import { type AddressReader, addressMessage, createAddressReader } from '../recipients/address.ts';
import { resolveColumns } from '../recipients/columns.ts';
import { columnTypes, isRelative } from '../recipients/query.ts';
import type { List } from '../recipients/read.ts';
import { createRecipientReader, type InvalidRow } from '../recipients/recipient.ts';
import { compileSegment, type Segment } from '../recipients/segment.ts';
import { type Comparison, columnTag, type Shown, type TemplateValues } from '../templates/compile.ts';
import type { LinkPart } from '../templates/links.ts';
import { createValues } from '../templates/values.ts';
import { damageOf, damageText, holdsNothing, isBlank } from '../util/cell.ts';
import { didYouMean } from '../util/suggest.ts';
import { type CompiledStep, compileStep } from './compile-step.ts';
import { addressKindOf } from './step-of.ts';
import { type CheckContent, compileNamed, type Personalised, type Workshop, withProviders } from './workshop.ts';

/** What is done to a row, in order. */
export interface Stages {
  /** Null: all recipients. */
  readonly segment: Segment | null;
  readonly recipient: (row: Row) => Recipient | InvalidRow;
  readonly values: (values: readonly string[]) => TemplateValues;
  /** The columns that any message uses, by position. */
  readonly used: readonly number[];
  /** The columns whose cells any text shows. */
  readonly shown: readonly (Shown & { readonly index: number; readonly name: string })[];
  /** Columns that become parts of web addresses. */
  readonly links: readonly LinkPart[];
  /** Where any message compares a column with a text. */
  readonly comparisons: readonly Comparison[];
  /** One for each variant, in order; then the campaign's own, unless recipients are divided among variants. */
  readonly messages: readonly Message[];
  /** Which of the messages recipients get by a condition; the first that holds counts. */
  readonly branches: readonly Branch[];
  readonly fallbacks: readonly FallbackMessage[];
}

/** A message for those who meet a condition. */
interface Branch {
  readonly segment: Segment;
  /** Its place among the messages. */
  readonly index: number;
  readonly name: string;
  readonly at: Where['at'];
}

/** One message that a recipient may get. */
interface Message {
  /** Null for the campaign's own. */
  readonly variant: string | null;
  /** The columns (by position) that must not be empty, with their names. */
  readonly required: readonly { readonly index: number; readonly name: string }[];
  readonly write: Writer;
}

interface FallbackMessage extends Message {
  /** Where the address on this channel comes from; null: it is the recipient's own. */
  readonly address: {
    readonly column: number;
    readonly name: string;
    readonly kind: AddressKind;
    readonly read: AddressReader;
  } | null;
}

interface CompiledStages {
  /** Null where an error prevents it. */
  readonly stages: Stages | null;
  readonly diagnostics: readonly Diagnostic[];
  readonly isPersonal: boolean;
}

/**
 * Compiles everything that is done to a row; everything that is wrong with any of it comes back at once.
 *
 * @param today - the day from which relative dates in `where` count, as its midnight in UTC
 */
export async function compileStages(
  campaign: Campaign,
  list: Pick<List, 'columns' | 'headerLine' | 'laterHeader'>,
  check: CheckContent | null,
  today: number,
  mark: Mark | null = null,
): Promise<CompiledStages> {
  const { columns } = list;
  const diagnostics: Diagnostic[] = [];
  const shop: Workshop = {
    campaign,
    columns,
    diagnostics,
    used: new Set(),
    shown: new Map(),
    comparisons: [],
    links: [],
    check,
  };
  const own: (readonly [string | null, CompiledStep])[] = [];
  const hasDrawn = campaign.variants.some(({ where }) => where === null);
  const mains = hasDrawn ? campaign.variants : [...campaign.variants, { name: null, step: campaign }];
  for (const { name, step } of mains) {
    const compiled = await compileStep(step, shop);
    if (compiled !== null) own.push([name, compiled]);
  }
  const fallbacks: (readonly [Fallback, CompiledStep])[] = [];
  for (const fallback of campaign.fallbacks) {
    const compiled = await compileStep(fallback, shop);
    if (compiled !== null) fallbacks.push([fallback, compiled]);
  }
  const metaData = campaign.recipientMetaData === null ? null : compileNamed(campaign.recipientMetaData, shop);
  const addresses = resolveColumns(campaign.recipients, columns, list.headerLine, list.laterHeader);
  if (Array.isArray(addresses)) diagnostics.push(...addresses);
  const segment = segmentOf(campaign.recipients.where, campaign, columns, today, diagnostics);
  const branches = campaign.variants.flatMap(({ name, where }, index): Branch[] => {
    if (isRelative(where)) {
      const message = `The condition of the variant "${name}" depends on the day of the start.`;
      const hint = 'Write a date, or put the condition under `recipients.where`.';
      diagnostics.push(problem('invalid-where', message, { at: where?.at ?? { file: campaign.file }, hint }));
    }
    const found: Diagnostic[] = [];
    const own = segmentOf(where, campaign, columns, today, found);
    // A query is named after the place where most of them are.
    const named = (message: string): string => message.replaceAll('`recipients.where', `\`variants[${index}].where`);
    diagnostics.push(...found.map((one) => ({ ...one, message: named(one.message) })));
    return own === null || where === null ? [] : [{ segment: own, index, name, at: where.at }];
  });
  for (const fallback of campaign.fallbacks) checkFallbackAddress(fallback, campaign, list, diagnostics);
  const isPersonal = own.some(([, step]) => step.isPersonal);
  if (diagnostics.some((d) => d.severity === 'error')) return { stages: null, diagnostics, isPersonal };

  const message = (variant: string | null, step: CompiledStep, index: number): Message => ({
    variant,
    required: step.required.map((name) => ({ index: columns.indexOf(name), name })),
    write: createWriter(step, index, metaData, mark),
  });
  const stages: Stages = {
    segment,
    recipient: createRecipientReader(campaign.recipients, columns),
    values: createValues(columns, [...shop.used]),
    used: columns.flatMap((name, i) => (shop.used.has(name) ? [i] : [])),
    shown: [...shop.shown].map(([name, how]) => ({ ...how, name, index: columns.indexOf(name) })),
    comparisons: shop.comparisons,
    links: [...new Map(shop.links.map((one) => [JSON.stringify(one), one])).values()],
    branches,
    messages: own.map(([variant, step]) => message(variant, step, 0)),
    fallbacks: fallbacks.map(([fallback, step], i) => ({
      ...message(null, step, i + 1),
      address: addressOf(fallback, campaign, columns),
    })),
  };
  return { stages, diagnostics: unique(diagnostics), isPersonal };
}

/** Variants share metadata and may share texts: what is said of them is said once. */
function unique(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return [...new Map(diagnostics.map((d) => [JSON.stringify([d.code, d.message, d.at]), d])).values()];
}

function segmentOf(
  where: Where | null,
  { recipients }: Campaign,
  columns: readonly string[],
  today: number,
  diagnostics: Diagnostic[],
): Segment | null {
  if (where === null) return null;
  const compiled = compileSegment(where, columns, columnTypes(recipients), today);
  if ('segment' in compiled) return compiled.segment;
  diagnostics.push(...compiled);
  return null;
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

function addressOf(fallback: Fallback, campaign: Campaign, columns: readonly string[]): FallbackMessage['address'] {
  if (fallback.to === null) return null;
  const kind = addressKindOf(campaign, fallback);
  const read = createAddressReader(kind, campaign.recipients.defaultCountry);
  return { column: columns.indexOf(fallback.to), name: fallback.to, kind, read };
}

/** The message of a step for one row, or what is wrong with it there. Throws `RenderError` where a text cannot be made. */
type Writer = (
  address: { readonly to: string; readonly country: string | null },
  values: TemplateValues,
  at: Position,
) => StepMessage | Diagnostic;

const NOTHING_REPLACED: readonly Replacement[] = [];
const EMPTY: JsonObject = Object.freeze({});

/**
 * Makes the writer of a step's messages.
 *
 * @param index - 0 for the campaign's own message and its variants; then the fallbacks
 * @param metaData - the metadata of each recipient, the same for all steps
 */
function createWriter(compiled: CompiledStep, index: number, metaData: Personalised | null, mark: Mark | null): Writer {
  const { step } = compiled;
  const shape = step.channel === 'sms' ? createSmsShaper(step) : createPlainShaper(compiled);
  return (address, values, at) => {
    const rendered = compiled.text === null ? null : compiled.text.render(values);
    const variables = compiled.variables === null ? null : personalise(compiled.variables, values);
    const content = compiled.content === null ? null : compiled.content.render(values);
    const own = metaData === null ? null : (personalise(metaData, values) as Record<string, string>);
    const shaped =
      mark === null ? shape(rendered, content, at) : shape(...marked(mark(address.to), rendered, content), at);
    if ('code' in shaped) return shaped;
    return {
      step: index,
      channel: step.channel,
      to: address.to,
      country: address.country,
      text: shaped.text,
      variables,
      content: shaped.content,
      rendered: content,
      metaData: shaped.headers === null ? own : { ...own, ...shaped.headers },
      replaced: shaped.replaced,
      sms: shaped.sms,
    };
  };
}

/** What a message begins with that goes to another address than its recipient's. */
type Mark = (to: string) => string;

/** The subject of an email and the text of every message; where a provider's template says it all, nothing is marked. */
function marked(mark: string, text: string | null, content: JsonObject | null): [string | null, JsonObject | null] {
  const said = text === null ? null : `${mark}${text}`;
  if (content === null) return [said, content];
  const keys = text === null ? (['subject', 'text'] as const) : (['subject'] as const);
  const own = keys.flatMap((key) =>
    typeof content[key] === 'string' ? [[key, `${mark}${content[key]}`] as const] : [],
  );
  return [said, { ...content, ...Object.fromEntries(own) }];
}

interface Shaped {
  readonly text: string | null;
  readonly content: JsonObject | null;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly replaced: readonly Replacement[];
  readonly sms: SmsFacts | null;
}

type Shaper = (rendered: string | null, content: JsonObject | null, at: Position) => Shaped | Diagnostic;

const NOTHING_RENDERED: Shaped = { text: null, content: null, headers: null, replaced: NOTHING_REPLACED, sms: null };

/** Encoding and parts of an SMS. */
function createSmsShaper({ characterSet, transliterate: wanted }: Step): Shaper {
  return (rendered, _content, at) => {
    if (rendered === null) return NOTHING_RENDERED;
    let text = normaliseText(rendered);
    if (!/\S/.test(text)) return emptyMessage(at);
    let replaced = NOTHING_REPLACED;
    let sms = smsFacts(text, characterSet);
    if (wanted && characterSet !== 'unicode' && !isGsm(text)) {
      const other = transliterate(text);
      if (other.replaced.length > 0) {
        text = other.text;
        replaced = other.replaced;
        sms = smsFacts(text, characterSet);
      }
    }
    if (characterSet === 'gsm' && !isGsm(text)) {
      return problem('not-gsm', 'The message has characters outside GSM-7, and `characterSet: gsm` is asked for.', {
        at,
        hint: 'Set `characterSet: auto`, or `transliterate: true` where near letters will do.',
      });
    }
    if (sms.parts > MAX_SMS_PARTS) {
      return problem('too-many-parts', `The message has ${sms.parts} parts; an SMS has at most ${MAX_SMS_PARTS}.`, {
        at,
      });
    }
    return { text, content: null, headers: null, replaced, sms };
  };
}

/** Every other channel: the limits of its content, with everything filled in. */
function createPlainShaper({ step, isPersonal, content: compiled, finishEmail, check }: CompiledStep): Shaper {
  const isProvider = step.template?.kind === 'provider';
  return (rendered, content, at) => {
    const text = rendered === null ? null : normaliseText(rendered);
    if (text !== null && compiled === null && !/\S/.test(text)) return emptyMessage(at);
    if (check !== null && isPersonal) {
      const known = isProvider ? null : (text ?? undefined);
      const wrong = check(step.channel, withProviders(step, content ?? EMPTY), known).find(
        (found) => found.severity === 'error',
      );
      if (wrong !== undefined) return inRow(wrong, at);
    }
    if (finishEmail === null) return { text, content, headers: null, replaced: NOTHING_REPLACED, sms: null };
    const email = finishEmail(content ?? EMPTY, text);
    const headers = Object.keys(email.headers).length === 0 ? null : email.headers;
    // The provider has the text, too.
    const said = isProvider ? null : email.text;
    return { text: said, content: email.content, headers, replaced: NOTHING_REPLACED, sms: null };
  };
}

function emptyMessage(at: Position): Diagnostic {
  return problem('empty-message', 'The message is empty for this row.', { at });
}

/** What is wrong with the content of one row: the message names the part, the place is the row's. */
function inRow({ code, message, hint }: ContentProblem, at: Position): Diagnostic {
  return problem(code, message, { at, ...(hint === undefined ? {} : { hint }) });
}

function personalise(templates: Personalised, values: TemplateValues): Variables<string> {
  const own: Record<string, string | Readonly<Record<string, string>>> = Object.create(null);
  for (const one of templates) {
    own[one.name] =
      'group' in one ? (personalise(one.group, values) as Record<string, string>) : one.template.render(values);
  }
  return own;
}

/** The message of the first step, or what is wrong with it in this row. Throws `RenderError` as templates do. */
export function writeMessage(
  message: Message,
  recipient: Recipient,
  values: TemplateValues,
  at: Position,
): StepMessage | Diagnostic {
  return missingVariable(message, recipient, at) ?? message.write(recipient, values, at);
}

/** Every message that a recipient may get, fallbacks included; or what is wrong with one of them. */
export function writeAll(
  stages: Pick<Stages, 'messages' | 'fallbacks'>,
  recipient: Recipient,
  values: TemplateValues,
  at: Position,
): readonly PossibleMessage[] | Diagnostic {
  const written: PossibleMessage[] = [];
  for (const message of stages.messages) {
    const found = writeMessage(message, recipient, values, at);
    if ('code' in found) return found;
    written.push({ ...found, variant: message.variant });
  }
  const fallbacks = writeFallbacks(stages.fallbacks, recipient, values, at);
  if ('code' in fallbacks) return fallbacks;
  return [...written, ...fallbacks.map((message) => ({ ...message, variant: null }))];
}

/** What the fallbacks would say; one without an address in this row is left out. */
export function writeFallbacks(
  fallbacks: readonly FallbackMessage[],
  recipient: Recipient,
  values: TemplateValues,
  at: Position,
): readonly StepMessage[] | Diagnostic {
  const written: StepMessage[] = [];
  for (const fallback of fallbacks) {
    const address = fallback.address === null ? recipient : addressIn(fallback.address, recipient, at);
    if (address === null) continue;
    if ('code' in address) return address;
    const found = missingVariable(fallback, recipient, at) ?? fallback.write(address, values, at);
    if ('code' in found) return found;
    written.push(found);
  }
  return written;
}

function addressIn(
  { column, name, kind, read }: NonNullable<FallbackMessage['address']>,
  recipient: Recipient,
  at: Position,
): { readonly to: string; readonly country: string | null } | Diagnostic | null {
  const cell = recipient.values[column] ?? '';
  if (holdsNothing(cell)) return null;
  const address = read(cell);
  if (!('problem' in address)) return address;
  const hint = address.hint === undefined ? {} : { hint: address.hint };
  return problem('invalid-address', addressMessage(kind, name, cell, address), { at, ...hint });
}

function missingVariable(message: Message, recipient: Recipient, at: Position): Diagnostic | null {
  for (const { index, name } of message.required) {
    const value = recipient.values[index] ?? '';
    const isDamaged = damageOf(value) === 'error-value';
    if (isDamaged || isBlank(value)) {
      const holds = isDamaged ? `holds ${damageText(value, 'error-value')}` : 'is empty';
      return problem('missing-variable', `The column "${name}" ${holds}, and the template needs it.`, {
        at,
        hint: `${isDamaged ? 'Correct' : 'Fill'} the cell, write {{default ${inTag(name)} "..."}}, or put the sentence into {{#if ${inTag(name)}}}.`,
      });
    }
  }
  return null;
}

/** The name as it is written inside a tag. */
function inTag(name: string): string {
  return columnTag(name).slice(2, -2);
}

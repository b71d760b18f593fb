import type { checkContent } from '../content/channels.ts';
import { type ContentProblem, checkLength, type Findings } from '../content/check-values.ts';
import { isGsm, MAX_SMS_PARTS, smsFacts } from '../content/sms-parts.ts';
import { normaliseText, type Replacement, transliterate } from '../content/unicode.ts';
import { type Diagnostic, type Position, problem } from '../errors.ts';
import type {
  AddressKind,
  JsonObject,
  PossibleMessage,
  Recipient,
  SmsFacts,
  Step,
  StepMessage,
  Variables,
} from '../model.ts';
import type { Provider } from '../providers/provider.ts';
import { addressMessage } from '../recipients/address.ts';
import type { AddressReader } from '../recipients/phone.ts';
import { type CompiledTemplate, columnTag, type TemplateValues } from '../templates/compile.ts';
import { damageOf, damageText, holdsNothing, isBlank } from '../util/cell.ts';

export interface Message {
  /** Null for the campaign's own. */
  readonly variant: string | null;
  /** The columns (by position) that must not be empty, with their names. */
  readonly required: readonly { readonly index: number; readonly name: string }[];
  /** Throws `RenderError` where a text cannot be made. */
  readonly write: (
    address: { readonly to: string; readonly country: string | null },
    values: TemplateValues,
    at: Position,
  ) => StepMessage | Diagnostic;
}

/** The message of the campaign or of a variant, with the fallbacks that follow it. */
export interface FirstMessage extends Message {
  readonly fallbacks: readonly FallbackMessage[];
}

/** Its variant is null where the campaign says the same for all. */
export interface FallbackMessage extends Message {
  /** Null: the recipient's own. */
  readonly address: {
    readonly column: number;
    readonly name: string;
    readonly kind: AddressKind;
    readonly read: AddressReader;
  } | null;
}

export interface CompiledStep {
  readonly step: Step;
  readonly text: CompiledTemplate | null;
  readonly variables: Personalised | null;
  readonly content: ((values: TemplateValues) => JsonObject) | null;
  readonly required: readonly string[];
  /** Text or content differ from recipient to recipient, so that recipients cannot share a request. */
  readonly isPersonal: boolean;
  /** The email as it goes on the wire, and the headers of its metadata; null for every other channel. */
  readonly finishEmail:
    | ((
        content: JsonObject,
        text: string | null,
      ) => {
        readonly content: JsonObject;
        readonly text: string | null;
        readonly headers: Readonly<Record<string, string>>;
      })
    | null;
  /** Null for SMS. */
  readonly check: CheckContent | null;
  readonly limit: TextLimit | null;
}

/** Most characters of a text; `of`: the API. */
interface TextLimit {
  readonly most: number;
  readonly of: string;
}

/** Null: there is none. An email may have a text of any length, which handbill makes from its HTML. */
export function textLimitOf({ channel }: Step, provider: Provider | null): TextLimit | null {
  const most = provider?.limits.text ?? null;
  return provider === null || most === null || channel === 'email' ? null : { most, of: provider.title };
}

export function overLimit(text: string, { most, of }: TextLimit): ContentProblem | null {
  if (text.length <= most) return null;
  const found: Findings = { channel: of, problems: [] };
  checkLength(found, '/text', text, most);
  return found.problems[0] ?? null;
}

export type CheckContent = typeof checkContent;

/** Named expressions, compiled; those in a group are under its name. */
export type Personalised = readonly (
  | { readonly name: string; readonly template: CompiledTemplate }
  | { readonly name: string; readonly group: Personalised }
)[];

const NOTHING_REPLACED: readonly Replacement[] = [];
const EMPTY: JsonObject = Object.freeze({});

/** @param index - 0 for the campaign's own message and its variants; then the fallbacks */
export function createWriter(
  compiled: CompiledStep,
  index: number,
  metaData: Personalised | null,
  mark: Mark | null,
): Message['write'] {
  const { step, limit } = compiled;
  const shape = step.channel === 'sms' ? createSmsShaper(step) : createPlainShaper(compiled);
  return (address, values, at) => {
    const rendered = compiled.text === null ? null : compiled.text.render(values);
    const variables = compiled.variables === null ? null : personalise(compiled.variables, values);
    const content = compiled.content === null ? null : compiled.content(values);
    const own = metaData === null ? null : (personalise(metaData, values) as Record<string, string>);
    const shaped =
      mark === null ? shape(rendered, content, at) : shape(...marked(mark(address.to), rendered, content), at);
    if ('code' in shaped) return shaped;
    const tooLong = limit === null || shaped.text === null ? null : overLimit(shaped.text, limit);
    if (tooLong !== null) {
      const source = step.template?.kind === 'text' ? `, or the template in ${step.template.source.file}` : '';
      const hint = `${tooLong.hint} The values of this row count too${source}.`;
      return problem(tooLong.code, tooLong.message, { at, hint });
    }
    return {
      step: index,
      channel: step.channel,
      to: address.to,
      country: address.country,
      text: shaped.text,
      variables,
      content: shaped.content,
      rendered: content,
      metaData: own,
      headers: shaped.headers,
      replaced: shaped.replaced,
      sms: shaped.sms,
    };
  };
}

export type Mark = (to: string) => string;

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
      return problem(
        'not-gsm',
        'The message has characters outside GSM-7, but the campaign sets `characterSet: gsm`.',
        {
          at,
          hint: 'Set `characterSet: auto`, or `transliterate: true` where near letters will do.',
        },
      );
    }
    if (sms.parts > MAX_SMS_PARTS) {
      return problem('too-many-parts', `The message has ${sms.parts} parts; an SMS has at most ${MAX_SMS_PARTS}.`, {
        at,
      });
    }
    return { text, content: null, headers: null, replaced, sms };
  };
}

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
      if (wrong !== undefined) return problem(wrong.code, wrong.message, { at, hint: wrong.hint });
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

export function withProviders({ channel, template }: Step, content: JsonObject): JsonObject {
  return channel === 'email' && template?.kind === 'provider' ? { subject: null, html: null, ...content } : content;
}

function personalise(templates: Personalised, values: TemplateValues): Variables<string> {
  const own: Record<string, string | Readonly<Record<string, string>>> = Object.create(null);
  for (const one of templates) {
    own[one.name] =
      'group' in one ? (personalise(one.group, values) as Record<string, string>) : one.template.render(values);
  }
  return own;
}

/** Throws `RenderError` as templates do. */
export function writeMessage(
  message: Message,
  recipient: Recipient,
  values: TemplateValues,
  at: Position,
): StepMessage | Diagnostic {
  return missingVariable(message, recipient, at) ?? message.write(recipient, values, at);
}

export function writeAll(
  messages: readonly FirstMessage[],
  recipient: Recipient,
  values: TemplateValues,
  at: Position,
): readonly PossibleMessage[] | Diagnostic {
  const written: PossibleMessage[] = [];
  for (const message of messages) {
    const found = writeMessage(message, recipient, values, at);
    if ('code' in found) return found;
    written.push({ ...found, variant: message.variant });
  }
  // Variants may share fallbacks.
  for (const fallback of new Set(messages.flatMap(({ fallbacks }) => fallbacks))) {
    const rest = writeFallbacks([fallback], recipient, values, at);
    if ('code' in rest) return rest;
    written.push(...rest.map((message) => ({ ...message, variant: fallback.variant })));
  }
  return written;
}

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
  return problem('invalid-address', addressMessage(kind, name, cell, address), { at, hint: address.hint });
}

function missingVariable(message: Message, recipient: Recipient, at: Position): Diagnostic | null {
  for (const { index, name } of message.required) {
    const value = recipient.values[index] ?? '';
    const isDamaged = damageOf(value) === 'error-value';
    if (isDamaged || isBlank(value)) {
      const tag = columnTag(name).slice(2, -2);
      const holds = isDamaged ? `holds ${damageText(value, 'error-value')}` : 'is empty';
      return problem('missing-variable', `The column "${name}" ${holds}, and the template needs it.`, {
        at,
        hint: `${isDamaged ? 'Correct' : 'Fill'} the cell, write {{default ${tag} "..."}}, or put the sentence into {{#if ${tag}}}.`,
      });
    }
  }
  return null;
}

import { hash } from 'node:crypto';
import type {
  AddressKind,
  Campaign,
  Channel,
  Environment,
  Json,
  JsonObject,
  SendDecision,
  SendRequest,
  Step,
  StepMessage,
  Validity,
} from '../model.ts';
import { isMapping, parsePointer } from '../util/json.ts';
import { isTest } from '../util/occurrence-name.ts';
import { iso } from '../util/time.ts';
import { addressKindOf, channelStepsOf } from './compile.ts';

export interface Expander {
  one(decision: SendDecision, message: StepMessage): SendRequest;
  /** One request for several recipients, who all get the same text or the same template of the provider. */
  many(decisions: readonly SendDecision[]): SharedRequest;
}

export interface SharedRequest extends SendRequest {
  readonly addressees: readonly { readonly to: string; readonly reference: string }[];
}

/** JSON that all recipients share is made once. Fields are in the order of the API's document (section 2.1). */
export function createExpander(
  campaign: Campaign,
  environment: Environment,
  referenceOf: ReferenceOf,
  startMs: number,
  redirect: ReadonlyMap<AddressKind, string> = new Map(),
): Expander {
  const stepOf = channelStepsOf(campaign);
  const forms = new Map<Step, Form>();
  const formOf = (message: StepMessage, variant: string | null): Form => {
    const step = stepOf(message, variant);
    let form = forms.get(step);
    if (form === undefined) {
      form = redirected(createForm(campaign, step, environment, startMs), redirect.get(addressKindOf(campaign, step)));
      forms.set(step, form);
    }
    return form;
  };
  return {
    one(decision, message) {
      const reference = referenceOf(decision.key, message.channel, decision.resend);
      const { body, to } = formOf(message, decision.variant);
      const request = { reference, body: body(message, [{ message, reference }]) };
      return to === undefined ? request : { ...request, to };
    },
    many(decisions) {
      const [first] = decisions;
      if (first === undefined) throw new Error('a request has a recipient');
      const entries = decisions.map((message) => ({
        message,
        reference: referenceOf(message.key, message.channel, message.resend),
      }));
      // A request that is repeated has the same recipients, so that an idempotency key made of them is the same too.
      const all = entries.map(({ reference }) => reference).join('\n');
      const reference = entries.length === 1 ? all : hash('sha256', all, 'base64url').slice(0, 22);
      const addressees = entries.map(({ message, reference: own }) => ({ to: message.to, reference: own }));
      return { reference, body: formOf(first, first.variant).body(first, entries), addressees };
    },
  };
}

type Entry = { readonly message: StepMessage; readonly reference: string };

interface Form {
  readonly body: (message: StepMessage, entries: readonly Entry[]) => string;
  /** The address that all its messages go to; absent: each goes to its recipient. */
  readonly to?: string;
}

function redirected(form: Form, to: string | undefined): Form {
  if (to === undefined) return form;
  return {
    to,
    body: (message, entries) =>
      form.body(
        message,
        entries.map((entry) => ({ ...entry, message: { ...entry.message, to } })),
      ),
  };
}

function createForm(campaign: Campaign, step: Step, environment: Environment, startMs: number): Form {
  const { wire } = environment;
  const kind = addressKindOf(campaign, step);
  const head = {
    accountReference: campaign.accountReference ?? undefined,
    name: campaign.name,
    characterSet: step.characterSetWritten ? wire.characterSets[step.characterSet] : undefined,
    channel: wire.channels[step.channel],
    from: step.from ?? undefined,
    validity: campaign.validity === null ? undefined : validityOnWire(campaign.validity, startMs, wire.validityDigits),
    messageType: campaign.messageType === null ? undefined : nameIn(wire.messageTypes, campaign.messageType),
  };
  const start = `${JSON.stringify(head).slice(0, -1)},"body":`;
  const end = campaign.metaData === null ? '}' : `,"metaData":${JSON.stringify(campaign.metaData)}}`;
  const templateId = step.template?.kind === 'provider' ? `"templateId":${JSON.stringify(step.template.id)}` : null;
  const body = (message: StepMessage): string => {
    const text = message.text === null ? '' : `"text":${JSON.stringify(message.text)}`;
    return `{${templateId ?? text}}`;
  };
  const form: Form =
    kind === 'contact'
      ? {
          body: (message, [entry]) =>
            entry === undefined ? '' : `${start}${body(message)}${contact(entry, campaign, environment)}}`,
        }
      : createRecipientsForm({ start, end, body, hasTemplate: templateId !== null }, kind, environment);
  return step.content === null ? form : withContent(form, step.channel, environment);
}

interface Frame {
  readonly start: string;
  readonly end: string;
  readonly body: (message: StepMessage) => string;
  readonly hasTemplate: boolean;
}

function createRecipientsForm(frame: Frame, kind: AddressKind, { wire }: Environment): Form {
  const { start, end, body, hasTemplate } = frame;
  const field = JSON.stringify(kind === 'email' ? wire.emailField : 'msisdn');
  const addressOf = kind === 'email' ? (to: string) => JSON.stringify(to) : NUMBERS[wire.msisdn];
  const name = JSON.stringify(wire.referenceName);
  const recipient = ({ message, reference }: Entry): string => {
    const variables = hasTemplate ? `,"variables":${JSON.stringify(message.variables ?? {})}` : '';
    const own = ownMetaData(message.metaData, name, reference);
    return `{${field}:${addressOf(message.to)}${variables},"metaData":${own}}`;
  };
  return {
    body: (message, entries) => {
      const [only] = entries;
      const list = entries.length === 1 && only !== undefined ? recipient(only) : entries.map(recipient).join(',');
      return `${start}${body(message)},"recipients":[${list}]${end}`;
    },
  };
}

/** An E.164 number holds nothing that JSON would escape. */
const NUMBERS: Readonly<Record<Environment['wire']['msisdn'], (to: string) => string>> = {
  e164: (to) => `"${to}"`,
  digits: (to) => `"${to.slice(1)}"`,
  '00': (to) => `"00${to.slice(1)}"`,
};

/** A contact has no place for metadata: it goes into that of the message, which is for one contact. */
function contact({ message, reference }: Entry, campaign: Campaign, { wire }: Environment): string {
  const metaData = { ...campaign.metaData, ...message.metaData, [wire.referenceName]: reference };
  const contacts = JSON.stringify([{ id: message.to }]);
  return `,"addressBook":{"contacts":${contacts}},"metaData":${JSON.stringify(metaData)}`;
}

/** The recipient's metadata, with handbill's reference: webhooks are joined by it. */
function ownMetaData(metaData: StepMessage['metaData'], name: string, reference: string): string {
  if (metaData === null) return `{${name}:"${reference}"}`;
  const own = JSON.stringify(metaData);
  return own === '{}' ? `{${name}:"${reference}"}` : `${own.slice(0, -1)},${name}:"${reference}"}`;
}

/** Rich content goes where `wire.content` says, under the names that `wire.contentNames` gives its parts. */
function withContent(form: Form, channel: Channel, { wire }: Environment): Form {
  const place = parsePointer(wire.content[channel]);
  const rename = Object.keys(wire.contentNames).length === 0 ? (value: Json) => value : renamed(wire.contentNames);
  return {
    body(message, entries) {
      const plain = form.body(message, entries);
      if (message.content === null || Object.keys(message.content).length === 0) return plain;
      return JSON.stringify(withValueAt(JSON.parse(plain) as JsonObject, place, rename(message.content)));
    },
  };
}

/** Names that `wire` does not list stay. */
function nameIn(names: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(names, name) ? (names[name] ?? name) : name;
}

/** The form of the API's document: fractional seconds and a numeric offset. */
export function validityOnWire(validity: Validity, startMs: number, digits = 3): string {
  const instant = validity.kind === 'duration' ? startMs + validity.ms : validity.epochMs;
  const text = iso(instant);
  const fraction = text.slice(20, 23).padEnd(digits, '0').slice(0, digits);
  return `${text.slice(0, 19)}.${fraction}+00:00`;
}

/** Copies a document with a value at a place inside `/body`, `/metaData` or a recipient; makes missing mappings. */
function withValueAt(document: JsonObject, place: readonly string[], value: Json): JsonObject {
  const [name, ...rest] = place;
  if (name === undefined) return value as JsonObject;
  const inner = Object.hasOwn(document, name) ? document[name] : undefined;
  if (rest.length === 0) return { ...document, [name]: value };
  if (Array.isArray(inner)) {
    // In a list the place means every item: each recipient gets the content.
    const [, ...within] = rest;
    const items = inner.map((item: Json) => (isMapping(item) ? withValueAt(item, within, value) : item));
    return { ...document, [name]: items };
  }
  return { ...document, [name]: withValueAt(isMapping(inner) ? inner : {}, rest, value) };
}

function renamed(names: Readonly<Record<string, string>>): (value: Json) => Json {
  const rename = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(rename);
    if (!isMapping(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [nameIn(names, key), rename(inner)]));
  };
  return rename;
}

/** A name that two keys of one mapping would have after they got other names; null: none. */
export function clashIn(value: Json, names: Readonly<Record<string, string>>): string | null {
  if (value === null || typeof value !== 'object') return null;
  const keys = Array.isArray(value) ? [] : Object.keys(value).map((key) => nameIn(names, key));
  const twice = keys.find((key, i) => keys.indexOf(key) !== i);
  if (twice !== undefined) return twice;
  for (const inner of Object.values(value)) {
    const clash = clashIn(inner, names);
    if (clash !== null) return clash;
  }
  return null;
}

/** Six bits each of what SHA-256 begins with: 132 bits. */
const CHARACTERS = 22;
/** Readers of the provider's log see that it is a test. */
const TEST_MARK = 'test-';

/**
 * 22 characters that are safe in a header, a URL and JSON: 128 bits of SHA-256, never of content, so that a corrected
 * template cannot make a recipient look new. That of a test begins with `test-`.
 *
 * @param resend - messages to earlier addresses: a corrected address gets another reference, or the API may drop it
 */
export function createReference(
  identity: { readonly environment: string; readonly campaign: string; readonly occurrence: string },
  channel: Channel,
  resend = 0,
): (key: string) => string {
  const { environment, campaign, occurrence } = identity;
  const parts = [environment, campaign, occurrence, channel, ...(resend === 0 ? [] : [resend])];
  const prefix = `${JSON.stringify(parts)}\n`;
  const referenceOf = (key: string): string => hash('sha256', prefix + key, 'base64url').slice(0, CHARACTERS);
  return isTest(occurrence) ? (key) => `${TEST_MARK}${referenceOf(key)}`.slice(0, CHARACTERS) : referenceOf;
}

export type ReferenceOf = (key: string, channel: Channel, resend?: number) => string;

export function createReferences(identity: Parameters<typeof createReference>[0]): ReferenceOf {
  const byChannel = new Map<Channel, (key: string) => string>();
  return (key, channel, resend = 0) => {
    if (resend > 0) return createReference(identity, channel, resend)(key);
    let referenceOf = byChannel.get(channel);
    if (referenceOf === undefined) {
      referenceOf = createReference(identity, channel);
      byChannel.set(channel, referenceOf);
    }
    return referenceOf(key);
  };
}

import { hash } from 'node:crypto';
import type {
  AddressKind,
  Campaign,
  Channel,
  Environment,
  Recipient,
  SendDecision,
  SendRequest,
  Step,
  StepMessage,
} from '../model.ts';
import { spelled } from '../providers/reference.ts';
import { compileRequest, type FormFacts, type RequestForm } from '../providers/request.ts';
import type { Entry } from '../providers/text.ts';
import { HIDDEN } from '../providers/url.ts';
import type { Lacking } from '../providers/values.ts';
import { isTest } from '../util/occurrence-name.ts';
import { addressKindOf, channelStepsOf } from './compile.ts';

export type Expander = ReturnType<typeof createExpander>;

export interface SharedRequest extends SendRequest {
  readonly addressees: readonly { readonly to: string; readonly reference: string }[];
}

export interface ExpandOptions {
  /** When the start began: a validity that is written as a duration counts from it. */
  readonly startMs: number;
  /** The address that all messages to addresses of a kind go to; absent: each goes to its recipient. */
  readonly redirect?: ReadonlyMap<AddressKind, string>;
  /** By name; absent: bodies hold dots in their place, as people see them. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** For a validity that the API counts from the request; default: `startMs`. */
  readonly now?: () => number;
}

/** Requests as the provider of the environment has them. What all recipients share is made once. */
export function createExpander(
  campaign: Campaign,
  environment: Environment,
  referenceOf: ReferenceOf,
  { startMs, redirect, secrets, now = () => startMs }: ExpandOptions,
) {
  const stepOf = channelStepsOf(campaign);
  const { alphanumericReference } = environment.provider;
  const onWire = (reference: string): string => (alphanumericReference ? spelled(reference) : reference);
  const { validity, recipients } = campaign;
  const own: Forms = new Map();
  const timed = new Map<number, Forms>();
  /** The validity of a row with its own time counts from the moment at which it goes out. */
  const formsFrom = (fromMs: number): Forms => {
    if (timed.size >= MOST_TIMES) timed.clear();
    const found = timed.get(fromMs) ?? new Map();
    timed.set(fromMs, found);
    return found;
  };
  const beforeMs = validity?.kind === 'duration' ? (recipients.each?.before.ms ?? null) : null;
  const formOf = (message: StepMessage, variant: string | null, recipient: Recipient) => {
    const step = stepOf(message, variant);
    const fromMs = beforeMs === null ? startMs : (recipient.atMs ?? 0) - beforeMs;
    const forms = beforeMs === null ? own : formsFrom(fromMs);
    let found = forms.get(step);
    if (found === undefined) {
      const address = addressKindOf(campaign, step);
      const shown =
        secrets ?? Object.fromEntries(Object.keys(environment.provider.secrets).map((name) => [name, HIDDEN]));
      const form = compileRequest(environment.provider, factsOf(campaign, step, environment, shown, fromMs), now);
      if (form === null) throw new Error('A plan has refused a message that the provider cannot send.');
      found = { form, to: redirect?.get(address) };
      forms.set(step, found);
    }
    return found;
  };
  return {
    one(decision: SendDecision, message: StepMessage): SendRequest {
      const reference = onWire(referenceOf(decision.key, message.channel, decision.resend));
      const { form, to } = formOf(message, decision.variant, decision.recipient);
      const request = { reference, form, body: form.write([entryOf(message, reference, to)]) };
      return to === undefined ? request : { ...request, to };
    },
    /** One request for several recipients, who all get the same text or the same template of the provider. */
    many(decisions: readonly SendDecision[]): SharedRequest {
      const [first] = decisions;
      if (first === undefined) throw new Error('a request has a recipient');
      const { form, to } = formOf(first, first.variant, first.recipient);
      const addressees = decisions.map((one) => ({
        to: one.to,
        reference: onWire(referenceOf(one.key, one.channel, one.resend)),
      }));
      const entries = decisions.map((one, i) => entryOf(one, addressees[i]?.reference ?? '', to));
      // A request that is repeated has the same recipients, so that an idempotency key made of them is the same too.
      const all = addressees.map((one) => one.reference).join('\n');
      const reference = addressees.length === 1 ? all : hash('sha256', all, 'base64url').slice(0, 22);
      return { reference, form, body: form.write(entries), addressees };
    },
  };
}

type Forms = Map<Step, { readonly form: RequestForm; readonly to: string | undefined }>;

/** Times whose forms are kept: most rows share theirs with others. */
const MOST_TIMES = 1000;

function entryOf(message: StepMessage, reference: string, to = message.to): Entry {
  const { text, variables, content, metaData, headers, sms } = message;
  const isGsm = sms === null ? null : sms.encoding === 'GSM-7';
  return { to, reference, text, variables, content, metaData, headers, isGsm };
}

function factsOf(
  campaign: Campaign,
  step: Step,
  { vars, baseUrl, webhook }: Environment,
  secrets: Readonly<Record<string, string>>,
  fromMs: number,
): FormFacts {
  const { name, accountReference, messageType, metaData, validity, recipientMetaData } = campaign;
  const { url, receiver } = webhook;
  const kind = receiver?.scheme.kind;
  const lacks = new Set<Lacking>();
  if (recipientMetaData === null) lacks.add('metaData.own');
  if (step.channel === 'sms') lacks.add('content');
  if (step.channel !== 'email') lacks.add('content.headers');
  return {
    campaign: name,
    accountReference,
    messageType,
    metaData,
    channel: step.channel,
    address: addressKindOf(campaign, step),
    characterSet: step.characterSetWritten ? step.characterSet : undefined,
    from: step.from,
    template: step.template?.kind === 'provider' ? step.template.id : null,
    validUntilMs: validity === null ? null : validity.kind === 'duration' ? fromMs + validity.ms : validity.epochMs,
    // Null: handbill knows no URL, or the provider would need a secret in it: a part of its path, or a password.
    callback:
      url === undefined || kind === 'path' || kind === 'basic'
        ? null
        : `${url}${url.includes('?') ? '&' : '?'}handbill={reference}`,
    lacks,
    vars,
    secrets,
    baseUrl,
  };
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

import type { Dialect, ErrorRest, Refusals } from './dialect.ts';
import { addressesOf, bareNumber, fieldAt, type Message } from './message.ts';
import { statusTitle } from './scenarios.ts';
import { isoOf, type ReportWord, respell, type SandboxEvent } from './story.ts';

/**
 * The dialect that differs in every way, on the request's side too (schema `PerRecipientMessage`): 200 with one entry
 * for each recipient, also where it is refused; numbers without `+`; codes in capitals.
 */
export const PER_RECIPIENT_DIALECT: Dialect = {
  name: 'per-recipient',
  says: '200 with an entry for each recipient, refused ones too; other names in requests',
  request: 'PerRecipientMessage',
  acceptedStatus: 200,
  invalidStatus: 400,
  unsupportedStatus: 422,
  results: 'always',
  accepted,
  errorType: 'application/json',
  error,
};

function accepted(id: string, message: Message, refusals: Refusals): string {
  const addresses = addressesOf(message);
  const messages = addresses.map((address, i) => {
    const refusal = refusals.get(i);
    const to = fieldAt(message, address, i) === 'msisdn' ? bareNumber(address) : address;
    const messageId = addresses.length === 1 ? id : `${id}-${i + 1}`;
    if (refusal === undefined) return { to, messageId, status: PENDING };
    const { code, detail } = refusal;
    return { to, messageId, status: REJECTED, error: { code: capitals(code), description: detail } };
  });
  return JSON.stringify({ bulkId: `bulk-${id}`, messages });
}

const PENDING = { groupName: 'PENDING', description: 'Message sent to next instance' };
const REJECTED = { groupName: 'REJECTED', description: 'Message rejected' };

function error(status: number, { detail, code, errors }: ErrorRest): string {
  const violations = errors?.map((fault) => ({ path: fault.pointer.slice(1), problem: fault.detail }));
  const text = { code: capitals(code ?? statusTitle(status)), text: detail };
  return JSON.stringify({ requestError: violations === undefined ? text : { ...text, violations } });
}

/** `channel-not-supported` as `CHANNEL_NOT_SUPPORTED`. */
function capitals(words: string): string {
  return words.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
}

/**
 * `results`, also for one event, as Infobip posts them: groups of statuses with names, `SEEN` as an event of its own,
 * numbers without `+`, offsets without a colon.
 */
export function perRecipientEvents(events: readonly SandboxEvent[]): unknown {
  return { results: events.map(resultOf) };
}

const STATUSES: Readonly<Record<ReportWord, readonly [group: string, name: string]>> = {
  queued: ['PENDING', 'PENDING_ACCEPTED'],
  sent: ['PENDING', 'PENDING_ENROUTE'],
  delivered: ['DELIVERED', 'DELIVERED_TO_HANDSET'],
  read: ['DELIVERED', 'DELIVERED_TO_HANDSET'],
  expired: ['EXPIRED', 'EXPIRED_EXPIRED'],
  failed: ['UNDELIVERABLE', 'UNDELIVERABLE_NOT_DELIVERED'],
  undeliverable: ['UNDELIVERABLE', 'UNDELIVERABLE_REJECTED_OPERATOR'],
  rejected: ['REJECTED', 'REJECTED_NETWORK'],
  'unheard-of': ['OTHER', 'HANDED_TO_AGGREGATOR'],
};

function resultOf({ subject, beat, atMs }: SandboxEvent): unknown {
  const { messageId, to, sender, channel, echo } = subject;
  const time = isoOf(atMs).replace('Z', '+0000');
  if (beat.kind === 'reply') {
    const content = [{ type: 'TEXT', text: beat.text }];
    return {
      event: 'MO',
      channel,
      sender: bareNumber(respell(to, beat.spelling)),
      destination: sender,
      content,
      receivedAt: time,
    };
  }
  const whose = { channel, sender, destination: bareNumber(to), messageId, ...echo };
  if (beat.word === 'read') return { event: 'SEEN', ...whose, seenAt: time };
  const [groupName, name] = STATUSES[beat.word];
  const status = { groupName, name };
  return { event: 'DELIVERY', ...whose, doneAt: time, status, ...(beat.error === null ? {} : errorOf(beat.error)) };
}

function errorOf({
  code,
  detail,
  isPermanent,
}: NonNullable<Extract<SandboxEvent['beat'], { kind: 'report' }>['error']>): {
  readonly error: unknown;
} {
  const name = code.toUpperCase().replaceAll('-', '_');
  return { error: { name, code: name, description: detail, permanent: isPermanent } };
}

import { hash } from 'node:crypto';
import { isRedirected } from '../ledger/records.ts';
import type { AssumedFeedback, Campaign, WebhookEvent } from '../model.ts';
import { createReferences, type ReferenceOf } from '../plan/expand.ts';
import { listedForm } from '../util/address-form.ts';
import type { RunEvent } from './event.ts';
import type { TimedClaim } from './group-commit.ts';
import type { VirtualTime } from './virtual-time.ts';

/**
 * The longest time from the claim of a message to its report, and from its report to an answer. A start waits for reports
 * at a gate for longer.
 */
const REPORT_MS = 5 * 60_000;
const REPLY_MS = 6 * 3_600_000;

/** Events of so many ms are stored in one transaction, as those of a webhook are. */
const GROUP_MS = 10_000;

type End = 'undeliverable' | 'delivered' | 'replied' | 'opted-out';

/** By the seed and the message alone: the order in which messages are sent changes nothing. */
function drawn({ seed, delivered, replied, optedOut }: AssumedFeedback, reference: string) {
  const bits = hash('sha256', `${seed}\n${reference}`, 'buffer');
  const at = (place: number): number => bits.readUInt32LE(place) / 2 ** 32;
  const part = at(0);
  const answered = part < optedOut ? 'opted-out' : part < optedOut + replied ? 'replied' : null;
  const end: End = answered ?? (part < delivered ? 'delivered' : 'undeliverable');
  return { end, reportMs: Math.ceil(at(4) * REPORT_MS), replyMs: Math.ceil(at(8) * REPLY_MS) };
}

interface Message {
  readonly campaign: Campaign;
  readonly reference: string;
  readonly to: string;
  /** The time of its report or, if that has come, of the answer; in ms since 1970. */
  readonly atMs: number;
  readonly isReported: boolean;
}

type FeedbackCause = Extract<RunEvent, { readonly kind: 'planned' | 'started' | 'committed' }>;

export interface FeedbackContext {
  readonly assume: AssumedFeedback;
  readonly time: VirtualTime;
  /** Whether anything depends on the delivery reports and the replies of a campaign. */
  readonly isAsked: (campaign: Campaign) => boolean;
  readonly store: (events: readonly WebhookEvent[], campaign: Campaign) => void;
}

/**
 * The delivery reports and replies of a rehearsal, for accepted messages, in virtual time. About 200 bytes for each
 * message without a report.
 * @returns a listener for each call of `due`
 */
export function createFeedback({
  assume,
  time,
  isAsked,
  store,
}: FeedbackContext): () => (event: FeedbackCause) => void {
  const groups = new Map<number, Message[]>();

  const put = (message: Message): void => {
    const atMs = Math.ceil(message.atMs / GROUP_MS) * GROUP_MS;
    const group = groups.get(atMs);
    if (group !== undefined) return void group.push(message);
    groups.set(atMs, [message]);
    time.at(atMs, () => come(atMs));
  };
  const come = (atMs: number): void => {
    const group = groups.get(atMs) ?? [];
    groups.delete(atMs);
    for (const [campaign, messages] of Map.groupBy(group, (one) => one.campaign)) {
      const ends = messages.map((message) => ({ message, ...drawn(assume, message.reference) }));
      const events = ends.map(({ message, end }) => (message.isReported ? replyTo : reportOf)(message, end));
      store(events, campaign);
      for (const { message, end, replyMs } of ends) {
        const isAnswered = end === 'replied' || end === 'opted-out';
        if (isAnswered && !message.isReported) put({ ...message, atMs: message.atMs + replyMs, isReported: true });
      }
    }
  };

  return () => {
    let campaign: Campaign | null = null;
    let referenceOf: ReferenceOf | null = null;
    const claimed = new Map<string, TimedClaim>();
    return (event) => {
      if (event.kind === 'planned') campaign = event.plan.campaign;
      if (event.kind === 'started') {
        claimed.clear();
        // Redirected messages reach a tester, whose answer means nothing for the recipient.
        referenceOf = isRedirected(event.run) ? null : createReferences(event.run);
      }
      if (event.kind !== 'committed' || campaign === null || referenceOf === null) return;
      const isNeeded = isAsked(campaign);
      if (!isNeeded && assume.optedOut === 0) return;
      for (const { row, step, state } of event.results) {
        const claim = claimed.get(`${row} ${step}`);
        claimed.delete(`${row} ${step}`);
        if (claim === undefined || state !== 'accepted') continue;
        const reference = referenceOf(claim.key, claim.facts?.channel ?? campaign.channel);
        const { end, reportMs } = drawn(assume, reference);
        if (!isNeeded && end !== 'opted-out') continue;
        put({ campaign, reference, to: claim.to, atMs: time.nowMs + reportMs, isReported: false });
      }
      // An attempt that is repeated is claimed in the commit that has its outcome.
      for (const claim of event.claims) claimed.set(`${claim.row} ${claim.step}`, claim);
    };
  };
}

function reportOf({ reference, to, atMs }: Message, end: End): WebhookEvent {
  return {
    kind: 'delivery',
    reference,
    messageId: null,
    address: to,
    channel: null,
    state: end === 'undeliverable' ? 'undeliverable' : 'delivered',
    word: null,
    cause: null,
    error: null,
    textHash: null,
    atMs,
    eventId: null,
  };
}

function replyTo({ reference, to, atMs }: Message, end: End): WebhookEvent {
  const isStop = end === 'opted-out';
  return {
    kind: 'reply',
    replyId: reference,
    reference,
    messageId: null,
    from: listedForm(to),
    to: null,
    channel: null,
    text: isStop ? 'STOP' : 'OK',
    meaning: isStop ? 'opt-out' : 'answer',
    atMs,
  };
}

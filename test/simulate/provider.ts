import { hash } from 'node:crypto';
import type { Channel, DeliveryCause, DeliveryReport, DeliveryState, Reply, WebhookEvent } from '../../src/model.ts';
import { STOP_ENDS, type StopEnds } from '../../src/model.ts';
import type { Behaviour } from './behaviour.ts';
import type { Random } from './random.ts';
import type { EnvironmentName } from './scene.ts';
import type { World } from './world.ts';

/** How the other side reports in one history; all of it drawn before it begins. */
export interface ProviderPlan {
  /** Share of the messages that it took of which it says anything. */
  readonly reported: number;
  /** By what it says which message it means. */
  readonly naming: Naming;
  /** Reports that name an id name no address with it. */
  readonly withoutAddress: boolean;
  /** Share of those that are not delivered. */
  readonly unreached: number;
  /** Share of the requests that are made again although they were answered. */
  readonly repeats: number;
  /** Usual time between what happens and its report, in ms. */
  readonly delayMs: number;
  /** Share of the requests in which the process that receives is killed. */
  readonly kills: number;
  /** `webhook.replies.startLifts`. */
  readonly startLifts: boolean;
  /** `webhook.replies.stopEnds`. */
  readonly stopEnds: StopEnds;
}

const NAMINGS = ['reference', 'id', 'both', 'text'] as const;
type Naming = (typeof NAMINGS)[number];

/** @param several - more than one provider reports: then some say nothing but an id, which another may have given out too */
export function drawProvider(random: Random, several: boolean): ProviderPlan {
  const withoutAddress = several && random.chance(0.6);
  return {
    reported: random.pick([0.3, 0.8, 1]),
    withoutAddress,
    naming: withoutAddress ? 'id' : random.pick(NAMINGS),
    unreached: random.pick([0, 0.1, 0.4]),
    repeats: random.pick([0, 0.2, 0.5]),
    delayMs: random.pick([5, 60, 1000, 20_000]),
    kills: random.pick([0, 0.1, 0.3]),
    startLifts: random.chance(0.5),
    stopEnds: random.pick(STOP_ENDS),
  };
}

/** An event, and the message that it is about: only the provider knows that for certain. */
export interface Told {
  readonly event: WebhookEvent;
  /** Reference of the message; null: it is about none. */
  readonly about: string | null;
  /** Whose provider says it. */
  readonly environment: EnvironmentName;
}

/** A message of which the API has the request. */
export interface Received {
  readonly reference: string;
  readonly address: string;
  readonly channel: Channel;
  readonly text: string;
  /** Unlike that of any other message of the provider. */
  readonly number: string;
  /** Of those in the request. */
  readonly at: number;
  readonly behaviour: Behaviour;
  /** The reference is the id of the message. */
  readonly isIdOurs: boolean;
}

export interface Provider {
  /** Returns the id by which it reports the message; null: by none; undefined: it says nothing of it. */
  received(message: Received): string | null | undefined;
  /** A recipient writes back; the provider itself knows of `complaint`. */
  says(address: string, word: Word): void;
  /** Nothing is left to tell. */
  readonly isIdle: boolean;
}

export const WORDS = ['STOP', 'START', 'yes', 'complaint'] as const;
export type Word = (typeof WORDS)[number];

interface Step {
  readonly state: DeliveryState;
  readonly cause?: DeliveryCause;
}

/** What may be seen of a message that was delivered, and of one that was not. */
const REACHED: readonly [readonly Step[], ...(readonly Step[])[]] = [
  [{ state: 'delivered' }],
  [{ state: 'sent' }, { state: 'delivered' }],
  [{ state: 'queued' }, { state: 'sent' }, { state: 'delivered' }, { state: 'read' }],
  [{ state: 'sent' }],
  [{ state: 'unknown' }, { state: 'queued' }],
  [{ state: 'sent' }, { state: 'failed' }],
  [{ state: 'expired' }, { state: 'rejected' }],
  // Given up, and there all the same.
  [{ state: 'undeliverable' }, { state: 'delivered' }],
];
const UNREACHED: readonly [readonly Step[], ...(readonly Step[])[]] = [
  [{ state: 'undeliverable' }],
  [{ state: 'queued' }, { state: 'sent' }, { state: 'undeliverable' }],
  [{ state: 'failed', cause: 'unsupported-channel' }],
  [{ state: 'sent' }, { state: 'rejected', cause: 'unsupported-channel' }, { state: 'expired' }],
];

/** Final, and perhaps for good. */
const FAILED: ReadonlySet<DeliveryState> = new Set(['undeliverable', 'failed', 'expired', 'rejected']);

/** Kinds of requests of which the API may have made a message whatever its client learnt. */
const MAYBE_TAKEN = new Set(['silent', 'never-answers', 'half-answer', 'broken', 'unrecognised', 'doubtful-4xx']);
const TAKEN = new Set(['accepted', 'accepted-empty', 'cut-2xx']);

/**
 * The other side of the API: tells what became of messages, and what people write back, late, in any order, several at
 * once, again and again until it is answered, and sometimes after that.
 *
 * @param hear - takes events as one request; says whether it was answered
 */
export function createProvider(
  world: World,
  random: Random,
  plan: ProviderPlan,
  environment: EnvironmentName,
  hear: (told: readonly Told[]) => boolean,
): Provider {
  const outbox: Told[] = [];
  let underWay = 0;
  let replies = 0;

  const later = (ms: number, work: () => void): void => {
    underWay += 1;
    world.after(ms, () => {
      underWay -= 1;
      work();
    });
  };
  const post = (told: readonly Told[], isAgain: boolean): void => {
    if (isAgain) world.cover('told again');
    if (!hear(told)) later(random.scale(10, 5000), () => post(told, true));
    else if (random.chance(plan.repeats)) later(random.scale(1, 30_000), () => post(told, true));
  };
  const tell = (told: Told): void => {
    outbox.push(told);
    if (outbox.length > 1) return;
    later(random.scale(0.1, 100), () => {
      const all = outbox.splice(0);
      post(random.chance(0.5) ? all : all.toReversed(), false);
    });
  };

  return {
    received({ reference, address, channel, text, number, at, behaviour, isIdOurs }) {
      const said = behaviour.each?.[at]?.said;
      const isTaken =
        said === undefined
          ? TAKEN.has(behaviour.kind) || (MAYBE_TAKEN.has(behaviour.kind) && random.chance(0.6))
          : said === 'taken' || (said === 'unclear' && random.chance(0.6));
      if (!isTaken || !random.chance(plan.reported)) return undefined;
      const id = behaviour.each?.[at]?.id ?? behaviour.id ?? (isIdOurs ? reference : `p-${number}-${at}`);
      const { naming } = plan;
      const textHash = naming === 'text' ? hash('sha256', text) : null;
      // Only an answer that took a message gives out an id of its own for it.
      const isNamed = !plan.withoutAddress || behaviour.kind !== 'accepted';
      const ids = {
        address: isNamed ? address : null,
        reference: isIdOurs || naming === 'reference' || naming === 'both' ? reference : null,
        messageId: naming === 'reference' ? null : id,
      };
      let happensMs = 0;
      for (const { state, cause = null } of random.pick(random.chance(plan.unreached) ? UNREACHED : REACHED)) {
        happensMs = Math.ceil(happensMs + random.scale(1, 5000));
        const atMs = world.wallMs + happensMs;
        // Of the number and not of `random`, so that all else is drawn as without it.
        const isGone = FAILED.has(state) && number.charCodeAt(number.length - 1) % 3 > 0;
        const why = cause ?? (isGone ? 'gone' : null);
        const event = reportOf({ ...ids, channel, state, cause: why, textHash, atMs, word: state });
        // Time is the server's: its clock is right.
        later(happensMs + random.scale(0.01, 1) * plan.delayMs, () => tell({ event, about: reference, environment }));
      }
      return ids.messageId;
    },
    says(address, word) {
      replies += 1;
      const atMs = world.wallMs;
      const id = `r-${replies}`;
      const event: WebhookEvent =
        word === 'complaint'
          ? reportOf({ messageId: id, address, state: 'rejected', cause: 'opted-out', atMs })
          : replyOf(id, address, word, atMs);
      world.note(() => `${address} says ${word}`);
      later(random.scale(0.01, 1) * plan.delayMs, () => tell({ event, about: null, environment }));
    },
    get isIdle() {
      return underWay === 0;
    },
  };
}

const MEANINGS = { STOP: 'opt-out', START: 'opt-in', yes: 'answer' } as const;

function replyOf(replyId: string, from: string, word: keyof typeof MEANINGS, atMs: number): Reply {
  const nothing = { reference: null, messageId: null, channel: null };
  return { kind: 'reply', replyId, ...nothing, from, to: 'Riverside', text: word, meaning: MEANINGS[word], atMs };
}

function reportOf(said: Partial<DeliveryReport> & Pick<DeliveryReport, 'state'>): DeliveryReport {
  const nothing = { reference: null, messageId: null, address: null, channel: null, word: null, cause: null };
  return { kind: 'delivery', ...nothing, error: null, textHash: null, atMs: null, eventId: null, ...said };
}

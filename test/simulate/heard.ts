import type { DeliveryReport, DeliveryState } from '../../src/model.ts';
import type { Told } from './provider.ts';

/** What the ledger holds of events, as an observer knows it who looked at each event when it was written. */
export interface Heard {
  /** Every event that was written, in the order in which that happened first, each once. */
  readonly told: readonly Told[];
  /** A recipient must not be sent to, by their own word or the provider's. */
  isOptedOut(address: string): boolean;
  /** The provider said so: it is about every campaign. */
  hasComplained(address: string): boolean;
  /** They were not to be sent to at some time, whatever they said since. */
  wasOptedOut(address: string): boolean;
  /**
   * How many messages to it failed for good, with no delivery since, as one would count them in the events up to the nth.
   */
  failures(address: string, sinceMs: number, told: number): number;
  /** They wrote back; with a word of opting out, if it is asked for. */
  hasReplied(address: string, toOptOut: boolean): boolean;
  /** A report says that the message was not delivered, and none said before `sinceMs` that it did. */
  isUnreached(reference: string, sinceMs: number): boolean;
  /** Some report is about this message. */
  isReported(reference: string): boolean;
}

/** When the ledger received a reply, by its id and the environment that it came in for. */
type ReceivedAt = (replyId: string, environment: string) => number;

/** The same, while it is being filled. */
export interface Hearing extends Heard {
  /** @param receivedAtMs - what was said later was said then: a clock was wrong */
  note(told: readonly Told[], monotonicMs: number, receivedAtMs: ReceivedAt): void;
}

interface Words {
  readonly stops: number[];
  readonly starts: number[];
  hasComplaint: boolean;
  hasAnswered: boolean;
}

export function createHeard(startLifts: boolean): Hearing {
  const told: Told[] = [];
  const known = new Set<Told['event']>();
  const words = new Map<string, Words>();
  const reported = new Set<string>();
  const unreached = new Set<string>();
  const arrivedMs = new Map<string, number>();

  const wordsOf = (address: string): Words => {
    const found = words.get(address) ?? { stops: [], starts: [], hasComplaint: false, hasAnswered: false };
    words.set(address, found);
    return found;
  };
  const noteOne = ({ event, about, environment }: Told, nowMs: number, receivedAtMs: ReceivedAt): void => {
    if (event.kind === 'reply') {
      const saidMs = Math.min(event.atMs ?? Number.POSITIVE_INFINITY, receivedAtMs(event.replyId ?? '', environment));
      if (event.meaning === 'answer') wordsOf(event.from).hasAnswered = true;
      if (event.meaning === 'opt-out') wordsOf(event.from).stops.push(saidMs);
      if (event.meaning === 'opt-in') wordsOf(event.from).starts.push(saidMs);
    } else if (event.kind === 'delivery') {
      if (event.cause === 'opted-out' && event.address !== null) wordsOf(event.address).hasComplaint = true;
      if (about === null) return;
      reported.add(about);
      if (saysUnreached(event)) unreached.add(about);
      if (hasArrived(event.state) && !arrivedMs.has(about)) arrivedMs.set(about, nowMs);
    }
  };
  return {
    told,
    note(all, nowMs, receivedAtMs) {
      for (const one of all) {
        if (known.has(one.event)) continue;
        known.add(one.event);
        told.push(one);
        noteOne(one, nowMs, receivedAtMs);
      }
    },
    isOptedOut(address) {
      const said = words.get(address);
      if (said === undefined) return false;
      if (said.hasComplaint || !startLifts) return said.hasComplaint || said.stops.length > 0;
      return said.stops.length > 0 && Math.max(...said.stops) >= Math.max(...said.starts, Number.NEGATIVE_INFINITY);
    },
    hasComplained: (address) => words.get(address)?.hasComplaint === true,
    wasOptedOut: (address) => {
      const said = words.get(address);
      return said !== undefined && (said.hasComplaint || said.stops.length > 0);
    },
    failures(address, sinceMs, count) {
      const about = told
        .slice(0, count)
        .flatMap(({ event }) => (event.kind === 'delivery' && event.address === address ? [event] : []));
      const arrived = about.filter(({ state }) => hasArrived(state));
      const failed = about.filter(
        (event) =>
          event.cause === 'gone' &&
          (event.atMs ?? 0) > sinceMs &&
          !arrived.some((one) => (one.atMs ?? 0) >= (event.atMs ?? 0) || isSameMessage(one, event)),
      );
      return failed.filter((event, at) => failed.findIndex((one) => isSameMessage(one, event)) === at).length;
    },
    hasReplied(address, toOptOut) {
      const said = words.get(address);
      if (said === undefined) return false;
      return said.stops.length > 0 || (!toOptOut && (said.hasAnswered || said.starts.length > 0));
    },
    isUnreached: (about, sinceMs) => unreached.has(about) && (arrivedMs.get(about) ?? sinceMs) >= sinceMs,
    isReported: (about) => reported.has(about),
  };
}

function isSameMessage(a: DeliveryReport, b: DeliveryReport): boolean {
  return (a.reference !== null && a.reference === b.reference) || (a.messageId !== null && a.messageId === b.messageId);
}

/** Nothing came back. */
export const NOTHING_HEARD: Heard = createHeard(false);

export function saysUnreached({ state, cause }: Pick<DeliveryReport, 'state' | 'cause'>): boolean {
  return state === 'undeliverable' || cause === 'unsupported-channel';
}

export function hasArrived(state: DeliveryState): boolean {
  return state === 'delivered' || state === 'read';
}

const RISING: readonly DeliveryState[] = ['unknown', 'queued', 'sent'];

/** What all reports about a message say together, worked out the slow way; null: nothing. */
export function stateOf(reports: readonly Pick<DeliveryReport, 'state' | 'atMs'>[]): DeliveryState | null {
  const states = new Set(reports.map(({ state }) => state));
  for (const arrived of ['read', 'delivered'] as const) if (states.has(arrived)) return arrived;
  const ends = reports.filter(({ state }) => !RISING.includes(state));
  const last = ends.toSorted((a, b) => (a.atMs ?? 0) - (b.atMs ?? 0)).at(-1);
  return last?.state ?? RISING.findLast((state) => states.has(state)) ?? null;
}

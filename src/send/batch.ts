import type { NextChannelStep, PendingRow, SentMessage, StepFacts } from '../ledger/records.ts';
import type { Channel, SendDecision, StepMessage } from '../model.ts';

/** A recipient to send to, at one channel step. */
export interface SendTask {
  readonly decision: SendDecision;
  /** The message of this channel step: for step 0, the decision itself. */
  readonly message: StepMessage;
  /** The number of the channel step in the ledger: 0, then one more for each fallback that was begun. */
  readonly step: number;
  /** Channels of earlier steps, which the recipient could not receive: none of them is tried again. */
  readonly used: readonly Channel[];
  /** Attempts of this channel step in earlier starts. */
  readonly before: number;
  /** The previous channel step, if it was accepted but reported as undelivered: claiming this step gives that one up. */
  readonly byReport?: SentMessage | undefined;
}

/** The recipients of one request: usually one, several only if they get the same content. */
export type Batch = readonly [SendTask, ...SendTask[]];

/** The task of a pending row; undefined where the campaign has no fallback left for it. */
export function taskOf(
  decided: SendDecision,
  { step, used, attempts, byReport, resend }: PendingRow,
): SendTask | undefined {
  const decision = resend === undefined ? decided : { ...decided, resend };
  const message = step === 0 ? decision : unused(decision, used);
  if (message === undefined) return undefined;
  return { decision, message, step, used, before: attempts, byReport };
}

/** The next channel step if this one cannot be received; undefined after the last one. */
export function taskAfter({ decision, message, step, used }: SendTask): SendTask | undefined {
  const now = [...used, message.channel];
  const next = unused(decision, now);
  return next === undefined ? undefined : { decision, message: next, step: step + 1, used: now, before: 0 };
}

/** By channel, not by number: an amended campaign may have other fallbacks, or the same in another order. */
function unused({ fallbacks }: SendDecision, used: readonly Channel[]): StepMessage | undefined {
  return fallbacks.find(({ channel }) => !used.includes(channel));
}

/** What the ledger records of a channel step that begins. */
export function nextStep(
  { decision, message }: SendTask,
  costOf: (message: StepMessage) => number | null,
): NextChannelStep {
  return { ...stepFacts(decision, message, costOf), to: message.to };
}

/** What the ledger keeps of a message, without its recipient. */
export function stepFacts(
  { variant }: SendDecision,
  message: StepMessage,
  costOf: (message: StepMessage) => number | null,
): StepFacts {
  return {
    channel: message.channel,
    variant,
    parts: message.sms?.parts ?? null,
    encoding: message.sms?.encoding ?? null,
    costMicros: costOf(message),
  };
}

/** Collects recipients who can share a request: same variant, and so the same text or template; in list order. */
export interface Packer<T> {
  /** A full batch, or null. */
  add(item: T, variant: string | null): readonly T[] | null;
  /** What is left, the batches that were begun first coming first. */
  rest(): readonly (readonly T[])[];
}

/** @param most - recipients of one request */
export function createPacker<T>(most: number): Packer<T> {
  const open = new Map<string | null, T[]>();
  return {
    add(item, variant) {
      const items = open.get(variant);
      if (items === undefined) {
        if (most === 1) return [item];
        open.set(variant, [item]);
        return null;
      }
      items.push(item);
      if (items.length < most) return null;
      open.delete(variant);
      return items;
    },
    rest() {
      const left = [...open.values()];
      open.clear();
      return left;
    },
  };
}

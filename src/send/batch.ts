import type { NextChannelStep, PendingRow, SentMessage, StepFacts } from '../ledger/records.ts';
import type { Channel, SendDecision, StepMessage } from '../model.ts';

export interface SendTask {
  readonly decision: SendDecision;
  /** For step 0, the decision itself. */
  readonly message: StepMessage;
  /** 0, then one more for each fallback that was begun. */
  readonly step: number;
  /** Channels of earlier steps, which the recipient could not receive: not tried again. */
  readonly used: readonly Channel[];
  /** Attempts at this channel step in earlier starts. */
  readonly before: number;
  /** The previous channel step, if it was accepted but reported as undelivered: claiming this step gives that one up. */
  readonly byReport?: SentMessage | undefined;
}

/** The recipients of one request: several only if they get the same content. */
export type Batch = readonly [SendTask, ...SendTask[]];

/** Undefined where the campaign has no fallback left for it. */
export function taskOf(
  decided: SendDecision,
  { step, used, attempts, byReport, resend }: PendingRow,
): SendTask | undefined {
  const decision = resend === undefined ? decided : { ...decided, resend };
  const message = step === 0 ? decision : unused(decision, used);
  if (message === undefined) return undefined;
  return { decision, message, step, used, before: attempts, byReport };
}

/** The next channel step if this one cannot be received; undefined after the last. */
export function taskAfter({ decision, message, step, used }: SendTask): SendTask | undefined {
  const now = [...used, message.channel];
  const next = unused(decision, now);
  return next === undefined ? undefined : { decision, message: next, step: step + 1, used: now, before: 0 };
}

/** By channel, not by number: an amended campaign may have other fallbacks, or the same in another order. */
function unused({ fallbacks }: SendDecision, used: readonly Channel[]): StepMessage | undefined {
  return fallbacks.find(({ channel }) => !used.includes(channel));
}

export function nextStep(
  { decision, message }: SendTask,
  costOf: (message: StepMessage) => number | null,
): NextChannelStep {
  return { ...stepFacts(decision, message, costOf), to: message.to };
}

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

/** Collects recipients who can share a request: same variant, so the same text or template; in list order. */
export interface Packer<T> {
  add(item: T, variant: string | null): readonly T[] | null;
  /** The incomplete batches, in the order in which they were begun. */
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

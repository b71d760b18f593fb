import type { LegFacts, NextLeg } from '../ledger/records.ts';
import type { LegMessage, SendDecision } from '../model.ts';

/** Somebody whose turn it is, on one leg. */
export interface Due {
  readonly decision: SendDecision;
  /** What this leg says: the decision itself for the first one. */
  readonly message: LegMessage;
  /** Attempts of this leg in earlier starts. */
  readonly before: number;
}

/** Whom one request is for: usually one, more only where they get the same. */
export type Parcel = readonly [Due, ...Due[]];

/** The leg whose number the ledger gives; undefined where the campaign has no such fallback for this row any more. */
export function dueOn(decision: SendDecision, leg: number, before: number): Due | undefined {
  const message = leg === 0 ? decision : decision.fallbacks[leg - 1];
  return message === undefined ? undefined : { decision, message, before };
}

/** What goes out when this leg cannot be received; null after the last one. */
export function nextLeg({ decision, message }: Due, costOf: (message: LegMessage) => number | null): NextLeg | null {
  const next = decision.fallbacks[message.leg];
  return next === undefined ? null : { ...legFacts(decision, next, costOf), to: next.to };
}

export function legFacts(
  { variant }: SendDecision,
  message: LegMessage,
  costOf: (message: LegMessage) => number | null,
): LegFacts {
  return {
    channel: message.channel,
    variant,
    parts: message.sms?.parts ?? null,
    encoding: message.sms?.encoding ?? null,
    costMicros: costOf(message),
  };
}

/** Collects those who can share a request: same variant, and so the same text or template; in list order. */
export interface Packer<T> {
  /** A full parcel, or null. */
  add(item: T, variant: string | null): readonly T[] | null;
  /** What is left, the parcels that were begun first coming first. */
  rest(): readonly (readonly T[])[];
}

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

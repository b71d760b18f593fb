import type { Decision, SendDecision } from '../model.ts';
import type { Expander } from '../plan/expand.ts';
import { createPacker } from '../run/parcel.ts';
import type { Previewed } from './previewed.ts';

/** Adds to decisions the requests that send would make of them, in list order. */
export interface Previewer {
  add(decision: Decision): void;
  /** Those whose request is known, up to the first one that still waits for others to share it. */
  ready(): readonly Previewed[];
  /** What is left at the end of the list. */
  rest(): readonly Previewed[];
}

const NONE: readonly string[] = [];

/**
 * Packs requests as send does, so that what is shown is what is posted. Only a request that several recipients share
 * holds the rows back: as many as it takes, and no more.
 */
export function createPreviewer(most: number, expand: Expander): Previewer {
  const packer = createPacker<{ readonly at: number; readonly decision: SendDecision }>(most);
  // By position since the beginning; null while the request is not known.
  let waiting: (Previewed | null)[] = [];
  let first = 0;
  const fallbacksOf = (decision: SendDecision): readonly string[] =>
    decision.fallbacks.length === 0 ? NONE : decision.fallbacks.map((m) => expand.one(decision, m).body);
  const alone = (decision: SendDecision): Previewed => ({
    decision,
    body: expand.one(decision, decision).body,
    sharedWith: null,
    fallbacks: fallbacksOf(decision),
  });
  const close = (parcel: readonly { readonly at: number; readonly decision: SendDecision }[]): void => {
    const [head] = parcel;
    if (head === undefined) return;
    if (parcel.length === 1) {
      waiting[head.at - first] = alone(head.decision);
      return;
    }
    const body = expand.many(parcel.map(({ decision }) => decision)).body;
    for (const { at, decision } of parcel) {
      const own = at === head.at;
      waiting[at - first] = {
        decision,
        body: own ? body : null,
        sharedWith: own ? null : head.decision.line,
        fallbacks: fallbacksOf(decision),
      };
    }
  };
  const ready = (): readonly Previewed[] => {
    const end = waiting.indexOf(null);
    const shown = (end === -1 ? waiting : waiting.slice(0, end)).filter((row) => row !== null);
    waiting = end === -1 ? [] : waiting.slice(end);
    first += shown.length;
    return shown;
  };
  return {
    add(decision) {
      if (decision.decision !== 'send') {
        waiting.push({ decision, body: null, sharedWith: null, fallbacks: NONE });
        return;
      }
      // Hardly any campaign shares requests, and fallbacks never do: then nothing waits, and nothing need be packed.
      if (most === 1 || decision.leg > 0) {
        waiting.push(alone(decision));
        return;
      }
      const at = first + waiting.length;
      waiting.push(null);
      const parcel = packer.add({ at, decision }, decision.variant);
      if (parcel !== null) close(parcel);
    },
    ready,
    rest() {
      for (const parcel of packer.rest()) close(parcel);
      return ready();
    },
  };
}

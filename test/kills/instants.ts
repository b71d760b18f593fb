import { readFileSync, statSync } from 'node:fs';
import type { Random } from './random.ts';

/**
 * What a start is doing when it is killed. Half of its time is Node's own start, where there is little to go wrong, so that
 * instants are aimed: at the ledger while it is made, loaded or recovered; at the requests; at the end.
 */
export type Moment = 'anytime' | 'opening' | 'sending' | 'finishing';

const MOMENTS: readonly [Moment, ...Moment[]] = [
  'anytime',
  'anytime',
  'opening',
  'opening',
  'sending',
  'sending',
  'sending',
  'sending',
  'finishing',
];

export interface Watched {
  /** Of this start. */
  readonly hasEnded: () => boolean;
  /** Called when the first request of this start is seen. */
  readonly onRequest: () => void;
  readonly ledgerLog: string;
  /** Requests that were received so far, over all starts, about. */
  readonly requests: () => number;
  /** From so many on, it is the end. */
  readonly nearlyAll: number;
  /** How long a whole start takes, about. */
  readonly wholeMs: number;
  /** How long the requests of the rest take, about. */
  readonly sendingMs: number;
}

export function pickMoment(random: Random): Moment {
  return random.pick(MOMENTS);
}

/** Waits for a random instant of that moment; false when the start ended before it came. */
export async function waitForInstant(moment: Moment, watched: Watched, random: Random): Promise<boolean> {
  const before = { log: stamp(watched.ledgerLog), requests: watched.requests() };
  const wait = async (holds: () => boolean): Promise<void> => {
    while (!watched.hasEnded() && !holds()) await pause(1);
  };
  if (moment === 'anytime') await pauseUnless(watched, random.unit() * watched.wholeMs);
  else if (moment === 'opening') {
    await wait(() => stamp(watched.ledgerLog) !== before.log);
    await pauseUnless(watched, random.unit() * OPENING_MS);
  } else if (moment === 'sending') {
    await wait(() => watched.requests() > before.requests);
    if (!watched.hasEnded()) watched.onRequest();
    await pauseUnless(watched, random.unit() * watched.sendingMs);
  } else {
    await wait(() => watched.requests() >= watched.nearlyAll);
    await pauseUnless(watched, random.unit() * FINISHING_MS);
  }
  return !watched.hasEnded();
}

const OPENING_MS = 40;
const FINISHING_MS = 60;

/** Counts receipts by the size of their file: they are about equally long, and reading them all the time is not. */
export interface Gauge {
  readonly requests: () => number;
}

export function createGauge(receipts: string): Gauge {
  let lineBytes = 0;
  return {
    requests() {
      const bytes = statSync(receipts, { throwIfNoEntry: false })?.size ?? 0;
      if (bytes === 0) return 0;
      if (lineBytes === 0) lineBytes = readFileSync(receipts).indexOf('\n') + 1;
      return lineBytes === 0 ? 1 : Math.max(1, Math.round(bytes / lineBytes));
    },
  };
}

function stamp(file: string): string {
  const facts = statSync(file, { throwIfNoEntry: false });
  return facts === undefined ? '' : `${facts.size} ${facts.mtimeMs}`;
}

async function pauseUnless({ hasEnded }: Watched, ms: number): Promise<void> {
  const end = performance.now() + ms;
  for (let left = ms; left > 0 && !hasEnded(); left = end - performance.now()) await pause(Math.min(left, 10));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

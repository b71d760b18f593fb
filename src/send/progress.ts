import { hash } from 'node:crypto';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Halt, Json, JsonObject, OutcomeState, RunState, StepCount } from '../model.ts';
import { createLatency, readLatency } from '../report/latency.ts';
import type { StopContext } from './stop.ts';

/** The figures of one start, kept while it runs: for the progress line, and added to the run's figures at its end. */
export type Progress = ReturnType<typeof createProgress>;

export interface Figures {
  posted: number;
  /** Attempts with another one after them. */
  retried: number;
  /** Recipients that are no longer to do, by outcome. */
  readonly finished: Record<OutcomeState, number>;
  toDo: number;
  /** When the first window opens for waiting recipients, or the pause of the canary is over; in ms since 1970. */
  opensAtMs?: number;
  /** When the winner of a test is found, in ms since 1970. */
  winnerAtMs?: number;
  /** Earliest time for recipients that the API was too busy for, in ms since 1970. */
  limitedUntilMs?: number;
  /** Why the run waits, and until when (ms since 1970); null while it sends. */
  waits: { readonly why: 'canary' | 'window' | 'reports'; readonly untilMs: number } | null;
}

/** Outcomes of messages that were tried: after a channel step that fell back, the next step counts instead. */
const TRIED = ['accepted', 'rejected', 'failed', 'in-doubt'] as const;

/** Recipients who were sent to, or whose request was tried. */
export function triedIn(outcomes: Readonly<Record<(typeof TRIED)[number], number>>): number {
  return TRIED.reduce((sum, outcome) => sum + outcomes[outcome], 0);
}

/** Wait for recipients that the API was too busy for, where it gave no time. */
const LIMITED_MS = 15 * 60_000;

export function createProgress() {
  const finished = { accepted: 0, rejected: 0, failed: 0, skipped: 0, deferred: 0, 'in-doubt': 0, pending: 0 };
  const figures: Figures = { posted: 0, retried: 0, finished, toDo: 0, waits: null };
  const times = createLatency();
  let longestMs: number | null = null;
  return {
    figures,
    times,
    /** This start saw an answer that is the API's own. */
    recognised: false,
    finished(state: OutcomeState): void {
      finished[state] += 1;
    },
    /** When the window of a waiting recipient opens, or the pause of the canary is over; in ms since 1970. */
    opens(atMs: number): void {
      figures.opensAtMs = Math.min(atMs, figures.opensAtMs ?? atMs);
    },
    /** The API asked to wait this long before it takes a message; null: it gave no time. */
    asked(retryAfterMs: number | null): void {
      if (retryAfterMs !== null) longestMs = Math.max(retryAfterMs, longestMs ?? 0);
    },
    /** The attempts of a recipient are used up, and the API asked to wait each time. Default: as long as it asked. */
    limited(nowMs: number, waitMs = longestMs ?? LIMITED_MS): void {
      figures.limitedUntilMs = Math.max(nowMs + waitMs, figures.limitedUntilMs ?? 0);
    },
  };
}

/**
 * When the first waiting recipient may be sent to, in ms since 1970; null: none waits. Those that the API was too busy
 * for wait for the last of their times.
 */
export function firstOpeningMs({ opensAtMs, limitedUntilMs }: Figures): number | null {
  const times = [opensAtMs, limitedUntilMs].filter((one) => one !== undefined);
  return times.length === 0 ? null : Math.min(...times);
}

/**
 * The run's figures with those of this start added: `{ starts, posted, retried, activeMs, latency, acceptedAt }`. Keeps
 * others, such as `winner`; but `opensAtMs` and `winnerAtMs` are only of this start, which checked all recipients.
 */
export function addFigures(
  before: JsonObject | null,
  progress: Progress,
  activeMs: number,
  url: string | null = null,
): JsonObject {
  const earlier = (name: string): number => (typeof before?.[name] === 'number' ? before[name] : 0);
  const latency = createLatency(readLatency(before?.['latency']));
  latency.merge(progress.times.save());
  // Hash of an address, which may hold a key.
  const accepted = url !== null && progress.figures.finished.accepted > 0 ? [hash('sha256', url)] : [];
  const acceptedAt = [...new Set([...addressesIn(before), ...accepted])];
  const limitedUntilMs = Math.max(earlier('limitedUntilMs'), progress.figures.limitedUntilMs ?? 0);
  const opensAtMs = firstOpeningMs(progress.figures);
  const { opensAtMs: _, winnerAtMs: __, ...kept } = before ?? {};
  return {
    ...kept,
    // Fewer than the run has begun: the figures of the others were never written.
    starts: earlier('starts') + 1,
    posted: earlier('posted') + progress.figures.posted,
    retried: earlier('retried') + progress.figures.retried,
    activeMs: earlier('activeMs') + Math.round(activeMs),
    latency: { ...latency.save() },
    ...(acceptedAt.length === 0 ? {} : { acceptedAt }),
    ...(opensAtMs === null ? {} : { opensAtMs }),
    ...(progress.figures.winnerAtMs === undefined ? {} : { winnerAtMs: progress.figures.winnerAtMs }),
    ...(limitedUntilMs === 0 ? {} : { limitedUntilMs }),
  };
}

/** Whether a start of the run was accepted at this address of the API. A start that was killed does not count. */
export function acceptsAt({ figures }: Pick<RunRecord, 'figures'>, url: string): boolean {
  return addressesIn(figures).includes(hash('sha256', url));
}

function addressesIn(figures: JsonObject | null): readonly Json[] {
  const addresses = figures?.['acceptedAt'];
  return Array.isArray(addresses) ? addresses : [];
}

/** Answers to earlier starts, from one scan of the list. */
export function answersIn(steps: readonly StepCount[]): StopContext['before'] {
  const first = steps.filter(({ step }) => step === 0);
  return {
    accepted: sumOf(steps, 'accepted'),
    rejected: sumOf(steps, 'rejected'),
    firstSteps: sumOf(first, 'accepted'),
    fellBack: first.reduce((sum, { fellBack, count }) => (fellBack ? sum + count : sum), 0),
  };
}

/** A channel step that fell back does not count. */
export function sumOf(steps: readonly StepCount[], outcome: OutcomeState): number {
  return steps.reduce((sum, step) => (step.outcome === outcome && !step.fellBack ? sum + step.count : sum), 0);
}

export function stateAfter(
  ledger: Ledger,
  run: RunRecord,
  halt: Halt | null,
  interrupted: boolean,
): Exclude<RunState, 'running'> {
  if (halt !== null) return 'halted';
  if (ledger.countOpen(run, { rejected: false }).rows === 0) return 'finished';
  return interrupted ? 'interrupted' : 'partial';
}

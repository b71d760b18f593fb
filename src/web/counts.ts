import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { OutcomeState, StepCount } from '../model.ts';
import { countFeedback } from '../report/deliveries.ts';
import type { CameBack } from '../report/tally.ts';
import { cameBack, openDeliveries } from '../send/deliveries.ts';
import { given } from '../util/given.ts';
import { createYields } from '../util/long-work.ts';
import type { LedgerKeeper, OpenLedger } from './ledger.ts';

/** All figures of a run that a page shows, at one moment. */
export interface RunFigures {
  readonly run: RunRecord;
  readonly isHeld: boolean;
  readonly steps: readonly StepCount[];
  readonly lastMinute: number;
  /** Null during the first scan: then only `steps` and `changed` are known. */
  readonly cameBack: CameBack | null;
  readonly changed: ReturnType<Ledger['changed']>;
  readonly secondMessages: ReturnType<Ledger['secondMessages']>;
}

export type RunStats = ReturnType<typeof createRunStats>;

/** A scan takes at most a tenth of the time, however large the list is and however often it changes. */
const SHARE_OF_TIME = 10;
const HELD_MS = 1_000;
/** Drops the figures that were used longest ago. */
const MOST_RUNS = 2_000;

interface Kept {
  value: RunFigures | null;
  mark: string;
  /** Not counted again before this moment. */
  restUntilMs: number;
  pass: Promise<void> | null;
}

/**
 * Caches the figures of runs until they change: pages and listeners share each pass over a list.
 * @param campaignOf the campaign of a run as it was sent, if known: who can get a fallback
 */
export function createRunStats(
  keeper: LedgerKeeper,
  now: () => number,
  campaignOf: (run: RunRecord) => Promise<Parameters<typeof cameBack>[3]>,
) {
  const held = new Map<string, { readonly is: boolean; readonly untilMs: number }>();
  let queue: Promise<void> = Promise.resolve();

  /** Whether a process works on the run, checked at most once a second. */
  const isHeld = (run: RunRecord): boolean => {
    if (run.state !== 'running') return false;
    const known = held.get(run.id);
    if (known !== undefined && performance.now() < known.untilMs) return known.is;
    const is = keeper.current()?.ledger.isHeld(run) === true;
    held.set(run.id, { is, untilMs: performance.now() + HELD_MS });
    return is;
  };

  /** Scans run one at a time; in parallel they would only compete for the CPU. */
  const refresh = (run: RunRecord, kept: Kept, mark: string): Promise<void> => {
    const work = async (): Promise<void> => {
      const beganMs = performance.now();
      try {
        const open = keeper.current();
        if (open !== null) {
          kept.value ??= totalsOf(open.scan.ledger, run, isHeld);
          kept.value = await countRun(open.scan.ledger, run, await campaignOf(run), isHeld, now());
        }
        kept.mark = mark;
      } catch (error) {
        keeper.failed(error);
      }
      const tookMs = performance.now() - beganMs;
      kept.restUntilMs = beganMs + tookMs * (SHARE_OF_TIME + 1);
      kept.pass = null;
    };
    queue = queue.then(work);
    return queue;
  };

  const markOf = (open: OpenLedger, run: RunRecord): string => {
    const isGoing = isHeld(run);
    const resolved = open.query('SELECT count(*) FROM resolutions WHERE run = ?').get(run.number)?.[0];
    const [report, reply] = open.query(NEWEST_EVENTS).get() ?? [];
    const facts = [JSON.stringify(run), resolved, isGoing, report, reply];
    // During a send, every write may be about this run, and a reply can be reviewed at any time.
    if (isGoing || reply !== null) facts.push(keeper.mark());
    // The rate of the last minute changes with the clock.
    if (isGoing) facts.push(Math.floor(now() / 2_000));
    return facts.join(' ');
  };

  const known = new Map<string, Kept>();
  /** Waits at most `patienceMs` for a pass. Null during the first one; after an old value the next call counts again. */
  const of = async (run: RunRecord, patienceMs: number) => {
    const open = keeper.current();
    if (open === null) return { value: null, isOld: false };
    const key = `${open.file} ${run.number}`;
    const kept = known.get(key) ?? { value: null, mark: '', restUntilMs: 0, pass: null };
    known.delete(key);
    known.set(key, kept);
    const oldest = known.keys().next().value;
    if (known.size > MOST_RUNS && oldest !== undefined) known.delete(oldest);
    // When it is too late for them, their fallbacks are not due any longer.
    const isDue = kept.value?.cameBack?.fallbacksDue !== undefined;
    const mark = `${markOf(open, run)}${isDue ? ` ${Math.floor(now() / 60_000)}` : ''}`;
    if (kept.mark === mark) return { value: kept.value, isOld: false };
    // Only updates of an open page wait, but not the last figures of a start.
    const isAsked = patienceMs > 0 || (kept.value?.isHeld === true && !isHeld(run));
    if (kept.pass === null && (isAsked || performance.now() >= kept.restUntilMs)) kept.pass = refresh(run, kept, mark);
    if (kept.pass !== null && patienceMs > 0) {
      await Promise.race([kept.pass, new Promise((resolve) => setTimeout(resolve, patienceMs).unref())]);
    }
    return { value: kept.value, isOld: kept.mark !== mark };
  };
  return { isHeld, of };
}

const NEWEST_EVENTS = 'SELECT (SELECT max(number) FROM delivery_reports), (SELECT max(number) FROM replies)';
const SETTLED: ReadonlySet<OutcomeState> = new Set(['accepted', 'rejected', 'failed', 'in-doubt']);

/** Only outcomes: the ledger keeps them for a finished run, however large its list is. */
function totalsOf(ledger: Ledger, found: RunRecord, isHeldNow: (run: RunRecord) => boolean): RunFigures {
  using _ = ledger.hold();
  const run = ledger.findRun(found) ?? found;
  const [steps, changed] = [ledger.steps(run), ledger.changed(run)];
  return { run, isHeld: isHeldNow(run), steps, lastMinute: 0, cameBack: null, changed, secondMessages: null };
}

/** Scans all recipients of a run, at one moment. Other requests are answered in between. */
export async function countRun(
  ledger: Ledger,
  found: RunRecord,
  campaign: Parameters<typeof cameBack>[3],
  isHeldNow: (run: RunRecord) => boolean,
  nowMs: number,
): Promise<RunFigures> {
  using _ = ledger.hold();
  const run = ledger.findRun(found) ?? found;
  const isHeld = isHeldNow(run);
  const turn = createYields();
  const deliveries = openDeliveries(ledger, run);
  const feedback = countFeedback();
  const steps = new Map<string, { -readonly [K in keyof StepCount]: StepCount[K] }>();
  let lastMinute = 0;
  for (const batch of ledger.outcomes(run)) {
    for (const outcome of deliveries?.join(batch) ?? batch) {
      feedback.add(outcome);
      for (const [step, one] of (outcome.steps ?? [outcome]).entries()) {
        const { outcome: state, reason, channel, variant, encoding, version, byReport, parts, cost } = one;
        const key = `${step} ${channel} ${state} ${encoding} ${version} ${byReport} ${JSON.stringify([reason, variant])}`;
        const fellBack = state === 'rejected' && reason === 'fell-back';
        const group = { step, channel, outcome: state, reason, variant, encoding, fellBack };
        const more = given(one, 'version', 'byReport');
        const known = steps.get(key) ?? { ...group, ...more, count: 0, parts: 0, costMicros: null };
        steps.set(key, known);
        known.count += 1;
        known.parts += parts ?? 0;
        if (cost !== null) known.costMicros = (known.costMicros ?? 0) + Math.round(cost * 1e6);
        if (SETTLED.has(state) && Date.parse(one.updatedAt ?? '') >= nowMs - 60_000) lastMinute += 1;
      }
    }
    await turn();
  }
  if (deliveries !== null) feedback.addUnmatched(deliveries.unmatched());
  return {
    run,
    isHeld,
    steps: [...steps.values()],
    lastMinute,
    cameBack: cameBack(ledger, run, feedback.all(), campaign, nowMs),
    changed: ledger.changed(run),
    secondMessages: ledger.secondMessages(run),
  };
}

import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Channel, Outcome, OutcomeState, StepCount } from '../model.ts';
import { countCauses } from '../report/causes.ts';
import { countDelivery } from '../report/deliveries.ts';
import type { VariantCount } from '../report/variants.ts';
import { cameBack, openDeliveries } from '../send/deliveries.ts';
import { createYields } from '../util/long-work.ts';
import type { LedgerKeeper, OpenLedger } from './ledger.ts';
import type { RunDetail } from './pages/run-detail.ts';
import { createTimeCounts } from './time-counts.ts';

/** Figures that take a pass over a list, as they were when it was last looked at. */
interface Look {
  /** Null: not known yet. */
  readonly value: RunFigures | null;
  /** Something may have happened since: asked again, it is looked at anew. */
  readonly isOld: boolean;
}

/** A run as it was at one moment: all figures that a page shows of it. */
export interface RunFigures {
  readonly run: RunRecord;
  /** Whether a process worked on it. */
  readonly isHeld: boolean;
  readonly counts: RunCounts;
  /** Null while the first scan of all recipients goes on. */
  readonly detail: RunDetail | null;
}

/** What is known of runs, kept for as long as it is true: pages and listeners share each pass over a list. */
export interface Looks {
  /** Waits at most `patienceMs` for a pass that is needed. */
  of(run: RunRecord, patienceMs: number): Promise<Look>;
  /** Whether a process works on the run, checked at most once a second. */
  isHeld(run: RunRecord): boolean;
}

/** A scan takes at most a tenth of the time, however large the list is and however often it changes. */
const SHARE_OF_TIME = 10;

const HELD_MS = 1_000;

/** What was looked at longest ago is forgotten. */
const MOST_RUNS = 2_000;

interface Kept {
  value: RunFigures | null;
  mark: string;
  /** Not looked at anew before this moment. */
  restUntilMs: number;
  pass: Promise<void> | null;
}

/** @param campaignOf the campaign of a run as it was sent, where that is known: who can get a fallback */
export function createLooks(
  keeper: LedgerKeeper,
  now: () => number,
  campaignOf: (run: RunRecord) => Promise<Parameters<typeof cameBack>[3]>,
): Looks {
  const held = new Map<string, { readonly is: boolean; readonly untilMs: number }>();
  let queue: Promise<void> = Promise.resolve();

  const isHeld = (run: RunRecord): boolean => {
    if (run.state !== 'running') return false;
    const known = held.get(run.id);
    if (known !== undefined && performance.now() < known.untilMs) return known.is;
    const is = keeper.current()?.ledger.isHeld(run) === true;
    held.set(run.id, { is, untilMs: performance.now() + HELD_MS });
    return is;
  };

  const pass = async ({ scan }: OpenLedger, found: RunRecord, kept: Kept): Promise<void> => {
    const campaign = await campaignOf(found);
    using _ = scan.ledger.hold();
    const run = scan.ledger.findRun(found) ?? found;
    const held = isHeld(run);
    const counts = await countRun(scan, run, held, now());
    const figures = { run, isHeld: held, counts, detail: null };
    kept.value ??= figures;
    kept.value = { ...figures, detail: await detailOf(scan.ledger, run, campaign) };
  };

  /** One pass after the other: two at once would only share what there is of the machine. */
  const refresh = (run: RunRecord, kept: Kept, mark: string): Promise<void> => {
    const work = async (): Promise<void> => {
      const beganMs = performance.now();
      try {
        const open = keeper.current();
        if (open !== null) await pass(open, run, kept);
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
    // During a send, every write may be about this run, and a reply can be read anew at any time.
    if (isGoing || reply !== null) facts.push(keeper.mark());
    // The rate of the last minute changes by itself.
    if (isGoing) facts.push(Math.floor(now() / 2_000));
    return facts.join(' ');
  };

  const known = new Map<string, Kept>();
  const of = async (run: RunRecord, patienceMs: number): Promise<Look> => {
    const open = keeper.current();
    if (open === null) return { value: null, isOld: false };
    const key = `${open.file} ${run.number}`;
    const kept = known.get(key) ?? { value: null, mark: '', restUntilMs: 0, pass: null };
    known.delete(key);
    known.set(key, kept);
    const oldest = known.keys().next().value;
    if (known.size > MOST_RUNS && oldest !== undefined) known.delete(oldest);
    const mark = markOf(open, run);
    if (kept.mark === mark) return { value: kept.value, isOld: false };
    // Only updates of an open page rest, but for the last figures of a start.
    const isAsked = patienceMs > 0 || (kept.value?.isHeld === true && !isHeld(run));
    if (kept.pass === null && (isAsked || performance.now() >= kept.restUntilMs)) kept.pass = refresh(run, kept, mark);
    if (kept.pass !== null && patienceMs > 0) await Promise.race([kept.pass, wait(patienceMs)]);
    return { value: kept.value, isOld: kept.mark !== mark };
  };
  return { isHeld, of };
}

const NEWEST_EVENTS = 'SELECT (SELECT max(number) FROM delivery_reports), (SELECT max(number) FROM replies)';

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** Outcomes of the recipients of a run, and their rate. Parts and costs are not read. */
export interface RunCounts {
  readonly steps: readonly StepCount[];
  /** Messages that came to an outcome in the last minute before `atMs`. */
  readonly lastMinute: number;
  readonly atMs: number;
}

/** Rows that are counted at once: some milliseconds. */
const STEP_ROWS = 20_000;

/** States whose rows have a reason only now and then: those are grouped, the others summed. */
const PLAIN = ['accepted', 'pending', 'claimed', 'skipped', 'deferred', 'failed'] as const;

/**
 * Counts a run in steps, so that other requests are answered in between. Sums take a third of the time that SQLite
 * takes to sort a list into groups, as `Ledger.steps` does: only rows with a reason are grouped. Rows that move
 * meanwhile are counted as they were found.
 *
 * @param isHeld whether a process works on the run: then claimed rows are in flight, else in doubt
 */
export async function countRun(
  { query }: Pick<OpenLedger, 'query'>,
  run: RunRecord,
  isHeld: boolean,
  nowMs: number,
): Promise<RunCounts> {
  const turn = createYields();
  const tally = createTally(run, isHeld);
  let lastMinute = 0;
  const lastRow = Number(query(LAST_ROW).get(run.list)?.[0] ?? -1);
  for (let after = -1; after < lastRow; after += STEP_ROWS) {
    const sums = query(SUMS).get(run.list, after, after + STEP_ROWS, nowMs - 60_000) ?? [];
    lastMinute += Number(sums[0] ?? 0);
    for (const [i, state] of PLAIN.entries()) tally.add(0, null, state, null, Number(sums[1 + i] ?? 0));
    for (const [state, reason, count] of query(REASONS).all(run.list, after, after + STEP_ROWS)) {
      tally.add(0, null, String(state), reason as string | null, Number(count));
    }
    await turn();
  }
  for (const [step, channel, state, reason, count, recent] of query(LATER_STEPS).all(run.list, nowMs - 60_000)) {
    lastMinute += Number(recent);
    tally.add(Number(step), channel as string | null, String(state), reason as string | null, Number(count));
  }
  return { steps: tally.all(), lastMinute, atMs: nowMs };
}

function createTally(run: RunRecord, isHeld: boolean) {
  const found = new Map<string, StepCount>();
  return {
    add(step: number, written: string | null, state: string, reason: string | null, count: number): void {
      if (count === 0) return;
      const as = shownAs(state, reason, isHeld);
      const channel = (written ?? run.channel) as Channel;
      const key = JSON.stringify([step, channel, as.outcome, as.reason]);
      const before = found.get(key)?.count ?? 0;
      found.set(key, { ...as, step, channel, count: before + count, ...NOT_LOOKED_AT });
    },
    all: (): readonly StepCount[] => [...found.values()],
  };
}

const NOT_LOOKED_AT = { encoding: null, variant: null, parts: 0, costMicros: null } as const;

/** As the ledger's own reader shows a row. */
function shownAs(
  state: string,
  reason: string | null,
  isHeld: boolean,
): { outcome: OutcomeState; reason: string | null; fellBack: boolean } {
  if (state !== 'claimed') {
    return { outcome: state as OutcomeState, reason, fellBack: state === 'rejected' && reason === 'fell-back' };
  }
  const [outcome, why] = isHeld ? (['pending', null] as const) : (['in-doubt', 'crash'] as const);
  return { outcome, reason: why, fellBack: false };
}

const LAST_ROW = 'SELECT row FROM recipients WHERE list = ? AND step = 0 ORDER BY row DESC LIMIT 1';

// One for the outcomes of the last minute, then one for each of `PLAIN`, in its order.
const SUMS = `SELECT count(*) FILTER (WHERE updated_at >= ?4
      AND (state = 'accepted' OR state = 'rejected' OR state = 'in-doubt' OR state = 'failed')),
    count(*) FILTER (WHERE state = 'accepted' AND reason IS NULL),
    count(*) FILTER (WHERE state = 'pending' AND reason IS NULL),
    count(*) FILTER (WHERE state = 'claimed' AND reason IS NULL),
    count(*) FILTER (WHERE state = 'skipped' AND reason IS NULL),
    count(*) FILTER (WHERE state = 'deferred' AND reason IS NULL),
    count(*) FILTER (WHERE state = 'failed' AND reason IS NULL)
  FROM recipients WHERE list = ?1 AND step = 0 AND row > ?2 AND row <= ?3`;

const REASONS = `SELECT state, reason, count(*) FROM recipients
  WHERE list = ?1 AND step = 0 AND row > ?2 AND row <= ?3
    AND (reason IS NOT NULL OR state = 'in-doubt' OR state = 'rejected')
  GROUP BY state, reason`;

const LATER_STEPS = `SELECT step, channel, state, reason, count(*), count(*) FILTER (WHERE updated_at >= ?2
      AND (state = 'accepted' OR state = 'rejected' OR state = 'in-doubt' OR state = 'failed'))
  FROM recipients WHERE list = ?1 AND step > 0 GROUP BY step, channel, state, reason`;

/**
 * Scans all recipients of a run: when they came to an outcome, reports and replies, by variant. Other requests are
 * answered in between.
 */
async function detailOf(ledger: Ledger, run: RunRecord, campaign: Parameters<typeof cameBack>[3]): Promise<RunDetail> {
  const turn = createYields();
  const deliveries = openDeliveries(ledger, run);
  const counts = countDelivery();
  const variants = createVariants();
  const causes = countCauses();
  const times = createTimeCounts(['accepted', 'others'], run.startedAtMs ?? run.createdAtMs);
  let parts = 0;
  let cost: number | null = null;
  for (const batch of ledger.outcomes(run)) {
    for (const outcome of deliveries?.join(batch) ?? batch) {
      counts.add(outcome);
      variants.add(outcome);
      causes.add(outcome);
      const { outcome: state, updatedAt } = outcome;
      if (updatedAt !== null && SETTLED.has(state))
        times.add(state === 'accepted' ? state : 'others', Date.parse(updatedAt));
      for (const step of outcome.steps ?? [outcome]) {
        if (step.outcome !== 'accepted' && step.outcome !== 'in-doubt') continue;
        parts += step.parts ?? 0;
        if (step.cost !== null) cost = (cost ?? 0) + step.cost;
      }
    }
    await turn();
  }
  if (deliveries !== null) counts.addUnmatched(deliveries.unmatched());
  return {
    times: times.slots(),
    causes: causes.all(),
    cameBack: cameBack(ledger, run, counts.all(), campaign),
    changed: ledger.changed(run),
    variants: variants.all(),
    parts,
    cost: rounded(cost),
  };
}

/** Costs are millionths: what adding them up as fractions leaves is cut off. */
function rounded(cost: number | null): number | null {
  return cost === null ? null : Math.round(cost * 1e6) / 1e6;
}

const SETTLED: ReadonlySet<OutcomeState> = new Set(['accepted', 'rejected', 'failed', 'in-doubt']);

function createVariants() {
  const found = new Map<string, { -readonly [K in keyof VariantCount]: VariantCount[K] }>();
  return {
    add({ variant, outcome }: Outcome): void {
      if (variant === null) return;
      const key = JSON.stringify([variant, outcome]);
      const known = found.get(key) ?? { variant, outcome, count: 0 };
      known.count += 1;
      found.set(key, known);
    },
    all: (): readonly VariantCount[] => [...found.values()],
  };
}

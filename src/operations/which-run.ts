import { problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Report } from '../model.ts';
import { summarise } from '../run/summary.ts';
import { maskText } from '../util/mask.ts';
import { isTest } from '../util/occurrence-name.ts';
import { didYouMean } from '../util/suggest.ts';

/**
 * The run that is meant: by its id, or the newest of a campaign, or the newest of all. A test is meant by its id alone.
 *
 * @throws HandbillError (exit status 2, `run-not-found`)
 */
export function findRun(ledger: Pick<Ledger, 'runs' | 'runById'>, named: string | null): RunRecord {
  const found = meantBy(named, named === null ? ledger.runs() : ledger.runById(named))[0];
  if (found !== undefined) return found;
  if (named === null) {
    const tests = ledger.runs().length > 0 ? { hint: ONLY_TESTS } : {};
    throw refuse(problem('run-not-found', 'The ledger holds no run yet.', tests));
  }
  if (ledger.runById(named).length > 0) {
    throw refuse(problem('run-not-found', `The ledger holds no run of ${named} but tests.`, { hint: ONLY_TESTS }));
  }
  const known = newestFirst(ledger.runs()).flatMap((run) => [run.campaign, run.id]);
  const hint = didYouMean(named, known).hint ?? 'handbill runs lists them.';
  throw refuse(
    problem('run-not-found', `The ledger holds no run "${maskText(named)}", nor one of a campaign of that name.`, {
      hint,
    }),
  );
}

const ONLY_TESTS = 'A test is shown by its id, which `handbill runs` lists.';

/** The newest first; of a campaign, or of all, without the tests. */
export function meantBy(named: string | null, runs: readonly RunRecord[]): readonly RunRecord[] {
  const byId = runs.filter(({ id }) => id === named);
  return newestFirst(byId.length > 0 ? byId : withoutTests(runs));
}

/** The runs that went to the list of their campaign. */
export function withoutTests(runs: readonly RunRecord[]): readonly RunRecord[] {
  return runs.filter(({ occurrence }) => !isTest(occurrence));
}

/** By their last start. */
export function newestFirst(runs: readonly RunRecord[]): readonly RunRecord[] {
  const at = (run: RunRecord) => run.lastStartAtMs ?? run.createdAtMs;
  return runs.toSorted((a, b) => at(b) - at(a) || b.number - a.number);
}

/** The summaries of all runs in a ledger, the one started last first. */
export function listRuns(ledger: Pick<Ledger, 'changed' | 'isHeld' | 'legs' | 'path' | 'runs'>): readonly Report[] {
  return newestFirst(ledger.runs()).map((run) => summarise(ledger, run));
}

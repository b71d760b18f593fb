import { join } from 'node:path';
import { problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger } from '../ledger/open.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Campaign, Project, Report } from '../model.ts';
import { summarise } from '../run/summary.ts';
import { maskText } from '../util/mask.ts';
import { isTest } from '../util/occurrence-name.ts';
import { displayPath } from '../util/paths.ts';
import { didYouMean } from '../util/suggest.ts';
import { type ProjectOptions, settle } from './options.ts';
import { projectHere } from './project-ledger.ts';

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

/**
 * `handbill runs`: the summaries of all runs in the ledger, the one started last first; none where nothing was ever sent.
 *
 * @throws HandbillError exit 2 (a project file that is wrong), 7 (ledger)
 */
export async function listRuns(options: ProjectOptions = {}): Promise<readonly Report[]> {
  const settled = settle(options);
  const { project } = await projectHere(settled, settled.ledger);
  const ledger = openExistingLedger(project.ledger, { nowMs: settled.now() });
  try {
    return ledger === null ? [] : summaries(ledger);
  } finally {
    ledger?.close();
  }
}

/** The summaries of all runs in a ledger, the one started last first. */
export function summaries(ledger: Pick<Ledger, 'changed' | 'isHeld' | 'legs' | 'path' | 'runs'>): readonly Report[] {
  return newestFirst(ledger.runs()).map((run) => summarise(ledger, run));
}

/** The campaign of a run: its file as the user would name it, and what it says where that is what was sent. */
interface SentCampaign {
  /** Null: nothing says which file it was. */
  readonly file: string | null;
  /** Null where the file says something else by now, or cannot be read any more. */
  readonly campaign: Campaign | null;
}

/** @param cwd the current folder, which messages are relative to */
export async function sentCampaign(
  run: RunRecord,
  { root }: Pick<Project, 'root'>,
  { cwd }: { readonly cwd: string },
): Promise<SentCampaign> {
  const input = run.inputs.find(({ role }) => role === 'campaign');
  if (input === undefined) return { file: null, campaign: null };
  const path = join(root, input.file);
  // Most who use this module need no campaign.
  const { readCampaign } = await import('../campaign/load.ts');
  // Of the time at which it was sent: since then a validity may have passed, which would be an error now.
  const { campaign } = await readCampaign(path, { cwd, now: run.createdAtMs });
  const isSame = campaign?.inputs.some(({ role, sha256 }) => role === 'campaign' && sha256 === input.sha256) === true;
  // A test has neither the variants nor the fallbacks of its campaign.
  return { file: displayPath(path, cwd), campaign: isSame && !isTest(run.occurrence) ? campaign : null };
}

/** For a run that is sent by a plan, only the user knows the name of the plan file. */
export const PLAN_FILE = 'FILE';

/** Whether what continues a run must be an approved plan. */
export function takesPlans({ environment }: Pick<RunRecord, 'environment'>, project: Project): boolean {
  return (project.environments.get(environment)?.approval ?? null) !== null;
}

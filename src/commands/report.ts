import { join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import { type Campaign, OUTCOMES, type OutcomeState, type Project } from '../model.ts';
import { readPriceList } from '../plan/prices.ts';
import { createReferences } from '../plan/reference.ts';
import { formatReport, REPORT_FORMATS, type ReportFormat } from '../report/format.ts';
import { JUNIT_OUTCOMES } from '../report/format-junit.ts';
import type { ReferenceOf } from '../report/record.ts';
import { summarise } from '../run/summary.ts';
import { maskText } from '../util/mask.ts';
import { writeOutput } from '../util/output-file.ts';
import { displayPath } from '../util/paths.ts';
import { didYouMean } from '../util/suggest.ts';
import type { CommandContext } from './context.ts';
import { addExamples, addFormat, addLedger } from './options.ts';
import { projectHere, withLedger } from './project-ledger.ts';

/**
 * The run that is meant: by its id, or the newest of a campaign, or the newest of all.
 *
 * @throws HandbillError (exit status 2, `run-not-found`)
 */
export function findRun(ledger: Pick<Ledger, 'runs' | 'runById'>, named: string | null): RunRecord {
  const found = newestFirst(named === null ? ledger.runs() : ledger.runById(named))[0];
  if (found !== undefined) return found;
  if (named === null) throw refuse(problem('run-not-found', 'The ledger holds no run yet.'));
  const known = newestFirst(ledger.runs()).flatMap((run) => [run.campaign, run.id]);
  const hint = didYouMean(named, known).hint ?? 'handbill runs lists them.';
  throw refuse(
    problem('run-not-found', `The ledger holds no run "${maskText(named)}", nor one of a campaign of that name.`, {
      hint,
    }),
  );
}

/** By their last start. */
export function newestFirst(runs: readonly RunRecord[]): readonly RunRecord[] {
  const at = (run: RunRecord) => run.lastStartAtMs ?? run.createdAtMs;
  return runs.toSorted((a, b) => at(b) - at(a) || b.number - a.number);
}

export function configure(command: Command, context: CommandContext): void {
  command
    .argument('[run]', 'id of a run, or name of a campaign for its newest one (default: the newest run of all)')
    .option('-o, --output <file>', 'write to this file, whole or not at all')
    .addOption(
      new Option('--outcome <name...>', 'only recipients with these outcomes, in jsonl, csv and html').choices(
        OUTCOMES,
      ),
    );
  addLedger(addFormat(command, REPORT_FORMATS));
  addExamples(command, [
    ['handbill report', 'the newest run'],
    ['handbill report hello --format json', 'the summary for scripts'],
    ['handbill report hello --format csv -o results.csv', 'one row per recipient'],
    ['handbill report hello --format jsonl --outcome in-doubt', 'one line per recipient in doubt'],
    ['handbill report hello --format junit -o report.xml', 'for CI systems that read tests'],
  ]);
  command.action(async (named: string | undefined, given: Given) => {
    const reading = await projectHere(context, given.ledger);
    await withLedger(reading, context, (ledger) =>
      print(ledger, findRun(ledger, named ?? null), given, context, reading.project),
    );
  });
}

interface Given {
  readonly format: ReportFormat;
  readonly output?: string;
  readonly outcome?: readonly OutcomeState[];
  readonly ledger?: string;
}

async function print(
  ledger: Ledger,
  run: RunRecord,
  given: Given,
  context: CommandContext,
  project: Project,
): Promise<void> {
  // Of a million rows that were accepted, tests of a CI system name none.
  const only = given.outcome ?? (given.format === 'junit' ? JUNIT_OUTCOMES : undefined);
  const outcomes = ledger.outcomes(run, only === undefined ? {} : { outcomes: only });
  const written = run.inputs.find((input) => input.role === 'campaign')?.file;
  const campaign = written === undefined ? null : await campaignOf(run, join(project.root, written), context);
  const text = formatReport(given.format, summarise(ledger, run, null, campaign), outcomes, {
    colour: context.colour.out && given.output === undefined,
    width: context.width,
    referenceOf: referencesOf(run),
    currency: (await readPriceList(project)).prices?.currency ?? null,
    ...(written === undefined ? {} : { campaignFile: displayPath(join(project.root, written), context.cwd) }),
    ...(takesPlans(run, project) ? { planFile: PLAN_FILE } : {}),
  });
  if (given.output !== undefined) return await writeOutput(resolve(context.cwd, given.output), text);
  for await (const piece of text) await context.out(piece);
}

/** Where a run is sent by a plan, nobody but the user knows how its file is called. */
export const PLAN_FILE = 'FILE';

/** Whether what continues a run must be an approved plan. */
export function takesPlans({ environment }: Pick<RunRecord, 'environment'>, project: Project): boolean {
  return (project.environments.get(environment)?.approval ?? null) !== null;
}

/** The campaign as it was sent: null where its file says something else by now, or cannot be read any more. */
async function campaignOf(run: RunRecord, path: string, { cwd }: CommandContext): Promise<Campaign | null> {
  // `runs` and `doubt` use this module too, and need no campaign.
  const { readCampaign } = await import('../campaign/load.ts');
  // Of the time at which it was sent: since then a validity may have passed, which would be an error now.
  const { campaign } = await readCampaign(path, { cwd, now: run.createdAtMs });
  const isSent = (sha256: string) => run.inputs.some((input) => input.role === 'campaign' && input.sha256 === sha256);
  return campaign?.inputs.some(({ role, sha256 }) => role === 'campaign' && isSent(sha256)) === true ? campaign : null;
}

function referencesOf(run: RunRecord): ReferenceOf {
  const referenceOf = createReferences(run);
  return ({ key, channel }) => (key === null ? null : referenceOf(key, channel));
}

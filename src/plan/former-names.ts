import { type Diagnostic, problem, warning } from '../errors.ts';
import type { Ledger, Reach } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Campaign, Decision, Pause } from '../model.ts';
import { countOf } from '../report/words.ts';
import { isTest } from '../util/occurrence-name.ts';
import type { Plan } from './plan.ts';

type Named = Pick<Campaign, 'name' | 'formerly'>;

/**
 * The runs of a campaign in an environment, oldest first: those under its name, those that it had under a former one
 * (`formerly`), and those of a later name, where this process has an older campaign file. An occurrence that has a run
 * under the name and under another one means the first.
 */
export function runsOfCampaign(
  ledger: Pick<Ledger, 'runsOf' | 'runsRenamed'>,
  { name, formerly }: Named,
  environment: string,
): readonly RunRecord[] {
  const names = [name, ...formerly];
  const own = names.map((campaign) => ledger.runsOf({ environment, campaign }));
  const later = names.flatMap((campaign) => ledger.runsRenamed({ environment, campaign }));
  const all = new Map<number, RunRecord>();
  const taken = new Set(own[0]?.map(({ occurrence }) => occurrence));
  for (const run of own[0] ?? []) all.set(run.number, run);
  for (const run of [...own.slice(1).flat(), ...later]) if (!taken.has(run.occurrence)) all.set(run.number, run);
  return [...all.values()].sort((a, b) => a.number - b.number);
}

/** The run of an occurrence, under the name of the campaign, or else under a former or a later one. */
export function findRunOf(
  ledger: Pick<Ledger, 'findRun' | 'runsRenamed'>,
  { name, formerly }: Named,
  { environment, occurrence }: { readonly environment: string; readonly occurrence: string },
): RunRecord | null {
  const names = [name, ...formerly];
  for (const campaign of names) {
    const run = ledger.findRun({ environment, campaign, occurrence });
    if (run !== null) return run;
  }
  const later = names.flatMap((campaign) => ledger.runsRenamed({ environment, campaign }));
  return later.find((run) => run.occurrence === occurrence) ?? null;
}

/** Whether the run was begun under a later name of the campaign: this process has an older campaign file. */
export function isOfLaterName({ campaign }: Pick<RunRecord, 'campaign'>, { name, formerly }: Named): boolean {
  return campaign !== name && !formerly.includes(campaign);
}

/** Why an occurrence of a campaign that was renamed since is not sent with the older file; null: it was not renamed. */
export function laterNameProblem(
  run: RunRecord,
  campaign: Named & Pick<Campaign, 'file' | 'namePlace'>,
): Diagnostic | null {
  if (!isOfLaterName(run, campaign)) return null;
  const message = `This occurrence (${run.occurrence}) was begun as ${run.campaign}, which ${campaign.name} is called by now (run ${run.id}).`;
  const hint = `Bring the campaign file of ${run.campaign} to this machine. If this is another campaign, give it another name.`;
  return problem('former-name', message, { at: { file: campaign.file }, ...campaign.namePlace, hint });
}

/** The pause that applies to a campaign, under whichever of its names it was paused; null: none. */
export function pauseOfCampaign(
  ledger: Pick<Ledger, 'pauseOf'>,
  { name, formerly }: Named,
  environment: string,
): Pause | null {
  for (const campaign of [name, ...formerly]) {
    const pause = ledger.pauseOf({ environment, campaign });
    if (pause !== null) return pause;
  }
  return null;
}

/** Counts the recipients of a list who had the message already, from a campaign that the project has no more. */
export interface Abandoned {
  add(decision: Decision): void;
  /** One for each such campaign, once all decisions were added. */
  warnings(): readonly Diagnostic[];
}

const SENT: ReadonlySet<string> = new Set(['accepted', 'in-doubt']);

/**
 * Runs that no campaign of the project claims, by its name or a former one, and that were made of a template of this campaign, or
 * of the file that is this campaign: its name was probably changed. Null: there are none in this environment.
 */
export function openAbandoned(
  plan: Pick<Plan, 'campaign' | 'inputs' | 'occurrence'>,
  ledger: Pick<Ledger, 'runs' | 'counts' | 'reach'> | null,
  environment: string,
): Abandoned | null {
  if (ledger === null) return null;
  const { campaign, inputs, occurrence } = plan;
  const claimed = new Set([campaign.name, ...campaign.formerly, ...campaign.claimed]);
  const texts = new Set(inputs.filter(({ role }) => role === 'template').map(({ sha256 }) => sha256));
  const places = new Set(inputs.filter(({ role }) => role === 'campaign').map(({ file }) => file));
  const isOfThis = (run: RunRecord): boolean =>
    run.inputs.some(({ role, sha256, file }) => (role === 'template' ? texts.has(sha256) : places.has(file)));
  const found = ledger
    .runs()
    .filter((run) => run.environment === environment && run.purgedAtMs === null && !isTest(run.occurrence))
    .filter((run) => ![run.campaign, ...run.formerly].some((name) => claimed.has(name)) && isOfThis(run))
    .filter((run) => ledger.counts(run).some(({ outcome }) => SENT.has(outcome)));
  const names = [...new Set(found.map((run) => run.campaign))];
  if (names.length === 0) return null;
  const own = { environment, campaign: campaign.name, occurrence };
  const seen = names.map((name) => {
    const exclude = [{ campaign: name, occurrence: null, place: {}, unknown: null }];
    return { name, reach: ledger.reach(own, { exclude, sinceMs: null }), count: 0, run: lastOf(found, name) };
  });
  return {
    add(decision) {
      if (decision.decision !== 'send' && decision.decision !== 'defer') return;
      for (const one of seen) if (isReached(one.reach, decision)) one.count += 1;
    },
    warnings: () => seen.filter(({ count }) => count > 0).map((one) => abandonedWarning(campaign, one)),
  };
}

function isReached(reach: Reach, { to, key }: Decision): boolean {
  return to !== null && key !== null && reach.excludedBy(to, key) !== null;
}

function lastOf(runs: readonly RunRecord[], name: string): string {
  return runs.findLast((run) => run.campaign === name)?.id ?? name;
}

function abandonedWarning(
  { file, name, formerly, namePlace }: Campaign,
  found: { readonly name: string; readonly count: number; readonly run: string },
): Diagnostic {
  const who = `${countOf(found.count, 'recipient')} of the list ${found.count === 1 ? 'has' : 'have'} had`;
  const message = `${who} a message of ${found.name} (run ${found.run}), which is no campaign of the project any more.`;
  const names = [...formerly, found.name].join(', ');
  const hint = `Is ${name} that campaign under a new name? Then \`formerly: [${names}]\` takes its history over, and no recipient gets it twice.`;
  return warning('history-abandoned', message, { at: { file }, ...namePlace, hint });
}

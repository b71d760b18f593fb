import { join } from 'node:path';
import { campaignNames, findCampaign, type NamedCampaign } from '../campaign/find.ts';
import { readCampaign } from '../campaign/load.ts';
import { HandbillError, problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger, openLedger } from '../ledger/open.ts';
import type { PauseScope } from '../ledger/records.ts';
import type { Pause, Project } from '../model.ts';
import { idsOf } from '../plan/campaign-id.ts';
import { mustExist } from '../send/run-lock.ts';
import { maskText } from '../util/redact.ts';
import { didYouMean } from '../util/suggest.ts';
import {
  type OptionsOf,
  type OptionTable,
  type ProjectOptions,
  type ResolvedOptions,
  withDefaults,
} from './options.ts';
import { projectHere } from './project.ts';

export const RESUME = {
  environment: { flag: '--env <name>', says: 'environment that was paused', required: true },
  campaign: { flag: '--campaign <name>', says: 'the campaign that was paused (default: the environment as a whole)' },
} as const satisfies OptionTable;

export const PAUSE = {
  environment: { flag: '--env <name>', says: 'environment in which handbill stops sending', required: true },
  campaign: { flag: '--campaign <name>', says: 'only this campaign (default: all of the environment)' },
  reason: { flag: '--reason <text>', says: 'why; every send that it halts says so', required: true },
} as const satisfies OptionTable;

/** The environment or campaign to resume, and the person who resumes it. */
export interface ResumeOptions extends ProjectOptions, OptionsOf<typeof RESUME> {
  /** The user, such as `ann@ops-1`. */
  readonly by: string;
}

/** The environment or campaign to pause, and the reason. */
export interface PauseOptions extends ProjectOptions, OptionsOf<typeof PAUSE> {
  /** The user, such as `ann@ops-1`. */
  readonly by: string;
}

export interface PauseResult {
  readonly pause: Pause;
  /** False: it was paused before, and that pause stays as it was. */
  readonly isNew: boolean;
}

export interface ResumeResult {
  /** Null: it was not paused. */
  readonly ended: Pause | null;
  /** Other pauses in this environment, which go on. */
  readonly remaining: readonly Pause[];
}

/**
 * `handbill pause`: stops everything in an environment, or one of its campaigns. The pause is in the ledger, and every
 * claim of every process asks for it: once this resolves, no request is begun, and running sends halt within a second.
 *
 * @throws HandbillError exit 2 (an unknown environment or campaign, no reason), 7 (ledger)
 */
export async function pauseSending(options: PauseOptions): Promise<PauseResult> {
  const reason = maskText(options.reason.trim().slice(0, LONGEST_REASON));
  if (reason === '')
    throw refuse(problem('usage', 'The reason is empty: say why, for the people who are halted by it.'));
  return await withScopes(options, (ledger, [scope, ...more], nowMs) => {
    const before = ledger.pause(scope, { reason, who: options.by, nowMs });
    for (const one of more) ledger.pause(one, { reason, who: options.by, nowMs });
    const pause =
      before ?? ledger.pauses().find((one) => one.environment === scope.environment && one.id === scope.campaign);
    if (pause === undefined) throw new Error('a pause that was written is there');
    return { pause, isNew: before === null };
  });
}

/**
 * `handbill resume`: ends a pause. Nothing is sent by it: `send` and `due` continue where they stopped.
 *
 * @throws HandbillError exit 2 (an unknown environment or campaign), 7 (ledger)
 */
export async function resumeSending(options: ResumeOptions): Promise<ResumeResult> {
  return await withScopes(options, (ledger, scopes, nowMs) => {
    const [scope] = scopes;
    const [ended = null] = scopes.flatMap((one) => ledger.resume(one, { who: options.by, nowMs }) ?? []);
    const remaining = ledger.pauses().filter(({ environment }) => environment === scope.environment);
    return { ended, remaining };
  });
}

const LONGEST_REASON = 500;

/** `scopes`: one, or one for each campaign that was last sent under a name that no file has. */
async function withScopes<T>(
  given: ResumeOptions,
  change: (ledger: Ledger, scopes: readonly [PauseScope, ...(readonly PauseScope[])], nowMs: number) => T,
): Promise<T> {
  const options = withDefaults(given);
  const { project, place } = projectHere(options);
  const all = given.campaign === undefined ? [] : campaignNames(place, join(place.root, 'campaign.yaml'));
  // A pause of a stand-in pauses its original too.
  const environment = project.environments.get(given.environment)?.identity ?? given.environment;
  const campaign = await campaignNamed(given, project, options, all);
  const id = all.find(({ name }) => name === campaign)?.id ?? null;
  const nowMs = options.now();
  using ledger = openLedger(project.ledger, { mode: 'write', nowMs, mustExist: mustExist(project) });
  const [first = campaign, ...more] = campaign === null ? [] : idsOf({ campaign, id }, ledger);
  const scopeOf = (one: string | null): PauseScope => ({ environment, campaign: one });
  return change(ledger, [scopeOf(first), ...more.map(scopeOf)], nowMs);
}

/** Null: none is named. A misspelt one would stop nothing, and say that it had; one that is wrong in other places is taken. */
async function campaignNamed(
  { environment, campaign }: ResumeOptions,
  project: Project,
  options: ResolvedOptions,
  all: readonly NamedCampaign[],
): Promise<string | null> {
  using ledger = openExistingLedger(project.ledger, { nowMs: options.now() });
  const [runs, pauses] = [ledger?.runs() ?? [], ledger?.pauses() ?? []];
  const known = new Set([...project.environments.keys(), ...[...runs, ...pauses].map((one) => one.environment)]);
  if (!known.has(environment)) {
    const hint = didYouMean(environment, known).hint ?? `Known here: ${[...known].join(', ')}.`;
    throw refuse(problem('unknown-environment', `There is no environment "${environment}".`, { hint }));
  }
  if (campaign === undefined) return null;
  if ([...runs, ...all].some(({ name }) => name === campaign)) return campaign;
  if (pauses.some((pause) => pause.campaign === campaign)) return campaign;
  const found = findCampaign(campaign, options.cwd);
  if ('problem' in found) throw refuse(found.problem);
  const { campaign: read, diagnostics } = await readCampaign(found.named, { cwd: options.cwd });
  if (read === null && !/^[\w-]+$/.test(campaign)) throw new HandbillError(2, diagnostics);
  return read?.name ?? campaign;
}

import process from 'node:process';
import { type FoundCampaign, findCampaign, findCampaigns } from '../campaign/find.ts';
import { readCampaign } from '../campaign/load.ts';
import { findProject, projectOf } from '../campaign/place.ts';
import { type ProjectReading, readProject } from '../campaign/project.ts';
import { findSuppressions } from '../campaign/read-suppressions.ts';
import { type Diagnostic, problem, refuse } from '../errors.ts';
import type { Campaign, Environment } from '../model.ts';
import { asCheck, type CheckName, checkRuntime, type DoctorCheck, found, offsetHere } from './doctor-check.ts';
import { checkEnvironment, checkLedger, type LedgerCheckup } from './doctor-environments.ts';
import {
  checkApproval,
  checkGit,
  checkListsInGit,
  checkSchemas,
  checkSuppressions,
  checkWebhooks,
} from './doctor-project.ts';
import { type ProjectOptions, type Settled, withDefaults } from './options.ts';
import { version } from './version.ts';

/** What to check. */
export interface DoctorOptions extends ProjectOptions {
  /**
   * A campaign file, its folder, or its name: the campaign and its project are checked. Default: the project of `cwd`.
   */
  readonly campaign?: string;
  /** Only this environment. Default: all. */
  readonly environment?: string;
  /** Connects to the environments; sends neither message nor key. Default: false. */
  readonly online?: boolean;
}

/** What was found. */
export interface DoctorResult {
  /** The version of handbill. */
  readonly handbill: string;
  /** The project's root. */
  readonly root: string;
  readonly checks: readonly DoctorCheck[];
  readonly totals: {
    readonly ok: number;
    readonly warnings: number;
    readonly problems: number;
    readonly skipped: number;
  };
}

/**
 * `handbill doctor`: checks what a start needs - runtime, ledger, environments, keys, clock - and changes nothing.
 * Problems are returned as checks; nothing is thrown for them.
 */
export async function doctor(given: DoctorOptions = {}): Promise<DoctorResult> {
  const options = withDefaults(given);
  const { cwd, env, now } = options;
  const nowMs = now();
  const named = await namedCampaign(options);
  const place = named === null ? await findProject(cwd) : await projectOf(cwd, named);
  const reading = await readProject(place, {
    cwd,
    ...(options.ledger === undefined ? {} : { ledger: options.ledger }),
  });
  const { project } = reading;
  const { node, sqlite = '0' } = process.versions;
  const ledger =
    reading.yaml === null && project.file !== null ? NO_PLACE : checkLedger(project.ledger, { cwd, nowMs });
  const campaign = named === null ? null : await checkCampaign(named.named, options);
  const checks = [
    ...checkRuntime({ node, sqlite, handbill: version(), offsetAt: offsetHere }, options),
    ...projectChecks(reading),
    ...(campaign?.checks ?? []),
    await checkSchemas(project.root),
    await checkGit(project, env),
    ...(await checkListsInGit(await campaignsOf(project.root, campaign?.campaign ?? null, options), project, env)),
    ...(reading.ledgerFault === null ? [] : [asCheck('ledger', reading.ledgerFault)]),
    ...ledger.checks,
    ...(await settingsChecks(reading, campaign?.campaign ?? null, ledger, options)),
  ];
  return { handbill: version(), root: project.root, checks, totals: totalsOf(checks) };
}

/** Without a readable handbill.yaml, the path of the ledger is not known. */
const NO_PLACE: LedgerCheckup = {
  checks: [found('ledger', 'skipped', 'handbill.yaml, which says where it is, cannot be read.')],
  facts: null,
};

type Given = DoctorOptions & Settled;

async function namedCampaign({ campaign, cwd }: Given): Promise<FoundCampaign | null> {
  if (campaign === undefined) return null;
  const place = await findCampaign(campaign, cwd);
  if ('problem' in place) throw refuse(place.problem);
  return place;
}

function projectChecks({ project, diagnostics }: ProjectReading): readonly DoctorCheck[] {
  if (diagnostics.length > 0) return diagnostics.map((one) => asCheck('project', one));
  if (project.file !== null) return [found('project', 'ok', `${project.file} is valid.`)];
  const hint = 'handbill init --force adds one. Campaigns can do without.';
  return [found('project', 'skipped', `There is no handbill.yaml; the root is ${project.root}.`, { hint })];
}

async function checkCampaign(
  path: string,
  { cwd, now, ledger }: Given,
): Promise<{ readonly campaign: Campaign | null; readonly checks: readonly DoctorCheck[] }> {
  const given = { cwd, now: now(), ...(ledger === undefined ? {} : { ledger }) };
  const { campaign, diagnostics, file } = await readCampaign(path, given);
  const own = diagnostics.filter(({ severity }) => severity === 'error');
  if (own.length > 0) return { campaign, checks: own.map((one) => asCheck('campaign', one)) };
  const hint = 'handbill validate checks every row of its list too.';
  return { campaign, checks: [found('campaign', 'ok', `${file ?? path} is valid.`, { hint })] };
}

/** The campaigns of the project that can be read, with the one that was named. */
async function campaignsOf(root: string, named: Campaign | null, { cwd, now }: Given): Promise<readonly Campaign[]> {
  const { files } = await findCampaigns([], root);
  const campaigns = named === null ? [] : [named];
  for (const file of files) {
    const { campaign } = await readCampaign(file, { cwd, now: now() });
    if (campaign !== null) campaigns.push(campaign);
  }
  return campaigns;
}

const OF_SETTINGS: readonly CheckName[] = ['environment', 'approval', 'suppressions', 'webhooks'];

/** The settings in handbill.yaml; not checked while the file is invalid, because what is left of it would mislead. */
async function settingsChecks(
  reading: ProjectReading,
  campaign: Campaign | null,
  { facts }: LedgerCheckup,
  options: Given,
): Promise<readonly DoctorCheck[]> {
  const { project } = reading;
  if (reading.diagnostics.some(({ severity }) => severity === 'error')) {
    return OF_SETTINGS.map((name) => found(name, 'skipped', 'handbill.yaml must be mended first.'));
  }
  const { env, now, online = false, cwd } = options;
  const chosen = environmentsOf(project.environments, options.environment);
  const ofEach: DoctorCheck[] = [];
  for (const one of chosen) ofEach.push(...(await checkEnvironment(one, { env, now, online, root: project.root })));
  const { files, diagnostics } = await findSuppressions(null, reading, {
    root: project.root,
    folder: project.root,
    cwd,
  });
  const listed = campaign ?? { suppressions: files, recipients: { defaultCountry: null }, project };
  return [
    ...ofEach,
    ...(await checkApproval(project, chosen, env)),
    ...diagnostics.map((one) => asCheck('suppressions', one)),
    ...(await checkSuppressions(listed, facts?.hashKeyId ?? null, env)),
    ...(await checkWebhooks(project, env)),
  ];
}

function environmentsOf(all: ReadonlyMap<string, Environment>, name: string | undefined): readonly Environment[] {
  if (name === undefined) return [...all.values()];
  const chosen = all.get(name);
  if (chosen !== undefined) return [chosen];
  const hint = `Known here: ${[...all.keys()].join(', ')}.`;
  const unknown: Diagnostic = problem('unknown-environment', `There is no environment "${name}".`, { hint });
  throw refuse(unknown);
}

/** How many checks have each status. */
export function totalsOf(checks: readonly DoctorCheck[]): DoctorResult['totals'] {
  const count = (status: DoctorCheck['status']): number => checks.filter((one) => one.status === status).length;
  return { ok: count('ok'), warnings: count('warning'), problems: count('problem'), skipped: count('skipped') };
}

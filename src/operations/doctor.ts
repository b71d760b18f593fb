import { devNull, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { approverFaults } from '../approval/approver-faults.ts';
import { runSshKeygen } from '../approval/ssh-keygen.ts';
import { findCampaign, findCampaigns } from '../campaign/find.ts';
import { readCampaign } from '../campaign/load.ts';
import { findProject, projectOf } from '../campaign/place.ts';
import { type ProjectReading, readProject } from '../campaign/project.ts';
import { findSuppressions } from '../campaign/read-suppressions.ts';
import { sharedSecrets } from '../campaign/read-webhook.ts';
import { type Diagnostic, HandbillError, problem, refuse, thrownText } from '../errors.ts';
import { openExistingLedger } from '../ledger/open.ts';
import type { Doctor } from '../model/result-types.ts';
import type { Campaign, Environment, ListSpec, Project } from '../model.ts';
import { openFence } from '../plan/fence.ts';
import { environmentOf } from '../plan/plan.ts';
import { checkProvider, checkTargets } from '../plan/provider-check.ts';
import { type Listed, readSuppressions } from '../plan/suppression.ts';
import { openList } from '../recipients/read.ts';
import { createRecipientReader, isInvalidRow } from '../recipients/recipient.ts';
import { isInvented } from '../scaffold/scaffold.ts';
import { staleReports } from '../send/fetched.ts';
import { readHasher } from '../suppression/hash.ts';
import { repositoryOf, runGit } from '../util/git.ts';
import { isPostgres } from '../util/ledger-address.ts';
import { nextCommand } from '../util/next-command.ts';
import { displayPath, isInside, readSmallFile } from '../util/paths.ts';
import { iso, offsetHere } from '../util/time.ts';
import { version } from '../util/version.ts';
import { listWithAnd } from '../util/words.ts';
import { readWebhookSecrets } from '../webhook/secrets.ts';
import {
  asCheck,
  type CheckName,
  checkEnvironment,
  checkLedger,
  checkRuntime,
  type DoctorCheck,
  found,
} from './doctor-environments.ts';
import { missedOccurrences } from './due-memory.ts';
import {
  type OptionsOf,
  type OptionTable,
  type ProjectOptions,
  type ResolvedOptions,
  withDefaults,
} from './options.ts';

export const DOCTOR = {
  environment: { flag: '--env <name>', says: 'only this environment (default: all)' },
  online: { flag: '--online', says: 'connect to the environments; sends neither message nor key' },
} as const satisfies OptionTable;

/** The project, or a campaign with it. */
export interface DoctorOptions extends ProjectOptions, OptionsOf<typeof DOCTOR> {
  /** A campaign file, its folder, or its name: checks it with its project. Default: the project of `cwd`. */
  readonly campaign?: string;
}

export type DoctorResult = Omit<Doctor, 'version'>;

/**
 * `handbill doctor`: checks the runtime, ledger, environments, keys and clock that a start needs, and changes nothing.
 * Returns problems as checks, and throws nothing for them.
 */
export async function doctor(given: DoctorOptions = {}): Promise<DoctorResult> {
  const options = withDefaults(given);
  const { cwd, env, now } = options;
  const nowMs = now();
  const named = options.campaign === undefined ? null : findCampaign(options.campaign, cwd);
  if (named !== null && 'problem' in named) throw refuse(named.problem);
  const place = named === null ? findProject(cwd) : projectOf(cwd, named);
  const reading = readProject(place, { cwd, ledger: options.ledger });
  const { project } = reading;
  const { node, sqlite = '0' } = process.versions;
  const ledger =
    reading.yaml === null && project.file !== null ? NO_PLACE : checkLedger(project.ledger, { cwd, nowMs });
  const campaign = named === null ? null : await checkCampaign(named.named, options);
  const missed = missedOccurrences(project, nowMs);
  const own = missed.filter((one) => (options.environment ?? one.environment) === one.environment);
  const checks = [
    ...checkRuntime({ node, sqlite, handbill: version(), offsetAt: offsetHere }, options),
    ...projectChecks(reading),
    ...(campaign?.checks ?? []),
    await checkSchemas(project.root),
    await checkGit(project, env),
    ...(await checkListsInGit(await campaignsOf(project.root, campaign?.campaign ?? null, options), project, env)),
    ...(reading.ledgerFault === null ? [] : [asCheck('ledger', reading.ledgerFault)]),
    ...ledger.checks,
    ...own.map(({ environment: of, campaign: name, occurrence }) => {
      const hint = `Send it with: ${nextCommand('send', name, '--env', of, '--occurrence', occurrence)}`;
      return found('missed', 'warning', `${name} was not sent in time for ${occurrence}.`, { of, hint });
    }),
    ...(await settingsChecks(reading, campaign?.campaign ?? null, ledger, options)),
  ];
  return { handbill: version(), root: project.root, checks, totals: totalsOf(checks) };
}

/** Without a readable handbill.yaml, the path of the ledger is not known. */
const NO_PLACE = {
  checks: [found('ledger', 'skipped', 'handbill.yaml, which says where it is, cannot be read.')],
  facts: null,
};

type Given = DoctorOptions & ResolvedOptions;

function projectChecks({ project, diagnostics }: ProjectReading): readonly DoctorCheck[] {
  if (diagnostics.length > 0) return diagnostics.map((one) => asCheck('project', one));
  if (project.file !== null) return [found('project', 'ok', `${project.file} is valid.`)];
  const hint = 'handbill init --force adds one. Campaigns can do without.';
  return [found('project', 'skipped', `There is no handbill.yaml; the root is ${project.root}.`, { hint })];
}

async function checkCampaign(path: string, { cwd, env, now, ledger, environment }: Given) {
  const { campaign, diagnostics, file } = await readCampaign(path, { cwd, env, ledger });
  const own = diagnostics.filter(({ severity }) => severity === 'error');
  if (campaign === null || own.length > 0) return { campaign, checks: own.map((one) => asCheck('campaign', one)) };
  const faults =
    environment === undefined
      ? checkTargets(campaign, env['HANDBILL_ENV'], now()).diagnostics
      : checkProvider(campaign, environmentOf(campaign, environment), now());
  const checks = faults.map((one) => asCheck('campaign', one));
  const hint = 'handbill validate checks every row of its list too.';
  if (checks.every(({ status }) => status !== 'problem')) {
    checks.unshift(found('campaign', 'ok', `${file ?? path} is valid.`, { hint }));
  }
  return { campaign, checks };
}

async function campaignsOf(root: string, named: Campaign | null, { cwd, env }: Given) {
  const { files } = findCampaigns([], root);
  const campaigns = named === null ? [] : [named];
  for (const file of files) {
    const { campaign } = await readCampaign(file, { cwd, env });
    if (campaign !== null) campaigns.push(campaign);
  }
  return campaigns;
}

const OF_SETTINGS: readonly CheckName[] = ['environment', 'approval', 'suppressions', 'webhooks'];

/** Skipped while handbill.yaml is invalid, because its readable part would mislead. */
async function settingsChecks(
  reading: ProjectReading,
  campaign: Campaign | null,
  { facts }: Pick<ReturnType<typeof checkLedger>, 'facts'>,
  options: Given,
): Promise<readonly DoctorCheck[]> {
  const { project } = reading;
  if (reading.diagnostics.some(({ severity }) => severity === 'error')) {
    return OF_SETTINGS.map((name) => found(name, 'skipped', 'handbill.yaml must be mended first.'));
  }
  const { env, now, online = false, cwd } = options;
  const all = [...project.environments.values()];
  const chosen = all.filter(({ name }) => name === (options.environment ?? name));
  if (options.environment !== undefined && chosen.length === 0) {
    const hint = `Known here: ${all.map(({ name }) => name).join(', ')}.`;
    throw refuse(problem('unknown-environment', `There is no environment "${options.environment}".`, { hint }));
  }
  const ofEach: DoctorCheck[] = [];
  for (const one of chosen) {
    ofEach.push(...(await checkEnvironment(one, { env, now, online, root: project.root })));
    ofEach.push(...(await checkFence(one, project)));
  }
  const { files, diagnostics } = findSuppressions(null, reading, cwd);
  const listed = campaign ?? { suppressions: files, recipients: { defaultCountry: null }, topic: null, project };
  return [
    ...ofEach,
    ...(await checkApproval(project, chosen, env)),
    ...diagnostics.map((one) => asCheck('suppressions', one)),
    ...(await checkSuppressions(listed, facts?.hashKeyId ?? null, env)),
    ...(await checkWebhooks(chosen, reading, env, now())),
  ];
}

/** The only addresses that an environment sends to, where it has some. */
async function checkFence(environment: Environment, project: Project): Promise<readonly DoctorCheck[]> {
  const of = environment.name;
  try {
    const fence = await openFence(environment, project);
    return (fence?.notices ?? []).map(({ message }) => found('fence', 'ok', message, { of }));
  } catch (error) {
    if (!(error instanceof HandbillError)) throw error;
    return error.diagnostics.map((one) => asCheck('fence', one, { of }));
  }
}

export function totalsOf(checks: readonly DoctorCheck[]): DoctorResult['totals'] {
  const count = (status: DoctorCheck['status']): number => checks.filter((one) => one.status === status).length;
  return { ok: count('ok'), warnings: count('warning'), problems: count('problem'), skipped: count('skipped') };
}

type Env = Readonly<Record<string, string | undefined>>;

/** Compares the schemas that `init` put into the project for editors with those of this handbill. */
async function checkSchemas(root: string): Promise<DoctorCheck> {
  const own = join(import.meta.dirname, '..', '..', 'schemas');
  const read = async (path: string): Promise<string | null> => {
    const found = readSmallFile(path, LARGEST_SCHEMA_BYTES);
    return 'bytes' in found ? Buffer.from(found.bytes).toString('utf8') : null;
  };
  const states = await Promise.all(
    SCHEMAS.map(async (name) => {
      const theirs = await read(join(root, 'schemas', name));
      return theirs === null ? 'absent' : theirs === (await read(join(own, name))) ? 'same' : 'other';
    }),
  );
  if (states.includes('other')) {
    const hint = `Delete ${listWithAnd(SCHEMAS.map((name) => `schemas/${name}`))}, then: handbill init --force`;
    return found('schemas', 'warning', 'The schemas for editors are those of another handbill.', { hint });
  }
  const isThere = states.includes('same');
  return isThere
    ? found('schemas', 'ok', 'The schemas for editors are those of this handbill.')
    : found('schemas', 'skipped', 'The project has no schemas for editors.');
}

const SCHEMAS = ['campaign.schema.json', 'project.schema.json', 'provider.schema.json'];
const LARGEST_SCHEMA_BYTES = 1 << 20;

/** git for `diff`, and whether git would commit the ledger. */
async function checkGit({ root, ledger }: Pick<Project, 'root' | 'ledger'>, env: Env): Promise<DoctorCheck> {
  const place = { folder: root, env, signal: AbortSignal.timeout(GIT_TIMEOUT_MS) };
  try {
    const inside = await runGit(place, ['rev-parse', '--show-toplevel']);
    if (inside.status !== 0) {
      const hint = 'Run git init: handbill diff compares campaigns by their history.';
      return found('git', 'warning', 'The project lies in no git repository.', { code: 'git-unavailable', hint });
    }
    const top = inside.stdout.trim();
    if (isPostgres(ledger)) return found('git', 'ok', `A repository at ${top}.`);
    if (!isInside(top, ledger)) return found('git', 'ok', `A repository at ${top}; the ledger lies outside of it.`);
    const ignored = await runGit(place, ['check-ignore', '-q', '--', ledger]);
    if (ignored.status === 0) return found('git', 'ok', `A repository at ${top}, which leaves the ledger out.`);
    const hint = `Add to .gitignore: ${displayPath(dirname(ledger), root)}/`;
    return found('git', 'warning', 'git does not ignore the ledger, which holds personal data.', { hint });
  } catch (error) {
    return fault('git', error, 'warning');
  }
}

/** Lists that git tracks or would add. A pattern in .gitignore, also one with `!`, says that this is intended. */
async function checkListsInGit(
  campaigns: readonly Pick<Campaign, 'recipients'>[],
  { root }: Pick<Project, 'root'>,
  env: Env,
): Promise<readonly DoctorCheck[]> {
  const top = repositoryOf(root);
  if (top === null) return [];
  const place = { folder: root, env, signal: AbortSignal.timeout(GIT_TIMEOUT_MS) };
  try {
    const lists = new Map(campaigns.map(({ recipients }) => [recipients.path, recipients]));
    const committed: string[] = [];
    for (const [path, spec] of lists) {
      if (spec.inline !== null || !isInside(top, path)) continue;
      const matched = await runGit(place, ['check-ignore', '--no-index', '-v', '-n', '--', path]);
      const sign = /^.*?:\d+:(!?)/.exec(matched.stdout)?.[1];
      if (sign === '!') continue;
      const isTracked = (await runGit(place, ['ls-files', '--', path])).stdout !== '';
      if (sign === '' && !isTracked) continue;
      if (await hasRealPeople(spec)) committed.push(displayPath(path, root));
    }
    if (committed.length === 0) return [];
    const shown = listWithAnd(
      committed.length <= 5 ? committed : [...committed.slice(0, 5), `${committed.length - 5} more`],
    );
    const hint =
      'Keep personal data out of git with a line in .gitignore, such as campaigns/**/*.csv, and git rm --cached FILE. ' +
      'Or allow it with the line !campaigns/**/*.csv';
    return [found('git', 'warning', `git has or would commit lists of people: ${shown}.`, { hint })];
  } catch (error) {
    return [fault('git', error, 'warning')];
  }
}

/** Reads the first rows. Reserved numbers and addresses at example.com do not count. */
async function hasRealPeople(spec: ListSpec): Promise<boolean> {
  const list = await openList(spec).catch(() => null);
  if (list === null) return false;
  try {
    const read = createRecipientReader(spec, list.columns);
    for await (const rows of list.rows()) {
      for (const row of rows) {
        const one = read(row);
        if (!isInvalidRow(one) && one.assigned && !isInvented(one.to)) return true;
      }
      if (list.count() >= LOOKED_AT_ROWS) return false;
    }
    return false;
  } catch {
    // Errors in a list are reported by `validate`.
    return false;
  } finally {
    await list.close();
  }
}

const LOOKED_AT_ROWS = 1000;
const GIT_TIMEOUT_MS = 10_000;

/** Approvers, if an environment needs approval, and the program that verifies signatures. */
async function checkApproval(project: Project, only: readonly Environment[], env: Env) {
  const asking = only.flatMap((one) => (one.approval === null ? [] : [{ environment: one, approval: one.approval }]));
  const [one] = only;
  const isAll = one === undefined || only.length === project.environments.size;
  const asks = isAll ? 'No environment asks' : `${one.name} does not ask`;
  if (asking.length === 0) return [found('approval', 'skipped', `${asks} for it.`)];
  const checks: DoctorCheck[] = [];
  for (const { environment, approval } of asking) {
    const of = environment.name;
    const faults = await approverFaults(project, environment);
    checks.push(...faults.map((one) => asCheck('approval', one, { of })));
    if (faults.length === 0) {
      const { approvals, approvers, standing } = approval;
      const lasting = standing === null ? '' : ` Standing approvals last ${standing.longest} at most.`;
      const named = 'signers' in approvers ? approvers.signers.flatMap(({ names }) => names).join(', ') : '';
      const who = 'file' in approvers ? `those in ${approvers.file}` : named;
      checks.push(found('approval', 'ok', `${approvals} of ${who} must sign.${lasting}`, { of }));
    }
  }
  return [...checks, await checkSshKeygen(env)];
}

/** A version that knows signatures complains that no signature was given; runSshKeygen tells the others apart. */
async function checkSshKeygen(env: Env): Promise<DoctorCheck> {
  const args = ['-Y', 'check-novalidate', '-n', 'handbill', '-s', devNull];
  try {
    await runSshKeygen({ args, folder: tmpdir(), env, input: 'nothing', timeoutMs: GIT_TIMEOUT_MS });
    return found('approval', 'ok', 'ssh-keygen is there, and knows signatures.');
  } catch (error) {
    return fault('approval', error, 'problem');
  }
}

/** `ledgerKeyId`: the key of the hashes in the ledger; null: it has none. */
async function checkSuppressions(listed: Listed, ledgerKeyId: string | null, env: Env) {
  const { suppressions } = listed;
  const { faults } = await readSuppressions(listed, env);
  const checks = faults.diagnostics.slice(0, MOST_SHOWN).map((one) => asCheck('suppressions', one));
  if (faults.total > checks.length) {
    checks.push(found('suppressions', 'problem', `${faults.total - checks.length} more rows are wrong.`));
  }
  const ofLedger = ledgerKeyId === null ? null : await ledgerKeyFault(ledgerKeyId, listed.project, env);
  if (ofLedger !== null) checks.push(ofLedger);
  if (checks.length > 0) return checks;
  const hashes = ledgerKeyId === null ? '' : ' The key of hashes is there.';
  if (suppressions.length === 0 && ledgerKeyId === null) {
    return [found('suppressions', 'skipped', 'No list is named, and the ledger holds no hashes.')];
  }
  return [found('suppressions', 'ok', `${suppressions.length} of ${suppressions.length} lists can be read.${hashes}`)];
}

const MOST_SHOWN = 20;

async function ledgerKeyFault(keyId: string, { suppressionKey, root }: Project, env: Env): Promise<DoctorCheck | null> {
  const read = await readHasher(suppressionKey, env, root);
  if ('problem' in read) {
    const { message, ...rest } = read.problem;
    return asCheck('suppressions', { ...rest, message: `The ledger holds hashes of people. ${message}` });
  }
  if (read.hasher.keyId === keyId) return null;
  const message = `The hashes of the ledger were made with another key (${keyId}, this is ${read.hasher.keyId}).`;
  const hint = 'Put the key back with which they were made: no hash can be matched without it.';
  return found('suppressions', 'problem', message, { code: 'other-suppression-key', hint });
}

/** As a send refuses a new occurrence. A ledger that cannot be read was reported. */
function checkFetched(environment: Environment, project: Project, nowMs: number): DoctorCheck {
  const { name: of } = environment;
  try {
    using ledger = openExistingLedger(project.ledger, { nowMs });
    const stale = staleReports(ledger, project, environment, { nowMs, allow: [] });
    if (stale !== null) return asCheck('webhooks', stale, { of });
    return found('webhooks', 'ok', `Reports were fetched at ${iso(ledger?.events.fetchedMs(of) ?? nowMs)}.`, { of });
  } catch (error) {
    if (!(error instanceof HandbillError)) throw error;
    return found('webhooks', 'skipped', 'The ledger says when reports were fetched, and it cannot be read.', { of });
  }
}

async function checkWebhooks(
  chosen: readonly Environment[],
  { project, diagnostics: said }: ProjectReading,
  env: Env,
  nowMs: number,
): Promise<readonly DoctorCheck[]> {
  const checks: DoctorCheck[] = [];
  const all = new Map<string, readonly string[]>();
  for (const environment of chosen) {
    const { name: of, webhook } = environment;
    if (environment.fetch) checks.push(checkFetched(environment, project, nowMs));
    if (webhook.receiver === null) continue;
    const { secrets, diagnostics } = await readWebhookSecrets(webhook.receiver, env, project.root);
    all.set(of, secrets);
    checks.push(...diagnostics.map((one) => asCheck('webhooks', one, { of })));
    const count = secrets.length === 1 ? 'Its secret is there.' : `All ${secrets.length} secrets are there.`;
    const message = `${count} Scheme: ${webhook.receiver.scheme.kind}.`;
    if (diagnostics.length === 0) checks.push(found('webhooks', 'ok', message, { of }));
  }
  const shared = sharedSecrets(all).filter(({ message }) => !said.some((one) => one.message === message));
  checks.push(...shared.map((one) => asCheck('webhooks', one)));
  return checks.length > 0 ? checks : [found('webhooks', 'skipped', 'No secrets are named: nothing is received.')];
}

function fault(check: CheckName, error: unknown, status: 'warning' | 'problem'): DoctorCheck {
  const [first]: readonly Diagnostic[] = error instanceof HandbillError ? error.diagnostics : [];
  if (first !== undefined) return { ...asCheck(check, first), status };
  return found(check, status, `It cannot be asked: ${thrownText(error)}.`);
}

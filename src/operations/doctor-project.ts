import { devNull, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runSshKeygen } from '../approval/ssh-keygen.ts';
import { runGit } from '../diff/git.ts';
import { type Diagnostic, HandbillError } from '../errors.ts';
import type { Campaign, Environment, ListSpec, Project, Signer } from '../model.ts';
import { type Listed, readSuppressions } from '../plan/suppression.ts';
import { openList } from '../recipients/read.ts';
import { createRecipientReader, isInvalidRow } from '../recipients/recipient.ts';
import { isInvented } from '../scaffold/scaffold.ts';
import { readHasher } from '../suppression/hash.ts';
import { isPostgres } from '../util/ledger-address.ts';
import { displayPath, isInside, readSmallFile } from '../util/paths.ts';
import { readWebhookSecrets } from '../webhook/secrets.ts';
import { approverFaults } from './approver-faults.ts';
import { asCheck, type CheckName, type DoctorCheck, found } from './doctor-check.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The schemas that `init` put beside the project for editors, against those of this handbill. */
export async function checkSchemas(root: string): Promise<DoctorCheck> {
  const own = join(import.meta.dirname, '..', '..', 'schemas');
  const read = async (path: string): Promise<string | null> => {
    const found = await readSmallFile(path, LARGEST_SCHEMA_BYTES);
    return 'bytes' in found ? Buffer.from(found.bytes).toString('utf8') : null;
  };
  const states = await Promise.all(
    SCHEMAS.map(async (name) => {
      const theirs = await read(join(root, 'schemas', name));
      return theirs === null ? 'absent' : theirs === (await read(join(own, name))) ? 'same' : 'other';
    }),
  );
  if (states.includes('other')) {
    const hint = `Delete ${SCHEMAS.map((name) => `schemas/${name}`).join(' and ')}, then: handbill init --force`;
    return found('schemas', 'warning', 'The schemas for editors are those of another handbill.', { hint });
  }
  const isThere = states.includes('same');
  return isThere
    ? found('schemas', 'ok', 'The schemas for editors are those of this handbill.')
    : found('schemas', 'skipped', 'The project has no schemas for editors.');
}

const SCHEMAS = ['campaign.schema.json', 'project.schema.json'];
const LARGEST_SCHEMA_BYTES = 1 << 20;

/** git for `diff`, and whether git would commit the ledger. */
export async function checkGit({ root, ledger }: Pick<Project, 'root' | 'ledger'>, env: Env): Promise<DoctorCheck> {
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

/**
 * Recipient lists that git tracks, or would add with the next `git add`, although nothing says that this is intended. A
 * pattern in .gitignore says so: one that ignores the list, or one with `!` that includes it on purpose.
 */
export async function checkListsInGit(
  campaigns: readonly Pick<Campaign, 'recipients'>[],
  { root }: Pick<Project, 'root'>,
  env: Env,
): Promise<readonly DoctorCheck[]> {
  const place = { folder: root, env, signal: AbortSignal.timeout(GIT_TIMEOUT_MS) };
  try {
    const inside = await runGit(place, ['rev-parse', '--show-toplevel']);
    if (inside.status !== 0) return [];
    const top = inside.stdout.trim();
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
    const shown = LIST.format(
      committed.length <= 5 ? committed : [...committed.slice(0, 5), `${committed.length - 5} more`],
    );
    const hint =
      'Keep personal data out of git with a line in .gitignore, such as campaigns/**/*.csv, and git rm --cached FILE. ' +
      'Or say that it is meant: !campaigns/**/*.csv';
    return [found('git', 'warning', `git has or would commit lists of people: ${shown}.`, { hint })];
  } catch (error) {
    return [fault('git', error, 'warning')];
  }
}

const LIST = new Intl.ListFormat('en-GB');

/**
 * Whether the first rows of a list hold addresses of real people. Reserved numbers and addresses at example.com do not
 * count.
 */
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

/** Who may sign, if an environment needs approval, and the program that verifies signatures. */
export async function checkApproval(
  project: Project,
  only: readonly Environment[],
  env: Env,
): Promise<readonly DoctorCheck[]> {
  const asking = only.filter(({ approval }) => approval !== null);
  if (asking.length === 0) return [found('approval', 'skipped', 'No environment asks for it.')];
  const checks: DoctorCheck[] = [];
  for (const environment of asking) {
    const of = environment.name;
    const faults = await approverFaults(project, environment);
    checks.push(...faults.map((one) => asCheck('approval', one, { of })));
    if (faults.length === 0) {
      const { approvals = 1, approvers } = environment.approval ?? {};
      checks.push(found('approval', 'ok', `${approvals} of ${whoOf(approvers)} must sign.`, { of }));
    }
  }
  return [...checks, await checkSshKeygen(env)];
}

function whoOf(approvers: { readonly signers: readonly Signer[] } | { readonly file: string } | undefined): string {
  if (approvers === undefined) return 'none';
  return 'file' in approvers
    ? `those in ${approvers.file}`
    : approvers.signers.flatMap(({ names }) => names).join(', ');
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

/**
 * The lists of people who must not be sent to, and the key of the hashes in them and in the ledger.
 *
 * @param ledgerKeyId id of the key with which the hashes of the ledger were made; null: it holds no hashes
 */
export async function checkSuppressions(
  listed: Listed,
  ledgerKeyId: string | null,
  env: Env,
): Promise<readonly DoctorCheck[]> {
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

/** The secrets with which senders of reports authenticate. */
export async function checkWebhooks({ webhook, root }: Project, env: Env): Promise<readonly DoctorCheck[]> {
  if (webhook.receiver === null) return [found('webhooks', 'skipped', 'No secrets are named: nothing is received.')];
  const { secrets, diagnostics } = await readWebhookSecrets(webhook.receiver, env, root);
  if (diagnostics.length > 0) return diagnostics.map((one) => asCheck('webhooks', one));
  const count = secrets.length === 1 ? 'Its secret is there.' : `All ${secrets.length} secrets are there.`;
  return [found('webhooks', 'ok', `${count} Scheme: ${webhook.receiver.scheme.kind}.`)];
}

function fault(check: CheckName, error: unknown, status: 'warning' | 'problem'): DoctorCheck {
  const [first]: readonly Diagnostic[] = error instanceof HandbillError ? error.diagnostics : [];
  if (first !== undefined) return { ...asCheck(check, first), status };
  return found(check, status, `It cannot be asked: ${error instanceof Error ? error.message : String(error)}.`);
}

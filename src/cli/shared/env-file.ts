import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { findProject, ifClear, type ProjectPlace } from '../../campaign/place.ts';
import { secretVariables } from '../../campaign/project.ts';
import { type Diagnostic, HandbillError, problem, refuse, warning } from '../../errors.ts';
import { repositoryOf, runGit } from '../../util/git.ts';
import { displayPath } from '../../util/paths.ts';
import { notPrivate } from '../../util/secret.ts';
import { listWithAnd } from '../../util/words.ts';

type Env = Readonly<Record<string, string | undefined>>;

const MAX_BYTES = 64 * 1024;

/**
 * Adds the secrets in `.env` of the project's root: those that handbill.yaml names, and PGPASSWORD. A variable of the
 * process counts first, even empty. A pull request can bring such a file: it must not set anything else of handbill,
 * and git must not track it. Warns about other variables. Throws exit 2: `env-file`, `key-file-permissions`.
 */
export async function withEnvFile(
  env: Env,
  cwd: string,
): Promise<{ readonly env: Env; readonly warnings: readonly Diagnostic[] }> {
  const place = ifClear(() => findProject(cwd));
  const path = join(place?.root ?? cwd, '.env');
  // Non-blocking: a pipe without a writer would block without end. Without a file that can be read, the command that needs
  // a secret from it names the one that is missing.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK;
  const handle = place === null ? null : await open(path, flags).catch(() => null);
  if (place === null || handle === null) return { env, warnings: [] };
  try {
    return await read(handle, path, { env, cwd: await realpath(cwd), place });
  } finally {
    await handle.close();
  }
}

interface Where {
  readonly env: Env;
  readonly cwd: string;
  readonly place: ProjectPlace;
}

async function read(handle: FileHandle, path: string, where: Where): ReturnType<typeof withEnvFile> {
  const { env, cwd, place } = where;
  const stats = await handle.stat();
  if (!stats.isFile() || stats.size > MAX_BYTES) return { env, warnings: [] };
  const text = await handle.readFile('utf8');
  const file = displayPath(path, cwd);
  const { names, isValid } = secretVariables(place, cwd);
  const found = Object.entries(parseEnv(text));
  const secrets = found.filter(([name]) => name === 'PGPASSWORD' || (names.has(name) && !SETTINGS.test(name)));
  const others = found.map(([name]) => name).filter((name) => !secrets.some(([secret]) => secret === name));
  const settings = others.filter((name) => OF_HANDBILL.test(name));
  const faults = [
    ...(await trackedFault(path, file, where)),
    ...notPrivate(file, stats, 'keys', { forbidden: secrets.length > 0 ? 0o077 : 0o022 }),
    // Faults of handbill.yaml come first: one may be why a secret is not known.
    ...(isValid ? settings.map((name) => settingFault(name, { file, ...lineOf(text, name) })) : []),
  ];
  if (faults.length > 0) throw refuse(...faults);
  const ignored = others.filter((name) => !settings.includes(name));
  const shown = ignored.length > 5 ? [...ignored.slice(0, 5), `${ignored.length - 5} more`] : ignored;
  const hint =
    'Commands take the secrets that handbill.yaml names, and PGPASSWORD. Set others where handbill is started.';
  const passedOver = warning('env-file', `handbill does not read ${listWithAnd(shown)} from ${file}.`, { hint });
  return { env: { ...Object.fromEntries(secrets), ...env }, warnings: ignored.length === 0 ? [] : [passedOver] };
}

/** Variables of handbill and PostgreSQL: a user who writes one into the file expects that it counts. */
const OF_HANDBILL = /^(?:HANDBILL_|PG)/i;

/** Settings of handbill and of the programs that it starts. They are no secrets, also where handbill.yaml says so. */
const SETTINGS =
  /^(?:HANDBILL_(?:DEBUG|ENV|LEASE|LEDGER|LEDGER_WAIT|LISTS|LOG|METRICS_FILE|PARENT|SIGNING_KEY)|PG.*|(?:GIT|SSH|LD|DYLD|NODE|XDG|LC)_.*|PATH|HOME|TMPDIR|SQLITE_TMPDIR|DISPLAY|XAUTHORITY|LANG|TERM|ACCESSIBLE|CI)$/i;

function settingFault(name: string, at: NonNullable<Diagnostic['at']>): Diagnostic {
  if (SETTINGS.test(name)) {
    const hint = `Remove the line. Set it where handbill is started: export ${name.toUpperCase()}=...`;
    return problem('env-file', `${at.file} sets ${name}, which only the process may set.`, { at, hint });
  }
  const hint = 'Name it there, as in apiKey: { env: NAME }, or remove the line.';
  return problem('env-file', `${at.file} sets ${name}, which handbill.yaml does not name as a secret.`, { at, hint });
}

function lineOf(text: string, name: string): { readonly line?: number } {
  const index = text.split(/\r\n|\r|\n/).findIndex((line) => NAME.exec(line)?.[1] === name);
  return index === -1 ? {} : { line: index + 1 };
}

const NAME = /^\s*(?:export\s+)?([^\s=:]+)/;
const GIT_TIMEOUT_MS = 10_000;

/** A file that git tracks came with the repository, or will be in it for good. */
async function trackedFault(path: string, file: string, { env, place }: Where): Promise<readonly Diagnostic[]> {
  if (repositoryOf(place.root) === null) return [];
  const git = { folder: place.root, env, signal: AbortSignal.timeout(GIT_TIMEOUT_MS) };
  // Behind a link, and with the letters that the disk has: a tracked file stays tracked under another name.
  const paths = [...new Set([path, await realpath(path)])].map((one) => `:(literal)${one}`);
  const { status, stdout } = await runGit(git, ['ls-files', '--', ...paths]).catch((error: unknown) => {
    if (error instanceof HandbillError) return { status: -1, stdout: '' };
    throw error;
  });
  const at = { file };
  if (status !== 0) {
    const hint = 'See that git can be run here, or set the secrets where handbill is started and remove the file.';
    return [problem('env-file', `git does not say whether it tracks ${file}.`, { at, hint })];
  }
  if (stdout === '') return [];
  const hint = `git rm --cached ${file}, add .env to .gitignore, and ask for new secrets if real ones were committed.`;
  return [
    problem('env-file', `git tracks ${file}. Commands read only a file that belongs to this machine.`, { at, hint }),
  ];
}

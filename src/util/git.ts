import { execFile, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { problem, refuse } from '../errors.ts';
import { exists, foldersUp } from './paths.ts';

export interface GitPlace {
  /** Real path of a folder. git is started at the top of its repository. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ends git when the command is interrupted. */
  readonly signal: AbortSignal;
}

/** A listing of a repository of some hundred thousand files is smaller. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * Nothing in a repository may start a program, and nothing is fetched: in a partial clone the configuration names the program
 * for that. Plumbing commands have no aliases, pagers, textconv or filters; these switches turn off the rest.
 */
const ALWAYS: readonly string[] = [
  '--no-pager',
  '--no-optional-locks',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.hooksPath=/dev/null',
  // A pull request can bring the files of a bare repository, and its own configuration with them (git 2.38).
  '-c',
  'safe.bareRepository=explicit',
];

/** Root of the git repository that a folder is in; null outside of git. In a worktree or a submodule `.git` is a file. */
export function repositoryOf(folder: string): string | null {
  return folderAbove(folder, '.git');
}

/** The nearest folder, this one or above, that holds an entry; null if there is none. */
export function folderAbove(folder: string, entry: string): string | null {
  return foldersUp(folder).find((at) => exists(join(at, entry))) ?? null;
}

/** The environment that git needs. GIT_... is not passed on: it could name another repository. */
const KEPT: readonly string[] = ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'SYSTEMROOT', 'USERPROFILE', 'TMPDIR'];

function cleanEnvironment(env: GitPlace['env'], top: string): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of KEPT) {
    const value = env[name];
    if (value !== undefined) kept[name] = value;
  }
  return {
    ...kept,
    LC_ALL: 'C',
    GIT_CEILING_DIRECTORIES: dirname(top),
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    // A commit is what its name says everywhere, also where this clone has something put in its place.
    GIT_NO_REPLACE_OBJECTS: '1',
    // Versions before 2.44 do not know the line above; no protocol has this name, so that nothing can be fetched.
    GIT_ALLOW_PROTOCOL: 'none',
  };
}

/**
 * Runs git at the top of the repository: below it, versions before 2.38 may take a folder for a bare repository. Outside of
 * one the status is 128, without git. User input comes after `--end-of-options` or `--`.
 *
 * @throws HandbillError exit 2, `git-unavailable`, if git is missing
 */
export async function runGit(place: GitPlace, args: readonly string[]) {
  const top = repositoryOf(place.folder);
  if (top === null) return { status: 128, stdout: '', stderr: 'not a git repository' };
  return await new Promise<{ status: number; stdout: string; stderr: string }>((resolve, reject) => {
    const options = {
      cwd: top,
      env: cleanEnvironment(place.env, top),
      maxBuffer: MAX_ANSWER_BYTES,
      signal: place.signal,
      encoding: 'utf8' as const,
    };
    execFile('git', [...ALWAYS, ...args], options, (error, stdout, stderr) => {
      if (error === null) return resolve({ status: 0, stdout, stderr });
      // A number is git's own status; a word is why it could not be run, or was not run to its end.
      if (typeof error.code === 'number') return resolve({ status: error.code, stdout, stderr });
      reject(cannotRun(error));
    });
  });
}

/** A git that is fed with `input` and read while it runs; started as by `runGit`. */
export async function streamGit(
  place: GitPlace,
  args: readonly string[],
  input: string,
): Promise<{ readonly stdout: Readable; readonly done: Promise<number | null> }> {
  const top = repositoryOf(place.folder) ?? place.folder;
  const child = spawn('git', [...ALWAYS, ...args], {
    cwd: top,
    env: cleanEnvironment(place.env, top),
    stdio: ['pipe', 'pipe', 'ignore'],
    signal: place.signal,
  });
  const done = new Promise<number | null>((resolve, reject) => {
    child.on('error', (error) => reject(cannotRun(error)));
    child.on('close', (status) => resolve(status));
  });
  // The reader notices that git ended early; a broken pipe adds nothing.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return { stdout: child.stdout, done };
}

function cannotRun(error: Error): Error {
  const code = 'code' in error ? String(error.code) : '';
  if (error.name === 'AbortError') return error;
  if (code === 'ENOENT') {
    return refuse(problem('git-unavailable', 'git was not found.', { hint: 'Install git, or put it into PATH.' }));
  }
  const why = code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER' ? 'it lists more files than handbill reads' : code;
  return refuse(problem('git-unavailable', `git could not be run: ${why || error.message}.`));
}

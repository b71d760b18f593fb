import { createHash, hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type Diagnostic, HandbillError, problem, refuse } from '../errors.ts';
import type { Campaign, Commit, Environment, GitRule } from '../model.ts';
import { type GitPlace, repositoryOf, runGit } from '../util/git.ts';
import { isInside } from '../util/paths.ts';

/** `unknown`: why git cannot say it, as the end of a sentence. */
export type Provenance =
  | { readonly commit: Commit /** Files that are not as committed. */; readonly changed: readonly string[] }
  | { readonly unknown: string };

type Env = Readonly<Record<string, string | undefined>>;

interface UsedFile {
  readonly path: string;
  /** Hash of the bytes that were read; null: unknown. */
  readonly sha256: string | null;
  /** Many teams do not commit lists. One that is tracked counts. */
  readonly mayBeUntracked: boolean;
}

/** Compares lists only where git tracks them. Never throws: without git a start may go on. */
export async function readProvenance(
  { inputs, project, recipients, suppressions }: Pick<Campaign, 'inputs' | 'project' | 'recipients' | 'suppressions'>,
  env: Env,
): Promise<Provenance> {
  const { root, prices } = project;
  const lists = [...(recipients.inline === null ? [recipients.path] : []), ...suppressions.map(({ path }) => path)];
  return await provenanceOf(root, env, [
    ...inputs.map(({ file, sha256 }) => ({ path: join(root, file), sha256, mayBeUntracked: false })),
    ...(prices === null ? [] : [{ path: prices, sha256: null, mayBeUntracked: false }]),
    ...lists.map((path) => ({ path, sha256: null, mayBeUntracked: true })),
  ]);
}

/** For a process without a campaign: of the project file only. */
export async function readProjectProvenance({ root, file }: Campaign['project'], env: Env): Promise<Provenance> {
  const files = file === null ? [] : [{ path: join(root, 'handbill.yaml'), sha256: null, mayBeUntracked: false }];
  return await provenanceOf(root, env, files);
}

/** Git is asked for a tree and a list of files only: more time means that it hangs. */
const LIMIT_MS = 5000;

async function provenanceOf(root: string, env: Env, files: readonly UsedFile[]): Promise<Provenance> {
  if (repositoryOf(root) === null) return { unknown: 'the project is not in a git repository' };
  const signal = AbortSignal.timeout(LIMIT_MS);
  try {
    return await askGit({ folder: root, env, signal }, files);
  } catch (error) {
    if (signal.aborted) return { unknown: `git did not answer within ${LIMIT_MS / 1000} s` };
    if (error instanceof HandbillError) return { unknown: error.message.replace(/\.$/, '') };
    return { unknown: 'a file of the campaign could not be compared with its commit' };
  }
}

async function askGit(place: GitPlace, files: readonly UsedFile[]): Promise<Provenance> {
  const head = await runGit(place, ['rev-parse', '--show-toplevel', 'HEAD', '--symbolic-full-name', 'HEAD']);
  if (head.status !== 0) {
    if (head.stderr.includes('dubious ownership')) return { unknown: 'the repository belongs to another user' };
    return { unknown: 'the repository has no commit yet' };
  }
  const [shown = '', commit = '', ref = ''] = head.stdout.split(/\r?\n/);
  const top = await realpath(shown);
  if (!isInside(top, place.folder)) return { unknown: 'the project is not in a git repository' };
  const tracked = await blobsIn(place, top, commit, files);
  const changed: string[] = [];
  for (const file of files) {
    const blob = tracked.get(file.path);
    if (blob === undefined ? file.mayBeUntracked : await isAsCommitted(file, blob)) continue;
    changed.push(relative(place.folder, file.path));
  }
  const branch = ref.startsWith(HEADS) ? ref.slice(HEADS.length) : ciBranch(commit, place.env);
  return { commit: { commit, branch, clean: changed.length === 0 }, changed };
}

const HEADS = 'refs/heads/';

/** Paths that the commit does not have are absent. */
async function blobsIn(
  place: GitPlace,
  top: string,
  commit: string,
  files: readonly UsedFile[],
): Promise<ReadonlyMap<string, string>> {
  const paths = files.filter(({ path }) => isInside(top, path)).map(({ path }) => relative(top, path));
  // Without a path all files would be listed.
  if (paths.length === 0) return new Map();
  const { stdout } = await runGit(place, ['ls-tree', '-z', '--full-tree', commit, '--', ...paths]);
  const entries = stdout.split('\0').flatMap((line) => {
    const [, blob = '', name = ''] = /^100\d{3} blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
    return name === '' ? [] : [[join(top, name), blob] as const];
  });
  return new Map(entries);
}

/** Larger files are not held in memory. Their line ends count. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024;

/** By hash: git would run the configured filters. Line ends do not count, nor where git-lfs keeps a file. */
async function isAsCommitted({ path, sha256 }: UsedFile, blob: string): Promise<boolean> {
  const algorithm = blob.length === 40 ? 'sha1' : 'sha256';
  const nameOf = (bytes: Uint8Array): string =>
    createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  const { size } = await stat(path);
  if (size > MAX_TEXT_BYTES) {
    const whole = createHash(algorithm).update(`blob ${size}\0`);
    const content = createHash('sha256');
    for await (const bytes of createReadStream(path)) {
      whole.update(bytes);
      content.update(bytes);
    }
    return whole.digest('hex') === blob || nameOf(lfsPointer(content.digest('hex'), size)) === blob;
  }
  const bytes = await readFile(path);
  const now = hash('sha256', bytes, 'hex');
  // The file changed after the campaign was read.
  if (sha256 !== null && sha256 !== now) return false;
  return (
    nameOf(bytes) === blob ||
    nameOf(Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')) === blob ||
    nameOf(lfsPointer(now, bytes.length)) === blob
  );
}

/** https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md */
function lfsPointer(sha256: string, size: number): Buffer {
  return Buffer.from(`version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize ${size}\n`);
}

/** Most CI systems check out a commit and no branch. Their branch counts only for the commit beside it. */
function ciBranch(commit: string, env: Env): string | null {
  for (const [branchName, commitName] of CI_VARIABLES) {
    const branch = env[branchName];
    if (branch === undefined || branch === '' || env[commitName] !== commit) continue;
    if (branchName !== 'GITHUB_REF') return branch;
    // It also names tags and pull requests.
    if (branch.startsWith(HEADS)) return branch.slice(HEADS.length);
  }
  return null;
}

const CI_VARIABLES: readonly (readonly [branch: string, commit: string])[] = [
  ['GITHUB_REF', 'GITHUB_SHA'],
  ['CI_COMMIT_BRANCH', 'CI_COMMIT_SHA'],
  ['BITBUCKET_BRANCH', 'BITBUCKET_COMMIT'],
  ['CIRCLE_BRANCH', 'CIRCLE_SHA1'],
];

/** Null: git does not know. */
export function commitIn(provenance: Provenance): Commit | null {
  return 'commit' in provenance ? provenance.commit : null;
}

/** Why an environment does not take what is checked out; empty: it does, or asks for no commit. */
export function commitFaults({ name, git }: Environment, provenance: Provenance): readonly Diagnostic[] {
  if (git === null) return [];
  const fault = (message: string, hint: string): Diagnostic =>
    problem('commit-refused', message, { ...git.where, hint });
  if ('unknown' in provenance) {
    const hint = 'Send from a clone of the repository of the campaigns, in which git can be run.';
    return [fault(`${name} takes campaigns from a commit only, and ${provenance.unknown}.`, hint)];
  }
  const { commit, changed } = provenance;
  return [...branchFaults(name, git, commit, fault), ...(git.clean ? changedFaults(name, changed, fault) : [])];
}

/** @throws HandbillError exit 2 */
export function refuseOtherCommit(environment: Environment, provenance: Provenance): void {
  const faults = commitFaults(environment, provenance);
  if (faults.length > 0) throw refuse(...faults);
}

type Fault = (message: string, hint: string) => Diagnostic;

function branchFaults(name: string, { branches }: GitRule, { branch }: Commit, fault: Fault): readonly Diagnostic[] {
  if (branches === null || (branch !== null && branches.includes(branch))) return [];
  const [first = ''] = branches;
  const is = branch === null ? 'no branch is checked out' : `this is ${branch}`;
  const hint = `Merge the change, and send from there: git switch ${first}`;
  return [fault(`${name} takes campaigns from ${branches.join(' or ')} only, and ${is}.`, hint)];
}

const NAMED_FILES = 5;

function changedFaults(name: string, changed: readonly string[], fault: Fault): readonly Diagnostic[] {
  if (changed.length === 0) return [];
  const more = changed.length > NAMED_FILES ? [`${changed.length - NAMED_FILES} more`] : [];
  const files = [...changed.slice(0, NAMED_FILES), ...more].join(', ');
  const message = `${name} takes committed files only, and these are not as committed: ${files}.`;
  return [fault(message, 'Commit them, or undo the change: git status, git diff')];
}

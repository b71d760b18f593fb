import { realpath } from 'node:fs/promises';
import { type HandbillError, problem, refuse } from '../errors.ts';
import { type GitPlace, runGit } from '../util/git.ts';
import { isInside } from '../util/paths.ts';
import { shortened } from '../util/words.ts';

export interface Revision {
  readonly name: string;
  readonly commit: string;
  /** The commit is the merge base of the given name and the other side, and not the commit of that name. */
  readonly isMergeBase: boolean;
}

/** `after` null is the work tree. */
export interface Range {
  readonly before: Revision;
  readonly after: Revision | null;
  /** Why it is not the merge base, where that is the rule. */
  readonly note: string | null;
}

/**
 * Reads `REV`, `REV..REV2` and `REV...REV2`. A single revision is compared with the work tree, from the merge base with
 * HEAD on, as in a pull request: later commits on the other branch are not part of the change.
 * @throws HandbillError exit 2: `git-unavailable` outside a repository, `unknown-revision`
 */
export async function readRange(place: GitPlace, written: string): Promise<Range> {
  await checkRepository(place);
  const [, left = written, dots = '', right = ''] = /^(.*?)(\.\.\.?)(.*)$/s.exec(written) ?? [];
  if (dots === '') return await fromBase(place, left, null, await commitOf(place, 'HEAD'));
  const revision = async (name: string) => ({ name, commit: await commitOf(place, name), isMergeBase: false });
  const after = await revision(right || 'HEAD');
  if (dots === '...') return await fromBase(place, left || 'HEAD', after, after.commit);
  return { before: await revision(left || 'HEAD'), after, note: null };
}

async function fromBase(place: GitPlace, name: string, after: Revision | null, other: string): Promise<Range> {
  const commit = await commitOf(place, name);
  const { status, stdout } = await runGit(place, ['merge-base', '--end-of-options', commit, other]);
  const base = stdout.trim();
  if (status === 0 && base !== '') {
    return { before: { name, commit: base, isMergeBase: base !== commit }, after, note: null };
  }
  if (await isShallow(place)) {
    const message = `This clone does not reach back to where "${shortened(name, 100)}" and HEAD part.`;
    throw refuse(problem('unknown-revision', message, { hint: DEEPEN }));
  }
  const note = `${shortened(name, 100)} has no commit in common with the other side: the two are compared as they are.`;
  return { before: { name, commit, isMergeBase: false }, after, note };
}

/** Git must not use another repository, further up: all files of the project would be missing. */
async function checkRepository(place: GitPlace): Promise<void> {
  const { status, stdout, stderr } = await runGit(place, ['rev-parse', '--show-toplevel']);
  if (status === 0) {
    const root = await realpath(stdout.replace(/\r?\n$/, '')).catch(() => null);
    if (root !== null && isInside(root, place.folder)) return;
  }
  if (stderr.includes('dubious ownership')) {
    const hint = 'If you trust it: git config --global --add safe.directory FOLDER';
    throw refuse(
      problem('git-unavailable', 'git refuses this repository, because it belongs to another user.', { hint }),
    );
  }
  const hint = 'diff compares with what git holds: run it in a clone, inside the work tree.';
  throw refuse(problem('git-unavailable', 'This folder is not in the work tree of a git repository.', { hint }));
}

async function commitOf(place: GitPlace, name: string): Promise<string> {
  // No name in git begins with a dash; it could only be an option of git.
  if (name === '' || name.startsWith('-') || /\p{Cc}/u.test(name) || name.length > 1000)
    throw await unknown(place, name);
  const { status, stdout } = await runGit(place, [
    'rev-parse',
    '--verify',
    '--quiet',
    '--end-of-options',
    `${name}^{commit}`,
  ]);
  const commit = stdout.trim();
  if (status !== 0 || !/^[0-9a-f]{40,64}$/.test(commit)) throw await unknown(place, name);
  return commit;
}

async function unknown(place: GitPlace, name: string): Promise<HandbillError> {
  if ((await runGit(place, ['rev-list', '--all', '--max-count=1'])).stdout.trim() === '') {
    const hint = 'Commit what there is (git add, git commit); diff says from then on what changes.';
    const message = 'This repository holds no commit yet: there is nothing to compare with.';
    return refuse(problem('unknown-revision', message, { hint }));
  }
  if (name === 'HEAD') {
    const message = 'The current branch holds no commit yet: it left no other branch, from which it could be compared.';
    return refuse(problem('unknown-revision', message, { hint: 'Commit first, or name both sides: REV..REV2' }));
  }
  const hint = (await isShallow(place)) ? DEEPEN : 'Name a branch, a tag or a commit, such as origin/main.';
  return refuse(problem('unknown-revision', `git knows no commit "${shortened(name, 100)}" here.`, { hint }));
}

async function isShallow(place: GitPlace): Promise<boolean> {
  return (await runGit(place, ['rev-parse', '--is-shallow-repository'])).stdout.trim() === 'true';
}

const DEEPEN =
  'This clone is shallow. Fetch the history: `git fetch --unshallow`, or `fetch-depth: 0` for actions/checkout.';

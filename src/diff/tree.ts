import { problem, refuse } from '../errors.ts';
import { type GitPlace, runGit } from './git.ts';

/** A file or a link below the folder that git was run in. */
export interface TreeEntry {
  /** Path relative to that folder, with `/`. */
  readonly path: string;
  readonly kind: 'file' | 'link';
  readonly oid: string;
  readonly size: number;
}

/** More files than this are not a project of campaigns. */
const MAX_ENTRIES = 50_000;

/**
 * The files of a commit below the folder in which git is run. Submodules are left out, as is what no project keeps
 * its campaigns in (`node_modules`). Paths are checked: a commit that was made by hand can hold any name.
 *
 * @throws HandbillError exit 2: `unknown-revision` where the commit cannot be listed, `file-too-large`
 */
export async function listTree(place: GitPlace, commit: string): Promise<readonly TreeEntry[]> {
  const { status, stdout } = await runGit(place, ['ls-tree', '-r', '-z', '--long', '--end-of-options', commit]);
  if (status !== 0) throw unlisted(commit);
  const entries: TreeEntry[] = [];
  for (const record of stdout.split('\0')) {
    const [, mode = '', type, oid = '', size = '', path = ''] =
      /^(\d{6}) (\w+) ([0-9a-f]{40,64}) +(\d+|-|BAD)\t(.*)$/s.exec(record) ?? [];
    if (type !== 'blob' || !isHarmless(path)) continue;
    // What git cannot read is not the same as what is not there.
    if (!/^\d/.test(size)) throw unlisted(commit);
    entries.push({ path, kind: mode === '120000' ? 'link' : 'file', oid, size: Number(size) });
    if (entries.length > MAX_ENTRIES) {
      const message = `The project holds more than ${MAX_ENTRIES} files in git.`;
      const hint = 'Put a handbill.yaml into the folder of the campaigns: that is then the project.';
      throw refuse(problem('file-too-large', message, { hint }));
    }
  }
  return entries;
}

function unlisted(commit: string): Error {
  const hint = 'This is a partial or damaged clone: fetch what is missing first, or use a full clone.';
  return refuse(problem('unknown-revision', `git cannot list the files of ${commit.slice(0, 12)}.`, { hint }));
}

function isHarmless(path: string): boolean {
  const parts = path.split('/');
  return parts.every(
    (part) => part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git' && part !== 'node_modules',
  );
}

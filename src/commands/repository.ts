import { lstat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { isInside } from '../util/paths.ts';

/** A file as its repository knows it: a path with `/` from its root, or null where the file lies outside. */
export type RepositoryPath = (file: string) => string | null;

/**
 * What CI systems show beside a change are files by their path from the root of the repository, wherever in it a command
 * was given. Outside of a repository, paths are from `cwd`.
 *
 * @param cwd - real path, from which files are named
 */
export async function repositoryPaths(cwd: string): Promise<RepositoryPath> {
  const root = (await rootAbove(cwd)) ?? cwd;
  return (file) => {
    const path = resolve(cwd, file);
    return path !== root && isInside(root, path) ? relative(root, path).split(sep).join('/') : null;
  };
}

/** The nearest folder with a `.git`, which in a worktree or a submodule is a file. */
async function rootAbove(folder: string): Promise<string | null> {
  if (await lstat(join(folder, '.git')).then(always, never)) return folder;
  return dirname(folder) === folder ? null : await rootAbove(dirname(folder));
}

const always = () => true;
const never = () => false;

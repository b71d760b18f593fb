import { relative, resolve, sep } from 'node:path';
import { repositoryOf } from '../../campaign/place.ts';
import { isInside } from '../../util/paths.ts';

/** A file as its repository knows it: a path with `/` from its root, or null where the file lies outside. */
export type RepositoryPath = (file: string) => string | null;

/**
 * What CI systems show beside a change are files by their path from the root of the repository, wherever in it a command
 * was given. Outside of a repository, paths are from `cwd`.
 *
 * @param cwd - real path, from which files are named
 */
export async function repositoryPaths(cwd: string): Promise<RepositoryPath> {
  const root = (await repositoryOf(cwd)) ?? cwd;
  return (file) => {
    const path = resolve(cwd, file);
    return path !== root && isInside(root, path) ? relative(root, path).split(sep).join('/') : null;
  };
}

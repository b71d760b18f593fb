import { copyFile, mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fromRoot } from '../campaign/project.ts';
import { MAX_YAML_BYTES, readYaml } from '../campaign/yaml.ts';
import { valueAt } from '../util/json.ts';
import { isInside, readSmallFile } from '../util/paths.ts';
import type { Placed, Side } from './side.ts';

/**
 * Copies into an older side what its campaign needs and git does not hold, from the work tree: suppression lists, which
 * hold personal data, and prices. Without them the side could not be read at all.
 *
 * @returns a sentence for each file
 */
export async function lendFiles({ side, file }: Placed, workTree: Side): Promise<readonly string[]> {
  if (side.root === workTree.root) return [];
  const needed = [
    ...(await namesIn(file.path, ['/suppressions'])),
    ...(side.place.file === null
      ? []
      : await namesIn(side.place.file, ['/suppressions', '/prices', '/defaults/suppressions'])),
  ];
  const notes: string[] = [];
  for (const path of new Set(needed)) {
    if (!isInside(side.root, path) || (await isRegular(path))) continue;
    const own = join(workTree.root, relative(side.root, path));
    const real = await realpath(own).catch(() => null);
    if (real === null || !isInside(workTree.root, real) || !(await isRegular(real))) continue;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await copyFile(real, path);
    notes.push(`${fromRoot(side.root, path)} is not in git: both sides are read with that of the work tree.`);
  }
  return notes;
}

/** The files that a YAML file names at some of its keys, alone or in a list. */
async function namesIn(yamlPath: string, pointers: readonly string[]): Promise<readonly string[]> {
  const read = await readSmallFile(yamlPath, MAX_YAML_BYTES);
  const value = 'fault' in read ? null : readYaml(read.bytes, yamlPath).yaml?.value;
  const names = pointers.flatMap((pointer) => [valueAt(value, pointer)].flat());
  return names.flatMap((name) =>
    typeof name === 'string' && name !== '' && !name.includes('\0') ? [resolve(dirname(yamlPath), name)] : [],
  );
}

async function isRegular(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

import type { Stats } from 'node:fs';
import { lstat, mkdir, rmdir, unlink } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { type Diagnostic, problem, refuse } from '../errors.ts';
import { DISK_FAULTS } from '../util/disk-faults.ts';
import { createOutput } from '../util/output-file.ts';
import { displayPath } from '../util/paths.ts';

/** What stands where new files would go. */
export interface Standing {
  /** Files that are there already, by their path below the root; links and folders of such a name too. */
  readonly existing: readonly string[];
  /** What no file can be put into: a link, or a file where a folder is needed. */
  readonly faults: readonly Diagnostic[];
}

/**
 * Looks at where files would go, and changes nothing. No link is followed: what somebody else put there would decide
 * where the files end up (SECURITY S25).
 *
 * @param root absolute; need not exist
 * @param paths below the root, with `/`
 */
export async function lookAround(root: string, paths: Iterable<string>, cwd: string): Promise<Standing> {
  const existing: string[] = [];
  const faults: Diagnostic[] = [];
  const folders = new Set<string>();
  for (const path of paths) {
    if ((await factsOf(join(root, path))) !== null) existing.push(path);
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) folders.add(folder);
  }
  for (const folder of ['', ...folders]) {
    const facts = await factsOf(join(root, folder));
    if (facts === null || facts.isDirectory()) continue;
    const what = facts.isSymbolicLink() ? 'a link, which handbill does not follow' : 'not a folder';
    const name = displayPath(join(root, folder), cwd);
    faults.push(problem('output-exists', `${name} is ${what}.`, { hint: 'Name another folder.' }));
  }
  return { existing, faults };
}

/**
 * Makes files, and the folders that they need. Nothing that exists is touched; should a file fail, those that were made
 * before it are taken away again.
 *
 * @throws HandbillError exit 2, `output-exists`
 */
export async function makeFiles(root: string, files: ReadonlyMap<string, string>): Promise<void> {
  const undo: (() => Promise<void>)[] = [];
  try {
    for (const [path, text] of files) {
      const file = join(root, path);
      await makeFolders(dirname(file), undo);
      await createOutput(file, text);
      undo.push(() => unlink(file));
    }
  } catch (error) {
    for (const step of undo.toReversed()) await step().catch(() => undefined);
    throw error;
  }
}

async function makeFolders(folder: string, undo: (() => Promise<void>)[]): Promise<void> {
  if (folder === parse(folder).root || (await factsOf(folder))?.isDirectory() === true) return;
  await makeFolders(dirname(folder), undo);
  try {
    await mkdir(folder);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    // Somebody made it meanwhile. A link in its place would lead the files elsewhere.
    if (code === 'EEXIST' && (await factsOf(folder))?.isDirectory() === true) return;
    const why = code === 'EEXIST' ? 'a link or a file lies in its place' : (DISK_FAULTS[code] ?? code);
    throw refuse(problem('output-exists', `The folder ${folder} cannot be made: ${why}.`));
  }
  undo.push(() => rmdir(folder));
}

async function factsOf(path: string): Promise<Stats | null> {
  return await lstat(path).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw refuse(problem('output-exists', `${path} cannot be looked at: ${DISK_FAULTS[code] ?? code}.`));
  });
}

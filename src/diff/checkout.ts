import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, realpath, symlink, unlink } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { isInside } from '../util/paths.ts';
import { readBlobs } from './blobs.ts';
import type { GitPlace } from './git.ts';
import { listTree, type TreeEntry } from './tree.ts';

/** Files up to this size are taken whatever they are; larger ones only where a YAML file names them. */
const SMALL_BYTES = 1024 * 1024;
/** A list of handbill is no larger. */
const MAX_BYTES = 4 * 1024 ** 3;
/** All small files together: what is above is left out, as if it were not there. */
const MAX_SMALL_TOTAL = 512 * 1024 * 1024;

/**
 * Writes the files of a commit below the folder of `place` into `into`, as git holds them. An empty `.git` marks the
 * top, so that nothing looks for a project further up.
 *
 * @param into - an empty folder that nobody else can write to
 */
export async function checkout(place: GitPlace, commit: string, into: string): Promise<void> {
  await mkdir(join(into, '.git'), { mode: 0o700 });
  const entries = await listTree(place, commit);
  const small: TreeEntry[] = [];
  let total = 0;
  for (const entry of entries) {
    if (entry.kind !== 'file' || entry.size > SMALL_BYTES) continue;
    total += entry.size;
    if (total <= MAX_SMALL_TOTAL) small.push(entry);
  }
  await writeFiles(place, small, into);
  const named = await namesIn(small, into);
  const large = entries.filter(({ kind, size }) => kind === 'file' && size > SMALL_BYTES && size <= MAX_BYTES);
  await writeFiles(
    place,
    large.filter(({ path }) => named(basename(path))),
    into,
  );
  await writeLinks(place, entries, into);
}

/** Says whether any of the YAML files names a file. */
async function namesIn(entries: readonly TreeEntry[], into: string): Promise<(name: string) => boolean> {
  const yaml = entries.filter(({ path }) => /\.ya?ml$/i.test(path));
  // A file whose name could not be had is not there.
  const texts = await Promise.all(yaml.map(({ path }) => readFile(join(into, path), 'utf8').catch(() => '')));
  return (name) => texts.some((text) => text.includes(name) || text.normalize('NFC').includes(name.normalize('NFC')));
}

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

async function writeFiles(place: GitPlace, entries: readonly TreeEntry[], into: string): Promise<void> {
  const oids = entries.map(({ oid }) => oid);
  await readBlobs(place, oids, async (index) => {
    const handle = await newFile(join(into, entries[index]?.path ?? ''));
    return { write: async (piece) => handle?.writeFile(piece), close: async () => handle?.close() };
  });
}

/** Null where the name cannot be had: too long, or one of two that a tree made by hand, or this disk, cannot hold. */
async function newFile(path: string): Promise<FileHandle | null> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return await open(path, NEW_FILE, 0o600);
  } catch (error) {
    if (UNNAMEABLE.has(String((error as NodeJS.ErrnoException).code))) return null;
    throw error;
  }
}

const UNNAMEABLE: ReadonlySet<string> = new Set(['EEXIST', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG', 'EILSEQ', 'EINVAL']);

/**
 * Links come last, so that no file is written through one, and only those are kept that really lead to something
 * inside: a link to a link can leave the folder although neither seems to.
 */
async function writeLinks(place: GitPlace, entries: readonly TreeEntry[], into: string): Promise<void> {
  const links = entries.filter(({ kind, size }) => kind === 'link' && size > 0 && size <= 1024);
  const targets = links.map(() => '');
  const oids = links.map(({ oid }) => oid);
  await readBlobs(place, oids, async (index) => ({
    write: async (piece) => {
      targets[index] += piece.toString('utf8');
    },
    close: async () => undefined,
  }));
  const made: string[] = [];
  for (const [index, entry] of links.entries()) {
    const path = join(into, entry.path);
    const target = targets[index] ?? '';
    if (isAbsolute(target) || target.includes('\0') || !isInside(into, resolve(dirname(path), target))) continue;
    // No link stands below another one in a tree that git made.
    if (made.some((link) => path.startsWith(`${link}/`))) continue;
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await symlink(target, path);
      made.push(path);
    } catch (error) {
      if (!UNNAMEABLE.has(String((error as NodeJS.ErrnoException).code))) throw error;
    }
  }
  for (const path of made) {
    const real = await realpath(path).catch(() => null);
    if (real === null || !isInside(into, real)) await unlink(path);
  }
}

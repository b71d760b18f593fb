import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, realpath, symlink, unlink } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { problem, refuse } from '../errors.ts';
import { type GitPlace, repositoryOf, runGit, streamGit } from '../util/git.ts';
import { isInside } from '../util/paths.ts';

/** Always reads files up to this size; larger ones only if a YAML file names them. */
const SMALL_BYTES = 1024 * 1024;
const MAX_BYTES = 4 * 1024 ** 3;
/** All small files together; files beyond the limit are treated as missing. */
const MAX_SMALL_TOTAL = 512 * 1024 * 1024;

/**
 * Writes a commit's files below the folder of `place`. An empty `.git` stops searches for a project further up.
 * @param into - an empty folder that no other user can write to
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

async function namesIn(entries: readonly TreeEntry[], into: string): Promise<(name: string) => boolean> {
  const yaml = entries.filter(({ path }) => /\.ya?ml$/i.test(path));
  // A file whose name is not possible here was not written.
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

/** Null if the name is not possible: too long, below a file, or equal to another one for this disk. */
export async function newFile(path: string): Promise<FileHandle | null> {
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
 * Links come last, so that no file is written through one. Keeps only links whose real target is inside: a link to a
 * link can leave the folder although neither seems to.
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
    // In a tree that git made, no link is below another one.
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

interface TreeEntry {
  /** Path relative to that folder, with `/`. */
  readonly path: string;
  readonly kind: 'file' | 'link';
  readonly oid: string;
  readonly size: number;
}

/** A folder with more files is not a project of campaigns. */
const MAX_ENTRIES = 50_000;

/**
 * The files of a commit below the folder of `place`, without submodules and folders that never contain campaigns
 * (`node_modules`). Checks paths: a commit that was made by hand can contain any name.
 * @throws HandbillError exit 2: `unknown-revision` if the commit cannot be listed, `file-too-large`
 */
async function listTree(place: GitPlace, commit: string): Promise<readonly TreeEntry[]> {
  const top = repositoryOf(place.folder) ?? place.folder;
  const folder = top === place.folder ? '' : `${relative(top, place.folder).split(sep).join('/')}/`;
  const args = ['ls-tree', '-r', '-z', '--long', '--end-of-options', commit, ...(folder === '' ? [] : [folder])];
  const { status, stdout } = await runGit(place, args);
  if (status !== 0) throw partial('cannot list the files of', commit);
  const entries: TreeEntry[] = [];
  for (const record of stdout.split('\0')) {
    const [, mode = '', type, oid = '', size = '', full = ''] =
      /^(\d{6}) (\w+) ([0-9a-f]{40,64}) +(\d+|-|BAD)\t(.*)$/s.exec(record) ?? [];
    const path = full.slice(folder.length);
    if (type !== 'blob' || !isHarmless(path)) continue;
    // A file that git cannot read is not the same as a missing one.
    if (!/^\d/.test(size)) throw partial('cannot list the files of', commit);
    entries.push({ path, kind: mode === '120000' ? 'link' : 'file', oid, size: Number(size) });
    if (entries.length > MAX_ENTRIES) {
      const message = `The project holds more than ${MAX_ENTRIES} files in git.`;
      const hint = 'Put a handbill.yaml into the folder of the campaigns: that is then the project.';
      throw refuse(problem('file-too-large', message, { hint }));
    }
  }
  return entries;
}

function isHarmless(path: string): boolean {
  const parts = path.split('/');
  return parts.every(
    (part) => part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git' && part !== 'node_modules',
  );
}

type Sink = (piece: Buffer) => Promise<void>;

/**
 * Reads objects as git holds them: no filter, no textconv, no conversion of line ends. Calls `open` for each in order,
 * and `close` when it is complete.
 * @throws HandbillError exit 2, `unknown-revision`, where an object is missing (a partial clone)
 */
async function readBlobs(
  place: GitPlace,
  oids: readonly string[],
  open: (index: number) => Promise<{ readonly write: Sink; readonly close: () => Promise<void> }>,
): Promise<void> {
  if (oids.length === 0) return;
  const { stdout, done } = await streamGit(place, ['cat-file', '--batch'], `${oids.join('\n')}\n`);
  const reader = createReader(stdout);
  // The code below throws errors of the process; until then nothing else listens.
  done.catch(() => undefined);
  try {
    for (const [index, oid] of oids.entries()) {
      const head = await reader.line();
      const size = new RegExp(`^${oid} blob (\\d+)$`).exec(head ?? '')?.[1];
      if (size === undefined) throw partial(UNREAD, oid);
      const { write, close } = await open(index);
      try {
        await reader.bytes(Number(size), write, oid);
      } finally {
        await close();
      }
      await reader.bytes(1, async () => undefined, oid);
    }
    await done;
  } finally {
    stdout.destroy();
  }
}

function createReader(stream: Readable) {
  const pieces = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let rest: Buffer = Buffer.alloc(0);
  const more = async (): Promise<boolean> => {
    const next = await pieces.next();
    if (next.done === true) return false;
    rest = rest.length === 0 ? next.value : Buffer.concat([rest, next.value]);
    return true;
  };
  return {
    async line(): Promise<string | null> {
      for (let end = rest.indexOf(0x0a); ; end = rest.indexOf(0x0a)) {
        if (end !== -1) {
          const line = rest.toString('latin1', 0, end);
          rest = rest.subarray(end + 1);
          return line;
        }
        if (rest.length > 1000 || !(await more())) return null;
      }
    },
    async bytes(count: number, write: Sink, oid: string): Promise<void> {
      for (let left = count; left > 0; ) {
        if (rest.length === 0 && !(await more())) throw partial(UNREAD, oid);
        const piece = rest.subarray(0, left);
        rest = rest.subarray(piece.length);
        left -= piece.length;
        await write(piece);
      }
    },
  };
}

const UNREAD = 'could not read the object';

function partial(what: string, id: string): Error {
  const hint = 'This is a partial or damaged clone: fetch what is missing first, or use a full clone.';
  return refuse(problem('unknown-revision', `git ${what} ${id.slice(0, 12)}.`, { hint }));
}

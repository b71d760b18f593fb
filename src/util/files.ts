import { hash, randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { type FileHandle, lstat, mkdtemp, open, readdir, realpath, rename, rm, stat, unlink } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { type Code, type HandbillError, problem, refuse, thrownText } from '../errors.ts';
import { grants } from './platform.ts';

/** Faults of a disk when something is written, by the system's code: the end of a sentence. */
export const DISK_FAULTS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EIO: 'the disk reports an error',
};

/** Text is gathered to blocks of this many characters, because a row of a report is much smaller than a good write. */
const BLOCK = 64 * 1024;

/**
 * All or nothing: writes a new file (mode 0600 by default) in the same folder, which then takes the target's name. Refuses to
 * replace a database, which may be the ledger, and a link, a folder or a device, which another user may have put there.
 *
 * @returns the size of the file, in bytes
 * @throws HandbillError exit 2: `output-exists`, `file-not-found` without the folder; errors of the source of the text
 */
export async function writeOutput(
  path: string,
  chunks: AsyncIterable<string> | Iterable<string>,
  { mode = 0o600 }: { readonly mode?: number } = {},
): Promise<number> {
  const refusing = refusingAt(path);
  await checkFolder(dirname(path), path);
  await checkTarget(path);
  const temporary = join(dirname(path), `.handbill-${randomUUID()}.tmp`);
  const handle = await refusing(open(temporary, NEW_FILE, mode));
  try {
    const bytes = await writeAll(handle, chunks, refusing);
    await refusing(handle.sync());
    await refusing(handle.close());
    // Once more, because writing may have taken long. A link made after this is replaced itself, never followed.
    await checkTarget(path);
    await refusing(rename(temporary, path));
    return bytes;
  } catch (error) {
    await handle.close().catch(() => undefined);
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

/** With the mode of an editor: it holds nothing personal. Never replaces a file; throws as `writeOutput`. */
export async function createOutput(path: string, text: string): Promise<void> {
  const refusing = refusingAt(path);
  const handle = await refusing(open(path, NEW_FILE, 0o666));
  try {
    await refusing(handle.writeFile(text));
    await refusing(handle.close());
  } catch (error) {
    await handle.close().catch(() => undefined);
    await unlink(path).catch(() => undefined);
    throw error;
  }
}

/** Turns a fault of the disk into the refusal that names the file. */
function refusingAt(path: string) {
  return <T>(step: Promise<T>) =>
    step.catch((error: unknown): never => {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      const reason = REASONS[code] ?? thrownText(error);
      throw refusal('output-exists', `${path} could not be written: ${reason}.`, 'Name another file with -o.');
    });
}

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

async function writeAll(
  handle: FileHandle,
  chunks: AsyncIterable<string> | Iterable<string>,
  refusing: ReturnType<typeof refusingAt>,
): Promise<number> {
  let bytes = 0;
  let block = '';
  const flush = async () => {
    await refusing(handle.writeFile(block));
    bytes += Buffer.byteLength(block);
    block = '';
  };
  for await (const chunk of chunks) {
    block += chunk;
    if (block.length >= BLOCK) await flush();
  }
  await flush();
  return bytes;
}

async function checkFolder(folder: string, path: string): Promise<void> {
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory() === true) return;
  const what = found === null ? 'does not exist' : 'is not a folder';
  throw refusal(
    'file-not-found',
    `${path} cannot be written: ${folder} ${what}.`,
    'Create the folder, or name another.',
  );
}

async function checkTarget(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found === null || (found.isFile() && !isDatabaseFile(path))) return;
  const what = found.isFile()
    ? 'a database, such as a ledger'
    : found.isSymbolicLink()
      ? 'a link'
      : found.isDirectory()
        ? 'a folder'
        : 'not a regular file';
  throw refusal(
    'output-exists',
    `${path} is ${what}, which handbill does not write to.`,
    'Name another file, or remove it first.',
  );
}

function refusal(code: Code, message: string, hint: string): HandbillError {
  return refuse(problem(code, message, { hint }));
}

const REASONS: Readonly<Record<string, string>> = {
  ...DISK_FAULTS,
  ENAMETOOLONG: 'the name is too long',
  EEXIST: 'it exists by now',
};

/**
 * Whether an SQLite database, or its log, is at a path; an unreadable file counts as none. Not for a database that this
 * process has open: closing a file releases the locks that SQLite holds on it.
 */
export function isDatabaseFile(path: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    return false;
  }
  try {
    const start = Buffer.alloc(16);
    const length = readSync(fd, start, 0, start.length, 0);
    return length === start.length && (start.equals(DATABASE) || LOGS.has(start.readUInt32BE(0)));
  } catch {
    return false;
  } finally {
    closeSync(fd);
  }
}

/** https://www.sqlite.org/fileformat2.html */
const DATABASE = Buffer.from('SQLite format 3\0');
const LOGS: ReadonlySet<number> = new Set([0x377f0682, 0x377f0683]);

/** A folder that only this user can read (0700), in the folder for temporary files. */
export type TemporaryFolder = { readonly root: string; remove(): Promise<void> };

/** Also removes folders of killed processes. Throws HandbillError (exit 2) where it cannot make one. */
export async function makeTemporaryFolder(prefix: string): Promise<TemporaryFolder> {
  const folder = tmpdir();
  // Other machines and containers may use the same folder, and have the same ids for other processes.
  const { ino: namespace } = await stat('/proc/self/ns/pid').catch(() => ({ ino: NO_NAMESPACE }));
  const owner = `.${hash('sha256', `${hostname()} ${namespace}`).slice(0, 12)}.`;
  await removeLeft(folder, owner);
  const made = await mkdtemp(join(folder, `${prefix}${process.pid}${owner}`)).catch((error: unknown) => {
    throw temporaryFault(error, folder);
  });
  const root = await realpath(made);
  return { root, remove: () => rm(root, { recursive: true, force: true }) };
}

/** Where it cannot be told which container this is, no folder is taken for one of its processes. */
const NO_NAMESPACE = process.platform === 'linux' ? randomUUID() : 0;

async function removeLeft(parent: string, owner: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const [, pid] = /^handbill-[a-z]+-(\d+)\./.exec(name) ?? [];
    if (pid === undefined || !name.includes(owner) || isRunning(Number(pid))) continue;
    const path = join(parent, name);
    const facts = await lstat(path).catch(() => null);
    // No other user can put links there while it is removed.
    const isOwn = facts?.isDirectory() === true && facts.uid === process.geteuid?.() && !grants(facts.mode, 0o077);
    if (isOwn) await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Reports a fault of the disk with what to do, and not as a bug; returns other errors unchanged. */
export function temporaryFault(error: unknown, folder: string): unknown {
  const { code = '', path = folder } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  if (!path.startsWith(folder)) return error;
  const reason = Object.hasOwn(FOLDER_REASONS, code) ? FOLDER_REASONS[code] : undefined;
  if (reason === undefined) return error;
  const message = `The folder for temporary files (${tmpdir()}) cannot be written to: ${reason}.`;
  return refuse(problem('output-exists', message, { hint: 'Make room there, or name another one in TMPDIR.' }));
}

const FOLDER_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'it is not a folder',
  ...DISK_FAULTS,
};

/** Changes when files are written or replaced: device, inode, size, time. A missing file is one more state. */
export async function fileStamp(paths: readonly string[]): Promise<string> {
  const stamps = paths.map(async (path) => {
    try {
      const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
      return `${dev} ${ino} ${size} ${mtimeNs}`;
    } catch {
      return '';
    }
  });
  return (await Promise.all(stamps)).join('\n');
}

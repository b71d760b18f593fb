import { constants } from 'node:fs';
import { access, type FileHandle, open, readdir, realpath, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, relative, resolve, sep, win32 } from 'node:path';
import { type Code, problem, refuse } from '../errors.ts';
import { didYouMean } from './suggest.ts';

/** Why a path cannot be used; the place where it was written is the caller's to add. */
export interface PathFault {
  readonly code: Code;
  readonly message: string;
  readonly hint?: string;
}

/** A real path, free of links, or why it cannot be found. */
type FoundPath = { readonly path: string } | { readonly fault: PathFault };

/**
 * Finds a regular file named in a campaign or project file. The path is relative to `folder`, and the file must really
 * be inside `root`: no absolute path, no `..` that leaves it, no link that does. Nothing outside `root` is touched
 * before the spelling of the path is known to stay inside, so that a path cannot be used to find out what exists there.
 *
 * @param root - real path of the project
 * @param folder - real path of the folder of the file in which the path is written, inside `root`
 * @param written - the path as written, with `/`
 */
export async function findFileInside(root: string, folder: string, written: string): Promise<FoundPath> {
  const found = await findInside(root, folder, written);
  if ('fault' in found) return found;
  const fault = await regularFileFault(found.path, written);
  return fault === null ? found : { fault };
}

/**
 * Finds a list that a campaign names: inside the project, or inside one of the folders that the process allows beside it
 * (HANDBILL_LISTS). Nothing elsewhere is touched, and no link leads out of these folders.
 */
export async function findListFile(
  root: string,
  folder: string,
  written: string,
  allowed: readonly string[],
): Promise<FoundPath> {
  const own = await findFileInside(root, folder, written);
  if ('path' in own || own.fault.code !== 'path-outside-project') return own;
  // Spellings that mean different places on different systems stay refused.
  if (/[\0\\]|^[A-Za-z]:/.test(written)) return own;
  const path = resolve(folder, written);
  const roots = await Promise.all(allowed.map((one) => realpath(one).catch(() => resolve(one))));
  if (![root, ...roots, ...allowed].some((one) => isInside(one, path))) return notAllowed(own, allowed);
  let real: string;
  try {
    real = await realpath(path);
  } catch (error) {
    return { fault: await missingFault(error, path, written) };
  }
  if (!roots.some((one) => isInside(one, real))) return notAllowed(own, allowed);
  const fault = await regularFileFault(real, written);
  return fault === null ? { path: real } : { fault };
}

function notAllowed({ fault }: { readonly fault: PathFault }, allowed: readonly string[]): FoundPath {
  const known = allowed.length === 0 ? 'It is not set.' : `It names ${allowed.join(', ')}.`;
  const hint = `A list elsewhere: pass it with --recipients FILE, or allow its folder with the variable HANDBILL_LISTS. ${known}`;
  return { fault: { ...fault, hint } };
}

/**
 * The folders that HANDBILL_LISTS of the process names, one after another as in PATH.
 * @returns the folders, or one that is not absolute
 */
export function listFolders(
  env: Readonly<Record<string, string | undefined>>,
): string[] | { readonly relative: string } {
  const folders = (env['HANDBILL_LISTS'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const wrong = folders.find((folder) => !isAbsolute(folder));
  return wrong === undefined ? folders : { relative: wrong };
}

/** As `findFileInside`, for a folder. */
export async function findFolderInside(root: string, folder: string, written: string): Promise<FoundPath> {
  const found = await findInside(root, folder, written);
  if ('fault' in found) return found;
  try {
    if ((await stat(found.path)).isDirectory()) return found;
  } catch (error) {
    return { fault: systemFault(error, written) };
  }
  return { fault: { code: 'file-not-found', message: `"${shown(written)}" is not a folder.` } };
}

/**
 * Finds a regular file that the user named on the command line: it may be anywhere, but must not be a device or pipe.
 */
export async function findFileAnywhere(cwd: string, written: string): Promise<FoundPath> {
  if (written === '' || written.includes('\0')) return { fault: spellingFault(written) };
  const path = resolve(cwd, written);
  let real: string;
  try {
    real = await realpath(path);
  } catch (error) {
    return { fault: await missingFault(error, path, written) };
  }
  const fault = await regularFileFault(real, written);
  return fault === null ? { path: real } : { fault };
}

/**
 * The place inside `root` for a file that need not exist yet (a ledger): its folder by its real path, with the name as
 * written. The last part is not resolved, so that the code that opens it can still see a link.
 */
export async function placeInside(root: string, folder: string, written: string): Promise<FoundPath> {
  const fault = checkSpelling(root, folder, written);
  if (fault !== null) return { fault };
  const path = await realPlace(resolve(folder, written));
  return isInside(root, path) ? { path } : { fault: outside(written) };
}

/** The path with all links in its folders resolved, as far as the folders exist. */
export async function realPlace(path: string): Promise<string> {
  const folder = dirname(path);
  if (folder === path) return path;
  let real: string;
  try {
    real = await realpath(folder);
  } catch {
    real = await realPlace(folder);
  }
  return resolve(real, relative(folder, path));
}

/**
 * Reads a whole file of at most `maxBytes`. Opened non-blocking (a pipe in its place would block without end) and
 * without following a link. Checked again by its open handle, because it may have been replaced since it was found.
 */
export async function readSmallFile(
  path: string,
  maxBytes: number,
  written = path,
): Promise<{ readonly bytes: Uint8Array } | { readonly fault: PathFault }> {
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    return { fault: systemFault(error, written) };
  }
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) return { fault: notRegular(written) };
    if (stats.size > maxBytes) return { fault: tooLarge(written, maxBytes) };
    // One byte more than expected tells whether there is more; files of /proc report a size of 0.
    const buffer = Buffer.allocUnsafe((stats.size === 0 ? maxBytes : stats.size) + 1);
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    if (length > maxBytes) return { fault: tooLarge(written, maxBytes) };
    if (length === buffer.length) return { fault: grew(written) };
    return { bytes: Uint8Array.from(buffer.subarray(0, length)) };
  } catch (error) {
    return { fault: systemFault(error, written) };
  } finally {
    await handle.close();
  }
}

/**
 * The bytes of a file that the user named on the command line.
 *
 * @throws HandbillError exit 2: there is no such file, it cannot be read, or it has more than `maxBytes`
 */
export async function readNamedFile(cwd: string, written: string, maxBytes: number): Promise<Uint8Array> {
  const found = await findFileAnywhere(cwd, written);
  const read = 'fault' in found ? found : await readSmallFile(found.path, maxBytes, written);
  if ('bytes' in read) return read.bytes;
  const { code, message, hint } = read.fault;
  throw refuse(problem(code, message, { at: { file: written }, ...(hint === undefined ? {} : { hint }) }));
}

/** Is `path` the folder `root` or inside it? Both absolute and without links. */
export function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** The path as the user would name it from `cwd`: relative or absolute, whichever is shorter; always with `/`. */
export function displayPath(path: string, cwd: string): string {
  const near = relative(cwd, path);
  const shorter = near !== '' && near.length <= path.length ? near : path;
  return sep === '/' ? shorter : shorter.replaceAll(sep, '/');
}

async function findInside(root: string, folder: string, written: string): Promise<FoundPath> {
  const fault = checkSpelling(root, folder, written);
  if (fault !== null) return { fault };
  const path = resolve(folder, written);
  let real: string;
  try {
    real = await realpath(path);
  } catch (error) {
    return { fault: await missingFault(error, path, written) };
  }
  if (!isInside(root, real)) return { fault: outside(written) };
  if (differsInCaseOnly(path, real)) {
    const hint = `It is spelt "${real.slice(-written.length)}"; other systems tell the two apart.`;
    return { fault: { code: 'file-not-found', message: `The file "${shown(written)}" does not exist.`, hint } };
  }
  return { path: real };
}

/** What can be said of a path without touching the disk. */
function checkSpelling(root: string, folder: string, written: string): PathFault | null {
  if (written === '' || written.includes('\0')) return spellingFault(written);
  if (written.includes('\\')) {
    return { ...outside(written), message: `"${shown(written)}" holds a backslash.`, hint: 'Write paths with /.' };
  }
  if (isAbsolute(written) || win32.isAbsolute(written) || /^[A-Za-z]:/.test(written)) {
    const hint = 'Write it relative to this file. A list that lies elsewhere is passed with --recipients FILE.';
    return { code: 'path-outside-project', message: `"${shown(written)}" is an absolute path.`, hint };
  }
  return isInside(root, resolve(folder, written)) ? null : outside(written);
}

/** On a file system that ignores case, `Hello.hbs` opens hello.hbs; on the next machine it does not. */
function differsInCaseOnly(path: string, real: string): boolean {
  return path !== real && path.toLowerCase() === real.toLowerCase();
}

async function regularFileFault(path: string, written: string): Promise<PathFault | null> {
  try {
    // stat does not open: a pipe without a writer does not block here.
    if (!(await stat(path)).isFile()) return notRegular(written);
    await access(path, constants.R_OK);
    return null;
  } catch (error) {
    return systemFault(error, written);
  }
}

async function missingFault(error: unknown, path: string, written: string): Promise<PathFault> {
  const fault = systemFault(error, written);
  if (fault.code !== 'file-not-found') return fault;
  const folder = dirname(path);
  try {
    const names = (await readdir(folder)).slice(0, MAX_CANDIDATES);
    if (names.includes(basename(path))) return { ...fault, hint: 'It is a link to a file that does not exist.' };
    const parent = written.slice(0, written.lastIndexOf('/') + 1);
    return {
      ...fault,
      ...didYouMean(
        written.slice(0, MAX_SHOWN),
        names.map((name) => parent + name),
      ),
    };
  } catch {
    return { ...fault, hint: `The folder "${shown(dirname(written))}" does not exist either.` };
  }
}

function systemFault(error: unknown, written: string): PathFault {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  const name = `"${shown(written)}"`;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return { code: 'file-not-found', message: `The file ${name} does not exist.` };
    case 'ENXIO':
      return notRegular(written);
    case 'ELOOP':
      return {
        code: 'file-unreadable',
        message: `The link ${name} leads in a circle or was exchanged while being read.`,
      };
    case 'EACCES':
    case 'EPERM':
      return {
        code: 'file-unreadable',
        message: `The file ${name} cannot be read: permission denied.`,
        hint: 'Check who may read the file and its folders.',
      };
    default:
      return { code: 'file-unreadable', message: `The file ${name} cannot be read (${code}).` };
  }
}

function spellingFault(written: string): PathFault {
  return written === ''
    ? { code: 'file-not-found', message: 'The path is empty.' }
    : { code: 'path-outside-project', message: 'The path holds a NUL character.' };
}

function outside(written: string): PathFault {
  return {
    code: 'path-outside-project',
    message: `"${shown(written)}" leads out of the project.`,
    hint: 'Files of a campaign lie in its project: the folder of handbill.yaml, else of the git repository, else of the campaign.',
  };
}

function notRegular(written: string): PathFault {
  return {
    code: 'file-not-regular',
    message: `"${shown(written)}" is not a regular file.`,
    hint: 'Folders, pipes, sockets and devices cannot be read here.',
  };
}

function tooLarge(written: string, maxBytes: number): PathFault {
  const limit = maxBytes >= 1 << 20 ? `${maxBytes >> 20} MiB` : `${maxBytes >> 10} KiB`;
  return { code: 'file-too-large', message: `The file "${shown(written)}" is larger than ${limit}.` };
}

function grew(written: string): PathFault {
  const message = `The file "${shown(written)}" grew while it was read.`;
  return { code: 'file-unreadable', message, hint: 'Try again when it is complete.' };
}

function shown(written: string): string {
  return written.length <= MAX_SHOWN ? written : `${written.slice(0, MAX_SHOWN)}…`;
}

const MAX_SHOWN = 200;
const MAX_CANDIDATES = 1000;

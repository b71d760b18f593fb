import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, relative, resolve, sep, win32 } from 'node:path';
import { type Diagnostic, problem, refuse } from '../errors.ts';
import { didYouMean } from './suggest.ts';

/** A real path, free of links, or why it cannot be used; the caller adds the place where the path is written. */
type FoundPath = { readonly path: string } | { readonly fault: Diagnostic };

/**
 * Finds a regular file named in a campaign or project file, by its path from `folder`. It must really be inside `root`: no
 * absolute path, no `..` or link out of it. Checks the spelling before it touches the disk, so that a path cannot probe it.
 */
export function findFileInside(root: string, folder: string, written: string): FoundPath {
  return asRegularFile(findInside(root, folder, written), written);
}

/** Inside the project or a folder of HANDBILL_LISTS. Touches nothing elsewhere; no link leads out of these folders. */
export function findListFile(root: string, folder: string, written: string, allowed: readonly string[]): FoundPath {
  const own = findFileInside(root, folder, written);
  if ('path' in own || own.fault.code !== 'path-outside-project') return own;
  // Spellings that mean different places on different systems stay refused.
  if (/[\0\\]|^[A-Za-z]:/.test(written)) return own;
  const path = resolve(folder, written);
  const roots = allowed.map((one) => realPath(one) ?? resolve(one));
  if (![root, ...roots, ...allowed].some((one) => isInside(one, path))) return notAllowed(own, allowed);
  const found = realFile(path, written);
  if ('path' in found && !roots.some((one) => isInside(one, found.path))) return notAllowed(own, allowed);
  return asRegularFile(found, written);
}

function notAllowed({ fault }: { readonly fault: Diagnostic }, allowed: readonly string[]): FoundPath {
  const known = allowed.length === 0 ? 'It is not set.' : `It names ${allowed.join(', ')}.`;
  const hint = `A list elsewhere: pass it with --recipients FILE, or allow its folder with the variable HANDBILL_LISTS. ${known}`;
  return { fault: { ...fault, hint } };
}

/** Separated as in PATH. Returns the folders, or one that is not absolute. */
export function listFolders(
  env: Readonly<Record<string, string | undefined>>,
): string[] | { readonly relative: string } {
  const folders = (env['HANDBILL_LISTS'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const wrong = folders.find((folder) => !isAbsolute(folder));
  return wrong === undefined ? folders : { relative: wrong };
}

/** As `findFileInside`, for a folder. */
export function findFolderInside(root: string, folder: string, written: string): FoundPath {
  const found = findInside(root, folder, written);
  if ('fault' in found) return found;
  try {
    if (statSync(found.path).isDirectory()) return found;
  } catch (error) {
    return { fault: systemFault(error, written) };
  }
  return { fault: problem('file-not-found', `"${shown(written)}" is not a folder.`) };
}

/** For a file of the command line: it may be anywhere, but must not be a device or pipe. */
export function findFileAnywhere(cwd: string, written: string): FoundPath {
  if (written === '' || written.includes('\0')) return { fault: spellingFault(written) };
  return asRegularFile(realFile(resolve(cwd, written), written), written);
}

/** For a file that need not exist yet (a ledger). Resolves its folder only: who opens the file can still see a link. */
export function placeInside(root: string, folder: string, written: string): FoundPath {
  const fault = checkSpelling(root, folder, written);
  if (fault !== null) return { fault };
  const path = realPlace(resolve(folder, written));
  return isInside(root, path) ? { path } : { fault: outside(written) };
}

/** A folder and those above it, up to the root of the file system. */
export function foldersUp(folder: string): readonly string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersUp(above)];
}

/** True for a dangling link, too: reading it reports the fault. */
export function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** Free of links; null: nothing can be found there. */
export function realPath(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

/** The path with all links in its folders resolved, as far as the folders exist. */
export function realPlace(path: string): string {
  const folder = dirname(path);
  if (folder === path) return path;
  const real = realPath(folder) ?? realPlace(folder);
  return resolve(real, relative(folder, path));
}

export type SmallFile = { readonly bytes: Uint8Array } | { readonly fault: Diagnostic };

/** Opened non-blocking (a pipe would block) and without following a link; checked again by its open handle. */
export function readSmallFile(path: string, maxBytes: number, written = path): SmallFile {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    return { fault: systemFault(error, written) };
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return { fault: notRegular(written) };
    if (stats.size > maxBytes) return { fault: tooLarge(written, maxBytes) };
    // One byte more than expected tells whether there is more; files of /proc report a size of 0.
    const buffer = Buffer.allocUnsafe((stats.size === 0 ? maxBytes : stats.size) + 1);
    let length = 0;
    while (length < buffer.length) {
      const count = readSync(file, buffer, length, buffer.length - length, null);
      if (count === 0) break;
      length += count;
    }
    if (length > maxBytes) return { fault: tooLarge(written, maxBytes) };
    if (length === buffer.length) {
      const message = `The file "${shown(written)}" grew while it was read.`;
      return { fault: problem('file-unreadable', message, { hint: 'Try again when it is complete.' }) };
    }
    return { bytes: Uint8Array.from(buffer.subarray(0, length)) };
  } catch (error) {
    return { fault: systemFault(error, written) };
  } finally {
    closeSync(file);
  }
}

/** @throws HandbillError exit 2: there is no such file, it cannot be read, or it has more than `maxBytes` */
export function readNamedFile(cwd: string, written: string, maxBytes: number): Uint8Array {
  const found = findFileAnywhere(cwd, written);
  const read = 'fault' in found ? found : readSmallFile(found.path, maxBytes, written);
  if ('bytes' in read) return read.bytes;
  throw refuse({ ...read.fault, at: { file: written } });
}

/** Both absolute and without links. */
export function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** A path inside the project: from the root, with `/`. */
export function fromRoot(root: string, path: string): string {
  return relative(root, path).split(sep).join('/');
}

/** Relative or absolute, whichever is shorter; always with `/`. */
export function displayPath(path: string, cwd: string): string {
  const near = relative(cwd, path);
  const shorter = near !== '' && near.length <= path.length ? near : path;
  return sep === '/' ? shorter : shorter.replaceAll(sep, '/');
}

function findInside(root: string, folder: string, written: string): FoundPath {
  const fault = checkSpelling(root, folder, written);
  if (fault !== null) return { fault };
  const path = resolve(folder, written);
  const found = realFile(path, written);
  if ('fault' in found) return found;
  const real = found.path;
  if (!isInside(root, real)) return { fault: outside(written) };
  // On a file system that ignores case, `Hello.hbs` opens hello.hbs; on the next machine it does not.
  if (path !== real && path.toLowerCase() === real.toLowerCase()) {
    const hint = `It is spelt "${real.slice(-written.length)}"; other systems tell the two apart.`;
    return { fault: problem('file-not-found', `The file "${shown(written)}" does not exist.`, { hint }) };
  }
  return found;
}

function checkSpelling(root: string, folder: string, written: string): Diagnostic | null {
  if (written === '' || written.includes('\0')) return spellingFault(written);
  if (written.includes('\\')) {
    return { ...outside(written), message: `"${shown(written)}" holds a backslash.`, hint: 'Write paths with /.' };
  }
  if (isAbsolute(written) || win32.isAbsolute(written) || /^[A-Za-z]:/.test(written)) {
    const hint = 'Write it relative to this file. A list that lies elsewhere is passed with --recipients FILE.';
    return problem('path-outside-project', `"${shown(written)}" is an absolute path.`, { hint });
  }
  return isInside(root, resolve(folder, written)) ? null : outside(written);
}

function realFile(path: string, written: string): FoundPath {
  try {
    return { path: realpathSync.native(path) };
  } catch (error) {
    return { fault: missingFault(error, path, written) };
  }
}

function asRegularFile(found: FoundPath, written: string): FoundPath {
  if ('fault' in found) return found;
  try {
    // stat does not open: a pipe without a writer does not block here.
    if (!statSync(found.path).isFile()) return { fault: notRegular(written) };
    accessSync(found.path, constants.R_OK);
    return found;
  } catch (error) {
    return { fault: systemFault(error, written) };
  }
}

function missingFault(error: unknown, path: string, written: string): Diagnostic {
  const fault = systemFault(error, written);
  if (fault.code !== 'file-not-found') return fault;
  const folder = dirname(path);
  try {
    const names = readdirSync(folder).slice(0, MAX_CANDIDATES);
    if (names.includes(basename(path))) return { ...fault, hint: 'It is a link to a file that does not exist.' };
    const parent = written.slice(0, written.lastIndexOf('/') + 1);
    return {
      ...fault,
      ...didYouMean(
        written.slice(0, MAX_SHOWN),
        names.map((name) => parent + name),
      ),
      ...(/[*]/.test(written) ? { hint: 'Name one file: "*" is not a pattern here.' } : {}),
    };
  } catch {
    return { ...fault, hint: notAPath(written) ?? `The folder "${shown(dirname(written))}" does not exist either.` };
  }
}

/** A shell or another program would have replaced a part of it. */
function notAPath(written: string): string | undefined {
  if (/^\w+:\/\//.test(written)) return 'It must be a file: download it first.';
  if (/^(?:~|\$|%\w+%)/.test(written))
    return `"${/^(?:~|\$\w*|%\w+%)/.exec(written)?.[0]}" is not replaced here: write the path itself.`;
  return undefined;
}

function systemFault(error: unknown, written: string): Diagnostic {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  const name = `"${shown(written)}"`;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return problem('file-not-found', `The file ${name} does not exist.`);
    case 'ENXIO':
      return notRegular(written);
    case 'ELOOP':
      return problem('file-unreadable', `The link ${name} leads in a circle or was exchanged while being read.`);
    case 'EACCES':
    case 'EPERM': {
      const hint = 'Check who may read the file and its folders.';
      return problem('file-unreadable', `The file ${name} cannot be read: permission denied.`, { hint });
    }
    default:
      return problem('file-unreadable', `The file ${name} cannot be read (${code}).`);
  }
}

function spellingFault(written: string): Diagnostic {
  if (written === '') return problem('file-not-found', 'The path is empty.');
  return problem('path-outside-project', 'The path holds a NUL character.');
}

function outside(written: string): Diagnostic {
  const hint =
    'Files of a campaign lie in its project: the folder of handbill.yaml, else of the git repository, else of the campaign.';
  return problem('path-outside-project', `"${shown(written)}" leads out of the project.`, { hint });
}

function notRegular(written: string): Diagnostic {
  const hint = 'Folders, pipes, sockets and devices cannot be read here.';
  return problem('file-not-regular', `"${shown(written)}" is not a regular file.`, { hint });
}

function tooLarge(written: string, maxBytes: number): Diagnostic {
  const limit = maxBytes >= 1 << 20 ? `${maxBytes >> 20} MiB` : `${maxBytes >> 10} KiB`;
  return problem('file-too-large', `The file "${shown(written)}" is larger than ${limit}.`);
}

function shown(written: string): string {
  return written.length <= MAX_SHOWN ? written : `${written.slice(0, MAX_SHOWN)}…`;
}

const MAX_SHOWN = 200;
const MAX_CANDIDATES = 1000;

import { createHash, hash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { type Code, problem, refuse } from '../errors.ts';
import type { ListSpec } from '../model.ts';
import type { Meter } from '../util/long-work.ts';

const MAX_LIST_BYTES = 4 * 1024 ** 3;

/**
 * Opens the list once: all readers use this handle. Checks the path first, because opening a device can have an effect.
 * O_NONBLOCK keeps a pipe that was put there in between from blocking, and has no effect on files.
 * @throws HandbillError (exit 2): file-not-found, file-unreadable, file-not-regular, file-too-large
 */
export async function openListFile(spec: Pick<ListSpec, 'path' | 'file' | 'missing'>): Promise<FileHandle> {
  if (spec.missing !== undefined) throw refuse(spec.missing);
  check(spec.file, await stat(spec.path).catch((error: unknown) => failed(spec.file, error)));
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
  const handle = await open(spec.path, flags).catch((error: unknown) => failed(spec.file, error));
  try {
    check(spec.file, await handle.stat());
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function tooLarge(file: string): Error {
  const hint = 'Split it into several lists, with a campaign for each.';
  return refuse(problem('file-too-large', `The list ${file} is larger than 4 GiB.`, { at: { file }, hint }));
}

function check(file: string, stats: { isFile(): boolean; readonly size: number }): void {
  if (!stats.isFile()) {
    const message = `The list ${file} is not a regular file.`;
    throw refuse(problem('file-not-regular', message, { at: { file }, hint: 'Give the path of a CSV file.' }));
  }
  if (stats.size > MAX_LIST_BYTES) throw tooLarge(file);
}

function failed(file: string, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  const missing = code === 'ENOENT' || code === 'ENOTDIR';
  const reason: Code = missing ? 'file-not-found' : 'file-unreadable';
  const message = missing ? `The list ${file} does not exist.` : `The list ${file} cannot be read (${code}).`;
  const hint = missing ? 'Check `recipients.csv`, or name the list with --recipients.' : 'Check its permissions.';
  throw refuse(problem(reason, message, { at: { file }, hint }));
}

export interface ListDigest {
  /** SHA-256 of the whole file, in hex. */
  readonly sha256: string;
  readonly size: number;
  /** SHA-256 of each block of 1 MiB (the last one may be shorter), in hex. */
  readonly blocks: readonly string[];
}

export type BlockReader = ReturnType<typeof createBlockReader>;

export const BLOCK_BYTES = 1024 * 1024;

/**
 * Reads a file in blocks with digests. Throws before it returns a block that differs from `expected`.
 * @throws HandbillError (exit 2): input-changed, file-too-large, file-unreadable
 */
export function createBlockReader(handle: FileHandle, file: string, expected: ListDigest | null, meter?: Meter) {
  const buffer = Buffer.allocUnsafe(BLOCK_BYTES);
  const whole = createHash('sha256');
  const blocks: string[] = [];
  let size = 0;
  let result: ListDigest | null = null;

  async function next(): Promise<Buffer | null> {
    if (result !== null) return null;
    const block = buffer.subarray(0, await fill(handle, buffer).catch((error: unknown) => failed(file, error)));
    if (block.length === 0) return end();
    size += block.length;
    if (size > MAX_LIST_BYTES) throw tooLarge(file);
    const sha256 = hash('sha256', block, 'hex');
    if (expected !== null && expected.blocks[blocks.length] !== sha256) throw changed(file);
    blocks.push(sha256);
    if (meter !== undefined) meter.done = size;
    if (expected === null) whole.update(block);
    return block;
  }

  function end(): null {
    if (expected !== null && expected.size !== size) throw changed(file);
    result = expected ?? { sha256: whole.digest('hex'), size, blocks };
    return null;
  }

  function digest(): ListDigest {
    if (result === null) throw new Error('The digest of a list is known after its last row has been read.');
    return result;
  }

  return {
    /** Valid until the next call; null after the last block. */
    next,
    /** Available once `next` has returned null. */
    digest,
  };
}

/** Fills the buffer as far as the file goes: one read may return less. */
async function fill(handle: FileHandle, buffer: Buffer): Promise<number> {
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return length;
}

function changed(file: string): Error {
  const hint = 'Nothing of the changed part was used. Wait until the file is complete, then run the command again.';
  return refuse(problem('input-changed', `The list ${file} changed while it was being read.`, { at: { file }, hint }));
}

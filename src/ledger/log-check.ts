import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';
import { unusable } from './ledger-error.ts';
import { codeOf } from './private-files.ts';

/**
 * The last commits of a killed process may be in the write-ahead log only. SQLite reads that log up to the first frame
 * with a wrong checksum and ignores the rest without an error. One wrong bit, or a cut or deleted file, and all
 * recipients claimed after it would get the message again (tried: 9 of 12). The index beside the log (`-shm`) names the
 * last committed frame, and is written after the log was synced. So after a kill it shows whether the log is whole.
 * After a power failure it may be older or missing; then it shows less, but never too much. Formats:
 * https://sqlite.org/walformat.html, https://sqlite.org/fileformat2.html#the_write_ahead_log.
 */

const openHere = new Map<string, number>();

/**
 * Closing any descriptor of an open ledger's files drops SQLite's locks in this process (POSIX): they must not be read.
 */
export function noteOpen(path: string): void {
  openHere.set(path, (openHere.get(path) ?? 0) + 1);
}

export function noteClosed(path: string): void {
  const left = (openHere.get(path) ?? 0) - 1;
  if (left > 0) openHere.set(path, left);
  else openHere.delete(path);
}

/**
 * Refuses a ledger whose log has lost commits (failures.md, H3). Call it before SQLite opens the ledger and makes a
 * new index from what is left.
 * @throws HandbillError `ledger-unusable`, exit status 7
 */
export function checkLog(path: string): void {
  // The index has the byte order of its machine.
  if (openHere.has(path) || endianness() !== 'LE') return;
  const index = readIndex(`${path}-shm`);
  const fault = index === null ? null : faultOf(`${path}-wal`, index);
  if (fault === null) return;
  // Another process may have begun a new log, or closed it, between the two reads.
  const again = readIndex(`${path}-shm`);
  if (again === null || again.lastFrame !== index?.lastFrame || !again.salts.equals(index.salts)) return;
  const hint =
    'Move the ledger and the files beside it away for safe keeping, and restore a backup. What the log held is lost: ' +
    'look into the backup before anything is sent from it.';
  throw unusable('ledger-unusable', `${path}-wal`, `The log of the ledger ${fault}.`, hint);
}

type Index = NonNullable<ReturnType<typeof readIndex>>;

type Checksum = readonly [number, number];

const INDEX_VERSION = 3_007_000;

/** Null where the index does not exist, is being written, or is no index: it only ever helps. */
function readIndex(file: string) {
  const bytes = readStart(file, 136);
  if (bytes === null || bytes.length < 136) return null;
  const header = bytes.subarray(0, 48);
  const [a, b] = checksum(header.subarray(0, 40), [0, 0], true);
  const whole = header.equals(bytes.subarray(48, 96)) && a === word(header, 40) && b === word(header, 44);
  if (!whole || word(header, 0) !== INDEX_VERSION || header[12] !== 1) return null;
  const size = header.readUInt16LE(14);
  return {
    /** Number of the last committed frame, from 1; 0 for an empty log. */
    lastFrame: word(header, 16),
    moved: word(bytes, 96),
    pageBytes: (size & 0xfe00) + ((size & 1) << 16),
    checksum: [word(header, 24), word(header, 28)],
    salts: header.subarray(32, 40),
  };
}

/** As the end of a sentence; null if the log contains all that the index lists. */
function faultOf(file: string, index: Index): string | null {
  if (index.lastFrame === 0) return null;
  const fd = openOrNull(file);
  if (fd === null) return index.lastFrame > index.moved ? 'is gone' : null;
  try {
    const header = Buffer.alloc(32);
    const length = readSync(fd, header, 0, 32, 0);
    if (length < 32 || header.every((byte) => byte === 0)) {
      return index.lastFrame > index.moved ? 'is empty' : null;
    }
    const little = (header.readUInt32BE(0) & 1) === 0;
    const sum = checksum(header.subarray(0, 24), [0, 0], little);
    if (sum[0] !== header.readUInt32BE(24) || sum[1] !== header.readUInt32BE(28)) return 'is damaged at its beginning';
    // The log began after this index: there was a power failure.
    if (!header.subarray(16, 24).equals(index.salts)) return null;
    return faultOfFrames(fd, index, sum, little);
  } finally {
    closeSync(fd);
  }
}

function faultOfFrames(fd: number, index: Index, first: Checksum, little: boolean): string | null {
  const frameBytes = 24 + index.pageBytes;
  const missing = (frame: number): string => `is damaged: of ${index.lastFrame} pages, all from ${frame} on are lost`;
  if (fstatSync(fd).size < 32 + index.lastFrame * frameBytes) return 'is cut off';
  const frame = Buffer.alloc(frameBytes);
  let sum = first;
  for (let n = 1; n <= index.lastFrame; n++) {
    if (readSync(fd, frame, 0, frameBytes, 32 + (n - 1) * frameBytes) < frameBytes) return missing(n);
    sum = checksum(frame.subarray(24), checksum(frame.subarray(0, 8), sum, little), little);
    const good = sum[0] === frame.readUInt32BE(16) && sum[1] === frame.readUInt32BE(20);
    if (!good || !frame.subarray(8, 16).equals(index.salts)) return missing(n);
  }
  return sum[0] === index.checksum[0] && sum[1] === index.checksum[1] ? null : missing(index.lastFrame);
}

/** The checksum of SQLite's logs: over pairs of 32-bit words, 0.3 ms a megabyte. */
function checksum(bytes: Buffer, [first, second]: Checksum, little: boolean): Checksum {
  let [a, b] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    const x = little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
    const y = little ? bytes.readUInt32LE(at + 4) : bytes.readUInt32BE(at + 4);
    a = (a + x + b) >>> 0;
    b = (b + y + a) >>> 0;
  }
  return [a, b];
}

function word(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at);
}

function readStart(file: string, bytes: number): Buffer | null {
  const fd = openOrNull(file);
  if (fd === null) return null;
  try {
    const buffer = Buffer.alloc(bytes);
    return buffer.subarray(0, readSync(fd, buffer, 0, bytes, 0));
  } finally {
    closeSync(fd);
  }
}

function openOrNull(file: string): number | null {
  try {
    return openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

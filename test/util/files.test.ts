import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { HandbillError } from '../../src/errors.ts';
import { writeOutput } from '../../src/util/files.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'handbill-output-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

async function failure(path: string, chunks: Iterable<string> = ['new']): Promise<HandbillError> {
  const error = await writeOutput(path, chunks).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof HandbillError) return error;
  throw new Error(`expected a HandbillError, got ${error}`);
}

describe('writeOutput (S25)', () => {
  it('writes every piece in order, only for its owner', async () => {
    const path = join(folder, 'report.csv');
    const before = process.umask(0);
    try {
      await writeOutput(
        path,
        (async function* () {
          for (let i = 0; i < 30_000; i++) yield `line ${i} é\n`;
        })(),
      );
    } finally {
      process.umask(before);
    }
    expect(readFileSync(path, 'utf8')).toBe(Array.from({ length: 30_000 }, (_, i) => `line ${i} é\n`).join(''));
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['report.csv']);
  });
  it('writes an empty file', async () => {
    await writeOutput(join(folder, 'empty'), []);
    expect(readFileSync(join(folder, 'empty'), 'utf8')).toBe('');
  });
  it('replaces a regular file', async () => {
    const path = join(folder, 'report.json');
    writeFileSync(path, 'old, and longer than the new one', { mode: 0o644 });
    await writeOutput(path, ['new']);
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
  });
  it('keeps half a surrogate pair apart from its other half only where the text does', async () => {
    const bytes = await writeOutput(join(folder, 'emoji'), ['😀'.repeat(40_000), 'x', '😀'.repeat(40_000)]);
    expect(bytes).toBe(320_001);
    expect(readFileSync(join(folder, 'emoji'), 'utf8')).toBe(`${'😀'.repeat(40_000)}x${'😀'.repeat(40_000)}`);
  });
  it('leaves the old file, and nothing else, when the text cannot be made', async () => {
    const path = join(folder, 'report.json');
    writeFileSync(path, 'old');
    const broken = (async function* () {
      yield 'x'.repeat(200_000);
      throw new Error('the ledger went away');
    })();
    await expect(writeOutput(path, broken)).rejects.toThrow('the ledger went away');
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['report.json']);
  });
});

describe('refuses, with exit status 2 and without a trace (S25),', () => {
  test.each([
    ['a link to a file', (path: string) => symlinkSync(join(folder, 'target'), path), /is a link/],
    ['a link to nothing', (path: string) => symlinkSync(join(folder, 'nowhere'), path), /is a link/],
    ['a folder', (path: string) => mkdirSync(path), /is a folder/],
    ['a pipe', (path: string) => execFileSync('mkfifo', [path]), /not a regular file/],
  ])('%s', async (_label, make, message) => {
    writeFileSync(join(folder, 'target'), 'untouched');
    const path = join(folder, 'report.csv');
    make(path);
    const error = await failure(path);
    expect(error).toMatchObject({ code: 'output-exists', exit: 2 });
    expect(error.message).toMatch(message);
    expect(error.message).toContain(path);
    expect(readFileSync(join(folder, 'target'), 'utf8')).toBe('untouched');
    expect(readdirSync(folder).sort()).toEqual(['report.csv', 'target']);
  });
  it('a link that appears while the text is made', async () => {
    writeFileSync(join(folder, 'target'), 'untouched');
    const path = join(folder, 'report.csv');
    const chunks = (function* () {
      yield 'x';
      symlinkSync(join(folder, 'target'), path);
      yield 'y';
    })();
    expect(await failure(path, chunks)).toMatchObject({ code: 'output-exists' });
    expect(readFileSync(join(folder, 'target'), 'utf8')).toBe('untouched');
    expect(readdirSync(folder).sort()).toEqual(['report.csv', 'target']);
  });
  it.each([
    ['a database', Buffer.from('SQLite format 3\0and the rest of it')],
    ['the log of one', Buffer.from([0x37, 0x7f, 0x06, 0x82, ...Array(28).fill(0)])],
  ])('%s, such as the ledger', async (_label, bytes) => {
    const path = join(folder, 'ledger.db');
    writeFileSync(path, bytes);
    const error = await failure(path);
    expect(error).toMatchObject({ code: 'output-exists', exit: 2 });
    expect(error.message).toContain('is a database');
    expect(readFileSync(path)).toEqual(bytes);
    expect(readdirSync(folder)).toEqual(['ledger.db']);
  });
  it('a folder that does not exist', async () => {
    const error = await failure(join(folder, 'no', 'report.csv'));
    expect(error).toMatchObject({ code: 'file-not-found', exit: 2 });
    expect(error.message).toContain(`${join(folder, 'no')} does not exist`);
    expect(error.diagnostics[0]?.hint).toBeDefined();
  });
  it('a file where a folder should be', async () => {
    writeFileSync(join(folder, 'file'), '');
    expect((await failure(join(folder, 'file', 'report.csv'))).message).toMatch(/is not a folder/);
  });
  // A socket of its own rather than a device: should the check ever break, the test would replace a part of the system.
  it('a socket', async () => {
    const path = join(folder, 'socket');
    const server = createServer().listen(path);
    try {
      await once(server, 'listening');
      expect((await failure(path)).message).toMatch(/not a regular file/);
      expect(lstatSync(path).isSocket()).toBe(true);
    } finally {
      server.close();
      await once(server, 'close');
    }
  });
  it('a name that is too long', async () => {
    const error = await failure(join(folder, 'x'.repeat(300)));
    expect(error).toMatchObject({ code: 'output-exists', exit: 2 });
    expect(error.message).toMatch(/the name is too long/);
    expect(readdirSync(folder)).toEqual([]);
  });
});

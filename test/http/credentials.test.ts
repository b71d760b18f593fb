import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { checkHeaderValue, readKey } from '../../src/http/credentials.ts';
import { checkTlsEnvironment } from '../../src/util/tls.ts';

const KEY = 'SEKRET-key/0123+4567==';
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'handbill-key-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function keyFile(name: string, content: string, mode = 0o600): Promise<{ file: string }> {
  await writeFile(join(folder, name), content);
  await chmod(join(folder, name), mode);
  return { file: name };
}

describe('a key in a variable', () => {
  it('is taken as it is', async () => {
    expect(await readKey('apiKey', { env: 'K' }, { K: KEY }, folder)).toEqual({ key: KEY });
  });

  test.each([
    ['unset', undefined, 'missing-api-key'],
    ['empty', '', 'missing-api-key'],
    ['a newline behind', `${KEY}\n`, 'invalid-api-key'],
    ['another header behind', `${KEY}\r\nx-evil: 1`, 'invalid-api-key'],
    ['a space', `SEKRET key`, 'invalid-api-key'],
    ['not ASCII', 'SEKRET\u00e9', 'invalid-api-key'],
  ])('is refused: %s', async (_label, value, code) => {
    const read = await readKey('apiKey', { env: 'HANDBILL_API_KEY' }, { HANDBILL_API_KEY: value }, folder);
    expect(read).toMatchObject({
      problem: { code, severity: 'error', message: expect.stringContaining('HANDBILL_API_KEY') },
    });
    expect(JSON.stringify(read)).not.toContain('SEKRET');
  });
});

describe('a key in a file (S6)', () => {
  test.each([
    ['alone', KEY],
    ['with a newline', `${KEY}\n`],
    ['with a Windows newline', `${KEY}\r\n`],
  ])('is taken: %s', async (_label, content) => {
    expect(await readKey('apiKey', await keyFile('good', content), {}, folder)).toEqual({ key: KEY });
    expect(
      await readKey(
        'apiKey',
        await keyFile('good', content, 0o400).then(() => ({ file: join(folder, 'good') })),
        {},
        '/',
      ),
    ).toEqual({ key: KEY });
    await chmod(join(folder, 'good'), 0o600);
  });

  test.each([0o644, 0o640, 0o604, 0o660, 0o602, 0o610])('is refused with mode %o', async (mode) => {
    const read = await readKey('apiKey', await keyFile('open', KEY, mode), {}, folder);
    expect(read).toMatchObject({
      problem: { code: 'key-file-permissions', hint: expect.stringContaining('chmod 600') },
    });
    expect(JSON.stringify(read)).not.toContain('SEKRET');
  });

  test.each([
    ['empty', '', 'invalid-api-key'],
    ['two lines', `${KEY}\nmore`, 'invalid-api-key'],
    ['two newlines', `${KEY}\n\n`, 'invalid-api-key'],
    ['too large', 'x'.repeat(5_000), 'file-too-large'],
    ['not ASCII', `${KEY}é`, 'invalid-api-key'],
  ])('is refused: %s', async (_label, content, code) => {
    const read = await readKey('apiKey', await keyFile('bad', content), {}, folder);
    expect(read).toMatchObject({ problem: { code } });
    expect(JSON.stringify(read)).not.toContain('SEKRET');
  });

  it('is refused when there is none, and when it is a folder or a pipe (without waiting)', async () => {
    expect(await readKey('apiKey', { file: 'absent' }, {}, folder)).toMatchObject({
      problem: { code: 'missing-api-key' },
    });
    await mkdir(join(folder, 'folder'), { mode: 0o700 });
    expect(await readKey('apiKey', { file: 'folder' }, {}, folder)).toMatchObject({
      problem: { code: 'file-not-regular' },
    });
    execFileSync('mkfifo', ['-m', '600', join(folder, 'pipe')]);
    expect(await readKey('apiKey', { file: 'pipe' }, {}, folder)).toMatchObject({
      problem: { code: 'file-not-regular' },
    });
  });

  it('is judged by the file itself where the path is a link', async () => {
    await keyFile('target', KEY, 0o644);
    await symlink('target', join(folder, 'link'));
    expect(await readKey('apiKey', { file: 'link' }, {}, folder)).toMatchObject({
      problem: { code: 'key-file-permissions' },
    });
  });
});

describe('the environment (S3)', () => {
  test.each([
    [{}, null],
    [{ NODE_TLS_REJECT_UNAUTHORIZED: '1' }, null],
    [{ NODE_TLS_REJECT_UNAUTHORIZED: '' }, null],
    [{ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, 'tls-verification-off'],
  ])('%j', (env, code) => {
    expect(checkTlsEnvironment(env)?.code ?? null).toBe(code);
  });
});

describe('a header value (S9)', () => {
  it('is every printable ASCII character and nothing else, perhaps behind a scheme', () => {
    for (let c = 0; c < 0x200; c++) {
      const fine = c >= 0x20 && c <= 0x7e;
      expect([c, checkHeaderValue('x', `a${String.fromCharCode(c)}b`) === null]).toEqual([c, fine]);
    }
  });
});

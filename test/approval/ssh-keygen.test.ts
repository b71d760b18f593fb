import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judge } from '../../src/approval/judge.ts';
import { signBytes } from '../../src/approval/sign.ts';
import { inPrivateFolder, runSshKeygen } from '../../src/approval/ssh-keygen.ts';
import { temporaryFault } from '../../src/util/files.ts';
import { openAgent } from './agent.ts';
import { type Key, type Keyring, NOW, openKeyring, ruleOf, signer } from './keys.ts';

const bytes = new TextEncoder().encode('plan');
let ring: Keyring;
let ana: Key;
let ben: Key;
let locked: Key;

beforeAll(async () => {
  ring = await openKeyring();
  ana = await ring.make('ana');
  ben = await ring.make('-f ben; $(touch x)');
  locked = await ring.make('locked', '-t', 'ed25519', '-N', 'correct horse');
});
afterAll(() => ring.remove());

const options = (env: NodeJS.ProcessEnv = process.env) => ({ cwd: ring.folder, env, interactive: false });
const failing = (work: Promise<unknown>) => expect(work).rejects.toMatchObject({ exit: 2, code: 'signing-failed' });

describe('signing', () => {
  it('takes private keys, relative to the folder and whatever their names', async () => {
    const signatures = [
      await signBytes(bytes, 'ana', options()),
      await signBytes(bytes, '-f ben; $(touch x)', options()),
    ];
    const result = await judge(bytes, signatures, ruleOf([signer('ana', ana), signer('ben', ben)]), {
      env: process.env,
      nowMs: NOW,
    });
    expect(result.approved).toBe(true);
  });

  it('takes a public key whose private half is in ssh-agent, and no other', async () => {
    const folder = join(ring.folder, 'public');
    await mkdir(folder);
    for (const { path, text } of [ana, locked]) await writeFile(join(folder, `${basename(path)}.pub`), `${text}\n`);
    const agent = await openAgent(ring.folder, [ana.path]);
    try {
      expect(await signBytes(bytes, 'public/ana.pub', options(agent.env))).toContain('SSH SIGNATURE');
      await failing(signBytes(bytes, 'public/locked.pub', options(agent.env)));
    } finally {
      await agent.close();
    }
    await failing(signBytes(bytes, 'public/ana.pub', options(agent.env)));
  });

  it('fails where a passphrase is needed and cannot be asked for', async () => {
    await failing(signBytes(bytes, 'locked', options()));
  });

  it('refuses a private key in the place of its name, and shows nothing of it', async () => {
    const text = await readFile(ana.path, 'utf8');
    for (const given of [text, text.replaceAll('\n', ' '), text.replaceAll('\n', '\r\n')]) {
      const found = await signBytes(bytes, given, options()).catch((error: Error) => error);
      expect(found).toMatchObject({
        exit: 2,
        code: 'signing-failed',
        message: expect.stringContaining('private key itself'),
      });
      expect(JSON.stringify(found)).not.toContain(text.split('\n')[1]);
    }
  });

  it('refuses a missing key, a folder, and a file that is not a key', async () => {
    await writeFile(join(ring.folder, 'text'), 'no key');
    await chmod(join(ring.folder, 'text'), 0o600);
    await failing(signBytes(bytes, 'text', options()));
    for (const name of ['missing', '.', '']) {
      await expect(signBytes(bytes, name, options())).rejects.toMatchObject({ exit: 2, code: 'file-not-found' });
    }
  });

  it('leaves nothing behind', async () => {
    const before = process.env['TMPDIR'];
    const folder = join(ring.folder, 'temporary');
    await mkdir(folder);
    process.env['TMPDIR'] = folder;
    try {
      expect(tmpdir()).toBe(folder);
      await signBytes(bytes, 'ana', options());
      await failing(signBytes(bytes, 'locked', options()));
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    }
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('ssh-keygen', () => {
  it('that is not there is said', async () => {
    const work = signBytes(bytes, 'ana', options({ PATH: ring.folder }));
    await failing(work);
    await expect(work).rejects.toThrow(/no ssh-keygen/);
  });

  it('of a time before signatures is said', async () => {
    // What ssh-keygen of OpenSSH 8.0 answers.
    const old = await program('old', 'echo "ssh-keygen: unknown option -- Y" >&2; exit 1');
    await expect(signBytes(bytes, 'ana', options({ PATH: old }))).rejects.toThrow(/too old/);
  });

  it('that never ends is ended', async () => {
    const slow = await program('slow', 'exec sleep 60');
    const call = { args: ['-Y', 'sign'], folder: ring.folder, timeoutMs: 100, input: 'nothing' } as const;
    const answer = await runSshKeygen({ ...call, env: { PATH: `${slow}:${process.env['PATH']}` } });
    expect(answer).toMatchObject({ ok: false, said: 'it took too long' });
  });

  it('that says much is cut short, and says nothing that a terminal obeys', async () => {
    const loud = await program(
      'loud',
      'yes "$(printf "\\033[2J")" | head -c 300000; printf "\\033]52;c;eA==\\007" >&2; exit 1',
    );
    const call = { args: ['-Y', 'sign'], folder: ring.folder, timeoutMs: 5000, input: 'nothing' } as const;
    const answer = await runSshKeygen({ ...call, env: { PATH: `${loud}:${process.env['PATH']}` } });
    expect(answer.out.length).toBeLessThanOrEqual(64 * 1024);
    expect(answer.said).toBe('\\u{1b}]52;c;eA==\\u{7}');
  });

  it('gets nothing of the surroundings but what it needs', async () => {
    const spy = await program('spy', 'env');
    const env = { PATH: `${spy}:${process.env['PATH']}`, HANDBILL_API_KEY: 'SEKRET', LD_PRELOAD: '', HOME: '/' };
    const answer = await runSshKeygen({ args: [], folder: ring.folder, timeoutMs: 5000, input: 'nothing', env });
    expect(answer.out).toContain('HOME=/');
    expect(answer.out).not.toMatch(/SEKRET|LD_PRELOAD|DISPLAY/);
  });
});

it('works in a folder that only its owner can read', async () => {
  await inPrivateFolder({ plan: 'x' }, async (folder) => {
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, 'plan'))).mode & 0o777).toBe(0o600);
  });
});

/** A folder in which `ssh-keygen` is this script. */
async function program(name: string, script: string): Promise<string> {
  const folder = join(ring.folder, name);
  await mkdir(folder);
  await writeFile(join(folder, 'ssh-keygen'), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, 'ssh-keygen'), 0o755);
  return folder;
}

describe('the folder for temporary files', () => {
  it('is not there: refused, and no bug', async () => {
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = join(ring.folder, 'nowhere');
    try {
      const refused = expect(signBytes(bytes, 'ana', options())).rejects;
      await refused.toMatchObject({ exit: 2, message: expect.stringContaining('nowhere) cannot be written to') });
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    }
  });

  it.each([
    ['a full disk is said', { code: 'ENOSPC' }, 'the disk is full'],
    ['a file of the folder', { code: 'EIO', path: '/t/x/a' }, 'the disk reports an error'],
  ])('%s', (_, found, why) => {
    const fault = temporaryFault(Object.assign(new Error('x'), found), '/t/x');
    expect(fault).toMatchObject({ exit: 2, message: expect.stringContaining(`cannot be written to: ${why}.`) });
  });

  it.each([
    ['another file', { code: 'EACCES', path: '/somewhere/list.csv' }],
    ['what no disk says', { code: 'ERR_INVALID_ARG_TYPE' }],
    ['a name that every object has', { code: 'constructor' }],
  ])('is not blamed for %s', (_, found) => {
    const error = Object.assign(new Error('x'), found);
    expect(temporaryFault(error, '/t/x')).toBe(error);
  });
});

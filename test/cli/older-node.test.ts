import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const OLD_NODE = '/usr/bin/node';
const REPOSITORY = join(import.meta.dirname, '..', '..');
const BUILT = join(REPOSITORY, 'dist', 'cli.js');
const isOld =
  existsSync(OLD_NODE) && Number(/\d+/.exec(execFileSync(OLD_NODE, ['--version'], { encoding: 'utf8' }))) < 24;

describe.runIf(isOld)('an older Node', () => {
  /** handbill as it lies in a folder after an installation; its packages are not needed to say what is missing. */
  async function installed(below: string): Promise<{ readonly folder: string; readonly cli: string }> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'handbill-old-')));
    const place = join(folder, below);
    await cp(join(REPOSITORY, 'dist'), join(place, 'dist'), { recursive: true });
    await cp(join(REPOSITORY, 'package.json'), join(place, 'package.json'));
    return { folder, cli: join(place, 'dist', 'cli.js') };
  }

  /** A package `node` of that version in the folder; with its program where it was installed to the end. */
  async function addNode(folder: string, version: string, program: boolean): Promise<void> {
    const place = join(folder, 'node_modules', 'node');
    await mkdir(join(place, 'bin'), { recursive: true });
    await writeFile(join(place, 'package.json'), JSON.stringify({ name: 'node', version }));
    if (program) await symlink(join(REPOSITORY, 'node_modules', 'node', 'bin', 'node'), join(place, 'bin', 'node'));
  }

  const run = async (cli: string, args: readonly string[]): Promise<{ status: number; out: string; err: string }> =>
    await promisify(execFile)(OLD_NODE, [cli, ...args], { cwd: tmpdir() }).then(
      ({ stdout, stderr }) => ({ status: 0, out: stdout, err: stderr }),
      ({ code, stdout, stderr }) => ({ status: code, out: stdout, err: stderr }),
    );

  test('starts the one that npm installed beside handbill: output, errors and exit status are those of that one', async () => {
    const { version } = JSON.parse(await readFile(join(REPOSITORY, 'package.json'), 'utf8')) as { version: string };
    expect(await run(BUILT, ['--version'])).toEqual({ status: 0, out: `${version}\n`, err: '' });
    expect(await run(BUILT, ['valdate'])).toMatchObject({
      status: 2,
      out: '',
      err: expect.stringContaining('validate'),
    });
    const { folder, cli } = await installed('shop/node_modules/handbill');
    await addNode(join(folder, 'shop'), '24.21.0', true);
    expect(await run(cli, ['--version'])).toEqual({ status: 0, out: `${version}\n`, err: '' });
    await rm(folder, { recursive: true });
  });

  // The sandbox ends in good order, with status 0, at any of them: this process must neither end before it nor keep it.
  test.each<NodeJS.Signals>(['SIGINT', 'SIGTERM', 'SIGHUP'])(
    'passes %s on, and ends as the other one does',
    async (signal) => {
      const child = spawn(OLD_NODE, [BUILT, 'sandbox', '--port', '0'], {
        cwd: tmpdir(),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const ended = once(child, 'close');
      await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data')]);
      child.kill(signal);
      expect(await ended).toEqual([0, null]);
    },
  );

  test('ends by the signal that the other one ended by', async () => {
    const child = spawn(OLD_NODE, [BUILT, 'sandbox', '--port', '0'], {
      cwd: tmpdir(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'close');
    await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data')]);
    const other = Number((await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).trim());
    process.kill(other, 'SIGKILL');
    expect(await ended).toEqual([null, 'SIGKILL']);
  });

  test.each<[label: string, below: string, prepare: (folder: string) => Promise<void>, advice: RegExp]>([
    ['a clone', 'clone', async () => undefined, /^Fix: run `npm ci` in \S+\/clone\. /m],
    [
      'a project',
      'shop/node_modules/handbill',
      (folder) => writeFile(join(folder, 'shop', 'package.json'), '{}'),
      /^Fix: run `npm install --save-dev --save-exact node@24\.\d+\.\d+` in \S+\/shop\. /m,
    ],
    [
      'a project with another Node that is too old as well',
      'shop/node_modules/handbill',
      async (folder) => {
        await writeFile(join(folder, 'shop', 'package.json'), '{}');
        await addNode(join(folder, 'shop'), '22.1.0', true);
      },
      /^Fix: run `npm install --save-dev --save-exact node@24\.\d+\.\d+` in \S+\/shop\. /m,
    ],
    [
      'a project in which the install script of Node did not run',
      'shop/node_modules/handbill',
      async (folder) => {
        await writeFile(join(folder, 'shop', 'package.json'), '{}');
        await addNode(join(folder, 'shop'), '24.21.0', false);
      },
      /^Fix: run `npm rebuild node` in \S+\/shop\. /m,
    ],
    [
      'a global installation',
      'lib/node_modules/handbill',
      async () => undefined,
      /^ {2}npx --yes --package=node@24\.\d+\.\d+ -- node \S+\/lib\/node_modules\/handbill\/dist\/cli\.js init 'my shop'$/m,
    ],
  ])('without the right one says what to run: %s', async (_label, below, prepare, advice) => {
    const { folder, cli } = await installed(below);
    await prepare(folder);
    const { status, out, err } = await run(cli, ['init', 'my shop']);
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err).toMatch(/^handbill needs Node\.js 24 or newer; this is \d+\.\d+\.\d+ \(\/usr\/bin\/node\)\.\n/);
    expect(err).toMatch(advice);
    await rm(folder, { recursive: true });
  });
});

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { nodeAbove, npxCacheOf } from '../../src/cli/older-node.ts';
import { until } from '../helpers/cli.ts';
import { manifest, ROOT } from './consumer.ts';

const OWN = join(ROOT, 'node_modules', 'node', 'bin', 'node');
const VERSION = manifest().devDependencies['node'] ?? '';

/** A Node.js of this machine that is too old for handbill; null where there is none. */
function olderNode(): string | null {
  const programs = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  const older = programs.find((program) => {
    const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
    const major = Number(/^v(\d+)\./.exec(stdout ?? '')?.[1] ?? 99);
    return major >= 18 && major < 24;
  });
  return older ?? null;
}

const OLD = olderNode();

let folder = '';
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'handbill-older-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** handbill as npm lays it, without its dependencies: only the version of Node.js is looked at, and that of handbill. */
function installIn(project: string): string {
  const home = join(project, 'node_modules', 'handbill');
  mkdirSync(home, { recursive: true });
  cpSync(join(ROOT, 'dist'), join(home, 'dist'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(home, 'package.json'));
  return join(home, 'dist', 'cli.js');
}

/** The npm package `node`, with this clone's program in it. */
function nodeIn(project: string, version = VERSION): void {
  const home = join(project, 'node_modules', 'node');
  mkdirSync(join(home, 'bin'), { recursive: true });
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name: 'node', version }));
  symlinkSync(OWN, join(home, 'bin', 'node'));
}

function childrenOf(pid: number): readonly number[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  return rows.flatMap(([child = 0, parent]) => (parent === pid ? [child] : []));
}

function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.startsWith('Z');
}

function run(script: string, env: Readonly<Record<string, string>> = {}, args: readonly string[] = ['--version']) {
  return spawnSync(OLD ?? '', [script, ...args], { encoding: 'utf8', env, cwd: folder });
}

describe.skipIf(OLD === null)('handbill under a Node.js that is too old', () => {
  it('says in a project what to install there', () => {
    const script = installIn(folder);
    writeFileSync(join(folder, 'package.json'), '{}');
    const { status, stdout, stderr } = run(script);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^handbill needs Node\.js 24 or newer; this is \d+\.\d+\.\d+ \(\S+\)\.\n/);
    expect(stderr).toContain(
      `Fix: run \`npm install --save-dev --save-exact node@${VERSION}\` in ${folder}. It installs the right one.`,
    );
  });

  it('says what to run in a clone, after an install without scripts, and where it was installed for all projects', () => {
    const clone = join(folder, 'clone');
    cpSync(join(ROOT, 'dist'), join(clone, 'dist'), { recursive: true });
    cpSync(join(ROOT, 'package.json'), join(clone, 'package.json'));
    expect(run(join(clone, 'dist', 'cli.js')).stderr).toContain(`Fix: run \`npm ci\` in ${clone}. `);
    const shop = join(folder, 'shop');
    const script = installIn(shop);
    writeFileSync(join(shop, 'package.json'), '{}');
    nodeIn(shop);
    rmSync(join(shop, 'node_modules', 'node', 'bin'), { recursive: true });
    expect(run(script).stderr).toContain(`Fix: run \`npm rebuild node\` in ${shop}. `);
    const everywhere = installIn(join(folder, 'lib'));
    expect(run(everywhere, {}, ['init', 'my shop']).stderr).toContain(
      `\n  npx --yes --package=node@${VERSION} -- node ${everywhere} init 'my shop'\n`,
    );
  });

  it('runs under the one that was installed there', () => {
    const script = installIn(folder);
    nodeIn(folder);
    expect(run(script)).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    const wrong = run(join(ROOT, 'dist', 'cli.js'), {}, ['valdate']);
    expect(wrong).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('validate') });
  });

  // The sandbox ends in good order, with status 0, at any of them: this process must neither end before it nor keep it.
  it.each<NodeJS.Signals>(['SIGINT', 'SIGTERM', 'SIGHUP'])(
    'passes %s on, and ends as the other does',
    async (signal) => {
      const parent = spawn(OLD ?? '', [join(ROOT, 'dist', 'cli.js'), 'sandbox', '--port', '0'], { cwd: folder });
      const ended = once(parent, 'close');
      await once(parent.stdout, 'data');
      parent.kill(signal);
      expect(await ended).toEqual([0, null]);
    },
  );

  it('does not run under one that is too old as well', () => {
    const script = installIn(folder);
    nodeIn(folder, '22.1.0');
    expect(run(script).status).toBe(2);
  });

  it('runs under the one that npx has fetched before', () => {
    const script = installIn(join(folder, '_npx', 'a1'));
    nodeIn(join(folder, '_npx', 'b2'));
    expect(run(script, { npm_execpath: '/nowhere' })).toMatchObject({ status: 0, stderr: '' });
  });

  it('has npm fetch one where npx runs it, and says so', () => {
    const script = installIn(join(folder, '_npx', 'a1'));
    const kept = join(folder, 'kept');
    nodeIn(kept);
    const npm = join(folder, 'npm.cjs');
    const target = join(folder, '_npx', 'b2');
    writeFileSync(
      npm,
      `require('node:fs').renameSync(${JSON.stringify(kept)}, ${JSON.stringify(target)});
      if (process.argv.slice(2).join(' ') !== 'exec --yes --package=node@${VERSION} -- node --version') process.exit(1);`,
    );
    const { status, stderr, stdout } = run(script, { npm_execpath: npm });
    expect(stderr).toBe(`handbill needs Node.js 24 or newer: npm fetches ${VERSION}, once.\n`);
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
  });

  it('says what to run where npm cannot fetch it', () => {
    const script = installIn(join(folder, '_npx', 'a1'));
    const npm = join(folder, 'npm.cjs');
    writeFileSync(npm, 'process.exit(1);');
    const { status, stderr } = run(script, { npm_execpath: npm });
    expect(status).toBe(2);
    expect(stderr).toContain(`npx --yes --package=node@${VERSION} -- node ${script} --version`);
  });

  it('ends by the signal that ends what it started', () => {
    const script = installIn(folder);
    nodeIn(folder);
    const program = join(folder, 'node_modules', 'node', 'bin', 'node');
    rmSync(program);
    writeFileSync(program, '#!/bin/sh\nkill -TERM $$\n');
    chmodSync(program, 0o755);
    expect(run(script).signal).toBe('SIGTERM');
  });

  it('ends what it started when it is killed itself', async () => {
    const parent = spawn(OLD ?? '', [join(ROOT, 'dist', 'cli.js'), 'sandbox', '--port', '0'], { cwd: folder });
    const [line] = await once(parent.stdout, 'data');
    expect(String(line)).toContain('Sandbox on');
    const [child = 0] = childrenOf(parent.pid ?? 0);
    expect(child).toBeGreaterThan(0);
    parent.kill('SIGKILL');
    await until('the child has ended', () => !isRunning(child));
  });

  it('is read by that Node.js without an error', () => {
    execFileSync(OLD ?? '', ['--check', join(ROOT, 'dist', 'cli.js')]);
  });
});

test.each<[platform: string, program: string]>([
  ['linux', 'node'],
  ['darwin', 'node'],
  // On Windows `bin/node` is a note that says it is left blank.
  ['win32', 'node.exe'],
])('on %s the program of the npm package is %s', (platform, program) => {
  nodeIn(folder);
  const deep = join(folder, 'a', 'b');
  mkdirSync(deep, { recursive: true });
  expect(nodeAbove(deep, 24, platform)).toBe(join(folder, 'node_modules', 'node', 'bin', program));
});

test.each<[handbill: string, cache: string | null]>([
  ['/srv/.npm/_npx/a1/node_modules/handbill', '/srv/.npm/_npx'],
  ['/srv/_npx/node_modules/handbill', null],
  ['/srv/_npx/a1/handbill', null],
  ['/srv/campaigns/node_modules/handbill', null],
])('%s is in the cache of npx: %s', (handbill, cache) => {
  expect(npxCacheOf(handbill)).toBe(cache);
});

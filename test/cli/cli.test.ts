import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/table.ts';
import { INTENTS } from '../../src/cli/usage.ts';
import { CLI, runCli, SOURCE } from '../helpers/cli.ts';
import { handbillHere } from './in-process.ts';
import { HELLO, handbill, handbillProcess, projectWith } from './run-handbill.ts';

let root = '';
let remove = async (): Promise<void> => undefined;
beforeAll(async () => {
  ({ root, remove } = await projectWith(HELLO));
});
afterAll(() => remove());

describe('help', () => {
  test('names every command, and costs nothing but itself', async () => {
    const { status, stdout, stderr } = await watched('--help');
    expect(status).toBe(0);
    for (const { name, summary } of COMMANDS) expect(stdout).toContain(`  ${name.padEnd(10)}  ${summary}\n`);
    // The modules that the debug output names, or at least none of those that are slow to load.
    for (const heavy of ['commander', 'yaml', 'ajv', 'undici', 'handlebars', 'libphonenumber-js', 'hono']) {
      expect(stderr).not.toContain(`node_modules/${heavy}/`);
    }
  });

  test('the debug output that the test above trusts does name modules', async () => {
    const { stderr } = await watched('validate', '--help');
    expect(stderr).toContain('node_modules/commander/');
    expect(stderr).toContain('node_modules/yaml/');
    expect(stderr).not.toContain('node_modules/undici/');
  });

  /** From the sources: in a build, modules of one chunk have no names. */
  async function watched(...args: readonly string[]) {
    return await runCli(args, { cwd: root, env: { NODE_DEBUG: 'esm' }, script: SOURCE });
  }

  test.each(['validate', 'report', 'runs', 'doubt', 'suppress', 'sandbox', 'completion'])(
    '%s has help with examples',
    async (name) => {
      const { status, out, err } = await handbill(root, ['help', name]);
      expect({ status, err }).toEqual({ status: 0, err: '' });
      expect(out).toContain(`Usage: handbill ${name}`);
      expect(out).toContain('Examples:');
      expect((await handbillHere(root, [name, '--help'])).out).toBe(out);
    },
  );

  test('nothing to do is a usage error with the help on stderr', async () => {
    const { status, out, err } = await handbillProcess(root, []);
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err).toContain('Usage: handbill COMMAND');
  });

  test('the version is that of the package', async () => {
    const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
    expect((await handbillProcess(root, ['--version'])).out).toBe(
      `${(JSON.parse(text) as { version: string }).version}\n`,
    );
  });
});

describe('usage errors: exit 2, one diagnostic, the next step, no stack trace', () => {
  test.each([
    ['a misspelt command', ['valdate'], 'Did you mean "validate"?'],
    ['help of a misspelt command', ['help', 'reprot'], 'Did you mean "report"?'],
    ['a word of other tools', ['status'], 'Did you mean "runs"?'],
    ['a word near a command that does something else', ['budget'], 'Did you mean "runs"?'],
    ['stop', ['stop'], 'Did you mean "pause"?'],
    ['an environment that has to be named', ['pause'], 'Environments here: sandbox'],
    ['a misspelt option', ['validate', '--fromat', 'json'], 'Did you mean "--format"?'],
    ['an unknown option', ['validate', '--zzzzzz'], 'handbill validate --help'],
    ['an unknown global option', ['--zzzzzz'], 'handbill --help'],
    ['a format that does not exist', ['validate', '--format', 'jsonn'], 'text, json, github, junit'],
    ['a misspelt subcommand', ['suppress', 'lst'], 'Did you mean "list"?'],
    ['no subcommand', ['suppress'], 'handbill suppress --help'],
    ['an unknown option of a subcommand', ['suppress', 'list', '--zzzzzz'], 'handbill suppress list --help'],
    ['a subcommand without its argument', ['suppress', 'add'], 'handbill suppress add --help'],
    ['a port that is none', ['sandbox', '--port', '70000'], '0 to 65535'],
  ])('%s', async (_label, args, says) => {
    const { status, out, err } = await handbill(root, args);
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err).toContain('error[usage]: ');
    expect(err).toContain(says);
    expect(err).not.toMatch(/^ +at /m);
  });
});

test('each word of other tools leads to a command, and none is the name of one', () => {
  const names = COMMANDS.map(({ name }) => name);
  for (const [word, command] of INTENTS) {
    expect(names, word).toContain(command);
    expect(names).not.toContain(word);
  }
});

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
    await promisify(execFile)(OLD_NODE, [cli, ...args], { cwd: root }).then(
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
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const ended = once(child, 'close');
      await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data')]);
      child.kill(signal);
      expect(await ended).toEqual([0, null]);
    },
  );

  test('ends by the signal that the other one ended by', async () => {
    const child = spawn(OLD_NODE, [BUILT, 'sandbox', '--port', '0'], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
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

test('a reader that goes away is not an error', async () => {
  const rows = Array.from({ length: 20_000 }, (_, i) => `nonsense ${i},x\n`).join('');
  const { root: large, remove: removeLarge } = await projectWith({
    ...HELLO,
    'campaigns/hello/people.csv': `msisdn,first\n${rows}`,
  });
  const child = spawn(process.execPath, [CLI, 'validate', '--format', 'json'], { cwd: large });
  let err = '';
  child.stderr.on('data', (text) => {
    err += text;
  });
  child.stdout.once('data', () => child.stdout.destroy());
  const status = await new Promise((resolve) => child.on('close', resolve));
  await removeLarge();
  expect({ status, err }).toEqual({ status: 2, err: '' });
});

test.each([
  ['bash', 'bash'],
  ['zsh', 'zsh'],
  ['fish', 'fish'],
])('completion for %s knows commands, options and values', async (shell) => {
  const { status, out } = await handbill(root, ['completion', shell]);
  expect(status).toBe(0);
  for (const word of ['validate', 'suppress', 'allow', 'jsonl']) expect(out).toContain(word);
});

test('bash completes with the script', async () => {
  const { out } = await handbill(root, ['completion', 'bash']);
  const ask = (words: string) =>
    `COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); _handbill; echo "\${COMPREPLY[@]}"`;
  const script = `${out}\n${ask('handbill su')}\n${ask('handbill suppress list --format c')}\n${ask('handbill report --out')}`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script]);
  expect(stdout).toBe('suppress\ncsv\n--output --outcome\n');
});

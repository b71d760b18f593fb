import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
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

test('an option behind the name of a part is that of the part', async () => {
  const made = await projectWith(HELLO);
  for (const args of [
    ['worker', 'list'],
    ['runs', 'close', 'x'],
    ['doubt', 'list', 'x'],
    ['replies', 'list'],
  ]) {
    const { out, err } = await handbillHere(made.root, [...args, '--ledger', './elsewhere.db']);
    expect([args, `${out}${err}`]).toEqual([args, expect.not.stringContaining('.handbill/ledger.db')]);
  }
  await made.remove();
});

import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';

/*
 * The README followed word for word: every command of its first part, in order, in a copy of the repository, from the
 * clone to a scheduled campaign. What it shows must be what is printed.
 */

const ROOT = join(import.meta.dirname, '..', '..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

interface Step {
  readonly command: string;
  /** What is shown below it; a line of `...` means any lines, and `...` in a line for any text. */
  readonly shown: string;
}

/** The commands of the console blocks in one section, each with what is shown below it. */
function stepsOf(markdown: string, section: string): readonly Step[] {
  const text = new RegExp(`^## ${section}\\n([\\s\\S]*?)(?=^## )`, 'm').exec(markdown)?.[1] ?? '';
  const blocks = [...text.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [command = '', ...shown] = part.split('\n');
        return { command, shown: shown.join('\n') };
      }),
  );
}

/** Whether a text is what is shown. Nothing shown says nothing. */
function isShown(shown: string, printed: string): boolean {
  if (shown === '') return true;
  const quoted = shown.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const pattern = quoted.replaceAll(/^\\\.\\\.\\\.\n/gm, '(?:.*\n)*?').replaceAll('\\.\\.\\.', '.*');
  return new RegExp(`^${pattern}$`).test(printed);
}

/** A clone after `npm ci`: the files of git, the packages, and a build. `node_modules` is its own folder, of links. */
function makeClone(folder: string): void {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0');
  for (const file of files.filter((name) => name !== '' && !name.startsWith('test/') && existsSync(join(ROOT, name)))) {
    cpSync(join(ROOT, file), join(folder, file));
  }
  if (!existsSync(join(ROOT, 'dist', 'cli.js'))) throw new Error('run `npm run build` first');
  cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true });
  const packages = join(ROOT, 'node_modules');
  mkdirSync(join(folder, 'node_modules', '.bin'), { recursive: true });
  for (const name of readdirSync(packages).filter((one) => !one.startsWith('.'))) {
    symlinkSync(join(packages, name), join(folder, 'node_modules', name));
  }
  symlinkSync(join(packages, 'node', 'bin', 'node'), join(folder, 'node_modules', '.bin', 'node'));
  symlinkSync('../../dist/cli.js', join(folder, 'node_modules', '.bin', 'handbill'));
}

/**
 * What npx does with a command that is installed: it looks for it in the folders above, and puts them into PATH. At the
 * root of a clone npx builds handbill once more before the first command, which takes longer than all of this.
 */
const NPX = `#!/bin/sh
at=$PWD
until [ -x "$at/node_modules/.bin/$1" ]; do
  [ "$at" = / ] && { echo "npx: $1 is not installed" >&2; exit 127; }
  at=$(dirname "$at")
done
PATH=$at/node_modules/.bin:$PATH exec "$@"
`;

const STEPS = stepsOf(README, 'Start');

describe('from a clone to a scheduled campaign', () => {
  let base = '';
  let cwd = '';

  beforeAll(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), 'handbill-minutes-')));
    cwd = join(base, 'handbill');
    makeClone(cwd);
    mkdirSync(join(base, 'bin'));
    writeFileSync(join(base, 'bin', 'npx'), NPX);
    chmodSync(join(base, 'bin', 'npx'), 0o755);
  });
  afterAll(() => rmSync(base, { recursive: true, force: true }));

  /** As typed into a shell; what `cd` does holds for the next command too. */
  function run(command: string): { readonly status: number | null; readonly printed: string } {
    // Without a terminal npx and npm would be other programs than a reader has: only their way to a registry is closed.
    const env = {
      PATH: `${join(base, 'bin')}:${process.env['PATH']}`,
      HOME: base,
      NO_COLOR: '1',
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
      npm_config_loglevel: 'error',
    };
    const [, folder] = /^cd (\S+)$/.exec(command) ?? [];
    if (folder !== undefined) cwd = join(cwd, folder);
    const ended = spawnSync('sh', ['-c', command === `cd ${folder}` ? 'pwd >/dev/null' : command], { cwd, env });
    return { status: ended.status, printed: `${ended.stdout}${ended.stderr}` };
  }

  it('begins with the installation, which a build of this very checkout replaces', () => {
    expect(STEPS[0]).toEqual({ command: 'npm ci', shown: '' });
    expect(STEPS.filter(({ command }) => command.includes('npm ci'))).toHaveLength(1);
  });

  // Each needs those before it: vitest runs them in order.
  it.each(STEPS.slice(1))('$command', ({ command, shown }) => {
    const { status, printed } = run(command);
    expect(status, printed).toBe(0);
    expect(isShown(shown, printed), `shown:\n${shown}\nprinted:\n${printed}`).toBe(true);
  });

  it('has come as far as a campaign that was sent, that is due, and that cron calls for', () => {
    const said = STEPS.map(({ command }) => command);
    for (const needed of ['init', 'validate', 'preview', 'send', 'report', 'schedule --format crontab', 'due']) {
      expect(
        said.some((command) => command.startsWith(`npx handbill ${needed}`)),
        needed,
      ).toBe(true);
    }
    expect(existsSync(join(cwd, '.handbill', 'ledger.db'))).toBe(true);
    expect(readFileSync(join(cwd, 'campaigns/hello/campaign.yaml'), 'utf8')).toMatch(/^schedule: /m);
  });
});

test('every block of commands in that part is one that is run', () => {
  const section = /^## Start\n([\s\S]*?)(?=^## )/m.exec(README)?.[1] ?? '';
  expect(
    [...section.matchAll(/^```(\w+)$/gm)].map(([, language]) => language).filter((one) => one !== 'console'),
  ).toEqual([]);
  expect(STEPS.length).toBeGreaterThan(10);
});

describe('what is shown is compared', () => {
  it.each<[label: string, shown: string, printed: string, same: boolean]>([
    ['word for word', 'a\nb\n', 'a\nb\n', true],
    ['a line is missing', 'a\nb\n', 'a\n', false],
    ['a line is new', 'a\n', 'a\nb\n', false],
    ['another word', 'a (b)\n', 'a (c)\n', false],
    ['any lines', 'a\n...\nd\n', 'a\nb\nc\nd\n', true],
    ['any lines, none', 'a\n...\nd\n', 'a\nd\n', true],
    ['any lines at the end', 'a\n...\n', 'a\nb\n', true],
    ['any lines, then another', 'a\n...\nd\n', 'a\nb\n', false],
    ['any text in a line', 'cd ...x && y\n', 'cd /a/x && y\n', true],
    ['no text over lines', 'cd ...x\n', 'cd a\nx\n', false],
  ])('%s', (_label, shown, printed, same) => {
    expect(isShown(shown, printed)).toBe(same);
  });
});

test('npx itself finds handbill from the folder of a project in a clone', () => {
  const base = mkdtempSync(join(tmpdir(), 'handbill-npx-'));
  try {
    mkdirSync(join(base, 'shop'));
    mkdirSync(join(base, 'node_modules', '.bin'), { recursive: true });
    writeFileSync(join(base, 'shop', 'package.json'), '{ "private": true }');
    writeFileSync(join(base, 'node_modules', '.bin', 'handbill'), '#!/bin/sh\necho "found: $*"\n', { mode: 0o755 });
    const env = { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, HOME: base, npm_config_offline: 'true' };
    const said = execFileSync('npx', ['handbill', 'validate'], {
      cwd: join(base, 'shop'),
      env,
      encoding: 'utf8',
      stdio: 'pipe',
    });
    expect(said).toBe('found: validate\n');
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
});

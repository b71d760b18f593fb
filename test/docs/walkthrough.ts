import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { handbillHere } from '../cli/in-process.ts';
import { CLI, COMPILED } from '../helpers/cli.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const NODE = join(ROOT, 'node_modules', 'node', 'bin', 'node');

/**
 * A step of a guide: a file that it shows, below a line with nothing but its path (`` `campaigns/hello/people.csv`: ``),
 * or a command with what it prints. A comment above a file names the encoding in which it is written.
 */
export type Step =
  | { readonly kind: 'file'; readonly path: string; readonly bytes: Buffer }
  | { readonly kind: 'command'; readonly command: string; readonly shown: string };

/** The steps of a page, in its order. */
export function stepsOf(page: string): readonly Step[] {
  const text = readFileSync(join(ROOT, 'docs', page), 'utf8');
  return [...text.matchAll(BLOCK)].flatMap(([, path, encoding = 'utf-8', language, body = '']): readonly Step[] => {
    if (language === 'console') return commandsIn(body);
    return path === undefined ? [] : [{ kind: 'file', path, bytes: encoded(body, encoding) }];
  });
}

const BLOCK = /(?:^`([^`\n]+)`[^\n]*:\n\n(?:<!-- ([a-z0-9-]+) -->\n)?)?^```(\w+)\n([\s\S]*?)^```$/gm;

function commandsIn(body: string): readonly Step[] {
  return body
    .split(/^\$ /m)
    .slice(1)
    .map((block) => {
      // A command goes on behind a backslash.
      const [, command = '', shown = ''] = /^((?:.*\\\n)*.*)\n([\s\S]*)$/.exec(block) ?? [];
      return { kind: 'command', command, shown };
    });
}

function encoded(text: string, encoding: string): Buffer {
  if (encoding === 'utf-8-bom') return Buffer.from(`\uFEFF${text}`);
  if (encoding === 'utf-16le-bom') return Buffer.from(`\uFEFF${text}`, 'utf16le');
  if (encoding === 'windows-1252') return Buffer.from(text, 'latin1');
  if (encoding !== 'utf-8') throw new Error(`No file is written in ${encoding}.`);
  return Buffer.from(text);
}

/** A shell in a folder of its own, with `handbill` among its commands. */
export interface Walk extends Disposable {
  readonly folder: string;
  /** Writes the file, or runs the command and returns what it printed, on both streams in turn. */
  take(step: Step): Promise<string>;
}

export function startWalk(): Walk {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'handbill-walk-')));
  const bin = join(folder, '..', `${folder.slice(folder.lastIndexOf('/') + 1)}-bin`);
  mkdirSync(bin);
  const script = join(bin, 'handbill');
  writeFileSync(script, `#!/bin/sh\nexec '${NODE}' '${CLI}' "$@"\n`);
  chmodSync(script, 0o755);
  // Exported variables and the current folder go from one command to the next, as in the reader's shell.
  const state = join(bin, 'state');
  writeFileSync(state, `cd '${folder}'\n`);
  const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: bin, TZ: 'UTC', NODE_COMPILE_CACHE: COMPILED };
  const groups: number[] = [];
  return {
    folder,
    take: async (step) => {
      if (step.kind === 'file') {
        mkdirSync(dirname(join(folder, step.path)), { recursive: true });
        writeFileSync(join(folder, step.path), step.bytes);
        return '';
      }
      const plain = /^handbill((?: [\w@./:=+-]+)+)$/.exec(step.command)?.[1];
      if (plain !== undefined) return await here(plain.trim().split(' '), state, env);
      const script = `. '${state}'\n${step.command}\n{ export -p; echo "cd '$PWD'"; } > '${state}'\n`;
      return await shell(script, { cwd: folder, env, groups });
    },
    [Symbol.dispose]: () => {
      for (const group of groups) endGroup(group);
      rmSync(folder, { recursive: true, force: true });
      rmSync(bin, { recursive: true, force: true });
    },
  };
}

/** A command that needs no shell: in this process; a separate one takes ten times as long. */
async function here(args: readonly string[], state: string, first: NodeJS.ProcessEnv): Promise<string> {
  const text = readFileSync(state, 'utf8');
  const exported = [...text.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name = '', value = '']) => [name, value]);
  const folder = /^cd '(.*)'$/m.exec(text)?.[1] ?? '';
  const options = { env: { ...first, ...Object.fromEntries(exported) }, tableWidth: Number.POSITIVE_INFINITY };
  let shown = '';
  await handbillHere(folder, args, options, (text) => {
    shown += text;
  });
  return shown;
}

/** A command of a page that waits for something that never comes must not outlive the tests. */
const LONGEST_MS = 120_000;

/** What a reader sees: stdout and stderr as they come. Processes that go on in the background belong to its group. */
async function shell(script: string, { cwd, env, groups }: Shell): Promise<string> {
  const child = spawn('sh', ['-c', `exec 2>&1\n${script}`], {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { pid } = child;
  if (pid !== undefined) groups.push(pid);
  const timer = setTimeout(() => pid !== undefined && endGroup(pid), LONGEST_MS);
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    text += more;
  });
  await new Promise((resolve) => child.on('close', resolve));
  clearTimeout(timer);
  return text;
}

interface Shell {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The process groups of the commands so far. */
  readonly groups: number[];
}

function endGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

/**
 * What a page shows as a pattern: a line `...` means any lines, `…` for anything within a line (a time, a duration, a
 * random id).
 */
export function patternOf(shown: string): RegExp {
  const lines = shown.split('\n').map((line) => {
    if (line === '...') return '(?:.*\\n)*?';
    return `${line.split('…').map(literally).join('.*?')}\n`;
  });
  // The last piece is what comes after the last line end: nothing.
  return new RegExp(`^${lines.slice(0, -1).join('')}$`);
}

function literally(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

/** Follows a page to its end. What is compared with the page comes afterwards, so that pages go side by side. */
async function follow(page: string): Promise<readonly string[]> {
  using walk = startWalk();
  const printed: string[] = [];
  for (const step of stepsOf(page)) printed.push((await walk.take(step)).replaceAll(walk.folder, '/srv/shop'));
  return printed;
}

/** Follows pages side by side, and compares each command with what its page shows. */
export function describeWalks(pages: readonly string[]): void {
  const followed = new Map(pages.map((page) => [page, null as readonly string[] | null]));
  beforeAll(async () => {
    await Promise.all(pages.map(async (page) => followed.set(page, await follow(page))));
  }, 2 * LONGEST_MS);

  describe.each(pages)('docs/%s', (page) => {
    const steps = stepsOf(page);

    it('has files and commands', () => {
      expect(steps.filter(({ kind }) => kind === 'file').length).toBeGreaterThan(1);
      expect(steps.filter(({ kind }) => kind === 'command').length).toBeGreaterThan(3);
    });

    const commands = steps.flatMap((step, index) =>
      step.kind === 'command' ? [[`$ ${step.command}`, index, step.shown] as const] : [],
    );
    test.each(commands)('%s', (_label, index, shown) => {
      expect(followed.get(page)?.[index]).toMatch(patternOf(shown));
    });
  });
}

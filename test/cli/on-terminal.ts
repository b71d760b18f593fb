import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { COMPILED, until } from '../helpers/cli.ts';

const NODE = join(import.meta.dirname, '..', '..', 'node_modules', 'node', 'bin', 'node');

export interface TerminalOptions {
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Default: the Node that the project pins. */
  readonly node?: string;
  /** What is done by the shell of the terminal with the command: `> file`, `| cat`. */
  readonly shell?: string;
}

/** A process on a terminal of its own. */
export interface OnTerminal {
  readonly done: Promise<{ readonly status: number | null; readonly screen: string }>;
  screen(): string;
  type(keys: string): void;
  resize(columns: number): void;
  /** Signals the command itself. */
  kill(signal: NodeJS.Signals): void;
  /** The terminal is gone: its window was closed, its connection was lost. */
  hangUp(): void;
  /** The command, not the terminal, has ended. */
  ended(): boolean;
}

/** Runs a script on a terminal. Needs `script` of util-linux; throws where there is none. */
export async function onTerminal(
  script: string,
  args: readonly string[],
  { columns = 80, env = {}, cwd = '/', node = NODE, shell = '' }: TerminalOptions = {},
): Promise<OnTerminal> {
  if (spawnSync('script', ['--version']).status !== 0) throw new Error('This proof needs script (util-linux).');
  const run = shell === '' ? 'exec ' : '';
  const command = `stty cols ${columns} rows 24; ${run}${[node, script, ...args].join(' ')} ${shell}`;
  const base = { PATH: process.env['PATH'], HOME: cwd, TERM: 'xterm', LANG: 'C.UTF-8', SHELL: '/bin/sh', TZ: 'UTC' };
  const terminal = spawn('script', ['-qfec', command, '/dev/null'], {
    cwd,
    env: { ...base, NODE_COMPILE_CACHE: COMPILED, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let screen = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
  });
  terminal.stdin.on('error', () => undefined);
  const done = new Promise<{ status: number | null; screen: string }>((resolve, reject) => {
    terminal.on('error', reject);
    terminal.on('close', (status) => resolve({ status, screen }));
  });
  const pid = await pidOnTerminal(terminal);
  return {
    done,
    screen: () => screen,
    type: (keys) => void terminal.stdin.write(keys),
    resize: (to) => {
      const set = spawnSync('stty', ['-F', readlinkSync(`/proc/${pid}/fd/2`), 'cols', String(to)]);
      if (set.status !== 0) throw new Error(`stty: ${String(set.stderr)}`);
    },
    kill: (signal) => void process.kill(pid, signal),
    hangUp: () => void terminal.kill('SIGKILL'),
    ended: () => !existsSync(`/proc/${pid}`) || / [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')),
  };
}

/** The process that `script` runs: 0 if it has ended already, as a short command on a busy machine may have. */
async function pidOnTerminal(terminal: ChildProcess): Promise<number> {
  const children = `/proc/${terminal.pid}/task/${terminal.pid}/children`;
  let found = '';
  await until('the command on its terminal', () => {
    found = existsSync(children) ? readFileSync(children, 'utf8').trim() : '';
    return found !== '' || terminal.exitCode !== null || terminal.signalCode !== null;
  });
  return Number(found);
}

/** Every line that stood on the screen at some time, without what moves the cursor or colours. */
export function linesOf(screen: string): readonly string[] {
  const plain = screen.replaceAll(ESCAPES, '\n').replaceAll(COLOURS, '');
  return plain.split(/[\r\n]+/).filter((line) => line !== '');
}

const ESC = String.fromCharCode(27);
const ESCAPES = new RegExp(`${ESC}\\[[0-9;?]*[A-HJKSThl]`, 'g');
const COLOURS = new RegExp(`${ESC}\\[[0-9;]*m`, 'g');
export const HIDES_CURSOR = `${ESC}[?25l`;
export const hasColour = (screen: string): boolean => screen.search(COLOURS) !== -1;

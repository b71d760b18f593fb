import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { pidOnTerminal } from '../cli/on-terminal.ts';
import { CLI } from '../helpers/cli.ts';
import { CANARY_KEY, type Scene } from '../oracle/scene.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** A command on a terminal of its own, with a user at the keyboard. */
export interface InTerminal {
  readonly done: Promise<{ readonly status: number | null; readonly screen: string }>;
  screen(): string;
  type(keys: string): void;
  /** Signals the command itself. */
  kill(signal: NodeJS.Signals): void;
  /** The terminal is gone: its window was closed, its connection was lost. */
  hangUp(): void;
  /** The command, not the terminal, has ended. */
  ended(): boolean;
}

/**
 * Runs `handbill ARGS` on a terminal. Needs `script` of util-linux; throws where there is none.
 *
 * @param start program and script; default: the Node that the project pins, and handbill as tests run it
 */
export async function startInTerminal(
  scene: Scene,
  args: readonly string[],
  start: readonly string[] = [join(ROOT, 'node_modules/node/bin/node'), CLI],
): Promise<InTerminal> {
  if (spawnSync('script', ['--version']).status !== 0) throw new Error('This proof needs script (util-linux).');
  const command = ['exec', ...start, ...args].join(' ');
  const terminal = spawn('script', ['-qfec', command, '/dev/null'], {
    cwd: scene.root,
    env: { PATH: process.env['PATH'], HOME: scene.root, TERM: 'xterm', SHELL: '/bin/sh', HANDBILL_API_KEY: CANARY_KEY },
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
    kill: (signal) => void process.kill(pid, signal),
    hangUp: () => void terminal.kill('SIGKILL'),
    ended: () => !existsSync(`/proc/${pid}`) || / [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')),
  };
}

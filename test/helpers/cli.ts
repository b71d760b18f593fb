import { spawn } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { isFresh } from '../../.scripts/fresh.ts';
import { compiledFolder } from '../temporary.ts';

const ROOT = join(import.meta.dirname, '..', '..');
// The Node that the project pins, whatever runs the tests. Started by its own path, so that signals reach it.
const NODE = join(ROOT, 'node_modules', 'node', 'bin', 'node');
export const SOURCE = join(ROOT, 'src', 'cli.ts');
/**
 * The build, which is what users run and which takes up to half less CPU. The sources where it is missing or older than
 * one of them, and in hunts, during which they may change.
 */
export const CLI = process.env['VITEST'] !== undefined && isFresh(ROOT) ? join(ROOT, 'dist', 'cli.js') : SOURCE;
/** Of this run of tests; hunts have none yet. */
export const COMPILED = process.env['NODE_COMPILE_CACHE'] ?? compiledFolder();

/** How a process ended and what it said. */
export interface CliResult {
  /** Null when a signal ended the process. */
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that is under way. */
export interface RunningCli {
  readonly done: Promise<CliResult>;
  readonly pid: number;
  /** What it has printed so far on stdout. */
  stdout(): string;
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
}

export interface CliOptions {
  readonly cwd: string;
  /** Added to the bare environment that commands are run with; nothing else of the tests' own environment is. */
  readonly env?: Readonly<Record<string, string>>;
  /** What is run in the place of `CLI`. */
  readonly script?: string;
  /** Program and arguments that start it in its own place, such as `bash -c 'ulimit -n 20; exec "$@"' limits`. */
  readonly via?: readonly string[];
  /** Descriptors of this process that it gets instead of pipes that are read. */
  readonly stdout?: number;
  readonly stderr?: number;
}

/** Starts `handbill ARGS` in a process of its own, without a terminal. */
export function startCli(args: readonly string[], options: CliOptions): RunningCli {
  const [program = NODE, ...rest] = [...(options.via ?? []), NODE, options.script ?? CLI, ...args];
  const child = spawn(program, rest, {
    cwd: options.cwd,
    env: { PATH: process.env['PATH'], HOME: options.cwd, TZ: 'UTC', NODE_COMPILE_CACHE: COMPILED, ...options.env },
    stdio: ['ignore', options.stdout ?? 'pipe', options.stderr ?? 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const done = new Promise<CliResult>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status, signal) => resolve({ status, signal, stdout, stderr }));
  });
  return {
    done,
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    kill: (signal) => void child.kill(signal),
  };
}

/** Runs `handbill ARGS` to its end. */
export async function runCli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  return await startCli(args, options).done;
}

/** Waits until something is so; throws after `timeoutMs`, so that a test never hangs silently. */
export async function until(what: string, holds: () => boolean, timeoutMs = 60_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`waited ${timeoutMs} ms in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

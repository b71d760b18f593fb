import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const root = join(import.meta.dirname, '..', '..');
const built = join(root, 'dist', 'cli.js');

/** The built command where there is one, else the sources. */
export const CLI = existsSync(built) ? built : join(root, 'src', 'cli.ts');

/** What one process used from its start to its end. */
export interface Usage {
  /** User and system time. */
  readonly cpuUs: number;
  /** Most memory that was resident at once. */
  readonly peakBytes: number;
  readonly wallMs: number;
}

export interface Call {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Further options of Node. */
  readonly nodeOptions?: readonly string[];
}

/**
 * Runs a script in a process of its own, its output to nowhere.
 * @throws Error with what it said on stderr, when it ends with another status than 0
 */
export async function measure(script: string, args: readonly string[], call: Call): Promise<Usage> {
  const file = join(call.cwd, 'usage.json');
  rmSync(file, { force: true });
  const preload = ['--require', join(import.meta.dirname, 'usage.cjs')];
  // A real file descriptor: with 'ignore' some programs notice that there is no reader.
  const nowhere = openSync('/dev/null', 'w');
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...preload, ...(call.nodeOptions ?? []), script, ...args], {
    cwd: call.cwd,
    env: { ...process.env, ...call.env, HANDBILL_BENCH_USAGE: file },
    stdio: ['ignore', nowhere, 'pipe'],
  });
  let complaints = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaints = (complaints + chunk.toString('utf8')).slice(-4_000);
  });
  const [status] = (await once(child, 'close')) as [number | null];
  const wallMs = performance.now() - startedAt;
  if (status !== 0) throw new Error(`${script} ${args.join(' ')} ended with ${status}:\n${complaints}`);
  const { cpuUs, peakBytes } = JSON.parse(readFileSync(file, 'utf8')) as { cpuUs: number; peakBytes: number };
  return { cpuUs, peakBytes, wallMs };
}

/** A server in a process of its own. */
export interface Served {
  readonly url: string;
  readonly process: ChildProcess;
}

/** Starts the sandbox in a process of its own and waits until it says where it serves. */
export function startSandbox(cwd: string, key: string): Promise<Served> {
  return startServer([CLI, 'sandbox', '--port', '0', '--quiet'], { cwd, env: { HANDBILL_API_KEY: key } });
}

/** Starts a script that serves on loopback and prints its address. */
export async function startServer(args: readonly string[], { cwd, env }: Call): Promise<Served> {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    said += String(chunk);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
    if (url !== undefined) return { url, process: child };
  }
  throw new Error(`${args.join(' ')} did not start: ${said}`);
}

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { runCli } from '../helpers/cli.ts';

const NODE = join(import.meta.dirname, '..', '..', 'node_modules', 'node', 'bin', 'node');
const CHILD = join(import.meta.dirname, 'child.ts');
// Writes down what a process used when it ends.
const USAGE = join(import.meta.dirname, '..', 'bench', 'usage.cjs');

/** What a command did. */
export interface Ran {
  /** Null when it did not end by itself. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** CPU of all threads, which other work on the machine does not lengthen. */
  readonly cpuMs: number;
  readonly wallMs: number;
  /** The most memory that the process held at any time, in MB. */
  readonly peakMb: number;
  /** What the prototypes of the language hold since then; not known of a process that has ended. */
  readonly polluted?: readonly string[];
}

export interface Command {
  readonly cwd: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs command lines and watches them: for time, for memory, and for an end that is none. */
export interface Target extends AsyncDisposable {
  run(command: Command): Promise<Ran>;
}

/** A command that needs longer hangs: on a busy machine, a good one may need a minute. `cpuMs` says what it worked. */
const STUCK_MS = 5 * 60_000;

/** Many commands in one process (see child.ts); after a hang, a crash or too much memory the next gets a new one. */
export function startTarget(): Target {
  let child: ChildProcessWithoutNullStreams | null = null;
  let said = '';
  const begin = (): ChildProcessWithoutNullStreams => {
    said = '';
    const flags = ['--max-semi-space-size=16', '--disable-warning=MaxListenersExceededWarning'];
    const begun = spawn(NODE, [...flags, CHILD], { env: { PATH: process.env['PATH'], TZ: 'UTC' } });
    begun.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    return begun;
  };
  const end = (): void => {
    child?.kill('SIGKILL');
    child = null;
  };
  return {
    async run({ cwd, args, env = {} }) {
      if (child !== null && child.exitCode !== null) {
        child = null;
        throw new Error(`The process ended after a command had ended, by something that the command left: ${said}`);
      }
      child ??= begin();
      const ran = await ask(child, { cwd, args, env: { HOME: cwd, ...env } });
      if (ran.status === null || child.exitCode !== null || ran.peakMb > 400) end();
      return { ...ran, stderr: ran.stderr + said };
    },
    async [Symbol.asyncDispose]() {
      end();
    },
  };
}

/** The real command line, a process for each, with the kernel's own figures. */
export function realTarget(): Target {
  const folder = mkdtempSync(join(tmpdir(), 'handbill-usage-'));
  const file = join(folder, 'usage.json');
  return {
    async run({ cwd, args, env = {} }) {
      rmSync(file, { force: true });
      const began = performance.now();
      const watched = { NODE_OPTIONS: `--require ${USAGE}`, HANDBILL_BENCH_USAGE: file };
      const { status, stdout, stderr } = await runCli(args, { cwd, env: { ...env, ...watched } });
      const usage = JSON.parse(readFileSync(file, 'utf8')) as { readonly cpuUs: number; readonly peakBytes: number };
      const wallMs = performance.now() - began;
      return { status, stdout, stderr, wallMs, cpuMs: usage.cpuUs / 1000, peakMb: usage.peakBytes / 1024 ** 2 };
    },
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function ask(child: ChildProcessWithoutNullStreams, job: object): Promise<Ran> {
  const lines = createInterface({ input: child.stdout });
  resetPeak(child.pid);
  const started = performance.now();
  child.stdin.write(`${encode(job)}\n`);
  const waiting = new AbortController();
  const answer = await Promise.race([
    once(lines, 'line', waiting).then(([line]) => String(line)),
    once(child, 'close', waiting).then(() => null),
    setTimeout(STUCK_MS, null, waiting),
  ]);
  waiting.abort();
  lines.close();
  const wallMs = performance.now() - started;
  const peakMb = peakOf(child.pid);
  if (answer !== null) return { ...decode<Ran>(answer), peakMb };
  return { status: child.exitCode, stdout: '', stderr: '', cpuMs: wallMs, wallMs, peakMb };
}

/** Plain ASCII: readline takes U+2028 for the end of a line. */
export function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

export function decode<T>(line: string): T {
  return JSON.parse(Buffer.from(line, 'base64').toString('utf8')) as T;
}

/** Linux keeps the highest resident size of a process, and forgets it when told to. */
function resetPeak(pid: number | undefined): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Elsewhere the peak is not known; see peakOf.
  }
}

function peakOf(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

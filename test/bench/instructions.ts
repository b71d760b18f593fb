import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import type { Call } from './measure.ts';

/** Caches are not simulated, only instructions counted. `--smc-check`: V8 writes code and runs it. */
const VALGRIND = [
  '--tool=cachegrind',
  '--cache-sim=no',
  '--cachegrind-out-file=/dev/null',
  '--smc-check=all-non-file',
  '--trace-children=yes',
];

/**
 * So that two runs do the same. Left to itself V8 compiles and collects in other threads, and whether a row is run by the
 * interpreter or by what was compiled depends on how quick these are: `preview` varied by 20%. Now it differs by less than
 * 0.1% between runs, with 15 to 30 other processes on two cores.
 */
const STEADY = ['--predictable', '--single-threaded', '--random-seed=1', '--hash-seed=1'];

/** A small young generation and no marking beside the work: how often V8 collects then depends on the work alone. */
const BOUNDS = ['--max-semi-space-size=4', '--no-allocation-site-pretenuring', '--no-incremental-marking'];

/** What counts can be compared with: those of the same Node on the same kind of processor. */
export const COUNTER = `Node ${process.versions.node} ${process.arch}`;

/** Whether instructions can be counted on this machine. */
export function canCountInstructions(): boolean {
  return spawnSync('valgrind', ['--version'], { stdio: 'ignore' }).status === 0;
}

/**
 * The instructions that a script takes, its start included, as many however busy the machine is. It takes 20 to 50 times
 * as long as usual.
 * @throws Error with what was said, when it ends with another status than 0 or valgrind cannot run it
 */
export async function instructionsOf(script: string, args: readonly string[], { cwd, env }: Call): Promise<number> {
  const child = spawn('valgrind', [...VALGRIND, process.execPath, ...STEADY, ...BOUNDS, script, ...args], {
    cwd,
    // Nothing else of this environment: what a machine sets would be part of the count.
    env: { PATH: process.env['PATH'], TZ: 'UTC', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
  });
  const [status] = (await once(child, 'close')) as [number | null];
  const counted = [...said.matchAll(/I +refs: +([\d,]+)/g)].map(([, count = '']) => Number(count.replaceAll(',', '')));
  if (status !== 0 || counted.length === 0) throw new Error(`${script} ended with ${status}:\n${said.slice(-4_000)}`);
  return counted.reduce((sum, count) => sum + count, 0);
}

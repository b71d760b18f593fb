import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import type { Call } from './measure.ts';

/**
 * Caches are not simulated, only instructions counted. `--smc-check`: V8 writes code and runs it; `--trace-children`:
 * commands that walk a list start themselves again in place.
 */
const VALGRIND = [
  '--tool=cachegrind',
  '--cache-sim=no',
  '--cachegrind-out-file=/dev/null',
  '--smc-check=all-non-file',
  '--trace-children=yes',
];

/** Whether instructions can be counted on this machine. */
export function canCountInstructions(): boolean {
  return spawnSync('valgrind', ['--version'], { stdio: 'ignore' }).status === 0;
}

/**
 * The instructions that a script takes, its start included. They vary by 0.3 % for a start of handbill and by 4 % for an
 * empty script, however busy the machine is, where CPU time varies by 15 %. It takes 20 to 50 times as long as usual.
 */
export async function instructionsOf(script: string, args: readonly string[], { cwd, env }: Call): Promise<number> {
  const child = spawn('valgrind', [...VALGRIND, process.execPath, script, ...args], {
    cwd,
    env: { ...process.env, ...env },
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

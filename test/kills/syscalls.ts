import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { markerOf } from '../../src/util/ledger-address.ts';
import type { Scene } from '../oracle/scene.ts';
import type { KillsApi } from './api.ts';
import { createKillsScene } from './campaign.ts';
import { SEND } from './finish.ts';
import { type PointPlan, type PointResult, playPoints } from './points.ts';

/*
 * Only on Linux: strace ends the process before the k-th call of one kind, whichever code makes it. What SQLite does below its
 * statements is seen, such as the halves of a commit: pages of the log, its sync, the checkpoint, the files that come and
 * go. strace counts for each thread; all of these are made by the main one.
 */

/** Calls on the files of the ledger, its lock, its marker and its reserve. */
const ON_FILES = [
  'openat',
  'pwrite64',
  'write',
  'fsync',
  'fdatasync',
  'ftruncate',
  'unlink',
  'rename',
  'mkdir',
] as const;
/** Calls on sockets; other uses of them (the terminal is a pipe) only adds points. */
const ON_SOCKETS = ['connect', 'writev', 'sendto', 'sendmsg', 'shutdown'] as const;

/** @throws Error that says how to get it, where there is no strace */
export function requireStrace(): void {
  const { status, stderr } = spawnSync('strace', ['-V'], { encoding: 'utf8' });
  if (status === 0) return;
  throw new Error(
    `Kills at every system call need strace, which is for Linux alone (apt-get install strace): ${stderr ?? 'not found'}`,
  );
}

/** How often one start of the short list makes each of the calls; those that it never makes are left out. */
export async function countSyscalls(api: KillsApi): Promise<ReadonlyMap<string, number>> {
  const address = await api.addressOf('syscalls', { latencyMs: 3, faults: 0, busyNumber: 0 });
  using scene = createKillsScene({ address, rows: 2, concurrency: 1, timeout: '5s' });
  const counts = new Map<string, number>();
  for (const [names, paths] of [[ON_FILES, pathsOf(scene)] as const, [ON_SOCKETS, []] as const]) {
    const list = scene.path('syscalls.txt');
    // A run is finished the first time, so each count has a ledger of its own.
    await scene.send([...SEND, '--occurrence', `count-${counts.size}`], {
      via: ['strace', '-f', '-qq', '-o', list, ...paths, '-e', `trace=${names.join(',')}`],
    });
    for (const [, name = ''] of readFileSync(list, 'utf8').matchAll(/^[0-9]+ +([a-z0-9]+)\(/gm)) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  await address.close();
  return counts;
}

/** Every call of one kind, one kill each. */
export async function killAtSyscalls(
  name: string,
  api: KillsApi,
  onPoint?: (result: PointResult) => void,
): Promise<readonly PointResult[]> {
  return await playPoints((count) => syscallPlan(name, count), api, onPoint);
}

function syscallPlan(name: string, count: number): PointPlan {
  const onFiles = (ON_FILES as readonly string[]).includes(name);
  return {
    name: `${name}-${count}`,
    bodies: count % 8 === 0,
    more: (scene) => ({ via: straceKill(name, count, onFiles ? pathsOf(scene) : []) }),
    pointOf: () => `${name} number ${count}`,
  };
}

function straceKill(name: string, count: number, paths: readonly string[]): string[] {
  // Without --seccomp-bpf: with it, strace 6.1 injects nothing.
  const inject = ['-e', `trace=${name}`, '-e', `inject=${name}:signal=SIGKILL:when=${count}`];
  return ['strace', '-f', '-qq', '-o', '/dev/null', ...paths, ...inject];
}

function pathsOf({ ledger, path }: Scene): string[] {
  const beside = ['', '-wal', '-shm', '-journal', '.reserve'].map((suffix) => ledger + suffix);
  return [path('.handbill'), path('.handbill/locks'), markerOf(ledger), ...beside].flatMap((file) => ['-P', file]);
}

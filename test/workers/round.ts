import { setTimeout as sleep } from 'node:timers/promises';
import { type CliResult, type RunningCli, startCli } from '../helpers/cli.ts';
import { ask } from '../helpers/postgres.ts';
import type { PostgresServer } from '../helpers/postgres-server.ts';
import type { KillsApi } from '../kills/api.ts';
import { createKillsScene } from '../kills/campaign.ts';
import { badEnd, crashed } from '../kills/checks.ts';
import { hasFinished, judgeFinished, SEND, sendUntilFinished } from '../kills/finish.ts';
import { createGauge } from '../kills/instants.ts';
import { createRandom } from '../kills/random.ts';
import { CANARY_KEY, type Scene } from '../oracle/scene.ts';
import type { Network } from './hosts.ts';
import { type Way, wayTo } from './proxy.ts';

/*
 * One run that several processes share, one of which meets a fault, or their database does: real processes, on a real
 * PostgreSQL, each with a way to it that can be cut.
 */

/** `lose`: its host is never heard of again; only where hosts have networks of their own. */
export type Fault = 'kill' | 'stop' | 'cut' | 'leave' | 'restart' | 'crash' | 'lose';
const FAULTS: readonly [Fault, ...Fault[]] = ['kill', 'stop', 'cut', 'leave', 'restart', 'crash'];
const FAULTS_OF_HOSTS: readonly [Fault, ...Fault[]] = [...FAULTS, 'lose', 'cut', 'lose'];

export interface RoundPlan {
  readonly seed: number;
  readonly fault: Fault;
  /** Who meets it: 0 is `send`, then the workers. The database is none of them. */
  readonly victim: number;
  /** After so many requests of all. */
  readonly after: number;
  readonly workers: number;
  readonly rows: number;
  readonly concurrency: number;
  readonly latencyMs: number;
  readonly faults: number;
  /** Where `send` ended too soon it is started again at once, while the others go on. */
  readonly again: boolean;
  /** Each process on a host of its own. */
  readonly hosts: boolean;
}

export interface RoundResult {
  readonly plan: RoundPlan;
  readonly violations: readonly string[];
  readonly doubts: number;
  /** From the fault until no recipient was left to be sent to, in ms. */
  readonly tookMs: number;
}

export const LEASE_MS = 2000;

export function planRound(seed: number, given: Partial<RoundPlan> = {}): RoundPlan {
  const random = createRandom(seed);
  const { workers = 4, hosts = false } = given;
  const rows = random.between(300, 600);
  return {
    seed,
    hosts,
    fault: random.pick(hosts ? FAULTS_OF_HOSTS : FAULTS),
    // More often a worker than `send`.
    victim: random.chance(0.2) ? 0 : random.between(1, workers),
    after: random.between(10, Math.floor(rows * 0.8)),
    workers,
    rows,
    concurrency: random.between(3, 8),
    latencyMs: random.between(40, 120),
    faults: random.pick([0, 0, 20]),
    again: random.chance(0.5),
    ...given,
  };
}

/** Requests that may be in doubt: those of all, since a fault of the database hits all. */
function mostCrashes({ workers, concurrency }: RoundPlan): number {
  return (workers + 1) * concurrency;
}

interface Process {
  readonly running: RunningCli;
  readonly way: Way;
}

/** Where a round is played. */
export interface Ground {
  readonly api: KillsApi;
  readonly server: PostgresServer;
  /** Its address; of its own for each round. */
  readonly database: string;
  /** Null: all processes are on this machine, each with a way to the database that can be cut. */
  readonly network: Network | null;
}

export async function playRound(plan: RoundPlan, { api, server, database, network }: Ground): Promise<RoundResult> {
  const { latencyMs, faults, rows, concurrency } = plan;
  const address = await api.addressOf(`w${plan.seed}`, { latencyMs, faults, busyNumber: 0 });
  if (plan.hosts && network === null) throw new Error('no hosts of their own');
  const openWay = plan.hosts && network !== null ? network.way : wayTo;
  await using send = await openWay(database);
  const limits = '{ stopAfter: { inDoubt: 10000 } }';
  using scene = createKillsScene({ address, rows, concurrency, timeout: '2s', ledger: database, limits });
  const gauge = createGauge(address.receipts);
  const env = { HANDBILL_LEASE: `${LEASE_MS / 1000}s` };
  const workers: Process[] = [];
  const found: string[] = [];
  try {
    for (let at = 0; at < plan.workers; at++) {
      const way = await openWay(database);
      workers.push({ way, running: startWorker(scene, way, env) });
    }
    await waitFor(() => workers.every(({ running }) => running.stderr().includes('waits for runs')), 120_000).catch(
      (error: unknown) => {
        throw new Error(workers.map(({ running }) => running.stderr()).join('\n'), { cause: error });
      },
    );
    const shared = [...SEND, '--workers'];
    const first = scene.start(shared, { env: { ...env, HANDBILL_LEDGER: send.address }, via: send.via });
    const all = [{ running: first, way: send }, ...workers];
    let isOver = false;
    void first.done.then(() => {
      isOver = true;
    });
    await waitFor(() => isOver || gauge.requests() >= plan.after, 60_000);
    const began = performance.now();
    const isDone = strike(plan, all[plan.victim], server);
    const ends: CliResult[] = [];
    const again = { env: { ...env, HANDBILL_LEDGER: database } };
    if (plan.fault === 'lose' && plan.victim === 0) {
      // No process waits for a machine that is gone: the run is begun again on another one.
      ends.push(await sendWhenFree(() => scene.start(shared, again).done));
      send.mend();
    }
    ends.push(await first.done);
    await isDone;
    // Whichever process `send` was: others go on with what it has cut, and one ends the run, or the next start does.
    const isAlone = !endedWell(ends[0]);
    if (isAlone && plan.again) ends.push(await sendWhenFree(() => scene.start(shared, again).done));
    else if (isAlone) await waitFor(async () => !(await isShared(database)), 20_000).catch(() => undefined);
    const tookMs = performance.now() - began;
    const unexpected = ends.filter((end) => !isExpected(plan, end));
    found.push(...unexpected.flatMap((end) => [...badEnd(end)]));
    const more = ends.some(hasFinished) ? [] : await sendUntilFinished(scene);
    const refusing = workers.find(({ running }) => running.stderr().includes('is left to others'));
    if (refusing !== undefined) found.push(`a worker refused: ${refusing.running.stderr()}`);
    for (const { way, running } of workers) {
      way.mend();
      running.kill('SIGTERM');
    }
    const left = await Promise.all(workers.map(async ({ running }) => await running.done));
    for (const { status, signal, stderr } of left) {
      if (signal !== 'SIGKILL' && status !== 143) found.push(`a worker ended with ${status} ${signal}: ${stderr}`);
      if (/^\s+at .*:\d+:\d+\)?$/m.test(stderr)) found.push(`a stack trace: ${stderr}`);
      if (secretsOf(database).some((one) => stderr.includes(one))) found.push(`a secret was printed: ${stderr}`);
    }
    const finished = [...ends, ...more].filter((end) => hasFinished(end) || !isExpected(plan, end));
    found.push(...(await judgeFinished({ scene, ends: finished, mostCrashes: mostCrashes(plan), bodies: false })));
    return { plan, violations: [...new Set(found)], doubts: crashed(scene.endings()).length, tookMs };
  } finally {
    for (const { running, way } of workers) {
      running.kill('SIGCONT');
      running.kill('SIGKILL');
      await running.done;
      await way[Symbol.asyncDispose]();
    }
    await address.close();
  }
}

function secretsOf(database: string): readonly string[] {
  const { password } = new URL(database);
  return [CANARY_KEY, password, decodeURIComponent(password)];
}

function startWorker(scene: Scene, { address, via }: Way, env: Readonly<Record<string, string>>): RunningCli {
  return startCli(['worker', '--env', 'test'], {
    cwd: scene.root,
    env: { HANDBILL_API_KEY: CANARY_KEY, HANDBILL_LEDGER: address, ...env },
    via,
  });
}

/** The server needs a moment to give up the process that held the run: 9 s without a word from it, less once it was killed. */
async function sendWhenFree(send: () => Promise<CliResult>): Promise<CliResult> {
  const end = performance.now() + 30_000;
  for (;;) {
    const last = await send();
    if (last.status !== HELD || performance.now() > end) return last;
    await sleep(500);
  }
}

const HELD = 6;

/** Resolves when the fault is over. */
async function strike({ fault }: RoundPlan, victim: Process | undefined, server: PostgresServer): Promise<void> {
  if (victim === undefined) throw new Error('no victim');
  const { running, way } = victim;
  switch (fault) {
    case 'kill':
      running.kill('SIGKILL');
      return;
    case 'leave':
      running.kill('SIGTERM');
      return;
    case 'stop':
      running.kill('SIGSTOP');
      await sleep(3 * LEASE_MS);
      running.kill('SIGCONT');
      return;
    case 'cut':
      way.cut();
      await sleep(3 * LEASE_MS);
      way.mend();
      return;
    case 'lose':
      way.cut();
      return;
    case 'restart':
    case 'crash':
      await server.stop(fault === 'crash' ? 'SIGQUIT' : 'SIGINT');
      await server.start();
  }
}

function endedWell(end: CliResult | undefined): boolean {
  return end !== undefined && hasFinished(end);
}

/** A start that lost its ledger ends with 7, and one that was told to leave with 143. */
function isExpected({ fault, victim }: RoundPlan, { status, signal }: CliResult): boolean {
  if (fault === 'restart' || fault === 'crash') return status === 7;
  if (victim !== 0) return false;
  return signal === 'SIGKILL' || status === (fault === 'leave' ? 143 : 7);
}

/** The run is still held. */
async function isShared(database: string): Promise<boolean> {
  const [row] = await ask(
    database,
    `SELECT EXISTS (SELECT 1 FROM handbill.runs WHERE state = 'running') AND EXISTS (SELECT 1 FROM handbill.shards) AS going`,
  );
  return row?.['going'] === true;
}

async function waitFor(holds: () => boolean | Promise<boolean>, mostMs: number): Promise<void> {
  const end = performance.now() + mostMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited ${mostMs} ms in vain`);
    await sleep(10);
  }
}

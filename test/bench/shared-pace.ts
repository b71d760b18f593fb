import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { removePostgres, startPostgres } from '../helpers/postgres-server.ts';
import { freshDatabaseOn } from '../workers/databases.ts';
import { arrivalsAt, mostWithin, rateBetween, startArrivals } from './arrivals.ts';
import { API_KEY, type Bench } from './bench.ts';
import { CLI } from './measure.ts';
import { writeCampaign, writeProject } from './project.ts';

const PER_SECOND = 250;
const MOST_WORKERS = 8;

export async function measureSharedPace(bench: Bench): Promise<void> {
  await measureWorkers(bench);
  await measureRuns(bench);
}

/** How well two runs on one ledger keep the rate of their environment, which knows nothing of either. */
async function measureRuns(bench: Bench): Promise<void> {
  const messages = PER_SECOND * bench.seconds;
  const server = await startArrivals(bench.folder, 20);
  const home = mkdtempSync(join(tmpdir(), 'handbill-bench-server-'));
  const database = await startPostgres(home);
  try {
    await writeProject(bench.folder, server.url, `    rate: ${PER_SECOND}/s\n`);
    const env = { HANDBILL_LEDGER: await freshDatabaseOn(database.address) };
    // One is longer: in the end it has the rate for itself.
    const sizes = [Math.floor(messages * 0.4), Math.ceil(messages * 0.6)];
    await Promise.all(
      sizes.map(async (rows) => {
        const campaign = await writeCampaign(bench.folder, rows, 'concurrency: 32');
        await bench.handbill(['send', campaign, '--env', 'local', '--yes'], { env });
      }),
    );
    const arrivals = await arrivalsAt(server.url);
    const all = sizes.reduce((sum, one) => sum + one, 0);
    if (arrivals.length !== all) throw new Error(`${arrivals.length} of ${all} arrived.`);
    const reached = rateBetween(arrivals, PER_SECOND, all - 1);
    const what = `rate of an environment: ${PER_SECOND}/s over ${bench.seconds} s, two runs`;
    const difference = (Math.abs(reached - PER_SECOND) / PER_SECOND) * 100;
    bench.add({ id: 'shared-rate', what: `${what}, difference`, value: difference, unit: '%', goal: { atMost: 2 } });
    const burst = mostWithin(arrivals, 1_000);
    bench.add({ id: 'shared-rate-burst', what: `${what}, most in any second`, value: burst, unit: 'messages' });
  } finally {
    server.process.kill('SIGTERM');
    await removePostgres(database, home);
  }
}

/** How well the rate of a run is kept by one to eight workers together, who join and leave all the time. */
async function measureWorkers(bench: Bench): Promise<void> {
  const messages = PER_SECOND * bench.seconds;
  const server = await startArrivals(bench.folder, 20);
  const home = mkdtempSync(join(tmpdir(), 'handbill-bench-server-'));
  const database = await startPostgres(home);
  try {
    await writeProject(bench.folder, server.url);
    const campaign = await writeCampaign(bench.folder, messages, `concurrency: 32, rate: ${PER_SECOND}/s`);
    const env = { HANDBILL_LEDGER: await freshDatabaseOn(database.address) };
    const over = new AbortController();
    const coming = comeAndGo(bench, env, over.signal);
    await bench.handbill(['send', campaign, '--env', 'local', '--yes', '--workers'], { env });
    over.abort();
    const joined = await coming;
    const arrivals = await arrivalsAt(server.url);
    if (arrivals.length !== messages) throw new Error(`${arrivals.length} of ${messages} arrived.`);
    // The first second is that of `send` alone, whose lanes open one by one.
    const reached = rateBetween(arrivals, PER_SECOND, messages - 1);
    const what = `rate: ${PER_SECOND}/s over ${bench.seconds} s, ${joined} workers who joined and left`;
    bench.add({ id: 'shared-pace-workers', what: 'workers who joined and left', value: joined, unit: 'processes' });
    const difference = (Math.abs(reached - PER_SECOND) / PER_SECOND) * 100;
    bench.add({ id: 'shared-pace', what: `${what}, difference`, value: difference, unit: '%', goal: { atMost: 2 } });
    const burst = mostWithin(arrivals, 1_000);
    bench.add({ id: 'shared-pace-burst', what: `${what}, most in any second`, value: burst, unit: 'messages' });
  } finally {
    server.process.kill('SIGTERM');
    await removePostgres(database, home);
  }
}

/** One more every two seconds up to eight, then one less, and so on; returns how many there were in all. */
async function comeAndGo(bench: Bench, env: Readonly<Record<string, string>>, over: AbortSignal): Promise<number> {
  const there: ChildProcess[] = [];
  let joined = 0;
  let isGrowing = true;
  while (!over.aborted) {
    if (isGrowing) {
      const args = [CLI, 'worker', '--env', 'local', '--quiet'];
      const more = { ...process.env, HANDBILL_API_KEY: API_KEY, ...env };
      there.push(spawn(process.execPath, args, { cwd: bench.folder, env: more, stdio: 'ignore' }));
      joined += 1;
    } else await ended(there.shift());
    if (there.length >= MOST_WORKERS) isGrowing = false;
    if (there.length <= 1) isGrowing = true;
    await sleep(2000, undefined, { signal: over }).catch(() => undefined);
  }
  for (const one of there) await ended(one);
  return joined;
}

async function ended(worker: ChildProcess | undefined): Promise<void> {
  if (worker === undefined || worker.exitCode !== null) return;
  const gone = once(worker, 'exit');
  worker.kill('SIGTERM');
  await gone;
}

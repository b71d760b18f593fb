import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { removePostgres, startPostgres } from '../helpers/postgres-server.ts';
import { freshDatabaseOn } from '../workers/databases.ts';
import { arrivalsAt, startArrivals } from './arrivals.ts';
import { API_KEY, type Bench, median } from './bench.ts';
import { CLI } from './measure.ts';
import { writeCampaign, writeProject } from './project.ts';

const PER_SECOND = 1_000;
const TIMES = 3;

/** How long it takes from the start of `handbill pause` to the last request: on a file, and with a worker beside `send`. */
export async function measurePause(bench: Bench): Promise<void> {
  const server = await startArrivals(bench.folder, 20);
  const home = mkdtempSync(join(tmpdir(), 'handbill-bench-server-'));
  const database = await startPostgres(home);
  try {
    await writeProject(bench.folder, server.url);
    const campaign = await writeCampaign(bench.folder, 60 * PER_SECOND, `concurrency: 64, rate: ${PER_SECOND}/s`);
    const file: number[] = [];
    const shared: number[] = [];
    // In this order: a project that has sent with a shared ledger is not sent with a file again.
    for (let n = 0; n < TIMES; n += 1) {
      file.push(await pauseOnce(server.url, bench.folder, campaign, { HANDBILL_LEDGER: `ledger-${n}.db` }, false));
    }
    for (let n = 0; n < TIMES; n += 1) {
      const env = { HANDBILL_LEDGER: await freshDatabaseOn(database.address) };
      shared.push(await pauseOnce(server.url, bench.folder, campaign, env, true));
    }
    const what = `pause at ${PER_SECOND}/s, to the last request`;
    const goal = { atMost: 1_500 };
    bench.add({ id: 'pause-file', what, value: median(file), unit: 'ms', goal });
    bench.add({ id: 'pause-shared', what: `${what}, shared by two`, value: median(shared), unit: 'ms', goal });
  } finally {
    server.process.kill('SIGTERM');
    await removePostgres(database, home);
  }
}

async function pauseOnce(
  url: string,
  cwd: string,
  campaign: string,
  env: Readonly<Record<string, string>>,
  isShared: boolean,
): Promise<number> {
  const run = (...args: readonly string[]): ChildProcess =>
    spawn(process.execPath, [CLI, ...args], {
      cwd,
      env: { ...process.env, HANDBILL_API_KEY: API_KEY, ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  const before = (await arrivalsAt(url)).length;
  const worker = isShared ? run('worker', '--env', 'local', '--idle', '60s') : null;
  const sending = run('send', campaign, '--env', 'local', '--yes', ...(isShared ? ['--workers'] : []));
  const ended = once(sending, 'exit');
  while ((await arrivalsAt(url)).length - before < 2 * PER_SECOND) {
    if (sending.exitCode !== null) throw new Error('The send ended too early.');
    await sleep(50);
  }
  // The server notes its own clock: what it saw by now says where that is.
  const beganAt = Date.now();
  const pausing = run('pause', '--env', 'local', '--reason', 'measured');
  const lastBefore = (await arrivalsAt(url)).at(-1) ?? 0;
  const offsetMs = Date.now() - lastBefore;
  await once(pausing, 'exit');
  await ended;
  worker?.kill('SIGTERM');
  const last = (await arrivalsAt(url)).at(-1) ?? 0;
  return last + offsetMs - beganAt;
}

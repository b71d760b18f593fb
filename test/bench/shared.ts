import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import type { ResultRecord, RunRecord } from '../../src/ledger/records.ts';
import { type PostgresServer, removePostgres, startPostgres } from '../helpers/postgres-server.ts';
import { claimOf, rows as listed, resultOf } from '../ledger/values.ts';
import { freshDatabaseOn } from '../workers/databases.ts';
import { API_KEY, type Bench, forgetRuns, median } from './bench.ts';
import { startSandbox, type Usage } from './measure.ts';
import { writeCampaign, writeProject } from './project.ts';

const REPEATS = 2;
const WORKERS = [0, 1, 3];
/** What two cores do with half of their time, so that processes do not make each other slower. */
const PACE = ['--rate', '1500/s'];

/**
 * One run on a shared ledger, alone and with workers, against the same with a ledger that is a file. Everything is on
 * this machine: with more processes than cores the clock says nothing of what several machines would do, but the CPU time
 * of all of them together does, at a pace at which none waits for a core.
 */
export async function measureShared(bench: Bench): Promise<void> {
  const { messages, rows } = bench.sizes;
  const sandbox = await startSandbox(bench.folder, API_KEY);
  // Not below the folder of the measurement: a server of root's tests runs as a user without rights.
  const home = mkdtempSync(join(tmpdir(), 'handbill-bench-server-'));
  const server = await startPostgres(home);
  try {
    await writeProject(bench.folder, sandbox.url);
    const campaign = await writeCampaign(bench.folder, messages);
    const files: number[] = [];
    const shared = new Map<number, number[]>();
    for (let n = 0; n < REPEATS; n += 1) {
      forgetRuns(bench.folder);
      files.push((await bench.handbill(['send', campaign, '--env', 'local', '--yes', ...PACE])).cpuUs);
      for (const workers of WORKERS) {
        const { cpuUs } = await runOnce(bench, campaign, { server, workers, pace: PACE });
        shared.set(workers, [...(shared.get(workers) ?? []), cpuUs]);
      }
    }
    addAll(bench, files, shared);
    for (const workers of WORKERS) {
      const { wallMs } = await runOnce(bench, campaign, { server, workers, pace: [] });
      const what = `${nameOf(workers)}, as fast as it goes on one machine`;
      bench.add({ id: `shared-rate-${workers}`, what, value: (messages / wallMs) * 1000, unit: 'messages/s' });
    }
    await measureCommits(bench, server);
    await measureLoad(bench, server, rows);
  } finally {
    sandbox.process.kill('SIGTERM');
    await Promise.all([once(sandbox.process, 'exit'), removePostgres(server, home)]);
  }
}

interface How {
  readonly server: PostgresServer;
  readonly workers: number;
  readonly pace: readonly string[];
}

async function runOnce(bench: Bench, campaign: string, { server, workers, pace }: How) {
  const env = { HANDBILL_LEDGER: await freshDatabaseOn(server.address) };
  const waiting: Promise<Usage>[] = [];
  for (let n = 0; n < workers; n += 1) {
    // Its own folder for what it used; its files are those of the project.
    const args = ['worker', '--env', 'local', '--quiet', '--idle', '4s'];
    waiting.push(bench.handbill(args, { cwd: await folderOf(bench, n), env }));
  }
  const share = workers > 0 ? ['--workers'] : [];
  const sent = await bench.handbill(['send', campaign, '--env', 'local', '--yes', ...pace, ...share], { env });
  const all = [sent, ...(await Promise.all(waiting))];
  return { cpuUs: all.reduce((sum, one) => sum + one.cpuUs, 0), wallMs: sent.wallMs };
}

function nameOf(workers: number): string {
  if (workers === 0) return 'shared ledger, send alone';
  return `shared ledger, send and ${workers} worker${workers === 1 ? '' : 's'}`;
}

/** A folder below the project, in which its handbill.yaml is found. */
async function folderOf({ folder }: Bench, n: number): Promise<string> {
  const own = join(folder, `worker-${n}`);
  await mkdir(own, { recursive: true });
  return own;
}

function addAll(bench: Bench, files: readonly number[], shared: ReadonlyMap<number, readonly number[]>): void {
  const { messages } = bench.sizes;
  const unit = 'us CPU per message';
  const file = median(files) / messages;
  bench.add({ id: 'shared-file-cpu', what: 'ledger in a file, 1,500 a second', value: file, unit });
  for (const [workers, all] of shared) {
    const cpu = median(all) / messages;
    const what = `${nameOf(workers)}, 1,500 a second`;
    bench.add({ id: `shared-cpu-${workers}`, what, value: cpu, unit });
    const goal = workers === 1 ? { goal: { atMost: 1.15 } } : {};
    bench.add({
      id: `shared-against-file-${workers}`,
      what: `${what}, against a file`,
      value: cpu / file,
      unit: 'times',
      ...goal,
    });
  }
}

/** How long it takes until a list is checked and in the ledger, and one message is sent. */
async function measureLoad(bench: Bench, server: PostgresServer, rows: number): Promise<void> {
  const campaign = await writeCampaign(bench.folder, rows + 1);
  const args = ['send', campaign, '--env', 'local', '--yes', '--limit', '1'];
  forgetRuns(bench.folder);
  const file = await bench.handbill(args);
  const env = { HANDBILL_LEDGER: await freshDatabaseOn(server.address) };
  const shared = await bench.handbill(args, { env });
  const what = `a list of ${rows.toLocaleString('en-GB')} checked and loaded, one message`;
  bench.add({ id: 'shared-load-file', what: `${what}: file`, value: file.wallMs / 1000, unit: 's' });
  bench.add({ id: 'shared-load', what: `${what}: shared ledger`, value: shared.wallMs / 1000, unit: 's' });
}

/** What a commit takes, and what each message adds to it: what the simulation goes by (scale.ts). */
async function measureCommits(bench: Bench, server: PostgresServer): Promise<void> {
  const ledger = openLedger(await freshDatabaseOn(server.address), { mode: 'write', nowMs: Date.now() });
  try {
    const run = loaded(ledger);
    const [few, many] = [commitMs(ledger, run, 0, 1), commitMs(ledger, run, COMMITS, FULL)];
    const row = (many - few) / (FULL - 1);
    bench.add({ id: 'shared-commit', what: 'shared ledger, a commit', value: few - row, unit: 'ms' });
    bench.add({ id: 'shared-commit-row', what: 'shared ledger, a message in a commit', value: row * 1000, unit: 'us' });
    const rate = 1000 / (row + (few - row) / FULL);
    bench.add({
      id: 'shared-carries',
      what: `shared ledger, commits of ${FULL} in a row`,
      value: rate,
      unit: 'messages/s',
    });
  } finally {
    ledger.close();
  }
}

const COMMITS = 200;
/** Messages of a commit, as it is with many requests in flight. */
const FULL = 64;

function loaded(ledger: Ledger): RunRecord {
  const nowMs = Date.now();
  const draft = ledger.beginLoad({ environment: 'e', campaign: 'c', occurrence: 'o' }, { channel: 'sms', nowMs });
  ledger.load(draft, listed(COMMITS * (FULL + 1) + FULL));
  return ledger.start(ledger.finishLoad(draft, { inputs: [], identityHash: 'i', nowMs }), nowMs).run;
}

/** The middle of commits with outcomes of those that the one before claimed, and claims of as many others. */
function commitMs(ledger: Ledger, run: RunRecord, first: number, count: number): number {
  const times: number[] = [];
  let before: ResultRecord[] = [];
  for (let at = 0; at < COMMITS; at += 1) {
    const rows = Array.from({ length: count }, (_, n) => first + at * count + n);
    const claims = rows.map(claimOf);
    const began = performance.now();
    ledger.commit(run, before, claims, Date.now());
    times.push(performance.now() - began);
    before = rows.map((row) => resultOf(row));
  }
  ledger.commit(run, before, [], Date.now());
  return median(times);
}

import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openLedger } from '../../src/ledger/open.ts';
import { addWalk, type Bench, median } from './bench.ts';
import { writeCampaign, writeProject } from './project.ts';

const CAMPAIGNS = 200;
const RUNS = 1000;
const REPEATS = 5;
const CAPPED = 10_000;

/** What grows with the history: a ledger of many runs (ten times `--rows` in all), and a project of many campaigns. */
export async function measureGrowth(bench: Bench): Promise<void> {
  await measureRuns(bench);
  await measureReport(bench);
  await measureDue(bench);
}

async function measureRuns(bench: Bench): Promise<void> {
  const folder = join(bench.folder, 'runs');
  await mkdir(folder);
  await writeProject(folder, 'http://127.0.0.1:9');
  const rows = 10 * bench.sizes.rows;
  fillLedger(join(folder, '.handbill', 'ledger.db'), RUNS, rows / RUNS);
  const cpu: number[] = [];
  for (let n = 0; n < REPEATS; n += 1) cpu.push((await bench.handbill(['runs'], { cwd: folder })).cpuUs);
  const what = `runs, a ledger of ${rows.toLocaleString('en-GB')} rows in ${RUNS.toLocaleString('en-GB')} runs, CPU`;
  bench.add({ id: 'runs-10m', what, value: median(cpu) / 1e6, unit: 's', goal: { atMost: 1 } });
  await measureCap(bench, folder, rows);
}

/** A cap whose period has the whole ledger in it, for a list of the people who had all those messages. */
async function measureCap(bench: Bench, folder: string, rows: number): Promise<void> {
  const name = await writeCampaign(folder, CAPPED);
  await appendFile(join(folder, name, 'campaign.yaml'), 'frequency: { max: 2, per: 30d }\n');
  const usage = await bench.handbill(['preview', name, '--env', 'local', '--format', 'jsonl'], { cwd: folder });
  const what = `preview of ${CAPPED.toLocaleString('en-GB')} with a cap over 30 days, and a ledger in that time`;
  addWalk(bench, { id: 'cap-30d', what, count: rows, unit: 'row' }, usage);
}

async function measureReport(bench: Bench): Promise<void> {
  const folder = join(bench.folder, 'report');
  await mkdir(folder);
  await writeProject(folder, 'http://127.0.0.1:9');
  const { rows } = bench.sizes;
  fillLedger(join(folder, '.handbill', 'ledger.db'), 1, rows);
  for (const format of ['csv', 'jsonl']) {
    const usage = await bench.handbill(['report', '--format', format], { cwd: folder });
    const walk = { id: `report-${format}`, what: `report --format ${format}`, count: rows, unit: 'row' };
    addWalk(bench, { ...walk, peakGoal: { atMost: 200 } }, usage);
  }
}

/** Finished runs whose messages were accepted, written past the stores: 2 us a row. */
function fillLedger(path: string, runs: number, rows: number): void {
  const nowMs = Date.now();
  const ledger = openLedger(path, { mode: 'write', nowMs: Date.now() });
  const db = new DatabaseSync(path);
  try {
    const insert =
      db.prepare(`WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?2)
      INSERT INTO recipients (list, row, line, key, address, state, attempts, http_status, message_id, parts, encoding,
        claimed_at, updated_at)
      SELECT ?1, n, n + 2, '+44' || (7400000000 + n), '+44' || (7400000000 + n), 'accepted', 1, 201,
        lower(hex(randomblob(12))), 1, 'GSM-7', ?3, ?3 FROM numbers`);
    for (let number = 0; number < runs; number += 1) {
      const identity = { environment: 'local', campaign: `c${number}`, occurrence: 'once' };
      const draft = ledger.beginLoad(identity, { channel: 'sms', nowMs: Date.now() });
      insert.run(draft.list, rows, nowMs);
      const run = ledger.finishLoad(draft, { inputs: [], identityHash: '', nowMs: Date.now() });
      ledger.start(run, Date.now());
      ledger.finish(run, { state: 'finished', halt: null, figures: null, nowMs: Date.now() });
    }
  } finally {
    db.close();
    ledger.close();
  }
}

async function measureDue(bench: Bench): Promise<void> {
  const folder = join(bench.folder, 'due');
  await mkdir(folder);
  await writeProject(folder, 'http://127.0.0.1:9');
  const paths: string[] = [];
  for (let n = 0; n < CAMPAIGNS; n += 1) {
    const own = join(folder, 'campaigns', `c${n}`);
    await mkdir(own, { recursive: true });
    const name = await writeCampaign(own, 100);
    const file = join(own, name, 'campaign.yaml');
    // Twice in a century: nothing is due.
    await writeFile(file, SCHEDULED.replace('NAME', `c${n}`));
    paths.push(file);
  }
  const args = ['due', '--env', 'local', '--yes', '--quiet'];
  const first = await bench.handbill(args, { cwd: folder });
  const cpu: number[] = [];
  for (let n = 0; n < REPEATS; n += 1) cpu.push((await bench.handbill(args, { cwd: folder })).cpuUs);
  const ms = (cpuUs: number) => cpuUs / 1000 / paths.length;
  const what = `due, ${CAMPAIGNS} campaigns of which none is due, CPU a campaign`;
  bench.add({ id: 'due-200', what, value: ms(median(cpu)), unit: 'ms', goal: { atMost: 3 } });
  bench.add({ id: 'due-200-first', what: `${what}, the first time`, value: ms(first.cpuUs), unit: 'ms' });
}

const SCHEDULED = `name: NAME
channel: sms
from: Riverside
template: text.hbs
recipients: people.csv
schedule: { cron: 0 9 29 2 *, timeZone: UTC }
limits: { maxRecipients: 100 }
`;

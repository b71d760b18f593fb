import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { API_KEY, type Bench, forgetRuns } from './bench.ts';
import { startSandbox } from './measure.ts';
import { writeContacts } from './memory-project.ts';
import { writeCampaign, writeProject } from './project.ts';

/** MB. Beyond a million rows the duplicate check may grow: 8 bytes for each key, in a table that is partly free. */
const MOST = 200;
const MOST_OF_TEN_MILLION = 450;
const MILLION = 1_000_000;

/** The largest list; HANDBILL_BENCH_MEMORY_ROWS=10000000 takes some minutes, and 1 GB of disk. */
const largest = Number(process.env['HANDBILL_BENCH_MEMORY_ROWS'] ?? MILLION);

/**
 * What `validate`, `preview` and `send` hold at most, from short lists to long ones. Ten million messages would take too
 * long: there `send` looks at the whole list, puts it into the ledger, and sends one.
 */
export async function measureMemory(bench: Bench): Promise<void> {
  const sandbox = await startSandbox(bench.folder, API_KEY);
  try {
    for (const rows of [10_000, 100_000, MILLION, 10 * MILLION]) {
      if (rows > largest) continue;
      await measureNumbers(bench, rows, sandbox.url);
      await measureOthers(bench, rows);
    }
  } finally {
    sandbox.process.kill('SIGTERM');
  }
}

async function measureNumbers(bench: Bench, rows: number, url: string): Promise<void> {
  const cwd = folderFor(bench, `numbers-${rows}`);
  await writeProject(cwd, url);
  const campaign = await writeCampaign(cwd, rows);
  const add = adder(bench, rows, 'phone numbers');
  add('validate', 'validate', await bench.handbill(['validate', campaign], { cwd }));
  add('preview', 'preview --format jsonl', await bench.handbill(['preview', campaign, '--format', 'jsonl'], { cwd }));
  const send = ['send', campaign, '--env', 'local', '--yes'];
  if (rows <= MILLION) add('send', 'send', await bench.handbill(send, { cwd }));
  else add('send', 'send --limit 1', await bench.handbill([...send, '--limit', '1'], { cwd }));
  forgetRuns(cwd);
}

/** Keys that are no numbers, of which one in a hundred comes again: the list is looked at once more. */
async function measureOthers(bench: Bench, rows: number): Promise<void> {
  for (const kind of ['emails', 'keys'] as const) {
    const cwd = folderFor(bench, `${kind}-${rows}`);
    await writeProject(cwd, 'http://127.0.0.1:9');
    const campaign = await writeContacts(cwd, kind, rows);
    const what = kind === 'emails' ? 'email addresses' : 'keys of customers';
    adder(bench, rows, what)(`validate-${kind}`, 'validate', await bench.handbill(['validate', campaign], { cwd }));
  }
}

function folderFor({ folder }: Bench, name: string): string {
  const own = join(folder, name);
  mkdirSync(own);
  return own;
}

function adder(bench: Bench, rows: number, keys: string) {
  const size = rows < MILLION ? `${rows / 1000}k` : `${rows / MILLION}m`;
  return (id: string, what: string, { peakBytes }: { readonly peakBytes: number }): void =>
    bench.add({
      id: `memory-${id}-${size}`,
      what: `${what}, ${rows.toLocaleString('en-GB')} ${keys}, peak memory`,
      value: peakBytes / 1e6,
      unit: 'MB',
      goal: { atMost: rows <= MILLION ? MOST : MOST_OF_TEN_MILLION },
    });
}

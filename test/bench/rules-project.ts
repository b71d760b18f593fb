import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { openLedger } from '../../src/ledger/open.ts';
import type { LoadRow, RunRecord } from '../../src/ledger/records.ts';
import { createHasher, writeHash } from '../../src/suppression/hash.ts';
import { rowOf } from './project.ts';

const DAY_MS = 24 * 3_600_000;
const BATCH = 5_000;

/** The instant that everything is looked at: noon, so that every window is open. */
export const RULES_AT_MS = Date.UTC(2026, 10, 19, 12);
export const SUPPRESSION_KEY = 'bench-bench-bench-bench';

/**
 * Puts every rule on a campaign that `writeCampaign` wrote: suppression lists with a tenth as many addresses as it has
 * recipients and a tenth of that of hashes, of which a hundredth are its own; an excluded campaign; a cap, with another
 * campaign that reached every second recipient the day before; a window in the zone of each number.
 */
export async function writeRules(folder: string, campaign: string, rows: number): Promise<string> {
  const name = `${campaign}-rules`;
  const own = join(folder, name);
  await mkdir(own);
  for (const file of ['text.hbs', 'people.csv'])
    await writeFile(join(own, file), await readFile(join(folder, campaign, file)));
  const plain = await readFile(join(folder, campaign, 'campaign.yaml'), 'utf8');
  await writeFile(
    join(own, 'campaign.yaml'),
    `${plain.replace(`name: ${campaign}`, `name: ${name}`).replace('concurrency: 64', 'concurrency: 64, window: { from: "08:00", to: "20:00", timeZone: recipient }')}suppressions: [addresses.csv, hashes.csv]
exclude: [left-out]
frequency: { max: 3, per: 7d }
`,
  );
  await writeColumn(join(own, 'addresses.csv'), 'msisdn', Math.ceil(rows / 10), (n) => addressAt(n, rows));
  const hasher = createHasher(Buffer.from(SUPPRESSION_KEY));
  const { keyId } = hasher;
  await writeColumn(join(own, 'hashes.csv'), 'hash', Math.ceil(rows / 100), (n) =>
    writeHash({ keyId, hash: hasher.hash(addressAt(n + 7, rows)) }),
  );
  await appendFile(join(folder, 'handbill.yaml'), 'suppressionKey: { env: HANDBILL_SUPPRESSION_KEY }\n');
  const ledger = openLedger(join(folder, '.handbill', 'ledger.db'), { mode: 'write', nowMs: RULES_AT_MS - DAY_MS });
  try {
    reachedBy(ledger, 'earlier', rows, (n) => rowOf(2 * n).msisdn);
    reachedBy(ledger, 'left-out', Math.ceil(rows / 10), (n) => addressAt(n + 13, rows));
  } finally {
    ledger.close();
  }
  return name;
}

/** One in a hundred is a recipient; the others are of no recipient. */
function addressAt(n: number, rows: number): string {
  return n % 100 === 0 ? rowOf(n % rows).msisdn : `+44${7_700_000_000 + n}`;
}

async function writeColumn(path: string, column: string, count: number, cellOf: (n: number) => string): Promise<void> {
  const file = createWriteStream(path);
  file.write(`${column}\n`);
  for (let n = 0; n < count; ) {
    let block = '';
    for (const end = Math.min(count, n + BATCH); n < end; n += 1) block += `${cellOf(n)}\n`;
    if (!file.write(block)) await once(file, 'drain');
  }
  file.end();
  await finished(file);
}

/** A finished run in the ledger, as if it had been sent the day before. */
function reachedBy(
  ledger: ReturnType<typeof openLedger>,
  campaign: string,
  rows: number,
  addressOf: (n: number) => string,
): void {
  const nowMs = RULES_AT_MS - DAY_MS;
  const identity = { environment: 'local', campaign, occurrence: 'once' };
  const draft = ledger.beginLoad(identity, { channel: 'sms', nowMs, isCounted: true });
  const facts = { reason: null, parts: 1, encoding: 'GSM-7', costMicros: null, variant: null } as const;
  for (let row = 0; row < rows; ) {
    const batch: LoadRow[] = [];
    for (const end = Math.min(rows, row + BATCH); row < end; row += 1) {
      const key = addressOf(row);
      batch.push({ row, line: row + 2, key, to: key, state: 'pending', ...facts });
    }
    ledger.load(draft, batch);
  }
  const run = ledger.start(ledger.finishLoad(draft, { inputs: [], identityHash: 'bench', nowMs }), nowMs).run;
  for (let after = -1; ; ) {
    const found = accept(ledger, run, after, nowMs);
    if (found === null) break;
    after = found;
  }
  ledger.finish(run, { state: 'finished', halt: null, figures: null, nowMs });
}

function accept(ledger: ReturnType<typeof openLedger>, run: RunRecord, after: number, nowMs: number): number | null {
  const pending = ledger.pending(run, after, BATCH);
  if (pending.length === 0) return null;
  ledger.commit(
    run,
    [],
    pending.map(({ row, step, key }) => ({ row, step, key, to: key })),
    nowMs,
  );
  const nothing = { reason: null, httpStatus: 202, messageId: 'x', error: null } as const;
  const results = pending.map(
    ({ row, step }) => ({ row, step, from: 'claimed', state: 'accepted', attempts: 1, ...nothing }) as const,
  );
  ledger.commit(run, results, [], nowMs);
  return pending.at(-1)?.row ?? null;
}

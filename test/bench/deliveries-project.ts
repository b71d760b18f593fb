import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { openLedger } from '../../src/ledger/open.ts';
import type { LoadRow } from '../../src/ledger/records.ts';
import { createReference } from '../../src/plan/expand.ts';
import { rowOf } from './project.ts';

const BATCH = 5_000;
/** Events are mixed up within so many messages, as webhooks come. */
const MIXED = 20_000;

/** Events of one message: `sent`, and what it came to. */
export const EVENTS_A_ROW = 2;

/**
 * A finished run in the ledger, all of it accepted under ids as APIs give them, and a file with two reports about each of
 * its messages, that name the id and our reference.
 *
 * @returns the file
 */
export async function writeReports(folder: string, rows: number): Promise<string> {
  const nowMs = Date.now();
  const ids = send(folder, rows, nowMs);
  const path = join(folder, 'reports.jsonl');
  const file = createWriteStream(path);
  const identity = { environment: 'local', campaign: 'delivered', occurrence: 'once' };
  const referenceOf = createReference(identity, 'sms');
  for (let from = 0; from < rows; from += MIXED / EVENTS_A_ROW) {
    const lines: string[] = [];
    for (let row = from; row < Math.min(rows, from + MIXED / EVENTS_A_ROW); row += 1) {
      const to = rowOf(row).msisdn;
      const about = { messageId: ids[row], reference: referenceOf(to), to, timestamp: new Date(nowMs).toISOString() };
      lines.push(JSON.stringify({ ...about, status: 'sent' }));
      lines.push(JSON.stringify({ ...about, status: row % 20 === 0 ? 'failed' : 'delivered' }));
    }
    // A fixed order that has nothing to do with that of the list.
    const mixed = lines
      .map((line, i) => [Math.imul(i + 1, 0x9e3779b1) >>> 0, line] as const)
      .toSorted(([a], [b]) => a - b);
    if (!file.write(`${mixed.map(([, line]) => line).join('\n')}\n`)) await once(file, 'drain');
  }
  file.end();
  await finished(file);
  return path;
}

function send(folder: string, rows: number, nowMs: number): readonly string[] {
  const ids: string[] = [];
  const ledger = openLedger(join(folder, '.handbill', 'ledger.db'), { mode: 'write', nowMs });
  try {
    const identity = { environment: 'local', campaign: 'delivered', occurrence: 'once' };
    const draft = ledger.beginLoad(identity, { channel: 'sms', nowMs });
    const facts = { reason: null, parts: 1, encoding: 'GSM-7', costMicros: null, variant: null } as const;
    for (let row = 0; row < rows; ) {
      const batch: LoadRow[] = [];
      for (const end = Math.min(rows, row + BATCH); row < end; row += 1) {
        const key = rowOf(row).msisdn;
        batch.push({ row, line: row + 2, key, to: key, state: 'pending', ...facts });
      }
      ledger.load(draft, batch);
    }
    const { run } = ledger.start(ledger.finishLoad(draft, { inputs: [], identityHash: 'bench', nowMs }), nowMs);
    for (let pending = ledger.pending(run, -1, BATCH); pending.length > 0; ) {
      const claims = pending.map(({ row, step, key }) => ({ row, step, key, to: key }));
      ledger.commit(run, [], claims, nowMs);
      const results = pending.map(({ row, step }) => {
        const messageId = randomUUID();
        ids.push(messageId);
        const answer = { reason: null, attempts: 1, httpStatus: 202, messageId, error: null };
        return { row, step, from: 'claimed', state: 'accepted', ...answer } as const;
      });
      ledger.commit(run, results, [], nowMs);
      pending = ledger.pending(run, pending.at(-1)?.row ?? rows, BATCH);
    }
    ledger.finish(run, { state: 'finished', halt: null, figures: null, nowMs });
  } finally {
    ledger.close();
  }
  return ids;
}

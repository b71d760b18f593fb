/**
 * Sends one message per row of a CSV with the `fetch` of Node, as a script of an afternoon does: 64 at a time, over
 * connections that are kept. Arguments: list, address of the API. The API key is in HANDBILL_API_KEY.
 */
import { createReadStream } from 'node:fs';
import process from 'node:process';
import { parse } from 'csv-parse';
import { type BenchRow, textOf } from './project.ts';

const CONCURRENCY = 64;

const [list = '', url = ''] = process.argv.slice(2);
const headers = { 'content-type': 'application/json', 'x-api-key': process.env['HANDBILL_API_KEY'] ?? '' };
// One iterator for all: each takes the next row when its answer is here, and nothing piles up.
const rows: AsyncIterator<BenchRow> = createReadStream(list)
  .pipe(parse({ columns: true, bom: true }))
  [Symbol.asyncIterator]();
let failed = 0;

await Promise.all(Array.from({ length: CONCURRENCY }, worker));
process.exitCode = failed > 0 ? 1 : 0;

async function worker(): Promise<void> {
  for (let next = await rows.next(); next.done !== true; next = await rows.next()) {
    try {
      await send(next.value);
    } catch (error) {
      failed += 1;
      process.stderr.write(`${next.value.msisdn} ${String(error)}\n`);
    }
  }
}

async function send(row: BenchRow): Promise<string> {
  const message = {
    name: 'peers',
    channel: 'SMS',
    from: 'Riverside',
    body: { text: textOf(row) },
    recipients: [{ msisdn: row.msisdn.trim() }],
  };
  const response = await fetch(`${url}/v2/messages`, { method: 'POST', headers, body: JSON.stringify(message) });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const { id } = (await response.json()) as { readonly id: string };
  return id;
}

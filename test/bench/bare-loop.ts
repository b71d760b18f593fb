/**
 * The yardstick: as many POSTs as asked for, of the same bodies, through `dispatch` of undici over 64 connections, and
 * every answer parsed. No list, no template, no ledger. Arguments: address of the API, number of messages.
 */
import process from 'node:process';
import { type Dispatcher, Pool } from 'undici';
import { rowOf, textOf } from './project.ts';

const CONNECTIONS = 64;

const url = process.argv[2] ?? '';
const messages = Number(process.argv[3]);
const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1, allowH2: false });
const headers = {
  'x-api-key': process.env['HANDBILL_API_KEY'] ?? '',
  'content-type': 'application/json',
  'accept-encoding': 'identity',
};

let started = 0;
let ended = 0;
let accepted = 0;

await new Promise<void>((resolve, reject) => {
  for (let connection = 0; connection < CONNECTIONS; connection += 1) next(resolve, reject);
});
await pool.close();
if (accepted !== messages) throw new Error(`${accepted} of ${messages} were accepted.`);

/** Posts one message, and the next when its answer is here. */
function next(resolve: () => void, reject: (error: Error) => void): void {
  if (started === messages) return;
  const body = bodyOf(started);
  started += 1;
  let status = 0;
  const chunks: Buffer[] = [];
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart() {},
    onResponseStart(_controller, code) {
      status = code;
    },
    onResponseData(_controller, chunk) {
      chunks.push(chunk);
    },
    onResponseEnd() {
      const text = (chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)).toString('utf8');
      const { id } = JSON.parse(text) as { id?: unknown };
      if (status === 202 && typeof id === 'string') accepted += 1;
      ended += 1;
      if (ended === messages) resolve();
      else next(resolve, reject);
    },
    onResponseError(_controller, error) {
      reject(error);
    },
  };
  pool.dispatch({ path: '/v2/messages', method: 'POST', headers, body }, handler);
}

/** The body that handbill makes for this row, but for the reference, which is as long. */
function bodyOf(n: number): string {
  const row = rowOf(n);
  return JSON.stringify({
    name: `bench-${messages}`,
    channel: 'SMS',
    from: 'Riverside',
    body: { text: textOf(row) },
    recipients: [{ msisdn: row.msisdn, metaData: { handbill: String(n).padStart(22, '0') } }],
  });
}

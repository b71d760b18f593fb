import { once } from 'node:events';
import process from 'node:process';
import { workerData } from 'node:worker_threads';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Value } from '../connection.ts';
import type { Asked, BridgeData, Said } from './bridge.ts';
import { serverOptions } from './server.ts';

/* The other side of the bridge: one connection, which answers one question after the other. */

const CONNECT_MS = 10_000;

const { port, signal, address } = workerData as BridgeData;
const answered = new Int32Array(signal);

// The ledger keeps times and counts, whole numbers below 2^53, and 0 and 1 for false and true.
const { INT8, NUMERIC, BOOL } = pg.types.builtins;
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8 || oid === NUMERIC) return Number;
    if (oid === BOOL) return (text: string) => (text === 't' ? 1 : 0);
    return pg.types.getTypeParser(oid, format ?? 'text');
  },
} as pg.CustomTypesConfig;

let client: pg.Client | null = null;

async function connected(): Promise<pg.Client> {
  if (client !== null) return client;
  const opened = new pg.Client({
    ...serverOptions(address, process.env),
    application_name: 'handbill',
    types,
    keepAlive: true,
    keepAliveInitialDelayMillis: CONNECT_MS / 2,
    connectionTimeoutMillis: CONNECT_MS,
  });
  // A connection that breaks while idle: the next question reports it.
  opened.on('error', () => undefined);
  await opened.connect();
  client = opened;
  return opened;
}

async function answer({ text, values, name, copied }: Asked): Promise<Said> {
  try {
    const open = await connected();
    if (copied !== undefined) {
      const stream = open.query(copyFrom(text));
      stream.end(copied);
      await once(stream, 'finish');
      return { rows: [], changes: stream.rowCount };
    }
    const named = name === undefined ? {} : { name };
    const result: unknown = await open.query({ text, values: [...values], rowMode: 'array', ...named });
    // Several statements in one text: the result of the last one.
    const last = (Array.isArray(result) ? result.at(-1) : result) as pg.QueryArrayResult<Value[]>;
    return { rows: last.rows, changes: last.rowCount ?? 0 };
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    return { error: { code: code ?? null, message: WORDS.get(message) ?? message } };
  }
}

/** The driver's errors about a lost connection, in words for people. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['Client has encountered a connection error and is not queryable', 'the connection was lost'],
  ['Connection terminated unexpectedly', 'the connection was lost'],
  [
    'The server does not support SSL connections',
    'the server has no TLS; in your own network, write sslmode=disable into the address',
  ],
]);

/** Writes the answer before it wakes the sleeping caller, which then finds it in the port. */
function say(said: Said): void {
  port.postMessage(said);
  Atomics.add(answered, 0, 1);
  Atomics.notify(answered, 0);
}

let last: Promise<void> = Promise.resolve();

port.on('message', (asked: Asked | null) => {
  last = last.then(async () => {
    if (asked !== null) return say(await answer(asked));
    await client?.end();
    port.close();
  });
});

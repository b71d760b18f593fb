import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readReceipts } from '../oracle/receipts.ts';

/** What the API does with one request; 202 with an id at once where nothing is said. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The answer is held back until this resolves. */
  readonly after?: Promise<unknown>;
}

export interface Api extends AsyncDisposable {
  readonly url: string;
  /** The file of the oracle: a line for each request, before it is answered. */
  readonly receipts: string;
  /** Completely received requests so far. */
  received(): number;
  /** Who was sent to, in the order of arrival. */
  numbers(): string[];
}

/**
 * The API as the tests of processes need it: it is never the one that is stopped, and answers when the test says so.
 * `behave` gets the number of the request, from 1.
 */
export async function startApi(behave: (number: number) => Answer = () => ({})): Promise<Api> {
  const folder = mkdtempSync(join(tmpdir(), 'handbill-receipts-'));
  const receipts = join(folder, 'receipts.jsonl');
  const file = openSync(receipts, 'a', 0o600);
  let received = 0;
  const server = createServer({ keepAliveTimeout: 120_000 }, (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      received += 1;
      const number = received;
      const { status = 202, headers = {}, after } = behave(number);
      const id = status < 300 ? `m-${number}` : null;
      const text = Buffer.concat(chunks).toString('utf8');
      writeSync(file, `${JSON.stringify({ number, status, id, text })}\n`);
      const reply = () => answer(outgoing, status, headers, id);
      if (after === undefined) reply();
      else void after.then(reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    receipts,
    received: () => received,
    numbers: () => readReceipts(receipts).map(({ text }) => /"msisdn":"([^"]+)"/.exec(text)?.[1] ?? text),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      closeSync(file);
      rmSync(folder, { recursive: true });
    },
  };
}

function answer(
  outgoing: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  id: string | null,
): void {
  if (outgoing.destroyed) return;
  outgoing.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  outgoing.end(id === null ? '{"title":"refused"}' : JSON.stringify({ id }));
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Something that a test opens, once. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Said } from '../oracle/receipts.ts';

/** One request, as far as an answer depends on it. */
export interface Asked {
  /** Counts from 1. */
  readonly number: number;
  /** As on the wire. */
  readonly channel: string;
  /** Recipients in the order of the request. */
  readonly recipients: readonly { readonly address: string; readonly reference: string }[];
}

/** What the API does with it; all are accepted where nothing is said. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, or a text that goes as it is. */
  readonly body?: unknown;
  /** What the answer says of each recipient, in the order of the request; absent: what the status says. */
  readonly each?: readonly Said[];
  /** The one id that the answer gives to all, or that it gives none; absent: each gets an own. */
  readonly id?: string | null;
  /** In place of an answer, or of its second half. */
  readonly instead?: 'reset' | 'silence' | 'half';
  /** Before it is answered. */
  readonly after?: () => unknown;
}

export interface MessageApi extends AsyncDisposable {
  readonly url: string;
  /** The file of the oracle: a line for each request, before it is answered. */
  readonly receipts: string;
  /** Every request so far. */
  readonly asked: readonly Asked[];
  /** What it does from now on. */
  behave: (asked: Asked) => Answer;
}

/** The id that a recipient gets, by its place in the request. */
export function idAt({ number }: Asked, at: number): string {
  return `m-${number}-${at}`;
}

/** One entry for each recipient, each taken. */
export function entries(asked: Asked): { readonly to: string; readonly id: string }[] {
  return asked.recipients.map(({ address }, at) => ({ to: address, id: idAt(asked, at) }));
}

/** The API as tests of steps and of shared requests need it: each answer is for the test to say. */
export async function startMessageApi(behave: MessageApi['behave'] = () => ({})): Promise<MessageApi> {
  const folder = mkdtempSync(join(tmpdir(), 'handbill-message-api-'));
  const receipts = join(folder, 'receipts.jsonl');
  const file = openSync(receipts, 'a', 0o600);
  const asked: Asked[] = [];
  const server = createServer({ keepAliveTimeout: 120_000 }, (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('error', () => {});
    outgoing.on('error', () => {});
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => void receive(Buffer.concat(chunks).toString('utf8'), outgoing));
  });
  const receive = async (text: string, outgoing: ServerResponse): Promise<void> => {
    const one = read(text, asked.length + 1);
    asked.push(one);
    const answer = api.behave(one);
    const { status, id, each } = receiptOf(one, answer);
    writeSync(file, `${JSON.stringify({ number: one.number, status, id, text, ...each })}\n`);
    await answer.after?.();
    give(one, answer, outgoing);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const api: MessageApi = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    receipts,
    asked,
    behave,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      closeSync(file);
      rmSync(folder, { recursive: true });
    },
  };
  return api;
}

function read(text: string, number: number): Asked {
  const { channel, recipients } = JSON.parse(text) as {
    readonly channel: string;
    readonly recipients: readonly { readonly msisdn: string; readonly metaData: { readonly handbill: string } }[];
  };
  return {
    number,
    channel,
    recipients: recipients.map(({ msisdn, metaData }) => ({ address: msisdn, reference: metaData.handbill })),
  };
}

function receiptOf(asked: Asked, { status = 202, each, instead, body, id }: Answer) {
  const given = (at: number) => (id === undefined ? idAt(asked, at) : id);
  const isTaken = instead === undefined && status < 300;
  // An answer of the test's own gives out what its entries say.
  const said = each ?? (isTaken && body === undefined ? asked.recipients.map((): Said => 'taken') : undefined);
  return {
    status: instead === 'reset' || instead === 'silence' ? null : status,
    id: null,
    each: said && {
      each: said.map((one, at) => ({ said: one, id: one === 'taken' && isTaken ? given(at) : null })),
    },
  };
}

function give(asked: Asked, { status = 202, headers = {}, body, instead }: Answer, outgoing: ServerResponse): void {
  if (outgoing.destroyed || instead === 'silence') return;
  if (instead === 'reset') {
    outgoing.socket?.resetAndDestroy();
    return;
  }
  const usual = status < 300 ? { messages: entries(asked) } : { title: 'refused' };
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? usual);
  outgoing.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  if (instead === 'half') {
    outgoing.write(text.slice(0, text.length / 2));
    setTimeout(() => outgoing.socket?.resetAndDestroy(), 20);
  } else outgoing.end(text);
}

import { createHmac, randomUUID } from 'node:crypto';
import { type ClientRequest, type IncomingHttpHeaders, type RequestOptions, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Scheme, WebhookEvent } from '../../src/model.ts';
import { type RunningReceiver, type Sender, startReceiver } from '../../src/webhook/receive.ts';
import type { Interpret } from '../../src/webhook/receive-request.ts';

/** Of the vector of Standard Webhooks. */
export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
export const STANDARD: Scheme = { kind: 'standard', toleranceMs: 300_000 };

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Headers of Standard Webhooks, made with node's own hash. */
export function signed(body: string | Buffer, options: { id?: string; atMs?: number; secret?: string } = {}) {
  const { id = `msg_${randomUUID()}`, atMs = Date.now(), secret = SECRET } = options;
  const timestamp = String(Math.floor(atMs / 1000));
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** One request, answered or not. */
export function post(
  url: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
  options: RequestOptions = {},
): Promise<Reply> {
  return exchange(url, { method: 'POST', ...options, headers }, (outgoing) => outgoing.end(body));
}

export function exchange(
  url: string,
  options: RequestOptions,
  write: (outgoing: ClientRequest) => void,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, options, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body });
      });
    });
    outgoing.on('error', reject);
    write(outgoing);
  });
}

/** A connection that has sent some bytes and says no more. */
export async function silentConnection(port: number, bytes: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(bytes);
  return socket;
}

export interface Fixture extends RunningReceiver {
  /** Groups of events, as they were recorded. */
  readonly groups: (readonly WebhookEvent[])[];
  readonly events: () => readonly WebhookEvent[];
  readonly lines: string[];
}

/** Every body in JSON is one event, which is kept as it is. */
export const asUnread: Interpret = (body) => {
  try {
    JSON.parse(body.toString('utf8').replace(/^\uFEFF/, ''));
    return { events: [{ kind: 'unread', body: body.toString('utf8') }], problems: [] };
  } catch {
    return { events: [], problems: [{ message: 'the body is no JSON', status: 400 }] };
  }
};

/** A receiver that keeps what it receives in memory. */
export async function receiverOf(
  scheme: Scheme = STANDARD,
  secrets: readonly string[] = [SECRET],
  { interpret = asUnread, ...more }: Partial<Parameters<typeof startReceiver>[0] & Sender> = {},
): Promise<Fixture> {
  const groups: (readonly WebhookEvent[])[] = [];
  const lines: string[] = [];
  const running = await startReceiver({
    path: '/webhooks',
    senders: new Map([['test', { scheme, secrets, interpret }]]),
    environment: 'test',
    record: (events) => void groups.push(events),
    port: 0,
    log: (line) => lines.push(line),
    ...more,
  });
  return { ...running, groups, events: () => groups.flat(), lines };
}

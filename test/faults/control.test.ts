import { readFileSync } from 'node:fs';
import { Agent, Client, fetch, RetryAgent } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { violations } from '../oracle/oracle.ts';
import { readReceipts } from '../oracle/receipts.ts';
import { type FaultServer, type PlayedPort, startFaultServer } from './fault-server.ts';
import { temporaryFolder } from './run-scenario.ts';

const TARGET = '+447400100000';
const BODY = JSON.stringify({ recipients: [{ msisdn: TARGET, metaData: { handbill: 'r-1' } }] });
const ca = readFileSync(new URL('../fixtures/http/localhost.crt', import.meta.url), 'utf8');

let server: FaultServer;
beforeAll(async () => {
  server = await startFaultServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

type Send = (port: number) => Promise<unknown>;

/** Lets a client send one message to a server that misbehaves; what the oracle says, and what the server saw. */
async function send(
  behaviour: string,
  client: Send,
): Promise<{ found: string[]; played: PlayedPort; received: number }> {
  using folder = temporaryFolder();
  const receipts = folder.path('receipts.jsonl');
  const played = await server.listen({ behaviour, target: TARGET, connection: 'fresh', after: 0, receipts });
  await client(played.port).catch(() => undefined);
  const received = readReceipts(receipts);
  const ending = { line: 2, key: TARGET, reason: 'no-response', httpStatus: null, messageId: null, reference: 'r-1' };
  const found = violations({ lines: [2], endings: [{ ...ending, outcome: 'in-doubt' }], receipts: received });
  return { found, played, received: received.length };
}

const post = { method: 'POST', path: '/v2/messages', body: BODY } as const;

// A harness that cannot fail proves nothing: these are the ways to send that the failure model forbids.
describe.concurrent('a careless client is seen to send twice', () => {
  it('rule 6: over HTTP/2, where a stream that was refused is sent again', async () => {
    const { found, received } = await send('HTTP/2 on offer, which refuses every first stream', async (port) => {
      const client = new Client(`https://localhost:${port}`, { allowH2: true, connect: { ca } });
      await client.request(post).finally(() => client.destroy());
    });
    expect(received).toBe(2);
    expect(found).toEqual([expect.stringContaining('received 2 times')]);
  });

  it('rule 7: with retries by the library', async () => {
    const { found } = await send('reset after the request', async (port) => {
      const agent = new RetryAgent(new Agent(), { methods: ['POST'], minTimeout: 1, maxRetries: 1 });
      await agent.request({ origin: `http://127.0.0.1:${port}`, ...post }).finally(() => agent.destroy());
    });
    expect(found).toEqual([expect.stringContaining('received 2 times')]);
  });

  it('rule 7: with fetch, which goes where a 307 sends it', async () => {
    const { played } = await send('307 to another host', async (port) => {
      await fetch(`http://127.0.0.1:${port}/v2/messages`, { method: 'POST', body: BODY });
    });
    expect((await played.counts()).elsewhere).toBeGreaterThan(0);
    await played[Symbol.asyncDispose]();
  });
});

import pLimit from 'p-limit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HaltRule, Report } from '../../src/model.ts';
import { closedPort, startProxy } from '../helpers/raw-server.ts';
import type { Ending } from '../oracle/oracle.ts';
import { readReceipts } from '../oracle/receipts.ts';
import { createScene, numberOf, type SceneOptions } from '../oracle/scene.ts';
import { openBlackHole } from './black-hole.ts';
import { type FaultServer, type PlayedPort, startFaultServer } from './fault-server.ts';
import { AUTHORITIES, expectNoKey, temporaryFolder } from './run-scenario.ts';

const ROWS = 12;
/** As many recipients in a row as make a start give up. */
const GIVE_UP = 5;
const room = pLimit(2);
/** They wait for each other, on a machine that may be busy. */
const PATIENCE = { timeout: 300_000 };

let server: FaultServer;
beforeAll(async () => {
  server = await startFaultServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

interface Tried {
  readonly status: number | null;
  readonly halt: HaltRule | null;
  readonly endings: readonly Ending[];
  /** `failed(connect)` and the like, with how many there are. */
  readonly counts: Readonly<Record<string, number>>;
  readonly requests: number;
}

/** Sends a list by the command line; the promise must hold and the key be nowhere. */
async function trySending(options: Pick<SceneOptions, 'baseUrl'> & Partial<SceneOptions>): Promise<Tried> {
  using folder = temporaryFolder();
  const receipts = options.receipts ?? folder.path('receipts.jsonl');
  using scene = createScene({
    rows: ROWS,
    receipts,
    // One attempt for each recipient: the waits between attempts are tested elsewhere.
    campaign: 'send: { timeout: 20s, attempts: 1 }',
    ...options,
    env: { HANDBILL_DEBUG: '1', NODE_EXTRA_CA_CERTS: AUTHORITIES },
  });
  // Only a process of its own takes authorities.
  const command = options.baseUrl.startsWith('https://localhost') ? 'send' : 'goOn';
  const result = await room(async () => await scene[command](['--format', 'json', '--concurrency', '8']));
  expect(result.stdout, result.stderr).toMatch(/^\{/);
  expect(result.stderr).not.toMatch(/^\s+at .*:\d+:\d+\)?$/m);
  expectNoKey(scene, result);
  expect(scene.violations()).toEqual([]);
  const endings = scene.endings();
  const { halt } = JSON.parse(result.stdout) as Report;
  const counts = Object.groupBy(endings, ({ outcome, reason }) =>
    reason === null ? outcome : `${outcome}(${reason})`,
  );
  return {
    status: result.status,
    halt: halt?.rule ?? null,
    endings,
    counts: Object.fromEntries(Object.entries(counts).map(([name, all]) => [name, all?.length ?? 0])),
    requests: readReceipts(receipts).length,
  };
}

/** A server whose every connection is as the behaviour says. */
async function always(behaviour: string, receipts: string): Promise<PlayedPort> {
  return await server.listen({
    behaviour,
    target: '',
    connection: 'fresh',
    after: 0,
    receipts,
    everyConnection: true,
  });
}

const NEVER_THERE = {
  status: 5,
  halt: 'api-down',
  requests: 0,
} as const;
const failedAll = (reason: string) => ({ [`failed(${reason})`]: GIVE_UP, pending: ROWS - GIVE_UP });

describe.concurrent('an API that cannot be reached', PATIENCE, () => {
  it('refuses connections; sent to when it is there again (B3)', async () => {
    const port = await closedPort();
    using folder = temporaryFolder();
    const receipts = folder.path('receipts.jsonl');
    using scene = createScene({ rows: ROWS, baseUrl: `http://127.0.0.1:${port}`, receipts });
    const down = await room(async () => await scene.send(['--format', 'json']));
    expect(down.status, down.stderr).toBe(5);
    expect(JSON.parse(down.stdout)).toMatchObject({
      state: 'halted',
      halt: {
        rule: 'api-down',
        message: `Cannot connect to 127.0.0.1:${port}: connection refused. ${GIVE_UP} recipients in a row could not be sent to.`,
        next: expect.stringContaining('baseUrl'),
      },
      totals: { failed: GIVE_UP, pending: ROWS - GIVE_UP },
      // Each of those who failed was tried three times; nothing was posted.
      requests: { posted: 0, retried: 2 * GIVE_UP },
    });
    expect(scene.endings().slice(0, GIVE_UP)).toMatchObject(
      Array(GIVE_UP).fill({ outcome: 'failed', reason: 'connect', httpStatus: null }),
    );
    expect(scene.violations()).toEqual([]);

    await using _ = await server.listen({
      behaviour: 'a proper answer',
      target: '',
      connection: 'reused',
      after: 0,
      receipts,
      port,
    });
    const up = await room(async () => await scene.send(['--format', 'json']));
    expect(up.status, up.stderr).toBe(0);
    expect(JSON.parse(up.stdout)).toMatchObject({ state: 'finished', halt: null, totals: { accepted: ROWS } });
    expect(scene.violations()).toEqual([]);
  });

  it('an unknown host name (B2)', async () => {
    const tried = await trySending({ baseUrl: 'https://nonexistent.invalid' });
    expect(tried).toMatchObject({ ...NEVER_THERE, counts: failedAll('dns') });
  });

  it('a black hole, which neither takes a connection nor refuses it (B4)', async () => {
    using hole = await openBlackHole();
    const tried = await trySending({
      baseUrl: `http://127.0.0.1:${hole.port}`,
      campaign: 'send: { timeout: 1s, attempts: 1 }',
    });
    expect(tried).toMatchObject({ ...NEVER_THERE, counts: failedAll('connect-timeout') });
  });

  it('a handshake that never ends (B4)', async () => {
    using folder = temporaryFolder();
    await using played = await always('a handshake that stalls', folder.path('receipts.jsonl'));
    const tried = await trySending({
      baseUrl: `https://localhost:${played.port}`,
      campaign: 'send: { timeout: 1s, attempts: 1 }',
    });
    expect(tried).toMatchObject({ ...NEVER_THERE, counts: failedAll('connect-timeout') });
  });

  it.each(['resets in the handshake', 'closes in the handshake'])('every connection %s (B5)', async (behaviour) => {
    using folder = temporaryFolder();
    await using played = await always(behaviour, folder.path('receipts.jsonl'));
    const tried = await trySending({ baseUrl: `https://localhost:${played.port}` });
    expect(tried).toMatchObject({ ...NEVER_THERE, counts: failedAll('connect') });
  });

  it.each(['accepts and resets', 'accepts and closes', 'accepts and resets a moment later'])(
    'every connection %s (B5)',
    async (behaviour) => {
      using folder = temporaryFolder();
      const receipts = folder.path('receipts.jsonl');
      await using played = await always(behaviour, receipts);
      const tried = await trySending({ baseUrl: `http://127.0.0.1:${played.port}`, receipts });
      // Whether a request was on its way only the phase says; in any case the start gives up soon.
      expect(tried.status).toBe(5);
      expect(['api-down', 'doubt']).toContain(tried.halt);
      const known = /^(failed\(connect\)|in-doubt\((no-response|write)\)|pending)$/;
      expect(Object.keys(tried.counts).filter((name) => !known.test(name))).toEqual([]);
      expect(tried.counts['pending']).toBeGreaterThanOrEqual(ROWS - 2 * GIVE_UP);
    },
  );

  it.each([
    'a certificate with another name',
    'a self-signed certificate',
    'a certificate that has expired',
    'plain HTTP on the port of TLS',
    'a version of TLS that is too old',
  ])('%s: one recipient failed, and that is all (B6)', async (behaviour) => {
    using folder = temporaryFolder();
    await using played = await always(behaviour, folder.path('receipts.jsonl'));
    const tried = await trySending({ baseUrl: `https://localhost:${played.port}` });
    expect(tried).toMatchObject({
      status: 5,
      halt: 'tls',
      requests: 0,
      counts: { 'failed(tls)': 1, pending: ROWS - 1 },
    });
  });

  it('a client certificate that is asked for: doubts, and not for long (C9)', async () => {
    using folder = temporaryFolder();
    const receipts = folder.path('receipts.jsonl');
    await using played = await always('asks for a client certificate, TLS 1.3', receipts);
    const tried = await trySending({ baseUrl: `https://localhost:${played.port}`, receipts });
    expect(tried).toMatchObject({ status: 5, requests: 0 });
    expect(['api-down', 'doubt']).toContain(tried.halt);
    expect(tried.counts['pending']).toBeGreaterThanOrEqual(ROWS - 2 * GIVE_UP);
  });

  it('a proxy in handbill.yaml that refuses (B7)', async () => {
    using folder = temporaryFolder();
    const receipts = folder.path('receipts.jsonl');
    await using played = await always('a proper answer', receipts);
    const proxy = await startProxy(false);
    try {
      const tried = await trySending({
        baseUrl: `https://localhost:${played.port}`,
        environment: `    proxy: http://127.0.0.1:${proxy.port}`,
        receipts,
      });
      expect(tried).toMatchObject({ ...NEVER_THERE, counts: failedAll('proxy') });
      expect(proxy.requests.length).toBe(GIVE_UP);
      expect(proxy.requests.map(({ head }) => head).join('\n')).not.toMatch(/x-api-key/i);
      expect((await played.counts()).connections).toBe(0);
    } finally {
      await proxy.close();
    }
  });

  it('a proxy in handbill.yaml that is not there (B7)', async () => {
    const tried = await trySending({
      baseUrl: 'https://localhost:1',
      environment: `    proxy: http://127.0.0.1:${await closedPort()}`,
    });
    expect(tried).toMatchObject({ ...NEVER_THERE, counts: failedAll('proxy') });
  });
});

describe.concurrent('something else in place of the API', PATIENCE, () => {
  it.each([
    ['D2', 'a login page in HTML', 'not-the-api', 'in-doubt(unrecognised)'],
    ['D2', 'plain text', 'not-the-api', 'in-doubt(unrecognised)'],
    ['F2', 'status 401', 'not-authorised', 'pending(not-authorised)'],
    ['F2', 'status 402', 'not-authorised', 'pending(not-authorised)'],
    ['F2', '403 with a page', 'not-authorised', 'pending(not-authorised)'],
    ['F1', 'status 404', 'wrong-address', 'pending(wrong-address)'],
    ['E1', '307 to another host', 'wrong-address', 'pending(wrong-address)'],
    ['E2', '302 to another host', 'wrong-address', 'in-doubt(redirect)'],
    ['G3', 'status 501', 'wrong-address', 'pending(wrong-address)'],
    ['G4', 'status 511', 'not-the-api', 'in-doubt(status)'],
  ])('%s: %s: one request of a list of 500 leaves', async (_row, behaviour, halt, ending) => {
    using folder = temporaryFolder();
    const receipts = folder.path('receipts.jsonl');
    // All numbers begin so.
    const target = numberOf(0).slice(0, 6);
    await using played = await server.listen({ behaviour, target, connection: 'fresh', after: 0, receipts });
    const tried = await trySending({ rows: 500, baseUrl: `http://127.0.0.1:${played.port}`, receipts });
    expect(tried).toMatchObject({ status: 5, halt, requests: 1 });
    expect(tried.counts).toEqual({ [ending]: 1, pending: 499 });
    expect((await played.counts()).elsewhere).toBe(0);
  });
});

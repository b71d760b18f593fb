import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { openExistingLedger } from '../../src/ledger/open.ts';
import { createReferences } from '../../src/plan/expand.ts';
import { returnedIn } from '../../src/send/deliveries.ts';
import { type RunningCli, startCli, until } from '../helpers/cli.ts';
import { readReceipts } from '../oracle/receipts.ts';
import { CANARY_KEY, createScene, type Scene } from '../oracle/scene.ts';

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const SECRET = `whsec_${randomBytes(24).toString('base64')}`;
const ENV = { HANDBILL_API_KEY: CANARY_KEY, HOOK: SECRET };

/** A free port: the sandbox is told where it reports before a process listens there. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

interface Meeting extends AsyncDisposable {
  readonly scene: Scene;
  readonly port: number;
  readonly receipts: string;
  readonly sandbox: RunningCli;
  readonly url: string;
}

/** A project, and the sandbox in a process of its own that reports to a port of this machine. */
async function meet(
  list: readonly string[],
  campaign: readonly string[],
  flags: readonly string[] = [],
): Promise<Meeting> {
  const port = await freePort();
  using stack = new DisposableStack();
  const scene = stack.use(createScene({ rows: list.length, baseUrl: 'x', receipts: 'x' }));
  const receipts = scene.path('received.jsonl');
  const hook = [
    '--webhook',
    `http://127.0.0.1:${port}/webhooks`,
    '--webhook-secret-env',
    'HOOK',
    '--retries',
    '200,1000',
  ];
  const args = ['sandbox', '--port', '0', '--receipts', receipts, ...hook, ...flags];
  const sandbox = startCli(args, { cwd: scene.root, env: ENV });
  await until('the sandbox', () => sandbox.stdout().includes('Ctrl-C'));
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(sandbox.stdout())?.[0] ?? '';
  const own = createScene({
    rows: list.length,
    baseUrl: url,
    receipts,
    environment: '    webhook: { secrets: [{ env: HOOK }] }',
    env: ENV,
  });
  stack.move();
  own.write('people.csv', `id,number\n${list.map((number, row) => `k${row},${number}`).join('\n')}\n`);
  own.write('campaign.yaml', `${['name: proof', 'from: Riverside', ...campaign].join('\n')}\n`);
  return {
    scene: own,
    port,
    receipts,
    sandbox,
    url,
    async [Symbol.asyncDispose]() {
      sandbox.kill('SIGTERM');
      await sandbox.done;
      own[Symbol.dispose]();
      scene[Symbol.dispose]();
    },
  };
}

const LIST = 'recipients: { csv: people.csv, key: id, to: number }';
const numberOf = (three: string): string => `+447700900${three}`;
const plain = (count: number) => Array.from({ length: count }, (_, i) => `+4474001${String(i).padStart(5, '0')}`);

describe('send --listen', () => {
  it('takes in reports and STOPs while it sends: all adds up, and who opted out gets nothing more', async () => {
    const told = ['600', '601', '602', '603', '605', '606', '610', '611', '613', '614', '621'];
    const unreachable = ['604'];
    const early = [...told, ...unreachable].map(numberOf);
    // The same people once more, at the end, under other keys.
    const stopped = ['605', '614'].map(numberOf);
    const list = [...early, ...plain(85), ...stopped];
    const campaign = ['channel: rcs', 'template: { text: "Hi {{id}}" }', LIST, 'send: { rate: 40/s }'];
    const fallback = 'fallback: { channel: sms, template: { text: "Hi {{id}}, by SMS" } }';
    const speed = ['--reply-after', '200', '--doubled', '20%', '--reordered', '20%', '--early', '10%'];
    await using meeting = await meet(list, [...campaign, fallback], speed);
    const { scene, port, receipts } = meeting;
    const sent = await scene.send(['--listen', String(port), '--listen-for', '3s', '--format', 'json']);
    expect(sent).toMatchObject({
      status: 0,
      stderr: expect.stringContaining(`Receiving on http://127.0.0.1:${port}/`),
    });
    const report = JSON.parse(sent.stdout);
    // 610 was in doubt: its connection was reset, and a report says that it arrived.
    expect(report).toMatchObject({
      state: 'finished',
      totals: { recipients: list.length, accepted: list.length - 2, skipped: 2, inDoubt: 0, pending: 0 },
      reasons: { accepted: { resolved: 1 }, skipped: { suppressed: 2 } },
      deliveries: { failed: 1, expired: 1, read: 2, replied: 1, 'opted-out': 2 },
    });
    const came = Object.values(report.deliveries as Record<string, number>).reduce((sum, count) => sum + count, 0);
    expect(came).toBe(list.length - 2);
    expect(report.steps).toMatchObject([
      { channel: 'rcs', fellBack: 1 },
      { channel: 'sms', attempted: 1, accepted: 1 },
    ]);
    // What the sandbox received says the same: no recipient twice, no fallback but one.
    const referenceOf = createReferences({ environment: 'test', campaign: 'proof', occurrence: 'once' });
    const ids = reportedIds(scene);
    const found = readReceipts(receipts).map((receipt) => {
      const reportedAs = ids.get(receipt.reference ?? '');
      return reportedAs === undefined ? receipt : { ...receipt, reportedAs };
    });
    const unreached = new Set([referenceOf(`k${told.length}`, 'rcs')]);
    expect(scene.violations({ steps: 2, unreached, receipts: found })).toEqual([]);
    const bodies = found.map(({ text }) => JSON.parse(text));
    expect(bodies.filter(({ channel }) => channel === 'SMS')).toHaveLength(1);
    for (const number of stopped) {
      expect(bodies.filter(({ recipients }) => recipients[0].msisdn === number)).toHaveLength(1);
    }
    // Nothing is left to do, for any recipient.
    const again = await scene.send(['--listen', String(port), '--format', 'json']);
    expect(again).toMatchObject({ status: 0, stderr: expect.stringContaining('finished') });
    expect(readReceipts(receipts)).toHaveLength(found.length);
  });

  it('is at its gate again when it was killed there, and is halted when too little was delivered', async () => {
    // Every third is never reported to have arrived.
    const list = Array.from({ length: 30 }, (_, row) => (row % 3 === 0 ? `sandbox-${row}+613` : `sandbox-${row}+600`));
    const campaign = ['channel: sms', 'template: { text: "Hi" }', 'recipients: { csv: people.csv, contact: number }'];
    const gate = 'send: { canary: { steps: 9, gate: { delivered: 80%, wait: 6s } } }';
    await using meeting = await meet(list, [...campaign, gate]);
    const { scene, port, receipts } = meeting;
    const first = scene.start(['--listen', String(port)]);
    await until('the reports of the step', () => first.stderr().includes('Waiting') && arrivedIn(scene) === 6);
    first.kill('SIGKILL');
    expect((await first.done).signal).toBe('SIGKILL');
    expect(readReceipts(receipts)).toHaveLength(9);
    const next = await scene.send(['--listen', String(port)]);
    expect(next.status).toBe(5);
    expect(next.stdout.replace(/\s+/g, ' ')).toContain('66.6% of the first 9 accepted messages were delivered (6, 3');
    expect(readReceipts(receipts)).toHaveLength(9);
    expect(scene.violations()).toEqual([]);
  });

  it('ends in good order when it is told to, and keeps what has come in', async () => {
    await using meeting = await meet(
      [...plain(5), numberOf('613')],
      ['channel: sms', 'template: { text: "Hi" }', LIST],
    );
    const { scene, port } = meeting;
    const sender = scene.start(['--listen', String(port), '--format', 'json']);
    await until('the last report', () => arrivedIn(scene) === 5 && reportedIds(scene).size === 6);
    sender.kill('SIGTERM');
    const ended = await sender.done;
    expect(ended.status).toBe(143);
    expect(JSON.parse(ended.stdout)).toMatchObject({ state: 'finished', totals: { accepted: 6 } });
    await expect(fetch(`http://127.0.0.1:${port}/webhooks`)).rejects.toThrow();
    const report = await scene.run(['report', '--format', 'json']);
    expect(JSON.parse(report.stdout).deliveries).toEqual({ sent: 1, delivered: 5 });
  });

  it('is refused before the first request where no report can arrive, or the port is taken', async () => {
    await using meeting = await meet(plain(3), ['channel: sms', 'template: { text: "Hi" }', LIST]);
    const { scene, receipts } = meeting;
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const busy = typeof address === 'object' && address !== null ? address.port : 0;
    expect(await scene.send(['--listen', String(busy)])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('Webhooks cannot be received'),
    });
    taken.close();
    expect(await scene.send(['--listen', '0'], { env: { HOOK: '' } })).toMatchObject({ status: 2 });
    expect(readReceipts(receipts)).toEqual([]);
    expect(await scene.send(['--listen-for', '1s'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--listen'),
    });
  });
});

/** The id of the API by our reference, as the reports that came in say. */
function reportedIds(scene: Scene): ReadonlyMap<string, string> {
  const ledger = openExistingLedger(scene.ledger, { nowMs: Date.now() });
  if (ledger === null) return new Map();
  try {
    const found = new Map<string, string>();
    const run = ledger.runs()[0];
    if (run === undefined) return found;
    const referenceOf = createReferences(run);
    for (const { key, channel, steps } of [...ledger.outcomes(run)].flat()) {
      for (const step of steps ?? [{ channel }]) {
        const reference = referenceOf(key ?? '', step.channel);
        const [report] = ledger.events.reportsNaming({ reference, messageId: null });
        if (report !== undefined) found.set(reference, report.messageId ?? '');
      }
    }
    return found;
  } finally {
    ledger.close();
  }
}

/** Messages that arrived, as the reports that came in say. */
function arrivedIn(scene: Scene): number {
  const ledger = openExistingLedger(scene.ledger, { nowMs: Date.now() });
  const run = ledger?.runs()[0];
  const arrived = ledger === null || run === undefined ? 0 : returnedIn(ledger, run).arrived;
  ledger?.close();
  return arrived;
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { expect, test } from 'vitest';
import { type RunningCli, startCli, until } from '../helpers/cli.ts';
import { type PostgresServer, type Replica, removePostgres, startPostgres } from '../helpers/postgres-server.ts';
import { startSandboxApi } from '../kills/api.ts';
import { readReceipts } from '../oracle/receipts.ts';
import { CANARY_KEY, createScene } from '../oracle/scene.ts';
import { type End, passOn } from './pass-on.ts';

/*
 * J6: a replica that had fallen behind takes over from the server of a ledger, under the known address. What
 * it lacks, only those know who sent.
 */

interface Pair extends AsyncDisposable {
  readonly server: PostgresServer;
  readonly replica: Replica;
  /** Of whichever has it. */
  readonly address: string;
  /** The replica takes over, and has the address. */
  takeOver(): Promise<void>;
}

async function startPair(): Promise<Pair> {
  const folder = mkdtempSync(join(process.env['TMPDIR'] ?? tmpdir(), 'handbill-takeover-'));
  const server = await startPostgres(folder);
  const other = join(folder, 'replica');
  const replica = await server.replicate(other);
  const portOf = ({ address }: { readonly address: string }): number => Number(new URL(address).port);
  const end: { -readonly [K in keyof End]: End[K] } = { host: '127.0.0.1', port: portOf(server) };
  const passing = await passOn({ host: '127.0.0.1', port: 0 }, end);
  const address = new URL(server.address);
  address.port = String(passing.port);
  return {
    server,
    replica,
    address: address.href,
    async takeOver() {
      await server.stop('SIGQUIT');
      await replica.promote();
      end.port = portOf(replica);
    },
    async [Symbol.asyncDispose]() {
      await passing.close();
      await replica.stop();
      await removePostgres(server, folder);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What a process says that the server lacked; 0: nothing. */
function lackedBy(stderr: string): number {
  return Number(/took over lacked ([0-9,]+) claim/.exec(stderr)?.[1]?.replaceAll(',', '') ?? 0);
}

const FULL = process.env['HANDBILL_FULL'] === '1';
const SHARED = { who: 'send and two workers', workers: 2 };

test.each(FULL ? [{ who: 'send alone', workers: 0 }, SHARED] : [SHARED])(
  'a replica takes over that lacks what was claimed last: $who (J6)',
  async ({ workers: count }) => {
    await using pair = await startPair();
    const api = await startSandboxApi(100);
    using scene = createScene({
      rows: 400,
      baseUrl: api.baseUrl,
      receipts: api.receipts,
      // Read past the way to it, which is in this process and would wait for itself.
      ledger: pair.replica.address,
      env: { HANDBILL_LEDGER: pair.address },
      campaign: 'send: { concurrency: 4 }',
    });
    const sent = (): number => readReceipts(api.receipts).length;
    const env = { HANDBILL_API_KEY: CANARY_KEY, HANDBILL_LEDGER: pair.address };
    const workers: RunningCli[] = Array.from({ length: count }, () =>
      startCli(['worker', '--env', 'test'], { cwd: scene.root, env }),
    );
    try {
      await until('workers wait', () => workers.every((one) => one.stderr().includes('waits for runs')));
      const start = scene.start(count === 0 ? [] : ['--workers']);
      await until('some are sent', () => sent() >= 40);
      await pair.replica.fallBehind();
      const known = sent();
      await until('more are sent, of which the replica knows nothing', () => sent() >= known + 40);
      await pair.takeOver();

      // No process goes on by itself: only people know whether that is all.
      const { status, stderr } = await start.done;
      expect({ status, stderr }).toMatchObject({
        status: 7,
        stderr: expect.stringContaining('Another server has taken'),
      });
      const ends = await Promise.all(workers.map(async ({ done }) => await done));
      for (const end of ends) expect({ ...end }).toMatchObject({ status: 7 });
      const lacked = [stderr, ...ends.map((end) => end.stderr)].map(lackedBy);
      const all = lacked.reduce((sum, one) => sum + one, 0);
      expect(all).toBeGreaterThanOrEqual(30);

      const refused = await scene.send([]);
      expect(refused).toMatchObject({ status: 7, stderr: expect.stringContaining('Another server has taken over') });
      const next = await scene.send(['--allow', 'ledger-taken-over']);
      expect(next.status).toBe(4);
      // Each of them once, whichever process had sent: a request without an answer is in doubt.
      expect(scene.violations({ mostCrashes: all + 4 * (count + 1) })).toEqual([]);
      expect(sent()).toBe(400);
    } finally {
      for (const one of workers) one.kill('SIGKILL');
      await api.close();
    }
  },
);

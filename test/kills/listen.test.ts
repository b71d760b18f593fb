import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { startCli, until } from '../helpers/cli.ts';
import { numberOf } from '../oracle/scene.ts';
import { post, SECRET, signed } from '../webhook/sender.ts';
import { createRandom, type Random } from './random.ts';

const FULL = process.env['HANDBILL_FULL'] === '1';
const KILLS = FULL ? 20 : 5;
const SENDERS = 8;
const WEBHOOK =
  'defaultCountry: GB\nenvironments: { sandbox: { webhook: { secrets: [{ env: HANDBILL_WEBHOOK_SECRET }] } } }\n';

/** A request of the provider, which is made again until it is answered. */
interface Delivery {
  readonly body: string;
  readonly messageIds: readonly string[];
  /** Who opts out in it. */
  readonly stops: readonly string[];
}

/** One to three events: mostly reports, sometimes a recipient who opts out. */
function deliveryOf(number: number, random: Random): Delivery {
  const timestamp = new Date(Date.UTC(2026, 10, 21, 9) + number).toISOString();
  const count = random.between(1, 3);
  const messageIds = Array.from({ length: count }, (_, at) => `m-${number}-${at}`);
  const to = numberOf(number);
  const reports = messageIds.map((messageId) => ({ messageId, status: 'delivered', to, timestamp }));
  if (!random.chance(0.2)) return { body: JSON.stringify({ results: reports }), messageIds, stops: [] };
  const stop = { from: to, to: 'Riverside', text: 'STOP', timestamp };
  return { body: JSON.stringify({ results: [...reports, stop] }), messageIds, stops: [to] };
}

/** Lets senders post until the process that receives is killed; says what was answered and what was not. */
async function besiege(folder: string, random: Random, next: () => Delivery) {
  const env = { HANDBILL_WEBHOOK_SECRET: SECRET };
  const cli = startCli(['listen', '--port', '0'], { cwd: folder, env });
  await until('the process listens', () => cli.stdout().includes('Ctrl-C'), 20_000);
  const url = /http:\S+/.exec(cli.stdout())?.[0] ?? '';
  const answered: Delivery[] = [];
  const unanswered: Delivery[] = [];
  let isKilled = false;
  const send = async (): Promise<void> => {
    while (!isKilled) {
      const one = next();
      const status = await post(url, one.body, signed(one.body)).then(
        (reply) => reply.status,
        () => null,
      );
      if (status === 200) answered.push(one);
      else if (status === null || status >= 500) unanswered.push(one);
      else throw new Error(`a good request was answered with ${status}`);
    }
  };
  const senders = Array.from({ length: SENDERS }, send);
  // An order of magnitude is as likely as another: between the first commits, and among many.
  await sleep(20 * 30 ** random.unit());
  cli.kill('SIGKILL');
  isKilled = true;
  await Promise.all(senders);
  expect((await cli.done).signal).toBe('SIGKILL');
  return { answered, unanswered };
}

/** How often each message is reported in the ledger, and who must not be sent to. */
function held(folder: string) {
  const db = new DatabaseSync(join(folder, '.handbill', 'ledger.db'));
  try {
    const rows = db.prepare('SELECT message_id AS id, count(*) AS n FROM delivery_reports GROUP BY message_id').all();
    const reports = new Map(rows.map(({ id, n }) => [String(id), Number(n)]));
    const suppressed = new Set(
      db
        .prepare('SELECT address FROM suppressions')
        .all()
        .map((row) => String(row['address'])),
    );
    const check = Object.values(db.prepare('PRAGMA integrity_check').get() ?? {})[0];
    return { reports, suppressed, check };
  } finally {
    db.close();
  }
}

it(
  `of ${KILLS} kills at random instants no event is lost that was answered with 200, and none is there twice (K1, K3)`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'handbill-listen-kills-'));
    try {
      writeFileSync(join(folder, 'handbill.yaml'), WEBHOOK);
      const random = createRandom(20_261_121);
      const all: Delivery[] = [];
      const answered: Delivery[] = [];
      let owed: Delivery[] = [];
      const next = (): Delivery => {
        const old = owed.pop() ?? (random.chance(0.1) ? answered[random.between(0, answered.length - 1)] : undefined);
        if (old !== undefined) return old;
        const one = deliveryOf(all.length, random);
        all.push(one);
        return one;
      };
      for (let kill = 0; kill < KILLS; kill++) {
        const round = await besiege(folder, random, next);
        answered.push(...round.answered);
        owed = [...owed, ...round.unanswered];
        const { reports, suppressed, check } = held(folder);
        const ids = new Set(answered.flatMap(({ messageIds }) => messageIds));
        const stops = new Set(answered.flatMap((one) => one.stops));
        expect(check).toBe('ok');
        expect([...ids].filter((id) => !reports.has(id))).toEqual([]);
        expect([...reports].filter(([, count]) => count !== 1)).toEqual([]);
        expect([...stops].filter((address) => !suppressed.has(address))).toEqual([]);
        // All events of a request are held, or none of them.
        const halves = all.filter(({ messageIds }) => new Set(messageIds.map((id) => reports.has(id))).size > 1);
        expect(halves).toEqual([]);
      }
      expect(answered.length).toBeGreaterThan(0);
      expect(answered.flatMap(({ stops }) => stops)).not.toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  FULL ? 600_000 : 60_000,
);

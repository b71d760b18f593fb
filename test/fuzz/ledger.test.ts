import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { startCli, until } from '../helpers/cli.ts';
import { answer, type RawRequest } from '../helpers/raw-server.ts';
import { type Ending, violations } from '../oracle/oracle.ts';
import type { Receipt } from '../oracle/receipts.ts';
import { CANARY_KEY } from '../oracle/scene.ts';
import { type Arena, openArena } from './arena.ts';
import { type Damage, damage, hurt } from './hurt.ts';
import { runs, TIMEOUT_MS } from './runs.ts';
import { startTarget } from './target.ts';

const ROWS = 12;
const SEND = ['send', 'notification', '--env', 'test', '--yes', '--concurrency', '3'];
const LINES = Array.from({ length: ROWS }, (_, row) => row + 2);

/** Takes everything; the requests from `holdFrom` on get no answer. */
class Api {
  receipts: Receipt[] = [];
  holdFrom = Number.POSITIVE_INFINITY;

  readonly reply = (request: RawRequest): void => {
    const { body } = request;
    const number = this.receipts.length + 1;
    const reference = /"handbill":"([^"]+)"/.exec(body)?.[1] ?? null;
    const held = number >= this.holdFrom;
    this.receipts.push({ number, status: held ? null : 202, id: held ? null : `m-${number}`, text: body, reference });
    if (!held) answer(202, `{"id":"m-${number}"}`)(request);
  };
}

/**
 * Where one file alone knows of what the other has lost: the marker of a ledger that is gone, the index of a log. Who
 * damages both has made a project that was never sent from, or a log that was never longer.
 */
const UNKNOWABLE: readonly (readonly [string, string])[] = [
  ['ledger.db', '.ledger.db.marker'],
  ['ledger.db-wal', 'ledger.db-shm'],
];

type End = 'good order' | 'kill -9';

/** A run that was left half done, by `--limit` or by a kill; its ledger is the one that is damaged. */
async function halfDone(arena: Arena, api: Api, how: End): Promise<void> {
  const list = Array.from({ length: ROWS }, (_, row) => `+4474001000${row + 10},R-${row},1\n`).join('');
  arena.write('campaigns/notification/people.csv', `mobile,order,parcels\n${list}`);
  arena.write('campaigns/notification/parcel.hbs', 'Parcel {{order}}');
  if (how === 'good order') {
    expect((await arena.run([...SEND, '--limit', '6'])).status).toBe(0);
    return;
  }
  api.holdFrom = 7;
  const sender = startCli(SEND, { cwd: arena.root, env: { HANDBILL_API_KEY: CANARY_KEY } });
  await until('nine requests', () => api.receipts.length === 9);
  sender.kill('SIGKILL');
  await sender.done;
  api.holdFrom = Number.POSITIVE_INFINITY;
}

it.concurrent.for<End>(['good order', 'kill -9'])(
  'whatever becomes of the bytes of a ledger that was left by a %s: refused, or the promise holds',
  { timeout: TIMEOUT_MS },
  async (how, { onTestFinished }) => {
    const api = new Api();
    await using target = startTarget();
    await using arena = await openArena(target, api.reply);
    await halfDone(arena, api, how);
    const before = api.receipts;
    const folder = join(arena.root, '.handbill');
    const kept = mkdtempSync(join(tmpdir(), 'handbill-kept-'));
    onTestFinished(() => rmSync(kept, { recursive: true, force: true }));
    cpSync(folder, kept, { recursive: true });
    const files = readdirSync(kept, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\./.test(name))
      .toSorted();
    const property = fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 2 }), async (damages) => {
      const hit = new Set(damages.map(({ file }) => files[file % files.length]));
      fc.pre(!UNKNOWABLE.some((pair) => pair.every((name) => hit.has(name))));
      api.receipts = [...before];
      hurtFiles(folder, files, damages);
      try {
        const sent = await arena.run(SEND);
        const posted = api.receipts.length - before.length;
        if (sent.status === 7 || sent.status === 2) {
          if (posted > 0) expect(new Set(api.receipts.map((r) => r.reference)).size).toBe(api.receipts.length);
          await arena.run(['report', '--format', 'jsonl']);
          await arena.run(['runs']);
        } else {
          const report = await arena.run(['report', '--format', 'jsonl']);
          const texts = report.stdout.split('\n').filter((line) => line !== '');
          const endings = texts.map((line) => JSON.parse(line) as Ending);
          expect(violations({ lines: LINES, endings, receipts: api.receipts })).toEqual([]);
        }
      } finally {
        rmSync(folder, { recursive: true, force: true });
        cpSync(kept, folder, { recursive: true });
      }
    });
    await fc.assert(property, runs(40, 300));
  },
);

const KEY = { HANDBILL_SUPPRESSION_KEY: 'SEKRET-of-the-suppression-lists' };
const OTHERS: readonly (readonly string[])[] = [
  ['suppress', 'list', '--format', 'json'],
  ['suppress', 'export', '--hashed'],
  ['suppress', 'check', '--format', 'json'],
  ['suppress', 'add', '+447400100099'],
  ['suppress', 'remove', '+447400100010'],
  ['purge', '--older-than', '1s', '--yes', '--with-open'],
  ['purge', '--older-than', '90d', '--dry-run', '--format', 'json'],
  ['preview', 'other', '--env', 'test', '--format', 'jsonl'],
  ['due', '--env', 'test', '--dry-run', '--format', 'json'],
];

it('whatever becomes of the bytes of a ledger with lists and hashes, who looks at it and who clears it ends as documented', {
  timeout: TIMEOUT_MS,
}, async ({ onTestFinished }) => {
  const api = new Api();
  await using target = startTarget();
  const other =
    'name: other\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hello }\nrecipients: { csv: people.csv, to: mobile }\n' +
    'exclude: [notification]\nfrequency: { max: 1, per: 7d }\nschedule: { cron: 0 9 * * * }\n';
  const list = 'mobile\n+447400100010\n+447400100020\n+447400100098\n';
  await using arena = await openArena(target, api.reply, {
    'campaigns/other/campaign.yaml': other,
    'campaigns/other/people.csv': list,
  });
  const project = readFileSync(join(arena.root, 'handbill.yaml'), 'utf8');
  arena.write('handbill.yaml', `${project}suppressionKey: { env: HANDBILL_SUPPRESSION_KEY }\n`);
  await halfDone(arena, api, 'good order');
  for (const args of [
    ['add', '+447400100098'],
    ['add', '+447400100097', '--until', '2027-01-31'],
  ]) {
    expect((await arena.run(['suppress', ...args], KEY)).status).toBe(0);
  }
  const hashed = (await arena.run(['suppress', 'export', '--hashed'], KEY)).stdout;
  arena.write('campaigns/other/people.csv', hashed);
  expect((await arena.run(['suppress', 'import', 'campaigns/other/people.csv'], KEY)).status).toBe(0);
  arena.write('campaigns/other/people.csv', list);
  const folder = join(arena.root, '.handbill');
  const kept = mkdtempSync(join(tmpdir(), 'handbill-kept-'));
  onTestFinished(() => rmSync(kept, { recursive: true, force: true }));
  cpSync(folder, kept, { recursive: true });
  const files = readdirSync(kept, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\./.test(name))
    .toSorted();
  const { connections } = arena.server;
  const property = fc.asyncProperty(
    fc.array(damage, { maxLength: 2 }),
    fc.constantFrom(...OTHERS),
    async (damages, args) => {
      hurtFiles(folder, files, damages);
      try {
        const ran = await arena.run(args, KEY);
        expect(ran.stdout + ran.stderr).not.toContain(KEY.HANDBILL_SUPPRESSION_KEY);
        expect(arena.server.connections).toBe(connections);
        if (damages.length === 0) expect(ran.status).toBe(0);
      } finally {
        rmSync(folder, { recursive: true, force: true });
        cpSync(kept, folder, { recursive: true });
      }
    },
  );
  await fc.assert(property, runs(25, 600));
});

function hurtFiles(folder: string, files: readonly string[], damages: readonly Damage[]): void {
  for (const one of damages) {
    const file = join(folder, files[one.file % files.length] ?? '');
    if (!existsSync(file)) continue;
    const bytes = hurt(readFileSync(file), one);
    if (bytes === null) rmSync(file);
    else writeFileSync(file, bytes);
  }
}

import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { copyLedger, openLedger } from '../../src/ledger/open.ts';
import type { DeliveryReport, Reply } from '../../src/model.ts';
import { due } from '../../src/operations/due.ts';
import { reconcile } from '../../src/operations/reconcile.ts';
import { rehearse } from '../../src/operations/rehearse.ts';
import { ask, freshDatabase } from '../helpers/postgres.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

const MINUTE = 60_000;
/** A Monday. */
const START = Date.parse('2026-11-30T00:02:00Z');

const PEOPLE = `msisdn,name\n${Array.from({ length: 30 }, (_, i) => `+44770090${String(1000 + i)},N${i}`).join('\n')}\n`;

const head = (name: string): string =>
  `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hello {{name}}" }\nrecipients: ../people.csv\n`;

const FILES = {
  'handbill.yaml': '',
  'campaigns/people.csv': PEOPLE,
  'campaigns/daily/campaign.yaml': `${head('daily')}schedule: { cron: "0 9 * * *", timeZone: UTC }\nfrequency: { max: 2, per: 3d }\n`,
  'campaigns/nudge/campaign.yaml': `${head('nudge')}after: { campaign: daily, wait: 1d, unless: replied }\n`,
};

const REPORT: DeliveryReport = {
  kind: 'delivery',
  reference: 'abc',
  messageId: null,
  address: '+447700901001',
  channel: 'sms',
  state: 'delivered',
  word: 'DELIVRD',
  cause: null,
  error: 'ü \u2400',
  textHash: null,
  atMs: START,
  eventId: null,
};
const REPLY: Reply = {
  kind: 'reply',
  replyId: 'r1',
  reference: null,
  messageId: null,
  from: '+447700901002',
  to: null,
  channel: null,
  text: 'Yes?',
  meaning: 'answer',
  atMs: START + 700 * MINUTE,
};

/** A day of sending, with reports, replies, opt-outs and a pause. */
async function lived({ root }: TestProject, ledger: string): Promise<void> {
  const options = { cwd: root, env: {}, ledger, confirm: true } as const;
  for (const nowMs of [START, START + 600 * MINUTE]) await due([], { ...options, now: () => nowMs });
  using open = openLedger(ledger, { mode: 'write', nowMs: START + 700 * MINUTE });
  const stop: Reply = { ...REPLY, replyId: 'r2', from: '+447700901003', text: 'STOP', meaning: 'opt-out' };
  open.events.record([REPORT, REPLY, stop, { kind: 'unread', body: '{}' }], {
    nowMs: START + 700 * MINUTE,
    source: 'webhook',
    environment: 'sandbox',
  });
  open.pause({ environment: 'other', campaign: null }, { reason: 'a test', who: 'ann', nowMs: START + 701 * MINUTE });
  for (const _ of open.events.joinReplies({
    now: () => START + 701 * MINUTE,
    referencesOf: () => () => '',
    startLifts: false,
  }));
}

const tablesOf = (db: DatabaseSync): string[] =>
  db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all()
    .map(({ name }) => String(name));

const sorted = (rows: readonly object[]): string[] =>
  rows
    .map((row) => JSON.stringify(row, (_, value: unknown) => (value instanceof Uint8Array ? [...value] : value)))
    .toSorted();

test('a copy of a shared ledger has every row of every table, but attempts, and only this user can read it', async () => {
  using project = createProject(FILES);
  const ledger = await freshDatabase();
  await lived(project, ledger);
  const path = project.path('copy.db');
  copyLedger(ledger, path, START + 702 * MINUTE);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  using open = openLedger(path, { mode: 'read', nowMs: START + 702 * MINUTE });
  expect(open.runs()).toHaveLength(1);
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const filled: string[] = [];
    for (const table of tablesOf(db)) {
      const columns = db.prepare(`PRAGMA table_info(${table})`).all();
      const names = columns.map(({ name }) => String(name));
      const copied = db.prepare(`SELECT ${names.join(', ')} FROM ${table}`).all();
      const casts = names.map((name) =>
        name === 'digest' ? `encode(digest, 'hex') AS digest` : `${name}::text AS ${name}`,
      );
      const original = await ask(ledger, `SELECT ${casts.join(', ')} FROM handbill.${table}`);
      const asText = copied.map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [
            name,
            value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value === null ? null : String(value),
          ]),
        ),
      );
      expect({ table, rows: sorted(asText) }).toEqual({ table, rows: sorted(original) });
      if (copied.length > 0) filled.push(table);
    }
    expect(filled.toSorted()).toEqual([
      'campaigns',
      'delivery_reports',
      'ledger',
      'pauses',
      'recipients',
      'replies',
      'runs',
      'schedules',
      'suppressions',
      'unread_events',
    ]);
  } finally {
    db.close();
  }
});

test('rehearse says the same of a shared ledger as of a file, and changes nothing in either', async () => {
  using project = createProject(FILES);
  using other = createProject(FILES);
  const shared = await freshDatabase();
  const file = other.path('.handbill/ledger.db');
  await lived(other, file);
  await lived(project, shared);
  const before = await ask(shared, 'SELECT changes, newest_at FROM handbill.ledger');
  const options = { cwd: project.root, now: () => START + 720 * MINUTE, days: 4 } as const;
  const played = await rehearse([], { ...options, cwd: other.root, env: {}, ledger: file });
  expect(played.occurrences.map(({ campaign }) => campaign)).toContain('nudge');
  expect(JSON.stringify(played.occurrences)).toContain('frequency-cap');
  expect(await rehearse([], { ...options, env: {}, ledger: shared })).toEqual(played);
  expect(await rehearse([], { ...options, env: { HANDBILL_LEDGER: shared } })).toEqual(played);
  expect(await ask(shared, 'SELECT changes, newest_at FROM handbill.ledger')).toEqual(before);
  // The marker of the project says that a file is not the ledger that knows its recipients.
  await expect(rehearse([], { ...options, env: {} })).rejects.toMatchObject({ code: 'second-ledger' });
});

test('a dry run of reports says what they would do, and stores none', async () => {
  using project = createProject(FILES);
  const ledger = await freshDatabase();
  await lived(project, ledger);
  project.write('reports.csv', 'to,status,sentAt\n+447700901004,delivered,2026-11-30T10:00:00Z\n');
  const count = () => ask(ledger, 'SELECT count(*) FROM handbill.delivery_reports');
  const before = await count();
  const options = { cwd: project.root, env: {}, ledger, now: () => START + 720 * MINUTE, environment: 'sandbox' };
  const dry = await reconcile(['reports.csv'], { ...options, dryRun: true });
  expect(await count()).toEqual(before);
  expect((await reconcile(['reports.csv'], options)).files).toEqual(dry.files);
  expect(await count()).not.toEqual(before);
});

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { APPLICATION_ID, MIGRATIONS, NEWEST_VERSION, userVersion } from '../../src/ledger/migrations.ts';
import { openExistingLedger, openLedger } from '../../src/ledger/open.ts';
import { createReference } from '../../src/plan/reference.ts';
import { countDeliveries } from '../../src/send/deliveries.ts';
import { scratchPath } from './scratch.ts';
import { HELLO, keyOf, NOON } from './values.ts';

/*
 * Ledgers of version 5, from before reports and replies belonged to an environment: as that version made them.
 */

const referenceOf = (environment: string) => createReference({ ...HELLO, environment }, 'sms')(keyOf(1));

/** In each environment a run whose messages are `m-0` and `m-1`, and reports about both, the second by reference. */
function given(environments: readonly string[]): string {
  const path = scratchPath();
  mkdirSync(dirname(path), { mode: 0o700 });
  const mask = process.umask(0o077);
  const db = new DatabaseSync(path);
  process.umask(mask);
  for (const { statements } of MIGRATIONS.slice(0, 5)) for (const statement of statements) db.exec(statement);
  expect([userVersion(db), APPLICATION_ID]).toEqual([5, db.prepare('PRAGMA application_id').get()?.['application_id']]);
  db.prepare('INSERT INTO ledger (only_row, created_at, newest_at) VALUES (1, ?, ?)').run(NOON, NOON);
  const addRun = db.prepare(`INSERT INTO runs (number, list, environment, campaign, occurrence, channel, state, inputs,
      identity_hash, rows, starts, created_at, started_at, last_start_at, finished_at)
    VALUES (?1, ?1, ?2, 'hello', 'once', 'sms', 'loading', '[]', '', 2, 1, ?3, ?3, ?3, ?3)`);
  const addRow = db.prepare(`INSERT INTO recipients (list, leg, row, line, key, address, state, attempts, http_status,
      message_id, claimed_at, updated_at) VALUES (?1, 0, ?2, ?2 + 2, ?3, ?3, 'accepted', 1, 202, ?4, ?5, ?5)`);
  const addReport = db.prepare(`INSERT INTO delivery_reports (digest, reference, message_id, state, happened_at,
      received_at, source) VALUES (randomblob(16), ?, ?, 'delivered', ?3, ?3, 'webhook')`);
  const addReply = db.prepare(`INSERT INTO replies (digest, sender, text, meaning, received_at, source, run, leg, row)
    VALUES (randomblob(16), ?, 'yes', 'answer', ?, 'webhook', ?, ?, ?)`);
  for (const [at, environment] of environments.entries()) {
    addRun.run(at + 1, environment, NOON);
    for (const row of [0, 1]) addRow.run(at + 1, row, keyOf(row), `m-${row}`, NOON);
    addReport.run(referenceOf(environment), null, NOON + 1);
    addReply.run(keyOf(0), NOON + 1, at + 1, 0, 0);
  }
  addReport.run(null, 'm-0', NOON + 1);
  addReply.run(keyOf(1), NOON + 1, null, null, null);
  db.exec(`UPDATE runs SET state = 'finished'`);
  db.close();
  return path;
}

/** Delivery reports and replies about both recipients of each run, and for which environment each reply came in. */
function said(ledger: Ledger | null, path: string): readonly unknown[] {
  if (ledger === null) throw new Error('there is a ledger');
  const counts = ledger
    .runs()
    .toSorted((a, b) => a.number - b.number)
    .map((run) => [
      run.environment,
      countDeliveries(ledger, run).map(({ delivery, unmatched, count }) => `${count} ${delivery ?? unmatched}`),
    ]);
  const replies = [...ledger.events.replies()].flat().map(({ answers }) => answers?.run ?? null);
  ledger.close();
  const db = new DatabaseSync(path, { readOnly: true });
  const version = userVersion(db);
  db.close();
  return [version, ...counts, replies];
}

describe('a ledger from before evidence belonged to an environment', () => {
  const alone = ['1 replied', '1 delivered'];
  it.each<[readonly string[], readonly (readonly [string, readonly string[]])[]]>([
    [['sandbox'], [['sandbox', alone]]],
    [['live'], [['live', alone]]],
    // What came in was for the API: of the sandbox only what names our reference is known.
    [
      ['sandbox', 'live'],
      [
        ['sandbox', alone],
        ['live', alone],
      ],
    ],
    [
      ['live', 'staging'],
      [
        ['live', alone],
        ['staging', alone],
      ],
    ],
  ])('with runs in %j is read, and brought up to date, with the same result', (environments, expected) => {
    const path = given(environments);
    const replies = [null, ...environments.map((_, at) => at + 1).toReversed()];
    expect(said(openExistingLedger(path, { nowMs: NOON }), path)).toEqual([5, ...expected, replies]);
    openLedger(path, { mode: 'write', nowMs: NOON }).close();
    expect(said(openExistingLedger(path, { nowMs: NOON }), path)).toEqual([NEWEST_VERSION, ...expected, replies]);
  });

  it.each<[readonly string[], Readonly<Record<string, readonly number[]>>]>([
    [['live'], { live: [0, 1] }],
    [['sandbox', 'live'], { sandbox: [1], live: [0, 1] }],
    [['live', 'staging'], { live: [1], staging: [1] }],
  ])(
    'with runs in %j: a report with only the id of the API counts where it can only be of one API',
    (environments, expected) => {
      for (const isUpdated of [false, true]) {
        const path = given(environments);
        if (isUpdated) openLedger(path, { mode: 'write', nowMs: NOON }).close();
        const ledger = openExistingLedger(path, { nowMs: NOON });
        const found = ledger?.runs().map(({ environment }) => {
          const about = [0, 1].filter((row) => {
            const reference = createReference({ ...HELLO, environment }, 'sms')(keyOf(row));
            const message = { environment, reference, messageId: `m-${row}`, to: keyOf(row), claimedAtMs: NOON };
            return ledger.events.reportsOf(message).length > 0;
          });
          return [environment, about];
        });
        ledger?.close();
        expect([isUpdated, Object.fromEntries(found ?? [])]).toEqual([isUpdated, expected]);
      }
    },
  );
});

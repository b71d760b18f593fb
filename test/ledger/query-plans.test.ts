import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { RunRecord } from '../../src/ledger/records.ts';
import { makeSchema } from '../../src/ledger/schema.ts';
import { SqliteConnection } from '../../src/ledger/sqlite-connection.ts';
import { ledgerOver } from '../../src/ledger/stores.ts';
import { BY_MAIL, onStep, unsupported } from './fallbacks.ts';
import { claimOf, HELLO, keyOf, loadRow, NOON, resultOf } from './values.ts';

/** Notes for each statement over the recipients how SQLite will carry it out. */
class Explaining extends DatabaseSync {
  readonly plans: { readonly sql: string; readonly steps: readonly string[] }[] = [];
  readonly #seen = new Set<string>();

  override prepare(sql: string, options?: Parameters<DatabaseSync['prepare']>[1]): StatementSync {
    if (/\brecipients\b|\btemp\./.test(sql) && !this.#seen.has(sql)) {
      this.#seen.add(sql);
      const steps = super.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
      this.plans.push({ sql: sql.replace(/\s+/g, ' '), steps: steps.map((step) => String(step['detail'])) });
    }
    return super.prepare(sql, options);
  }
}

/** Everything that a ledger ever does with recipients. */
function everything(): Explaining['plans'] {
  const folder = mkdtempSync(join(tmpdir(), 'handbill-plans-'));
  try {
    return planned(join(folder, 'ledger.db'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function planned(path: string): Explaining['plans'] {
  const db = new Explaining(path);
  makeSchema(db, NOON);
  const connection = new SqliteConnection(path, db);
  const { query } = connection;
  // A query that nothing below asks has its plan too.
  const ledger = ledgerOver(
    Object.assign(connection, {
      query(sql: string) {
        db.prepare(sql);
        return query(sql);
      },
    }),
  );
  const draft = (): RunRecord => {
    const begun = ledger.beginLoad(HELLO, { channel: 'sms', nowMs: NOON });
    ledger.load(
      begun,
      [0, 1, 2, 3].map((row) => loadRow(row)),
    );
    return begun;
  };
  const facts = { inputs: [], identityHash: '', nowMs: NOON };
  const { run } = ledger.start(ledger.finishLoad(draft(), facts), NOON);
  ledger.suppress(keyOf(3), { reason: null, untilMs: null, source: 'test', nowMs: NOON });
  ledger.commit(run, [], [0, 1, 2, 3].map(claimOf), NOON);
  const doubt = { state: 'in-doubt', reason: 'timeout', messageId: null } as const;
  ledger.commit(run, [unsupported(0, { next: BY_MAIL }), resultOf(1, doubt)], [onStep(1, 0, 'a@b.c')], NOON);
  ledger.start(run, NOON);
  ledger.commit(run, [resultOf(0, { step: 1, ...doubt }), resultOf(2)], [], NOON);
  ledger.skip(run, [{ row: 2, step: 0, reason: 'expired' }], NOON);
  const doubts = [...ledger.doubts(run)].flat();
  for (const [i, verdict] of (['resend', 'accepted'] as const).entries()) {
    ledger.resolve(run, doubts.slice(i, i + 1), { verdict, messageId: null, who: '', note: null, nowMs: NOON });
  }
  ledger.commit(run, [], [{ ...onStep(1, 0, 'a@b.c'), facts: BY_MAIL }], NOON);
  const rules = { exclude: [{ campaign: 'other', occurrence: null }], sinceMs: 0 };
  for (const own of ['other', 'third']) {
    const reach = ledger.reach({ ...HELLO, campaign: own }, rules);
    reach.cappedBy(keyOf(0), keyOf(0), [{ max: 9, sinceMs: 0 }]);
  }
  ledger.reopenRejected(run, 1);
  ledger.changed(run);
  ledger.reopenCorrected(run, NOON);
  ledger.earlier(run);
  ledger.amend(run, draft(), facts);
  ledger.close();
  return db.plans;
}

const plans = everything();

test('nothing is sorted that lies in order already: only the steps of a list, and the keys of two that are merged', () => {
  expect(plans.length).toBeGreaterThan(30);
  const sorted = plans.filter(({ steps }) => steps.some((step) => step.includes('TEMP B-TREE')));
  expect(sorted.map(({ sql }) => /temp\.\w+|GROUP BY|OFFSET/.exec(sql)?.[0])).toEqual([
    'GROUP BY',
    'OFFSET',
    'temp.old_keys',
    'temp.new_keys',
    'temp.pairs',
    'temp.gone',
  ]);
});

test('no list is read from end to end to find a row, and no index is made for one statement', () => {
  const scans = plans.flatMap(({ sql, steps }) =>
    // A list that a statement is handed is no table.
    steps.filter((step) => /SCAN|AUTOMATIC/.test(step) && !/VIRTUAL TABLE/.test(step)).map((step) => [sql, step]),
  );
  expect(scans.filter(([sql]) => !sql?.startsWith('INSERT INTO'))).toEqual([]);
  // Each of the small tables of two lists that are merged once.
  expect(scans.map(([, step]) => step)).toEqual(['SCAN n', 'SCAN old', 'SCAN (subquery-6)', 'SCAN g']);
});

test.each([
  ['the next pending rows', "CASE state WHEN 'pending' THEN key END"],
  ['outcomes', 'THEN list_address END, resend, posted_from, version, by_report'],
  ['states', 'SELECT row, key, state, reason, channel, address, resend, variant FROM'],
  ['doubts', "CASE state WHEN 'claimed' THEN 'crash'"],
])('%s are a walk along one step', (_, part) => {
  const found = plans.filter(({ sql }) => sql.includes(part));
  expect(found.map(({ steps }) => steps)).toEqual([
    ['SEARCH recipients USING PRIMARY KEY (list=? AND step=? AND row>? AND row<?)'],
  ]);
});

test('recipients with a corrected address are found without reading the list', () => {
  const corrected = plans.filter(({ sql }) => /WHERE list = \?\d? AND step = 0 AND list_address IS NOT NULL/.test(sql));
  expect(corrected.map(({ steps }) => steps[0])).toEqual(
    corrected.map(() => 'SEARCH recipients USING INDEX recipients_changed (list=? AND step=?)'),
  );
  expect(corrected.length).toBe(4);
});

test('a claim and an outcome are one row each, wherever the list is', () => {
  const hot = plans.filter(({ sql }) => /^UPDATE recipients SET .* AND row = /.test(sql));
  expect(hot.length).toBeGreaterThan(8);
  for (const { sql, steps } of hot) {
    expect([sql, steps[0]]).toEqual([sql, 'SEARCH recipients USING PRIMARY KEY (list=? AND step=? AND row=?)']);
  }
});

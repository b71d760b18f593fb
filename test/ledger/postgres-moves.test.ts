import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import { openBridge } from '../../src/ledger/postgres/bridge.ts';
import { makeSchema } from '../../src/ledger/schema.ts';
import { freshDatabase } from '../helpers/postgres.ts';
import { createRandom, type Random } from '../kills/random.ts';

const FULL = process.env['HANDBILL_FULL'] === '1';

const STATES = ['pending', 'claimed', 'accepted', 'rejected', 'failed', 'in-doubt', 'skipped', 'deferred'] as const;
const REASONS = [null, 'status', 'fell-back'] as const;
const RESOLVED = [null, 'resend', 'user', 'report', 'late-result', 'retry-rejected', 'resend-changed'] as const;
const ADDRESSES = ['a', 'b', null] as const;

/** One row, and a statement that changes it; whether that is legal depends on all of it. */
interface Move {
  readonly from: string;
  readonly reason: string | null;
  readonly resolvedBy: string | null;
  readonly step: number;
  readonly to: string;
  readonly toReason: string | null;
  readonly toResolvedBy: string | null;
  /** A person's word about the doubt is noted: about this attempt, or about another one. */
  readonly noted: number | null;
  /** Or the message to an address that was corrected. */
  readonly notedBy: string;
  readonly notedAddress: string | null;
  readonly toAddress: string | null;
  readonly resend: number | null;
  readonly toResend: number | null;
  readonly toAttempts: number;
  readonly runState: string;
}

function anyMove(random: Random): Move {
  return {
    from: random.pick(STATES),
    reason: random.pick(REASONS),
    resolvedBy: random.pick(RESOLVED),
    step: random.chance(0.3) ? 1 : 0,
    to: random.pick(STATES),
    toReason: random.pick(REASONS),
    toResolvedBy: random.pick(RESOLVED),
    noted: random.pick([null, 0, 1]),
    notedBy: random.pick(['user', 'resend-changed']),
    notedAddress: random.pick(ADDRESSES),
    toAddress: random.pick(ADDRESSES),
    resend: random.pick([null, null, 1]),
    toResend: random.pick([null, 1, 2]),
    toAttempts: random.pick([0, 1, 1]),
    runState: random.chance(0.1) ? 'loading' : 'running',
  };
}

/** An accepted row that is to be sent to once more, as far as it does not depend on chance. */
const RESEND = { from: 'accepted', to: 'pending', toResolvedBy: 'resend-changed', notedBy: 'resend-changed' } as const;

/** Statements that both databases understand, with what they are given. */
type Step = readonly [string, readonly (string | number | null)[]];

function stepsOf(move: Move): readonly Step[] {
  const before: Step[] =
    move.step === 0
      ? []
      : [
          [
            `INSERT INTO recipients (list, step, row, line, key, address, state, reason) VALUES (1, 0, 0, 2, 'k', 'a', 'rejected', 'fell-back')`,
            [],
          ],
        ];
  const note: Step[] =
    move.noted === null
      ? []
      : [
          [
            `INSERT INTO resolutions (run, step, key, attempts, line, verdict, resolved_by, address, resolved_at)
              SELECT number, ?, 'k', ?, 2, 'accepted', ?, ?, 0 FROM runs`,
            [move.step, move.noted, move.notedBy, move.notedAddress],
          ],
        ];
  return [
    [
      `INSERT INTO runs (list, environment, campaign, occurrence, channel, state, inputs, identity_hash, created_at)
        VALUES (1, 'e', 'c', 'o', 'sms', ?, '[]', '', 0)`,
      [move.runState],
    ],
    ...before,
    [
      `INSERT INTO recipients (list, step, row, line, key, address, state, reason, resolved_by, resend)
        VALUES (1, ?, 0, 2, 'k', 'a', ?, ?, ?, ?)`,
      [move.step, move.from, move.reason, move.resolvedBy, move.resend],
    ],
    ...note,
    [
      'UPDATE recipients SET state = ?, reason = ?, resolved_by = ?, address = ?, resend = ?, attempts = ? WHERE step = ?',
      [move.to, move.toReason, move.toResolvedBy, move.toAddress, move.toResend, move.toAttempts, move.step],
    ],
  ];
}

/** The rows, and the attempts that were not accepted. */
const ROWS = `SELECT step, row, key, state, reason, coalesce(resolved_by, '') AS by FROM recipients
  UNION ALL SELECT step, attempt, key, state, reason, 'attempt' FROM attempts ORDER BY step, by, state`;

/** The rows afterwards, or that it was refused. */
type Play = (move: Move) => string;

function onSqlite(): Play {
  const db = new DatabaseSync(':memory:');
  makeSchema(db, 0);
  return (move) => {
    db.exec('BEGIN');
    try {
      for (const [sql, values] of stepsOf(move)) db.prepare(sql).run(...values);
      return JSON.stringify(
        db
          .prepare(ROWS)
          .all()
          .map((row) => Object.values(row)),
      );
    } catch {
      return 'refused';
    } finally {
      db.exec('ROLLBACK');
    }
  };
}

function onPostgres(address: string): { readonly play: Play; readonly close: () => void } {
  const bridge = openBridge(address);
  const ask = (text: string, values: readonly (string | number | null)[] = []) => {
    let next = 0;
    const said = bridge.ask({ text: text.replaceAll('?', () => `$${++next}`), values }, 30_000);
    if (said === null) throw new Error('no answer');
    return said;
  };
  ask('SET search_path = handbill');
  return {
    play(move) {
      ask('BEGIN');
      try {
        for (const [sql, values] of stepsOf(move)) {
          const said = ask(sql, values);
          if ('error' in said && said.error.code !== 'P0001') throw new Error(said.error.message);
          if ('error' in said) return 'refused';
        }
        const said = ask(ROWS);
        return 'rows' in said ? JSON.stringify(said.rows) : said.error.message;
      } finally {
        ask('ROLLBACK');
      }
    },
    close: () => bridge.close(),
  };
}

test('PostgreSQL refuses the moves that SQLite refuses, and no other, with the same rows after them', async () => {
  const address = await freshDatabase();
  openLedger(address, { mode: 'write', nowMs: 0 }).close();
  const sqlite = onSqlite();
  const postgres = onPostgres(address);
  const random = createRandom(9);
  let refused = 0;
  let resent = 0;
  let attempted = 0;
  const count = FULL ? 3_000 : 500;
  for (let n = 0; n < count; n += 1) {
    const any = anyMove(random);
    // Of the moves that random ones hardly ever are.
    const move = random.chance(0.3) ? { ...any, ...RESEND, notedAddress: random.pick(ADDRESSES) } : any;
    const expected = sqlite(move);
    if (expected === 'refused') refused += 1;
    else if (move.from === 'accepted' && move.to === 'pending' && move.runState === 'running') resent += 1;
    if (expected.includes('"attempt"')) attempted += 1;
    expect({ move, found: postgres.play(move) }).toEqual({ move, found: expected });
  }
  postgres.close();
  expect(resent).toBeGreaterThan(0);
  expect(attempted).toBeGreaterThan(0);
  // It says something of both.
  expect(refused).toBeGreaterThan(count / 4);
  expect(refused).toBeLessThan((count * 9) / 10);
});

import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, test } from 'vitest';
import { type CONDITIONS, MOVES, ROW_STATES as STATES, type StoredState } from '../../src/ledger/moves.ts';
import { makeSchema, TABLES } from '../../src/ledger/schema.ts';

type State = StoredState;

/** Of a condition: what makes it true of a move, and what makes it false. */
interface Means {
  readonly before?: string;
  readonly set?: Readonly<Record<string, string | number | null>>;
}
const NOTE = (
  by: string,
  verdict = 'accepted',
) => `INSERT INTO resolutions (run, step, key, attempts, line, verdict, resolved_by, address, resolved_at)
  SELECT number, 0, 'k', 0, 2, '${verdict}', '${by}', 'a', 0 FROM runs`;
const MEANS: Readonly<Record<keyof typeof CONDITIONS, readonly [holds: Means, fails: Means]>> = {
  noOrder: [{ set: { resolved_by: null } }, { set: { resolved_by: 'user' } }],
  stepBegan: [{}, { before: 'UPDATE recipients SET step = 1' }],
  unsentAddress: [{}, { before: `UPDATE recipients SET resend = 1; ${NOTE('resend-changed')}` }],
  late: [
    { before: `UPDATE recipients SET resolved_by = 'resend'`, set: { resolved_by: 'late-result' } },
    { set: { resolved_by: 'late-result' } },
  ],
  staysOnStep: [{ set: { reason: 'status' } }, { set: { reason: 'fell-back' } }],
  fallsBack: [{ set: { reason: 'fell-back' } }, { set: { reason: 'status' } }],
  sameStep: [{}, { set: { reason: 'fell-back' } }],
  retried: [{ set: { resolved_by: 'retry-rejected' } }, { set: { resolved_by: 'user' } }],
  noted: [{ before: NOTE('user'), set: { resolved_by: 'user' } }, { set: { resolved_by: 'user' } }],
  corrected: [
    { before: NOTE('resend-changed'), set: { resolved_by: 'resend-changed', address: 'b', resend: 1 } },
    { before: NOTE('resend-changed'), set: { resolved_by: 'resend-changed', address: 'a', resend: 1 } },
  ],
  ordered: [{ before: NOTE('user', 'resend') }, { before: NOTE('user') }],
  reported: [{ set: { resolved_by: 'report' } }, { set: { resolved_by: 'user' } }],
};
/** Of a plain row, whose state alone changes. */
const PLAIN = new Set(['noOrder', 'stepBegan', 'unsentAddress', 'staysOnStep', 'sameStep']);

/** One row in `from`, in a list that is loaded or still loading. */
function given(from: State, runState = 'running'): DatabaseSync {
  const db = new DatabaseSync(':memory:');
  makeSchema(db, 0);
  db.prepare(
    `INSERT INTO runs (list, environment, campaign, occurrence, channel, state, inputs, identity_hash, created_at)
      VALUES (1, 'e', 'c', 'o', 'sms', ?, '[]', '', 0)`,
  ).run(runState);
  db.prepare(`INSERT INTO recipients (list, row, line, key, address, state) VALUES (1, 0, 2, 'k', 'a', ?)`).run(from);
  return db;
}

/** What resolved the doubt that came with this many attempts; the row of `given` has made none. */
function noted(db: DatabaseSync, attempts = 0, verdict = 'accepted'): DatabaseSync {
  db.prepare(
    `INSERT INTO resolutions (run, step, key, attempts, line, verdict, resolved_by, resolved_at)
      SELECT number, 0, 'k', ?, 2, ?, 'user', 0 FROM runs`,
  ).run(attempts, verdict);
  return db;
}

const pairs = STATES.flatMap((from) =>
  STATES.map((to) => {
    const moves = MOVES.filter((move) => move.from === from && move.to === to);
    return { from, to, legal: moves.some(({ only = [] }) => only.every((name) => PLAIN.has(name))) };
  }),
);

/** Makes the move, with all that its conditions take; `failing`: but for this one. */
function make({ from, to, only = [] }: (typeof MOVES)[number], failing?: string): void {
  const means = only.map((name) => MEANS[name][name === failing ? 1 : 0]);
  const db = given(from, 'loading');
  for (const { before } of means) if (before !== undefined) db.exec(before);
  db.exec(`UPDATE runs SET state = 'running'`);
  const set: Record<string, string | number | null> = Object.assign({ state: to }, ...means.map((one) => one.set));
  db.prepare(
    `UPDATE recipients SET ${Object.keys(set)
      .map((name) => `${name} = ?`)
      .join(', ')}`,
  ).run(...Object.values(set));
  const steps = db.prepare('SELECT step, state FROM recipients').all().length;
  expect(steps).toBe(
    MOVES.some((move) => move.begins && move.from === from && move.to === to && set['reason'] === 'fell-back') ? 2 : 1,
  );
}

describe('the table of moves', () => {
  it.each(MOVES)('$from -> $to with $only', (move) => make(move));

  const conditional = MOVES.flatMap((move) => {
    const isAlone = MOVES.filter(({ from, to }) => from === move.from && to === move.to).length === 1;
    return isAlone ? (move.only ?? []).map((name) => ({ ...move, name })) : [];
  });
  it.each(conditional)('$from -> $to is refused without $name', ({ name, ...move }) => {
    expect(() => make(move, name)).toThrow('may not move');
  });

  it('lets no recipient be claimed twice, and none who is done be claimed', () => {
    expect(MOVES.flatMap(({ from, to }) => (to === 'claimed' ? [from] : []))).toEqual(['pending']);
  });
});

describe('raw SQL cannot break a move', () => {
  it.each(pairs)('$from -> $to: $legal', ({ from, to, legal }) => {
    const db = given(from);
    const move = () => db.prepare('UPDATE recipients SET state = ?').run(to);
    if (legal) expect(move().changes).toBe(1);
    else expect(move).toThrow('a recipient may not move between these states');
    expect(db.prepare('SELECT state FROM recipients').get()).toEqual({ state: legal ? to : from });
  });

  it.each(pairs)('$from -> $to while the list is loading', ({ from, to }) => {
    expect(given(from, 'loading').prepare('UPDATE recipients SET state = ?').run(to).changes).toBe(1);
  });

  const ordered: [State, State, string, boolean][] = [
    ['rejected', 'pending', 'retry-rejected', true],
    ['rejected', 'pending', 'user', false],
    ['rejected', 'accepted', 'retry-rejected', false],
    ['in-doubt', 'accepted', 'report', true],
    ['in-doubt', 'rejected', 'user', true],
    ['in-doubt', 'pending', 'resend', true],
    ['in-doubt', 'skipped', 'user', false],
    ['in-doubt', 'claimed', 'user', false],
    ['accepted', 'pending', 'user', false],
    ['skipped', 'pending', 'user', false],
  ];
  it.each(ordered)('%s -> %s by order of %s: %s', (from, to, by, legal) => {
    const db = noted(given(from));
    const move = () => db.prepare('UPDATE recipients SET state = ?, resolved_by = ?').run(to, by);
    if (legal) expect(move().changes).toBe(1);
    else expect(move).toThrow('may not move');
  });

  const histories: [string, (db: DatabaseSync) => unknown][] = [
    ['nothing noted', () => undefined],
    ['a note about another attempt', (db) => noted(db, 1)],
    ['a note about an earlier doubt', (db) => noted(db).exec('UPDATE recipients SET attempts = 1')],
  ];
  it.each(histories)('no doubt is resolved with %s', (_, prepare) => {
    const db = given('in-doubt');
    prepare(db);
    for (const to of ['accepted', 'rejected', 'pending']) {
      const move = () => db.prepare(`UPDATE recipients SET state = ?, resolved_by = 'user'`).run(to);
      expect(move).toThrow('may not move');
    }
  });

  test('what resolved a doubt can neither be changed nor forgotten, and is one of three words', () => {
    const db = noted(given('in-doubt'));
    expect(() => db.exec(`UPDATE resolutions SET note = 'x'`)).toThrow('may not be changed');
    expect(() => db.exec('DELETE FROM resolutions')).toThrow('may not be forgotten');
    expect(() => noted(db, 0, 'skipped')).toThrow('CHECK');
    expect(db.prepare('SELECT note FROM resolutions').all()).toEqual([{ note: null }]);
  });

  test.each([
    ['who is to be sent to again', 'resend', 'late-result', 'accepted', true],
    ['who is to be sent to again, by word', 'resend', 'user', 'accepted', false],
    ['who is to be sent to again, refused', 'resend', 'late-result', 'rejected', false],
    ['who is to be sent to again, by a report', 'resend', 'report', 'accepted', true],
    ['who was never sent to, by a report', null, 'report', 'accepted', false],
    ['who was never sent to', null, 'late-result', 'accepted', false],
    ['who was refused before', 'retry-rejected', 'late-result', 'accepted', false],
  ])('a late answer for a recipient %s', (_, order, by, to, legal) => {
    const db = given('pending');
    db.prepare('UPDATE recipients SET resolved_by = ?').run(order);
    const move = () => db.prepare('UPDATE recipients SET state = ?, resolved_by = ?').run(to, by);
    if (legal) expect(move().changes).toBe(1);
    else expect(move).toThrow('may not move');
  });

  test.each([
    ['fell-back', 'report', true],
    ['fell-back', null, false],
    ['fell-back', 'user', false],
    ['status', 'report', false],
  ])('an accepted message is followed by another step only by a report: %s, %s', (reason, by, legal) => {
    const db = given('accepted');
    const move = () =>
      db.prepare(`UPDATE recipients SET state = 'rejected', reason = ?, resolved_by = ?`).run(reason, by);
    if (legal) move();
    else expect(move).toThrow('may not move');
    const steps = db.prepare('SELECT step, state FROM recipients ORDER BY step').all();
    const next = { step: 1, state: 'pending' };
    expect(steps).toEqual(legal ? [{ step: 0, state: 'rejected' }, next] : [{ step: 0, state: 'accepted' }]);
  });

  test('an order is used up by the claim', () => {
    const db = given('rejected');
    db.exec(`UPDATE recipients SET state = 'pending', resolved_by = 'retry-rejected'`);
    expect(() => db.exec(`UPDATE recipients SET state = 'claimed'`)).toThrow('may not move');
    db.exec(`UPDATE recipients SET state = 'claimed', resolved_by = NULL`);
    db.exec(`UPDATE recipients SET state = 'rejected'`);
    expect(() => db.exec(`UPDATE recipients SET state = 'pending'`)).toThrow('may not move');
  });

  test.each<[from: State, to: State, attempts: number, isKept: boolean]>([
    ['claimed', 'pending', 1, true],
    ['claimed', 'failed', 1, true],
    ['claimed', 'rejected', 1, true],
    ['claimed', 'in-doubt', 1, true],
    // No connection was reached, so that there was no claim.
    ['pending', 'failed', 1, true],
    // The row says it itself, and is not sent to again.
    ['claimed', 'accepted', 1, false],
    // A claim that was given back, before a request.
    ['claimed', 'pending', 0, false],
    ['claimed', 'failed', 0, false],
  ])('an attempt of a recipient who was %s, and is %s after %i attempts, is kept: %s', (from, to, attempts, isKept) => {
    const db = given(from);
    db.exec('UPDATE recipients SET claimed_at = 5');
    db.prepare(
      `UPDATE recipients SET state = ?, attempts = ?, reason = 'status', http_status = 503, error = 'busy', updated_at = 9`,
    ).run(to, attempts);
    const [row, ...more] = db.prepare('SELECT * FROM attempts').all();
    const kept = { number: 1, run: 1, step: 0, key: 'k', attempt: 1, state: to, reason: 'status' };
    const facts = { http_status: 503, error: 'busy', claimed_at: from === 'claimed' ? 5 : null, ended_at: 9 };
    expect([row, more]).toEqual([isKept ? { ...kept, ...facts } : undefined, []]);
  });

  test.each([
    ['another state', `UPDATE recipients SET state = 'sent'`, 'CHECK'],
    ['another row', 'UPDATE recipients SET row = 1', 'another one'],
    ['another key', `UPDATE recipients SET key = 'x'`, 'another one'],
    ['another list', 'UPDATE recipients SET list = 2', 'another one'],
    ['no row', 'DELETE FROM recipients', 'forgotten'],
    ['a row of no run', `INSERT INTO recipients (list, row, line, state) VALUES (7, 0, 2, 'pending')`, 'FOREIGN KEY'],
    ['the same row twice', `INSERT INTO recipients (list, row, line, state) VALUES (1, 0, 2, 'pending')`, 'UNIQUE'],
    ['text for a number', `UPDATE recipients SET http_status = 'ok'`, 'cannot store TEXT'],
    [
      'a run twice',
      "INSERT INTO runs SELECT 2, 2, environment, campaign, occurrence, channel, state, halt, inputs, identity_hash, rows, starts, figures, created_at, NULL, NULL, NULL, NULL, 1, NULL, NULL, 1, '[]', NULL, NULL, NULL FROM runs",
      'UNIQUE',
    ],
  ])('%s', (_, sql, message) => {
    const db = given('pending');
    expect(() => db.exec(sql)).toThrow(message);
    expect(db.prepare('SELECT list, step, row, key, state FROM recipients').all()).toEqual([
      { list: 1, step: 0, row: 0, key: 'k', state: 'pending' },
    ]);
  });
});

describe('raw SQL cannot break a step', () => {
  const FALL = `UPDATE recipients SET state = 'rejected', reason = 'fell-back'`;
  const NEXT = `INSERT INTO recipients (list, step, row, line, key, state) VALUES (1, 1, 0, 2, 'k', 'pending')`;
  const CLAIM = `UPDATE recipients SET state = 'claimed' WHERE step = 1`;

  function steps(db: DatabaseSync): string[] {
    const query = db.prepare('SELECT step, row, line, key, state, reason FROM recipients ORDER BY step');
    return query.all().map((row) => Object.values(row).join(' '));
  }

  test('who falls back has a next step from that moment on', () => {
    const db = given('claimed');
    db.exec(FALL);
    expect(steps(db)).toEqual(['0 0 2 k rejected fell-back', '1 0 2 k pending ']);
    db.exec(CLAIM);
    db.exec(`${FALL} WHERE step = 1`);
    expect(steps(db).at(-1)).toBe('2 0 2 k pending ');
  });

  it.each(STATES.filter((state) => state !== 'claimed'))('no recipient who is %s falls back', (from) => {
    const db = noted(given(from));
    const before = steps(db);
    expect(() => db.exec(`${FALL}, resolved_by = 'user'`)).toThrow('may not move');
    expect(steps(db)).toEqual(before);
  });

  test('no recipient who is rejected falls back for another reason', () => {
    expect(() => given('rejected').exec(`UPDATE recipients SET reason = 'fell-back'`)).toThrow('may not move');
  });

  const moves: [string, string][] = [
    ['another reason', `UPDATE recipients SET reason = 'status' WHERE step = 0`],
    ['by order', `UPDATE recipients SET state = 'pending', resolved_by = 'retry-rejected' WHERE step = 0`],
    ['accepted', `UPDATE recipients SET state = 'accepted' WHERE step = 0`],
    ['claimed', `UPDATE recipients SET state = 'claimed' WHERE step = 0`],
    ['once more', `UPDATE recipients SET state = 'claimed', reason = 'fell-back' WHERE step = 0`],
    ['to another row', 'UPDATE recipients SET row = 1 WHERE step = 1'],
    ['to another step', 'UPDATE recipients SET step = 2 WHERE step = 1'],
    ['from nothing', 'DELETE FROM recipients WHERE step = 0'],
    ['to nothing', 'DELETE FROM recipients WHERE step = 1'],
  ];
  it.each(moves)('a step that fell back stays so: %s', (_, sql) => {
    const db = given('claimed');
    db.exec(FALL);
    expect(() => db.exec(sql)).toThrow('may not');
    expect(steps(db)).toEqual(['0 0 2 k rejected fell-back', '1 0 2 k pending ']);
  });

  it.each(STATES)('a step that is put after one that is %s cannot be claimed', (from) => {
    const db = given(from);
    db.exec(NEXT);
    expect(() => db.exec(CLAIM)).toThrow('may not move');
  });

  it.each([
    ['of another person', `UPDATE recipients SET key = 'x' WHERE step = 1`],
    ['of another row', 'UPDATE recipients SET row = 1 WHERE step = 1'],
    ['after the next', 'UPDATE recipients SET step = 2 WHERE step = 1'],
  ])('nor one %s', (_, sql) => {
    const db = given('claimed');
    db.exec(FALL);
    db.exec(`UPDATE runs SET state = 'loading'`);
    db.exec(sql);
    db.exec(`UPDATE runs SET state = 'running'`);
    expect(() => db.exec(`UPDATE recipients SET state = 'claimed' WHERE step > 0`)).toThrow('may not move');
  });

  test('who waits to be sent to again takes a late acceptance while it is deferred too', () => {
    const db = given('deferred');
    const move = () => db.exec(`UPDATE recipients SET state = 'accepted', resolved_by = 'late-result'`);
    expect(move).toThrow('may not move');
    db.exec(`UPDATE recipients SET resolved_by = 'resend'`);
    move();
  });
});

test('the tables are strict', () => {
  const tables = TABLES.filter((statement) => statement.startsWith('CREATE TABLE'));
  expect(tables.length).toBeGreaterThan(4);
  for (const table of tables) expect(table).toContain('STRICT');
});

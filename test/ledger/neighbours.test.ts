import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { ClaimRequest, ResultRecord } from '../../src/ledger/records.ts';
import { fates, givenRun, open, scratchPath } from './scratch.ts';
import { claimOf, keyOf, loadRow, NOON, resultOf, rows } from './values.ts';

const never = (row: number): ClaimRequest => ({ ...claimOf(row), attempts: 0 });
const FOREVER = { reason: 'asked', untilMs: null, source: 'test', nowMs: NOON };

describe('people who are claimed together', () => {
  it('are those who were asked for, and nobody who stands between them', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(6));
    expect(ledger.commit(run, [], [never(4), never(1), never(3)], NOON)).toEqual(['claimed', 'claimed', 'claimed']);
    expect(ledger.pending(run, -1, 9).map(({ row }) => row)).toEqual([0, 2, 5]);
  });

  it('each get their own answer where one of them is taken, suppressed or was tried by another process', () => {
    const path = scratchPath();
    const ledger = open(path);
    const run = givenRun(ledger, rows(6));
    const elsewhere = open(path);
    elsewhere.commit(run, [], [never(1)], NOON);
    elsewhere.suppress(keyOf(2), FOREVER);
    elsewhere.commit(run, [], [never(3)], NOON);
    elsewhere.commit(run, [resultOf(3, { state: 'pending', reason: 'rate-limited', messageId: null })], [], NOON);
    const answers = ledger.commit(run, [], [0, 1, 2, 3, 4, 5].map(never), NOON);
    expect(answers).toEqual(['claimed', 'taken', 'suppressed', 'taken', 'claimed', 'claimed']);
    expect(ledger.commit(run, [], [never(1), never(3)], NOON)).toEqual(['taken', 'taken']);
  });

  it('were never tried before, where that is what whoever asks has seen', () => {
    const path = scratchPath();
    const ledger = open(path);
    const run = givenRun(ledger, rows(2));
    const elsewhere = open(path);
    elsewhere.commit(run, [], [never(1)], NOON);
    elsewhere.commit(run, [resultOf(1, { state: 'pending', reason: 'rate-limited', messageId: null })], [], NOON);
    expect(ledger.commit(run, [], [never(0), never(1)], NOON)).toEqual(['claimed', 'taken']);
  });

  it('may stand far from each other, and be asked for twice', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(300));
    expect(ledger.commit(run, [], [never(0), never(299)], NOON)).toEqual(['claimed', 'claimed']);
    expect(ledger.commit(run, [], [never(5), never(6), never(5)], NOON)).toEqual(['claimed', 'claimed', 'taken']);
  });

  it('are the recipients that they were taken for, or nothing is done', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(3));
    const other = { ...never(1), key: keyOf(0), to: keyOf(0) };
    expect(() => ledger.commit(run, [], [never(0), other, never(2)], NOON)).toThrow('not the recipient');
    expect(ledger.pending(run, -1, 9)).toHaveLength(3);
  });
});

describe('outcomes that are recorded together', () => {
  it('are of those who were answered, and of nobody who stands between them', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(5));
    ledger.commit(run, [], [0, 1, 2, 3, 4].map(never), NOON);
    ledger.commit(run, [resultOf(3), resultOf(0)], [], NOON + 5);
    // Who is claimed and has no outcome is in doubt: nobody lives who could be sending.
    const lost = 'in-doubt(crash)';
    expect(fates(ledger, run)).toEqual(['accepted', lost, lost, 'accepted', lost]);
    expect([...ledger.outcomes(run)].flat()[3]).toMatchObject({
      messageId: 'id-3',
      attempts: 1,
      httpStatus: 202,
      updatedAt: '2026-11-21T12:00:00.005Z',
    });
  });

  it('may be of several kinds', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(6));
    ledger.commit(run, [], [0, 1, 2, 3, 4, 5].map(never), NOON);
    const answers = [
      resultOf(0),
      resultOf(1, { state: 'rejected', reason: 'status', httpStatus: 400, messageId: null }),
      resultOf(2, { httpStatus: 200 }),
      resultOf(3, { messageId: null }),
      resultOf(4, { messageId: '' }),
      resultOf(5),
    ];
    ledger.commit(run, answers, [], NOON);
    const kept = [...ledger.outcomes(run)].flat();
    expect(kept.map(({ outcome }) => outcome)).toEqual([
      'accepted',
      'rejected',
      'accepted',
      'accepted',
      'accepted',
      'accepted',
    ]);
    expect(kept.map(({ messageId }) => messageId)).toEqual(['id-0', null, 'id-2', null, '', 'id-5']);
    expect(kept.map(({ httpStatus }) => httpStatus)).toEqual([202, 400, 200, 202, 202, 202]);
  });

  it('J5: are not recorded for claims that came after theirs were taken for a crash', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2));
    ledger.commit(run, [], [never(0), never(1)], NOON);
    // Another start takes both for a crash; somebody has them sent to again, and they are claimed once more.
    ledger.start(run, NOON);
    const doubts = [...ledger.doubts(run)].flat();
    ledger.resolve(run, doubts, { verdict: 'resend', messageId: null, who: 'x', note: null, nowMs: NOON });
    const again = [0, 1].map((row) => ({ ...claimOf(row), attempts: 1 }));
    expect(ledger.commit(run, [], again, NOON)).toEqual(['claimed', 'claimed']);
    ledger.commit(run, [resultOf(0), resultOf(1)], [], NOON);
    expect(fates(ledger, run)).toEqual(['in-doubt(crash)', 'in-doubt(crash)']);
    ledger.commit(run, [resultOf(0, { attempts: 2 }), resultOf(1, { attempts: 2 })], [], NOON);
    expect(fates(ledger, run)).toEqual(['accepted', 'accepted']);
  });

  it('come late for those who were taken for a crash meanwhile, and end their doubts', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(3));
    ledger.commit(run, [], [never(0), never(1)], NOON);
    ledger.start(run, NOON);
    ledger.commit(run, [], [never(2)], NOON);
    ledger.commit(run, [resultOf(0), resultOf(2)], [], NOON + 5);
    expect(fates(ledger, run)).toEqual(['accepted', 'in-doubt(crash)', 'accepted']);
  });

  it.each([
    ['half a character is none', ['"', '\\', '\u0000x', '\n', '\ud800', '\u{1F600}']],
    ['those of other characters', ['a', 'bé', 'ü', 'ccc']],
    ['those that end in a space', ['a ', 'b', ' c']],
    ['nothing but spaces', ['a', '  ']],
    ['those of many lengths', ['a', 'bb', ' c c', 'd'.repeat(40), '\te', '\u0000']],
    ['a long one among them', ['a', 'b'.repeat(70_000), 'c']],
    ['an empty one', ['a', '', 'c']],
  ])('keep their ids as they would one by one: %s', (_, ids) => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(ids.length));
    const all = ids.map((_, row) => row);
    ledger.commit(run, [], all.map(never), NOON);
    ledger.commit(
      run,
      all.map((row) => resultOf(row, { messageId: ids[row] ?? null })),
      [],
      NOON,
    );
    expect([...ledger.outcomes(run)].flat().map(({ messageId }) => messageId)).toEqual(
      ids.map((id) => id.toWellFormed()),
    );
  });
});

describe('together or one by one', () => {
  const text = fc.oneof(
    fc.constantFrom('a', 'b ', ' ', '"', '\\', '\u0000', '\n', '\ud800', '\u{1F600}', 'é', '12', 'null', '{"a":1}', ''),
    fc.string({ unit: 'binary', maxLength: 6 }),
  );
  // A list has whole characters: it is read from UTF-8.
  const key = text.filter((one) => one.isWellFormed());
  const person = fc.record({ key, id: fc.option(text), status: fc.constantFrom(200, 202), attempts: fc.nat(1) });

  it('is the same, whatever the keys, the ids and the order', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(person, { selector: (one) => one.key, minLength: 1, maxLength: 9 }),
        fc.infiniteStream(fc.nat()),
        (people, numbers) => {
          const order = people.map((_, row) => ({ row, by: numbers.next().value ?? 0 }));
          const inOrder = order.sort((a, b) => a.by - b.by).map(({ row }) => row);
          const [together, oneByOne] = [open(scratchPath()), open(scratchPath())];
          const list = people.map(({ key }, row) => loadRow(row, { key }));
          const claims = inOrder.map((row) => claimFor(row, people[row]?.key ?? ''));
          const results = inOrder.map((row) => resultFor(row, people[row]));
          const asked = [[...claims.slice(1), ...claims.slice(0, 2)], results.slice(0, -1)] as const;
          const said = (ledger: Ledger, many: boolean): unknown => {
            const run = givenRun(ledger, list);
            const answers = many
              ? ledger.commit(run, [], asked[0], NOON)
              : asked[0].flatMap((one) => ledger.commit(run, [], [one], NOON));
            if (many) ledger.commit(run, asked[1], [], NOON + 1);
            else for (const one of asked[1]) ledger.commit(run, [one], [], NOON + 1);
            return [answers, [...ledger.outcomes(run)].flat()];
          };
          expect(said(together, true)).toEqual(said(oneByOne, false));
          together.close();
          oneByOne.close();
        },
      ),
      { numRuns: 40 },
    );
  });
});

function claimFor(row: number, key: string): ClaimRequest {
  return { row, leg: 0, key, to: key, attempts: 0 };
}

function resultFor(
  row: number,
  person: { readonly id: string | null; readonly status: number; readonly attempts: number } | undefined,
): ResultRecord {
  const { id = null, status = 202, attempts = 0 } = person ?? {};
  return resultOf(row, { messageId: id, httpStatus: status, attempts: 1 + attempts });
}

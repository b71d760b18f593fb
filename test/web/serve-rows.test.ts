import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Query } from '../../src/ledger/connection.ts';
import type { ResultRecord, RunRecord } from '../../src/ledger/records.ts';
import type { Outcome, StepCount } from '../../src/model.ts';
import { createPhoneReader } from '../../src/recipients/phone.ts';
import { WORST_FIRST } from '../../src/report/words.ts';
import { countRun } from '../../src/web/counts.ts';
import { keepLedger, type OpenLedger } from '../../src/web/ledger.ts';
import { type RowFilter, readRow, readRows, readSorted } from '../../src/web/rows.ts';
import { readSearch } from '../../src/web/search.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { NOW, numberOf, recordRun, reportOf, withLedger } from './serve-ledger.ts';

const NO_FILTER: RowFilter = {};
const list = () => ({ open, run, isHeld: false });

let project: TestProject;
let open: OpenLedger;
let run: RunRecord;
let close: () => void;

/** Fallbacks to another address, doubts and refusals on either step, claims without an answer. */
beforeEach(() => {
  project = createProject({});
  const path = project.path('.handbill/ledger.db');
  withLedger(path, (ledger) => {
    const rows = Array.from({ length: 240 }, (_, i) =>
      i % 40 === 39
        ? { state: 'skipped' as const, reason: 'duplicate' }
        : { state: 'pending' as const, variant: i % 2 === 0 ? 'a' : 'b' },
    );
    const running = recordRun(ledger, { campaign: 'steps', isKilled: true }, rows);
    const claim = (row: number, step: number) => ({
      row,
      step,
      key: numberOf(row),
      to: step === 0 ? numberOf(row) : `person-${row}@example.com`,
    });
    const sent = rows.flatMap(({ state }, row) => (state === 'skipped' || row % 7 === 0 ? [] : [row]));
    ledger.commit(
      running,
      [],
      sent.map((row) => claim(row, 0)),
      NOW,
    );
    const answer = { from: 'claimed', attempts: 1, httpStatus: 202, error: null } as const;
    const facts = { channel: 'email', variant: null, parts: null, encoding: null, costMicros: null } as const;
    const fallen = sent.filter((row) => row % 3 === 0);
    const results = sent.flatMap((row): ResultRecord[] => {
      // Every eleventh is claimed still when the process dies.
      if (row % 11 === 0 && row % 3 !== 0) return [];
      if (row % 3 !== 0)
        return [{ ...answer, row, step: 0, state: 'accepted' as const, reason: null, messageId: `m-${row}` }];
      const next = { ...facts, to: `person-${row}@example.com` };
      return [
        { ...answer, row, step: 0, state: 'rejected' as const, reason: 'unsupported-channel', messageId: null, next },
      ];
    });
    ledger.commit(
      running,
      results,
      fallen.filter((row) => row % 2 === 0).map((row) => ({ ...claim(row, 1), facts })),
      NOW + 1_000,
    );
    const second = fallen
      .filter((row) => row % 4 === 0)
      .map((row) => ({
        ...answer,
        row,
        step: 1,
        state: row % 8 === 0 ? ('in-doubt' as const) : ('accepted' as const),
        reason: row % 8 === 0 ? 'timeout' : null,
        messageId: row % 8 === 0 ? null : `second-${row}`,
      }));
    ledger.commit(running, second, [], NOW + 2_000);
  });
  const keeper = keepLedger(path, () => NOW);
  const opened = keeper.current();
  if (opened === null) throw new Error('no ledger');
  open = opened;
  [run] = opened.ledger.runs() as [RunRecord];
  close = keeper.close;
});
afterEach(() => {
  close();
  project[Symbol.dispose]();
});

const outcomes = () => [...open.ledger.outcomes(run)].flat();

describe('rows that pages read for themselves', () => {
  it('are what the ledger says of all recipients, channel steps included', async () => {
    const { rows } = await readRows(list(), NO_FILTER, { after: -1 }, 1_000);
    expect(rows).toEqual(outcomes());
    expect(rows.some(({ steps }) => steps !== undefined)).toBe(true);
    for (const row of [0, 1, 3, 12, 39]) expect(readRow(list(), row)).toEqual(outcomes()[row]);
    expect(readRow(list(), 240)).toBeNull();
  });

  it.each([
    [false, undefined],
    [true, undefined],
    [false, 'in-doubt'],
  ] as const)('by outcome, down: %j, of %s: worst first, then by reason and place', async (isDown, outcome) => {
    const sign = isDown ? -1 : 1;
    const keyOf = (one: Outcome) => `${WORST_FIRST.indexOf(one.outcome)} ${one.reason ?? ''}`;
    const expected = outcomes()
      .filter((one) => outcome === undefined || one.outcome === outcome)
      .sort((a, b) => sign * (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0) || a.row - b.row);
    expect(new Set(expected.map(keyOf)).size).toBeGreaterThan(1);
    const found: Outcome[] = [];
    for (let from = 0; from < expected.length; from += 7) {
      const filter = outcome === undefined ? {} : { outcome };
      const page = await readSorted(list(), filter, { by: 'outcome', isDown, from }, 7);
      expect(page.total).toBe(expected.length);
      found.push(...page.rows);
    }
    expect(found.map(({ row }) => row)).toEqual(expected.map(({ row }) => row));
  });

  it('by outcome, the first page does not read those who come after it', async () => {
    const readBy = async (by: 'outcome' | 'line') => {
      let read = 0;
      const query: OpenLedger['query'] = (sql) => {
        const made = open.query(sql);
        const all: Query['all'] = (...params) => {
          const rows = made.all(...params);
          read += rows.length;
          return rows;
        };
        return { ...made, all };
      };
      const page = await readSorted({ ...list(), open: { ...open, query } }, {}, { by, isDown: false, from: 0 }, 5);
      expect(page.rows).toHaveLength(5);
      return read;
    };
    expect(await readBy('outcome')).toBeLessThan((await readBy('line')) / 2);
  });

  it.each(['accepted', 'in-doubt', 'pending', 'skipped', 'rejected', 'failed'] as const)(
    '%s are those of the ledger, page by page in both directions',
    async (outcome) => {
      const wanted = outcomes()
        .filter((one) => one.outcome === outcome)
        .map(({ row }) => row);
      const forth: number[] = [];
      for (let after: number | undefined = -1; after !== undefined; ) {
        const page = await readRows(list(), { ...NO_FILTER, outcome }, { after }, 7);
        forth.push(...page.rows.map(({ row }) => row));
        after = page.hasAfter ? page.rows.at(-1)?.row : undefined;
      }
      expect(forth).toEqual(wanted);
      const back: number[] = [];
      for (let before: number | undefined = 240; before !== undefined; ) {
        const page = await readRows(list(), { ...NO_FILTER, outcome }, { before }, 7);
        back.unshift(...page.rows.map(({ row }) => row));
        before = page.hasBefore ? page.rows[0]?.row : undefined;
      }
      expect(back).toEqual(wanted);
    },
  );

  it.each([
    ['the address of a fallback', 'person-12@example.com', 12],
    ['the same in another spelling', 'person-12@EXAMPLE.com', 12],
    ['the id of a fallback', 'second-12', 12],
    ['the number that could not receive it', numberOf(12), 12],
  ])('find a recipient by %s', async (_label, text, row) => {
    const search = readSearch(text, createPhoneReader('GB')) ?? undefined;
    const { rows } = await readRows(list(), { ...NO_FILTER, ...(search && { search }) }, { after: -1 }, 50);
    expect(rows.map((one) => one.row)).toEqual([row]);
  });

  it.each([
    ['all recipients', NO_FILTER],
    ['of one variant', { ...NO_FILTER, variant: 'a' }],
  ])('before a place that the list does not have are the last ones: %s', async (_label, filter) => {
    const last = await readRows(list(), filter, { before: run.rows }, 5);
    expect(last.rows).toHaveLength(5);
    const beyond = await readRows(list(), filter, { before: Number.MAX_SAFE_INTEGER }, 5);
    expect(beyond.rows).toEqual(last.rows);
  });

  it('say why a message did not arrive, also one of a fallback', () => {
    const error = 'absent-subscriber: switched off';
    const report = { ...reportOf('second-12', 'undeliverable'), error };
    withLedger(project.path('.handbill/ledger.db'), ({ events }) =>
      events.record([report], { nowMs: NOW + 9_000, source: 'webhook', environment: 'sandbox' }),
    );
    expect(readRow(list(), 12)).toMatchObject({ delivery: 'undeliverable', error });
  });

  it('find variants and reasons', async () => {
    const of = async (filter: Partial<RowFilter>) =>
      (await readRows(list(), { ...NO_FILTER, ...filter }, { after: -1 }, 500)).rows.map(({ row }) => row);
    expect(await of({ reason: 'crash' })).toEqual(
      outcomes()
        .filter(({ reason }) => reason === 'crash')
        .map(({ row }) => row),
    );
    expect((await of({ reason: 'crash' })).length).toBeGreaterThan(0);
    expect(await of({ variant: 'b' })).toEqual(
      outcomes()
        .filter(({ row, steps, variant }) => (steps?.[0]?.variant ?? variant) === 'b' && row % 40 !== 39)
        .map(({ row }) => row),
    );
  });
});

it('counts are those of the ledger', async () => {
  const { steps, lastMinute } = await countRun(open.ledger, run, null, () => false, NOW + 30_000);
  const sorted = (all: readonly StepCount[]) => all.map((one) => JSON.stringify(Object.entries(one).sort())).sort();
  expect(sorted(steps)).toEqual(sorted(open.ledger.steps(run)));
  expect(steps.some(({ reason }) => reason === 'crash')).toBe(true);
  expect(steps.some(({ fellBack }) => fellBack)).toBe(true);
  expect(lastMinute).toBeGreaterThan(0);
});

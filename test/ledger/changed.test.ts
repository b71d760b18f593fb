import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { RunRecord } from '../../src/ledger/records.ts';
import { fates, givenRun, open, scratchPath } from './scratch.ts';
import { HELLO, loadRow, NOON, resultOf } from './values.ts';

const LATER = NOON + 60_000;

/** The row of a key at an address. */
const at = (row: number, key: string, to: string) => loadRow(row, { key, to });

const claim = (row: number, key: string, to: string, attempts = 0) => ({
  row,
  step: 0,
  key,
  to,
  attempts,
  ...(attempts === 0
    ? {}
    : { facts: { channel: 'sms', variant: null, parts: 2, encoding: 'GSM-7', costMicros: 9 } as const }),
});

/** Ann and Ben were accepted, and Cid is in doubt. */
function sent(): { readonly ledger: Ledger; readonly run: RunRecord } {
  const ledger = open(scratchPath());
  const people = [at(0, 'ann', 'a1'), at(1, 'ben', 'b1'), at(2, 'cid', 'c1')];
  const run = givenRun(ledger, people);
  ledger.commit(run, [], [claim(0, 'ann', 'a1'), claim(1, 'ben', 'b1'), claim(2, 'cid', 'c1')], NOON);
  const doubt = { state: 'in-doubt', reason: 'no-response', httpStatus: null, messageId: null } as const;
  ledger.commit(run, [resultOf(0), resultOf(1), resultOf(2, doubt)], [], NOON);
  return { ledger, run };
}

function amended(ledger: Ledger, run: RunRecord, ...to: readonly string[]): RunRecord {
  const draft = ledger.beginLoad(HELLO, { channel: 'sms', nowMs: LATER });
  ledger.load(
    draft,
    ['ann', 'ben', 'cid'].map((key, row) => at(row, key, to[row] ?? '')),
  );
  const expected = ledger.changed(run, draft);
  const after = ledger.amend(run, draft, { inputs: [], nowMs: LATER });
  expect(ledger.changed(after)).toEqual(expected);
  return after;
}

describe('an address that was corrected', () => {
  it('is known from the amendment on, with the one that the message went to', () => {
    const { ledger, run } = sent();
    const after = amended(ledger, run, 'a2', 'b1', 'c2');
    expect(ledger.changed(after)).toEqual([
      { line: 2, key: 'ann', to: 'a1', listTo: 'a2', outcome: 'accepted', sentBefore: false },
      { line: 4, key: 'cid', to: 'c1', listTo: 'c2', outcome: 'in-doubt', sentBefore: false },
    ]);
    expect([...ledger.outcomes(after)].flat().map(({ to, listTo }) => [to, listTo])).toEqual([
      ['a1', 'a2'],
      ['b1', undefined],
      ['c1', 'c2'],
    ]);
    expect(ledger.changed(amended(ledger, after, 'a1', 'b1', 'c1'))).toEqual([]);
  });

  it('is sent to once, by a claim of its own, with what is sent now', () => {
    const { ledger, run } = sent();
    amended(ledger, run, 'a2', 'b1', 'c2');
    expect(ledger.reopenCorrected(run, LATER)).toBe(1);
    expect(ledger.reopenCorrected(run, LATER)).toBe(0);
    const { run: started } = ledger.start(run, LATER);
    expect(ledger.pending(started, -1, 9)).toMatchObject([
      { row: 0, step: 0, key: 'ann', attempts: 1, used: [], resend: 1 },
    ]);
    expect(ledger.commit(started, [], [claim(0, 'ann', 'a2', 1)], LATER)).toEqual(['claimed']);
    expect(ledger.commit(started, [], [claim(0, 'ann', 'a2', 1)], LATER)).toEqual(['taken']);
    ledger.commit(started, [resultOf(0, { attempts: 2, messageId: 'second' })], [], LATER);
    expect(ledger.reopenCorrected(run, LATER)).toBe(0);
    const [ann] = [...ledger.outcomes(started)].flat();
    expect(ann).toMatchObject({ to: 'a2', messageId: 'second', attempts: 2, parts: 2, resend: 1 });
    expect([...ledger.earlier(started)]).toEqual([
      [
        'ann',
        [{ channel: 'sms', to: 'a1', messageId: 'id-0', httpStatus: 202, resend: 0, sentAtMs: NOON, version: 1 }],
      ],
    ]);
    expect([...ledger.resolutions(started)]).toEqual([]);
    expect(fates(ledger, started)).toEqual(['accepted', 'accepted', 'in-doubt(no-response)']);
  });

  it('is never claimed where an earlier message went, whatever asks for it', () => {
    const { ledger, run } = sent();
    amended(ledger, run, 'a2', 'b1', 'c1');
    ledger.reopenCorrected(run, LATER);
    const { run: started } = ledger.start(run, LATER);
    expect(() => ledger.commit(started, [], [claim(0, 'ann', 'a1', 1)], LATER)).toThrow();
    expect(ledger.pending(started, -1, 9)).toHaveLength(1);
  });

  it('leaves the message before as it was where a second one did not go out until the list was amended again', () => {
    const { ledger, run } = sent();
    const [before] = [...ledger.outcomes(run)].flat();
    amended(ledger, run, 'a2', 'b2', 'c1');
    ledger.reopenCorrected(run, LATER);
    const { run: started } = ledger.start(run, LATER);
    ledger.commit(started, [], [claim(1, 'ben', 'b2', 1)], LATER);
    const refused = { attempts: 2, state: 'rejected', reason: 'status', httpStatus: 422, messageId: null } as const;
    ledger.commit(started, [resultOf(1, refused)], [], LATER);
    const after = amended(ledger, started, 'a3', 'b1', 'c1');
    expect(ledger.changed(after)).toMatchObject([{ key: 'ann', to: 'a1', listTo: 'a3', sentBefore: false }]);
    expect(fates(ledger, after).slice(0, 2)).toEqual(['accepted', 'accepted']);
    expect([...ledger.outcomes(after)].flat()[0]).toEqual({ ...before, listTo: 'a3' });
    expect(ledger.reopenCorrected(after, LATER)).toBe(1);
    expect(ledger.pending(ledger.start(after, LATER).run, -1, 9)).toMatchObject([{ key: 'ann', resend: 1 }]);
  });

  it.each<[string, (ledger: Ledger, run: RunRecord) => void]>([
    ['the API refuses it', () => {}],
    [
      'a person says that it did not arrive',
      (ledger, run) => {
        const [doubts = []] = [...ledger.doubts(run)];
        const mine = doubts.filter(({ key }) => key === 'ann');
        const said = { verdict: 'rejected', messageId: null, who: 'me', note: null, nowMs: LATER } as const;
        expect(ledger.resolve(run, mine, said).missed).toEqual([]);
      },
    ],
  ])('leaves the message before as it was where %s', (_what, say) => {
    const { ledger, run } = sent();
    const [before] = [...ledger.outcomes(run)].flat();
    amended(ledger, run, 'a2', 'b1', 'c1');
    ledger.reopenCorrected(run, LATER);
    const { run: started } = ledger.start(run, LATER);
    ledger.commit(started, [], [claim(0, 'ann', 'a2', 1)], LATER);
    const isRefused = _what.startsWith('the API');
    const state = isRefused ? 'rejected' : 'in-doubt';
    const end = { attempts: 2, state, reason: 'status', httpStatus: isRefused ? 422 : 500, messageId: null } as const;
    ledger.commit(started, [resultOf(0, end)], [], LATER);
    say(ledger, started);
    const [after] = [...ledger.outcomes(started)].flat();
    expect(after).toMatchObject({ outcome: 'accepted', to: 'a1', listTo: 'a2', messageId: before?.messageId });
    expect(ledger.reopenRejected(started)).toBe(0);
    expect(ledger.reopenCorrected(started, LATER)).toBe(1);
    expect(ledger.commit(started, [], [claim(0, 'ann', 'a2', 2)], LATER)).toEqual(['claimed']);
  });

  it.each<[string, (ledger: Ledger, run: RunRecord) => void]>([
    [
      'in its claim',
      (ledger, run) => {
        ledger.suppress('a2', { reason: null, untilMs: null, source: 'test', nowMs: LATER });
        expect(ledger.commit(run, [], [claim(0, 'ann', 'a2', 1)], LATER)).toEqual(['suppressed']);
      },
    ],
    ['before it', (ledger, run) => ledger.skip(run, [{ row: 0, step: 0, reason: 'expired' }], LATER)],
    ['as the run is closed', (ledger, run) => ledger.closeRun(run, LATER)],
  ])('leaves the message before as it was where the second one is skipped %s', (_when, skip) => {
    const { ledger, run } = sent();
    const [before] = [...ledger.outcomes(run)].flat();
    amended(ledger, run, 'a2', 'b1', 'c1');
    ledger.reopenCorrected(run, LATER);
    const { run: started } = ledger.start(run, LATER);
    skip(ledger, started);
    const [after] = [...ledger.outcomes(started)].flat();
    expect(after).toEqual({ ...before, listTo: 'a2', updatedAt: after?.updatedAt });
    expect(ledger.changed(started)).toMatchObject([{ key: 'ann', to: 'a1', listTo: 'a2', sentBefore: false }]);
  });
});

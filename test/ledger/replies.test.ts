import { describe, expect, it } from 'vitest';
import type { Joined, Ledger } from '../../src/ledger/ledger.ts';
import type { LoadRow, RunRecord } from '../../src/ledger/records.ts';
import type { Reply } from '../../src/model.ts';
import { createReferences } from '../../src/plan/expand.ts';
import { replyOf } from '../helpers/events.ts';
import { BY_MAIL, onStep, unsupported } from './fallbacks.ts';
import { amendedRun, endedRun, startedRun } from './given.ts';
import { open, scratchPath } from './scratch.ts';
import { claimOf, keyOf, loadRow, NOON, resultOf, rows } from './values.ts';

const MINUTE = 60_000;

const reply = (text: string, changes: Partial<Reply> = {}): Reply =>
  replyOf({ from: keyOf(0), text, atMs: NOON + 10 * MINUTE, ...changes });

/** A run that sent to all recipients in it at an instant. */
function sent(ledger: Ledger, campaign: string, list: readonly LoadRow[], atMs: number): RunRecord {
  const ids = list.map(({ row }) => ({ messageId: `${campaign}-${row}` }));
  return endedRun(ledger, list, ids, { campaign, nowMs: atMs });
}

const facts = (nowMs: number) => ({ nowMs, source: 'webhook', environment: 'sandbox' });

function join(ledger: Ledger, { startLifts = false, nowMs = NOON + 20 * MINUTE } = {}): Joined {
  let joined = 0;
  const suppressed: string[] = [];
  for (const step of ledger.events.joinReplies({
    now: () => nowMs,
    referencesOf: createReferences,
    startLifts,
  })) {
    joined += step.joined;
    suppressed.push(...step.suppressed);
  }
  return { joined, suppressed };
}

/** Campaign, row and step of what each reply answers, oldest first. */
function answers(ledger: Ledger): (string | null)[] {
  const runs = new Map(ledger.runs().map((run) => [run.number, run.campaign]));
  return [...ledger.events.replies()]
    .flat()
    .reverse()
    .map(({ answers: found }) => (found === null ? null : `${runs.get(found.run)} ${found.row}/${found.step}`));
}

describe('the message that a reply answers', () => {
  it('is the last one to its sender that was claimed before it was written', () => {
    const ledger = open(scratchPath());
    sent(ledger, 'first', rows(3), NOON);
    sent(ledger, 'second', rows(2), NOON + 5 * MINUTE);
    sent(ledger, 'third', rows(3), NOON + 15 * MINUTE);
    const group = [
      reply('to the second'),
      reply('to the first', { atMs: NOON + MINUTE }),
      reply('rounded down', { atMs: NOON - 900 }),
      reply('to the third', { from: keyOf(1), atMs: NOON + 30 * MINUTE }),
      reply('not in the second', { from: keyOf(2) }),
      reply('without a time', { from: keyOf(1), atMs: null }),
      reply('of no recipient', { from: '+447700999999' }),
      reply('before all: the clock is wrong', { atMs: NOON - 60 * MINUTE }),
      reply('days before all: from an export of older replies', { atMs: NOON - 2 * 24 * 60 * MINUTE }),
    ];
    ledger.events.record(group, facts(NOON + 16 * MINUTE));
    expect(ledger.events.hasUnjoined()).toBe(true);
    // The clock of the fourth is ahead of ours: it cannot be to a message after it came in.
    expect(join(ledger).joined).toBe(7);
    expect(answers(ledger)).toEqual([
      'second 0/0',
      'first 0/0',
      'first 0/0',
      'third 1/0',
      'first 2/0',
      'third 1/0',
      null,
      'first 0/0',
      null,
    ]);
    expect(ledger.events.hasUnjoined()).toBe(false);
    expect(ledger.events.answered(ledger.runs()[0] as RunRecord)).toEqual(
      new Map([
        [0, 'replied'],
        [2, 'replied'],
      ]),
    );
  });

  it('is what the reply names, by our reference or the id of the API, whatever its sender', () => {
    const ledger = open(scratchPath());
    const first = sent(ledger, 'first', rows(3), NOON);
    sent(ledger, 'second', rows(3), NOON + 5 * MINUTE);
    const reference = createReferences(first)(keyOf(2), 'sms');
    ledger.events.record(
      [
        reply('by reference', { reference }),
        reply('by id', { messageId: 'first-1' }),
        reply('from elsewhere', { messageId: 'first-1', from: '+33612345678' }),
        reply('names an unknown message', { messageId: 'x', reference: 'unknown-unknown-unknow' }),
      ],
      facts(NOON + 16 * MINUTE),
    );
    expect(join(ledger).joined).toBe(4);
    expect(answers(ledger)).toEqual(['first 2/0', 'first 1/0', 'first 1/0', 'second 0/0']);
  });

  it('is a message of the environment that it came in for', () => {
    const ledger = open(scratchPath());
    const first = sent(ledger, 'first', rows(3), NOON);
    const named = [
      reply('by sender'),
      reply('by id', { from: keyOf(1), messageId: 'first-1' }),
      reply('by reference', { from: keyOf(2), reference: createReferences(first)(keyOf(2), 'sms') }),
    ];
    for (const environment of ['live', 'sandbox']) {
      ledger.events.record(named, { ...facts(NOON + 16 * MINUTE), environment });
    }
    expect(join(ledger).joined).toBe(3);
    expect(answers(ledger)).toEqual([null, null, null, 'first 0/0', 'first 1/0', 'first 2/0']);
  });

  it.each(['sandbox', 'live'])('to opt out suppresses the contact too, also where it came in for %j', (environment) => {
    const ledger = open(scratchPath());
    sent(ledger, 'first', [loadRow(0, { key: 'contact-7', to: 'contact-7' })], NOON);
    const stop = reply('STOP', { meaning: 'opt-out', messageId: 'first-0' });
    ledger.events.record([stop], { ...facts(NOON + 16 * MINUTE), environment });
    expect(join(ledger)).toEqual({ joined: environment === 'sandbox' ? 1 : 0, suppressed: ['contact-7'] });
    expect([keyOf(0), 'contact-7'].map((address) => ledger.isSuppressed(address, NOON))).toEqual([true, true]);
  });

  it('is a message that may be there: not one that was refused, and of several steps the one that was sent', () => {
    const ledger = open(scratchPath());
    const run = startedRun(ledger, rows(3));
    ledger.commit(run, [], [0, 1, 2].map(claimOf), NOON);
    const results = [
      unsupported(0, { next: { ...BY_MAIL, to: 'Ada@Example.com' } }),
      resultOf(1, { state: 'rejected', reason: 'rejected', httpStatus: 400, messageId: null }),
      resultOf(2, { state: 'in-doubt', reason: 'timeout', httpStatus: null, messageId: null }),
    ];
    ledger.commit(run, results, [], NOON);
    ledger.commit(run, [], [onStep(1, 0, 'Ada@Example.com', { facts: BY_MAIL })], NOON);
    ledger.commit(run, [resultOf(0, { step: 1 })], [], NOON);
    ledger.events.record(
      [
        reply('by mail', { from: 'ada@example.com' }),
        reply('refused', { from: keyOf(1) }),
        reply('doubt', { from: keyOf(2) }),
      ],
      facts(NOON + 16 * MINUTE),
    );
    join(ledger);
    expect(answers(ledger)).toEqual(['hello 0/1', null, 'hello 2/0']);
  });

  it('is looked for again when another run was started, and not before', () => {
    const ledger = open(scratchPath());
    sent(ledger, 'first', rows(1), NOON);
    ledger.events.record([reply('early', { from: keyOf(7), atMs: null })], facts(NOON + 16 * MINUTE));
    expect(join(ledger).joined).toBe(0);
    expect(ledger.events.hasUnjoined()).toBe(false);
    sent(ledger, 'second', [loadRow(7)], NOON + 2 * MINUTE);
    expect(ledger.events.hasUnjoined()).toBe(true);
  });

  it('is found by many replies at once, over several steps', () => {
    const ledger = open(scratchPath());
    sent(ledger, 'first', rows(1200), NOON);
    const group = Array.from({ length: 1200 }, (_, row) => reply('yes', { from: keyOf(row) }));
    ledger.events.record(group, facts(NOON + 16 * MINUTE));
    expect(join(ledger).joined).toBe(1200);
    expect(answers(ledger)).toEqual(Array.from({ length: 1200 }, (_, row) => `first ${row}/0`));
  });

  it('is found again after the list was replaced, whose rows have other numbers', () => {
    const ledger = open(scratchPath());
    const run = sent(ledger, 'first', rows(2), NOON);
    ledger.events.record([reply('yes', { from: keyOf(1) })], facts(NOON + 16 * MINUTE));
    join(ledger);
    const list = [loadRow(0, { key: keyOf(8) }), loadRow(1, { key: keyOf(9) }), loadRow(2, { key: keyOf(1) })];
    amendedRun(ledger, run, list, { nowMs: NOON + 17 * MINUTE });
    expect(answers(ledger)).toEqual([null]);
    join(ledger);
    expect(answers(ledger)).toEqual(['first 2/0']);
  });
});

describe('an opt-out', () => {
  const contacts = [loadRow(0, { key: 'c-1', to: 'c-1' }), loadRow(1, { key: 'c-2', to: 'c-2' })];

  it('counts for the contact too whose message was answered', () => {
    const ledger = open(scratchPath());
    sent(ledger, 'first', contacts, NOON);
    const group = [
      reply('STOP', { messageId: 'first-1', meaning: 'opt-out' }),
      reply('yes', { messageId: 'first-0', from: keyOf(3) }),
    ];
    expect(ledger.events.record(group, facts(NOON + 16 * MINUTE)).suppressed).toEqual([keyOf(0)]);
    expect(join(ledger)).toEqual({ joined: 2, suppressed: ['c-2'] });
    expect([...ledger.suppressions()].map(({ address, source }) => [address, source])).toEqual([
      [keyOf(0), 'reply'],
      ['c-2', 'reply'],
    ]);
  });

  it.each([false, true])('is taken back for the contact too where the project says so: %s', (startLifts) => {
    const ledger = open(scratchPath());
    sent(ledger, 'first', contacts, NOON);
    const word = (meaning: Reply['meaning'], minutes: number) =>
      reply(meaning, { messageId: 'first-1', meaning, atMs: NOON + minutes * MINUTE });
    const record = (one: Reply) => ledger.events.record([one], { ...facts(NOON + 60 * MINUTE), startLifts });
    record(word('opt-out', 10));
    join(ledger, { startLifts });
    record(word('opt-in', 11));
    join(ledger, { startLifts });
    expect([...ledger.suppressions()].map(({ address }) => address)).toEqual(startLifts ? [] : [keyOf(0), 'c-2']);
    // A STOP from before the START, which comes in after it.
    record(word('opt-out', 9));
    join(ledger, { startLifts });
    expect([...ledger.suppressions()].length).toBe(startLifts ? 0 : 2);
  });
});

describe('a review', () => {
  const review = (meaning: 'opt-out' | 'opt-in' | 'answer') => ({ meaning, who: 'ada@desk', atMs: NOON + 30 * MINUTE });

  it('opts out in the transaction in which it is entered, the contact too', () => {
    const ledger = open(scratchPath());
    sent(ledger, 'first', [loadRow(0, { key: 'c-1', to: 'c-1' })], NOON);
    ledger.events.record(
      [
        reply('please do not stop', { messageId: 'first-0', meaning: 'review' }),
        reply('hm', { meaning: 'review', from: keyOf(1) }),
      ],
      facts(NOON + 16 * MINUTE),
    );
    join(ledger);
    expect(ledger.events.reviewReplies([1, 99], review('opt-out'), { startLifts: false })).toEqual({
      reviewed: 0,
      suppressed: [],
      lifted: [],
      unassigned: [],
      missed: [99],
      earlier: [],
    });
    expect([...ledger.suppressions()]).toEqual([]);
    expect(ledger.events.reviewReplies([1], review('opt-out'), { startLifts: false })).toEqual({
      reviewed: 1,
      suppressed: [keyOf(0), 'c-1'],
      lifted: [],
      unassigned: [],
      missed: [],
      earlier: [],
    });
    expect(ledger.events.reviewReplies([2], review('answer'), { startLifts: false }).suppressed).toEqual([]);
    const [second, first] = [...ledger.events.replies()].flat();
    expect(first?.review).toEqual(review('opt-out'));
    expect([first?.meaning, second?.review?.meaning]).toEqual(['review', 'answer']);
    expect(ledger.events.answered(ledger.runs()[0] as RunRecord)).toEqual(new Map([[0, 'opted-out']]));
  });

  it('of a reply that was to be read is refused if another person was first, and else says whose it replaces', () => {
    const ledger = open(scratchPath());
    const waiting = { meaning: 'review' as const };
    ledger.events.record([reply('hm', waiting), reply('stop?', waiting)], facts(NOON + 11 * MINUTE));
    const jane = { ...review('answer'), who: 'jane' };
    expect(ledger.events.reviewReplies([1], jane, { startLifts: false }).earlier).toEqual([]);
    const first = [{ number: 1, ...jane }];
    const late = ledger.events.reviewReplies([1, 2], review('opt-out'), { startLifts: false, onlyUnread: true });
    expect(late).toMatchObject({ reviewed: 0, suppressed: [], earlier: first });
    expect([...ledger.suppressions()]).toEqual([]);
    expect([...ledger.events.replies()].flat().map((one) => one.review)).toEqual([null, jane]);
    const again = ledger.events.reviewReplies([1, 2], review('opt-out'), { startLifts: false });
    expect(again).toMatchObject({ reviewed: 2, suppressed: [keyOf(0)], earlier: first });
  });

  it.each([false, true])('lifts an opt-out only where the project says so: %s', (startLifts) => {
    const ledger = open(scratchPath());
    ledger.events.record([reply('STOP', { meaning: 'opt-out' })], facts(NOON + 11 * MINUTE));
    ledger.events.record([reply('go on', { meaning: 'review', atMs: NOON + 12 * MINUTE })], facts(NOON + 13 * MINUTE));
    const done = ledger.events.reviewReplies([2], review('opt-in'), { startLifts });
    expect(done.lifted).toEqual(startLifts ? [keyOf(0)] : []);
    expect([...ledger.suppressions()].length).toBe(startLifts ? 0 : 1);
  });
});

describe('replies', () => {
  it('are read newest first, by run, meaning and time', () => {
    const ledger = open(scratchPath());
    const run = sent(ledger, 'first', rows(2), NOON);
    ledger.events.record(
      [
        reply('a'),
        reply('b', { meaning: 'review', from: keyOf(1) }),
        reply('c', { from: keyOf(5), atMs: NOON + 20 * MINUTE }),
      ],
      facts(NOON + 30 * MINUTE),
    );
    join(ledger);
    ledger.events.reviewReplies([2], { meaning: 'answer', who: 'x', atMs: NOON }, { startLifts: false });
    const texts = (filter: Parameters<typeof ledger.events.replies>[0]) =>
      [...ledger.events.replies(filter)].flat().map(({ text }) => text);
    expect(texts({})).toEqual(['c', 'b', 'a']);
    expect(texts({ runs: [run.number] })).toEqual(['b', 'a']);
    expect(texts({ runs: [] })).toEqual([]);
    expect(texts({ meanings: ['review'] })).toEqual([]);
    expect(texts({ meanings: ['answer', 'opt-out'] })).toEqual(['c', 'b', 'a']);
    expect(texts({ sinceMs: NOON + 20 * MINUTE })).toEqual(['c']);
  });

  it('are found by question marks of any writing and by number, and are counted as they are found', () => {
    const ledger = open(scratchPath());
    const run = sent(ledger, 'first', rows(2), NOON);
    const group = [
      reply('Who is this?', { meaning: 'review' }),
      reply('من هذا؟', { from: keyOf(5) }),
      reply('誰ですか？', { meaning: 'opt-out' }),
      reply('yes', { from: keyOf(1) }),
    ];
    ledger.events.record(group, facts(NOON + 30 * MINUTE));
    const found = (filter: Parameters<typeof ledger.events.replies>[0]) => [...ledger.events.replies(filter)].flat();
    const numbers = (filter: Parameters<typeof found>[0]) => found(filter).map(({ number }) => number);
    expect(found({}).map(({ isSought }) => isSought)).toEqual([false, false, false, false]);
    join(ledger);
    expect(found({}).map(({ isSought, answers: to }) => [isSought, to !== null])).toEqual([
      [true, true],
      [true, true],
      [true, false],
      [true, true],
    ]);
    expect(numbers({ questions: true })).toEqual([3, 2, 1]);
    expect(numbers({ questions: true, before: 3 })).toEqual([2, 1]);
    expect(numbers({ numbers: [4, 1, 9] })).toEqual([4, 1]);
    const counts = (filter: Parameters<typeof ledger.events.replyCounts>[0]) => [...ledger.events.replyCounts(filter)];
    expect(counts({})).toEqual([{ all: 4, review: 1, 'opt-out': 1, questions: 3, isLast: true }]);
    expect(counts({ runs: [run.number] })).toEqual([{ all: 3, review: 1, 'opt-out': 1, questions: 2, isLast: true }]);
    ledger.events.reviewReplies([1], { meaning: 'opt-out', who: 'x', atMs: NOON }, { startLifts: false });
    expect(counts({ runs: [] })).toEqual([{ all: 0, review: 0, 'opt-out': 0, questions: 0, isLast: true }]);
    expect(counts({})).toMatchObject([{ review: 0, 'opt-out': 2 }]);
  });
});

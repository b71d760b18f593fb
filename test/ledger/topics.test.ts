import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { LoadRow, RunRecord } from '../../src/ledger/records.ts';
import type { Reply, ReplyMeaning } from '../../src/model.ts';
import { createReferences } from '../../src/plan/expand.ts';
import { BY_MAIL, onStep, unsupported } from './fallbacks.ts';
import { startedRun } from './given.ts';
import { fates, open, scratchPath } from './scratch.ts';
import { claimOf, HELLO, keyOf, NOON, resultOf, rows } from './values.ts';

const MINUTE = 60_000;
const FOREVER = { reason: null, untilMs: null, source: 'user', nowMs: NOON };

/** A run of a campaign about this, started. */
const given = (ledger: Ledger, campaign: string, topic: string | null, list: readonly LoadRow[] = rows(3)) =>
  startedRun(ledger, list, { campaign, topic });

function claim(ledger: Ledger, run: RunRecord, row: number): string | undefined {
  return ledger.commit(run, [], [claimOf(row)], NOON + 30 * MINUTE)[0];
}

/** Sends to this row, at an instant. */
function send(ledger: Ledger, run: RunRecord, row: number, atMs: number): void {
  ledger.commit(run, [], [claimOf(row)], atMs);
  ledger.commit(run, [resultOf(row, { messageId: `${run.campaign}-${row}` })], [], atMs);
}

let replies = 0;

function says(row: number, meaning: ReplyMeaning, minute: number, messageId: string | null = null): Reply {
  replies += 1;
  const atMs = NOON + minute * MINUTE;
  const ids = { replyId: `r-${replies}`, reference: null, messageId, channel: null };
  return { kind: 'reply', ...ids, from: keyOf(row), to: null, text: meaning, meaning, atMs };
}

function hear(ledger: Ledger, reply: Reply, more: { startLifts?: boolean; nowMs?: number } = {}): void {
  const facts = { nowMs: NOON + 20 * MINUTE, source: 'webhook', environment: HELLO.environment };
  ledger.events.record([reply], { ...facts, stopEnds: 'topic', ...more });
}

function join(ledger: Ledger, startLifts = false): void {
  const facts = { now: () => NOON + 20 * MINUTE, referencesOf: createReferences };
  for (const _ of ledger.events.joinReplies({ ...facts, startLifts, stopEnds: 'topic' }));
}

const topicsOf = (ledger: Ledger, row: number) => ledger.suppressionsOf(keyOf(row)).map(({ topic }) => topic);

describe('an entry of the suppression list', () => {
  it.each<[entry: string, campaign: string | null, answer: string]>([
    ['', null, 'suppressed'],
    ['', 'offers', 'suppressed'],
    ['offers', 'offers', 'suppressed'],
    ['offers', 'news', 'claimed'],
    ['offers', null, 'claimed'],
    ['offers', 'essential', 'claimed'],
    ['', 'essential', 'suppressed'],
    ['essential', 'essential', 'suppressed'],
  ])('about "%s", a campaign about %j: %s', (topic, about, answer) => {
    const ledger = open(scratchPath());
    const run = given(ledger, 'hello', about);
    expect(ledger.suppress(keyOf(0), { ...FOREVER, topic })).toBe(true);
    expect(ledger.isSuppressed(keyOf(0), NOON, about)).toBe(answer === 'suppressed');
    expect(claim(ledger, run, 0)).toBe(answer);
    expect(claim(ledger, run, 1)).toBe('claimed');
  });

  it('of a reply does not keep anyone from what is essential, whatever the channel step; one that a person made does', () => {
    const ledger = open(scratchPath());
    const run = given(ledger, 'codes', 'essential');
    for (const row of [0, 1]) ledger.suppress(keyOf(row), { ...FOREVER, source: row === 0 ? 'reply' : 'user' });
    ledger.suppress(BY_MAIL.to, { ...FOREVER, source: 'reply' });
    expect([0, 1, 2].map((row) => claim(ledger, run, row))).toEqual(['claimed', 'suppressed', 'claimed']);
    ledger.commit(run, [unsupported(0, { next: BY_MAIL })], [], NOON);
    expect(ledger.commit(run, [], [onStep(1, 0, BY_MAIL.to)], NOON)).toEqual(['claimed']);
    ledger.suppress(BY_MAIL.to, FOREVER);
    ledger.commit(run, [unsupported(2, { next: BY_MAIL })], [], NOON);
    expect(ledger.commit(run, [], [onStep(1, 2, BY_MAIL.to)], NOON)).toEqual(['suppressed']);
  });

  it('is there once for each topic, listed, and taken off by itself or with the others', () => {
    const ledger = open(scratchPath());
    for (const topic of ['', 'news', 'offers']) ledger.suppress(keyOf(0), { ...FOREVER, topic });
    ledger.suppress(keyOf(1), { ...FOREVER, topic: 'news' });
    expect(ledger.suppress(keyOf(1), { ...FOREVER, topic: 'news' })).toBe(false);
    expect([...ledger.suppressions()].map(({ address, topic }) => `${address} ${topic}`)).toEqual([
      `${keyOf(0)} `,
      `${keyOf(0)} news`,
      `${keyOf(0)} offers`,
      `${keyOf(1)} news`,
    ]);
    expect([ledger.unsuppress(keyOf(0), 'news'), ledger.unsuppress(keyOf(0), 'news')]).toEqual([true, false]);
    expect(topicsOf(ledger, 0)).toEqual(['', 'offers']);
    expect(ledger.unsuppress(keyOf(0))).toBe(true);
    expect(topicsOf(ledger, 0)).toEqual([]);
  });
});

describe('a STOP where it ends a topic', () => {
  it('is about everything until it is known which message it answers, then about the topic of that', () => {
    const ledger = open(scratchPath());
    const [offers, news] = [given(ledger, 'offers', 'offers'), given(ledger, 'news', 'news')];
    send(ledger, offers, 0, NOON);
    hear(ledger, says(0, 'opt-out', 5));
    expect(ledger.isSuppressed(keyOf(0), NOON, 'news')).toBe(true);
    expect(claim(ledger, news, 0)).toBe('suppressed');
    join(ledger);
    expect(topicsOf(ledger, 0)).toEqual(['offers']);
    const again = given(ledger, 'news-2', 'news');
    expect(claim(ledger, again, 0)).toBe('claimed');
    expect(claim(ledger, given(ledger, 'offers-2', 'offers'), 0)).toBe('suppressed');
  });

  it('stays about everything where the message has no topic, or is not found', () => {
    const ledger = open(scratchPath());
    send(ledger, given(ledger, 'plain', null), 0, NOON);
    for (const row of [0, 1]) hear(ledger, says(row, 'opt-out', 5));
    join(ledger);
    expect([topicsOf(ledger, 0), topicsOf(ledger, 1)]).toEqual([[''], ['?']]);
    const run = given(ledger, 'news', 'news');
    expect([0, 1].map((row) => claim(ledger, run, row))).toEqual(['suppressed', 'suppressed']);
  });

  it('does not take back what another STOP, whose message is not found, is about', () => {
    const ledger = open(scratchPath());
    const offers = given(ledger, 'offers', 'offers');
    hear(ledger, says(0, 'opt-out', 1), { nowMs: NOON + MINUTE });
    join(ledger);
    send(ledger, offers, 0, NOON + 2 * MINUTE);
    // Suppressed: nothing went out, so it is another address that is sent to.
    expect(fates(ledger, offers)[0]).toBe('skipped(suppressed)');
    ledger.unsuppress(keyOf(0));
    send(ledger, given(ledger, 'offers-2', 'offers'), 0, NOON + 3 * MINUTE);
    hear(ledger, says(0, 'opt-out', 5));
    join(ledger);
    expect(topicsOf(ledger, 0)).toEqual(['?', 'offers']);
  });

  it('keeps what was there before, and a second one about another topic', () => {
    const ledger = open(scratchPath());
    const [offers, news] = [given(ledger, 'offers', 'offers'), given(ledger, 'news', 'news')];
    for (const run of [offers, news]) for (const row of [0, 1]) send(ledger, run, row, NOON);
    ledger.suppress(keyOf(0), FOREVER);
    for (const row of [0, 1]) hear(ledger, says(row, 'opt-out', 5, `offers-${row}`));
    hear(ledger, says(1, 'opt-out', 6, 'news-1'));
    join(ledger);
    expect([topicsOf(ledger, 0), topicsOf(ledger, 1)]).toEqual([
      ['', 'offers'],
      ['news', 'offers'],
    ]);
  });

  it('is taken back by a START about the same topic, and by no other', () => {
    const ledger = open(scratchPath());
    const [offers, news] = [given(ledger, 'offers', 'offers'), given(ledger, 'news', 'news')];
    for (const run of [offers, news]) send(ledger, run, 0, NOON);
    hear(ledger, says(0, 'opt-out', 5, 'offers-0'), { startLifts: true });
    join(ledger, true);
    hear(ledger, says(0, 'opt-in', 6, 'news-0'), { startLifts: true });
    join(ledger, true);
    expect(topicsOf(ledger, 0)).toEqual(['offers']);
    hear(ledger, says(0, 'opt-in', 7, 'offers-0'), { startLifts: true });
    join(ledger, true);
    expect(topicsOf(ledger, 0)).toEqual([]);
  });

  it('in answer to what is essential is about everything else', () => {
    const ledger = open(scratchPath());
    const codes = given(ledger, 'codes', 'essential');
    send(ledger, given(ledger, 'offers', 'offers'), 0, NOON);
    send(ledger, codes, 0, NOON + MINUTE);
    hear(ledger, says(0, 'opt-out', 5));
    join(ledger);
    expect(topicsOf(ledger, 0)).toEqual(['']);
    expect(claim(ledger, given(ledger, 'codes-2', 'essential'), 0)).toBe('claimed');
  });

  it('as a person read it, is about the topic of the message at once', () => {
    const ledger = open(scratchPath());
    send(ledger, given(ledger, 'offers', 'offers'), 0, NOON);
    hear(ledger, says(0, 'review', 5));
    join(ledger);
    const review = { meaning: 'opt-out', who: 'alice', atMs: NOON + 30 * MINUTE } as const;
    const [number = 0] = [...ledger.events.replies()].flat().map((one) => one.number);
    ledger.events.reviewReplies([number], review, { startLifts: false, stopEnds: 'topic' });
    expect(topicsOf(ledger, 0)).toEqual(['offers']);
  });
});

describe('what is essential does not go out against an entry that a person made, whatever came before or since', () => {
  it('a reply, then one of a person with an end', () => {
    const ledger = open(scratchPath());
    ledger.suppress(keyOf(0), { ...FOREVER, source: 'reply' });
    ledger.suppress(keyOf(0), { ...FOREVER, untilMs: NOON + 86400000 });
    expect(ledger.isSuppressed(keyOf(0), NOON, 'essential')).toBe(true);
  });
  it('one of a person with an end, then a reply', () => {
    const ledger = open(scratchPath());
    ledger.suppress(keyOf(0), { ...FOREVER, untilMs: NOON + 86400000 });
    hear(ledger, says(0, 'opt-out', 5));
    expect(ledger.isSuppressed(keyOf(0), NOON, 'essential')).toBe(true);
  });
  it('one of a person with an end, then a STOP that ends everything', () => {
    const ledger = open(scratchPath());
    ledger.suppress(keyOf(0), { ...FOREVER, untilMs: NOON + 86400000 });
    ledger.events.record([says(0, 'opt-out', 5)], {
      nowMs: NOON + 20 * MINUTE,
      source: 'webhook',
      environment: HELLO.environment,
    });
    expect(ledger.isSuppressed(keyOf(0), NOON, 'essential')).toBe(true);
  });
  it('a hash from a reply, then one of a person', () => {
    const ledger = open(scratchPath());
    const h = { hash: 'aa', keyId: 'k', reason: null, untilMs: null };
    ledger.suppressAll([], [{ ...h, source: 'reply' }], NOON);
    ledger.suppressAll([], [{ ...h, source: 'user' }], NOON);
    expect(ledger.isHashSuppressed('aa', NOON, 'essential')).toBe(true);
  });
  it('a hash from a reply, and an entry of a person that becomes a hash', () => {
    const ledger = open(scratchPath());
    const hasher = { keyId: 'k', hash: (x: string) => `h-${x}` } as never;
    ledger.suppress(keyOf(0), { ...FOREVER, source: 'reply' });
    for (const _ of ledger.purge.hashSuppressions(NOON + MINUTE, hasher));
    ledger.suppress(keyOf(0), { ...FOREVER, source: 'user' });
    expect(ledger.isSuppressed(keyOf(0), NOON, 'essential')).toBe(true);
    for (const _ of ledger.purge.hashSuppressions(NOON + MINUTE, hasher));
    expect([...ledger.suppressedHashes()].map((o) => o.source)).toEqual(['user']);
    expect(ledger.isHashSuppressed(`h-${keyOf(0)}`, NOON, 'essential')).toBe(true);
  });
});

describe('a STOP that meets a START, or a purge', () => {
  it('stays where a START about another topic came before either was joined', () => {
    const ledger = open(scratchPath());
    const [offers, news] = [given(ledger, 'offers', 'offers'), given(ledger, 'news', 'news')];
    for (const run of [offers, news]) send(ledger, run, 0, NOON);
    hear(ledger, says(0, 'opt-out', 5, 'offers-0'), { startLifts: true });
    hear(ledger, says(0, 'opt-in', 6, 'news-0'), { startLifts: true });
    join(ledger, true);
    expect(topicsOf(ledger, 0)).toEqual(['offers']);
  });
  it('stays until then, whatever START came meanwhile', () => {
    const ledger = open(scratchPath());
    const [offers, news] = [given(ledger, 'offers', 'offers'), given(ledger, 'news', 'news')];
    for (const run of [offers, news]) send(ledger, run, 0, NOON);
    hear(ledger, says(0, 'opt-out', 5, 'offers-0'), { startLifts: true });
    hear(ledger, says(0, 'opt-in', 6, 'news-0'), { startLifts: true });
    expect(topicsOf(ledger, 0)).not.toEqual([]);
  });
  it('is about everything for good when it is purged before its message was found', () => {
    const ledger = open(scratchPath());
    hear(ledger, says(0, 'opt-out', 1), { nowMs: NOON + MINUTE });
    join(ledger);
    expect(topicsOf(ledger, 0)).toEqual(['?']);
    const news = given(ledger, 'news', 'essential');
    send(ledger, news, 0, NOON + 3 * MINUTE);
    for (const _ of ledger.purge.forgetEvents(NOON + 4 * MINUTE));
    hear(ledger, says(0, 'opt-out', 5, 'news-0'), { nowMs: NOON + 6 * MINUTE });
    join(ledger);
    expect(topicsOf(ledger, 0)).toEqual(['']);
  });
});

describe('a cap within a topic', () => {
  it('counts the messages of campaigns with the same topic; those without one among themselves', () => {
    const ledger = open(scratchPath());
    for (const [campaign, topic] of [
      ['a', 'offers'],
      ['b', 'offers'],
      ['c', 'news'],
      ['d', null],
    ] as const)
      send(ledger, given(ledger, campaign, topic), 0, NOON);
    const reach = ledger.reach(HELLO, { exclude: [], sinceMs: 0 });
    const capped = (max: number, topic?: string | null) =>
      reach.cappedBy(keyOf(0), keyOf(0), [{ max, sinceMs: 0, ...(topic === undefined ? {} : { topic }) }]) !== null;
    expect([capped(4), capped(5)]).toEqual([true, false]);
    expect([capped(2, 'offers'), capped(3, 'offers')]).toEqual([true, false]);
    expect([capped(1, 'news'), capped(2, 'news')]).toEqual([true, false]);
    expect([capped(1, null), capped(2, null), capped(1, 'codes')]).toEqual([true, false, false]);
  });
});

import { describe, expect, it } from 'vitest';
import type { Ledger, Reach, ReachRules } from '../../src/ledger/ledger.ts';
import type { Cap, ClaimRequest, ResultRecord, RunRecord } from '../../src/ledger/records.ts';
import { BY_MAIL, onStep, unsupported } from './fallbacks.ts';
import { amendedRun } from './given.ts';
import { capOf, ended, givenOther, SAME_HASHES } from './others.ts';
import { fates, givenRun, open, recordAll, scratchPath } from './scratch.ts';
import { claimOf, HELLO, keyOf, loadRow, NOON, resultOf, rows } from './values.ts';

const DAY = 86_400_000;
const CAPPED: ReachRules = { exclude: [], sinceMs: 0 };

function excluding(campaign: string, occurrence: string | null = null): ReachRules {
  return { exclude: [{ campaign, occurrence }], sinceMs: null };
}

/** Claims rows and records what came of them. */
function send(ledger: Ledger, run: RunRecord, results: readonly ResultRecord[], nowMs = NOON): void {
  ledger.commit(
    run,
    [],
    results.map(({ row }) => claimOf(row)),
    nowMs,
  );
  ledger.commit(run, results, [], nowMs + 1000);
}

/** The rows, by number, of which a cap of so many is used up. */
function cappedRows(ledger: Ledger, count: number, cap: Cap, rules = CAPPED): number[] {
  const reach = ledger.reach(HELLO, rules);
  return Array.from({ length: count }, (_, row) => row).filter(
    (row) => reach.cappedBy(keyOf(row), keyOf(row), [cap]) !== null,
  );
}

function excludedRows(ledger: Ledger, count: number, rules: ReachRules): (string | null)[] {
  const reach = ledger.reach(HELLO, rules);
  return Array.from({ length: count }, (_, row) => reach.excludedBy(keyOf(row), keyOf(row))).map((run) =>
    run === null ? null : `${run.campaign}@${run.occurrence}`,
  );
}

describe('recipients that another run reached', () => {
  it('are only those who were accepted or are in doubt', () => {
    const ledger = open(scratchPath());
    const other = givenOther(ledger, [...rows(5), loadRow(5, { state: 'skipped', reason: 'duplicate' })]);
    send(ledger, other, [
      resultOf(0),
      resultOf(1, { state: 'in-doubt', reason: 'timeout', messageId: null }),
      resultOf(2, { state: 'rejected', reason: 'status', messageId: null }),
      resultOf(3, { state: 'failed', reason: 'internal', messageId: null }),
    ]);
    ended(ledger, other);
    expect(cappedRows(ledger, 6, capOf(1))).toEqual([0, 1]);
    expect(excludedRows(ledger, 6, excluding('other'))).toEqual(['other@once', 'other@once', null, null, null, null]);
  });

  it('a doubt that turned out to be a refusal does not count any more, a message does, and so does a doubt that is to be sent again', () => {
    const ledger = open(scratchPath());
    const other = givenOther(ledger, rows(3));
    const doubt = { state: 'in-doubt', reason: 'timeout', messageId: null } as const;
    send(ledger, other, [resultOf(0, doubt), resultOf(1, doubt), resultOf(2, doubt)]);
    ended(ledger, other);
    const doubts = [...ledger.doubts(other)].flat();
    for (const [i, verdict] of (['rejected', 'accepted', 'resend'] as const).entries()) {
      ledger.resolve(other, doubts.slice(i, i + 1), { verdict, messageId: null, who: '', note: null, nowMs: NOON });
    }
    expect(cappedRows(ledger, 3, capOf(1))).toEqual([1, 2]);
  });

  it('whose address was corrected has had a message, also while the second one waits', () => {
    const ledger = open(scratchPath());
    const at = (to: string) => [loadRow(0, { key: keyOf(0), to })];
    const other = givenOther(ledger, at('+447700900555'));
    ledger.commit(other, [], [{ ...claimOf(0), to: '+447700900555' }], NOON);
    ledger.commit(other, [resultOf(0)], [], NOON);
    amendedRun(ledger, other, at('+447700900556'));
    expect(ledger.reopenCorrected(other, NOON)).toBe(1);
    ended(ledger, other);
    expect(cappedRows(ledger, 1, capOf(1))).toEqual([0]);
    expect(excludedRows(ledger, 1, excluding('other'))).toEqual(['other@once']);
  });

  it('who was claimed when a process died counts before the run is started again, and after', () => {
    const ledger = open(scratchPath());
    const other = givenOther(ledger, rows(2));
    ledger.commit(other, [], [claimOf(1)], NOON);
    expect(cappedRows(ledger, 2, capOf(1))).toEqual([1]);
    ended(ledger, ledger.start(other, NOON).run);
    expect(cappedRows(ledger, 2, capOf(1))).toEqual([1]);
  });

  it('its own run says nothing, other occurrences of the same campaign do', () => {
    const ledger = open(scratchPath());
    send(ledger, givenRun(ledger, rows(2)), [resultOf(0)]);
    ended(ledger, givenOther(ledger, rows(2), { campaign: 'hello', occurrence: 'may' }));
    send(ledger, givenOther(ledger, rows(2), { campaign: 'hello', occurrence: 'june' }), [resultOf(1)]);
    expect(cappedRows(ledger, 2, capOf(1))).toEqual([1]);
    expect(excludedRows(ledger, 2, excluding('hello'))).toEqual([null, 'hello@june']);
    expect(excludedRows(ledger, 2, excluding('hello', 'may'))).toEqual([null, null]);
    expect(excludedRows(ledger, 2, excluding('hello', 'once'))).toEqual([null, null]);
  });

  it('other environments, and campaigns that are exempt, say nothing to a cap; exclude does not mind the latter', () => {
    const ledger = open(scratchPath());
    send(ledger, givenOther(ledger, rows(2), { environment: 'production' }), [resultOf(0)]);
    send(ledger, givenOther(ledger, rows(2), { campaign: 'codes', isCounted: false }), [resultOf(1)]);
    expect(cappedRows(ledger, 2, capOf(1))).toEqual([]);
    expect(excludedRows(ledger, 2, excluding('codes'))).toEqual([null, 'codes@once']);
    expect(excludedRows(ledger, 2, excluding('other'))).toEqual([null, null]);
  });

  it('a cap is used up by as many messages as it allows, whichever runs they are of', () => {
    const ledger = open(scratchPath());
    for (const [i, results] of [[resultOf(0), resultOf(1)], [resultOf(1)], [resultOf(1), resultOf(2)]].entries()) {
      const run = givenOther(ledger, rows(3), { occurrence: String(i) });
      send(ledger, run, results);
      ended(ledger, run);
    }
    expect([1, 2, 3, 4].map((max) => cappedRows(ledger, 4, capOf(max)))).toEqual([[0, 1, 2], [1], [1], []]);
  });

  it('counts from the request on: not before the period, to the millisecond, whatever was answered when', () => {
    const ledger = open(scratchPath());
    const other = givenOther(ledger, rows(2));
    send(ledger, other, [resultOf(0)], NOON);
    ended(ledger, other, NOON + 5000);
    for (const sinceMs of [NOON - 40 * DAY, NOON - 1, NOON]) {
      expect(cappedRows(ledger, 2, capOf(1, sinceMs), { exclude: [], sinceMs })).toEqual([0]);
    }
    const later = { exclude: [], sinceMs: NOON + 1 };
    expect(cappedRows(ledger, 2, capOf(1, NOON + 1), later)).toEqual([]);
    // What is too old for a cap is not for `exclude`, and does not count because of it.
    const both = { exclude: [{ campaign: 'other', occurrence: null }], sinceMs: NOON + 1 };
    expect(cappedRows(ledger, 2, capOf(1, NOON + 1), both)).toEqual([]);
    expect(excludedRows(ledger, 2, both)).toEqual(['other@once', null]);
  });

  it('of several caps the one that is used up is named', () => {
    const ledger = open(scratchPath());
    send(ledger, givenOther(ledger, rows(1)), [resultOf(0)]);
    const caps = [capOf(2), capOf(1, NOON - 1), capOf(1)];
    expect(ledger.reach(HELLO, CAPPED).cappedBy(keyOf(0), keyOf(0), caps)).toBe(caps[1]);
  });
});

describe('the person', () => {
  const LIST = [
    loadRow(0, { key: 'c-1', to: '+447700900001' }),
    loadRow(1, { key: 'ada@Example', to: 'ada@example' }),
    loadRow(2, { key: '007', to: '+15550000007' }),
  ];
  const claims: ClaimRequest[] = LIST.map(({ row, key, to }) => ({ row, step: 0, key: key ?? '', to: to ?? '' }));

  it.each([
    ['the key', 'c-1', '+33100000000', true],
    ['the address', '+447700900001', '+447700900001', true],
    ['the address, whatever the key', 'c-2', '+447700900001', true],
    ['an address that is a key there', '+33100000000', 'c-1', true],
    ['an email address in another case', 'ADA@example', 'ADA@example', true],
    ['a text', 'ada@Example', 'x', true],
    ['digits with a zero before', '7', '7', false],
    ['digits that are the same', '007', 'x', true],
    ['a number without its plus', '447700900001', '447700900001', false],
    ['somebody else', 'c-3', '+447700900009', false],
  ])('is found by %s', (_, key, to, isFound) => {
    const ledger = open(scratchPath());
    const other = givenOther(ledger, LIST);
    ledger.commit(other, [], claims, NOON);
    recordAll(
      ledger,
      other,
      [0, 1, 2].map((row) => resultOf(row)),
    );
    for (const live of [true, false]) {
      if (!live) ended(ledger, other);
      const reach = ledger.reach(HELLO, { exclude: [{ campaign: 'other', occurrence: null }], sinceMs: 0 });
      expect(reach.cappedBy(to, key, [capOf(1)]) !== null).toBe(isFound);
      expect(reach.excludedBy(to, key) !== null).toBe(isFound);
      // By key and by address it is still one message.
      expect(reach.cappedBy(to, key, [capOf(2)])).toBe(null);
    }
  });

  it('is not taken for another recipient whose hashes are the same', () => {
    const ledger = open(scratchPath());
    const [them, somebodyElse] = SAME_HASHES;
    const other = givenOther(ledger, [loadRow(0, { key: 'c-1', to: them })]);
    ledger.commit(other, [], [{ row: 0, step: 0, key: 'c-1', to: them }], NOON);
    ledger.commit(other, [resultOf(0)], [], NOON);
    for (const live of [true, false]) {
      if (!live) ended(ledger, other);
      const reach = ledger.reach(HELLO, { exclude: [{ campaign: 'other', occurrence: null }], sinceMs: 0 });
      for (const to of SAME_HASHES) {
        expect(reach.cappedBy(to, to, [capOf(1)]) !== null).toBe(to === them);
        expect(reach.excludedBy(to, to) !== null).toBe(to === them);
      }
      expect(reach.cappedBy(somebodyElse, 'c-1', [capOf(1)])).not.toBe(null);
      expect(reach.cappedBy(somebodyElse, 'c-1', [capOf(2)])).toBe(null);
    }
  });

  it('has had one message where it fell back, under the addresses of all its steps', () => {
    const ledger = open(scratchPath());
    const other = givenOther(ledger, rows(2));
    const watching = open(ledger.path).reach(HELLO, CAPPED);
    ledger.commit(other, [], [claimOf(0)], NOON);
    ledger.commit(other, [unsupported(0, { next: BY_MAIL })], [], NOON);
    const between = open(ledger.path).reach(HELLO, CAPPED);
    for (const reach of [watching, between]) {
      reach.refresh();
      expect(reach.cappedBy(BY_MAIL.to, 'x', [capOf(1)])).toBe(null);
    }
    ledger.commit(other, [], [onStep(1, 0, BY_MAIL.to)], NOON);
    ledger.commit(other, [resultOf(0, { step: 1 })], [], NOON);
    const live = open(ledger.path).reach(HELLO, CAPPED);
    ended(ledger, other);
    const later = open(ledger.path).reach(HELLO, CAPPED);
    for (const reach of [watching, between, live, later]) {
      reach.refresh();
      for (const person of [keyOf(0), BY_MAIL.to]) {
        expect(reach.cappedBy(person, person, [capOf(1)])).not.toBe(null);
        expect(reach.cappedBy(person, person, [capOf(2)])).toBe(null);
      }
      expect(reach.cappedBy(BY_MAIL.to, keyOf(0), [capOf(2)])).toBe(null);
      expect(reach.cappedBy(keyOf(1), keyOf(1), [capOf(1)])).toBe(null);
    }
  });
});

describe('claims', () => {
  const withCap = (row: number, max = 1): ClaimRequest => ({ ...claimOf(row), caps: [capOf(max)] });

  it('see what another process claimed the moment before, and set the row aside', () => {
    const path = scratchPath();
    const [mine, theirs] = [open(path), open(path)];
    const run = givenRun(mine, rows(4));
    const other = givenOther(theirs, rows(4));
    const reach = mine.reach(HELLO, CAPPED);
    const back = theirs.reach(other, CAPPED);
    expect(mine.commit(run, [], [withCap(0)], NOON, { reach })).toEqual(['claimed']);
    expect(theirs.commit(other, [], [withCap(0), withCap(1)], NOON, { reach: back })).toEqual([
      'frequency-cap',
      'claimed',
    ]);
    expect(mine.commit(run, [], [withCap(1), withCap(1, 2)], NOON, { reach })).toEqual(['frequency-cap', 'taken']);
    expect(mine.commit(run, [], [withCap(2)], NOON, { reach })).toEqual(['claimed']);
    // A refusal takes the claim back: then the other one may.
    mine.commit(run, [resultOf(2, { state: 'rejected', reason: 'status', messageId: null })], [], NOON);
    expect(theirs.commit(other, [], [withCap(2)], NOON, { reach: back })).toEqual(['claimed']);
    // No process holds the locks here, so that claimed rows are shown as left behind.
    expect(fates(mine, run)).toEqual(['in-doubt(crash)', 'skipped(frequency-cap)', 'rejected(status)', 'pending']);
    expect(fates(theirs, other)[0]).toBe('skipped(frequency-cap)');
  });

  it('see a run that did not exist when the rules were read, one that was ended, and one that was amended', () => {
    const path = scratchPath();
    const [mine, theirs] = [open(path), open(path)];
    const run = givenRun(mine, rows(6));
    const old = ended(theirs, givenOther(theirs, rows(6), { occurrence: 'old' }));
    const rules = { ...CAPPED, ...excluding('other', 'new'), sinceMs: 0 };
    const reach = mine.reach(HELLO, rules);
    const claim = (row: number) => mine.commit(run, [], [withCap(row)], NOON, { reach })[0];
    expect(claim(0)).toBe('claimed');
    const fresh = givenOther(theirs, rows(6), { occurrence: 'new' });
    theirs.commit(fresh, [], [claimOf(1)], NOON);
    expect(claim(1)).toBe('excluded');
    // What it claims after it was found counts as well.
    theirs.commit(fresh, [], [claimOf(5)], NOON);
    expect(claim(5)).toBe('excluded');
    const again = theirs.start(old, NOON).run;
    theirs.commit(again, [], [claimOf(2)], NOON);
    expect(claim(2)).toBe('frequency-cap');
    ended(theirs, again);
    // The list has another order now, so that row 0 is another recipient.
    const list = [loadRow(0, { key: keyOf(3) }), loadRow(1, { key: keyOf(2) }), loadRow(2, { key: keyOf(4) })];
    const amended = theirs.start(amendedRun(theirs, again, list), NOON).run;
    theirs.commit(amended, [], [{ ...claimOf(0), key: keyOf(3), to: keyOf(3) }], NOON);
    expect([claim(3), claim(4)]).toEqual(['frequency-cap', 'claimed']);
    expect(fates(mine, run).slice(1, 4)).toEqual([
      'skipped(excluded)',
      'skipped(frequency-cap)',
      'skipped(frequency-cap)',
    ]);
  });

  it('on a later step look at its own address, and keep it', () => {
    const path = scratchPath();
    const [mine, theirs] = [open(path), open(path)];
    const run = givenRun(mine, rows(1));
    const reach = mine.reach(HELLO, CAPPED);
    mine.commit(run, [], [withCap(0)], NOON, { reach });
    mine.commit(run, [unsupported(0, { next: BY_MAIL })], [], NOON);
    const other = givenOther(theirs, [loadRow(0, { key: 'c-9', to: BY_MAIL.to })]);
    theirs.commit(other, [], [{ row: 0, step: 0, key: 'c-9', to: BY_MAIL.to }], NOON);
    const claim = { ...onStep(1, 0, BY_MAIL.to), caps: [capOf(1)], facts: BY_MAIL };
    expect(mine.commit(run, [], [claim], NOON, { reach })).toEqual(['frequency-cap']);
    expect([...mine.outcomes(run)].flat()).toMatchObject([{ reason: 'frequency-cap', to: BY_MAIL.to }]);
  });

  it('a recipient who is suppressed as well is suppressed', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(1));
    send(ledger, givenOther(ledger, rows(1)), [resultOf(0)]);
    ledger.suppress(keyOf(0), { reason: null, untilMs: null, source: 'test', nowMs: NOON });
    const reach = ledger.reach(HELLO, CAPPED);
    expect(ledger.commit(run, [], [withCap(0)], NOON, { reach })).toEqual(['suppressed']);
  });
});

it('an amended run counts as its new campaign says', () => {
  const ledger = open(scratchPath());
  const other = givenOther(ledger, rows(1), { isCounted: false });
  send(ledger, other, [resultOf(0)]);
  ended(ledger, other);
  expect(cappedRows(ledger, 1, capOf(1))).toEqual([]);
  amendedRun(ledger, other, rows(1));
  expect(cappedRows(ledger, 1, capOf(1))).toEqual([0]);
});

it('names the runs that were purged: always of `exclude`, of a cap where the period reaches into them', () => {
  const ledger = open(scratchPath());
  const other = givenOther(ledger, rows(2));
  send(ledger, other, [resultOf(0)]);
  const purged = ledger.purge.mark(ended(ledger, other, NOON + 1000), NOON + 2000);
  for (const _ of ledger.purge.clear(purged));
  const names = (rules: ReachRules) => ledger.reach(HELLO, rules).purged.map(({ campaign }) => campaign);
  expect(names(excluding('other'))).toEqual(['other']);
  expect(names(excluding('other', 'may'))).toEqual([]);
  expect(names({ exclude: [], sinceMs: NOON })).toEqual(['other']);
  expect(names({ exclude: [], sinceMs: NOON + 5000 })).toEqual([]);
});

it('remembers the recipients of a run that is purged while the rules are in force', () => {
  const ledger = open(scratchPath());
  const other = givenOther(ledger, rows(3));
  send(ledger, other, [resultOf(0), resultOf(1, { state: 'rejected', reason: 'status', messageId: null })]);
  const run = ended(ledger, other, NOON + 1000);
  const reach = open(ledger.path).reach(HELLO, { ...excluding('other'), sinceMs: 0 });
  for (const _ of ledger.purge.clear(ledger.purge.mark(run, NOON + 2000)));
  reach.refresh();
  const keys = [0, 1, 2].map(keyOf);
  expect(keys.map((key) => reach.excludedBy(key, key) !== null)).toEqual([true, false, false]);
  expect(keys.map((key) => reach.cappedBy(key, key, [capOf(1)]) !== null)).toEqual([true, false, false]);
});

it('of a long run counts recipients who were reached since, though others around them were reached before', () => {
  const ledger = open(scratchPath());
  const other = givenOther(ledger, rows(2500));
  const sent = [0, 1, 2, 1500, 2499];
  for (const [i, row] of sent.entries()) send(ledger, other, [resultOf(row)], NOON + i * 5000);
  ended(ledger, other, NOON + DAY);
  const cappedSince = (sinceMs: number) => cappedRows(ledger, 2500, capOf(1, sinceMs));
  expect(cappedSince(0)).toEqual(sent);
  expect(cappedSince(NOON + 10_000)).toEqual([2, 1500, 2499]);
  expect(cappedSince(NOON + 10_001)).toEqual([1500, 2499]);
  expect(cappedSince(NOON + 15_001)).toEqual([2499]);
  expect(cappedSince(NOON + 20_001)).toEqual([]);
});

describe('the message that a follow-up follows', () => {
  const FOLLOWS: ReachRules = { exclude: [], sinceMs: null, follows: 'other' };

  it('is the last step of the run with the same occurrence, by the key', () => {
    const ledger = open(scratchPath());
    const other = givenOther(ledger, [...rows(5), loadRow(5, { state: 'deferred', reason: 'outside-window' })]);
    ledger.commit(other, [], [0, 1, 2, 3].map(claimOf), NOON);
    const doubt = { state: 'in-doubt', reason: 'timeout', messageId: null } as const;
    const refused = { state: 'rejected', reason: 'status', messageId: null } as const;
    const results = [resultOf(0), resultOf(1, doubt), resultOf(2, refused), unsupported(3, { next: BY_MAIL })];
    ledger.commit(other, results, [], NOON + 500);
    ledger.commit(other, [], [{ ...onStep(1, 3, 'a@b.c'), facts: BY_MAIL }], NOON + 700);
    ledger.commit(other, [resultOf(3, { step: 1 })], [], NOON + 900);
    ended(ledger, other);
    const reach = ledger.reach(HELLO, FOLLOWS);
    const found = [0, 1, 2, 3, 4, 5, 6].map((row) => reach.followed(keyOf(row)));
    expect(found.map((one) => one?.state ?? null)).toEqual([
      'accepted',
      'in-doubt',
      'rejected',
      'accepted',
      'pending',
      // A start puts those who waited back.
      'pending',
      null,
    ]);
    expect(found[0]).toMatchObject({ row: 0, channel: 'sms', to: keyOf(0), claimedAtMs: NOON, resend: 0 });
    expect(found[3]).toMatchObject({ channel: 'email', to: 'a@b.c', claimedAtMs: NOON + 700 });
    expect(ledger.reach({ ...HELLO, occurrence: 'second' }, FOLLOWS).followed(keyOf(0))).toBeNull();
    expect(ledger.reach({ ...HELLO, environment: 'live' }, FOLLOWS).followed(keyOf(0))).toBeNull();
  });

  it('is answered by a reply to its row, or from its address afterwards; an opt-out counts more', () => {
    const ledger = open(scratchPath());
    const other = givenOther(ledger, rows(4));
    send(ledger, other, [resultOf(0), resultOf(1), resultOf(2), resultOf(3)]);
    const reply = (row: number, meaning: 'answer' | 'opt-out', atMs: number) => {
      const nothing = { replyId: null, reference: null, messageId: null, to: null, channel: null };
      return { kind: 'reply', ...nothing, from: keyOf(row), text: `${row} ${meaning} ${atMs}`, meaning, atMs } as const;
    };
    const replies = [
      reply(0, 'answer', NOON + 5000),
      reply(1, 'answer', NOON + 5000),
      reply(1, 'opt-out', NOON + 6000),
      reply(2, 'answer', NOON - 86_400_000),
    ];
    ledger.events.record(replies, { nowMs: NOON + 7000, source: 'webhook', environment: HELLO.environment });
    ended(ledger, other);
    const reach = ledger.reach(HELLO, FOLLOWS);
    const said = [0, 1, 2, 3].map((row) => {
      const message = reach.followed(keyOf(row));
      return message === null ? 'none' : reach.replyTo(message, { sender: message.to, reference: null });
    });
    expect(said).toEqual(['answer', 'opt-out', null, null]);
  });

  it('is answered by a reply that names it, from any address, before the reply is joined', () => {
    const ledger = open(scratchPath());
    const other = givenOther(ledger, rows(4));
    send(ledger, other, [resultOf(0), resultOf(1), resultOf(2), resultOf(3)]);
    const reply = (names: { reference?: string; messageId?: string }, environment: string) => {
      const nothing = { replyId: null, reference: null, messageId: null, to: null, channel: null };
      const text = JSON.stringify(names);
      const said = { kind: 'reply', ...nothing, from: '+4420', text, meaning: 'answer', atMs: NOON + 5000 } as const;
      ledger.events.record([{ ...said, ...names }], { nowMs: NOON + 7000, source: 'webhook', environment });
    };
    ended(ledger, other);
    const reach = ledger.reach(HELLO, FOLLOWS);
    const messages = [0, 1, 2, 3].map((row) => reach.followed(keyOf(row)));
    reply({ reference: 'hb-0' }, HELLO.environment);
    reply({ messageId: messages[1]?.messageId ?? '' }, HELLO.environment);
    reply({ messageId: messages[2]?.messageId ?? '' }, 'live');
    const said = messages.map((message, row) =>
      message === null ? 'none' : reach.replyTo(message, { sender: message.to, reference: `hb-${row}` }),
    );
    expect(said).toEqual(['answer', 'answer', null, null]);
  });

  it('goes out again while the follow-up goes out: the claim puts the follow-up off', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(3));
    const own = ledger.reach(HELLO, FOLLOWS);
    const asked: number[] = [];
    const followUp: Reach['followUp'] = (key, nowMs) => {
      asked.push(nowMs);
      return key === keyOf(0) ? 'follow-up-later' : key === keyOf(1) ? 'no-follow-up' : null;
    };
    const answers = ledger.commit(run, [], [0, 1, 2].map(claimOf), NOON + 5, { reach: { ...own, followUp } });
    expect(answers).toEqual(['follow-up-later', 'no-follow-up', 'claimed']);
    expect(asked.every((ms) => ms >= NOON + 5)).toBe(true);
    const outcomes = [...ledger.outcomes(run)].flat().map(({ outcome, reason }) => `${outcome} ${reason}`);
    expect(outcomes.slice(0, 2)).toEqual(['deferred follow-up-later', 'skipped no-follow-up']);
  });
});

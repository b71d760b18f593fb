import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { Reason, Verdict } from '../../src/http/classify.ts';
import { createStop, ledgerHalt, type StopContext } from '../../src/send/stop.ts';
import { HALT_RULES } from '../helpers/halt-rules.ts';

const verdict = (outcome: Verdict['outcome'], more: Partial<Verdict> = {}): Verdict => ({
  outcome,
  reason: null,
  again: false,
  halt: null,
  split: false,
  retryAfterMs: null,
  messageId: null,
  error: null,
  field: null,
  says: null,
  ...more,
});

function stopWith(context: Partial<StopContext> = {}) {
  let halts = 0;
  const stop = createStop({
    inFlight: 16,
    rows: 10_000,
    limits: { stopAfterInDoubt: null, stopAfterRejected: null },
    before: { accepted: 0, rejected: 0, firstSteps: 0, fellBack: 0 },
    api: { url: 'https://user:secret@api.example.com/v2/messages?key=secret', proxy: null },
    list: 'people.csv',
    onHalt: () => {
      halts += 1;
    },
    ...context,
  });
  return { stop, halts: () => halts };
}

/** Alternates doubts with acceptances, so that only their number counts, not the row of them. */
function doubtsUntilHalt(context: Partial<StopContext>): number {
  const { stop } = stopWith(context);
  for (let doubts = 1; doubts <= 100; doubts++) {
    stop.note(verdict('in-doubt'));
    if (stop.halt !== null) return doubts;
    stop.note(verdict('accepted'));
  }
  return Number.POSITIVE_INFINITY;
}

describe('throttled', () => {
  it('by the last 20 answers, or by all of a shorter start', () => {
    const { stop } = stopWith();
    stop.answered(202);
    for (let i = 0; i < 19; i++) stop.answered(429);
    stop.ended();
    expect(stop.halt).toBeNull();
    stop.answered(429);
    expect(stop.halt).toMatchObject({ rule: 'throttled', next: expect.stringContaining('`rate`') });
    const short = stopWith().stop;
    for (let i = 0; i < 3; i++) short.answered(429);
    expect(short.halt).toBeNull();
    short.ended();
    expect(short.halt).toMatchObject({ rule: 'throttled', message: expect.stringContaining('3 answers') });
  });

  it('not by another answer among them, and not where none came', () => {
    const { stop } = stopWith();
    for (const status of [429, 429, 425, 429]) stop.answered(status);
    stop.ended();
    expect(stop.halt).toBeNull();
    stopWith().stop.ended();
  });
});

describe('a host that is not found', () => {
  const unresolved = verdict('failed', { reason: 'dns', error: 'ENOTFOUND: getaddrinfo ENOTFOUND api.example.com' });

  it('is named at the end of a start, however few recipients it had', () => {
    for (const count of [1, 2, 4]) {
      const { stop } = stopWith();
      for (let i = 0; i < count; i++) stop.note(unresolved);
      expect(stop.halt).toBeNull();
      stop.ended();
      expect(stop.halt).toMatchObject({
        rule: 'api-down',
        message: expect.stringContaining('Cannot connect to api.example.com:443: the host name is not known.'),
      });
    }
  });

  it('is not what ended a start with another outcome, or without any', () => {
    for (const other of [verdict('accepted'), verdict('failed', { reason: 'connect' }), verdict('in-doubt')]) {
      for (const order of [
        [unresolved, other],
        [other, unresolved],
      ]) {
        const { stop } = stopWith();
        for (const one of order) stop.note(one);
        stop.ended();
        expect(stop.halt).toBeNull();
      }
    }
    const { stop } = stopWith();
    stop.ended();
    expect(stop.halt).toBeNull();
  });
});

describe('doubts', () => {
  test.each([
    { what: 'the concurrency where 1% of the list is less', concurrency: 16, rows: 100, limit: 16 },
    { what: '1% of the list up to 20', concurrency: 4, rows: 1_000, limit: 10 },
    { what: 'never more than 20 because of a long list', concurrency: 4, rows: 1_000_000, limit: 20 },
    { what: 'the concurrency where it is above 20', concurrency: 64, rows: 1_000_000, limit: 64 },
  ])('default: $what', ({ concurrency, rows, limit }) => {
    expect(doubtsUntilHalt({ inFlight: concurrency, rows })).toBe(limit);
  });

  test.each([
    { what: 'a count', stopAfterInDoubt: { count: 3 }, limit: 3 },
    { what: 'a share of the list', stopAfterInDoubt: { share: 0.0005 }, limit: 5 },
  ])('limits.stopAfter.inDoubt: $what', ({ stopAfterInDoubt, limit }) => {
    expect(doubtsUntilHalt({ limits: { stopAfterInDoubt, stopAfterRejected: null } })).toBe(limit);
  });

  it('halts at five in a row, whatever the limit is', () => {
    const { stop, halts } = stopWith({ inFlight: 64 });
    for (let i = 0; i < 4; i++) stop.note(verdict('in-doubt'));
    expect(stop.halt).toBeNull();
    stop.note(verdict('in-doubt'));
    expect(stop.halt?.rule).toBe('doubt');
    expect(halts()).toBe(1);
  });
});

describe('the row that an answer was to', () => {
  const refused = verdict('pending', { reason: 'not-authorised', halt: 'not-authorised' });
  const PROBABLY = /probably this recipient/;

  it('is named, and is the probable cause where others were accepted', () => {
    const { stop } = stopWith();
    stop.note(verdict('accepted'));
    stop.note(refused, { line: 8, status: 403 });
    expect(stop.halt?.message).toBe(
      'The API refused the account or the key (not-authorised). The answer was to people.csv:8.',
    );
    expect(stop.halt?.next).toMatch(/^1 message of this run was accepted before, so it is probably this recipient: /);
    expect(stop.halt?.at).toEqual({ file: 'people.csv', line: 8 });
  });

  it('is the probable cause too where only earlier starts had messages accepted', () => {
    const { stop } = stopWith({ before: { accepted: 7, rejected: 0, firstSteps: 7, fellBack: 0 } });
    stop.note(verdict('pending', { halt: 'wrong-address' }), { line: 8, status: 501 });
    expect(stop.halt?.next).toMatch(/^7 messages of this run were accepted before, so it is probably this recipient: /);
  });

  it('is named without blame where nothing was accepted, or the answer is about the credit or a proxy', () => {
    const first = stopWith().stop;
    first.note(verdict('pending', { halt: 'wrong-address' }), { line: 2, status: 404 });
    expect(first.halt?.message).toContain('The answer was to people.csv:2.');
    expect(first.halt?.next).toContain('If it is right, the API says this of that recipient alone');
    expect(first.halt?.at).toBeUndefined();
    for (const status of [402, 407, 404, 410]) {
      const { stop } = stopWith();
      stop.note(verdict('accepted'));
      stop.note(refused, { line: 8, status });
      expect(stop.halt?.next).not.toMatch(PROBABLY);
      expect(stop.halt?.at).toBeUndefined();
    }
  });

  it('is not named where the request was for several recipients', () => {
    const { stop } = stopWith();
    stop.note(verdict('accepted'));
    stop.note(refused, { status: 403 });
    expect(stop.halt?.message).toBe('The API refused the account or the key (not-authorised).');
    expect(stop.halt?.next).not.toMatch(PROBABLY);
  });
});

describe('refusals', () => {
  const refuse = (stop: ReturnType<typeof createStop>, times: number) => {
    for (let i = 0; i < times; i++) stop.note(verdict('rejected'));
  };

  it('halts when the first 20 answers of a run are all rejections', () => {
    const { stop } = stopWith();
    refuse(stop, 19);
    expect(stop.halt).toBeNull();
    refuse(stop, 1);
    expect(stop.halt?.rule).toBe('refusals');
  });

  it('does not halt when one of them was accepted, in whatever start', () => {
    const one = stopWith().stop;
    one.note(verdict('accepted'));
    refuse(one, 40);
    expect(one.halt).toBeNull();
    const later = stopWith({ before: { accepted: 1, rejected: 0, firstSteps: 0, fellBack: 0 } }).stop;
    refuse(later, 40);
    expect(later.halt).toBeNull();
  });

  it('halts where the first 20 recipients cannot receive the channel, once in a run', () => {
    const first = stopWith().stop;
    for (let i = 0; i < 19; i++) first.fellBack();
    // What the fallback was accepted for says nothing about the channel.
    first.note(verdict('accepted'), { step: 1 });
    expect(first.halt).toBeNull();
    first.fellBack();
    expect(first.halt?.rule).toBe('refusals');
    const again = stopWith({ before: { accepted: 20, rejected: 0, firstSteps: 0, fellBack: 20 } }).stop;
    for (let i = 0; i < 40; i++) again.fellBack();
    expect(again.halt).toBeNull();
  });

  it('does not halt where a recipient could receive the channel', () => {
    const one = stopWith().stop;
    one.note(verdict('accepted'));
    for (let i = 0; i < 40; i++) one.fellBack();
    expect(one.halt).toBeNull();
  });

  it('counts several doubts of one request as one event in a row', () => {
    const { stop } = stopWith({ inFlight: 64 });
    stop.note(verdict('in-doubt'));
    for (let i = 0; i < 10; i++) stop.note(verdict('in-doubt'), { sameEvent: true });
    expect(stop.halt).toBeNull();
  });

  it('counts the first answers of a run over its starts, and halts once', () => {
    const second = stopWith({ before: { accepted: 0, rejected: 12, firstSteps: 0, fellBack: 0 } }).stop;
    refuse(second, 7);
    expect(second.halt).toBeNull();
    refuse(second, 1);
    expect(second.halt?.rule).toBe('refusals');
    const third = stopWith({ before: { accepted: 0, rejected: 20, firstSteps: 0, fellBack: 0 } }).stop;
    refuse(third, 40);
    expect(third.halt).toBeNull();
  });

  it('halts at limits.stopAfter.rejected', () => {
    const { stop } = stopWith({ limits: { stopAfterInDoubt: null, stopAfterRejected: { share: 0.0003 } } });
    stop.note(verdict('accepted'));
    refuse(stop, 2);
    expect(stop.halt).toBeNull();
    refuse(stop, 1);
    expect(stop.halt?.rule).toBe('refusals');
  });
});

it('halts when five recipients in a row could not be sent to', () => {
  const { stop } = stopWith();
  for (let i = 0; i < 4; i++) stop.note(verdict('failed', { reason: 'connect' }));
  stop.note(verdict('accepted'));
  for (let i = 0; i < 4; i++) stop.note(verdict('failed', { reason: 'connect' }));
  expect(stop.halt).toBeNull();
  stop.note(verdict('failed', { reason: 'connect' }));
  expect(stop.halt?.rule).toBe('api-down');
});

test.each<[error: string | null, reason: Reason, says: string]>([
  ['ECONNREFUSED: connect ECONNREFUSED 192.0.2.1:443', 'connect', 'connection refused'],
  ['ENOTFOUND: getaddrinfo ENOTFOUND api.example.com', 'dns', 'the host name is not known'],
  ['CERT_HAS_EXPIRED: certificate has expired', 'tls', 'its certificate has expired'],
  ['SOMETHING_NEW: secret', 'connect', 'SOMETHING_NEW'],
  [null, 'connect', 'connect'],
])('names the host and the reason where it cannot be reached, and nothing else: %s', (error, reason, says) => {
  const { stop } = stopWith();
  for (let i = 0; i < 5; i++) stop.note(verdict('failed', { error, reason }));
  expect(stop.halt?.message).toBe(
    `Cannot connect to api.example.com:443: ${says}. 5 recipients in a row could not be sent to.`,
  );
});

it('names the proxy without its password', () => {
  const api = { url: 'http://api.example.com', proxy: 'http://user:secret@proxy.example.com:3128' };
  const { stop } = stopWith({ api });
  const error = 'HANDBILL_PROXY: The proxy answered 403.';
  for (let i = 0; i < 5; i++) stop.note(verdict('failed', { error, reason: 'proxy' }));
  expect(stop.halt?.message).toBe(
    'Cannot connect to api.example.com:80 through the proxy proxy.example.com:3128: The proxy answered 403. 5 recipients in a row could not be sent to.',
  );
});

it('halts after nine at the latest where an API breaks connections now before, now after the first byte', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('failed', 'in-doubt'), { minLength: 9, maxLength: 9 }), (outcomes) => {
      const { stop } = stopWith({ inFlight: 64 });
      for (const outcome of outcomes) stop.note(verdict(outcome, { reason: 'connect' }));
      expect(stop.halt?.rule).toMatch(/^(?:api-down|doubt)$/);
    }),
  );
});

it('keeps the first rule that bites, and says it once', () => {
  const { stop, halts } = stopWith();
  stop.note(verdict('pending', { halt: 'not-authorised' }));
  stop.note(verdict('in-doubt', { halt: 'not-the-api' }));
  expect(stop.halt?.rule).toBe('not-authorised');
  expect(halts()).toBe(1);
});

test.each(HALT_RULES)('%s says what happened and what to do next', (rule) => {
  const { stop } = stopWith();
  stop.note(verdict('pending', { halt: rule }));
  expect(stop.halt?.message).toMatch(/^[A-Z].*\.$/);
  expect(stop.halt?.next).toMatch(/^[A-Z].*\.$/);
  expect(ledgerHalt(new Error('No room.')).next).not.toBe('');
});

test.each(['accepted', 'rejected'] as const)('an answer ends both rows that are counted: %s', (answer) => {
  const { stop } = stopWith({ before: { accepted: 1, rejected: 0, firstSteps: 0, fellBack: 0 } });
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 4; n++) {
      stop.note(verdict('in-doubt'));
      stop.note(verdict('failed'));
    }
    stop.note(verdict(answer));
  }
  expect(stop.halt).toBeNull();
});

it('says in the words of the API why it refuses the key, and that an answer broke off', () => {
  const refused = stopWith().stop;
  const error = 'Authenticate, +447700900123';
  refused.note(verdict('pending', { reason: 'not-authorised', halt: 'not-authorised', error }), {
    line: 8,
    status: 401,
  });
  expect(refused.halt?.message).toBe(
    'The API refused the account or the key (not-authorised). The answer was to people.csv:8. It says: Authenticate, +44••••••0123',
  );
  const page = stopWith().stop;
  page.note(verdict('pending', { reason: 'not-authorised', halt: 'not-authorised', error: '<html>403</html>' }), {
    line: 8,
  });
  expect(page.halt?.message).not.toContain('html');
  const cut = stopWith().stop;
  const broken = { reason: 'unrecognised', halt: 'not-the-api', error: 'UND_ERR_SOCKET: other side closed' } as const;
  cut.note(verdict('in-doubt', broken), { line: 8, status: 201 });
  expect(cut.halt?.message).toBe('The answer broke off (unrecognised). The answer was to people.csv:8.');
  const packed = stopWith().stop;
  const unread = 'HANDBILL_ENCODED_BODY: The answer is compressed, which was not asked for.';
  packed.note(verdict('in-doubt', { ...broken, error: unread }), { line: 8, status: 200 });
  expect(packed.halt?.message).toBe('The answer could not be read (unrecognised). The answer was to people.csv:8.');
});

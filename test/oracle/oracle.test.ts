import { expect, it } from 'vitest';
import { type Ending, type Evidence, violations } from './oracle.ts';
import type { Receipt } from './receipts.ts';

const ID = { 202: 'id-1' } as const;

function receipt(status: number | null, reference = 'anna', text = `to ${reference}`): Omit<Receipt, 'number'> {
  return { status, id: status === 202 ? ID[202] : null, text, reference };
}

function ending(outcome: Ending['outcome'], rest: Partial<Ending> = {}): Ending {
  return {
    line: 2,
    key: '+447400100000',
    outcome,
    reason: null,
    httpStatus: outcome === 'accepted' ? 202 : null,
    messageId: outcome === 'accepted' ? ID[202] : null,
    reference: 'anna',
    ...rest,
  };
}

function judged(
  endings: readonly Ending[],
  receipts: readonly Omit<Receipt, 'number'>[],
  more: Partial<Evidence> = {},
) {
  const numbered = receipts.map((one, at) => ({ ...one, number: at + 1 }));
  return violations({ lines: endings.map(({ line }) => line), endings, receipts: numbered, ...more });
}

const silent = receipt(null);
const KEPT: readonly [string, readonly Ending[], readonly Omit<Receipt, 'number'>[], Partial<Evidence>?][] = [
  ['accepted and received once', [ending('accepted')], [receipt(202)]],
  ['accepted after explicit refusals', [ending('accepted')], [receipt(429), receipt(425), receipt(401), receipt(202)]],
  ['in doubt and received', [ending('in-doubt')], [silent]],
  ['in doubt and never received', [ending('in-doubt')], []],
  ['rejected with its status', [ending('rejected', { httpStatus: 400 })], [receipt(400)]],
  ['rejected after only 429s', [ending('rejected', { httpStatus: 429 })], [receipt(429), receipt(429), receipt(429)]],
  ['pending after a refusal of no recipient', [ending('pending')], [receipt(403)]],
  ['pending after a 2xx that refuses the account', [ending('pending')], [{ ...receipt(200), said: 'account' }]],
  [
    'accepted after a 2xx that refused the account',
    [ending('accepted')],
    [{ ...receipt(200), said: 'account' }, receipt(202)],
  ],
  ['pending after a first 404', [ending('pending')], [receipt(404)]],
  [
    'pending after a 404 before anything was accepted',
    [ending('pending'), { ...ending('rejected', { httpStatus: 400 }), line: 3, reference: 'ben', key: 'b' }],
    [receipt(400, 'ben'), receipt(404)],
  ],
  ['rejected by a 404, as an earlier start was accepted', [ending('rejected', { httpStatus: 404 })], [receipt(404)]],
  [
    'accepted after the first 404 of an earlier start',
    [ending('accepted')],
    [receipt(404), receipt(202)],
    { starts: [0, 1] },
  ],
  [
    'accepted after a 410, before which the only 2xx was cut off',
    [ending('accepted'), { ...ending('in-doubt'), line: 3, reference: 'ben', key: 'b' }],
    [{ ...receipt(202, 'ben'), isUnreadable: true }, receipt(410), receipt(202)],
  ],
  ['accepted after an opt-in to retry', [ending('accepted')], [receipt(503), receipt(202)], { retryStatuses: [503] }],
  [
    'sent again because a person asked',
    [ending('accepted')],
    [silent, receipt(202)],
    { askedAgain: new Map([['anna', 1]]) },
  ],
  [
    'rejected, tried again, accepted',
    [ending('accepted')],
    [receipt(400), receipt(202)],
    { askedAgain: new Map([['anna', 1]]) },
  ],
  ['a duplicate row', [ending('accepted'), ending('skipped', { line: 3, reason: 'duplicate' })], [receipt(202)]],
  ['as previewed', [ending('accepted')], [receipt(202)], { previewed: new Map([['anna', 'to anna']]) }],
  ['as many crashes as can be', [ending('in-doubt', { reason: 'crash' })], [], { mostCrashes: 1 }],
];

it.each(KEPT)('is content with: %s', (_, endings, receipts, more) => {
  expect(judged(endings, receipts, more)).toEqual([]);
});

const other = (outcome: Ending['outcome']) => ending(outcome, { line: 3, reference: 'ben', key: 'b' });
const BROKEN: readonly [string, readonly Ending[], readonly Omit<Receipt, 'number'>[], Partial<Evidence>?][] = [
  ['accepted, received twice', [ending('accepted')], [receipt(202), receipt(202)]],
  ['in doubt, received twice', [ending('in-doubt')], [silent, silent]],
  ['received without an answer, then again', [ending('accepted')], [silent, receipt(202)]],
  ['received with 500, then again', [ending('accepted')], [receipt(500), receipt(202)]],
  ['accepted, never received', [ending('accepted')], []],
  ['accepted, but the account was refused', [ending('accepted')], [{ ...receipt(200), said: 'account' }]],
  ['pending, and a 2xx said no otherwise', [ending('pending')], [{ ...receipt(200), said: 'unclear' }]],
  [
    'sent again after a 2xx that said no otherwise',
    [ending('accepted')],
    [{ ...receipt(200), said: 'unclear' }, receipt(202)],
  ],
  ['accepted, but only refused', [ending('accepted')], [receipt(429)]],
  ['accepted with the id of another recipient', [ending('accepted', { messageId: 'id-2' })], [receipt(202)]],
  ['accepted without the id that was given', [ending('accepted', { messageId: null })], [receipt(202)]],
  ['rejected with another status', [ending('rejected', { httpStatus: 400 })], [receipt(422)]],
  ['rejected, never received', [ending('rejected', { httpStatus: 400 })], []],
  ['rejected after an accepted one', [ending('rejected', { httpStatus: 400 })], [receipt(202), receipt(400)]],
  ['failed, but received', [ending('failed')], [silent]],
  ['pending, but received', [ending('pending')], [receipt(202)]],
  ['pending after a later 404', [ending('pending'), other('accepted')], [receipt(202, 'ben'), receipt(404)]],
  [
    'accepted after a 410, before which a 2xx accepted another recipient',
    [ending('accepted'), other('accepted')],
    [receipt(202, 'ben'), receipt(410), receipt(202)],
  ],
  [
    'accepted after a 2xx that was cut off',
    [ending('accepted')],
    [{ ...receipt(202), isUnreadable: true }, receipt(202)],
  ],
  ['skipped, but received', [ending('skipped', { reason: 'suppressed' })], [receipt(202)]],
  ['deferred, but received', [ending('deferred')], [receipt(202)]],
  ['a row without an outcome', [ending('accepted')], [receipt(202)], { lines: [2, 3] }],
  ['a row with two outcomes', [ending('accepted'), ending('accepted')], [receipt(202)], { lines: [2, 3] }],
  ['an outcome of no row', [ending('accepted'), other('pending')], [receipt(202)], { lines: [2] }],
  ['received for no recipient of the list', [ending('accepted')], [receipt(202), receipt(202, 'eve')]],
  ['not what was previewed', [ending('accepted')], [receipt(202)], { previewed: new Map([['anna', 'to Anna']]) }],
  [
    'asked again once, sent three times',
    [ending('accepted')],
    [silent, silent, receipt(202)],
    { askedAgain: new Map([['anna', 1]]) },
  ],
  ['more crashes than can be', [ending('in-doubt', { reason: 'crash' })], [], { mostCrashes: 0 }],
];

it.each(BROKEN)('objects to: %s', (_, endings, receipts, more) => {
  expect(judged(endings, receipts, more)).not.toEqual([]);
});

import { expect, it } from 'vitest';
import type { DeliveryState } from '../../src/model.ts';
import { foldStates, stateOf } from '../../src/webhook/states.ts';

/** The table of public APIs: each word as they write it. */
const WORDS: Readonly<Record<DeliveryState, readonly string[]>> = {
  queued: ['Submitted', 'Queued', 'Scheduled', 'accepted', 'QUEUED_ON_CHANNEL', 'PENDING', 'buffered', 'ACCEPTD'],
  sent: [
    ...'Sent Dispatched Connecting sending PENDING_ENROUTE DELIVERED_TO_OPERATOR PartiallyDelivered'.split(' '),
    ...'partially_delivered ENROUTE'.split(' '),
  ],
  delivered: [
    'Delivered',
    'Acknowledged',
    'DELIVRD',
    'DELIVERED_TO_HANDSET',
    'delivered-to-handset',
    'message.delivered',
  ],
  read: ['read', 'READ', 'SEEN', 'displayed'],
  expired: ['Expired', 'EXPIRED', 'validityperiodexpired', 'EXPIRED_DLR_UNKNOWN', 'DELIVERY_TIMED_OUT'],
  undeliverable: ['undelivered', 'UNDELIVERABLE', 'UNDELIV', 'UNDELIVERABLE_NOT_DELIVERED', 'bounced'],
  failed: ['failed', 'Failed', 'Aborted', 'Deleted', 'delivery_failed', 'sending_failed', 'sms/failed'],
  rejected: ['Rejected', 'FailedAuthorisation', 'REJECTD', 'Cancelled', 'canceled'],
  unknown: ['Unknown', 'UNKNOWN'],
};

it.each(Object.entries(WORDS).flatMap(([state, words]) => words.map((word) => [word, state] as const)))(
  '%s is %s',
  (word, state) => {
    expect(stateOf(word, new Map())).toBe(state);
  },
);

it.each([
  '',
  'ok',
  'success',
  'parked',
  '3',
  'delivered soon',
  'not yet delivered',
  'x'.repeat(101),
  'constructor',
  '__proto__',
])('%o is none that is known', (word) => {
  expect(stateOf(word, new Map())).toBeNull();
});

it('words of the project come first, in any spelling', () => {
  const own = foldStates({ 'Handed-Over': 'sent', delivered: 'queued', '3': 'read' });
  expect(['HANDED_OVER', 'DELIVERED', '3'].map((word) => stateOf(word, own))).toEqual(['sent', 'queued', 'read']);
});

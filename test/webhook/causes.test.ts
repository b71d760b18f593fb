import { describe, expect, it } from 'vitest';
import type { DeliveryCause, DeliveryState } from '../../src/model.ts';
import { readOne } from './reading.ts';

const causeOf = (error: unknown, status: DeliveryState = 'failed'): unknown =>
  readOne({ messageId: 'm', status, error })['cause'] ?? null;

describe('what a report of a failure says', () => {
  it.each<[error: unknown, cause: DeliveryCause | null]>([
    [{ code: 'CHANNEL_NOT_SUPPORTED' }, 'unsupported-channel'],
    [{ code: 'RECIPIENT_INVALID_CHANNEL_IDENTITY' }, 'unsupported-channel'],
    ['not supported', 'unsupported-channel'],
    ['RCS not supported by handset', 'unsupported-channel'],
    ['Missing capability', 'unsupported-channel'],
    ['Recipient is not a WhatsApp user', 'unsupported-channel'],
    ['Not a valid WhatsApp number', 'unsupported-channel'],
    ['The user is not enabled for RCS', 'unsupported-channel'],
    ['The device does not support this', 'unsupported-channel'],
    ['File type not supported', null],
    ['Template parameter format unsupported', null],
    ['Unknown subscriber', 'gone'],
    ['The number does not exist', 'gone'],
    ['number no longer in service', 'gone'],
    [{ code: 5, permanent: true }, 'gone'],
    [{ code: 5, permanent: false }, null],
    ['Absent subscriber', null],
    [{ code: 'UNSUBSCRIBED' }, 'opted-out'],
    ['Recipient unsubscribed', 'opted-out'],
    ['USER_OPTED_OUT', 'opted-out'],
    ['Attempt to send to unsubscribed recipient', 'opted-out'],
    ['Destination is blacklisted', 'opted-out'],
    ['The person has unsubscribed from this account', 'opted-out'],
    ['Opted out from messages of this sender', 'opted-out'],
    ['Blocked due to STOP message', 'opted-out'],
    ['Missing unsubscribe link in the text', null],
    ['The text must hold opt-out instructions', null],
    ['Sender blacklisted', null],
    ['URL is on a block list', null],
    ['blacklisted content', null],
    ['Recipient has not opted in', null],
    ['No opt-out text in the message', null],
    ['Some other error', null],
  ])('%o: %s', (error, cause) => {
    expect(causeOf(error)).toBe(cause);
  });

  it('permanent means the address where the message was not deliverable, not where it was refused', () => {
    const error = { code: 5, permanent: true };
    expect(
      ['undeliverable', 'failed', 'rejected', 'expired'].map((state) => causeOf(error, state as DeliveryState)),
    ).toEqual(['gone', 'gone', null, null]);
  });

  it('nothing is missing where a message is on its way or has arrived', () => {
    for (const state of ['queued', 'sent', 'delivered', 'read'] as const)
      expect(causeOf({ code: 'unsubscribed' }, state)).toBeNull();
  });

  it.each(['1190', '1240', '1300', '21610', '30005', '63003', '131026', '131050', '404'])(
    'the number %s has a meaning only where a provider file gives it one',
    (code) => {
      const event = { messageId: 'm', status: 'failed', channel: 'RCS', error: { code } };
      expect(readOne(event)['cause']).toBeUndefined();
      expect(readOne(event, { optedOut: [code] })['cause']).toBe('opted-out');
      expect(readOne(event, { permanent: [code] })['cause']).toBe('gone');
      expect(readOne(event, { unsupported: [code] })['cause']).toBe('unsupported-channel');
    },
  );

  it('every number of the API is compared whole', () => {
    const event = { messageId: 'm', status: 'failed', error: { code: 13001 } };
    expect(readOne(event, { unsupported: ['1300'] })['cause']).toBeUndefined();
  });

  it('an unknown state can have a cause', () => {
    expect(readOne({ messageId: 'm', status: 'odd', error: { code: 'opted-out' } })).toMatchObject({
      state: 'unknown',
      cause: 'opted-out',
    });
  });

  it('codes of the project come first', () => {
    const event = { messageId: 'm', status: 'failed', error: { code: 'unknown-subscriber', message: 'Absent' } };
    expect(readOne(event)['cause']).toBe('gone');
    expect(readOne(event, { unsupported: ['unknown-subscriber'] })['cause']).toBe('unsupported-channel');
    expect(readOne({ ...event, error: 'No such Line' }, { unsupported: ['no-such-line'] })['cause']).toBe(
      'unsupported-channel',
    );
  });
});

import { describe, expect, it } from 'vitest';
import type { DeliveryCause, DeliveryState } from '../../src/model.ts';
import { readOne } from './reading.ts';

const causeOf = (error: unknown, status: DeliveryState = 'failed', rest: object = {}): unknown =>
  readOne({ messageId: 'm', status, error, ...rest })['cause'] ?? null;

describe('what a report of a failure says', () => {
  it.each<[error: unknown, cause: DeliveryCause | null]>([
    [{ code: '1300' }, 'unsupported-channel'],
    [{ code: 1300 }, 'unsupported-channel'],
    [{ code: 'CHANNEL_NOT_SUPPORTED' }, 'unsupported-channel'],
    [{ code: 'RECIPIENT_INVALID_CHANNEL_IDENTITY' }, 'unsupported-channel'],
    [{ code: 131026, title: 'Message undeliverable' }, 'unsupported-channel'],
    ['not supported', 'unsupported-channel'],
    ['RCS not supported by handset', 'unsupported-channel'],
    ['Missing capability', 'unsupported-channel'],
    ['Recipient is not a WhatsApp user', 'unsupported-channel'],
    ['Not a valid WhatsApp number', 'unsupported-channel'],
    ['The user is not enabled for RCS', 'unsupported-channel'],
    ['The device does not support this', 'unsupported-channel'],
    ['File type not supported', null],
    ['Template parameter format unsupported', null],
    [{ code: 1190 }, 'gone'],
    ['Unknown subscriber', 'gone'],
    ['The number does not exist', 'gone'],
    ['number no longer in service', 'gone'],
    [{ code: 5, permanent: true }, 'gone'],
    [{ code: 5, permanent: false }, null],
    ['Absent subscriber', null],
    [{ code: 1240 }, 'opted-out'],
    [{ code: '21610' }, 'opted-out'],
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
    [{ code: 13001 }, null],
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
      expect(causeOf({ code: 1240 }, state)).toBeNull();
  });

  it('404 is about the person where the channel is RCS', () => {
    expect(causeOf({ code: 404 }, 'failed', { channel: 'RCS' })).toBe('unsupported-channel');
    expect(causeOf({ code: 404 }, 'failed', { channel: 'SMS' })).toBeNull();
  });

  it('an unknown state can have a cause', () => {
    expect(readOne({ messageId: 'm', status: 'odd', error: { code: 21610 } })).toMatchObject({
      state: 'unknown',
      cause: 'opted-out',
    });
  });

  it('codes of the project come first', () => {
    const event = { messageId: 'm', status: 'failed', error: { code: '1190', message: 'Absent' } };
    expect(readOne(event, { unsupported: ['1190'] })['cause']).toBe('unsupported-channel');
    expect(readOne({ ...event, error: 'No such Line' }, { unsupported: ['no-such-line'] })['cause']).toBe(
      'unsupported-channel',
    );
  });
});

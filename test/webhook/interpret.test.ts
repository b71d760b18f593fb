import { hash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AT, fixture, interpret, said } from './reading.ts';

const PERSON = '+447700900123';
const OURS = '+447700900000';
const report = (rest: object): object => ({ kind: 'delivery', atMs: AT, ...rest });
const reply = (rest: object): object => ({ kind: 'reply', meaning: 'answer', atMs: AT, from: PERSON, ...rest });
const sha256 = (text: string): string => hash('sha256', text, 'hex');
const reference = (letter: string): string => letter.repeat(22);

/** What each fixture says, without what is null. */
const SHAPES: Readonly<Record<string, readonly object[]>> = {
  'plain-report.json': [report({ messageId: 'm-1', reference: reference('A'), state: 'delivered', word: 'delivered' })],
  'plain-reply.json': [reply({ to: 'Riverside', text: 'STOP', meaning: 'opt-out' })],
  'own-api-report.json': [
    report({
      messageId: 'm-2',
      reference: reference('B'),
      address: PERSON,
      channel: 'sms',
      state: 'undeliverable',
      word: 'Undelivered',
      error: '1300: Not part of the provider network',
      textHash: sha256('Your parcel is here.'),
      atMs: AT + 123,
    }),
  ],
  'vonage-report.json': [
    report({
      messageId: 'aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab',
      reference: reference('C'),
      address: PERSON,
      channel: 'sms',
      state: 'undeliverable',
      word: 'undeliverable',
      error: '1190: Absent Subscriber - Permanent',
    }),
  ],
  'vonage-inbound.json': [
    reply({
      replyId: 'aaaaaaaa-bbbb-4ccc-8ddd-0123456789ac',
      messageId: 'm-7',
      to: OURS,
      channel: 'messaging-app',
      text: 'Yes please',
    }),
  ],
  'vonage-sms-report.json': [
    report({ messageId: '0A0000000123ABCD1', address: PERSON, state: 'delivered', word: 'delivered' }),
  ],
  'vonage-sms-inbound.json': [reply({ replyId: '0A0000000123ABCD2', to: OURS, text: 'Stop', meaning: 'opt-out' })],
  'infobip-reports.json': [
    report({
      messageId: 'm-1',
      reference: reference('D'),
      address: PERSON,
      channel: 'sms',
      state: 'delivered',
      word: 'DELIVERED_TO_HANDSET',
    }),
    report({
      messageId: 'm-2',
      address: '+447700900124',
      channel: 'rcs',
      state: 'undeliverable',
      word: 'UNDELIVERABLE_NOT_DELIVERED',
      cause: 'gone',
      error: '1: Unknown Subscriber',
    }),
    report({ messageId: 'm-3', address: '+447700900125', channel: 'sms', state: 'sent', word: 'PENDING_ENROUTE' }),
    report({
      messageId: 'm-4',
      address: '+447700900126',
      channel: 'sms',
      state: 'rejected',
      word: 'REJECTED',
      error: 'Something new',
    }),
  ],
  'infobip-seen.json': [
    report({ messageId: 'm-1', address: PERSON, channel: 'messaging-app', state: 'read', word: 'SEEN' }),
  ],
  'infobip-inbound.json': [reply({ replyId: 'in-1', messageId: 'm-1', to: OURS, channel: 'sms', text: 'STOP now' })],
  'infobip-whatsapp-inbound.json': [reply({ replyId: 'in-2', to: OURS, channel: 'messaging-app', text: 'Hello' })],
  'whatsapp.json': [
    report({ messageId: 'wamid.1', address: PERSON, channel: 'messaging-app', state: 'read', word: 'read' }),
    report({
      messageId: 'wamid.2',
      reference: reference('E'),
      address: '+447700900124',
      channel: 'messaging-app',
      state: 'failed',
      word: 'failed',
      error: '131026: Message undeliverable',
    }),
    reply({ replyId: 'wamid.3', messageId: 'wamid.1', to: OURS, channel: 'messaging-app', text: 'Arrêt' }),
    { kind: 'unread', body: expect.stringContaining('image/jpeg') },
    { kind: 'unread', body: expect.stringContaining('DISABLED_UPDATE') },
  ],
  'telnyx-report.json': [
    report({
      messageId: 'm-1',
      eventId: 'e-1',
      address: PERSON,
      channel: 'sms',
      state: 'failed',
      word: 'delivery_failed',
      cause: 'opted-out',
      error: '40300: Messages cannot be sent: recipient opted out',
      textHash: sha256('Your parcel is here.'),
      atMs: AT + 123,
    }),
  ],
  'telnyx-group-report.json': [
    report({
      messageId: 'm-9',
      eventId: 'e-3',
      address: PERSON,
      channel: 'sms',
      state: 'delivered',
      word: 'delivered',
    }),
    report({
      messageId: 'm-9',
      eventId: 'e-3',
      address: '+447700900124',
      channel: 'sms',
      state: 'failed',
      word: 'sending_failed',
    }),
  ],
  'telnyx-inbound.json': [reply({ replyId: 'in-1', to: OURS, channel: 'sms', text: 'stop', meaning: 'opt-out' })],
  'twilio-report.form': [
    {
      kind: 'delivery',
      messageId: 'SM0123456789',
      address: PERSON,
      state: 'failed',
      word: 'failed',
      error: '21610',
    },
  ],
  'twilio-whatsapp-report.form': [
    { kind: 'delivery', messageId: 'SM01', address: PERSON, channel: 'messaging-app', state: 'read', word: 'read' },
  ],
  'twilio-inbound.form': [
    { kind: 'reply', meaning: 'answer', replyId: 'SM02', from: PERSON, to: OURS, text: 'Stop please' },
  ],
  'sinch-sms-report.json': [
    report({
      messageId: 'm-1',
      reference: reference('F'),
      address: PERSON,
      channel: 'sms',
      state: 'sent',
      word: 'Dispatched',
    }),
  ],
  'sinch-sms-batch-report.json': [
    { kind: 'delivery', messageId: 'm-1', address: PERSON, channel: 'sms', state: 'delivered', word: 'Delivered' },
    {
      kind: 'delivery',
      messageId: 'm-1',
      address: '+447700900124',
      channel: 'sms',
      state: 'delivered',
      word: 'Delivered',
    },
    {
      kind: 'delivery',
      messageId: 'm-1',
      address: '+447700900125',
      channel: 'sms',
      state: 'failed',
      word: 'Aborted',
      error: '400',
    },
  ],
  'sinch-sms-inbound.json': [reply({ replyId: 'in-1', to: OURS, text: 'STOP', meaning: 'opt-out' })],
  'sinch-conversation-report.json': [
    report({
      messageId: 'm-1',
      address: PERSON,
      channel: 'rcs',
      state: 'failed',
      word: 'FAILED',
      cause: 'unsupported-channel',
      error: 'RECIPIENT_INVALID_CHANNEL_IDENTITY: Not reachable by RCS',
    }),
  ],
  'sinch-conversation-inbound.json': [
    reply({ replyId: 'in-1', to: OURS, channel: 'messaging-app', text: 'Stop', meaning: 'opt-out' }),
  ],
  'esendex-failed.json': [
    report({
      messageId: 'm-1',
      eventId: 'e-1',
      state: 'failed',
      cause: 'gone',
      error: '9: The number does not exist',
    }),
  ],
  'esendex-delivered.json': [
    report({ messageId: 'm-1', eventId: 'e-2', state: 'delivered', word: 'MessageDelivered' }),
  ],
  'esendex-inbound.json': [
    { kind: 'reply', meaning: 'opt-out', replyId: 'in-1', from: PERSON, to: OURS, text: 'STOP' },
  ],
  'esendex-bare.json': [{ kind: 'unread', body: expect.stringContaining('"MessageId":"m-1"') }],
  'standard-webhooks.json': [
    report({ messageId: 'm-1', address: PERSON, state: 'delivered', word: 'message.delivered' }),
  ],
  'messagebird-report.form': [
    report({
      messageId: 'm-1',
      reference: reference('G'),
      address: PERSON,
      state: 'failed',
      word: 'delivery_failed',
      cause: 'gone',
      error: '1: unknown subscriber',
    }),
  ],
  'bird-inbound.json': [reply({ replyId: 'in-1', to: OURS, channel: 'sms', text: 'STOP', meaning: 'opt-out' })],
  'lines.jsonl': [
    report({ messageId: 'm-1', state: 'sent', word: 'sent' }),
    report({ messageId: 'm-2', state: 'delivered', word: 'DELIVRD' }),
    { kind: 'unread', body: '"{\\"messageId\\": broken"' },
  ],
};

it.each(Object.entries(SHAPES))('%s', (name, events) => {
  const read = interpret(fixture(name));
  expect(read.problems).toEqual([]);
  expect(read.events.map(said)).toEqual(events);
});

it('every fixture is read here', () => {
  const names = readdirSync(join(import.meta.dirname, '..', 'fixtures', 'webhook'));
  expect(names.filter((name) => /\.(?:json|jsonl|form)$/.test(name)).sort()).toEqual(Object.keys(SHAPES).sort());
});

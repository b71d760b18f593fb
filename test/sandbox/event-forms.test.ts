import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { DeliveryCause, DeliveryState, WebhookEvent } from '../../src/model.ts';
import { EVENT_FORMS } from '../../src/sandbox/dialects.ts';
import { DIALECT_NAMES, type DialectName } from '../../src/sandbox/openapi.ts';
import {
  type Beat,
  ERRORS,
  reply,
  report,
  respell,
  type SandboxEvent,
  type Spelling,
  type Subject,
  unsupportedOn,
} from '../../src/sandbox/story.ts';
import { createInterpreter } from '../../src/webhook/interpret.ts';

const AT_MS = Date.UTC(2026, 10, 21, 9, 0, 0, 412);
const SUBJECT: Subject = {
  messageId: 'sbx-9f1c22a7d0-3',
  to: '+447700900123',
  sender: 'Riverside',
  channel: 'RCS',
  echo: { metaData: { handbill: 'reference-of-22-chars-' } },
};

/** Without any mapping of a project. */
const READER = createInterpreter(
  { events: null, fields: {}, states: {}, unsupported: [] },
  {
    address: (written) => (/^[+\d ]+$/.test(written) ? `+${written.replace(/^(?:\+|00)|\s/g, '')}` : written),
    meaningOf: () => 'answer',
    channels: [],
    referenceNames: [],
  },
);

function read(dialect: DialectName, beats: readonly Beat[], subject = SUBJECT): readonly WebhookEvent[] {
  const events = beats.map((beat): SandboxEvent => ({ subject, beat, atMs: AT_MS }));
  return READER.interpret(Buffer.from(JSON.stringify(EVENT_FORMS[dialect](events))), AT_MS).events;
}

/** Two dialects have whole seconds. */
const TIMES: Readonly<Record<DialectName, number>> = {
  default: AT_MS,
  'top-level': AT_MS - 412,
  'per-recipient': AT_MS,
  problem: AT_MS - 412,
};

const BEATS: readonly (readonly [Beat, DeliveryState, DeliveryCause | null])[] = [
  [report('queued'), 'queued', null],
  [report('sent'), 'sent', null],
  [report('delivered'), 'delivered', null],
  [report('read'), 'read', null],
  [report('expired', ERRORS.absent), 'expired', null],
  [report('failed', ERRORS.network), 'failed', null],
  [report('undeliverable', unsupportedOn('RCS')), 'undeliverable', 'unsupported-channel'],
  [report('undeliverable', ERRORS.gone), 'undeliverable', 'gone'],
  [report('rejected', ERRORS.blocked), 'rejected', null],
  [report('rejected', ERRORS.optedOut), 'rejected', 'opted-out'],
  [report('unheard-of'), 'unknown', null],
];

/** What a dialect has no word for: it says the next best. */
function stateIn(dialect: DialectName, state: DeliveryState): DeliveryState {
  if (dialect === 'problem' && ['expired', 'undeliverable', 'rejected'].includes(state)) return 'failed';
  return dialect === 'per-recipient' && state === 'failed' ? 'undeliverable' : state;
}

describe.each(DIALECT_NAMES)('events in the form of %s are read without a mapping', (dialect) => {
  test.each(BEATS)('$word $error.code', (beat, state, cause) => {
    expect(read(dialect, [beat])).toMatchObject([
      {
        kind: 'delivery',
        state: stateIn(dialect, state),
        cause,
        messageId: SUBJECT.messageId,
        reference: 'reference-of-22-chars-',
        address: '+447700900123',
        atMs: TIMES[dialect],
      },
    ]);
  });

  test('a reply', () => {
    expect(read(dialect, [reply('ＳＴＯＰ\u200b')])).toMatchObject([
      { kind: 'reply', from: '+447700900123', text: 'ＳＴＯＰ\u200b', atMs: TIMES[dialect] },
    ]);
  });

  test('several of both kinds in one post', () => {
    const kinds = read(dialect, [report('sent'), reply('1'), report('delivered'), reply('2')]).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['delivery', 'delivery', 'reply', 'reply']);
  });

  test('a quoted text makes no reply of a report', () => {
    const subject = { ...SUBJECT, echo: { text: 'Hello Zoë' } };
    const textHash = hash('sha256', 'Hello Zoë');
    expect(read(dialect, [report('delivered')], subject)).toMatchObject([{ kind: 'delivery', textHash }]);
  });

  test('nothing but the id', () => {
    const found = read(dialect, [report('delivered')], { ...SUBJECT, echo: {} });
    expect(found).toMatchObject([{ kind: 'delivery', reference: null, messageId: SUBJECT.messageId }]);
  });
});

test('the forms as docs/reference/sandbox-webhooks.md shows them', () => {
  const both = [report('undeliverable', unsupportedOn('RCS')), reply('STOP')];
  const [said, replied] = both.map((beat): SandboxEvent => ({ subject: SUBJECT, beat, atMs: AT_MS }));
  if (said === undefined || replied === undefined) throw new Error('unreachable');
  expect(EVENT_FORMS.default([said])).toEqual({
    messageId: 'sbx-9f1c22a7d0-3',
    status: 'undeliverable',
    timestamp: '2026-11-21T09:00:00.412Z',
    error: { code: 'channel-not-supported', detail: 'The recipient cannot receive RCS: channel not supported.' },
    to: '+447700900123',
    channel: 'RCS',
    metaData: { handbill: 'reference-of-22-chars-' },
  });
  expect(EVENT_FORMS.default([replied])).toEqual({
    from: '+447700900123',
    to: 'Riverside',
    text: 'STOP',
    timestamp: '2026-11-21T09:00:00.412Z',
  });
});

test.each<[to: string, Spelling, written: string]>([
  ['+447700900614', 'as-sent', '+447700900614'],
  ['447700900614', 'as-sent', '447700900614'],
  ['+447700900614', 'digits', '447700900614'],
  ['447700900614', 'double-zero', '00447700900614'],
  ['+447700900614', 'spaces', '+44 7700 900614'],
  ['+4915112345678', 'national', '015112345678'],
  ['+12025550123', 'national', '12025550123'],
  ['zoe+605@example.com', 'spaces', 'zoe+605@EXAMPLE.COM'],
  ['c0a8012e', 'double-zero', 'c0a8012e'],
])('%s, %s, is written %s', (to, spelling, written) => {
  expect(respell(to, spelling)).toBe(written);
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DELIVERY_CAUSES, DELIVERY_STATES, type WebhookEvent } from '../../src/model.ts';
import { createInterpreter, MAX_EVENTS } from '../../src/webhook/interpret.ts';
import { damage, damaged } from './mutate.ts';
import { runs, TIMEOUT_MS } from './runs.ts';
import { words } from './words.ts';

const FOLDER = join(import.meta.dirname, '..', 'fixtures', 'webhook');
const SHAPES = readdirSync(FOLDER).map((name) => readFileSync(join(FOLDER, name), 'utf8'));
const NOW = Date.UTC(2026, 10, 21, 10);
const MOST_BYTES = 64 * 1024;
/** Ten times what the slowest body was seen to need on a busy machine: what grows with the square takes minutes. */
const MOST_MS = 2_000;

const NAMES = [
  ...'messageId status results data entry recipients to from text error timestamp id'.split(' '),
  ...['metaData', 'handbill', 'payload', 'message', 'type', '__proto__', 'constructor', 'toJSON', 'length', '0', ''],
];
const VALUES = [
  'delivered',
  'DELIVRD',
  'inbound',
  'STOP',
  '+447700900123',
  '2026-11-21T09:00:00Z',
  '1795251600',
  '1300',
];

const anything = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 12, depthSize: 'large' },
    fc.oneof(
      fc.constantFrom(...VALUES),
      fc.string({ maxLength: 12 }),
      fc.integer(),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie('value'), { maxLength: 6 }),
    fc
      .array(fc.tuple(fc.oneof(fc.constantFrom(...NAMES), fc.string({ maxLength: 6 })), tie('value')), { maxLength: 8 })
      .map((entries) => Object.fromEntries(entries)),
  ),
})).value;

const wide = fc
  .record({ unit: fc.constantFrom('{}', '[]', '1', '{"status":"sent","messageId":"m"}', '"x"'), count: fc.nat(20_000) })
  .chain(({ unit, count }) =>
    fc.constantFrom('results', 'recipients', 'to', 'errors', 'entry').map((name) => {
      const list = Array.from({ length: count }, () => unit).join(',');
      return `{"messageId":"m","status":"failed","${name}":[${list}]}`.slice(0, MOST_BYTES);
    }),
  );

const body: fc.Arbitrary<Uint8Array> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom(...SHAPES), damage([...words('json'), ...NAMES, ...VALUES]))
      .map(([shape, { edits, spelling }]) => damaged(shape, edits, spelling)),
  },
  { weight: 6, arbitrary: anything.map((value) => Buffer.from(JSON.stringify(value) ?? '')) },
  { weight: 1, arbitrary: wide.map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }) },
);

it(
  'whatever a body holds, it is read or refused in bounded time, and every event is whole',
  () => {
    const interpreters = [{}, { status: ['/status', '/a/b'], messageId: ['/recipients/0/id', '/__proto__/id'] }].map(
      (fields) =>
        createInterpreter(
          {
            events: null,
            fields,
            states: { odd: 'sent' },
            unsupported: ['E7'],
            permanent: [],
            optedOut: [],
            optOut: undefined,
          },
          {
            address: (text) => (text.includes('@') ? text : null),
            meaningOf: () => 'answer',
            referenceOf: (text) => text,
            messageIdOf: (text) => text,
            channels: [],
          },
        ),
    );
    const property = fc.property(body, fc.nat(1), (bytes, which) => {
      const began = performance.now();
      const read = interpreters[which]?.interpret(bytes.subarray(0, MOST_BYTES), NOW);
      expect(performance.now() - began).toBeLessThan(MOST_MS);
      expect(read?.events.length).toBeLessThanOrEqual(MAX_EVENTS);
      expect(read?.problems.length === 0 || read?.events.length === 0).toBe(true);
      for (const event of read?.events ?? []) checkEvent(event);
      expect(Object.keys(Object.prototype)).toEqual([]);
    });
    fc.assert(property, runs(1_500, 20_000));
  },
  TIMEOUT_MS,
);

/** What the ledger and reports rely on. */
function checkEvent(event: WebhookEvent): void {
  if (event.kind === 'unread') {
    expect(event.body.length).toBeLessThanOrEqual(MOST_BYTES);
    return;
  }
  const ids = [event.reference, event.messageId, event.channel];
  if (event.kind === 'delivery') {
    expect(DELIVERY_STATES).toContain(event.state);
    expect([null, ...DELIVERY_CAUSES]).toContain(event.cause);
    expect([event.reference, event.messageId, event.address].some((id) => id !== null)).toBe(true);
    expect(event.error?.length ?? 0).toBeLessThanOrEqual(500);
    expect(event.word?.length ?? 0).toBeLessThanOrEqual(100);
    ids.push(event.eventId, event.textHash);
  } else {
    expect(event.from).not.toBe('');
    ids.push(event.replyId);
  }
  for (const id of ids) expect(id === null || (id !== '' && id.length <= 200)).toBe(true);
  expect(event.atMs === null || (event.atMs >= Date.UTC(2000, 0) && event.atMs <= NOW + 86_400_000)).toBe(true);
}

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { WebhookEvent } from '../../src/model.ts';
import { AT, fixture, interpret, interpreter, NOW } from './reading.ts';

const FOLDER = join(import.meta.dirname, '..', 'fixtures', 'webhook');
const BODIES = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(fixture(name).toString()) as unknown);

it('the order of keys does not matter', () => {
  fc.assert(
    fc.property(fc.constantFrom(...BODIES), fc.infiniteStream(fc.nat()), (body, chance) => {
      const shuffled = JSON.stringify(shuffleKeys(body, () => chance.next().value ?? 0));
      // What is not understood is kept as it was written.
      expect(understood(interpret(shuffled).events)).toEqual(understood(interpret(JSON.stringify(body)).events));
    }),
  );
});

it('nor does the order of events, nor who shares a body', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...BODIES), { maxLength: 6 }), (bodies) => {
      const alone = bodies.map((body) => interpret(JSON.stringify(body)).events);
      expect(interpret(JSON.stringify(bodies)).events).toEqual(alone.flat());
      expect(interpret(JSON.stringify(bodies.toReversed())).events).toEqual(alone.toReversed().flat());
      if (bodies.length < 2) return;
      const lines = bodies.map((body) => JSON.stringify(body)).join('\n');
      expect(interpret(lines).events).toEqual(alone.flat());
    }),
  );
});

it('a reader remembers nothing of what it read before', () => {
  const { interpret: read } = interpreter();
  const first = BODIES.map((body) => read(Buffer.from(JSON.stringify(body)), NOW));
  expect(BODIES.map((body) => read(Buffer.from(JSON.stringify(body)), NOW))).toEqual(first);
});

const SPELLINGS = [
  (name: string) => name,
  (name: string) => `${name[0]?.toUpperCase()}${name.slice(1)}`,
  (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
  (name: string) => name.toUpperCase(),
];
const ENVELOPES = [
  (event: unknown) => event,
  (event: unknown) => [event],
  (event: unknown) => ({ results: [event] }),
  (event: unknown) => ({ data: event }),
  (event: unknown) => ({ entry: [{ changes: [{ value: { statuses: [event] } }] }] }),
  (event: unknown) => ({ Anything: event }),
];
const TIMES = [
  '2026-11-21T09:00:00Z',
  '2026-11-21T09:00:00.000+0000',
  '2026-11-21T10:00:00.0000000+01:00',
  AT,
  AT / 1000,
  String(AT / 1000),
];
const NUMBERS = ['+447700900123', '447700900123', '00447700900123', '07700900123', 447700900123];
const STATES = ['undeliverable', 'UNDELIVERED', 'Un-Deliverable', 'UNDELIV'];

it('however it is spelt, a report is the same report', () => {
  const choices = fc.record({
    spelling: fc.constantFrom(...SPELLINGS),
    envelope: fc.constantFrom(...ENVELOPES),
    at: fc.constantFrom(...TIMES),
    to: fc.constantFrom(...NUMBERS),
    status: fc.constantFrom(...STATES),
    id: fc.constantFrom('messageId', 'messageUuid', 'messageSid', 'id'),
    whom: fc.constantFrom('to', 'msisdn', 'destination', 'recipient'),
    time: fc.constantFrom('timestamp', 'doneAt', 'occurredAt', 'statusDatetime'),
  });
  fc.assert(
    fc.property(choices, ({ spelling, envelope, at, to, status, id, whom, time }) => {
      const event = { [id]: 'm-1', [whom]: to, status, [time]: at, channel: 'sms', error: { code: '7' }, extra: 1 };
      const spelt = Object.fromEntries(Object.entries(event).map(([name, value]) => [spelling(name), value]));
      const [read, ...others] = interpret(JSON.stringify(envelope(spelt))).events;
      expect(others).toEqual([]);
      expect({ ...read, word: null }).toEqual({
        kind: 'delivery',
        reference: null,
        messageId: 'm-1',
        address: '+447700900123',
        channel: 'sms',
        state: 'undeliverable',
        word: null,
        cause: null,
        error: '7',
        textHash: null,
        atMs: AT,
        eventId: null,
      });
    }),
  );
});

function understood(events: readonly WebhookEvent[]): readonly WebhookEvent[] {
  return events.filter(({ kind }) => kind !== 'unread');
}

function shuffleKeys(value: unknown, chance: () => number): unknown {
  if (Array.isArray(value)) return value.map((inner) => shuffleKeys(inner, chance));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => ({
    name,
    inner: shuffleKeys(inner, chance),
    at: chance(),
  }));
  return Object.fromEntries(entries.sort((a, b) => a.at - b.at).map(({ name, inner }) => [name, inner]));
}

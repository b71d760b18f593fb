import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventMapping, WebhookEvent } from '../../src/model.ts';
import { createReportedAddressReader } from '../../src/recipients/address.ts';
import { createInterpreter, type Interpretation } from '../../src/webhook/interpret.ts';

export const NOW = Date.UTC(2026, 10, 21, 10);
/** When everything in the fixtures happened. */
export const AT = Date.UTC(2026, 10, 21, 9);

const FOLDER = join(import.meta.dirname, '..', 'fixtures', 'webhook');

export function fixture(name: string): Buffer {
  return readFileSync(join(FOLDER, name));
}

const DEFAULT_MAPPING: EventMapping = {
  events: null,
  fields: {},
  states: {},
  unsupported: [],
  permanent: [],
  optedOut: [],
  optOut: undefined,
};

/** An interpreter of a British project, in which every text is an answer but STOP. */
export function interpreter(mapping: Partial<EventMapping> = {}) {
  return createInterpreter(
    { ...DEFAULT_MAPPING, ...mapping },
    {
      address: createReportedAddressReader('GB'),
      messageIdOf: (text: string) => text,
      referenceOf: (text) => text,
      meaningOf: (text) => (/^stop$/i.test(text) ? 'opt-out' : 'answer'),
      channels: [['WhatsAppNumber', 'messaging-app']],
    },
  );
}

export function interpret(body: string | Uint8Array, mapping: Partial<EventMapping> = {}): Interpretation {
  return interpreter(mapping).interpret(Buffer.from(body), NOW);
}

export function eventsOf(value: unknown, mapping: Partial<EventMapping> = {}): readonly WebhookEvent[] {
  const { events, problems } = interpret(JSON.stringify(value), mapping);
  if (problems.length > 0) throw new Error(problems[0]?.message);
  return events;
}

/** The only event of a document, without what is null. */
export function readOne(value: unknown, mapping: Partial<EventMapping> = {}): Record<string, unknown> {
  const events = eventsOf(value, mapping);
  if (events.length !== 1) throw new Error(`${events.length} events`);
  return said(events[0]);
}

/** An event without what is null. */
export function said(event: WebhookEvent | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(event ?? {}).filter(([, value]) => value !== null));
}

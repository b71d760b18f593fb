import { isUtf8 } from 'node:buffer';
import { addressesOf, bareNumber } from './addresses.ts';
import type { Message } from './check-message.ts';
import type { Received } from './inbox.ts';

/** What `GET /sandbox/messages` and a receipt say of one request. */
export interface ReceivedView {
  /** Counts from 1. */
  readonly number: number;
  /** ISO 8601 in UTC. */
  readonly receivedAt: string;
  /** null where the connection was broken or left silent instead of answered. */
  readonly status: number | null;
  /** Last three digits of the number that chose a scripted answer; null without one. */
  readonly scenario: string | null;
  /** The id that the answer gives to the client; null where it gives none. */
  readonly id: string | null;
  /** Numbers, email addresses and contact ids; empty where the body is not a message. */
  readonly to: readonly string[];
  /** Those of them that were refused inside an answer of success. */
  readonly refused: readonly string[];
  /** The body as text, exactly as it came; null where it is not UTF-8. */
  readonly text: string | null;
  /** The body as JSON; null where it is not a message. */
  readonly body: unknown;
}

/**
 * One request as a line of JSON. The body is put in as it came, not parsed and written again: that could overflow the
 * stack for a body of a million brackets. Line breaks can stand only between its tokens, where spaces do as well.
 */
export function receivedJson(entry: Received): string {
  const text = isUtf8(entry.bytes) ? entry.bytes.toString('utf8') : null;
  const body = entry.isMessage ? text : null;
  const view: Omit<ReceivedView, 'body'> = {
    number: entry.number,
    receivedAt: new Date(entry.receivedAtMs).toISOString(),
    status: entry.status,
    scenario: entry.scenario,
    id: entry.id,
    to: body === null ? [] : addressesOf(JSON.parse(body) as Message),
    refused: entry.refused,
    text,
  };
  return `${JSON.stringify(view).slice(0, -1)},"body":${body === null ? null : body.replace(/[\r\n]/g, ' ')}}`;
}

/** Whether a request went to this address. A plus in a query is a space, and people leave it out: it does not count. */
export function isTo(entry: Received, address: string): boolean {
  if (!entry.isMessage) return false;
  const wanted = bareNumber(address.trim());
  const addresses = addressesOf(JSON.parse(entry.bytes.toString('utf8')) as Message);
  return addresses.some((to) => bareNumber(to) === wanted);
}

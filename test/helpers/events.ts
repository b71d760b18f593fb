import { openLedger } from '../../src/ledger/open.ts';
import type { DeliveryReport, Reply, WebhookEvent } from '../../src/model.ts';

/** A delivery report that says nothing but this, and that a message was delivered. */
export function deliveryOf(changes: Partial<DeliveryReport>): DeliveryReport {
  const ids = { reference: null, messageId: null, address: null, channel: null, eventId: null };
  const words = { word: null, cause: null, error: null, textHash: null, atMs: null };
  return { kind: 'delivery', ...ids, ...words, state: 'delivered', ...changes };
}

/** A reply that says nothing but this, and that is an answer. */
export function replyOf(changes: Partial<Reply> & Pick<Reply, 'from'>): Reply {
  const ids = { replyId: null, reference: null, messageId: null, to: null, channel: null };
  return { kind: 'reply', ...ids, text: '', meaning: 'answer', atMs: null, ...changes };
}

/** What `listen` does with events: the ledger holds them. */
export function receive(
  path: string,
  events: readonly WebhookEvent[],
  { nowMs = Date.now(), environment = 'sandbox' }: { readonly nowMs?: number; readonly environment?: string } = {},
): void {
  using ledger = openLedger(path, { mode: 'write', nowMs });
  ledger.events.record(events, { nowMs, source: 'webhook', environment });
}

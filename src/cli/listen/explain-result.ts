import type { DeliveryState, EventField, WebhookEvent } from '../../model.ts';
import type { Interpretation } from '../../webhook/interpret.ts';

/** A payload, and how it is read: nothing of it is stored. */
export interface Explanation {
  readonly version: 1;
  readonly file: string;
  readonly form: Interpretation['form'];
  /** Why the whole body is refused; null: it is read. */
  readonly problem: string | null;
  readonly events: readonly ExplainedEvent[];
  /** What to write into handbill.yaml, as far as it can be told; null: nothing. */
  readonly mapping: { readonly webhook: SuggestedMapping } | null;
}

export interface ExplainedEvent {
  /** JSON pointer to the event in the body. */
  readonly at: string;
  readonly event: WebhookEvent;
  /** JSON pointers into the body, by what was read there. */
  readonly from: Readonly<Record<string, string>>;
  /** What the event holds and nothing has read. */
  readonly unused: readonly string[];
  readonly advice: readonly string[];
}

interface SuggestedMapping {
  readonly fields?: Readonly<Partial<Record<EventField, string>>>;
  readonly states?: Readonly<Record<string, DeliveryState>>;
}

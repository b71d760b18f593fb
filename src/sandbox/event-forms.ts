import { defaultEvents } from './dialect-default.ts';
import { perRecipientEvents } from './dialect-per-recipient.ts';
import { problemEvents } from './dialect-problem.ts';
import { topLevelEvents } from './dialect-top-level.ts';
import type { DialectName } from './openapi.ts';
import type { SandboxEvent } from './sandbox-event.ts';

/** The JSON of one post, for one event or several. */
export type EventForm = (events: readonly SandboxEvent[]) => unknown;

export const EVENT_FORMS: Readonly<Record<DialectName, EventForm>> = {
  default: defaultEvents,
  'top-level': topLevelEvents,
  'per-recipient': perRecipientEvents,
  problem: problemEvents,
};

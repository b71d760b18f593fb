import type { DialectName } from './dialect-name.ts';
import { defaultEvents } from './events-default.ts';
import { perRecipientEvents } from './events-per-recipient.ts';
import { problemEvents } from './events-problem.ts';
import { topLevelEvents } from './events-top-level.ts';
import type { SandboxEvent } from './sandbox-event.ts';

/** The JSON of one post, for one event or several. */
export type EventForm = (events: readonly SandboxEvent[]) => unknown;

export const EVENT_FORMS: Readonly<Record<DialectName, EventForm>> = {
  default: defaultEvents,
  'top-level': topLevelEvents,
  'per-recipient': perRecipientEvents,
  problem: problemEvents,
};

import type { Dialect } from './dialect.ts';
import { DEFAULT_DIALECT, defaultEvents } from './dialect-default.ts';
import { PER_RECIPIENT_DIALECT, perRecipientEvents } from './dialect-per-recipient.ts';
import { PROBLEM_DIALECT, problemEvents } from './dialect-problem.ts';
import { TOP_LEVEL_DIALECT, topLevelEvents } from './dialect-top-level.ts';
import type { DialectName } from './openapi.ts';
import type { SandboxEvent } from './story.ts';

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  default: DEFAULT_DIALECT,
  'top-level': TOP_LEVEL_DIALECT,
  'per-recipient': PER_RECIPIENT_DIALECT,
  problem: PROBLEM_DIALECT,
};

/** The JSON of one post, for one event or several. */
export type EventForm = (events: readonly SandboxEvent[]) => unknown;

export const EVENT_FORMS: Readonly<Record<DialectName, EventForm>> = {
  default: defaultEvents,
  'top-level': topLevelEvents,
  'per-recipient': perRecipientEvents,
  problem: problemEvents,
};

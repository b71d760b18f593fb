import { ACCEPTED } from './behaviours/accepted.ts';
import type { Behaviour } from './behaviours/behaviour.ts';
import { BROKEN_BODY } from './behaviours/broken-body.ts';
import { CONNECTIONS } from './behaviours/connections.ts';
import { NO_ANSWER } from './behaviours/no-answer.ts';
import { STATUSES } from './behaviours/statuses.ts';

/** Every way in which the fault server can misbehave, by groups of the failure model. */
export const BEHAVIOURS: readonly Behaviour[] = [
  ...CONNECTIONS,
  ...NO_ANSWER,
  ...ACCEPTED,
  ...BROKEN_BODY,
  ...STATUSES,
];

/** @throws Error when there is none of that name */
export function behaviourOf(name: string): Behaviour {
  const found = BEHAVIOURS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no behaviour "${name}"`);
  return found;
}

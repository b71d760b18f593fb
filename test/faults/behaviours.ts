import { ACCEPTED } from './behaviours/accepted.ts';
import type { Behaviour } from './behaviours/behaviour.ts';
import { BROKEN_BODY } from './behaviours/broken-body.ts';
import { CONNECTIONS } from './behaviours/connections.ts';
import { BODY_KINDS, EVERY_STATUS, statusBehaviour } from './behaviours/every-status.ts';
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

const BY_NAME: ReadonlyMap<string, Behaviour> = new Map(
  [...BEHAVIOURS, ...EVERY_STATUS.flatMap((status) => BODY_KINDS.map((kind) => statusBehaviour(status, kind)))].map(
    (behaviour) => [behaviour.name, behaviour],
  ),
);

/** @throws Error when there is none of that name */
export function behaviourOf(name: string): Behaviour {
  const found = BY_NAME.get(name);
  if (found === undefined) throw new Error(`there is no behaviour "${name}"`);
  return found;
}

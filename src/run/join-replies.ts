import type { Ledger } from '../ledger/ledger.ts';
import { createReferences } from '../plan/reference.ts';
import { listedForm } from '../suppression/form.ts';

export interface JoinOptions {
  /** As handbill.yaml says: a word of opting in takes back an opt-out that was a reply. */
  readonly startLifts: boolean;
  readonly now: () => number;
}

/** Finds the messages that replies answer which have come in since the last time; costs nothing where none have. */
export function joinReplies({ events }: Pick<Ledger, 'events'>, { startLifts, now }: JoinOptions): void {
  if (!events.hasUnjoined()) return;
  const steps = events.joinReplies({ startLifts, now, listed: listedForm, referencesOf: createReferences });
  for (const _ of steps);
}

import type { Ledger } from '../../src/ledger/ledger.ts';
import type { ClaimRequest, NextChannelStep, ResultRecord, RunRecord, StepFacts } from '../../src/ledger/records.ts';
import { givenRun, open, scratchPath } from './scratch.ts';
import { claimOf, NOON, resultOf, rows } from './values.ts';

export const BY_MAIL: NextChannelStep & StepFacts = {
  channel: 'email',
  to: 'ada@example.com',
  variant: 'b',
  parts: null,
  encoding: null,
  costMicros: 10,
};
export const BY_VOICE: NextChannelStep & StepFacts = {
  ...BY_MAIL,
  channel: 'voice',
  to: '+442079460000',
  parts: 2,
  encoding: 'UCS-2',
};

/** The API says that the recipient cannot receive the channel. */
export function unsupported(row: number, changes: Partial<ResultRecord> = {}): ResultRecord {
  const refusal = { state: 'rejected', reason: 'unsupported-channel', httpStatus: 404, messageId: null } as const;
  return resultOf(row, { ...refusal, error: 'no such channel', ...changes });
}

export function onStep(step: number, row: number, to: string, changes: Partial<ClaimRequest> = {}): ClaimRequest {
  return { ...claimOf(row), step, to, ...changes };
}

/** A run in which the recipients of `fallen` fell back to email. */
export function fellBack(count: number, fallen: readonly number[]): { ledger: Ledger; run: RunRecord; path: string } {
  const path = scratchPath();
  const ledger = open(path);
  const run = givenRun(
    ledger,
    rows(count).map((one) => (fallen.includes(one.row) ? { ...one, variant: BY_MAIL.variant } : one)),
  );
  ledger.commit(run, [], fallen.map(claimOf), NOON);
  const results = fallen.map((row) => unsupported(row, { next: BY_MAIL }));
  ledger.commit(run, results, [], NOON + 1000);
  return { ledger, run, path };
}

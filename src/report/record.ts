import type { Outcome } from '../model.ts';

/** The columns of `csv` and the fields of `jsonl`, in their order. Scripts rely on it. */
export const RECORD_FIELDS = [
  'line',
  'key',
  'to',
  'channel',
  'variant',
  'reference',
  'outcome',
  'reason',
  'attempts',
  'httpStatus',
  'messageId',
  'delivery',
  'updatedAt',
] as const;

export type ReportRecord = Readonly<Record<(typeof RECORD_FIELDS)[number], string | number | null>>;

/** One row of the list as machine formats show it. `delivery` is null until a delivery report is joined to it. */
export function recordOf(outcome: Outcome, reference: string | null): ReportRecord {
  return {
    line: outcome.line,
    key: outcome.key,
    to: outcome.to,
    channel: outcome.channel,
    variant: outcome.variant,
    reference,
    outcome: outcome.outcome,
    reason: outcome.reason,
    attempts: outcome.attempts,
    httpStatus: outcome.httpStatus,
    messageId: outcome.messageId,
    delivery: null,
    updatedAt: outcome.updatedAt,
  };
}

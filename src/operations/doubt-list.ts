import type { Ledger } from '../ledger/ledger.ts';
import type { DoubtRow, DoubtVerdict, ResolutionRecord, RunRecord } from '../ledger/records.ts';
import type { Channel } from '../model.ts';
import { createReferences } from '../plan/reference.ts';
import { type ProjectOptions, withDefaults } from './options.ts';
import { projectHere, withLedger } from './project-ledger.ts';
import { findRun, meantBy } from './runs.ts';

/** Which recipients in doubt to list. */
export interface DoubtsOptions extends ProjectOptions {
  /** Id of a run, or name of a campaign for all its runs. Default: every run. */
  readonly run?: string;
  /** Lists recipients whose doubt was resolved, instead of those in doubt. Default: false. */
  readonly resolved?: boolean;
}

/** A recipient in doubt, or one who was. */
export interface Doubt {
  readonly run: string;
  readonly campaign: string;
  readonly environment: string;
  readonly occurrence: string;
  /** First line of the row in its file. */
  readonly line: number;
  /** Null after a purge, like the reference. */
  readonly key: string | null;
  readonly to: string | null;
  readonly channel: Channel;
  /** 0: the campaign's own message or its variant's; then the fallbacks. */
  readonly leg: number;
  /** handbill's own id of the message: what to ask the API for. */
  readonly reference: string | null;
  readonly reason: string | null;
  /** Requests over all starts, the one in doubt included. */
  readonly attempts: number;
  readonly httpStatus: number | null;
  /** The error of an answer; text from outside, never trusted. */
  readonly error: string | null;
  /** When the request was made, ISO 8601 in UTC. */
  readonly since: string | null;
  /** What became of it; null, as all that follows, while the recipient is in doubt. */
  readonly verdict: DoubtVerdict | null;
  /** Who resolved it, or the evidence. */
  readonly resolvedBy: string | null;
  readonly resolvedAt: string | null;
  /** The id that the API gave out, where it is known. */
  readonly messageId: string | null;
  /** Why. */
  readonly note: string | null;
}

/** The fields of `jsonl` and of the schema, the columns of `csv`. */
export const DOUBT_FIELDS = [
  'run',
  'campaign',
  'environment',
  'occurrence',
  'line',
  'key',
  'to',
  'channel',
  'leg',
  'reference',
  'reason',
  'attempts',
  'httpStatus',
  'error',
  'since',
  'verdict',
  'resolvedBy',
  'resolvedAt',
  'messageId',
  'note',
] as const satisfies readonly (keyof Doubt)[];

/**
 * `handbill doubt list`: who is in doubt, or was: the newest run first, each in list order; resolutions oldest first.
 *
 * @throws HandbillError exit 2 (`run-not-found`, a project file that is wrong), 7 (ledger)
 */
export async function listDoubts(given: DoubtsOptions = {}): Promise<readonly Doubt[]> {
  const options = withDefaults(given);
  const reading = await projectHere(options, options.ledger);
  return await withLedger(reading, options, async (ledger) =>
    runsNamed(ledger, options.run ?? null).flatMap((run) =>
      [...doubtsOf(ledger, run, options.resolved === true)].flat(),
    ),
  );
}

/** The run of this id, every run of the campaign of this name, or every run; newest first. Throws as `findRun` does. */
export function runsNamed(ledger: Pick<Ledger, 'runs' | 'runById'>, named: string | null): readonly RunRecord[] {
  if (named === null) return meantBy(null, ledger.runs());
  const found = meantBy(named, ledger.runById(named));
  return found.length > 0 ? found : [findRun(ledger, named)];
}

/** The doubts of one run, in batches: memory stays flat. */
export function* doubtsOf(
  ledger: Pick<Ledger, 'doubts' | 'resolutions'>,
  run: RunRecord,
  resolved: boolean,
): Generator<readonly Doubt[]> {
  const referenceOf = createReferences(run);
  if (resolved) {
    for (const batch of ledger.resolutions(run)) {
      yield batch.map((one) => ({ ...toDoubt(run, one, referenceOf), ...resolutionOf(one) }));
    }
  } else {
    for (const batch of ledger.doubts(run)) yield batch.map((one) => toDoubt(run, one, referenceOf));
  }
}

/** A doubt in its current state; for a recipient with several channel steps, it is about the last one. */
export function toDoubt(
  run: RunRecord,
  doubt: Omit<DoubtRow, 'row'>,
  referenceOf: ReturnType<typeof createReferences>,
): Doubt {
  const { line, to, channel, leg, reason, attempts, httpStatus, error, sinceMs, resend } = doubt;
  // The column cannot be null; after a purge the key is empty.
  const key = doubt.key === '' ? null : doubt.key;
  return {
    run: run.id,
    campaign: run.campaign,
    environment: run.environment,
    occurrence: run.occurrence,
    line,
    key,
    to,
    channel,
    leg,
    reference: key === null ? null : referenceOf(key, channel, resend),
    reason,
    attempts,
    httpStatus,
    error,
    since: sinceMs === null ? null : iso(sinceMs),
    verdict: null,
    resolvedBy: null,
    resolvedAt: null,
    messageId: null,
    note: null,
  };
}

function resolutionOf({ verdict, who, resolvedBy, resolvedAtMs, messageId, note }: ResolutionRecord): Partial<Doubt> {
  return { verdict, resolvedBy: who ?? resolvedBy, resolvedAt: iso(resolvedAtMs), messageId, note };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

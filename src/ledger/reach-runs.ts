import type { Excluded } from '../model.ts';
import { canonicalName, isTest } from '../util/occurrence-name.ts';
import type { Connection } from './connection.ts';
import type { RunIdentity } from './records.ts';

/** Whom a campaign must not reach as well: the rules that ask about other runs. */
export interface ReachRules {
  readonly exclude: readonly Pick<Excluded, 'campaign' | 'occurrence'>[];
  /** Messages count from here on, in ms since 1970: the beginning of the longest period; null: no cap. */
  readonly sinceMs: number | null;
}

/** What there is to know of another run before its rows are looked at. */
export interface OtherRun extends RunIdentity {
  readonly number: number;
  readonly list: number;
  readonly starts: number;
  readonly rows: number;
  readonly isRunning: boolean;
  readonly isPurged: boolean;
  /** Whoever was reached there is left out here. */
  readonly isExcluded: boolean;
  /** What it sent counts towards the caps. */
  readonly isCounted: boolean;
}

export interface OtherRuns {
  /** Changes whenever a run was begun, started or amended. */
  signature(): string;
  /** Every other run of the environment that a rule asks about, by its number. */
  read(): readonly OtherRun[];
}

/** The runs of an environment but for one. */
export function otherRuns(connection: Connection, own: RunIdentity, rules: ReachRules): OtherRuns {
  const sums = connection.query(
    `SELECT count(*), sum(starts), sum(list) FROM runs WHERE environment = ? AND state <> 'loading'`,
  );
  const all = connection.query(
    `SELECT number, campaign, occurrence, list, starts, rows, state, counted, finished_at, purged_at FROM runs
      WHERE environment = ? AND state <> 'loading' ORDER BY number`,
  );
  // An earlier version kept an instant as it was written.
  const isExcluded = (campaign: string, occurrence: string): boolean =>
    rules.exclude.some(
      (e) =>
        e.campaign === campaign &&
        (e.occurrence === null || e.occurrence === occurrence || e.occurrence === canonicalName(occurrence)),
    );
  const { environment } = own;

  return {
    signature: () => (sums.get(environment) ?? []).join(' '),
    read: () =>
      all.all(environment).flatMap((row): OtherRun[] => {
        const campaign = String(row[1]);
        const occurrence = String(row[2]);
        if (campaign === own.campaign && occurrence === own.occurrence) return [];
        // Whoever tries a message out may be on the list as well.
        if (isTest(occurrence)) return [];
        // Without an end it may have been killed, and what it claimed last is not known without a look.
        const ended = row[8] ?? null;
        const inTime = rules.sinceMs !== null && (ended === null || Number(ended) >= rules.sinceMs);
        const run = {
          environment,
          campaign,
          occurrence,
          number: Number(row[0]),
          list: Number(row[3]),
          starts: Number(row[4]),
          rows: Number(row[5]),
          isRunning: row[6] === 'running',
          isPurged: (row[9] ?? null) !== null,
          isExcluded: isExcluded(campaign, occurrence),
          isCounted: inTime && row[7] !== 0,
        };
        return run.isExcluded || run.isCounted ? [run] : [];
      }),
  };
}

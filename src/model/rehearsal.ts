import type { Diagnostic, ExitStatus } from '../errors.ts';
import type { RehearsalOccurrence, Rehearsal as RehearsalResult, Report, ReportHalt } from './result-types.ts';

export type { RehearsalDay as RehearsedDay } from './result-types.ts';

/** One occurrence of a campaign, as it would go out. */
export interface RehearsedOccurrence
  extends Omit<RehearsalOccurrence, 'diagnostics' | 'halt' | 'totals' | 'reasons'>,
    Partial<Pick<Report, 'totals' | 'reasons'>> {
  readonly halt?: ReportHalt;
  /** As `due` would print them; the last one of each kind and place. */
  readonly diagnostics: readonly Diagnostic[];
}

/** One side of a change, which may be a checkout: the times of its files say nothing, and its lists may not be in it. */
export interface ComparedSide {
  /** The list for a campaign, by its file; undefined: its own. */
  readonly listOf: (path: string) => string | undefined;
  /** Zone of the days, which is the same on both sides. */
  readonly timeZone: string;
}

export type AssumedFeedback = NonNullable<RehearsalResult['assume']>;

/** Shares of the accepted messages, from 0 to 1. Only people who have the message answer it. */
export type AssumedShares = Omit<AssumedFeedback, 'seed'>;

export interface Rehearsal extends Omit<RehearsalResult, 'diagnostics' | 'occurrences' | 'exit'> {
  readonly locale: string | null;
  /** In the order in which they are due. */
  readonly occurrences: readonly RehearsedOccurrence[];
  /** Campaigns that cannot be read. */
  readonly diagnostics: readonly Diagnostic[];
  /** 2 where a campaign cannot be read, an occurrence cannot begin, or one halts. */
  readonly exit: ExitStatus;
}

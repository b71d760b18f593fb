import type { Diagnostic, ExitStatus } from '../errors.ts';
import type { Halt, Report } from './report.ts';

/** Messages of one day, in the time zone of the project. */
export interface RehearsedDay {
  /** `2026-12-01` */
  readonly day: string;
  readonly messages: number;
  readonly parts: number;
  /** Null: no price list. */
  readonly cost: number | null;
}

/** One occurrence of a campaign, as it would go out. */
export interface RehearsedOccurrence {
  readonly campaign: string;
  /** Its identity, which stays when its name changes. */
  readonly id: string;
  readonly file: string;
  readonly occurrence: string;
  /** The instant of its schedule, or the end of the wait of a follow-up, ISO 8601 in UTC; null: neither brought it about. */
  readonly due: string | null;
  /** Its first and its last message in these days, ISO 8601 in UTC; null: none is sent. */
  readonly begins: string | null;
  readonly ends: string | null;
  /** `refused`: it is due and cannot begin. `missed`: it is not made up for. */
  readonly state: Report['state'] | 'refused' | 'missed';
  readonly messages: number;
  readonly parts: number;
  readonly cost: number | null;
  /** The whole run at the end of these days; absent where it does not begin. */
  readonly totals?: Report['totals'];
  readonly halt?: Halt;
  readonly reasons?: Report['reasons'];
  /** When those who still wait at the end of these days are sent to; absent: no recipient waits for an instant. */
  readonly opensAt?: string;
  /** Calls of `due` do not go on with it: it is too old by then, or a later instant is due. Absent: they do, or it has ended. */
  readonly left?: 'late' | 'superseded';
  /** The next occurrence, which is due before this one ends; absent: it ends in time. */
  readonly overlaps?: string;
  readonly days: readonly RehearsedDay[];
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

/** Shares of the accepted messages, from 0 to 1. Only people who have the message answer it. */
export interface AssumedShares {
  readonly delivered: number;
  /** Answered, but not to opt out. */
  readonly replied: number;
  readonly optedOut: number;
}

export interface AssumedFeedback extends AssumedShares {
  /** Another one draws other people. */
  readonly seed: number;
}

export interface Rehearsal {
  readonly version: 1;
  readonly environment: string;
  /** When it was played, ISO 8601 in UTC. */
  readonly at: string;
  /** The days that are shown, ISO 8601 in UTC. */
  readonly from: string;
  readonly until: string;
  readonly timeZone: string;
  readonly currency: string | null;
  readonly locale: string | null;
  readonly everyMs: number;
  /** Sentences for what no file says. */
  readonly assumed: readonly string[];
  /** The delivery reports and replies that come; absent: none do. */
  readonly assume?: AssumedFeedback;
  readonly days: readonly RehearsedDay[];
  /** In the order in which they are due. */
  readonly occurrences: readonly RehearsedOccurrence[];
  /** Messages to the person with the most of them; 0: there are none. */
  readonly busiest: number;
  /** The people with more than `most`, those with the most first; absent without that option. */
  readonly most?: { readonly limit: number; readonly people: number; readonly first: readonly BusyPerson[] };
  /** Campaigns that cannot be read. */
  readonly diagnostics: readonly Diagnostic[];
  /** 2 where a campaign cannot be read, an occurrence cannot begin, or one halts. */
  readonly exit: ExitStatus;
}

export interface BusyPerson {
  readonly to: string;
  readonly messages: number;
}

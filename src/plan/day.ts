import { hash } from 'node:crypto';
import type { RunRecord } from '../ledger/records.ts';
import type { Campaign, InputFile } from '../model.ts';
import { isRelative } from '../recipients/query.ts';
import { createDayOf, dayMs, dayText, instantMs } from '../util/time.ts';

/** The day from which relative dates in `recipients.where` count, and every rule about days: the same in all starts of a run. */
export interface WhereDay {
  /** Its midnight in UTC. */
  readonly ms: number;
  /** `2026-11-25` */
  readonly text: string;
  readonly timeZone: string;
}

export interface DayFacts {
  readonly occurrence: string;
  /** When a run that has not begun would begin, in ms since 1970. */
  readonly nowMs: number;
  /** The run of the occurrence; absent or null: it has not begun. */
  readonly run?: Pick<RunRecord, 'inputs' | 'createdAtMs'> | null;
}

/**
 * The day of an occurrence, so that every start, each worker and a late start mean the same one: the day that the run has
 * recorded; else the date that the occurrence names, or the day of its instant in the zone; else that on which the run
 * began. Null: no date in `where` is relative.
 */
export function whereDay({ recipients: { where } }: Pick<Campaign, 'recipients'>, facts: DayFacts): WhereDay | null {
  if (where === null || !isRelative(where)) return null;
  const { occurrence, nowMs, run = null } = facts;
  const { timeZone } = where;
  const recorded = dayMs(run?.inputs.find(({ role }) => role === 'day')?.file ?? '') ?? dayMs(occurrence);
  const ms = recorded ?? createDayOf(timeZone)(instantMs(occurrence) ?? run?.createdAtMs ?? nowMs);
  return { ms, text: dayText(ms), timeZone };
}

/** The day as an input of the run, which is recorded, approved and compared as the files are. */
export function dayInput({ text }: WhereDay): InputFile {
  return { role: 'day', file: text, sha256: hash('sha256', text, 'hex') };
}

import { hash } from 'node:crypto';
import type { RunRecord } from '../ledger/records.ts';
import type { Campaign, InputFile } from '../model.ts';
import { isRelative } from '../recipients/query.ts';
import { createDayOf, dayMs, dayText, instantMs } from '../util/time.ts';

/** The same in all starts of a run; every rule about days counts from it. */
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

/** The run's recorded day, else that of the occurrence's name, else the run's first. Null: no date is relative. */
export function whereDay({ recipients: { where } }: Pick<Campaign, 'recipients'>, facts: DayFacts): WhereDay | null {
  if (where === null || !isRelative(where)) return null;
  const { occurrence, nowMs, run = null } = facts;
  const { timeZone } = where;
  const recorded = dayMs(run?.inputs.find(({ role }) => role === 'day')?.file ?? '') ?? dayMs(occurrence);
  const ms = recorded ?? createDayOf(timeZone)(instantMs(occurrence) ?? run?.createdAtMs ?? nowMs);
  return { ms, text: dayText(ms), timeZone };
}

/** The run records, approves and compares it as it does files. */
export function dayInput({ text }: WhereDay): InputFile {
  return { role: 'day', file: text, sha256: hash('sha256', text, 'hex') };
}

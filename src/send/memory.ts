import type { Ledger } from '../ledger/ledger.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import type { BudgetSpent, ClaimRequest, ResultRecord, RunRecord } from '../ledger/records.ts';
import type { JsonObject } from '../model.ts';
import { createRowSet, type RowSet } from '../util/row-set.ts';
import type { TimedAnswer } from './group-commit.ts';

export interface Recalled {
  readonly run: RunRecord;
  /** Recipients that another server did not have as claimed; null: it does not have the run. */
  readonly restored: number | null;
}

/** A worker remembers these last runs: those before are over. */
const MOST_RUNS = 64;

/** Kept while the process lives, in case it comes back to a ledger that was lost. */
export type Memory = ReturnType<typeof createMemory>;

export function createMemory() {
  const entries = new Map<string, RunMemory>();
  let last: RunMemory | null = null;
  let recalls = 0;
  return {
    of(run: RunRecord, ledger: Pick<Ledger, 'history'> & Partial<Pick<Ledger, 'spentHere'>>): RunMemory {
      const { history, spentHere = nothingSpent } = ledger;
      const name = `${run.number} ${run.list}`;
      const entry = entries.get(name) ?? rememberRun(run, history);
      // The last one used is the last to be forgotten.
      entries.delete(name);
      entries.set(name, entry);
      const [oldest] = entries.keys();
      if (entries.size > MOST_RUNS && oldest !== undefined) entries.delete(oldest);
      last = entry;
      entry.spentHere = spentHere;
      return entry;
    },
    get last(): RunMemory | null {
      return last;
    },
    get recalls(): number {
      return recalls;
    },
    /**
     * Writes all of it to a ledger that can be reached again. The same server has everything that it confirmed, so only
     * what could not be written is new. A replica may lack confirmed claims, so they are made again (failures.md, J6).
     */
    recall(
      ledger: Pick<Ledger, 'history' | 'restoreClaims' | 'commit'> & Partial<Pick<Ledger, 'raiseSpent'>>,
      nowMs: number,
    ): readonly Recalled[] {
      const said: Recalled[] = [];
      for (const entry of entries.values()) {
        if (entry.history !== ledger.history) {
          ledger.raiseSpent?.(entry.spentHere(), nowMs);
          const restored = ledger.restoreClaims(entry.run, entry.claimed, nowMs);
          if (restored !== 0) said.push({ run: entry.run, restored });
          if (restored === null) entry.unwritten = [];
          entry.history = ledger.history;
        }
        write(ledger, entry, nowMs);
      }
      recalls += 1;
      return said;
    },
  };
}

const nothingSpent = (): readonly BudgetSpent[] => [];

/** This process's record of a run: the ledger may be lost with its database server. */
export type RunMemory = ReturnType<typeof rememberRun>;

function rememberRun(run: RunRecord, history: number | null) {
  const claimed: RowSet[] = [];
  return {
    run,
    claimed,
    unwritten: [] as ResultRecord[],
    history,
    /** As last read from the ledger. */
    spentHere: nothingSpent,
    /** On disk: a claimed recipient may have been posted to, unless a result shows that the API received nothing. */
    committed(
      results: readonly Pick<ResultRecord, 'row' | 'step' | 'state'>[],
      claims: readonly Pick<ClaimRequest, 'row' | 'step'>[],
      answers: readonly TimedAnswer[],
    ): void {
      for (const { row, step, state } of results) {
        if (state === 'failed' || state === 'pending') claimed[step]?.delete(row);
      }
      for (const [at, { row, step }] of claims.entries()) {
        if (answers[at] !== 'claimed') continue;
        while (claimed.length <= step) claimed.push(createRowSet());
        claimed[step]?.add(row);
      }
    },
    /** Figures of the run with those of a start that could not be ended; null: there was none. */
    figures: null as JsonObject | null,
    posted: 0,
    /** Recipients that this process claimed, and may have sent to. */
    get recipients(): number {
      return claimed[0]?.size ?? 0;
    },
  };
}

function write(ledger: Pick<Ledger, 'commit'>, entry: RunMemory, nowMs: number): void {
  if (entry.unwritten.length === 0) return;
  try {
    ledger.commit(entry.run, entry.unwritten, [], nowMs);
  } catch (error) {
    // Another list has replaced that one: recipients that were sent to are in doubt already.
    if (!(error instanceof LedgerError) || error.kind !== 'other') throw error;
  }
  entry.unwritten = [];
}

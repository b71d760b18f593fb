import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import type { LoadRow, ResultRecord, RunIdentity, RunRecord } from '../../src/ledger/records.ts';
import type { InputFile } from '../../src/model.ts';
import { HELLO, NOON, resultOf } from './values.ts';

export interface RunFacts extends Partial<RunIdentity> {
  readonly nowMs?: number;
  readonly isCounted?: boolean;
  readonly topic?: string | null;
  readonly inputs?: readonly InputFile[];
}

/** A run whose list is loaded, and that is started; default: of `HELLO`, at noon. */
export function startedRun(ledger: Ledger, list: readonly LoadRow[], facts: RunFacts = {}): RunRecord {
  const { nowMs = NOON, isCounted = true, topic = null, inputs = [], ...identity } = facts;
  const draft = ledger.beginLoad({ ...HELLO, ...identity }, { channel: 'sms', nowMs, isCounted, topic });
  ledger.load(draft, list);
  return ledger.start(ledger.finishLoad(draft, { inputs, identityHash: 'identity', nowMs }), nowMs).run;
}

/** A run of which the first rows have these results, and that has ended. */
export function endedRun(
  ledger: Ledger,
  list: readonly LoadRow[],
  results: readonly Partial<ResultRecord>[],
  facts: RunFacts = {},
): RunRecord {
  const { nowMs = NOON } = facts;
  const run = startedRun(ledger, list, facts);
  const tried = list.slice(0, results.length);
  ledger.commit(
    run,
    [],
    tried.map(({ row, key, to }) => ({ row, step: 0, key: key ?? '', to: to ?? '' })),
    nowMs,
  );
  ledger.commit(
    run,
    tried.map(({ row }, i) => resultOf(row, results[i])),
    [],
    nowMs,
  );
  const state = results.length < list.length ? 'partial' : 'finished';
  return ledger.finish(run, { state, halt: null, figures: null, nowMs });
}

/** The run with another list. */
export function amendedRun(ledger: Ledger, run: RunRecord, list: readonly LoadRow[], facts: RunFacts = {}): RunRecord {
  const { nowMs = NOON, isCounted = true, inputs = [] } = facts;
  const draft = ledger.beginLoad(run, { channel: 'sms', nowMs, isCounted });
  ledger.load(draft, list);
  return ledger.amend(run, draft, { inputs, nowMs });
}

/** Does something with a ledger, which is made where there is none, and closes it. */
export function withLedger<T>(path: string, nowMs: number, use: (ledger: Ledger) => T): T {
  const ledger = openLedger(path, { mode: 'write', nowMs });
  try {
    return use(ledger);
  } finally {
    ledger.close();
  }
}

import { budgetStore } from './budgets.ts';
import { commitStore } from './commits.ts';
import type { Connection } from './connection.ts';
import { reachOf } from './contact-history.ts';
import { countStore } from './counts.ts';
import { doubtStore } from './doubts.ts';
import { eraser } from './erase.ts';
import { eventStore } from './events.ts';
import { evidenceStore } from './evidence.ts';
import type { Ledger } from './ledger.ts';
import { amender, changedStore, listStore } from './lists.ts';
import { pauseStore } from './pauses.ts';
import { purgeStore } from './purge.ts';
import { reader } from './reading.ts';
import { replyStore } from './replies.ts';
import { runStore } from './runs.ts';
import { sentStore } from './sent.ts';
import { claimRestorer, startStore } from './starts.ts';
import { suppressionStore } from './suppressions.ts';
import { unreachableStore } from './unreachable.ts';

export function ledgerOver(connection: Connection): Ledger {
  const runs = runStore(connection);
  const { record, listOf: _, ...ofRuns } = runs;
  const lists = listStore(connection, runs);
  const counts = countStore(connection, runs);
  const { lateAnswer, ...doubts } = doubtStore(connection, runs, counts);
  const workers = connection.workers(record);
  const pauses = pauseStore(connection);
  const { begin, ...budgets } = budgetStore(connection);
  return {
    path: connection.path,
    history: connection.history,
    lock: (run, despiteWorkers) => connection.lock(run, despiteWorkers),
    isHeld: (run) => connection.isHeld(run),
    turns: (environment, ratePerSecond) => connection.turns(environment, ratePerSecond),
    workers,
    ...ofRuns,
    ...lists,
    ...amender(connection, runs, lists),
    ...startStore(connection, runs, counts),
    ...changedStore(connection, runs),
    ...claimRestorer(connection),
    ...commitStore(connection, runs, lateAnswer, workers, pauses, begin),
    ...pauses,
    ...budgets,
    displacement: (when) => connection.displacement(when ?? 'now'),
    ...doubts,
    ...reader(connection, runs, counts),
    ...suppressionStore(connection),
    ...sentStore(connection),
    ...unreachableStore(connection),
    reach: (own, rules) => reachOf(connection, own, rules),
    events: { ...eventStore(connection), ...evidenceStore(connection, runs, counts), ...replyStore(connection, runs) },
    purge: { ...purgeStore(connection, runs), ...eraser(connection, runs) },
    hold: () => connection.hold(),
    copyTo: (path) => connection.copyTo(path),
    close: () => connection.close(),
    [Symbol.dispose]: () => connection.close(),
  };
}

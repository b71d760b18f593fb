import type { RunRecord } from '../ledger/records.ts';
import { number } from '../report/words.ts';
import { shownLedger } from '../util/ledger-address.ts';
import { recalledText } from './ledger-text.ts';
import type { WorkerEvent } from './worker.ts';

/** What happens to a worker, as a line for a log. It holds no address of anybody. */
export function workerText(event: WorkerEvent): string {
  switch (event.kind) {
    case 'joined':
      return `Process ${event.worker.pid} on ${event.worker.host} waits for runs on ${shownLedger(event.ledger)}.`;
    case 'begins':
      return `${nameOf(event.run)}: begins.`;
    case 'ends': {
      const { posted, accepted, rejected, failed, inDoubt } = event.share;
      const rest = [
        [rejected, 'rejected'],
        [failed, 'failed'],
        [inDoubt, 'in doubt'],
      ] as const;
      const more = rest.flatMap(([count, word]) => (count === 0 ? [] : [`, ${number(count)} ${word}`])).join('');
      return `${nameOf(event.run)}: ends, with ${number(posted)} requests made here: ${number(accepted)} accepted${more}.`;
    }
    case 'finished':
      return `${nameOf(event.run)}: its \`send\` is gone, and nothing is left to do.`;
    case 'leaves-alone':
      return `${nameOf(event.run)}: is left to others.`;
    case 'recalled':
      return `${nameOf(event.run)}: ${recalledText(event)}`;
    case 'lost':
      return 'The ledger is lost; it is tried again.';
  }
}

function nameOf({ id, environment, occurrence }: RunRecord): string {
  return `${id} (${environment}, ${occurrence})`;
}

import type { RunRecord } from '../ledger/records.ts';
import { countOf, duration, number } from '../report/words.ts';
import type { Recalled } from '../run/memory.ts';
import { shownLedger } from '../util/ledger-address.ts';
import { safe } from '../util/safe.ts';
import type { CommandContext } from './context.ts';
import type { LedgerEvent } from './send-options.ts';
import type { WorkerEvent } from './worker.ts';

/** What happens to a shared ledger while it is sent from, in lines for people. */
export function ledgerText(event: LedgerEvent): string {
  switch (event.kind) {
    case 'lost': {
      const wait = `Nothing more is sent until it is back; it is waited for ${duration(event.waitMs)}.`;
      return `${event.error.diagnostics.map(({ message }) => message).join(' ')}\n${wait}\n`;
    }
    case 'recalled':
      return `${event.run.id}: ${recalledText(event)}\n`;
    case 'back':
      return 'The ledger is back: the run goes on.\n';
  }
}

/** Prints it above the progress line, which continues with the run. */
export function ledgerPrinter(
  { err, telemetry }: Pick<CommandContext, 'err' | 'telemetry'>,
  line: { stop(): void },
  quiet: boolean,
): (event: LedgerEvent) => void {
  return (event) => {
    line.stop();
    if (event.kind === 'lost') telemetry?.said(event.error.diagnostics);
    if (!quiet) err(safe(ledgerText(event)));
  };
}

/** What a lost and recovered server does not know; recipients whose claim it lacked are in doubt (failures.md, J6). */
export function recalledText({ restored }: Pick<Recalled, 'restored'>): string {
  if (restored === null) return 'the server that took over does not know this run; only the API knows who was sent to.';
  return `the server that took over lacked ${countOf(restored, 'claim')} of this process, now in doubt.`;
}

/** What happens to a worker, as a line for a log. It holds no address. */
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

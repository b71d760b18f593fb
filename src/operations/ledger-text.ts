import { countOf, duration } from '../report/words.ts';
import type { Recalled } from '../run/memory.ts';
import { safe } from '../util/safe.ts';
import type { CommandContext } from './context.ts';
import type { LedgerEvent } from './send-options.ts';

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

/** Says it above the line of the progress, which goes on with the run. */
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

/** J6 */
export function recalledText({ restored }: Pick<Recalled, 'restored'>): string {
  if (restored === null) return 'the server that took over does not know this run; only the API knows who was sent to.';
  return `the server that took over lacked ${countOf(restored, 'claim')} of this process, now in doubt.`;
}

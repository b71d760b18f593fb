import { EXIT } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { exitOf, type SendResult } from '../../operations/send-options.ts';
import { formatReport } from '../../report/formats.ts';
import { createFormats } from '../../report/locale.ts';
import { type SentAs, undecidedOf } from '../../report/next-steps.ts';
import { nextCommand } from '../../util/next-command.ts';

interface PrintOptions extends CommandContext {
  readonly format: 'text' | 'brief' | 'json';
  readonly quiet: boolean;
  readonly campaign: SentAs;
  /** The file of a signed plan that was sent, as the user named it. */
  readonly planPath?: string | undefined;
}

export async function printSend(result: SendResult, options: PrintOptions): Promise<void> {
  const isWell = result.exit !== EXIT.ledger && exitOf(result.report) === EXIT.done;
  if (options.quiet && isWell) return;
  const waits = undecidedOf(result.report) > 0;
  const { state, totals, run, changed } = result.report;
  // The report says what to do about recipients whose address was corrected.
  const hasCorrected = changed !== undefined;
  const isOver =
    !result.started && state === 'finished' && totals.deferred === 0 && totals.recipients > 0 && !hasCorrected;
  if (isOver && isWell && options.format !== 'json') {
    // For an earlier result one line is enough; it names the run, because another may be newer.
    options.err(`This occurrence is finished: nothing was posted. ${nextCommand('report', run)} shows it.\n`);
    return;
  }
  if (!result.started) options.err(waits ? ONLY_WAITING : 'This occurrence is finished: nothing was posted.\n');
  if (totals.recipients === 0) options.err('The list has a header but no rows: there are no recipients.\n');
  if (result.recovered > 0) {
    const were = result.recovered === 1 ? '1 recipient was' : `${result.recovered} recipients were`;
    options.err(`${were} in flight when an earlier start was killed, which leaves them in doubt.\n`);
  }
  const failure =
    result.exit === EXIT.ledger ? result.diagnostics.find(({ severity }) => severity === 'error') : undefined;
  if (failure !== undefined) options.err(`${failure.message}\n`);
  const shown = {
    colour: options.colour.out,
    short: true,
    width: options.tableWidth ?? options.width,
    referenceOf: () => null,
    currency: result.currency,
    formats: createFormats(result.locale, result.timeZone),
    campaignFile: options.campaign,
    // The report says it for a run of one start.
    ...(result.posted === result.report.requests.posted ? {} : { postedNow: result.posted }),
    ...(options.planPath === undefined ? {} : { planPath: options.planPath }),
  };
  for await (const text of formatReport(options.format, result.report, [], shown)) await options.out(text);
}

const ONLY_WAITING = 'Nothing was posted: all remaining recipients wait for the variant that wins the test.\n';

import type { Diagnostic, ExitStatus } from '../../errors.ts';
import { asker, type Confirm, checkNumbers, INSTANT, type ProjectOptions, present, settle } from '../options.ts';
import { startTask, type Task } from '../task.ts';
import { type SendQuestion, type SendResult, toSendResult } from './send.ts';

/** What is due, and whether it is sent. */
export interface DueOptions extends ProjectOptions {
  /** Environment of handbill.yaml. Default: `sandbox`. */
  readonly environment?: string;
  /** Asked for each campaign, as `send` asks; true is `--yes`. Default: no. */
  readonly confirm?: Confirm<SendQuestion>;
  /** Ends it in good order: the current campaign as for `send`; later campaigns are not checked. Default: no signal. */
  readonly signal?: AbortSignal;
  /** Cuts off what is in flight too: who was being sent to is in doubt. Default: nothing does. */
  readonly cutSignal?: AbortSignal;
  /** Only says what would be done. Default: false. */
  readonly dryRun?: boolean;
  /** The time for which it is decided what is due, in ms since 1970; only with `dryRun`. Default: now. */
  readonly at?: number;
  /** A run that another process holds is left to it, or has exit status 6. Default: `skip`. */
  readonly ifLocked?: 'skip' | 'fail';
  /** Shares the runs with every worker (`handbill worker`) of the ledger, which has to be a shared one. Default: false. */
  readonly workers?: boolean;
  /** Called with a line when a shared ledger is lost in the middle, and when it is back; it holds no address. */
  readonly log?: (line: string) => void;
}

/** What was done, or would be, about one occurrence of a campaign, or about a campaign with none that is due. */
export interface DueItem {
  /** Null where the campaign cannot be read. */
  readonly campaign: string | null;
  readonly file: string;
  readonly occurrence: string | null;
  /** `refuse`: it was to be sent and could not be; `none`: nothing is due. */
  readonly action: 'send' | 'continue' | 'leave' | 'miss' | 'refuse' | 'none';
  /** Why it is left alone or missed; null otherwise. */
  readonly why: 'running' | 'halted' | 'waiting' | 'superseded' | 'late' | 'new' | null;
  /** Scheduled instants before this one at which nothing ran, and which are not made up for. */
  readonly missed: { readonly count: number; readonly first: string; readonly last: string } | null;
  /** The next scheduled instant; null if there is none. */
  readonly next: string | null;
  readonly exit: ExitStatus;
  /** Null where nothing was sent. */
  readonly result: SendResult | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** What was done about all of them. */
export interface DueResult {
  readonly environment: string;
  /** The time for which it was decided what is due, ISO 8601 in UTC. */
  readonly at: string;
  readonly dryRun: boolean;
  readonly items: readonly DueItem[];
  /** It was stopped, or lost the ledger: campaigns after the last item were not checked. */
  readonly stopped: boolean;
  /** The worst of all items. */
  readonly exit: ExitStatus;
}

/**
 * `handbill due`: sends every campaign with a schedule that is due, one after the other, and each occurrence once. What
 * is wrong with one campaign does not keep the others from being sent. Await it for the result, or loop over its items.
 *
 * @param paths - campaign files, folders or names; empty: every `campaigns/**\/campaign.yaml` below `cwd`
 * @throws HandbillError exit 2 where a path means nothing
 */
export function due(paths: readonly string[] = [], options: DueOptions = {}): Task<DueItem, DueResult> {
  return startTask<DueItem, DueResult>(
    async ({ show, signal }) => {
      checkNumbers(options, { at: INSTANT });
      const { environment, confirm, cutSignal, dryRun, at, ifLocked, workers, log } = options;
      const [{ due: run }, { ledgerText }] = await Promise.all([import('../due.ts'), import('../ledger-text.ts')]);
      const items: DueItem[] = [];
      const result = await run(paths, {
        ...settle(options),
        ...present({ environment, dryRun, at, ifLocked, workers, abort: cutSignal }),
        confirm: asker(confirm),
        interrupt: signal,
        onLedger: (event) => log?.(ledgerText(event).trimEnd()),
        onItem(item) {
          const shown = { ...item, result: item.result === null ? null : toSendResult(item.result, []) };
          items.push(shown);
          show(shown);
        },
      });
      return { ...result, items };
    },
    { signal: options.signal },
  );
}

import { type Diagnostic, EXIT, type ExitStatus, HandbillError, problem, refuse } from '../../errors.ts';
import type { ChangedRecipient, OutcomeState, Report } from '../../model.ts';
import type { Estimate } from '../../plan/estimate.ts';
import type { SealedPlan } from '../../plan/seal.ts';
import { asker, type Confirm, checkNumbers, PORT, type ProjectOptions, present, settle } from '../options.ts';
import { startTask, type Task } from '../task.ts';
import type { Recorded } from './listen.ts';

/** What is sent, and how. */
export interface SendOptions extends ProjectOptions {
  /** Environment of handbill.yaml. Default: that of a plan, else `sandbox`. */
  readonly environment?: string;
  /** Which time the campaign goes out. Default: that of a plan; with a schedule, the instant that is due; else `once`. */
  readonly occurrence?: string;
  /** A list to take instead of the campaign's, relative to `cwd`. Default: that of a plan, else the campaign's own. */
  readonly recipients?: string;
  /**
   * Asked once everything was checked, before the first request; true is `--yes`. Any environment but `sandbox` is
   * refused (exit 2, `not-confirmed`) where the answer is no. Default: no.
   */
  readonly confirm?: Confirm<SendQuestion>;
  /**
   * Ends the start in good order, as the first Ctrl-C does: requests in flight are awaited and recorded, the report says
   * `interrupted`, and sending again continues. Default: nothing does.
   */
  readonly signal?: AbortSignal;
  /**
   * Cuts off what is in flight too, as the second Ctrl-C does: recipients of those requests are in doubt. Default: no
   * signal.
   */
  readonly cutSignal?: AbortSignal;
  /** Recipients that are posted to in this start. Default: all. */
  readonly limit?: number;
  /** Requests in flight at most, 1 to 1024. Default: as the environment, then the campaign says (16). */
  readonly concurrency?: number;
  /**
   * Requests per second over the whole run, at most; the lowest of all limits that are set applies. Default: no limit.
   */
  readonly ratePerSecond?: number;
  /** Bad rows are skipped instead of refusing the run. Default: that of a plan, else as `recipients.onInvalid` says. */
  readonly skipInvalid?: boolean;
  /** Continues a run although its inputs changed. Default: false. */
  readonly amend?: boolean;
  /** Continues a run that is older than 24 hours. Default: false. */
  readonly late?: boolean;
  /** Stays until windows have opened and the pauses of a canary are over. Default: false. */
  readonly wait?: boolean;
  /** Shares the run with every worker (`handbill worker`) of the ledger, which has to be a shared one. Default: false. */
  readonly workers?: boolean;
  /** Tries recipients again that the API refused. Default: false. */
  readonly retryRejected?: boolean;
  /**
   * Sends the message to recipients whose address was corrected in the list after it had gone out: a second message, at the
   * new address, once for each. `confirm` is asked in every environment, the sandbox too. Default: false.
   */
  readonly resendChanged?: boolean;
  /** The variant for all recipients outside the test; the run remembers it. Default: as the campaign says. */
  readonly winner?: string;
  /** Begins a new ledger although this project has sent before. Default: false. */
  readonly newLedger?: boolean;
  /** Receives delivery reports and replies meanwhile, and stays for those of the last messages. Default: it does not. */
  readonly listen?: SendListenOptions;
  /** Called with a line when a shared ledger is lost in the middle, and when it is back; it holds no address. */
  readonly log?: (line: string) => void;
  /** How often a loop is shown how far it is, in ms, where anything has changed. Default: 250. */
  readonly progressEveryMs?: number;
}

/** How a start receives delivery reports and replies. */
export interface SendListenOptions {
  /** TCP port; 0 takes a free one. Default: 4011, and a free one for the sandbox. */
  readonly port?: number;
  /** Address to listen on. Default: `127.0.0.1`. */
  readonly host?: string;
  /** After the last message, how long it is waited for the next event, in ms. Default: 2 minutes. */
  readonly forMs?: number;
  /** Called once it listens, with what senders post to and what protects it less than it could. */
  readonly onListening?: (url: string, warnings: readonly Diagnostic[]) => void;
  /** Called when a group of events is on the disk, with what was new of it. */
  readonly onRecorded?: (recorded: Recorded) => void;
  /** Called with a line for what was refused or could not be stored; it holds no address, text or secret. */
  readonly log?: (line: string) => void;
}

/** What is about to be sent, for the question. */
export interface SendQuestion {
  readonly campaign: string;
  readonly environment: string;
  /** What will be posted to. */
  readonly url: string;
  readonly occurrence: string;
  /** Who is sent to in this start. */
  readonly recipients: number;
  /** Who gets a second message, at an address that was corrected since the first; empty without `resendChanged`. */
  readonly resends: readonly ChangedRecipient[];
  /** Null where an unfinished run continues. */
  readonly estimate: Estimate | null;
}

/** How far a start is. */
export interface SendProgress {
  /** 1; with `wait` and `listen` a start has several rounds, and figures are those of the round. */
  readonly round: number;
  /** Recipients to do in this round. */
  readonly toDo: number;
  readonly posted: number;
  /** Attempts that were followed by another one. */
  readonly retried: number;
  /** What became of recipients in this round, by outcome. */
  readonly outcomes: Readonly<Record<OutcomeState, number>>;
  /** What it waits for, and until when (ISO 8601 in UTC); null while it sends. */
  readonly waits: { readonly why: 'canary' | 'window' | 'reports'; readonly until: string } | null;
}

/** What became of one start. */
export interface SendResult {
  readonly report: Report;
  /** What the command line would exit with: 0, 3, 4, 5; 7 for a ledger that could not be written; 130 for the signal. */
  readonly exit: ExitStatus;
  /** False when there was nothing left to do. */
  readonly started: boolean;
  /** Requests of this start. */
  readonly posted: number;
  /** Recipients that an earlier start left without an outcome: now in doubt. */
  readonly recovered: number;
  /** Of the price list; null without one. */
  readonly currency: string | null;
  /** Warnings about the campaign; with exit 7, also why the ledger could not be written. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * `handbill send`: sends a campaign, or continues what an earlier start left. Nothing is posted unless everything was
 * checked; no recipient is posted to twice. Await it for the result, or loop over it to see how far it is.
 *
 * Several campaigns can be sent at once in one process. What goes wrong for a recipient is in the report.
 *
 * @param target - a campaign file, its folder, or its name; or a plan file, of which any change of its inputs is
 * refused
 * @throws HandbillError exit 2 (refused before any request), 6 (another process holds this run), 7 (the ledger cannot
 *   be used), 130 (stopped before any request)
 */
export function send(target: string | SealedPlan, options: SendOptions = {}): Task<SendProgress, SendResult> {
  let live: Live | null = null;
  let said = '';
  const showChange = (show: (progress: SendProgress) => void): void => {
    if (live === null) return;
    const progress = snapshot(live);
    const text = JSON.stringify(progress);
    if (text === said) return;
    said = text;
    show(progress);
  };
  return startTask<SendProgress, SendResult>(
    async ({ show, signal }) => {
      const begin = (figures: Live['figures']): void => {
        live = { figures, round: (live?.round ?? 0) + 1 };
      };
      const result = await run(target, options, signal, begin);
      showChange(show);
      return result;
    },
    {
      signal: options.signal,
      newestOnly: true,
      watch(show) {
        const timer = setInterval(showChange, options.progressEveryMs ?? EVERY_MS, show);
        return () => clearInterval(timer);
      },
    },
  );
}

const EVERY_MS = 250;

/** The figures of a round, which change while it goes on. */
interface Live {
  readonly round: number;
  readonly figures: {
    readonly toDo: number;
    readonly posted: number;
    readonly retried: number;
    readonly settled: Readonly<Record<OutcomeState, number>>;
    readonly waits: { readonly why: 'canary' | 'window' | 'reports'; readonly untilMs: number } | null;
  };
}

function snapshot({ round, figures }: Live): SendProgress {
  const { toDo, posted, retried, settled, waits } = figures;
  const waiting = waits === null ? null : { why: waits.why, until: new Date(waits.untilMs).toISOString() };
  return { round, toDo, posted, retried, outcomes: { ...settled }, waits: waiting };
}

async function run(
  target: string | SealedPlan,
  options: SendOptions,
  signal: AbortSignal,
  onStart: (figures: Live['figures']) => void,
): Promise<SendResult> {
  const { confirm, listen, cutSignal, log, signal: _, progressEveryMs: _every, ...rest } = options;
  checkNumbers(options, BOUNDS);
  if (listen !== undefined) checkNumbers(listen, { port: PORT, forMs: [0, Number.MAX_SAFE_INTEGER] });
  const sealed = typeof target === 'string' ? null : target;
  if (sealed !== null) refuseOthers(sealed, options);
  const [{ send: start }, { ledgerText }] = await Promise.all([import('../send.ts'), import('../ledger-text.ts')]);
  const warnings: Diagnostic[] = [];
  const ask = asker(confirm);
  const planned = sealed === null ? {} : { ...given(sealed), sealed };
  const result = await start(sealed?.campaign.file ?? String(target), {
    ...planned,
    ...present(rest),
    ...settle(options),
    ...present({ listen: listen === undefined ? undefined : present(listen), abort: cutSignal }),
    confirm: ({ campaign, environment, url, occurrence, recipients, resends, estimate }) =>
      ask({ campaign, environment, url, occurrence, recipients, resends, estimate }),
    interrupt: signal,
    onStart,
    onLedger: (event) => log?.(ledgerText(event).trimEnd()),
    onWarnings: (found) => warnings.push(...found),
    onNotice: (notice) => warnings.push(notice),
  });
  const { changedWarning } = await import('../warnings.ts');
  return toSendResult(result, [...warnings, ...changedWarning(result.report)]);
}

/** The result of a start as plain data. */
export function toSendResult(
  { ledgerError, exit, ...result }: Omit<SendResult, 'diagnostics'> & { readonly ledgerError: Error | null },
  warnings: readonly Diagnostic[],
): SendResult {
  const failed = ledgerError instanceof HandbillError ? ledgerError.diagnostics : [];
  const stopped = result.report.state === 'interrupted' && exit !== EXIT.ledger;
  return { ...result, exit: stopped ? EXIT.interrupted : exit, diagnostics: [...warnings, ...failed] };
}

const BOUNDS = {
  limit: [1, 1e9, 'whole'],
  concurrency: [1, 1024, 'whole'],
  ratePerSecond: [1e-6, 1e9],
  progressEveryMs: [1, 2 ** 31 - 1],
} as const;

/** What a plan says of how it is sent. */
function given({ environment, occurrence, recipients, skipInvalid }: SealedPlan) {
  return { environment, occurrence, skipInvalid, ...(recipients === null ? {} : { recipients }) };
}

/** A plan names the environment that it was made for; no option may name another one. */
function refuseOthers(sealed: SealedPlan, options: SendOptions): void {
  const { environment } = options;
  const found: Diagnostic[] = [];
  if (environment !== undefined && environment !== sealed.environment) {
    found.push(problem('usage', `The plan was made for environment "${sealed.environment}", not "${environment}".`));
  }
  if (options.amend === true) {
    found.push(problem('usage', 'A plan file cannot be amended.', { hint: 'Make a new plan.' }));
  }
  if (found.length > 0) throw refuse(...found);
}

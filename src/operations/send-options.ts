import { type Diagnostic, EXIT, type ExitStatus } from '../errors.ts';
import type { Recorded } from '../ledger/records.ts';
import { type Campaign, type ChangedRecipient, type OutcomeState, RETRIES, type Report } from '../model.ts';
import type { Estimate } from '../plan/estimate.ts';
import type { StandingPlan } from '../plan/plan-file.ts';
import type { OnEvent } from '../send/event.ts';
import type { RehearsedWorld } from '../send/rehearsal.ts';
import type { Timers } from '../send/timers.ts';
import { allowOption, type Confirm, OPTIONS, type OptionSpec, type OptionsOf, type ProjectOptions } from './options.ts';

/** The scope decides where an option can be given. */
export interface SendOption extends OptionSpec {
  /**
   * `all`: for the list, a test and a dry run. `list`: not for a test. `test`: only for a test. `sending`: a dry run
   * ignores it, and says so. `run`: only for the list, and not in a dry run.
   */
  readonly scope: 'all' | 'list' | 'test' | 'sending' | 'run';
}

export const SEND = {
  environment: { scope: 'all', ...OPTIONS.environment, without: 'that of a plan, else `sandbox`' },
  occurrence: { scope: 'list', ...OPTIONS.occurrence, more: 'A plan has its own.' },
  limit: {
    scope: 'list',
    flag: '--limit <n>',
    says: 'post to at most N recipients in this start',
    without: 'all',
    range: [1, 1e9, 'whole'],
  },
  concurrency: {
    scope: 'sending',
    flag: '--concurrency <n>',
    says: 'requests in flight at most',
    without: 'as the environment, then the campaign says (16)',
    range: [1, 1024, 'whole'],
  },
  ratePerSecond: {
    scope: 'sending',
    flag: '--rate <rate>',
    says: 'requests over the whole run, where campaign and environment allow as many',
    inHelp: ': 50/s, 600/min, 1000/h',
    more: 'In requests per second; the lowest of all limits that are set applies.',
    without: 'no limit',
    kind: 'rate',
    range: [1e-6, 1e9],
  },
  wait: { scope: 'run', flag: '--wait', says: 'stay until windows have opened and pauses of a canary are over' },
  workers: { scope: 'run', flag: '--workers', says: 'share the run with every `handbill worker` of a shared ledger' },
  retry: {
    scope: 'list',
    flag: '--retry <which>',
    says: 'send again: to recipients that the API refused (with --limit, the others stay rejected); to recipients that were skipped, if you repaired the cause since; or a second message to addresses that you corrected since, which shows the recipients, and asks',
    more: 'For `skipped`, handbill decides about the whole list again. For `corrected`, it calls `confirm` in every environment, the sandbox too.',
    without: 'no recipient',
    choices: RETRIES,
  },
  winner: {
    scope: 'list',
    flag: '--winner <variant>',
    says: 'the variant for all recipients outside the test',
    more: 'The run remembers it.',
    without: 'as the campaign says',
  },
  recipients: { scope: 'all', ...OPTIONS.recipients, without: 'that of a plan, else the list of the campaign' },
  allow: { scope: 'all', ...allowOption(), without: 'what a plan allows, else nothing' },
  progressEveryMs: {
    scope: 'all',
    says: 'how often a loop is shown how far it is, in ms, where anything has changed',
    without: '250',
    range: [1, 2 ** 31 - 1],
  },
} as const satisfies Readonly<Record<string, SendOption>>;

/** How long `--listen` waits for the next event, in ms, without `forMs`. */
export const LISTEN_FOR_MS = 2 * 60_000;

/** The environment, the occurrence and the recipients of a start, and its limits. */
export interface SendOptions extends ProjectOptions, OptionsOf<typeof SEND> {
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
   * Cuts off what is in flight, as the second Ctrl-C: recipients of those requests are in doubt. Default: no signal.
   */
  readonly cutSignal?: AbortSignal;
  /**
   * A standing plan for a target that is a campaign. Default: the first that counts in the folder `standingApprovals`.
   */
  readonly plan?: StandingPlan;
  /** Receives delivery reports and replies meanwhile, and stays for those of the last messages. Default: it does not. */
  readonly listen?: SendListenOptions;
  /** Called with a line when a shared ledger is lost in the middle, and when it is back; it holds no address. */
  readonly log?: (line: string) => void;
  /** @internal */
  readonly onEvent?: OnEvent | undefined;
  /** @internal The campaign goes out by its schedule, so that a list without a row is refused. */
  readonly isDue?: boolean;
  /** @internal The file that holds the list from standard input, where `recipients` is `-`. */
  readonly pipedList?: string;
  /** @internal For tests. Default: `Math.random`. */
  readonly random?: () => number;
  /** @internal For tests: how time passes while it waits. */
  readonly timers?: Pick<Timers, 'sleep'>;
  /** @internal Nothing is sent: see send/rehearsal.ts. */
  readonly rehearsal?: RehearsedWorld;
  /** @internal For tests: how often suppression lists are checked for changes, in ms. Default: 10,000. */
  readonly lookMs?: number;
}

/** How a start receives delivery reports and replies. */
export interface SendListenOptions {
  /** TCP port; 0 takes a free one. Default: 4011, and a free one for the sandbox. */
  readonly port?: number;
  /** Address to listen on. Default: `127.0.0.1`. */
  readonly host?: string;
  /** Time to wait for the next event after the last message, in ms. Default: 2 minutes. */
  readonly forMs?: number;
  /** Called once it listens, with the URL for senders and weaknesses in its protection. */
  readonly onListening?: (url: string, warnings: readonly Diagnostic[]) => void;
  /** Called when a group of events is on the disk, with those that are new. */
  readonly onRecorded?: (recorded: Recorded) => void;
  /** Called with a line for what was refused or could not be stored; it holds no address, text or secret. */
  readonly log?: (line: string) => void;
}

/** The send that the user is about to confirm. */
export interface SendQuestion {
  readonly campaign: string;
  readonly environment: string;
  readonly url: string;
  readonly occurrence: string;
  readonly recipients: number;
  /** Recipients of a second message, at a corrected address; empty unless `retry` is `corrected`. */
  readonly resends: readonly ChangedRecipient[];
  /**
   * A sentence for each refusal that a yes allows: recipients have this occurrence from another environment
   * (`sent-elsewhere`), or another one sent the run (`other-provider`). `confirm: true` does not say yes to these.
   */
  readonly allows: readonly string[];
  /** The steps in which it is sent; null: all at once. */
  readonly canary: Campaign['send']['canary'];
  /** Null where an unfinished run continues. */
  readonly estimate: Estimate | null;
}

export interface SendProgress {
  /** 1; with `wait` and `listen` a start has several rounds, and figures are those of the round. */
  readonly round: number;
  readonly toDo: number;
  readonly posted: number;
  readonly retried: number;
  readonly outcomes: Readonly<Record<OutcomeState, number>>;
  /** ISO 8601 in UTC; null while it sends. */
  readonly waits: { readonly why: 'canary' | 'window' | 'reports'; readonly until: string } | null;
}

export interface SendResult {
  readonly report: Report;
  /** Exit status of the command line: 0, 3, 4, 5; 7 for a ledger that could not be written; 130 for the signal. */
  readonly exit: ExitStatus;
  /** False when there was nothing left to do. */
  readonly started: boolean;
  /** Requests of this start. */
  readonly posted: number;
  /** Recipients that an earlier start left without an outcome: now in doubt. */
  readonly recovered: number;
  /** Currency of the price list; null without one. */
  readonly currency: string | null;
  /** The file of a standing plan that was found, as the user would name it; absent: none was needed, or it was given. */
  readonly standingPlan?: string;
  /** How the project writes figures and times for people: BCP 47; null where it does not say. */
  readonly locale: string | null;
  /** IANA zone of the project's days. */
  readonly timeZone: string;
  /** Warnings about the campaign; with exit 7, also why the ledger could not be written. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The exit status of a report; the first that applies of halted, in doubt, not sent. */
export function exitOf(report: Report): ExitStatus {
  if (report.halt !== null && report.state === 'halted') return EXIT.halted;
  if (report.totals.inDoubt > 0) return EXIT.inDoubt;
  const limited = report.reasons['pending']?.['rate-limited'] ?? 0;
  return report.totals.rejected + report.totals.failed + limited > 0 ? EXIT.unsent : EXIT.done;
}

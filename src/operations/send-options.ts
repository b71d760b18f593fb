import { type Diagnostic, EXIT, type ExitStatus } from '../errors.ts';
import type { Recorded } from '../ledger/records.ts';
import type { Allowable, Campaign, ChangedRecipient, OutcomeState, Report, Retry } from '../model.ts';
import type { Estimate } from '../plan/estimate.ts';
import type { StandingPlan } from '../plan/plan-file.ts';
import type { Confirm, ProjectOptions } from './options.ts';

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
  /**
   * An approved standing plan, where the target is a campaign. Default: the first that counts of those in the folder that
   * `standingApprovals` of the environment names.
   */
  readonly plan?: StandingPlan;
  /** What would refuse the start and does not: codes of the refusals. Default: what a plan allows, else nothing. */
  readonly allow?: readonly Allowable[];
  /** Stays until windows have opened and the pauses of a canary are over. Default: false. */
  readonly wait?: boolean;
  /** Shares the run with every worker (`handbill worker`) of the ledger, which has to be a shared one. Default: false. */
  readonly workers?: boolean;
  /**
   * Recipients that the start sends to again. `rejected`: those that the API refused; those beyond `limit` stay rejected.
   * `skipped`: those who were skipped for what can be repaired, such as a suppression that was taken back; the whole list is
   * decided again, and other outcomes stay. `corrected`: those whose address was corrected in the list after the message had gone out: a second message, at the
   * new address, once for each; `confirm` is asked in every environment, the sandbox too. Default: no recipient.
   */
  readonly retry?: Retry;
  /** The variant for all recipients outside the test; the run remembers it. Default: as the campaign says. */
  readonly winner?: string;
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
  /** Who gets a second message, at an address that was corrected since the first; empty unless `retry` is `corrected`. */
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

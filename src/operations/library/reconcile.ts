import { Readable } from 'node:stream';
import type { Diagnostic } from '../../errors.ts';
import { type ProjectOptions, present, settle } from '../options.ts';

/** How exported reports are imported. */
export interface ReconcileOptions extends ProjectOptions {
  /** Does everything on a copy of the ledger, which is removed. Default: false. */
  readonly dryRun?: boolean;
  /** The environment that the reports and replies are of. Default: the only one beside the sandbox. */
  readonly environment?: string;
  /** The content of a file `-`: bytes, such as a stream. Default: nothing; `-` is an empty file. */
  readonly input?: AsyncIterable<Uint8Array>;
}

/** What was found in one file, and what of it was new. */
export interface ReconciledFile {
  readonly file: string;
  /** The sum of the next four. */
  readonly events: number;
  /** New delivery reports. */
  readonly reports: number;
  /** New replies. */
  readonly replies: number;
  /** New events that handbill does not understand. */
  readonly unread: number;
  /** Events that the ledger held already, or that the file holds twice. */
  readonly known: number;
}

/** What was taken over; with `dryRun`, what would be. */
export interface ReconcileResult {
  readonly dryRun: boolean;
  /** That the events are held for. */
  readonly environment: string;
  readonly ledger: string;
  readonly files: readonly ReconciledFile[];
  /** Recipients in doubt whose message was received as a report says. */
  readonly doubtsSettled: number;
  /** Replies whose message was found. */
  readonly repliesJoined: number;
  /** Addresses that are suppressed since. */
  readonly suppressed: readonly string[];
  /** Addresses whose opt-out was taken back. */
  readonly lifted: readonly string[];
  /** Runs with recipients whose message did not reach them, and whose fallback waits to be sent. */
  readonly fallbacksDue: readonly DueFallbacks[];
  /** What could not be read, or not be understood. */
  readonly diagnostics: readonly Diagnostic[];
}

/** A run that has fallbacks to send: sending it again does. */
export interface DueFallbacks {
  readonly run: string;
  readonly campaign: string;
  readonly environment: string;
  readonly occurrence: string;
  readonly recipients: number;
}

/**
 * `handbill reconcile`: imports exported delivery reports and replies, as `listen` would. Doing it again changes
 * nothing, so that whatever was cut short is finished by doing it again.
 *
 * @param files - paths relative to `cwd`, or `-` for `input`
 * @throws HandbillError exit 2 for a file of which nothing can be read or understood; 7 (ledger)
 */
export async function reconcile(files: readonly string[], options: ReconcileOptions = {}): Promise<ReconcileResult> {
  const { dryRun, environment, input } = options;
  const { reconcile: take } = await import('../reconcile.ts');
  const {
    version: _,
    fallbacksDue,
    ...result
  } = await take(files, {
    ...settle(options),
    ...present({ dryRun, environment }),
    // The standard input of the process is not the library's to read.
    input: Readable.from(input ?? []),
  });
  const due = fallbacksDue.map(({ command: _command, ...run }) => run);
  return { ...result, fallbacksDue: due };
}

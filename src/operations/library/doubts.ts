import type { Channel, Report } from '../../model.ts';
import { asker, type Confirm, checkNumbers, type ProjectOptions, present, settle } from '../options.ts';

/** Which doubts are asked for. */
export interface DoubtsOptions extends ProjectOptions {
  /** Id of a run, or name of a campaign for all its runs. Default: every run. */
  readonly run?: string;
  /** What was resolved, instead of what is in doubt. Default: false. */
  readonly resolved?: boolean;
}

/** A recipient in doubt, or one who was. */
export interface Doubt {
  readonly run: string;
  readonly campaign: string;
  readonly environment: string;
  readonly occurrence: string;
  /** First line of the row in its file. */
  readonly line: number;
  /** Null after a purge, like the reference. */
  readonly key: string | null;
  readonly to: string | null;
  readonly channel: Channel;
  /** 0: the campaign's own message or its variant's; then the fallbacks. */
  readonly leg: number;
  /** handbill's own id of the message: what to ask the API for. */
  readonly reference: string | null;
  readonly reason: string | null;
  /** Requests over all starts, the one in doubt included. */
  readonly attempts: number;
  readonly httpStatus: number | null;
  /** What came of an answer; text from outside, never trusted. */
  readonly error: string | null;
  /** When the request was made, ISO 8601 in UTC. */
  readonly since: string | null;
  /** What became of it; null, as all that follows, while the recipient is in doubt. */
  readonly verdict: DoubtVerdict | null;
  /** Who said so, or the evidence. */
  readonly resolvedBy: string | null;
  readonly resolvedAt: string | null;
  /** The id that the API gave out, where it is known. */
  readonly messageId: string | null;
  /** Why. */
  readonly note: string | null;
}

/** What became of a recipient in doubt; `resend`: the next send posts once more. */
export type DoubtVerdict = 'accepted' | 'rejected' | 'resend';

/** Who it is about, and what became of them. */
export interface ResolveDoubtsOptions extends ProjectOptions {
  readonly verdict: DoubtVerdict;
  /** Must be true with `resend`: who got the first message gets a second one. Default: false. */
  readonly acceptDuplicates?: boolean;
  /** Keys, references or addresses of recipients. Default: none. */
  readonly names?: readonly string[];
  /** First lines of their rows. Default: none. */
  readonly lines?: readonly number[];
  /** All recipients in doubt in this run. Default: false. */
  readonly all?: boolean;
  /** The id that the API gave out; for one recipient that was accepted. Default: not known. */
  readonly messageId?: string;
  /** Why, for the history. Default: nothing. */
  readonly note?: string;
  /** Who says so. */
  readonly by: string;
  /** Asked before anything is changed; refused (exit 2, `not-confirmed`) where the answer is no. Default: no. */
  readonly confirm?: Confirm<ResolveDoubtsQuestion>;
}

/** What is about to be recorded, for the question. */
export interface ResolveDoubtsQuestion {
  readonly verdict: DoubtVerdict;
  readonly doubts: readonly Doubt[];
}

/** What was recorded. */
export interface ResolveDoubtsResult {
  /** Empty where `all` was given and no recipient is in doubt. */
  readonly resolved: readonly Doubt[];
  /** Of the run as it is then. */
  readonly report: Report;
}

/**
 * `handbill doubt list`: who is in doubt, or was: the newest run first, each in list order; resolutions oldest first.
 *
 * @throws HandbillError exit 2 (`run-not-found`, a project file that is wrong), 7 (ledger)
 */
export async function listDoubts(options: DoubtsOptions = {}): Promise<readonly Doubt[]> {
  const { run, resolved } = options;
  const { listDoubts: list } = await import('../doubt-list.ts');
  return await list({ ...settle(options), ...present({ run, resolved }) });
}

/**
 * `handbill doubt resolve`: records what became of recipients in doubt, all who are named or none. Who, when and why
 * is kept permanently.
 *
 * @param run - id of the run, or name of a campaign that has one run only
 * @throws HandbillError exit 2 (refused, nothing was changed), 6 (another process holds this run), 7 (ledger)
 */
export async function resolveDoubts(run: string, options: ResolveDoubtsOptions): Promise<ResolveDoubtsResult> {
  const { verdict, acceptDuplicates, names, lines, all, messageId, note, by, confirm } = options;
  for (const line of lines ?? []) checkNumbers({ line }, { line: [1, 1e12, 'whole'] });
  const ask = asker(confirm);
  const { resolveDoubts: resolve } = await import('../doubt-resolve.ts');
  const { resolved, report } = await resolve({
    ...settle(options),
    ...present({ acceptDuplicates, lines, all, messageId, note }),
    run,
    verdict,
    names: (names ?? []).map((name) => ({ name })),
    by,
    confirm: ({ doubts }) => ask({ verdict, doubts }),
  });
  return { resolved, report };
}

import type { Diff } from '../../diff/result.ts';
import { type ProjectOptions, present, settle } from '../options.ts';

/** What is compared. */
export interface DiffOptions extends Omit<ProjectOptions, 'ledger'> {
  /** A campaign file, its folder or its name. Default: every campaign of the project. */
  readonly campaign?: string;
  /** Environment whose settings apply. Default: `sandbox`. */
  readonly environment?: string;
  /** A list for both sides, relative to `cwd`, for lists that are not in git. Default: those in git. */
  readonly recipients?: string;
  /** Bad rows are skipped instead of being errors. Default: as `recipients.onInvalid` says. */
  readonly skipInvalid?: boolean;
  /** Ends the comparison; what was written for it is removed. Default: nothing does. */
  readonly signal?: AbortSignal;
}

/**
 * `handbill diff`: what a change in git means - who is added and removed, whose message changes and how, what it costs,
 * which rules differ. Asks no ledger and sends nothing; the result holds no address in clear.
 *
 * @param revision - `REV` (its merge base with HEAD, against the work tree), `REV..REV2` or `REV...REV2`
 * @throws HandbillError exit 2 (`unknown-revision`, `git-unavailable`, `campaign-not-found`), 130 (`interrupted`)
 */
export async function diff(revision: string, options: DiffOptions = {}): Promise<Diff> {
  const { campaign, environment, recipients, skipInvalid, signal } = options;
  const { diff: compare } = await import('../../diff/diff.ts');
  const given = present({ environment, recipients, skipInvalid, signal });
  return await compare(revision, campaign ?? null, { ...settle(options), ...given });
}

import { asker, type Confirm, checkNumbers, type ProjectOptions, present, settle } from './options.ts';

/** What is forgotten. */
export interface PurgeOptions extends ProjectOptions {
  /** Whose last activity is longer ago than this, in ms. */
  readonly olderThanMs: number;
  /** Only runs of this environment; suppressions are left as they are then. Default: every one. */
  readonly environment?: string;
  /** Only runs of this campaign; suppressions are left as they are then. Default: every one. */
  readonly campaign?: string;
  /** Also purge runs with recipients in doubt, failed, deferred or pending. Default: false, they are left and named. */
  readonly withOpen?: boolean;
  /** Says what would be done, and changes nothing. Default: false. */
  readonly dryRun?: boolean;
  /** Asked before anything is changed; refused (exit 2, `not-confirmed`) where the answer is no. Default: no. */
  readonly confirm?: Confirm<PurgeResult>;
}

/** A run that is old enough. */
export interface PurgedRun {
  readonly run: string;
  readonly campaign: string;
  readonly environment: string;
  readonly occurrence: string;
  /** The newest thing that is recorded of it, ISO 8601 in UTC. */
  readonly lastActivity: string;
  readonly recipients: number;
  /** Recipients without a final outcome. */
  readonly open: number;
}

/** One that stays as it is: a recipient in it has no final outcome, or another process has it. */
export interface LeftRun extends PurgedRun {
  readonly why: 'open' | 'held';
}

/** What was done, or would be. */
export interface PurgeResult {
  readonly version: 1;
  readonly dryRun: boolean;
  /** What was last touched before this instant is meant. */
  readonly before: string;
  readonly ledger: string;
  readonly purged: readonly PurgedRun[];
  /** Old enough, but left as they are, and why. */
  readonly left: readonly LeftRun[];
  /** Lists that were forgotten: of starts that were killed while they loaded one. */
  readonly lists: number;
  /** Addresses that became hashes; entries that had expired, and went; addresses that stay, for want of a key. */
  readonly suppressions: { readonly hashed: number; readonly expired: number; readonly plain: number };
  /** What came back before the limit: deleted, or emptied where it still counts. */
  readonly events: { readonly reports: number; readonly replies: number; readonly unread: number };
  /** Whether the file was written anew, so that nothing is left in its gaps; null where nothing was changed. */
  readonly rewritten: 'done' | 'in-use' | 'no-room' | null;
}

/**
 * `handbill purge`: takes personal data out of what is older than a limit. Counts stay, and suppressions as keyed hashes.
 *
 * @throws HandbillError exit 2 (refused, nothing was changed), 6 (another purge is under way), 7 (ledger)
 */
export async function purge(options: PurgeOptions): Promise<PurgeResult> {
  const { olderThanMs, environment, campaign, withOpen, dryRun, confirm } = options;
  // Without a limit, everything would be old enough or nothing: neither is a default.
  checkNumbers({ olderThanMs: olderThanMs ?? Number.NaN }, { olderThanMs: [0, 8.64e15] });
  const { purge: forget } = await import('../purge.ts');
  const given = present({ environment, campaign, withOpen, dryRun });
  return await forget({ ...settle(options), ...given, olderThanMs, confirm: asker(confirm) });
}

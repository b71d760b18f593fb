import type { Diagnostic, ExitStatus, HandbillError } from '../errors.ts';
import type { ResultRecord, RunRecord } from '../ledger/records.ts';
import type { Campaign, Commit, Environment, Report } from '../model.ts';
import type { Meter } from '../util/long-work.ts';
import type { TimedClaim } from './group-commit.ts';
import type { Recalled } from './memory.ts';
import type { Figures } from './progress.ts';

/** Events of a campaign that is sent: the terminal, the log and the metrics file follow them. */
export type RunEvent =
  /** `target` as the user named the campaign; `meter` shows how far its list was checked. */
  | { readonly kind: 'begins'; readonly target: string; readonly environment: string; readonly meter?: Meter }
  | {
      readonly kind: 'planned';
      readonly plan: {
        readonly campaign: Campaign;
        readonly environment: Environment;
        readonly occurrence: string;
      };
    }
  /** Before the first request. */
  | { readonly kind: 'warnings'; readonly warnings: readonly Diagnostic[] }
  /** About the API and its connections, during the send. */
  | { readonly kind: 'notice'; readonly notice: Diagnostic }
  | {
      /** A pass over the list, of which `--wait` makes several. */
      readonly kind: 'started';
      readonly run: RunRecord;
      readonly ledger: string;
      /** Recipients to send to; null if they were not counted: after a wait. */
      readonly toDo: number | null;
      /** Null: git does not know. */
      readonly commit: Commit | null;
    }
  /** The figures change while it sends. */
  | { readonly kind: 'sending'; readonly figures: Readonly<Figures> }
  /** Nothing is sent before an instant, in ms since 1970; with `reports`, it may be earlier. */
  | { readonly kind: 'waits'; readonly untilMs: number; readonly why?: 'reports' }
  /** Each commit, with what is on the disk now. */
  | { readonly kind: 'committed'; readonly results: readonly ResultRecord[]; readonly claims: readonly TimedClaim[] }
  /** A shared ledger is lost; a send waits for it `waitMs` at most. */
  | { readonly kind: 'ledger-lost'; readonly error: HandbillError; readonly waitMs?: number }
  | ({ readonly kind: 'recalled' } & Recalled)
  | { readonly kind: 'ledger-back' }
  | {
      readonly kind: 'ended';
      readonly report: Report;
      readonly exit: ExitStatus;
      readonly posted: number;
      readonly recovered: number;
    };

/** Must neither throw nor wait. */
export type OnEvent = (event: RunEvent) => void;

import type { Diagnostic } from '../errors.ts';
import type {
  Campaign,
  Decision,
  DeferDecision,
  Environment,
  InputFile,
  Retry,
  SendDecision,
  SendRequest,
  SkipDecision,
  Step,
  StepMessage,
  WinnerState,
} from '../model.ts';
import type { Formats } from '../report/locale.ts';
import type { WhereDay } from './day.ts';
import type { Estimate } from './estimate.ts';
import type { AnyPlanFile } from './plan-file.ts';

export interface PreviewRows {
  /** As in `Plan`, whose own type would bring those of Node.js into the package. */
  readonly plan: {
    readonly campaign: Campaign;
    readonly environment: Environment;
    readonly occurrence: string;
    /** The files that messages are made of, with their hashes, as a run records them; the list is not among them. */
    readonly inputs: readonly InputFile[];
    readonly columns: readonly string[];
    /** The day from which relative dates in `recipients.where` count; null: none is relative. */
    readonly day: WhereDay | null;
    readonly recipientsPerRequest: number;
  };
  readonly formats: Formats;
  readonly warn: (decision: SendDecision | SkipDecision | DeferDecision) => readonly Diagnostic[];
  readonly stepOf: (message: StepMessage, variant: string | null) => Step;
  readonly warnings: readonly Diagnostic[];
  readonly batches: AsyncIterable<readonly Previewed[]>;
  /** How far the search for the winner of a test is at that time. */
  readonly winner: WinnerState;
  /** The instant that it is about: what is open is open then. ISO 8601 in UTC. */
  readonly at: string;
  result(): {
    readonly estimate: Estimate;
    readonly problems: readonly Diagnostic[];
    readonly problemCount: number;
    /** Recipients whose message went to another address than the list holds now. */
    readonly changed: number;
    /** Line of the row whose message may cost the most; null without prices. */
    readonly mostExpensive: number | null;
    readonly warnings: readonly Diagnostic[];
  };
  close(): void;
}

export interface Previewed {
  readonly decision: Decision;
  /** Null unless it would be sent, and for all but the first of those who share a request. */
  readonly request: SendRequest | null;
  /** Line of the row with the request that this recipient shares; null: it has its own. */
  readonly sharedWith: number | null;
  /** Those of the fallbacks, in order: what would go out if the channel before cannot be received. */
  readonly fallbacks: readonly SendRequest[];
}

/** As in `SendOptions`; only dry runs of `send` and `due` have them. */
export interface PreviewedStart {
  readonly retry?: Retry;
  readonly limit?: number;
  readonly planFile?: AnyPlanFile;
  readonly recipients?: string;
  readonly isDue?: boolean;
}

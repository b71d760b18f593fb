import type { Diagnostic } from '../errors.ts';
import type { Decision, Leg, LegMessage } from '../model.ts';
import type { Estimate } from '../plan/estimate.ts';
import type { Plan } from '../plan/plan.ts';
import type { Warner } from '../plan/warnings.ts';
import type { WinnerState } from '../run/decide-winner.ts';

/** A dry run that is under way: read `batches` to its end, then ask for `result`. */
export interface Preview {
  readonly plan: Plan;
  readonly warn: Warner;
  /** The leg that a message was written for. */
  readonly legOf: (message: LegMessage, variant: string | null) => Leg;
  readonly warnings: readonly Diagnostic[];
  /** Every decision, in list order; the request of each with the bytes that send would post. */
  readonly batches: AsyncIterable<readonly Previewed[]>;
  /** How far the search for the winner of a test is at that time. */
  readonly winner: WinnerState;
  result(): {
    readonly estimate: Estimate;
    readonly problems: readonly Diagnostic[];
    readonly problemCount: number;
    /** Recipients whose message went to another address than the list has by now. */
    readonly changed: number;
    /** About the list as a whole. */
    readonly warnings: readonly Diagnostic[];
  };
  close(): void;
}

export interface Previewed {
  readonly decision: Decision;
  /** JSON text of the body; null unless it would be sent, and for all but the first of those who share a request. */
  readonly body: string | null;
  /** Line of the row that shows the request which this recipient shares; null where it has one of its own. */
  readonly sharedWith: number | null;
  /** Bodies of the fallbacks, in order: what would go out if the leg before cannot be received. */
  readonly fallbacks: readonly string[];
}

import type { Diagnostic } from '../../errors.ts';
import type { Decision, Leg, LegMessage } from '../../model.ts';
import type { Estimate } from '../../plan/estimate.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Warner } from '../../plan/warnings.ts';

/** A dry run as the page reads it: `batches` to their end, then `result`. */
export interface PreviewSource {
  readonly plan: Pick<Plan, 'campaign' | 'environment' | 'occurrence' | 'columns'>;
  readonly warn: Warner;
  /** The step that a message was written for. */
  readonly legOf: (message: LegMessage, variant: string | null) => Leg;
  /** What is worth knowing about the campaign as a whole. */
  readonly warnings: readonly Diagnostic[];
  /** The rows to show, in list order. */
  readonly batches: AsyncIterable<readonly PreviewedRow[]>;
  result(): { readonly estimate: Estimate; readonly problems: readonly Diagnostic[]; readonly problemCount: number };
}

/** One decision with the requests that it would become. */
export interface PreviewedRow {
  readonly decision: Decision;
  /** JSON text of the body; null unless it would be sent, and for all but the first of those who share a request. */
  readonly body: string | null;
  /** Line of the row that shows the request which this recipient shares; null where it has one of its own. */
  readonly sharedWith: number | null;
  /** Bodies of the fallbacks, in order. */
  readonly fallbacks: readonly string[];
}

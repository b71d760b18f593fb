import { loadCampaign } from '../campaign/load.ts';
import type { Diagnostic } from '../errors.ts';
import { openExistingLedger } from '../ledger/open.ts';
import { decisions } from '../plan/decide.ts';
import { createEstimator } from '../plan/estimate.ts';
import { legsOf } from '../plan/leg-of.ts';
import { adviseLength, checkLimits } from '../plan/limits.ts';
import { createPlan, type Plan } from '../plan/plan.ts';
import { loadPrices } from '../plan/prices.ts';
import { openReach } from '../plan/reach.ts';
import { loadSuppressions } from '../plan/suppression.ts';
import { createWarner } from '../plan/warnings.ts';
import { timeView } from '../plan/window.ts';
import { joinFaults, NAMED_PROBLEMS } from '../recipients/faults.ts';
import { refuseUnlessSealed } from '../run/sealed.ts';
import { checkWinner } from '../run/winner.ts';
import type { Meter } from '../util/meter.ts';
import { meantOccurrence } from './occurrence.ts';
import { onLeg, type PreviewedStart, viewOf } from './preview-view.ts';
import type { Preview, Previewed } from './previewed.ts';
import { createPreviewer } from './previewer.ts';

export interface PreviewOptions {
  readonly cwd: string;
  readonly now: () => number;
  /** The process's variables: the key of suppression lists may be among them. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly environment?: string;
  readonly occurrence?: string;
  readonly ledger?: string;
  readonly recipients?: string;
  readonly skipInvalid?: boolean;
  /** The variant that everybody gets who is not in the test. */
  readonly winner?: string;
  /** The instant that the run would start at, ms since 1970; default: the run's own start, else now. */
  readonly at?: number;
  /** Told how far the list was read. */
  readonly meter?: Meter;
  /** A start of `send` is shown, with what it is told; default: what `send` does without such options. */
  readonly start?: PreviewedStart;
}

/**
 * Shows what send would do, from the same stream of decisions. Opens no connection, not even DNS; a ledger is read and
 * never created.
 *
 * @throws HandbillError exit 2: whatever is wrong with the campaign as a whole
 */
export async function preview(target: string, options: PreviewOptions): Promise<Preview> {
  const { campaign, warnings } = await loadCampaign(target, {
    cwd: options.cwd,
    now: options.at ?? options.now(),
    ...(options.recipients === undefined ? {} : { recipients: options.recipients }),
    ...(options.ledger === undefined ? {} : { ledger: options.ledger }),
  });
  const { environment = 'sandbox' } = options;
  const meant = await meantOccurrence(campaign, {
    environment,
    named: options.occurrence,
    nowMs: options.at ?? options.now(),
    toShow: true,
    asSend: options.start !== undefined,
    newLedger: options.start?.newLedger === true,
  });
  const plan = await createPlan(campaign, { environment, occurrence: meant.occurrence });
  if (options.winner !== undefined) checkWinner(plan, options.winner);
  if (options.start !== undefined) await refuseUnapproved(plan, options.start, options);
  const estimator = createEstimator(campaign, await loadPrices(campaign.project));
  const suppressions = await loadSuppressions(campaign, options.env ?? {});
  const ledger = openExistingLedger(campaign.project.ledger, {
    nowMs: options.now(),
    newLedger: options.start?.newLedger === true,
  });
  const closing = (error: unknown): never => {
    ledger?.close();
    throw error;
  };
  const reached = await openReach(plan, ledger, options.at ?? options.now()).catch(closing);
  const nowMs = options.at ?? options.now();
  const known = await viewOf(plan, ledger, suppressions, reached, options).catch(closing);
  const { startedAtMs, usedBy, insteadOf } = known;
  const { meter } = options;
  const times = await timeView(plan, nowMs, startedAtMs ?? nowMs).catch(closing);
  const view = { ...known.view, ...times, ...(meter === undefined ? {} : { meter }) };
  const expand = plan.expander(options.at ?? startedAtMs ?? options.now());
  const problems: Diagnostic[] = [];
  let invalid = 0;
  let changed = 0;

  const said = [...warnings, ...meant.warnings, ...plan.warnings, ...(reached?.warnings ?? [])];
  const previewer = createPreviewer(plan.recipientsPerRequest, expand);
  async function* batches(): AsyncGenerator<readonly Previewed[]> {
    const stream = decisions(plan, view);
    try {
      for await (const batch of stream) {
        for (const decided of batch) {
          const decision = known.numbered(insteadOf(onLeg(decided, usedBy(decided.row), view)));
          if (decision.decision === 'done' && decision.sentTo !== undefined) changed += 1;
          estimator.add(decision);
          if (decision.decision === 'invalid') {
            invalid += 1;
            if (problems.length < NAMED_PROBLEMS) problems.push(decision.problem);
          }
          previewer.add(decision);
        }
        yield previewer.ready();
      }
    } catch (error) {
      throw joinFaults(problems, invalid, error);
    }
    yield previewer.rest();
    said.push(...stream.notes());
  }
  return {
    plan,
    warn: createWarner(plan),
    legOf: legsOf(campaign),
    warnings: said,
    batches: batches(),
    winner: known.winner,
    result() {
      const estimate = estimator.result();
      const limits = checkLimits(campaign, estimate, estimator.worst());
      return {
        estimate,
        problems: [...known.refusals, ...problems, ...limits],
        problemCount: known.refusals.length + invalid + limits.length,
        changed,
        warnings: adviseLength(campaign, estimate),
      };
    },
    close: () => ledger?.close(),
  };
}

/** What `send` asks before it looks at the list: that the plan is the one that was sealed, and approved. */
async function refuseUnapproved(plan: Plan, { sealed, amend }: PreviewedStart, options: PreviewOptions): Promise<void> {
  const { requireApproval } = await import('../run/approved.ts');
  if (sealed !== undefined) await refuseUnlessSealed(plan, sealed, { cwd: options.cwd, amend: amend === true });
  await requireApproval(plan.environment, sealed ?? null, { env: options.env ?? {}, nowMs: options.now() });
}

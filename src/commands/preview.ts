import { type Command, InvalidArgumentError } from 'commander';
import { loadCampaign } from '../campaign/load.ts';
import { type Diagnostic, EXIT, type ExitStatus } from '../errors.ts';
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
import { countOf, number } from '../report/words.ts';
import { refuseUnlessSealed } from '../run/sealed.ts';
import { checkWinner } from '../run/winner.ts';
import { formatDiagnostics } from '../util/diagnostic-text.ts';
import type { Meter } from '../util/meter.ts';
import { instantMs } from '../util/units.ts';
import { changedInPreview } from './changed-address.ts';
import type { CommandContext } from './context.ts';
import { meantOccurrence } from './occurrence.ts';
import { addExamples, addFormat, addLedger, ledgerOption, wholeNumber } from './options.ts';
import { writeResult } from './output-sink.ts';
import { PREVIEW_FORMATS, type PreviewFormat, previewWriter } from './preview-formats.ts';
import { onLeg, type PreviewedStart, viewOf } from './preview-view.ts';
import type { Preview, Previewed } from './previewed.ts';
import { createPreviewer } from './previewer.ts';
import { withProgress } from './progress.ts';

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

/** What a preview is told on the command line, and `send --dry-run`. */
export interface PreviewFlags {
  readonly env: string;
  readonly occurrence?: string;
  readonly skipInvalid?: boolean;
  readonly winner?: string;
  readonly limit?: number;
  readonly key?: string;
  readonly line?: number;
  readonly at?: number;
  readonly recipients?: string;
  readonly ledger?: string;
  readonly format: PreviewFormat;
  readonly output?: string;
  readonly quiet?: boolean;
  readonly start?: PreviewedStart;
}

/** `handbill preview CAMPAIGN`. */
export function configure(command: Command, context: CommandContext): void {
  command
    .argument('<campaign>', 'campaign file, its folder, or its name')
    .option('--env <name>', 'environment of handbill.yaml', 'sandbox')
    .option('--occurrence <name>', 'which time this campaign goes out (default: the instant that is due, else once)')
    .option('--skip-invalid', 'skip bad rows instead of refusing them')
    .option('--winner <variant>', 'as if this variant had won its test')
    .option('--limit <n>', 'show at most N rows (text shows 20 by default)', wholeNumber(0, 1e9))
    .option('--key <key>', 'show only this recipient')
    .option('--line <n>', 'show only the row that begins at this line', wholeNumber(1, 1e9))
    .option('--at <instant>', 'as if the run started then, for example 2026-12-01T09:00:00Z', instant)
    .option('--recipients <file>', 'take the list from here, inside or outside the project')
    .option('-o, --output <file>', 'write to a file')
    .option('--quiet', 'print nothing when all is well');
  addFormat(addLedger(command), PREVIEW_FORMATS);
  addExamples(command, [
    ['handbill preview campaigns/hello', 'the first 20 messages, and what all of them come to'],
    ['handbill preview hello --key +447700900123', 'one recipient'],
    ['handbill preview hello --format jsonl', 'every decision, with the exact request'],
    ['handbill preview hello --format html -o hello.html', 'a page with every message, to look at and search'],
  ]).action(async (target: string, flags: PreviewFlags) => {
    context.exit(await printPreview(target, flags, context));
  });
}

/** Prints a preview, and says its exit status. */
export async function printPreview(target: string, flags: PreviewFlags, context: CommandContext): Promise<ExitStatus> {
  const work = {
    label: 'Preview',
    unit: 'bytes',
    quiet: flags.quiet === true,
    toFile: flags.output !== undefined,
  } as const;
  return await withProgress(context, work, (meter) => print(target, flags, context, meter));
}

async function print(target: string, flags: PreviewFlags, context: CommandContext, meter: Meter): Promise<ExitStatus> {
  const shown = await preview(target, {
    cwd: context.cwd,
    now: context.now,
    env: context.env,
    environment: flags.env,
    ...(flags.occurrence === undefined ? {} : { occurrence: flags.occurrence }),
    skipInvalid: flags.skipInvalid === true,
    ...(flags.at === undefined ? {} : { at: flags.at }),
    ...(flags.winner === undefined ? {} : { winner: flags.winner }),
    ...(flags.recipients === undefined ? {} : { recipients: flags.recipients }),
    ...(flags.start === undefined ? {} : { start: flags.start }),
    ...ledgerOption(flags.ledger, context),
    meter,
  });
  try {
    const chunks = previewWriter(flags.format)(shown, {
      limit: flags.limit ?? (flags.format === 'text' ? 20 : null),
      key: flags.key ?? null,
      line: flags.line ?? null,
      width: context.tableWidth ?? context.width,
    });
    // With --quiet the list is read all the same: what is wrong in it is said.
    await writeResult(chunks, flags, flags.quiet === true ? { ...context, out: () => undefined } : context);
    const { problems, problemCount, changed, warnings: ofList, estimate } = shown.result();
    const most = flags.start?.limit;
    if (most !== undefined && estimate.send > most && flags.quiet !== true) {
      const posts = `this start posts to ${number(most)} of ${countOf(estimate.send, 'recipient')}`;
      context.err(`--limit ${most}: ${posts}; the rest is left to the next start.\n`);
    }
    const warnings = [...ofList, ...shown.warnings, ...changedInPreview(changed, shown.plan.campaign)];
    const said = [...problems.slice(0, 20), ...warnings];
    if (said.length > 0 && !(flags.quiet === true && problemCount === 0)) {
      context.err(
        formatDiagnostics(said, { colour: context.colour.err, limit: 40, total: problemCount + warnings.length }),
      );
    }
    return problemCount > 0 ? EXIT.refused : EXIT.done;
  } finally {
    shown.close();
  }
}

function instant(text: string): number {
  const ms = instantMs(text);
  if (ms === null) throw new InvalidArgumentError('Write an instant with its offset, such as 2026-12-01T09:00:00Z.');
  return ms;
}

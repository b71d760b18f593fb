import type { Command } from 'commander';
import { EXIT, type ExitStatus, SUMMARY_CODE } from '../../errors.ts';
import type { Allowable } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { previewRows } from '../../operations/preview.ts';
import { optionsHere } from '../../operations/project.ts';
import { changedInPreview } from '../../operations/warnings.ts';
import type { PreviewedStart } from '../../plan/previewed.ts';
import { noSuchRow } from '../../plan/testers.ts';
import { countOf, number } from '../../report/words.ts';
import { formatDiagnostics } from '../../util/diagnostic-text.ts';
import { given } from '../../util/given.ts';
import type { Meter } from '../../util/long-work.ts';
import {
  addAllow,
  addExamples,
  addFormat,
  addLedger,
  environmentOption,
  instant,
  wholeNumber,
} from '../shared/options.ts';
import { writeResult } from '../shared/output-sink.ts';
import { withPipedList } from '../shared/piped-list.ts';
import { withProgress } from '../shared/progress.ts';
import { isWanted, PREVIEW_FORMATS, type PreviewFormat, previewWriter } from './formats.ts';

/** The options of `preview`, and of `send --dry-run`. */
interface PreviewFlags {
  readonly env: string;
  readonly occurrence?: string;
  readonly allow?: readonly Allowable[];
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
  readonly pipedList?: string;
}

export function configure(command: Command, context: CommandContext): void {
  command
    .argument('<campaign>', 'campaign file, its folder, or its name')
    .addOption(environmentOption(context))
    .option('--occurrence <name>', 'which time this campaign goes out (default: the instant that is due, else once)')
    .option('--winner <variant>', 'as if this variant had won its test')
    .option('--limit <n>', 'show at most N rows (text shows 20 by default)', wholeNumber(0, 1e9))
    .option('--key <key>', 'show only this recipient')
    .option('--line <n>', 'show only the row that begins at this line', wholeNumber(1, 1e9))
    .option('--at <instant>', 'as if the run started then, for example 2026-12-01T09:00:00Z or +14d', instant(context))
    .option('--recipients <file>', 'take the list from here, inside or outside the project; - is standard input')
    .option('-o, --output <file>', 'write to a file')
    .option('--quiet', 'print nothing when all is well');
  addFormat(addLedger(addAllow(command)), PREVIEW_FORMATS);
  addExamples(command, [
    ['handbill preview campaigns/hello', 'the first 20 messages, and what all of them come to'],
    ['handbill preview hello --key +447700900123', 'one recipient'],
    ['handbill preview hello --format jsonl', 'every decision, with the exact request'],
    ['handbill preview hello --format html -o hello.html', 'a page with every message, to look at and search'],
  ]).action(async (target: string, flags: PreviewFlags) => {
    const exit = await withPipedList(flags.recipients, (piped) =>
      printPreview(target, { ...flags, ...piped }, context),
    );
    context.exit(exit);
  });
}

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
  const shown = await previewRows(target, {
    ...optionsHere(context, flags.ledger),
    environment: flags.env,
    ...given(flags, 'occurrence', 'allow', 'at', 'winner', 'recipients', 'pipedList', 'start'),
    meter,
  });
  const { key = null, line = null } = flags;
  let isThere = key === null && line === null;
  const watched = async function* () {
    for await (const batch of shown.batches) {
      isThere ||= batch.some((row) => isWanted(row, { key, line }));
      yield batch;
    }
  };
  try {
    const limit = flags.limit ?? (flags.format === 'text' ? 20 : null);
    const choice = { limit, key, line, width: context.tableWidth ?? context.width };
    const chunks = previewWriter(flags.format)({ ...shown, batches: watched() }, choice);
    // With --quiet the list is read all the same: what is wrong in it is said.
    await writeResult(chunks, flags, flags.quiet === true ? { ...context, out: () => undefined } : context);
    const { problems, problemCount, changed, warnings: ofList, estimate } = shown.result();
    const most = flags.start?.limit;
    if (most !== undefined && estimate.send > most && flags.quiet !== true) {
      const posts = `this start posts to ${number(most)} of ${countOf(estimate.send, 'recipient')}`;
      context.err(`--limit ${most}: ${posts}; the rest is left to the next start.\n`);
    }
    const warnings = [...ofList, ...shown.warnings, ...changedInPreview(changed, shown.plan.campaign)];
    const first = problems.filter(({ code }, at) => at < 20 || code === SUMMARY_CODE);
    const said = [...first, ...warnings];
    if (said.length > 0 && !(flags.quiet === true && problemCount === 0)) {
      context.err(
        formatDiagnostics(said, { colour: context.colour.err, limit: 40, total: problemCount + warnings.length }),
      );
    }
    if (!isThere) throw noSuchRow(shown.plan.campaign.recipients.file, flags);
    return problemCount > 0 ? EXIT.refused : EXIT.done;
  } finally {
    shown.close();
  }
}

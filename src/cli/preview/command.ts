import { EXIT, type ExitStatus, SUMMARY_CODE } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { formatOption, OPTIONS, type OptionTable } from '../../operations/options.ts';
import { PREVIEW, previewRows } from '../../operations/preview.ts';
import { changedInPreview } from '../../operations/warnings.ts';
import type { PreviewedStart } from '../../plan/previewed.ts';
import { noSuchRow } from '../../plan/testers.ts';
import { countOf, number } from '../../report/words.ts';
import type { Meter } from '../../util/long-work.ts';
import { complain } from '../shared/complain.ts';
import type { Flags } from '../shared/options.ts';
import { writeResult } from '../shared/output-sink.ts';
import { withPipedList } from '../shared/piped-list.ts';
import { withProgress } from '../shared/progress.ts';
import { isWanted, PREVIEW_FORMATS, WRITERS } from './formats.ts';

export const FLAGS = {
  ...PREVIEW,
  limit: { flag: '--limit <n>', says: 'show at most N rows (text shows 20 by default)', range: [0, 1e9, 'whole'] },
  key: { flag: '--key <key>', says: 'show only this recipient' },
  line: { flag: '--line <n>', says: 'show only the row that begins at this line', range: [1, 1e9, 'whole'] },
  output: OPTIONS.output,
  quiet: OPTIONS.quiet,
  ledger: OPTIONS.ledger,
  format: formatOption(PREVIEW_FORMATS),
} as const satisfies OptionTable;

type PreviewFlags = Flags<typeof FLAGS> & { readonly start?: PreviewedStart; readonly pipedList?: string };

export async function run(context: CommandContext, flags: PreviewFlags, target: string): Promise<void> {
  const exit = await withPipedList(flags.recipients, (piped) => printPreview(target, { ...flags, ...piped }, context));
  context.exit(exit);
}

export async function printPreview(target: string, flags: PreviewFlags, context: CommandContext): Promise<ExitStatus> {
  return await withProgress(context, { label: 'Preview', ...flags }, (meter) => print(target, flags, context, meter));
}

async function print(target: string, flags: PreviewFlags, context: CommandContext, meter: Meter): Promise<ExitStatus> {
  const shown = await previewRows(target, { ...flags, meter });
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
    const chunks = WRITERS[flags.format]({ ...shown, batches: watched() }, choice);
    // With --quiet the list is still read: the command prints what is wrong in it.
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
    if (flags.quiet !== true || problemCount > 0)
      complain(context, said, { limit: 40, total: problemCount + warnings.length });
    if (!isThere) throw noSuchRow(shown.plan.campaign.recipients.file, flags);
    return problemCount > 0 ? EXIT.refused : EXIT.done;
  } finally {
    shown.close();
  }
}

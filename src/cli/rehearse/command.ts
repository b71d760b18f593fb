import type { Rehearsal } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { formatOption, OPTIONS, type OptionTable, WRITING } from '../../operations/options.ts';
import { REHEARSE, rehearse } from '../../operations/rehearse.ts';
import { faultsIn, rehearsalText } from '../../report/rehearsal-text.ts';
import { diagnosticRecord } from '../../util/diagnostic-text.ts';
import { jsonText } from '../../util/escape.ts';
import { complain } from '../shared/complain.ts';
import type { Flags } from '../shared/options.ts';
import { writeResult } from '../shared/output-sink.ts';
import { withProgress } from '../shared/progress.ts';
import { interruptedBy, watchInterrupts } from '../shared/signals.ts';

export const FLAGS = {
  ...REHEARSE,
  ledger: OPTIONS.ledger,
  format: formatOption(['text', 'json', 'html', 'ics']),
  ...WRITING,
} as const satisfies OptionTable;

type RehearseFlags = Flags<typeof FLAGS>;

export async function run(context: CommandContext, flags: RehearseFlags, paths: readonly string[]): Promise<void> {
  using interrupts = watchInterrupts();
  try {
    const options = { ...flags, signal: interrupts.signal };
    const work = { label: 'Rehearsal', unit: 'hours', ...flags } as const;
    const result = await withProgress(context, work, (meter) => rehearse(paths, { ...options, meter }));
    await writeResult([await textOf(result, flags.format, context)], flags, context);
    if (flags.format !== 'json') complain(context, faultsIn(result), { limit: 20 });
    context.exit(interrupts.status() ?? result.exit);
  } catch (error) {
    throw interruptedBy(interrupts, error);
  }
}

async function textOf(result: Rehearsal, format: RehearseFlags['format'], context: CommandContext): Promise<string> {
  if (format === 'json') return jsonOf(result);
  if (format === 'html') return (await import('../../web/rehearsal.ts')).rehearsalPage(result);
  if (format === 'ics') return (await import('../../report/rehearsal-ics.ts')).rehearsalCalendar(result);
  return rehearsalText(result, context.tableWidth ?? context.width);
}

/** One document, described by schemas/rehearsal.schema.json. */
function jsonOf({ diagnostics, occurrences, locale: _, ...result }: Rehearsal): string {
  return `${jsonText(
    {
      ...result,
      occurrences: occurrences.map(({ diagnostics: own, ...one }) => ({
        ...one,
        diagnostics: own.map(diagnosticRecord),
      })),
      diagnostics: diagnostics.map(diagnosticRecord),
    },
    2,
  )}\n`;
}

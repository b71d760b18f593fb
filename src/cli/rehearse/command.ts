import type { Command } from 'commander';
import type { Rehearsal } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { type FlagsOf, formatOption, OPTIONS, type OptionTable, WRITING } from '../../operations/options.ts';
import { optionsHere } from '../../operations/project.ts';
import { REHEARSE, rehearse } from '../../operations/rehearse.ts';
import { rehearsalText } from '../../report/rehearsal-text.ts';
import { diagnosticRecord } from '../../util/diagnostic-text.ts';
import { jsonText } from '../../util/escape.ts';
import { complain } from '../shared/complain.ts';
import { addExamples, addOptions } from '../shared/options.ts';
import { writeResult } from '../shared/output-sink.ts';
import { watchSignals } from '../shared/signals.ts';

const FLAGS = {
  ...REHEARSE,
  ledger: OPTIONS.ledger,
  format: formatOption(['text', 'json']),
  ...WRITING,
} as const satisfies OptionTable;

type RehearseFlags = FlagsOf<typeof FLAGS>;

export function configure(command: Command, context: CommandContext): void {
  command.argument(
    '[path...]',
    'campaign files, folders or names (default: every campaigns/**/campaign.yaml below this folder)',
  );
  addExamples(addOptions(command, FLAGS, context), [
    ['handbill rehearse --env production', 'the next 14 days'],
    ['handbill rehearse --env production --days 31 --most 4', 'a month, and who would get more than four messages'],
  ]).action(async (paths: readonly string[], flags: RehearseFlags) => {
    const signals = watchSignals(context.err);
    try {
      const options = { ...flags, ...optionsHere(context, flags.ledger), signal: signals.first };
      const result = await rehearse(paths, options);
      const width = context.tableWidth ?? context.width;
      const text = flags.format === 'json' ? jsonOf(result) : rehearsalText(result, width);
      await writeResult([text], flags, context);
      if (flags.format === 'text') complain(context, result.diagnostics, { limit: 20 });
      context.exit(signals.status() ?? result.exit);
    } finally {
      signals.stop();
    }
  });
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

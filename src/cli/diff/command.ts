import type { Diff } from '../../diff/result.ts';
import { EXIT, HandbillError, problem, refuse } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { DIFF, diff } from '../../operations/diff.ts';
import { formatOption, OPTIONS, type OptionTable, WRITING } from '../../operations/options.ts';
import { jsonText } from '../../util/escape.ts';
import type { Flags } from '../shared/options.ts';
import { writeResult } from '../shared/output-sink.ts';
import { withProgress } from '../shared/progress.ts';
import { watchInterrupts } from '../shared/signals.ts';
import { diffMarkdown } from './markdown.ts';
import { diffText } from './text.ts';

const FORMATS = ['text', 'markdown', 'json'] as const;

const WRITERS: Readonly<Record<(typeof FORMATS)[number], (result: Diff) => string>> = {
  text: diffText,
  markdown: diffMarkdown,
  json: (result) => `${jsonText(result, 2)}\n`,
};

export const FLAGS = {
  ...DIFF,
  ledger: { ...OPTIONS.ledger, says: `with --days: ${OPTIONS.ledger.says}` },
  ...WRITING,
  format: formatOption(FORMATS),
} as const satisfies OptionTable;

export async function run(
  context: CommandContext,
  flags: Flags<typeof FLAGS>,
  revision: string,
  target: string | undefined,
): Promise<void> {
  using interrupts = watchInterrupts();
  try {
    const { days, ledger, quiet } = flags;
    if (ledger !== undefined && days === undefined)
      throw refuse(
        problem('usage', 'Without --days no ledger is read.', { hint: 'Add --days, or leave out --ledger.' }),
      );
    const work = { label: 'Rehearsal', unit: 'hours', ...flags, quiet: quiet || days === undefined } as const;
    const result = await withProgress(context, work, (meter) =>
      diff(revision, {
        ...flags,
        ...(target === undefined ? {} : { campaign: target }),
        signal: interrupts.signal,
        meter,
      }),
    );
    await writeResult([WRITERS[flags.format](result)], flags, context);
    context.exit(result.valid ? EXIT.done : EXIT.refused);
  } catch (error) {
    const status = interrupts.status();
    if (status === null || !(error instanceof HandbillError)) throw error;
    throw new HandbillError(status, error.diagnostics, error.total);
  }
}

import type { Command } from 'commander';
import type { Diff } from '../../diff/result.ts';
import { EXIT, HandbillError, problem, refuse } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { DIFF, diff } from '../../operations/diff.ts';
import { type FlagsOf, formatOption, OPTIONS, type OptionTable, WRITING } from '../../operations/options.ts';
import { optionsHere } from '../../operations/project.ts';
import { jsonText } from '../../util/escape.ts';
import { addExamples, addOptions } from '../shared/options.ts';
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

const FLAGS = {
  ...DIFF,
  ledger: { ...OPTIONS.ledger, says: `with --days: ${OPTIONS.ledger.says}` },
  ...WRITING,
  format: formatOption(FORMATS),
} as const satisfies OptionTable;

export function configure(command: Command, context: CommandContext): void {
  command
    .argument('[rev]', 'what to compare the work tree with: a branch, tag or commit; or REV..REV2, REV...REV2', 'HEAD')
    .argument('[campaign]', 'campaign file, its folder, or its name (default: all of the project)');
  addExamples(addOptions(command, FLAGS, context), [
    ['handbill diff', 'what is not committed yet'],
    ['handbill diff main', 'what the work tree changes since it left main'],
    ['handbill diff HEAD hello', 'the same of one campaign'],
    ['handbill diff v1..v2', 'from one commit to another'],
    ['handbill diff main --days 14 --env production', 'and what the change does to the next 14 days'],
    ['handbill diff origin/main --format markdown -o comment.md', 'for a pull request'],
  ]);
  command.action(async (revision: string, target: string | undefined, flags: FlagsOf<typeof FLAGS>) => {
    using interrupts = watchInterrupts();
    try {
      const { days, ledger, quiet = false, output } = flags;
      if (ledger !== undefined && days === undefined)
        throw refuse(
          problem('usage', 'Without --days no ledger is read.', { hint: 'Add --days, or leave out --ledger.' }),
        );
      const work = { label: 'Rehearsal', unit: 'hours', quiet: quiet || days === undefined } as const;
      const result = await withProgress(context, { ...work, toFile: output !== undefined }, (meter) =>
        diff(revision, {
          ...flags,
          ...(target === undefined ? {} : { campaign: target }),
          ...optionsHere(context, flags.ledger),
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
  });
}

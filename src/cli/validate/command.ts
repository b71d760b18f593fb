import type { Command } from 'commander';
import { EXIT } from '../../errors.ts';
import type { Allowable } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { optionsHere } from '../../operations/project.ts';
import { checkCampaigns, type Metered, type ValidateOptions } from '../../operations/validate.ts';
import { given } from '../../util/given.ts';
import { addAllow, addExamples, addFormat, addLedger, instant } from '../shared/options.ts';
import { withPipedList } from '../shared/piped-list.ts';
import { withProgress } from '../shared/progress.ts';
import { printValidation, VALIDATION_FORMATS, type ValidationFormat } from './print.ts';

export function configure(command: Command, context: CommandContext): void {
  command
    .argument(
      '[path...]',
      'campaign files, folders or names (default: every campaigns/**/campaign.yaml below this folder)',
    )
    .option(
      '--recipients <file>',
      'check this list instead of that of the campaign; name one campaign with it; - is standard input',
    )
    .option('--at <instant>', 'as if it were then, for example 2026-12-01T09:00:00Z or +1d', instant(context))
    .option('-o, --output <file>', 'write to this file, whole or not at all; what is wrong is shown on stderr too')
    .option('-q, --quiet', 'print nothing when all is well');
  addLedger(addFormat(addAllow(command, ['invalid-rows']), VALIDATION_FORMATS));
  addExamples(command, [
    ['handbill validate', 'every campaign below this folder'],
    ['handbill validate hello', 'campaigns/hello/campaign.yaml'],
    ['handbill validate hello --recipients /secure/people.csv', ''],
    ['handbill validate --at +1d', 'where `$on: today` and the like mean another day'],
    ['handbill validate --format json', 'one document for scripts'],
    ['handbill validate --format github', 'annotations of GitHub Actions'],
    ['handbill validate --format junit -o handbill.xml', 'for GitLab, Jenkins and others'],
  ]);
  command.action(async (paths: readonly string[], flags: Given) => {
    const { recipients, quiet = false, format, output } = flags;
    const now = context.now();
    const options = {
      ...optionsHere(context, flags.ledger),
      now: () => now,
      ...given(flags, 'recipients', 'allow', 'at'),
    };
    const run = (more: ValidateOptions & Metered) => checkCampaigns(paths, { ...options, ...more });
    const work = { label: 'Checking', unit: 'bytes', quiet, toFile: output !== undefined } as const;
    const { errors } = await withPipedList(recipients, (piped) =>
      withProgress(context, work, (meter) =>
        printValidation(format, (more) => run({ ...more, ...piped, meter }), context, { quiet, output }),
      ),
    );
    context.exit(errors > 0 ? EXIT.refused : EXIT.done);
  });
}

interface Given {
  readonly recipients?: string;
  readonly allow?: readonly Allowable[];
  readonly at?: number;
  readonly quiet?: true;
  readonly format: ValidationFormat;
  readonly output?: string;
  readonly ledger?: string;
}

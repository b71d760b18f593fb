import type { Command } from 'commander';
import { EXIT } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { type FlagsOf, formatOption, OPTIONS, type OptionTable, resolveOptions } from '../../operations/options.ts';
import { checkCampaigns, type Metered, VALIDATE, type ValidateOptions } from '../../operations/validate.ts';
import { addExamples, addOptions, PATHS } from '../shared/options.ts';
import { withPipedList } from '../shared/piped-list.ts';
import { withProgress } from '../shared/progress.ts';
import { printValidation, VALIDATION_FORMATS } from './print.ts';

const FLAGS = {
  ...VALIDATE,
  output: {
    flag: '-o, --output <file>',
    says: 'write to this file, whole or not at all; what is wrong is shown on stderr too',
  },
  quiet: OPTIONS.quiet,
  format: formatOption(VALIDATION_FORMATS),
  ledger: OPTIONS.ledger,
} as const satisfies OptionTable;

export function configure(command: Command, context: CommandContext): void {
  command.argument(...PATHS);
  addExamples(addOptions(command, FLAGS, context), [
    ['handbill validate', 'every campaign below this folder'],
    ['handbill validate hello', 'campaigns/hello/campaign.yaml'],
    ['handbill validate hello --recipients /secure/people.csv', ''],
    ['handbill validate --at +1d', 'where `$on: today` and the like mean another day'],
    ['handbill validate --format json', 'one document for scripts'],
    ['handbill validate --format github', 'annotations of GitHub Actions'],
    ['handbill validate --format junit -o handbill.xml', 'for GitLab, Jenkins and others'],
  ]);
  command.action(async (paths: readonly string[], flags: FlagsOf<typeof FLAGS>) => {
    const { recipients, quiet = false, format, output, ledger } = flags;
    const now = context.now();
    const options = { ...flags, ...resolveOptions({ cwd: context.cwd, env: context.env, now: () => now, ledger }) };
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

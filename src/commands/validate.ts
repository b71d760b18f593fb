import type { Command } from 'commander';
import { EXIT } from '../errors.ts';
import { type ValidateOptions, validate } from './check-campaigns.ts';
import type { CommandContext } from './context.ts';
import { addExamples, addFormat, addLedger, ledgerOption } from './options.ts';
import { printJson, printText } from './print-validation.ts';

export { type CheckedFile, type ValidateOptions, type Validation, validate } from './check-campaigns.ts';

export function configure(command: Command, context: CommandContext): void {
  command
    .argument(
      '[path...]',
      'campaign files, folders or names (default: every campaigns/*/campaign.yaml below this folder)',
    )
    .option('--recipients <file>', 'check this list instead of that of the campaign')
    .option('--skip-invalid', 'count bad rows as skipped instead of refusing them')
    .option('-q, --quiet', 'print nothing when all is well');
  addLedger(addFormat(command, ['text', 'json']));
  addExamples(command, [
    ['handbill validate', 'every campaign below this folder'],
    ['handbill validate hello', 'campaigns/hello/campaign.yaml'],
    ['handbill validate hello --recipients /secure/people.csv', ''],
    ['handbill validate --format json', 'one document for scripts'],
  ]);
  command.action(async (paths: readonly string[], given: Given) => {
    const { recipients, skipInvalid, quiet, format } = given;
    const options: ValidateOptions = {
      cwd: context.cwd,
      now: context.now(),
      ...(recipients === undefined ? {} : { recipients }),
      ...(skipInvalid === undefined ? {} : { skipInvalid }),
      ...ledgerOption(given.ledger, context),
    };
    const run = (more: Partial<ValidateOptions>) => validate(paths, { ...options, ...more });
    const print = format === 'json' ? printJson : printText;
    const { errors } = await print(run, context, quiet === true);
    context.exit(errors > 0 ? EXIT.refused : EXIT.done);
  });
}

interface Given {
  readonly recipients?: string;
  readonly skipInvalid?: true;
  readonly quiet?: true;
  readonly format: 'text' | 'json';
  readonly ledger?: string;
}

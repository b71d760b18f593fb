import type { Command } from 'commander';
import { EXIT } from '../errors.ts';
import { type ValidateOptions, validate } from './check-campaigns.ts';
import type { CommandContext } from './context.ts';
import { addExamples, addFormat, addLedger, ledgerOption } from './options.ts';
import { printValidation, VALIDATION_FORMATS, type ValidationFormat } from './print-validation.ts';

export { type CheckedFile, type ValidateOptions, type Validation, validate } from './check-campaigns.ts';

export function configure(command: Command, context: CommandContext): void {
  command
    .argument(
      '[path...]',
      'campaign files, folders or names (default: every campaigns/*/campaign.yaml below this folder)',
    )
    .option('--recipients <file>', 'check this list instead of that of the campaign')
    .option('--skip-invalid', 'count bad rows as skipped instead of refusing them')
    .option('-o, --output <file>', 'write to this file, whole or not at all; what is wrong is shown on stderr too')
    .option('-q, --quiet', 'print nothing when all is well');
  addLedger(addFormat(command, VALIDATION_FORMATS));
  addExamples(command, [
    ['handbill validate', 'every campaign below this folder'],
    ['handbill validate hello', 'campaigns/hello/campaign.yaml'],
    ['handbill validate hello --recipients /secure/people.csv', ''],
    ['handbill validate --format json', 'one document for scripts'],
    ['handbill validate --format github', 'annotations of GitHub Actions'],
    ['handbill validate --format sarif -o handbill.sarif', 'for code scanning'],
    ['handbill validate --format junit -o handbill.xml', 'for GitLab, Jenkins and others'],
  ]);
  command.action(async (paths: readonly string[], given: Given) => {
    const { recipients, skipInvalid, quiet = false, format, output } = given;
    const options: ValidateOptions = {
      cwd: context.cwd,
      now: context.now(),
      env: context.env,
      ...(recipients === undefined ? {} : { recipients }),
      ...(skipInvalid === undefined ? {} : { skipInvalid }),
      ...ledgerOption(given.ledger, context),
    };
    const run = (more: Partial<ValidateOptions>) => validate(paths, { ...options, ...more });
    const { errors } = await printValidation(format, run, context, { quiet, output });
    context.exit(errors > 0 ? EXIT.refused : EXIT.done);
  });
}

interface Given {
  readonly recipients?: string;
  readonly skipInvalid?: true;
  readonly quiet?: true;
  readonly format: ValidationFormat;
  readonly output?: string;
  readonly ledger?: string;
}

import { EXIT } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { formatOption, OPTIONS, type OptionTable } from '../../operations/options.ts';
import { checkCampaigns, type Metered, VALIDATE, type ValidateOptions } from '../../operations/validate.ts';
import type { Flags } from '../shared/options.ts';
import { withPipedList } from '../shared/piped-list.ts';
import { withProgress } from '../shared/progress.ts';
import { printValidation, VALIDATION_FORMATS } from './print.ts';

export const FLAGS = {
  ...VALIDATE,
  output: {
    flag: '-o, --output <file>',
    says: 'write to this file, whole or not at all; what is wrong is shown on stderr too',
  },
  quiet: OPTIONS.quiet,
  format: formatOption(VALIDATION_FORMATS),
  ledger: OPTIONS.ledger,
} as const satisfies OptionTable;

export async function run(
  context: CommandContext,
  flags: Flags<typeof FLAGS>,
  paths: readonly string[],
): Promise<void> {
  const { recipients, quiet = false, format, output } = flags;
  const now = context.now();
  const options = { ...flags, now: () => now };
  const check = (more: ValidateOptions & Metered) => checkCampaigns(paths, { ...options, ...more });
  const { errors } = await withPipedList(recipients, (piped) =>
    withProgress(context, { label: 'Checking', ...flags }, (meter) =>
      printValidation(format, (more) => check({ ...more, ...piped, meter }), context, { quiet, output }),
    ),
  );
  context.exit(errors > 0 ? EXIT.refused : EXIT.done);
}

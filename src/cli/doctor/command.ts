import type { CommandContext } from '../../operations/context.ts';
import { DOCTOR, type DoctorResult, doctor, totalsOf } from '../../operations/doctor.ts';
import { type DoctorCheck, exitOf, found } from '../../operations/doctor-environments.ts';
import { formatOption, OPTIONS, type OptionTable } from '../../operations/options.ts';
import { countOf } from '../../report/words.ts';
import { jsonText, safeLine } from '../../util/escape.ts';
import { maskNumbers } from '../../util/redact.ts';
import { table } from '../../util/table.ts';
import type { Flags } from '../shared/options.ts';

export const FLAGS = {
  ...DOCTOR,
  quiet: { flag: '-q, --quiet', says: 'print nothing when there is no problem' },
  format: formatOption(['text', 'json']),
  ledger: OPTIONS.ledger,
} as const satisfies OptionTable;

export async function run(
  context: CommandContext,
  flags: Flags<typeof FLAGS>,
  campaign: string | undefined,
): Promise<void> {
  const { checks: looked, ...facts } = await doctor({
    ...flags,
    ...(campaign === undefined ? {} : { campaign }),
  });
  // A program has no terminal.
  const terminal = context.interactive
    ? found('terminal', 'ok', `A terminal of ${context.width} columns: questions can be asked.`)
    : found('terminal', 'skipped', 'No terminal: handbill cannot ask, and sending to an environment needs --yes.');
  const checks = looked.flatMap((one) => (one.check === 'certificates' ? [terminal, one] : [one]));
  // Described by schemas/doctor.schema.json.
  const checkup = { version: 1, ...facts, checks, totals: totalsOf(checks) };
  const exit = exitOf(checks);
  context.exit(exit);
  if (flags.quiet && exit === 0) return;
  const text = flags.format === 'json' ? `${jsonText(checkup, 2)}\n` : checkupText(checkup, context);
  await context.out(text);
}

const STATUSES: Readonly<Record<DoctorCheck['status'], readonly [word: string, colour: string]>> = {
  ok: ['ok', '32'],
  warning: ['warning', '33'],
  problem: ['PROBLEM', '31'],
  skipped: ['-', '2'],
};

function checkupText({ checks, totals }: DoctorResult, { colour, tableWidth }: CommandContext): string {
  const style = (cell: string, row: number): string => {
    const status = checks[row]?.status;
    return colour.out && status !== undefined ? `\u001b[${STATUSES[status][1]}m${cell}\u001b[0m` : cell;
  };
  // An argument or a value of a file may be a phone number, so numbers are masked.
  const rows = checks.map(({ status, check, of, message }) => [
    STATUSES[status][0],
    maskNumbers(of === null ? check : `${check} ${of}`),
    maskNumbers(message),
  ]);
  const below = (row: number): string => {
    const { hint = null, status = 'ok' } = checks[row] ?? {};
    return hint === null || status === 'ok' ? '' : `    ${safeLine(maskNumbers(hint))}\n`;
  };
  const shown = table(rows, [{ style }, {}, {}], { width: tableWidth ?? Number.POSITIVE_INFINITY, below });
  return `${shown}\n${countOf(totals.problems, 'problem')}, ${countOf(totals.warnings, 'warning')}.\n`;
}

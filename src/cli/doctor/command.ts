import type { Command } from 'commander';
import type { CommandContext } from '../../operations/context.ts';
import { type DoctorResult, doctor, totalsOf } from '../../operations/doctor.ts';
import { type DoctorCheck, exitOf, found } from '../../operations/doctor-environments.ts';
import { optionsHere } from '../../operations/project.ts';
import { countOf } from '../../report/words.ts';
import { jsonText, safeLine } from '../../util/escape.ts';
import { maskNumbers } from '../../util/redact.ts';
import { table } from '../../util/table.ts';
import { addExamples, addFormat, addLedger } from '../shared/options.ts';

interface Given {
  readonly env?: string;
  readonly online?: true;
  readonly quiet?: true;
  readonly format: 'text' | 'json';
  readonly ledger?: string;
}

/** What `handbill doctor --format json` prints: schemas/doctor.schema.json. */
interface Checkup extends DoctorResult {
  readonly version: 1;
}

export function configure(command: Command, context: CommandContext): void {
  command
    .argument('[campaign]', 'campaign file, folder or name, to be looked at too (default: only the project)')
    .option('--env <name>', 'only this environment (default: all)')
    .option('--online', 'connect to the environments; sends neither message nor key')
    .option('-q, --quiet', 'print nothing when there is no problem');
  addLedger(addFormat(command, ['text', 'json']));
  addExamples(command, [
    ['handbill doctor', 'the project of this folder; no connection is made'],
    ['handbill doctor newsletter --env production --online', 'before a first send'],
    ['handbill doctor --quiet', 'from cron'],
  ]);
  command.action(async (campaign: string | undefined, given: Given) => {
    const { checks: looked, ...facts } = await doctor({
      ...optionsHere(context, given.ledger),
      ...(campaign === undefined ? {} : { campaign }),
      ...(given.env === undefined ? {} : { environment: given.env }),
      online: given.online === true,
    });
    const checks = withTerminal(looked, context);
    const checkup: Checkup = { version: 1, ...facts, checks, totals: totalsOf(checks) };
    const exit = exitOf(checks);
    context.exit(exit);
    if (given.quiet === true && exit === 0) return;
    const text = given.format === 'json' ? `${jsonText(checkup, 2)}\n` : checkupText(checkup, context);
    await context.out(text);
  });
}

/** Adds the check of the terminal, which a program does not have. */
function withTerminal(checks: DoctorResult['checks'], { interactive, width }: CommandContext): readonly DoctorCheck[] {
  const terminal = interactive
    ? found('terminal', 'ok', `A terminal of ${width} columns: questions can be asked.`)
    : found('terminal', 'skipped', 'No terminal: handbill cannot ask, and sending to an environment needs --yes.');
  return checks.flatMap((one) => (one.check === 'certificates' ? [terminal, one] : [one]));
}

const WORDS: Readonly<Record<DoctorCheck['status'], string>> = {
  ok: 'ok',
  warning: 'warning',
  problem: 'PROBLEM',
  skipped: '-',
};
const COLOURS: Readonly<Record<DoctorCheck['status'], string>> = {
  ok: '32',
  warning: '33',
  problem: '31',
  skipped: '2',
};

function checkupText({ checks, totals }: Checkup, { colour }: CommandContext): string {
  const style = (cell: string, row: number): string => {
    const status = checks[row]?.status;
    return colour.out && status !== undefined ? `\u001b[${COLOURS[status]}m${cell}\u001b[0m` : cell;
  };
  // Not cut to the width: half a sentence says nothing. An argument or a value of a file may be a phone number, so
  // numbers are masked.
  const rows = checks.map(({ status, check, of, message }) => [
    WORDS[status],
    maskNumbers(of === null ? check : `${check} ${of}`),
    maskNumbers(message),
  ]);
  const lines = table(rows, [{ style }, {}, {}], { width: Number.MAX_SAFE_INTEGER }).split('\n');
  const indent = ' '.repeat(lines[0]?.indexOf(rows[0]?.[2] ?? '') ?? 0);
  const shown = checks.flatMap(({ hint, status }, i) => [
    lines[i] ?? '',
    ...(hint === null || status === 'ok' ? [] : [`${indent}${safeLine(maskNumbers(hint))}`]),
  ]);
  return `${shown.join('\n')}\n\n${countOf(totals.problems, 'problem')}, ${countOf(totals.warnings, 'warning')}.\n`;
}

import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Diagnostic, problem } from '../../errors.ts';
import { ALLOWABLE_CODES, type Allowable } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';

import { instantMs } from '../../util/time.ts';
import { durationMs } from '../../util/units.ts';

/** `--format`, one of a closed list whose first is the default. */
export function addFormat(command: Command, formats: readonly [string, ...string[]]): Command {
  return command.addOption(
    new Option('--format <format>', `how to print: ${formats.join(', ')}`)
      .choices(formats)
      .default(formats[0], formats[0]),
  );
}

/** `--output`, and `--quiet` for the message about the file. */
export function addOutput(command: Command): Command {
  return command
    .option('-o, --output <file>', 'write to this file, whole or not at all')
    .option('-q, --quiet', 'print nothing about a file that was written');
}

/** `--env` of a command that sends or shows what would be sent; HANDBILL_ENV is its default. */
export function environmentOption({ env }: Pick<CommandContext, 'env'>, what = 'environment of handbill.yaml'): Option {
  return new Option('--env <name>', what).default(namedIn(env) ?? 'sandbox', 'HANDBILL_ENV, else sandbox');
}

/** `--env` of a command that takes the only environment where none is named. */
export function onlyEnvironmentOption({ env }: Pick<CommandContext, 'env'>, what: string): Option {
  return new Option('--env <name>', `${what} (default: HANDBILL_ENV, else the only one of handbill.yaml)`).default(
    namedIn(env),
    '',
  );
}

function namedIn(env: CommandContext['env']): string | undefined {
  const named = env['HANDBILL_ENV'];
  return named === '' ? undefined : named;
}

/** `--ledger`; HANDBILL_LEDGER is its default. */
export function addLedger(command: Command): Command {
  return command.option(
    '--ledger <place>',
    'the ledger to use: a file, relative to the project, or postgres://... (default: HANDBILL_LEDGER, else that of the project)',
  );
}

/** Parses a whole number within bounds, for an option. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
  };
}

/** Parses a time such as `30s`, for an option; in ms. */
export function time(text: string): number {
  const ms = durationMs(text);
  if (ms === null) throw new InvalidArgumentError('Write it as 30s, 5m or 1h.');
  return ms;
}

/** Parses an instant, or a time from now such as `+14d`, for `--at`; in ms since 1970. */
export function instant({ now }: Pick<CommandContext, 'now'>): (text: string) => number {
  return (text) => {
    const fromNow = text.startsWith('+') ? durationMs(text.slice(1)) : null;
    const ms = fromNow === null ? instantMs(text) : now() + fromNow;
    if (ms !== null) return ms;
    throw new InvalidArgumentError(
      'Write an instant with its offset, such as 2026-12-01T09:00:00Z, or a time from now: +14d.',
    );
  };
}

export function addExamples(command: Command, examples: readonly (readonly [line: string, says: string])[]): Command {
  const width = Math.max(...examples.map(([line]) => line.length));
  const lines = examples.map(([line, says]) => `  ${line.padEnd(width)}  ${says}`.trimEnd());
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

/** `--log` and `--log-level`; HANDBILL_LOG is the default of the first. */
export function addLog(command: Command): Command {
  return command
    .option('--log <file>', 'append what happens as JSON lines; - is stderr (default: HANDBILL_LOG, else none)')
    .addOption(
      new Option('--log-level <level>', 'debug adds a line for each attempt')
        .choices(['info', 'debug'])
        .default('info'),
    );
}

/** `--metrics-file`; HANDBILL_METRICS_FILE is its default. */
export function addMetricsFile(command: Command): Command {
  return command.option(
    '--metrics-file <file>',
    'write figures for Prometheus at the end (default: HANDBILL_METRICS_FILE, else none)',
  );
}

export const STANDING = 'for every occurrence until a day, whatever its list holds: needs no list';
export const UNTIL = 'with --standing: the last day, in UTC, such as 2026-12-31';

export function untilMissing(): Diagnostic {
  return problem('usage', 'A standing approval has a last day.', { hint: 'Add it: --until 2026-12-31' });
}

/** `--allow`, which may be given several times; the operation checks the codes. */
export function addAllow(command: Command, codes: readonly Allowable[] = ALLOWABLE_CODES): Command {
  const sentence = `go on although handbill refuses, by the code of the refusal; several with commas: ${codes.join(', ')}`;
  return command.option('--allow <code>', sentence, (text: string, before: readonly string[] = []) => [
    ...before,
    ...text.split(',').map((code) => code.trim()),
  ]);
}

/** Parses the name of a host, for `--host`: an empty one would be every address of this machine. */
export function hostName(text: string): string {
  if (/^[A-Za-z0-9.:_-]{1,253}$/.test(text)) return text;
  throw new InvalidArgumentError('Give a name or an address, such as 127.0.0.1.');
}

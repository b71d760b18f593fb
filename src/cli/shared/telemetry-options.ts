import { type Command, Option } from 'commander';

/** `--log` and `--log-level`; HANDBILL_LOG stands in for the first. */
export function addLog(command: Command): Command {
  return command
    .option('--log <file>', 'append what happens as JSON lines; - is stderr (default: HANDBILL_LOG, else none)')
    .addOption(
      new Option('--log-level <level>', 'debug adds a line for each attempt')
        .choices(['info', 'debug'])
        .default('info'),
    );
}

/** `--metrics-file`, which HANDBILL_METRICS_FILE stands in for. */
export function addMetricsFile(command: Command): Command {
  return command.option(
    '--metrics-file <file>',
    'write figures for Prometheus at the end (default: HANDBILL_METRICS_FILE, else none)',
  );
}

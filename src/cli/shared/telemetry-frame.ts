import type { Command } from 'commander';
import { EXIT, type ExitStatus, HandbillError } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import type { AskedTelemetry, RunningTelemetry } from '../../operations/observer.ts';

/** Checks options and variables. If telemetry is off, imports nothing, and no command sees a difference. */
export function frameTelemetry(program: Command, given: CommandContext) {
  let running: RunningTelemetry | null = null;
  let status: ExitStatus = EXIT.done;
  const context: CommandContext = {
    ...given,
    exit(said) {
      status = said;
      given.exit(said);
    },
    /** Once the command line is parsed, if telemetry is on. */
    get telemetry() {
      return running?.telemetry;
    },
  };
  program.hook('preAction', async (_program, command) => {
    const asked = readAsked(command, given.env);
    if (asked === null) return;
    const { startTelemetry } = await import('../../telemetry/telemetry.ts');
    running = await startTelemetry(asked, given);
  });
  return {
    context,
    /** @param error thrown by the command; null: it ended normally */
    async end(error: unknown): Promise<void> {
      if (running === null) return;
      if (error !== null) status = error instanceof HandbillError ? error.exit : EXIT.bug;
      await running.end(status, error instanceof HandbillError ? error.diagnostics : []);
    },
  };
}

function readAsked(command: Command, env: CommandContext['env']): AskedTelemetry | null {
  const takes = (flag: string): boolean => command.options.some(({ long }) => long === flag);
  const given = command.opts<{
    log?: string;
    logLevel?: string;
    metricsFile?: string;
    quiet?: boolean;
    dryRun?: boolean;
  }>();
  // A dry run of `send` is not a run: the metrics of the last run stay.
  const counts = takes('--metrics-file') && !(command.name() === 'send' && given.dryRun === true);
  const log = takes('--log') ? (given.log ?? env['HANDBILL_LOG'] ?? '') : '';
  const metricsFile = counts ? (given.metricsFile ?? env['HANDBILL_METRICS_FILE'] ?? '') : '';
  if (log === '' && metricsFile === '') return null;
  return {
    command: command.name(),
    log: log === '' ? null : log,
    logLevel: given.logLevel === 'debug' ? 'debug' : 'info',
    metricsFile: metricsFile === '' ? null : metricsFile,
    quiet: given.quiet === true,
  };
}

import { resolve } from 'node:path';
import { type Diagnostic, EXIT, type ExitStatus, thrownText } from '../errors.ts';
import type { CommandContext } from '../operations/context.ts';
import { ABOUT_NOTHING, type AskedTelemetry, type RunningTelemetry, type Telemetry } from '../operations/observer.ts';
import { safeLine } from '../util/escape.ts';
import { createRedactor, secretsIn } from '../util/redact.ts';
import { version } from '../util/version.ts';
import { createFollower } from './follow.ts';
import { createLog, type Log, type LogFile, openLogFile } from './log.ts';
import { gatherMetrics } from './metrics.ts';
import { createWebhookLog } from './receiving.ts';

const MOST_DIAGNOSTICS = 20;

/** Warns about parts that cannot start, and goes on without them. */
export async function startTelemetry(asked: AskedTelemetry, context: CommandContext): Promise<RunningTelemetry> {
  const { now } = context;
  const { command } = asked;
  const warnings = createWarnings(context, asked.quiet);
  const log = startLog(asked, context, warnings.warn);
  // After a failure of the disk the ledger is left alone (failures.md, H1).
  const mayRead = (exit: ExitStatus) => exit !== EXIT.ledger && exit !== EXIT.bug;
  const metrics = asked.metricsFile === null ? null : gatherMetrics(command, now, mayRead);
  const note: Telemetry['note'] = (level, event, message, fields, about = {}) =>
    log?.write(level, event, message, fields, { ...ABOUT_NOTHING, ...about });
  const webhooks = log === null ? null : createWebhookLog(note);
  const said: Telemetry['said'] = (diagnostics, about = {}) => {
    for (const one of diagnostics.slice(0, MOST_DIAGNOSTICS)) noteDiagnostic(note, one, about);
  };
  const telemetry: Telemetry = {
    note,
    said,
    follow: createFollower({ log, metrics, now, note, said }),
    receiving: {
      recorded: (recorded) => webhooks?.recorded(recorded),
      line: (line) => webhooks?.line(line),
    },
    reported: (ledger, run) => metrics?.run(ledger, run),
  };
  const beganMs = now();
  note('info', 'command-started', `handbill ${command} begins.`, { version: version(), pid: process.pid });
  return {
    telemetry,
    async end(exit, diagnostics) {
      webhooks?.flush();
      said(diagnostics);
      if (metrics !== null && asked.metricsFile !== null) {
        const path = resolve(context.cwd, asked.metricsFile);
        await metrics.write(path, { exit, atMs: now() }).catch((error: unknown) => {
          warnings.warn(`The metrics file is not written: ${thrownText(error)}`);
        });
      }
      const fields = { exitStatus: exit, durationMs: now() - beganMs };
      const level = exit === EXIT.done ? 'info' : 'error';
      note(level, 'command-ended', `handbill ${command} ends with status ${exit}.`, fields);
      log?.close();
      warnings.end(exit);
    },
  };
}

/** Quiet prints nothing where the exit status is 0: it keeps warnings until that is known. */
function createWarnings({ err }: Pick<CommandContext, 'err'>, quiet: boolean) {
  const held: string[] | null = quiet ? [] : null;
  const say = (sentence: string): void => err(`warning: ${safeLine(sentence)}\n`);
  return {
    warn(sentence: string): void {
      if (held === null) say(sentence);
      else held.push(sentence);
    },
    end(exit: ExitStatus): void {
      if (held !== null && exit !== EXIT.done) for (const sentence of held) say(sentence);
    },
  };
}

function startLog(asked: AskedTelemetry, context: CommandContext, warn: (sentence: string) => void): Log | null {
  const { log: path, logLevel: level, command } = asked;
  if (path === null) return null;
  const { env, now } = context;
  const redact = createRedactor(secretsIn(env));
  try {
    const file = path === '-' ? stderrFile(context) : openLogFile(resolve(context.cwd, path));
    const onLost = (why: string): void => warn(`The log ${path} cannot be written: ${why}.`);
    return createLog({ file, level, command, now, redact, onLost });
  } catch (error) {
    warn(`The log ${path} cannot be opened: ${thrownText(error)}. There is none.`);
    return null;
  }
}

/** A reader of stderr that has gone does no harm (failures.md, I4). */
function stderrFile({ err }: Pick<CommandContext, 'err'>): LogFile {
  return {
    append(lines) {
      err(lines);
      return null;
    },
    close: () => undefined,
  };
}

function noteDiagnostic(note: Telemetry['note'], diagnostic: Diagnostic, about: Parameters<typeof note>[4]): void {
  const { code, severity, message, at, hint } = diagnostic;
  const fields = {
    code,
    file: at?.file ?? null,
    line: at?.line ?? null,
    column: at?.column ?? null,
    hint: hint ?? null,
  };
  note(LEVELS[severity], 'diagnostic', message, fields, about);
}

const LEVELS = { error: 'error', warning: 'warn', note: 'info' } as const;

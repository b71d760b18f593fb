import type { Command } from 'commander';
import { problem, refuse } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { type Listening, listen } from '../../operations/listen.ts';
import { optionsHere } from '../../operations/project.ts';
import { createListenLog } from '../../telemetry/receiving.ts';
import { formatDiagnostics } from '../../util/diagnostic-text.ts';
import { safe } from '../../util/escape.ts';
import { placeOfLedger } from '../../util/ledger-address.ts';
import { isoSeconds } from '../../util/time.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../../webhook/receive.ts';
import {
  addExamples,
  addFormat,
  addLedger,
  addLog,
  hostName,
  onlyEnvironmentOption,
  wholeNumber,
} from '../shared/options.ts';
import { watchInterrupts } from '../shared/signals.ts';

export function configure(command: Command, context: CommandContext): void {
  command
    .option('--port <port>', 'TCP port; 0 takes a free one', wholeNumber(0, 65_535), DEFAULT_PORT)
    .option('--host <address>', 'address to listen on; a proxy with TLS belongs before it', hostName, DEFAULT_HOST)
    .addOption(onlyEnvironmentOption(context, 'environment of what comes to the path itself, or of the payload'))
    .option(
      '--explain <file>',
      'say what of a captured payload is not understood, and receive nothing; - is standard input',
    )
    .option(
      '--from <files...>',
      'import exported reports and replies (JSON, JSON lines or CSV; - is standard input), and receive nothing',
    )
    .option('--dry-run', 'with --from: show what would be done, on a copy of the ledger; changes nothing')
    .option('-q, --quiet', 'say only what is wrong with the ledger; with --from: print nothing when all is well');
  addExamples(addLog(addLedger(addFormat(command, ['text', 'json']))), [
    ['handbill listen', 'on http://127.0.0.1:4011 with the path of handbill.yaml, until Ctrl-C'],
    ['handbill listen --env production', 'what comes to the path itself is about messages of that environment'],
    ['handbill listen --explain captured.json', 'what of it is not understood, and which setting would read it'],
    ['handbill listen --from reports.csv', 'columns such as messageId,status,timestamp,error'],
    ['handbill listen --from replies.csv', 'columns such as from,to,text,timestamp'],
    ['handbill listen --env production --from reports.csv', 'where there are several environments'],
    ['handbill listen --dry-run --from events-*.jsonl', 'what would be new'],
    ['curl -s https://provider.example/export | handbill listen --from -', ''],
    ['handbill listen --port 8080 --ledger /var/lib/handbill/ledger.db', ''],
  ]).action(async (given: Given) => {
    refuseMixed(given);
    if (given.from !== undefined) {
      const { importFiles } = await import('./from.ts');
      return await importFiles(given.from, given, context);
    }
    if (given.explain === undefined) return await serve(given, context);
    const { explainPayload } = await import('./explain.ts');
    await explainPayload(given.explain, given.env, context);
  });
}

interface Given {
  readonly port: number;
  readonly host: string;
  readonly env?: string;
  readonly explain?: string;
  readonly from?: readonly string[];
  readonly dryRun?: true;
  readonly format: 'text' | 'json';
  readonly ledger?: string;
  readonly quiet?: true;
}

function refuseMixed({ from, explain, dryRun, format }: Given): void {
  if (from !== undefined && explain === undefined) return;
  if (from !== undefined) throw refuse(problem('usage', 'Use --from or --explain, not both.'));
  const flag = dryRun === true ? '--dry-run' : format === 'json' ? '--format json' : undefined;
  if (flag === undefined) return;
  const hint = 'Add --from FILE, which imports exported reports and replies.';
  throw refuse(problem('usage', `Without --from, ${flag} would do nothing.`, { hint }));
}

async function serve(given: Given, context: CommandContext): Promise<void> {
  const quiet = given.quiet === true;
  const interrupts = watchInterrupts();
  const say = (line: string): void => context.err(`${isoSeconds(context.now())} ${safe(line)}\n`);
  // Without a terminal no person watches: a line for each group would fill the log of the machine.
  const log = quiet || !isWatched(context) ? null : createListenLog(say);
  const { telemetry } = context;
  try {
    const listening = await listen({
      ...optionsHere(context, given.ledger),
      signal: interrupts.signal,
      port: given.port,
      host: given.host,
      ...(given.env === undefined ? {} : { environment: given.env }),
      onRecorded: (recorded) => {
        log?.recorded(recorded);
        telemetry?.receiving.recorded(recorded);
      },
      log: (line) => {
        telemetry?.receiving.line(line);
        if (!quiet || !line.startsWith('refused:')) say(line);
      },
    });
    telemetry?.note('info', 'webhook-listening', 'Webhooks are received.', { port: listening.port });
    try {
      if (!quiet) {
        telemetry?.said(listening.warnings);
        if (listening.warnings.length > 0) {
          context.err(formatDiagnostics(listening.warnings, { colour: context.colour.err }));
        }
        await context.out(welcome(listening, context.cwd));
      }
      await listening.closed;
    } finally {
      // Also if the address could not be printed: an open server keeps the process alive.
      await listening.close();
      log?.flush();
    }
    const status = interrupts.status();
    if (status !== null) context.exit(status);
  } finally {
    interrupts.stop();
  }
}

function isWatched({ interactive, colour }: CommandContext): boolean {
  return interactive || colour.err;
}

function welcome({ url, environment, environments, ledger }: Listening, cwd: string): string {
  const others = environments.filter((name) => name !== environment).map((name) => `${url}/${name}`);
  const own = environment === null ? '' : `Receiving on ${url}${others.length === 0 ? '' : ` for ${environment}`}\n`;
  const each = `${environment === null ? 'Receiving' : 'Also'}, each for one environment: ${others.join(', ')}\n`;
  return `${own}${others.length === 0 ? '' : each}Events go to ${placeOfLedger(ledger, cwd)} - Ctrl-C stops it.\n`;
}

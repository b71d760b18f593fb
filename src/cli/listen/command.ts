import { problem, refuse } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { LISTEN, type Listening, listen } from '../../operations/listen.ts';
import { formatOption, LOGGING, OPTIONS, type OptionTable } from '../../operations/options.ts';
import { createListenLog } from '../../telemetry/receiving.ts';
import { safe } from '../../util/escape.ts';
import { placeOfLedger } from '../../util/ledger-address.ts';
import { isoSeconds } from '../../util/time.ts';
import { complain } from '../shared/complain.ts';
import type { Flags } from '../shared/options.ts';
import { watchInterrupts } from '../shared/signals.ts';

export const FLAGS = {
  ...LISTEN,
  explain: {
    flag: '--explain <file>',
    says: 'list what handbill does not understand of a captured payload, and receive nothing; - is standard input',
  },
  from: {
    flag: '--from <files...>',
    says: 'import exported reports and replies (JSON, JSON lines, CSV, or forms, one a line; - is standard input), and receive nothing; api asks the API of the environment',
  },
  dryRun: {
    flag: '--dry-run',
    says: 'with --from: show what the import would do, on a copy of the ledger; changes nothing',
  },
  quiet: {
    flag: '-q, --quiet',
    says: 'say only what is wrong with the ledger; with --from: print nothing when all is well',
  },
  format: formatOption(['text', 'json']),
  ledger: OPTIONS.ledger,
  ...LOGGING,
} as const satisfies OptionTable;

type ListenFlags = Flags<typeof FLAGS>;

export async function run(context: CommandContext, given: ListenFlags): Promise<void> {
  refuseMixed(given);
  if (given.from !== undefined) {
    const { importFiles } = await import('./from.ts');
    return await importFiles(given.from, given, context);
  }
  if (given.explain === undefined) return await serve(given, context);
  const { explainPayload } = await import('./explain.ts');
  await explainPayload(given.explain, given.environment, context);
}

function refuseMixed({ from, explain, dryRun, format }: ListenFlags): void {
  if (from !== undefined && explain === undefined) return;
  if (from !== undefined) throw refuse(problem('usage', 'Use --from or --explain, not both.'));
  const flag = dryRun === true ? '--dry-run' : format === 'json' ? '--format json' : undefined;
  if (flag === undefined) return;
  const hint = 'Add --from FILE, which imports exported reports and replies.';
  throw refuse(problem('usage', `Without --from, ${flag} would do nothing.`, { hint }));
}

async function serve(given: ListenFlags, context: CommandContext): Promise<void> {
  const quiet = given.quiet === true;
  using interrupts = watchInterrupts();
  const say = (line: string): void => context.err(`${isoSeconds(context.now())} ${safe(line)}\n`);
  // Without a terminal no person watches: a line for each group would fill the log of the machine.
  const log = quiet || !(context.interactive || context.colour.err) ? null : createListenLog(say);
  const { telemetry } = context;
  const listening = await listen({
    ...given,
    signal: interrupts.signal,
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
      complain(context, listening.warnings);
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
}

function welcome({ url, environment, environments, ledger }: Listening, cwd: string): string {
  const others = environments.filter((name) => name !== environment).map((name) => `${url}/${name}`);
  const own = environment === null ? '' : `Receiving on ${url}${others.length === 0 ? '' : ` for ${environment}`}\n`;
  const each = `${environment === null ? 'Receiving' : 'Also'}, each for one environment: ${others.join(', ')}\n`;
  return `${own}${others.length === 0 ? '' : each}Events go to ${placeOfLedger(ledger, cwd)} - Ctrl-C stops it.\n`;
}

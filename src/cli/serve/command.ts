import type { Command } from 'commander';
import type { CommandContext } from '../../operations/context.ts';
import { optionsHere } from '../../operations/project.ts';
import { safe } from '../../util/escape.ts';
import { given } from '../../util/given.ts';
import { placeOfLedger } from '../../util/ledger-address.ts';
import { serve } from '../../web/serve.ts';
import { DEFAULT_HOST, DEFAULT_PORT, type Serving } from '../../web/start.ts';
import { addExamples, addLedger, hostName, wholeNumber } from '../shared/options.ts';
import { watchInterrupts } from '../shared/signals.ts';

export function configure(command: Command, context: CommandContext): void {
  command
    .option('--port <port>', 'TCP port; 0 takes a free one', wholeNumber(0, 65_535), DEFAULT_PORT)
    .option('--host <address>', 'address to listen on', hostName, DEFAULT_HOST)
    .option(
      '--allow-actions',
      'a person who opens the printed address may pause, resolve doubts, review replies, change suppressions',
    )
    .option('--open', 'every user of this machine may read without the printed address')
    .option(
      '--allow-remote <name...>',
      'names under which other machines open the pages',
      (text, before: readonly string[] = []) => [...before, hostName(text)],
    )
    .option('--campaigns <path...>', 'campaigns to show (default: those of the project)')
    .option('-q, --quiet', 'print only the address that signs in, and what is wrong');
  addExamples(addLedger(command), [
    ['handbill serve', 'on http://127.0.0.1:4012 until Ctrl-C; prints an address that signs in to read'],
    ['handbill serve --allow-actions', 'a signed-in user may also change the ledger'],
    ['handbill serve --port 8080 --ledger /var/lib/handbill/ledger.db', ''],
  ]).action((given: Given) => run(given, context));
}

interface Given {
  readonly port: number;
  readonly host: string;
  readonly allowActions?: true;
  readonly open?: true;
  readonly allowRemote?: readonly string[];
  readonly campaigns?: readonly string[];
  readonly ledger?: string;
  readonly quiet?: true;
}

async function run(flags: Given, context: CommandContext): Promise<void> {
  const interrupts = watchInterrupts();
  try {
    const serving = await serve({
      ...optionsHere(context, flags.ledger),
      ...given(flags, 'port', 'host', 'allowRemote', 'campaigns'),
      allowActions: flags.allowActions === true,
      open: flags.open === true,
      log: (line) => context.err(safe(`${line}\n`)),
      signal: interrupts.signal,
    });
    try {
      await context.out(welcome(serving, flags, context.cwd));
      await serving.closed;
    } finally {
      // Also if the address could not be printed: an open server keeps the process alive.
      await serving.close();
    }
    const status = interrupts.status();
    if (status !== null) context.exit(status);
  } finally {
    interrupts.stop();
  }
}

function welcome({ url, signInUrl, ledger }: Serving, { quiet, allowActions }: Given, cwd: string): string {
  const may = allowActions ? 'read and change the ledger' : 'read';
  const signIn =
    signInUrl === null ? '' : `A person who opens this address may ${may}, so keep it to yourself:\n  ${signInUrl}\n`;
  if (quiet === true) return signIn;
  return `Pages on ${url}\n${signIn}They show ${placeOfLedger(ledger, cwd)} - Ctrl-C stops them.\n`;
}

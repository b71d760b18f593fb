import type { CommandContext } from '../../operations/context.ts';
import { OPTIONS, type OptionTable } from '../../operations/options.ts';
import { safe } from '../../util/escape.ts';
import { placeOfLedger } from '../../util/ledger-address.ts';
import { SERVE } from '../../web/options.ts';
import { serve } from '../../web/serve.ts';
import type { Serving } from '../../web/start.ts';
import type { Flags } from '../shared/options.ts';
import { watchInterrupts } from '../shared/signals.ts';

export const FLAGS = {
  ...SERVE,
  quiet: { flag: '-q, --quiet', says: 'print only the address that signs in, and what is wrong' },
  ledger: OPTIONS.ledger,
} as const satisfies OptionTable;

type ServeFlags = Flags<typeof FLAGS>;

export async function run(context: CommandContext, flags: ServeFlags): Promise<void> {
  using interrupts = watchInterrupts();
  const serving = await serve({
    ...flags,
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
}

function welcome({ url, signInUrl, ledger }: Serving, { quiet, allowActions }: ServeFlags, cwd: string): string {
  const may = allowActions ? 'read and change the ledger' : 'read';
  const signIn =
    signInUrl === null ? '' : `A person who opens this address may ${may}, so keep it to yourself:\n  ${signInUrl}\n`;
  if (quiet === true) return signIn;
  return `Pages on ${url}\n${signIn}They show ${placeOfLedger(ledger, cwd)} - Ctrl-C stops them.\n`;
}

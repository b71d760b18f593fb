import { resolve } from 'node:path';
import process from 'node:process';
import { type Command, Option } from 'commander';
import { EXIT } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import type { KnownFields } from '../../sandbox/check-message.ts';
import { DIALECT_NAMES, type DialectName } from '../../sandbox/dialect-name.ts';
import type { ScriptedNumbers } from '../../sandbox/scenarios.ts';
import { startSandbox } from '../../sandbox/server.ts';
import { addExamples, wholeNumber } from '../shared/options.ts';
import { addWebhookOptions, type WebhookGiven, webhookOptions } from './webhook.ts';

/** The key that the sandbox takes when HANDBILL_API_KEY is not set. It opens nothing else, so it is no secret. */
export const SANDBOX_KEY = 'sandbox';

export function configure(command: Command, context: CommandContext): void {
  command
    .option('--port <port>', 'TCP port; 0 takes a free one', wholeNumber(0, 65_535), 4010)
    .option('--receipts <file>', 'append one line of JSON for each request, before it is answered')
    .option('--latency <ms>', 'milliseconds to wait before each answer', wholeNumber(0, 600_000), 0)
    .addOption(
      new Option('--scripts <whose>', 'whose numbers play scripted answers')
        .choices(['reserved', 'all', 'none'])
        .default('reserved'),
    )
    .option(
      '--devices <file>',
      "CSV with msisdn and device, such as `ios 18.1`: which channels a recipient's device takes",
    )
    .option('--max-recipients <n>', 'most recipients of one request', wholeNumber(1, 1_000_000), 1_000)
    .addOption(new Option('--dialect <name>', 'the form of answers').choices(DIALECT_NAMES).default('default'))
    .addOption(
      new Option('--fields <which>', 'fields that a message may have: those of the description, or any')
        .choices(['known', 'any'])
        .default('known'),
    )
    .option('-q, --quiet', 'do not print a line for each request');
  addWebhookOptions(command);
  addExamples(command, [
    ['handbill sandbox', 'serve on http://127.0.0.1:4010 until Ctrl-C'],
    ['handbill sandbox --port 0 --receipts received.jsonl', ''],
    ['handbill sandbox --scripts none --latency 40', 'for rehearsals of real lists'],
    ['handbill sandbox --devices phones.csv', 'for rehearsals of fallbacks'],
    ['handbill sandbox --dialect per-recipient', 'for rehearsals of `wire`'],
  ]);
  command.action((given: Given) => serve(given, context));
}

interface Given extends WebhookGiven {
  readonly port: number;
  readonly receipts?: string;
  readonly latency: number;
  readonly scripts: ScriptedNumbers;
  readonly devices?: string;
  readonly maxRecipients: number;
  readonly dialect: DialectName;
  readonly fields: KnownFields;
  readonly quiet?: true;
}

/** Serves until the process is told to stop: for a server that is the normal end. */
async function serve(given: Given, context: CommandContext): Promise<void> {
  const stopped = new Promise<void>((stop) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop());
  });
  const own = context.env['HANDBILL_API_KEY'] ?? '';
  const webhook = await webhookOptions(given, context);
  const sandbox = await startSandbox({
    port: given.port,
    apiKey: own === '' ? SANDBOX_KEY : own,
    latencyMs: given.latency,
    scripts: given.scripts,
    maxRecipients: given.maxRecipients,
    dialect: given.dialect,
    fields: given.fields,
    now: context.now,
    ...(webhook === null ? {} : { webhook }),
    ...(given.devices === undefined ? {} : { devices: resolve(context.cwd, given.devices) }),
    ...(given.receipts === undefined ? {} : { receipts: resolve(context.cwd, given.receipts) }),
    ...(given.quiet === true ? {} : { log: (line: string) => context.err(`${line}\n`) }),
  });
  try {
    await context.out(welcome(sandbox.url, own !== '', given.dialect));
    await stopped;
  } finally {
    await sandbox.close();
  }
  context.exit(EXIT.done);
}

/** Never shows a key that somebody set: it may be that of the real API. */
function welcome(url: string, ownKey: boolean, dialect: DialectName): string {
  const key = ownKey
    ? 'It takes the key that HANDBILL_API_KEY holds.'
    : `It takes the key "${SANDBOX_KEY}", which is no secret:\n\n  export HANDBILL_API_KEY=${SANDBOX_KEY}`;
  const wire =
    dialect === 'default' ? '' : `      wire: { ... }   # for the dialect ${dialect}: docs/sandbox.md has it\n`;
  return `Sandbox on ${url} - what it does: curl ${url}/sandbox

To send to it, in handbill.yaml:

  environments:
    local:
      baseUrl: ${url}
      apiKey: { env: HANDBILL_API_KEY }
${wire}
${key}

Ctrl-C stops it.
`;
}

import { resolve } from 'node:path';
import process from 'node:process';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { EXIT, problem, refuse } from '../../errors.ts';
import type { KeySource } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { startSandbox } from '../../operations/sandbox.ts';
import type { ScriptedNumbers } from '../../sandbox/endings.ts';
import type { KnownFields } from '../../sandbox/form.ts';
import {
  type Delays,
  ECHOES,
  type Echo,
  SANDBOX_KEY,
  type Shares,
  WEBHOOK_SCHEMES,
  type WebhookScheme,
} from '../../sandbox/webhook.ts';
import { given } from '../../util/given.ts';
import { readSecret, type SecretWords } from '../../util/secret.ts';
import { share } from '../../util/units.ts';
import { addExamples, wholeNumber } from '../shared/options.ts';

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
  readonly fields: KnownFields;
  readonly quiet?: true;
}

/** Serves until a signal, which is the normal end of a server. */
async function serve(given: Given, context: CommandContext): Promise<void> {
  const stopped = new Promise<void>((stop) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop());
  });
  const own = context.env['HANDBILL_API_KEY'] ?? '';
  const webhook = await webhookOptions(given, context);
  const sandbox = await startSandbox({
    port: given.port,
    ...(own === '' ? {} : { apiKey: own }),
    latencyMs: given.latency,
    scripts: given.scripts,
    maxRecipients: given.maxRecipients,
    fields: given.fields,
    now: context.now,
    ...(webhook === null ? {} : { webhook }),
    ...(given.devices === undefined ? {} : { devices: resolve(context.cwd, given.devices) }),
    ...(given.receipts === undefined ? {} : { receipts: resolve(context.cwd, given.receipts) }),
    ...(given.quiet === true ? {} : { log: (line: string) => context.err(`${line}\n`) }),
  });
  try {
    await context.out(welcome(sandbox.url, own !== ''));
    await stopped;
  } finally {
    await sandbox.close();
  }
  context.exit(EXIT.done);
}

/** Never shows a key that the user set: it may be the key of the real API. */
function welcome(url: string, ownKey: boolean): string {
  const key = ownKey
    ? 'It takes the key that HANDBILL_API_KEY holds.'
    : `It takes the key "${SANDBOX_KEY}", which is no secret:\n\n  export HANDBILL_API_KEY=${SANDBOX_KEY}`;
  return `Sandbox on ${url} - what it does: curl ${url}/sandbox

To send to it, in handbill.yaml:

  environments:
    local:
      baseUrl: ${url}
      apiKey: { env: HANDBILL_API_KEY }

${key}

Ctrl-C stops it.
`;
}

export interface WebhookGiven extends Partial<Record<keyof typeof SHARES | keyof typeof DELAYS, number>> {
  readonly webhook?: string;
  readonly webhookScheme?: WebhookScheme;
  readonly webhookSecretEnv?: string;
  readonly webhookSecretFile?: string;
  readonly webhookHeader?: string;
  readonly webhookPrefix?: string;
  readonly echo?: Echo;
  readonly batch?: number;
  readonly atOnce?: number;
  readonly retries?: readonly number[];
  readonly seed?: number;
}

const SHARES = {
  queued: ['queued', 'messages reported as queued, such as 5%'],
  sent: ['sent', 'messages reported as sent (100%)'],
  deliver: ['delivered', 'messages that are delivered (all without another end)'],
  expire: ['expired', 'messages that expire'],
  fail: ['failed', 'messages that fail'],
  undeliverable: ['undeliverable', 'messages whose channel or number cannot be reached'],
  reject: ['rejected', 'messages that the network refuses'],
  read: ['read', 'delivered ones that are read'],
  reply: ['reply', 'delivered ones that are answered'],
  stop: ['stop', 'delivered ones that are answered with STOP, in many spellings'],
  start: ['start', 'STOPs that START follows'],
  respell: ['respelled', 'replies from the number in another spelling'],
  doubled: ['doubled', 'events that are posted twice'],
  reordered: ['reordered', 'messages whose last report comes first'],
  early: ['early', 'messages that are reported before they are answered'],
  late: ['late', 'messages that are reported late'],
} as const satisfies Readonly<Record<string, readonly [keyof Shares, string]>>;

const DELAYS = {
  sentAfter: ['sent', '--sent-after <ms>', 'milliseconds from accepted to sent, on average (50)'],
  deliveredAfter: ['delivered', '--delivered-after <ms>', 'from sent to delivered, or to another end (200)'],
  readAfter: ['read', '--read-after <ms>', 'from delivered to read (500)'],
  replyAfter: ['reply', '--reply-after <ms>', 'from delivered or read to a reply (1000)'],
  lateBy: ['late', '--late-by <ms>', 'how late late ones are (5000)'],
} as const satisfies Readonly<Record<string, readonly [keyof Delays, string, string]>>;

const A_DAY_MS = 86_400_000;

export function addWebhookOptions(command: Command): void {
  const options = [
    new Option('--webhook <url>', 'post delivery reports and replies to this machine: http://127.0.0.1:4011/webhooks'),
    new Option('--webhook-scheme <scheme>', 'how posts are signed (standard)').choices(WEBHOOK_SCHEMES),
    new Option('--webhook-secret-env <name>', 'variable that holds the secret'),
    new Option('--webhook-secret-file <file>', 'private file that holds the secret'),
    new Option('--webhook-header <name>', 'header of the scheme hmac (X-Hub-Signature-256)'),
    new Option('--webhook-prefix <text>', 'the text before the signature there (sha256=)'),
    ...Object.entries(SHARES).map(([flag, [, says]]) => new Option(`--${flag} <share>`, says).argParser(shareOf)),
    ...Object.values(DELAYS).map(([, flags, says]) => new Option(flags, says).argParser(wholeNumber(0, A_DAY_MS))),
    new Option('--echo <what>', 'what reports give back of a message (metadata)').choices(ECHOES),
    new Option('--batch <n>', 'most events in one post (1)').argParser(wholeNumber(1, 1_000)),
    new Option('--at-once <n>', 'most posts at once (4)').argParser(wholeNumber(1, 100)),
    new Option('--retries <ms,...>', 'waits before a post is repeated (1000,5000,30000,120000)').argParser(waitsOf),
    new Option('--seed <n>', 'what chance follows from (1)').argParser(wholeNumber(0, 2 ** 31)),
  ];
  for (const option of options) command.addOption(option.helpGroup('Reports and replies:'));
}

/** Null without `--webhook`. Throws exit 2 for options that would do nothing, and a missing secret. */
export async function webhookOptions(flags: WebhookGiven, context: Pick<CommandContext, 'env' | 'cwd'>) {
  const { webhook: url } = flags;
  if (url === undefined) {
    refuseIdle(flags);
    return null;
  }
  const secret = await secretOf(flags, context);
  return {
    url,
    ...(flags.webhookScheme === undefined ? {} : { scheme: flags.webhookScheme }),
    ...(secret === null ? {} : { secret }),
    hmac: {
      ...(flags.webhookHeader === undefined ? {} : { header: flags.webhookHeader.toLowerCase() }),
      ...(flags.webhookPrefix === undefined ? {} : { prefix: flags.webhookPrefix }),
    },
    shares: namedBy(SHARES, flags),
    delaysMs: namedBy(DELAYS, flags),
    ...given(flags, 'echo', 'batch', 'atOnce', 'seed'),
    ...(flags.retries === undefined ? {} : { retriesMs: flags.retries }),
  };
}

const OTHERS = ['webhookScheme', 'webhookSecretEnv', 'webhookSecretFile', 'webhookHeader', 'webhookPrefix'] as const;
const MORE = ['echo', 'batch', 'atOnce', 'retries', 'seed'] as const;

/** Without a webhook no events are sent, so the other options of events would be ignored. */
function refuseIdle(given: WebhookGiven): void {
  const keys = [...OTHERS, ...MORE, ...keysOf(SHARES), ...keysOf(DELAYS)];
  const idle = keys.filter((key) => given[key] !== undefined);
  if (idle.length === 0) return;
  const flags = idle.map((key) => `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
  const hint = 'Add --webhook http://127.0.0.1:4011/webhooks, which is where handbill listen receives.';
  throw refuse(problem('usage', `Without --webhook, ${flags.join(', ')} would do nothing.`, { hint }));
}

function keysOf<K extends string>(table: Readonly<Record<K, unknown>>): K[] {
  return Object.keys(table) as K[];
}

function namedBy<K extends string, N extends string>(
  table: Readonly<Record<K, readonly [name: N, ...rest: unknown[]]>>,
  given: Readonly<Partial<Record<NoInfer<K>, number>>>,
): Partial<Record<N, number>> {
  const entries = keysOf(table).flatMap((key) =>
    given[key] === undefined ? [] : [[table[key][0], given[key]] as const],
  );
  return Object.fromEntries(entries) as Partial<Record<N, number>>;
}

const WORDS: SecretWords = {
  name: 'secret of webhooks',
  missing: 'missing-webhook-secret',
  setting: '--webhook-secret-file PATH',
  leaked: 'A person who has read it can send false reports: change it.',
};

async function secretOf(given: WebhookGiven, context: Pick<CommandContext, 'env' | 'cwd'>): Promise<string | null> {
  const { webhookSecretEnv: env, webhookSecretFile: file } = given;
  if (env !== undefined && file !== undefined) {
    throw refuse(problem('usage', 'The secret is named twice: --webhook-secret-env and --webhook-secret-file.'));
  }
  const source: KeySource | null = env !== undefined ? { env } : file !== undefined ? { file } : null;
  if (source === null) return null;
  const read = await readSecret(source, context.env, context.cwd, WORDS);
  if ('problem' in read) throw refuse(read.problem);
  // A file is read byte by byte, as Latin-1, so that its bytes are kept.
  return 'env' in source ? read.secret : Buffer.from(read.secret, 'latin1').toString('utf8');
}

function shareOf(text: string): number {
  const value = share(text);
  if (value === null) throw new InvalidArgumentError('Give a share from 0% to 100%, such as 2.5%.');
  return value;
}

/** `1000,5000`; `none` repeats nothing. */
function waitsOf(text: string): readonly number[] {
  if (text === 'none') return [];
  const parse = wholeNumber(0, A_DAY_MS);
  return text.split(',').map((one) => parse(one.trim()));
}

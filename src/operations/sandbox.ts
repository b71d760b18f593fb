import { basename, dirname, resolve } from 'node:path';
import process from 'node:process';
import { DEFAULT_PROVIDER, examplesOf, readProvider } from '../campaign/read-provider.ts';
import { problem, refuse } from '../errors.ts';
import type { Sandbox } from '../sandbox/options.ts';
import type { ProviderApi } from '../sandbox/provider-api.ts';
import { checkNumbers, type OptionsOf, type OptionTable, PORT, present } from './options.ts';

export const SANDBOX = {
  port: { flag: '--port <port>', says: 'TCP port; 0 takes a free one', range: PORT, preset: 4010, without: '0' },
  receipts: {
    flag: '--receipts <file>',
    says: 'append one line of JSON for each request, before it is answered',
    without: 'none',
  },
  latencyMs: {
    flag: '--latency <ms>',
    says: 'milliseconds to wait before each answer',
    range: [0, 600_000],
    preset: 0,
  },
  scripts: {
    flag: '--scripts <whose>',
    says: 'which numbers get scripted answers',
    more: '`reserved`: those that are kept for documentation.',
    choices: ['reserved', 'all', 'none'],
    preset: 'reserved',
  },
  devices: {
    flag: '--devices <file>',
    says: "CSV with msisdn and device, such as `ios 18.1`: which channels a recipient's device takes",
    without: 'every device takes every channel',
  },
  maxRecipients: {
    flag: '--max-recipients <n>',
    says: 'most recipients of one request',
    more: 'Above it, the answer is 413.',
    range: [1, 1_000_000, 'whole'],
    preset: 1_000,
  },
  fields: {
    flag: '--fields <which>',
    says: 'fields that a message may have: those of the description, or any',
    choices: ['known', 'any'],
    preset: 'known',
  },
  provider: {
    flag: '--provider <name>',
    says: 'speak the API of a provider, by the examples beside its file',
    more: 'A name, or the path of a provider file.',
    without: 'messages-v2',
  },
  answers: {
    flag: '--answers <file>',
    says: 'answers of the provider that were captured, given one after another',
    without: 'those of the examples',
  },
} as const satisfies OptionTable;

const share = <const F extends string, const S extends string>(flag: F, says: S) =>
  ({ flag, says, without: 'none', kind: 'share', range: [0, 1] }) as const;

export const SANDBOX_SHARES = {
  queued: share('--queued <share>', 'messages reported as queued, such as 5%'),
  sent: { ...share('--sent <share>', 'messages reported as sent (default: 100%)'), without: '100%' },
  delivered: {
    ...share('--deliver <share>', 'messages that are delivered (default: all without another end)'),
    without: 'all without another end',
  },
  expired: share('--expire <share>', 'messages that expire'),
  failed: share('--fail <share>', 'messages that fail'),
  undeliverable: share('--undeliverable <share>', 'messages whose channel or number is not available'),
  rejected: share('--reject <share>', 'messages that the network refuses'),
  read: share('--read <share>', 'delivered messages that are read'),
  reply: share('--reply <share>', 'delivered messages that are answered'),
  stop: share('--stop <share>', 'delivered messages that are answered with STOP, in many spellings'),
  start: share('--start <share>', 'STOPs that START follows'),
  respelled: share('--respell <share>', 'replies from the number in another spelling'),
  doubled: share('--doubled <share>', 'events that are posted twice'),
  reordered: share('--reordered <share>', 'messages whose last report comes first'),
  early: share('--early <share>', 'messages that are reported before they are answered'),
  late: share('--late <share>', 'messages that are reported late'),
} as const satisfies OptionTable;

/** How often each thing happens: shares of the messages. */
export interface SandboxShareOptions extends OptionsOf<typeof SANDBOX_SHARES> {}

const A_DAY_MS = 86_400_000;

const delay = <const F extends string, const S extends string>(flag: F, says: S) =>
  ({ flag, says, range: [0, A_DAY_MS] }) as const;

export const SANDBOX_DELAYS = {
  sent: delay('--sent-after <ms>', 'milliseconds from accepted to sent, on average (default: 50)'),
  delivered: delay('--delivered-after <ms>', 'from sent to delivered, or to another end (default: 200)'),
  read: delay('--read-after <ms>', 'from delivered to read (default: 500)'),
  reply: delay('--reply-after <ms>', 'from delivered or read to a reply (default: 1000)'),
  late: delay('--late-by <ms>', 'how late late reports are, exactly (default: 5000)'),
} as const satisfies OptionTable;

/** Milliseconds on average; each is drawn from half of it to one and a half. */
export interface SandboxDelayOptions extends OptionsOf<typeof SANDBOX_DELAYS> {}

export const SANDBOX_WEBHOOK = {
  batch: { flag: '--batch <n>', says: 'most events in one post (default: 1)', range: [1, 1_000, 'whole'] },
  atOnce: { flag: '--at-once <n>', says: 'most posts at once (default: 4)', range: [1, 100, 'whole'] },
  retriesMs: {
    flag: '--retries <ms,...>',
    says: 'waits before a post is repeated, or none (default: 1000,5000,30000,120000)',
    kind: 'waits',
    range: [0, A_DAY_MS],
  },
  seed: {
    flag: '--seed <n>',
    says: 'seed of the random numbers: the same seed gives the same messages the same answers (default: 1)',
    range: [0, 2 ** 31, 'whole'],
  },
} as const satisfies OptionTable;

/** Where delivery reports and replies are posted, which, and how fast. */
export interface SandboxWebhookOptions extends OptionsOf<typeof SANDBOX_WEBHOOK> {
  /** Where events are posted, on this machine: `http://127.0.0.1:4011/webhooks`. */
  readonly url: string;
  /** The key of the signature (Standard Webhooks), in base64. Default: none, and posts are not signed. */
  readonly secret?: string;
  /** How often each thing happens. Default: every message is sent and delivered. */
  readonly shares?: SandboxShareOptions;
  /** How long each step takes. Default: as each of them says. */
  readonly delaysMs?: SandboxDelayOptions;
  /** Milliseconds that one post may take. Default: 10,000. */
  readonly timeoutMs?: number;
  /** Most events that wait, above which further ones are dropped and counted. Default: 250,000. */
  readonly maxWaiting?: number;
}

/** How the sandbox answers. */
export interface SandboxOptions extends OptionsOf<typeof SANDBOX> {
  /** The key that requests must carry in X-Api-Key: printable ASCII without spaces. Default: `sandbox`. */
  readonly apiKey?: string;
  /** Stops it at once, as `close` does. Default: only `close` does. */
  readonly signal?: AbortSignal;
  /** Called with one line per request, addresses masked. Default: nothing is logged. */
  readonly log?: (line: string) => void;
  /** How many requests `GET /sandbox/messages` can show, the newest ones; counts are exact anyway. Default: 1,000. */
  readonly keep?: number;
  /** Where delivery reports and replies are posted, and which. Default: none are posted. */
  readonly webhook?: SandboxWebhookOptions;
  /** Milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

/**
 * `handbill sandbox`: serves the messaging API on this machine, with scripted answers. Reachable from this machine only.
 *
 * @throws HandbillError exit 2 when the key is not allowed in a header, the file of devices is wrong, or the port or the
 *   receipts file is not available
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  checkNumbers(options, { ...SANDBOX, keep: { range: [0, 1e9, 'whole'] } });
  const { startSandbox: start } = await import('../sandbox/server.ts');
  const { provider, answers, ...others } = options;
  return await start({ ...present(others), ...(await providerOf(options)) });
}

/** Loaded only on use. */
async function providerOf(options: SandboxOptions): Promise<{ readonly api?: ProviderApi }> {
  const { provider: name = DEFAULT_PROVIDER, answers } = options;
  if (name === DEFAULT_PROVIDER) {
    if (answers === undefined) return {};
    throw refuse(problem('usage', `"answers" needs a provider.`, { hint: 'Add --provider NAME.' }));
  }
  const idle = options.fields === 'any' ? 'fields' : options.webhook === undefined ? null : 'webhook';
  if (idle !== null) throw refuse(problem('usage', `With "provider", "${idle}" would do nothing.`));
  const [{ createProviderApi }, { readExamples }] = await Promise.all([
    import('../sandbox/provider-api.ts'),
    import('../sandbox/read-examples.ts'),
  ]);
  const path = resolve(name);
  const isFile = /[/\\.]/.test(name);
  const read = readProvider(isFile ? `./${basename(path)}` : name, dirname(path), process.cwd(), {});
  if ('diagnostics' in read) throw refuse(...read.diagnostics);
  const examples = readExamples(isFile ? path.replace(/(?:\.ya?ml)?$/, '.examples.yaml') : examplesOf(name));
  const captured = answers === undefined ? null : readExamples(answers).answers;
  return { api: createProviderApi(read.provider, examples, captured) };
}

import { resolve } from 'node:path';
import process from 'node:process';
import { EXIT, problem, refuse } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { type FlagsOf, type OptionTable, present } from '../../operations/options.ts';
import {
  SANDBOX,
  SANDBOX_DELAYS,
  SANDBOX_SHARES,
  SANDBOX_WEBHOOK,
  type SandboxWebhookOptions,
  startSandbox,
} from '../../operations/sandbox.ts';
import { SANDBOX_KEY } from '../../sandbox/webhook.ts';
import { given } from '../../util/given.ts';
import { readSecret, type SecretWords } from '../../util/secret.ts';
import { flagOf } from '../shared/options.ts';

export const FLAGS = {
  ...SANDBOX,
  quiet: { flag: '-q, --quiet', says: 'do not print a line for each request' },
} as const satisfies OptionTable;

/** They share names with the shares. */
const DELAYS = {
  sentAfter: SANDBOX_DELAYS.sent,
  deliveredAfter: SANDBOX_DELAYS.delivered,
  readAfter: SANDBOX_DELAYS.read,
  replyAfter: SANDBOX_DELAYS.reply,
  lateBy: SANDBOX_DELAYS.late,
} as const satisfies OptionTable;

/** Without a webhook no events are posted, so these would do nothing. */
const IDLE = {
  secretEnv: { flag: '--webhook-secret-env <name>', says: 'variable that holds the secret' },
  secretFile: { flag: '--webhook-secret-file <file>', says: 'private file that holds the secret' },
  ...SANDBOX_SHARES,
  ...DELAYS,
  ...SANDBOX_WEBHOOK,
} as const satisfies OptionTable;

export const REPORTING = {
  webhook: {
    flag: '--webhook <url>',
    says: 'post delivery reports and replies to this machine: http://127.0.0.1:4011/webhooks',
  },
  ...IDLE,
} as const satisfies OptionTable;

export type Reporting = FlagsOf<typeof REPORTING>;

export const FLAG_GROUPS = { 'Reports and replies:': REPORTING };

/** Serves until a signal, which is the normal end of a server. */
export async function run(context: CommandContext, flags: FlagsOf<typeof FLAGS> & Reporting): Promise<void> {
  const stopped = new Promise<void>((stop) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop());
  });
  const own = context.env['HANDBILL_API_KEY'] ?? '';
  const webhook = await webhookOptions(flags, context);
  const here = (file: string | undefined) => (file === undefined ? undefined : resolve(context.cwd, file));
  const sandbox = await startSandbox({
    ...given(flags, 'port', 'latencyMs', 'scripts', 'maxRecipients', 'fields', 'provider'),
    now: context.now,
    ...(own === '' ? {} : { apiKey: own }),
    ...present({ webhook, devices: here(flags.devices), answers: here(flags.answers), receipts: here(flags.receipts) }),
    ...(flags.quiet === true ? {} : { log: (line: string) => context.err(`${line}\n`) }),
  });
  try {
    await context.out(welcome(sandbox.url, own !== '', flags.provider));
    await stopped;
  } finally {
    await sandbox.close();
  }
  context.exit(EXIT.done);
}

/** Never shows a key that the user set: it may be the key of the real API. */
function welcome(url: string, ownKey: boolean, provider: string | undefined): string {
  const start = `Sandbox on ${url} - what it does: curl ${url}/sandbox\n\nTo send to it, in handbill.yaml:\n\n  environments:\n    local:\n`;
  if (provider !== undefined) {
    const about = `Its vars and secrets, with any values: handbill help providers ${provider}`;
    return `${start}      provider: ${provider}\n      baseUrl: ${url}\n\n${about}\n\nCtrl-C stops it.\n`;
  }
  const key = ownKey
    ? 'It takes the key that HANDBILL_API_KEY holds.'
    : `It takes the key "${SANDBOX_KEY}", which is no secret:\n\n  export HANDBILL_API_KEY=${SANDBOX_KEY}`;
  return `${start}      baseUrl: ${url}
      apiKey: { env: HANDBILL_API_KEY }

${key}

Ctrl-C stops it.
`;
}

/** Undefined without `--webhook`. Throws exit 2 for options that would do nothing, and a missing secret. */
export async function webhookOptions(
  flags: Reporting,
  context: Pick<CommandContext, 'env' | 'cwd'>,
): Promise<SandboxWebhookOptions | undefined> {
  const { webhook: url } = flags;
  if (url === undefined) {
    const idle = namesOf(IDLE).filter((name) => flags[name] !== undefined);
    if (idle.length === 0) return undefined;
    const hint = 'Add --webhook http://127.0.0.1:4011/webhooks, which is where handbill listen receives.';
    const named = idle.map((name) => flagOf(IDLE[name])).join(', ');
    throw refuse(problem('usage', `Without --webhook, ${named} would do nothing.`, { hint }));
  }
  const delays = { sent: flags.sentAfter, delivered: flags.deliveredAfter, read: flags.readAfter };
  return {
    url,
    ...present({ secret: await secretOf(flags, context) }),
    shares: given(flags, ...namesOf(SANDBOX_SHARES)),
    delaysMs: present({ ...delays, reply: flags.replyAfter, late: flags.lateBy }),
    ...given(flags, ...namesOf(SANDBOX_WEBHOOK)),
  };
}

function namesOf<T extends object>(table: T): readonly (keyof T)[] {
  return Object.keys(table) as (keyof T)[];
}

const WORDS: SecretWords = {
  name: 'secret of webhooks',
  missing: 'missing-webhook-secret',
  setting: '--webhook-secret-file PATH',
  leaked: 'A person who has read it can send false reports: change it.',
};

async function secretOf({ secretEnv: env, secretFile: file }: Reporting, context: Pick<CommandContext, 'env' | 'cwd'>) {
  if (env !== undefined && file !== undefined) {
    throw refuse(problem('usage', 'The secret is named twice: --webhook-secret-env and --webhook-secret-file.'));
  }
  if (env === undefined && file === undefined) return undefined;
  const read = await readSecret(env === undefined ? { file: file ?? '' } : { env }, context.env, context.cwd, WORDS);
  if ('problem' in read) throw refuse(read.problem);
  // A file is read byte by byte, as Latin-1, so that its bytes are kept.
  return env === undefined ? Buffer.from(read.secret, 'latin1').toString('utf8') : read.secret;
}

import { type Diagnostic, EXIT, HandbillError, problem, refuse, warning } from '../errors.ts';
import type { Recorded } from '../ledger/event-records.ts';
import { openLedger } from '../ledger/open.ts';
import type { WebhookEvent } from '../model.ts';
import { DEFAULT_HOST, DEFAULT_PORT, startReceiver } from '../webhook/receive.ts';
import type { Record as HoldEvents } from '../webhook/receive-group.ts';
import { readWebhookSecrets } from '../webhook/secrets.ts';
import { interpreterOf } from './event-interpreter.ts';
import { openEventStore } from './listen-store.ts';
import { projectHere } from './project-ledger.ts';

export interface ListenOptions {
  /** A folder of the project. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since 1970; the clock of this machine when absent. */
  readonly now?: () => number;
  /** Path of the ledger, as `--ledger` takes it. */
  readonly ledger?: string;
  /** TCP port; 0 takes a free one. 4011 when absent. */
  readonly port?: number;
  /** Address to listen on; `127.0.0.1` when absent: TLS is left to a proxy. */
  readonly host?: string;
  /** Called when a group of events is on the disk, with what was new of it. */
  readonly onRecorded?: (recorded: Recorded) => void;
  /** Called with the events of that group, as they came in. */
  readonly onReceived?: (events: readonly WebhookEvent[]) => void;
  /** Called with a line for what was refused or could not be stored; it holds no address, text or secret. */
  readonly log?: (line: string) => void;
}

export interface Listening {
  /** What senders post to, such as `http://127.0.0.1:4011/webhooks`; with the scheme `path`, without the secret. */
  readonly url: string;
  readonly port: number;
  /** Path of the ledger that holds the events. */
  readonly ledger: string;
  /** What protects these webhooks less than it could. */
  readonly warnings: readonly Diagnostic[];
  /** Resolves when the ledger can be written no more: nothing is received from there on. */
  readonly failed: Promise<HandbillError>;
  /** Takes nothing new, and resolves when what has come in is held and answered. */
  close(): Promise<void>;
}

/**
 * `handbill listen`: receives delivery reports and replies, and holds them in the ledger before it answers.
 *
 * @throws HandbillError: exit status 2 where handbill.yaml does not say how, a secret is missing or the port is taken;
 *   7 for the ledger
 */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { env, now = Date.now, host = DEFAULT_HOST, port = DEFAULT_PORT } = options;
  const reading = await projectHere(options, options.ledger);
  const { project } = reading;
  const { receiver, replies } = project.webhook;
  if (receiver === null) throw noReceiver(project.file);
  const { secrets, diagnostics } = await readWebhookSecrets(receiver, env, project.root);
  const errors = diagnostics.filter((one) => one.severity === 'error');
  if (errors.length > 0) throw new HandbillError(EXIT.refused, errors);
  const { onRecorded = () => undefined, log = () => undefined } = options;
  const store = openEventStore({
    open: () => openLedger(project.ledger, { mode: 'write', nowMs: now(), busyTimeoutMs: BUSY_TIMEOUT_MS }),
    now,
    startLifts: replies.startLifts,
    onRecorded,
    log,
  });
  try {
    const running = await startReceiver({
      receiver,
      secrets,
      interpret: interpreterOf(reading).interpret,
      record: reporting(store.record, options.onReceived),
      port,
      host,
      now,
      ...(options.log === undefined ? {} : { log: options.log }),
    });
    return {
      url: running.url,
      port: running.port,
      ledger: store.path,
      warnings: [...diagnostics, ...hostWarnings(host)],
      failed: store.failed,
      async close() {
        await running.close();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * A sender commits in milliseconds; whoever holds the ledger for longer makes providers try again later. Meanwhile
 * nothing else happens in this process, so that it cannot be the 30 seconds of other commands.
 */
const BUSY_TIMEOUT_MS = 5_000;

/** Tells of the events of a group once they are held. */
export function reporting(
  record: HoldEvents,
  tell: ((events: readonly WebhookEvent[]) => void) | undefined,
): HoldEvents {
  if (tell === undefined) return record;
  return async (events) => {
    await record(events);
    tell(events);
  };
}

/** handbill.yaml does not say who may report. */
export function noReceiver(file: string | null): HandbillError {
  const subject = file === null ? 'There is no handbill.yaml here that says' : `${file} does not say`;
  const hint = 'Write webhook: { secrets: [{ env: HANDBILL_WEBHOOK_SECRET }] } into it: docs/webhooks.md has the rest.';
  return refuse(problem('missing-key', `${subject} how webhooks are received.`, { hint }));
}

function hostWarnings(host: string): readonly Diagnostic[] {
  if (host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)) return [];
  const message = `Other machines reach ${host}, and nothing that they send is encrypted: handbill speaks plain HTTP.`;
  return [warning('weak-webhook', message, { hint: 'Put a proxy with TLS before it, and leave --host as it is.' })];
}

import { onlyEnvironment } from '../campaign/environments.ts';
import { type Diagnostic, EXIT, HandbillError, problem, refuse, warning } from '../errors.ts';
import type { Recorded } from '../ledger/event-records.ts';
import { openLedger } from '../ledger/open.ts';
import type { Project, WebhookEvent } from '../model.ts';
import { environmentOf } from '../plan/plan.ts';
import { DEFAULT_HOST, DEFAULT_PORT, startReceiver } from '../webhook/receive.ts';
import type { Record as HoldEvents } from '../webhook/receive-group.ts';
import { readWebhookSecrets } from '../webhook/secrets.ts';
import { interpreterOf } from './event-interpreter.ts';
import { openEventStore } from './listen-store.ts';
import { projectHere } from './project-ledger.ts';
import { isLoopback } from './serve-guard.ts';

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
  /**
   * The environment of what comes to the path itself. When absent, the only one beside the sandbox; where there are
   * several, nobody knows. Each environment has a path of its own besides: `/webhooks/production`.
   */
  readonly environment?: string;
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
  /** Whose events come to that URL; null: nobody says. */
  readonly environment: string | null;
  /** Each has a URL of its own, which ends in its name. */
  readonly environments: readonly string[];
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
  const environment =
    options.environment === undefined ? onlyEnvironment(project) : environmentOf({ project }, options.environment).name;
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
      record: reporting(onceUnclear(store.record, receiver.path, log), options.onReceived),
      environment: environment ?? '',
      environments: [...project.environments.keys()],
      port,
      host,
      now,
      ...(options.log === undefined ? {} : { log: options.log }),
    });
    return {
      url: running.url,
      port: running.port,
      ledger: store.path,
      environment,
      environments: [...project.environments.keys()],
      warnings: [
        ...diagnostics,
        ...hostWarnings(host),
        ...(environment === null ? [unclearEnvironment(receiver.path, project)] : []),
      ],
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
  return async (events, environment) => {
    await record(events, environment);
    tell(events);
  };
}

/** handbill.yaml does not say who may report. */
export function noReceiver(file: string | null): HandbillError {
  const subject = file === null ? 'There is no handbill.yaml here that says' : `${file} does not say`;
  const hint = 'Write webhook: { secrets: [{ env: HANDBILL_WEBHOOK_SECRET }] } into it: docs/webhooks.md has the rest.';
  return refuse(problem('missing-key', `${subject} how webhooks are received.`, { hint }));
}

/** Says the first time that events came in of which nobody knows the environment. */
function onceUnclear(record: HoldEvents, path: string, log: (line: string) => void): HoldEvents {
  let isSaid = false;
  return (events, environment) => {
    if (environment === '' && !isSaid) log(`events came to ${path}, and nobody says which environment they are of`);
    isSaid ||= environment === '';
    return record(events, environment);
  };
}

/** Opt-outs must not be lost: what comes in is held all the same. */
function unclearEnvironment(path: string, { environments, file }: Project): Diagnostic {
  const names = [...environments.keys()].filter((name) => name !== 'sandbox');
  const message = `${path} receives for ${names.join(', ')} alike: of a report that comes in there, only handbill's own reference says which environment it is about. Without one it counts nowhere. Opt-outs count.`;
  const hint = `Let each API post to a path of its own, such as ${path}/${names[0] ?? ''}, or name the environment of ${path} with --env.`;
  return warning('unclear-environment', message, { ...(file === null ? {} : { at: { file } }), hint });
}

function hostWarnings(host: string): readonly Diagnostic[] {
  if (isLoopback(host)) return [];
  const message = `Other machines reach ${host}, and nothing that they send is encrypted: handbill speaks plain HTTP.`;
  return [warning('weak-webhook', message, { hint: 'Put a proxy with TLS before it, and leave --host as it is.' })];
}

import type { Diagnostic } from '../../errors.ts';
import { checkNumbers, PORT, type ProjectOptions, present, settle } from '../options.ts';
import { closedBy } from '../serving.ts';

/** How reports and replies are received. */
export interface ListenOptions extends ProjectOptions {
  /** TCP port; 0 takes a free one. Default: 4011. */
  readonly port?: number;
  /** Address to listen on; TLS is left to a proxy. Default: `127.0.0.1`. */
  readonly host?: string;
  /**
   * The environment of what comes to the path itself. Default: the only one beside the sandbox; where there are several,
   * it is unknown, and of what comes in there only opt-outs and reports with handbill's own reference count. Each
   * environment also has a path of its own: `/webhooks/production`.
   */
  readonly environment?: string;
  /** Closes it: what has come in is held and answered first. Default: only `close` does. */
  readonly signal?: AbortSignal;
  /** Called when a group of events is on the disk, with what was new of it. */
  readonly onRecorded?: (recorded: Recorded) => void;
  /** Called with a line for what was refused or could not be stored; it holds no address, text or secret. */
  readonly log?: (line: string) => void;
}

/** What was new in a group of events. */
export interface Recorded {
  /** Delivery reports. */
  readonly reports: number;
  readonly replies: number;
  /** Events that handbill does not understand. */
  readonly unread: number;
  /** Events that the ledger held already. */
  readonly known: number;
  /** Addresses that are suppressed since, and were not before. */
  readonly suppressed: readonly string[];
  /** Addresses whose opt-out was withdrawn. */
  readonly lifted: readonly string[];
}

/** A receiver of reports and replies. */
export interface Listening extends AsyncDisposable {
  /** What senders post to, such as `http://127.0.0.1:4011/webhooks`; with the scheme `path`, without the secret. */
  readonly url: string;
  readonly port: number;
  /** The environment of the events posted to that URL; null: unknown. */
  readonly environment: string | null;
  /** Each has a URL of its own, which ends in its name. */
  readonly environments: readonly string[];
  /** Path of the ledger that holds the events. */
  readonly ledger: string;
  /** What protects these webhooks less than it could. */
  readonly warnings: readonly Diagnostic[];
  /**
   * Resolves when it is closed, by `close` or the signal; rejects with a HandbillError (exit 7) when the ledger can be
   * written no more: nothing is received from there on, and `close` is still to be called.
   */
  readonly closed: Promise<void>;
  /** Takes nothing new, and resolves when what has come in is held and answered. */
  close(): Promise<void>;
}

/**
 * `handbill listen`: receives delivery reports and replies, and holds them in the ledger before it answers.
 *
 * @throws HandbillError exit 2 where handbill.yaml does not say how, a secret is missing or the port is taken; 7 (ledger)
 */
export async function listen(options: ListenOptions = {}): Promise<Listening> {
  checkNumbers(options, { port: PORT });
  const { port, host, environment, onRecorded, log, signal } = options;
  const { listen: start } = await import('../listen.ts');
  const running = await start({ ...settle(options), ...present({ port, host, environment, onRecorded, log }) });
  const { failed, ...facts } = running;
  return { ...facts, ...closedBy(() => running.close(), signal, failed) };
}

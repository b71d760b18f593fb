import { checkNumbers, PORT, type ProjectOptions, present, settle } from '../operations/options.ts';
import { closedBy } from '../operations/serving.ts';

/** Which pages are served, and for which hosts. */
export interface ServeOptions extends ProjectOptions {
  /** TCP port; 0 takes a free one. Default: 4012. */
  readonly port?: number;
  /** Address to listen on. Default: `127.0.0.1`. */
  readonly host?: string;
  /**
   * Names under which other machines open the pages; needed if `host` can be reached by other machines. Users have to
   * sign in then, and nothing that is sent is encrypted. Default: none.
   */
  readonly allowRemote?: readonly string[];
  /** Signed-in users may resolve doubts, review replies and change the list of suppressions. Default: false. */
  readonly allowActions?: boolean;
  /** Campaign files, folders or names that are shown. Default: all of the project. */
  readonly campaigns?: readonly string[];
  /** IANA name for times. Default: that of this machine. */
  readonly timeZone?: string;
  /** Closes it, open streams of events too. Default: only `close` does. */
  readonly signal?: AbortSignal;
  /** Called with a line for what went wrong; it holds nothing that a reader wrote. */
  readonly log?: (line: string) => void;
}

/** Pages that are served. */
export interface Serving extends AsyncDisposable {
  /** Such as `http://127.0.0.1:4012/`. */
  readonly url: string;
  readonly port: number;
  /** What signs a browser in: its holder may read and, where that is allowed, act. Null where no sign-in is needed. */
  readonly signInUrl: string | null;
  /** Path of the ledger. */
  readonly ledger: string;
  /** Resolves when it is closed, by `close` or the signal. */
  readonly closed: Promise<void>;
  /** Ends open streams of events too. */
  close(): Promise<void>;
}

/**
 * `handbill serve`: pages over the ledger of a project, live during a run. The ledger is only read, except by actions.
 *
 * @throws HandbillError exit 2: a wrong project file, a `host` of other machines without `allowRemote`, a port that is
 * not available
 */
export async function serve(options: ServeOptions = {}): Promise<Serving> {
  checkNumbers(options, { port: PORT });
  const { port, host, allowRemote, allowActions, campaigns, timeZone, log, signal } = options;
  const { serve: start } = await import('./serve.ts');
  const given = present({ port, host, allowRemote, allowActions, campaigns, timeZone, log });
  const running = await start({ ...settle(options), ...given });
  const { url, port: taken, signInUrl, ledger } = running;
  return { url, port: taken, signInUrl, ledger, ...closedBy(() => running.close(), signal) };
}

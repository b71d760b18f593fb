import { problem, refuse } from '../errors.ts';
import type { CommandContext } from '../operations/context.ts';
import { projectHere } from '../operations/project-ledger.ts';
import { countryOf } from '../operations/suppress-addresses.ts';
import { createPhoneReader } from '../recipients/phone.ts';
import { isLoopback } from '../util/host-guard.ts';
import { placeOfLedger } from '../util/ledger-address.ts';
import { clientScript } from './client-script.ts';
import { createLooks } from './counts.ts';
import { keepLedger } from './ledger.ts';
import { createLive } from './live.ts';
import { formatsByLocale } from './pages/format.ts';
import { createSessions, startPages } from './server.ts';
import type { Site } from './site.ts';

export interface ServeOptions extends Pick<CommandContext, 'cwd' | 'env'> {
  /** Milliseconds since 1970; the clock of this machine when absent. */
  readonly now?: () => number;
  /** Path of the ledger, as `--ledger` takes it. */
  readonly ledger?: string;
  /** TCP port; 0 takes a free one. 4012 when absent. */
  readonly port?: number;
  /** Address to listen on; `127.0.0.1` when absent. */
  readonly host?: string;
  /**
   * Names under which other machines open the pages; needed if `host` can be reached by other machines. Users have to
   * sign in then, with the address that is printed, and nothing that is sent is encrypted.
   */
  readonly allowRemote?: readonly string[];
  /** Signed-in users may resolve doubts, review replies and change the list of suppressions. */
  readonly allowActions?: boolean;
  /** Campaign files, folders or names that are shown; all of the project when absent. */
  readonly campaigns?: readonly string[];
  /** IANA name for times; that of this machine when absent. */
  readonly timeZone?: string;
  /** Called with a line for what went wrong; it holds nothing that a reader wrote. */
  readonly log?: (line: string) => void;
}

export interface Serving {
  /** Such as `http://127.0.0.1:4012/`. */
  readonly url: string;
  readonly port: number;
  /** What signs a browser in: its holder may read and, where that is allowed, act. Null where no sign-in is needed. */
  readonly signInUrl: string | null;
  /** Path of the ledger. */
  readonly ledger: string;
  /** Ends open streams of events too. */
  close(): Promise<void>;
}

export const DEFAULT_PORT = 4012;
export const DEFAULT_HOST = '127.0.0.1';

/**
 * `handbill serve`: pages over the ledger of a project. It is opened for reading; an action writes as its command does.
 * A ledger that does not exist yet is shown as empty, and opened when it appears.
 *
 * @throws HandbillError (exit status 2): a wrong project file, a `host` of other machines without `allowRemote`, a port
 * that is not available
 */
export async function serve(options: ServeOptions): Promise<Serving> {
  const { cwd, env, now = Date.now, host = DEFAULT_HOST, allowRemote = [], allowActions = false } = options;
  const isPrivate = !isLoopback(host) || allowRemote.length > 0;
  if (isPrivate && allowRemote.length === 0) throw remote(host);
  const reading = await projectHere({ cwd, env }, options.ledger);
  const keeper = keepLedger(reading.project.ledger, now);
  const live = createLive(keeper);
  const given = options.ledger ?? env['HANDBILL_LEDGER'] ?? '';
  const site: Site = {
    context: { cwd, env, now },
    reading,
    ...(given === '' ? {} : { ledger: given }),
    keeper,
    looks: createLooks(keeper, now),
    campaigns: options.campaigns ?? [],
    phone: createPhoneReader(countryOf(reading)),
  };
  let token: string | null = null;
  const timeZone = options.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const pages = await startPages({
    host,
    port: options.port ?? DEFAULT_PORT,
    names: isPrivate ? [host, ...allowRemote] : allowRemote,
    needs: (port) => {
      const sessions = allowActions || isPrivate ? createSessions(port) : null;
      token = sessions?.token ?? null;
      return {
        site,
        live,
        script: clientScript('serve'),
        formats: formatsByLocale(timeZone),
        sessions,
        allowActions,
        isPrivate,
        ledgerName: placeOfLedger(keeper.path, cwd),
        log: options.log ?? (() => undefined),
      };
    },
  });
  const named = isPrivate ? (allowRemote[0] ?? host) : host;
  const url = `http://${named.includes(':') ? `[${named}]` : named}:${pages.port}/`;
  return {
    url,
    port: pages.port,
    signInUrl: token === null ? null : `${url}login?token=${String(token)}`,
    ledger: keeper.path,
    async close() {
      await pages.close();
      keeper.close();
    },
  };
}

function remote(host: string): Error {
  const message = `Other machines reach ${host}: anyone there can see addresses of people, and nothing is encrypted.`;
  const hint =
    'Leave --host out and use a tunnel (ssh -L 4012:127.0.0.1:4012), or say --allow-remote NAME with the name under ' +
    'which other machines open the pages; every user has to sign in then.';
  return refuse(problem('usage', message, { hint }));
}

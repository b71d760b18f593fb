import { problem, refuse } from '../errors.ts';
import type { ProjectOptions, ResolvedOptions } from '../operations/options.ts';
import { countryOf, projectHere } from '../operations/project.ts';
import { sentCampaign } from '../operations/report.ts';
import { createPhoneReader } from '../recipients/phone.ts';
import { isLoopback } from '../util/base-url.ts';
import { placeOfLedger } from '../util/ledger-address.ts';
import { clientScript } from './client-script.ts';
import { createRunStats } from './counts.ts';
import { keepLedger } from './ledger.ts';
import { createLive } from './live.ts';
import { formatsByLocale } from './pages/format.ts';
import { createSessions, startPages } from './server.ts';
import type { Site } from './site.ts';

export const DEFAULT_PORT = 4012;
export const DEFAULT_HOST = '127.0.0.1';

/** Which pages are served, and for which hosts. */
export interface ServeOptions extends ProjectOptions {
  /** TCP port; 0 takes a free one. Default: 4012. */
  readonly port?: number;
  /** Address to listen on. Default: `127.0.0.1`. */
  readonly host?: string;
  /**
   * Names under which other machines open the pages; needed if `host` can be reached by other machines. Nothing that is
   * sent is encrypted. Default: none.
   */
  readonly allowRemote?: readonly string[];
  /** Every user of this machine may read without signing in; not with `allowRemote`. Default: false. */
  readonly open?: boolean;
  /** Signed-in users may pause and resume, resolve doubts, review replies and change suppressions. Default: false. */
  readonly allowActions?: boolean;
  /** Campaign files, folders or names that are shown. Default: all of the project. */
  readonly campaigns?: readonly string[];
  /** IANA name for times. Default: that of the project. */
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
  /** What signs a browser in: its holder may read and, where that is allowed, act. Null where the pages are open. */
  readonly signInUrl: string | null;
  /** Path of the ledger. */
  readonly ledger: string;
  /** Resolves when it is closed, by `close` or the signal. */
  readonly closed: Promise<void>;
  /** Ends open streams of events too. */
  close(): Promise<void>;
}

/** Starts the pages of `serve`. A ledger that does not exist yet is shown as empty, and opened when it appears. */
export async function startServing(
  options: Omit<ServeOptions, 'signal'> & ResolvedOptions,
): Promise<Omit<Serving, 'closed' | typeof Symbol.asyncDispose>> {
  const { cwd, env, now, host = DEFAULT_HOST, allowRemote = [], allowActions = false, open = false } = options;
  const isRemote = !isLoopback(host) || allowRemote.length > 0;
  if (isRemote && open) throw refuse(problem('usage', 'Pages that other machines reach are never open.', LEAVE_OUT));
  if (isRemote && allowRemote.length === 0) throw remote(host);
  const reading = await projectHere({ cwd, env }, options.ledger);
  const keeper = keepLedger(reading.project.ledger, now);
  const live = createLive(keeper);
  const given = options.ledger ?? env['HANDBILL_LEDGER'] ?? '';
  const site: Site = {
    context: { cwd, env, now },
    reading,
    ...(given === '' ? {} : { ledger: given }),
    keeper,
    stats: createRunStats(
      keeper,
      now,
      async (run) => (await sentCampaign(run, reading.project, { cwd, env })).campaign,
    ),
    lists: new Map(),
    sent: new Map(),
    campaigns: options.campaigns ?? [],
    phone: createPhoneReader(countryOf(reading)),
  };
  let token: string | null = null;
  const { locale } = reading.project;
  const timeZone = options.timeZone ?? reading.project.timeZone;
  const pages = await startPages({
    host,
    port: options.port ?? DEFAULT_PORT,
    names: isRemote ? [host, ...allowRemote] : [],
    needs: (port) => {
      const sessions = allowActions || !open ? createSessions(port) : null;
      token = sessions?.token ?? null;
      return {
        site,
        live,
        script: clientScript('serve'),
        formats: formatsByLocale(timeZone, locale),
        sessions,
        allowActions,
        isPrivate: !open,
        ledgerName: placeOfLedger(keeper.path, cwd),
        log: options.log ?? (() => undefined),
      };
    },
  });
  const named = allowRemote[0] ?? host;
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

const LEAVE_OUT = { hint: 'Leave --open out: every user signs in by the address that is printed.' };

function remote(host: string): Error {
  const message = `Other machines reach ${host}: anyone there can see addresses of people, and nothing is encrypted.`;
  const hint =
    'Leave --host out and use a tunnel (ssh -L 4012:127.0.0.1:4012), or say --allow-remote NAME with the name under ' +
    'which other machines open the pages.';
  return refuse(problem('usage', message, { hint }));
}

import { HandbillError, problem, refuse } from '../errors.ts';
import type { ResolvedOptions } from '../operations/options.ts';
import { countryOf, projectHere } from '../operations/project.ts';
import { rehearse } from '../operations/rehearse.ts';
import { sentCampaign } from '../operations/report.ts';
import { createPeopleOf } from '../operations/run-people.ts';
import { schedule } from '../operations/schedule.ts';
import { createPhoneReader } from '../recipients/phone.ts';
import { isLoopback } from '../util/base-url.ts';
import { placeOfLedger } from '../util/ledger-address.ts';
import { DAY_MS } from '../util/time.ts';
import { clientScript } from './client-script.ts';
import { createRunStats } from './counts.ts';
import { keepLedger } from './ledger.ts';
import { createLive } from './live.ts';
import { SERVE, type ServeOptions } from './options.ts';
import { formatsByLocale } from './pages/format.ts';
import { createSessions, startPages } from './server.ts';
import { DAYS_AHEAD, MOST_COMING, type Site } from './site.ts';

export interface Serving extends AsyncDisposable {
  /** Such as `http://127.0.0.1:4012/`. */
  readonly url: string;
  readonly port: number;
  /** Signs a browser in: its holder may read and, where that is allowed, act. Null where the pages are open. */
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
  const { cwd, env, now, host = SERVE.host.preset, allowRemote = [], allowActions = false, open = false } = options;
  const { campaigns = [] } = options;
  const isRemote = !isLoopback(host) || allowRemote.length > 0;
  if (isRemote && open) throw refuse(problem('usage', 'Pages that other machines reach are never open.', LEAVE_OUT));
  if (isRemote && allowRemote.length === 0) {
    const message = `Other machines reach ${host}: anyone there can see addresses of people, and nothing is encrypted.`;
    const hint =
      'Leave --host out and use a tunnel (ssh -L 4012:127.0.0.1:4012), or say --allow-remote NAME with the name under ' +
      'which other machines open the pages.';
    throw refuse(problem('usage', message, { hint }));
  }
  const reading = projectHere({ cwd, env, ledger: options.ledger });
  const keeper = keepLedger(reading.project.ledger, now);
  const live = createLive(keeper);
  const given = options.ledger ?? env['HANDBILL_LEDGER'] ?? '';
  const coming = keptFor(30_000, async () => {
    const untilMs = now() + DAYS_AHEAD * DAY_MS;
    // A project without campaigns has no schedule.
    return await schedule(campaigns, { cwd, env, now, next: MOST_COMING, untilMs }).catch((error: unknown) => {
      if (!(error instanceof HandbillError)) throw error;
      return { campaigns: [], followUps: [], refused: [], missed: [], pauses: [] };
    });
  });
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
    campaigns,
    phone: createPhoneReader(countryOf(reading)),
    people: createPeopleOf(reading.project, { cwd, env }),
    coming: () => coming(''),
    ahead: keptFor(60_000, (environment) =>
      rehearse(campaigns, { cwd, env, now, environment, days: DAYS_AHEAD, ledger: options.ledger }),
    ),
  };
  let token: string | null = null;
  const { locale } = reading.project;
  const timeZone = options.timeZone ?? reading.project.timeZone;
  const pages = await startPages({
    host,
    port: options.port ?? SERVE.port.preset,
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

/** Keeps what was made for a name for some time, because live pages ask several times a second; makes one at a time. */
function keptFor<T>(ms: number, make: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const kept = new Map<string, { readonly untilMs: number; readonly made: Promise<T> }>();
  let last: Promise<unknown> = Promise.resolve();
  return (name) => {
    const found = kept.get(name);
    if (found !== undefined && performance.now() < found.untilMs) return found.made;
    const made = last.then(() => make(name));
    last = made.catch(() => undefined);
    kept.set(name, { untilMs: performance.now() + ms, made });
    return made;
  };
}

const LEAVE_OUT = { hint: 'Leave --open out: every user signs in by the address that is printed.' };

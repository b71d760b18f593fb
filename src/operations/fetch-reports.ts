import type { ProjectReading } from '../campaign/project.ts';
import { type Diagnostic, problem, refuse } from '../errors.ts';
import { hiding, readKeys } from '../http/credentials.ts';
import { createGetter, type Getter, type Page } from '../http/get.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Recorded } from '../ledger/records.ts';
import type { Environment, ReportFetch, WebhookEvent } from '../model.ts';
import { authorizerOf, headersOf } from '../providers/auth.ts';
import { fillUrl } from '../providers/url.ts';
import { TIMERS, type Timers } from '../send/timers.ts';
import { safeLine } from '../util/escape.ts';
import { isMapping, parseExactly, valueAt } from '../util/json.ts';
import { createYields } from '../util/long-work.ts';
import { nextCommand } from '../util/next-command.ts';
import { nearest } from '../util/suggest.ts';
import { DAY_MS } from '../util/time.ts';
import { interpreterOf } from './project.ts';

/** Lists are by the time of sending, and reports come later: up to the longest usual validity of a message. */
const BACK_MS = 3 * DAY_MS;
/** More than a page of an API may hold. */
const MOST_EVENTS = 200_000;
/** A list that has no end by then goes round in circles. */
const MOST_PAGES = 10_000;
const TIMEOUT_MS = 30_000;
const ATTEMPTS = 3;
const WAITS_MS = [1_000, 5_000];
/** An API that asks for a longer wait is asked again by the next fetch. */
const LONGEST_WAIT_MS = 60_000;

export interface FetchContext {
  readonly ledger: Pick<Ledger, 'events'>;
  readonly reading: ProjectReading;
  readonly environment: Environment;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  readonly signal?: AbortSignal | undefined;
  readonly timers?: Pick<Timers, 'sleep'>;
}

/** Stores events, and drops the page that they were read from, in one transaction. */
type Store = (events: readonly WebhookEvent[], source: string, page?: number) => Recorded | Promise<Recorded>;

/**
 * Asks the API of an environment for its reports and replies. Each page is stored before it is read and before the next
 * is asked for, because some APIs give each event only once: what a killed process left unread is read first. A repeated
 * fetch changes nothing.
 *
 * @returns what kept it from being complete; empty: everything since the last good fetch is in the ledger
 * @throws HandbillError exit 2 where the provider has no such list, or a secret is missing
 */
export async function fetchReports(context: FetchContext, store: Store): Promise<readonly Diagnostic[]> {
  const { ledger, reading, environment, env, now } = context;
  const { name, provider, webhook, secrets, vars } = environment;
  if (webhook.fetches.length === 0) {
    const message = `${provider.title} has no reports that can be fetched.`;
    const hint = `Receive them with \`handbill listen\`. Providers of which handbill can fetch: docs/fetch.md.`;
    throw refuse(problem('usage', message, { hint }));
  }
  const keys = await readKeys(secrets ?? {}, env, reading.project.root);
  const beganMs = now();
  const hide = hiding(keys);
  await using getter = createGetter({
    url: environment.url,
    headers: headersOf(provider, vars, keys),
    authorize: authorizerOf(provider, vars, keys, now),
    now,
    proxy: environment.proxy,
    timeoutMs: TIMEOUT_MS,
  });
  const sinceMs = (ledger.events.fetchedMs(name) ?? beganMs) - BACK_MS;
  const instant = new Date(sinceMs).toISOString().replace(/\.\d+Z$/, 'Z');
  const since = {
    'since.instant': instant,
    'since.date': instant.slice(0, 10),
    'since.unix': String(Math.floor(sinceMs / 1000)),
  };
  const found: Diagnostic[] = [];
  const pause = createYields();
  for (const [i, fetch] of webhook.fetches.entries()) {
    const source = `api ${name}/${i + 1}`;
    const interpreter = interpreterOf(reading, name, { maxEvents: MOST_EVENTS, mapping: fetch.mapping });
    const unreadable = new Set<number>();
    const read = async (): Promise<boolean> => {
      let isUnderstood = true;
      for (const { number, body } of ledger.events.pages(source)) {
        if (unreadable.has(number)) continue;
        const { events, problems } = interpreter.interpret(Buffer.from(body), now());
        const isRead = problems.length === 0 && events.some(({ kind }) => kind !== 'unread');
        isUnderstood &&= isRead;
        // A page that comes only once is kept until a later version, or another provider file, can read it.
        // Lists often begin with the newest; events are kept as they happened, so that the last word of a person is the last.
        const readMs = now();
        const timeOf = (event: WebhookEvent) => (event.kind === 'unread' ? null : event.atMs) ?? readMs;
        const inOrder = isRead ? events.toSorted((a, b) => timeOf(a) - timeOf(b)) : [];
        if (isRead || !fetch.isOnce) await store(inOrder, 'api', number);
        else unreadable.add(number);
        await pause();
      }
      return isUnderstood;
    };
    const about = { fetch, environment, keys, since };
    if (!(await read())) {
      const hint =
        'Pages that come only once are kept: correct `events` and `fields` of the list in the provider file.';
      const why = 'a page of an earlier fetch has no report or reply, as far as one can tell';
      found.push(notFetched(about, { url: urlOf(about, { page: '0', offset: '0' }), why, hint }, hide));
    }
    const pages = pagesOf(about, { getter, ...context });
    for (;;) {
      const { value, done } = await pages.next();
      if (done === true) {
        if (value !== null) found.push(notFetched(about, value, hide));
        break;
      }
      await store([{ kind: 'unread', body: hide(value.body) }], source);
      if (await read()) continue;
      const hint = `Its entries have the keys ${value.keys.join(', ')}: \`fields\` of the list in the provider file says which is which.`;
      const why = 'nothing in its answer is a report or a reply, as far as one can tell';
      found.push(notFetched(about, { url: value.url, why, hint }, hide));
      break;
    }
  }
  if (found.length === 0 && context.signal?.aborted !== true) ledger.events.setFetched(name, beganMs);
  return found;
}

interface About {
  readonly fetch: ReportFetch;
  readonly environment: Environment;
  readonly keys: Readonly<Record<string, string>>;
  readonly since: Readonly<Record<string, string>>;
}

/** Why it is not known what follows, at the URL that was asked. */
interface Gap {
  readonly url: URL;
  readonly why: string;
  readonly hint?: string;
}

/**
 * The pages of a list that have events, each asked for when the one before has been taken, with the keys of the first.
 * @returns null: nothing follows
 */
async function* pagesOf(about: About, context: Pick<FetchContext, 'signal' | 'timers'> & { readonly getter: Getter }) {
  const { fetch, environment } = about;
  const isCounted = /\{(?:page|offset)\}/.test(fetch.url);
  const asked = new Set<string>();
  let url = urlOf(about, { page: '0', offset: '0' });
  let [offset, before] = [0, ''];
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    asked.add(url.href);
    const answer = await askFor(url, fetch.isOnce, context);
    if (answer === null) return { url, why: 'it was interrupted' };
    if ('error' in answer) {
      const why = `there was no whole answer (${answer.error.code})`;
      return fetch.isOnce && !isUnsent(answer)
        ? { url, why: `${why}, and the page may not come again`, hint: LOST }
        : { url, why };
    }
    const { status, body } = answer;
    if (status !== 200) {
      const said = body.replace(/\s+/g, ' ').trim().slice(0, MOST_SAID);
      const why = `it answered ${status}${said === '' ? '' : `: ${said}`}`;
      const hint = `Check the secrets and vars of ${environment.name}, and that the account may read its messages.`;
      return status === 401 || status === 403 ? { url, why, hint } : { url, why };
    }
    const document = parseExactly(answer.body);
    const at = fetch.mapping.events;
    const found = at === null ? [document] : at.map((pointer) => valueAt(document, pointer));
    const lists = found.filter((list) => Array.isArray(list));
    const [first]: readonly unknown[] = lists.flat();
    // How many events the page holds; null: it is no list of them.
    const entries = lists.length === 0 ? null : lists.reduce((sum, list) => sum + list.length, 0);
    if (entries === 0) return null;
    if (isCounted && body === before) return { url, why: 'it gives the same page again' };
    before = body;
    const keys = isMapping(first) ? Object.keys(first).slice(0, 20) : [];
    if (entries !== null || fetch.isOnce) yield { url, body, keys };
    if (entries === null) {
      const places = at?.join(', ') ?? 'the top';
      return {
        url,
        why: `its answer has no list at ${places}`,
        hint: '`events` of the list in the provider file says where.',
      };
    }
    offset += entries;
    const next = fetch.next === null ? undefined : valueAt(document, fetch.next) || undefined;
    if (isCounted) url = urlOf(about, { page: String(page), offset: String(offset) });
    else if (typeof next === 'string' || typeof next === 'number') {
      const following = nextUrl(url, String(next), about);
      if (following === null) return { url, why: 'its next page is at another host, which must not get the keys' };
      url = following;
    } else if (!fetch.isOnce) return misplaced(document, about, url);
    if (!fetch.isOnce && asked.has(url.href)) return null;
  }
  return { url, why: `the list has no end after ${MOST_PAGES} pages` };
}

/** The page has nothing at `next`, and perhaps its next one elsewhere: the list would end too soon without a word. */
function misplaced(document: unknown, { fetch }: About, url: URL): Gap | null {
  if (fetch.next === null || valueAt(document, fetch.next) !== undefined) return null;
  const name = fetch.next.split('/').at(-1) ?? '';
  const search = (value: unknown, place: string): string | null => {
    for (const [key, inner] of isMapping(value) ? Object.entries(value) : []) {
      const isAddress = typeof inner === 'string' && ADDRESS.test(inner);
      const isNamed = key === name || nearest(name, [key]) !== null;
      const isToken = fetch.cursor !== null && isNamed && (typeof inner === 'number' || typeof inner === 'string');
      if (isToken || (isAddress && (isNamed || /next/i.test(key)))) return `${place}/${key}`;
      const found = search(inner, `${place}/${key}`);
      if (found !== null) return found;
    }
    return null;
  };
  const place = search(document, '');
  const why = `it has nothing at ${fetch.next}, where its next page should be, and perhaps the next page at ${place}`;
  return place === null ? null : { url, why, hint: '`next` of the list in the provider file says where.' };
}

const ADDRESS = /^(?:https?:\/)?\//;

function urlOf({ fetch, environment, keys, since }: About, counts: Readonly<Record<string, string>>): URL {
  const { vars, baseUrl } = environment;
  return new URL(fillUrl(fetch.url, vars, baseUrl, keys, { ...since, ...counts }));
}

/** Null: it is not at the host of the provider. With a `baseUrl`, that takes the host's place. */
function nextUrl(url: URL, next: string, about: About): URL | null {
  const { fetch, environment, keys, since } = about;
  if (fetch.cursor !== null) {
    const following = new URL(url);
    following.searchParams.set(fetch.cursor, next);
    return following;
  }
  if (!URL.canParse(next, url.href)) return null;
  const following = new URL(next, url);
  const own = new URL(fillUrl(fetch.url, environment.vars, null, keys, since), url);
  if (following.origin !== url.origin && following.origin !== own.origin) return null;
  return new URL(`${following.pathname}${following.search}`, url);
}

/** Nothing of the request can have been received (failures.md, B2 to B7). */
function isUnsent({ error: { code } }: Extract<Page, { error: unknown }>): boolean {
  return UNSENT.test(code);
}

const UNSENT =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_\w+|E(?:HOST|NET)UNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|HANDBILL_PROXY)$/;
const MOST_SAID = 200;
const LOST = 'Look at the provider for replies and reports of this time: an opt-out may be among them.';

/**
 * Null: interrupted. A GET changes nothing, so that it is tried again; but not where the API may have given a page that it
 * gives only once: the next one would hide the loss.
 */
async function askFor(
  { pathname, search }: URL,
  isOnce: boolean,
  { getter, signal, timers = TIMERS }: Pick<FetchContext, 'signal' | 'timers'> & { readonly getter: Getter },
): Promise<Page | null> {
  const interrupt = signal ?? new AbortController().signal;
  for (let tried = 1; ; tried += 1) {
    const answer = await getter.get(`${pathname}${search}`, interrupt);
    if (interrupt.aborted) return null;
    const mayPass = 'error' in answer ? !isOnce || isUnsent(answer) : answer.status === 429 || answer.status >= 500;
    const waitMs = ('error' in answer ? null : answer.retryAfterMs) ?? WAITS_MS[tried - 1] ?? 0;
    if (!mayPass || tried === ATTEMPTS || waitMs > LONGEST_WAIT_MS) return answer;
    await timers.sleep(waitMs, interrupt);
  }
}

function notFetched(
  { fetch, environment }: About,
  { url, why, hint }: Gap,
  hide: (text: string) => string,
): Diagnostic {
  const { name, vars, baseUrl } = environment;
  // A secret in a URL may be too short to be found there.
  const shown = fetch.url.includes('{secret.') ? new URL(fillUrl(fetch.url, vars, baseUrl)).origin : hide(url.href);
  const message = `The reports of ${name} could not all be fetched from ${shown}: ${safeLine(hide(why))}.`;
  const again = `What was fetched is kept. Try again: ${nextCommand('listen', '--env', name, '--from', 'api')}`;
  return problem('fetch-failed', message, { hint: hint === undefined ? again : `${hint} ${again}` });
}

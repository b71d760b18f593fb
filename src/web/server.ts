import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { parse, serialize } from 'hono/utils/cookie';
import { asError, HandbillError, problem, refuse } from '../errors.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import type { RunRecord } from '../ledger/records.ts';
import { html } from '../util/escape.ts';
import {
  isForeignPart,
  isKnownHost,
  isOwnForm,
  listenOn,
  portOf,
  receiveBody,
  SERVER_TIMEOUTS,
} from '../util/http-server.ts';
import { isSame } from '../util/secret.ts';
import { limitConnections } from '../webhook/server-connections.ts';
import { ACTIONS, act, csvOf, doubtCsvOf, previewOf, reportOf } from './actions.ts';
import type { ClientScript } from './client-script.ts';
import { address } from './kit.ts';
import type { Live } from './live.ts';
import type { Formats } from './pages/format.ts';
import { type Content, messagePage, type Notice, servePage, type View } from './pages/layout.ts';
import { makePage, troublePage, withBanner } from './pages/pages.ts';
import { pausesBanner } from './pages/pauses.ts';
import { unknownIn } from './pages/recipients.ts';
import { noRun, notFound, runOf, type Site } from './site.ts';

const LONGEST_ADDRESS = 4_096;
/** Closes a connection whose reader takes nothing for so long. Streams of events write more often. */
const SILENT_MS = 60_000;

/** @throws HandbillError (exit status 2) if the port is not available */
export async function startPages(options: {
  readonly host: string;
  readonly port: number;
  /** Host names that other machines may use. */
  readonly names: readonly string[];
  readonly needs: (port: () => number) => AppNeeds;
}) {
  const { host, port, names, needs: make } = options;
  const needs = make(() => portOf(server));
  const app = createPagesApp(needs);
  const fetch = (request: Request, env: unknown): Response | Promise<Response> =>
    app.fetch(request, env as HttpBindings);
  // Without patching the globals, which no library may do to its process.
  const listener = getRequestListener(fetch, { overrideGlobalObjects: false });
  const server = createServer({ ...SERVER_TIMEOUTS, keepAliveTimeout: 5_000 }, (incoming, outgoing) => {
    const { socket } = incoming;
    // A form is not complete with its headers.
    connections.began(socket);
    if (incoming.method === 'POST') incoming.once('end', () => connections.answering(socket));
    else connections.answering(socket);
    outgoing.once('finish', () => connections.answered(socket));
    const status = refusalOf(incoming, names, needs.allowActions);
    if (status === null) return void listener(incoming, outgoing);
    outgoing.shouldKeepAlive = false;
    const allow = status === 405 ? { Allow: 'GET, HEAD' } : {};
    outgoing.writeHead(status, { ...SAFE_HEADERS, ...allow, 'Content-Length': 0, Connection: 'close' }).end();
  });
  const connections = limitConnections(server);
  server.setTimeout(SILENT_MS);
  return {
    port: await listenOn(server, port, host, 'Pages cannot be served'),
    /** Ends open streams, and resolves when everything is closed. */
    async close(): Promise<void> {
      const closed = once(server, 'close');
      server.close();
      needs.live.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Refuses a request before reading its body; null: accepted. */
function refusalOf(
  { method = '', url = '', headers }: IncomingMessage,
  names: readonly string[],
  allowActions: boolean,
): number | null {
  if (!isKnownHost(headers.host, names)) return 421;
  if (method !== 'GET' && method !== 'HEAD' && !(allowActions && method === 'POST')) return 405;
  if (isForeignPart(headers)) return 403;
  if (url.length > LONGEST_ADDRESS) return 414;
  return url.startsWith('/') ? null : 400;
}

interface AppNeeds {
  readonly site: Site;
  readonly live: Live;
  readonly script: ClientScript;
  readonly formats: (acceptLanguage: string | undefined) => Formats;
  /** Null: all clients may read, and none may change anything. */
  readonly sessions: Sessions | null;
  readonly allowActions: boolean;
  /** Reading needs the sign-in by the printed address, too. */
  readonly isPrivate: boolean;
  /** The ledger as its owner would name it. */
  readonly ledgerName: string;
  /** Gets a line for a bug, without text from readers. */
  readonly log: (line: string) => void;
}

interface Env {
  Bindings: HttpBindings;
}

type Req = Context<Env>;

const MAX_FORM_BYTES = 64 * 1024;
/** Longest wait of a page for scans of lists; later results are an update. */
const PATIENCE_MS = 800;

/** The routes. `startPages` has checked the host and the method. */
function createPagesApp(needs: AppNeeds): Hono<Env> {
  const { site, sessions } = needs;
  const app = new Hono<Env>();
  app.get('/favicon.ico', () => new Response(null, { status: 204, headers: SAFE_HEADERS }));
  app.get('/login', (c) => signIn(needs, c));
  if (needs.isPrivate) {
    app.use(async (c, next) => {
      if (sessionOf(needs, c) !== null) return await next();
      return show(needs, c, messagePage(401, 'Who are you?', [NEEDS_ADDRESS]));
    });
  }
  app.get('/events', (c) => listen(needs, c));
  app.get('/runs/:id/report', (c) => ofRun(needs, c, (run) => reportOf(site, run)));
  app.get('/runs/:id/recipients.csv', (c) => {
    const { searchParams } = new URL(c.req.url);
    const unknown = unknownIn(searchParams);
    if (unknown !== null) return show(needs, c, notFound(unknown).content);
    return ofRun(needs, c, (run) => csvOf(site, run, searchParams), 'text/csv; charset=utf-8');
  });
  app.get('/runs/:id/doubt.csv', (c) => ofRun(needs, c, (run) => doubtCsvOf(site, run), 'text/csv; charset=utf-8'));
  app.get('/campaigns/preview', (c) => previewed(needs, c));
  app.get('*', async (c) => {
    const url = new URL(c.req.url);
    const view = viewOf(needs, c, url, sessionOf(needs, c));
    const asked = { view, query: url.searchParams, patienceMs: PATIENCE_MS };
    return show(needs, c, (await makePage(site, c.req.path, asked)).content);
  });
  if (needs.allowActions) app.post('*', (c) => changed(needs, c));
  app.onError((error, c) => {
    logBug(needs, error, c.req.method);
    return show(needs, c, messagePage(500, 'Something went wrong', [A_BUG]));
  });
  if (sessions !== null) app.notFound((c) => show(needs, c, messagePage(404, 'Not found', ['There is no such page.'])));
  return app;
}

const A_BUG = 'This is a bug in handbill; the ledger is as it was.';

function logBug({ log, site }: Pick<AppNeeds, 'log' | 'site'>, error: Error, method: string): void {
  // Its message could contain user data.
  log(`a bug: ${error.name} at ${method} of a page`);
  if (site.context.env['HANDBILL_DEBUG'] === '1') log(String(error.stack));
}

const NEEDS_ADDRESS = 'Open the address that handbill serve printed when it was started: it signs this browser in.';

/** On every response: no caching, no guessed types, no frames, no referrer. */
const SAFE_HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
} as const;

function sessionOf({ sessions }: AppNeeds, c: Req): Session | null {
  return sessions?.of(c.req.header('cookie')) ?? null;
}

function viewOf(needs: AppNeeds, c: Req, url: URL, session: Session | null): View {
  return {
    formats: needs.formats(c.req.header('accept-language')),
    nowMs: needs.site.context.now(),
    url: url.pathname + url.search,
    ledger: needs.isPrivate && session === null ? null : needs.ledgerName,
    actions: !needs.allowActions ? 'off' : session === null ? 'signed-out' : 'on',
    csrf: needs.allowActions ? (session?.csrf ?? null) : null,
    notice: null,
  };
}

function show(needs: AppNeeds, c: Req, content: Content): Response {
  const session = sessionOf(needs, c);
  const view = viewOf(needs, c, new URL(c.req.url), session);
  const whole = needs.isPrivate && session === null ? content : withBanner(needs.site, view, content);
  const { text, policy } = servePage({ ...view, notice: session?.notice ?? null }, whole, needs.script);
  // Shown once.
  if (session !== null) session.notice = null;
  const headers = { ...SAFE_HEADERS, 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy };
  return new Response(text, { status: content.status ?? 200, headers });
}

function redirect(to: string, cookie?: string): Response {
  const headers = { ...SAFE_HEADERS, Location: to, ...(cookie === undefined ? {} : { 'Set-Cookie': cookie }) };
  return new Response(null, { status: 303, headers });
}

function signIn(needs: AppNeeds, c: Req): Response {
  const cookie = needs.sessions?.signIn(c.req.query('token') ?? '') ?? null;
  if (cookie !== null) return redirect('/', cookie);
  return show(needs, c, messagePage(403, 'Not this address', ['This is not the address that this start has printed.']));
}

function listen(needs: AppNeeds, c: Req): Response {
  const page = c.req.query('page') ?? '';
  if (!page.startsWith('/') || !URL.canParse(`http://pages.invalid${page}`)) {
    return show(needs, c, messagePage(400, 'Not an address', ['The address cannot be decoded.']));
  }
  const url = new URL(`http://pages.invalid${page}`);
  const view = viewOf(needs, c, url, sessionOf(needs, c));
  // The response would never begin, and the connection would stay open.
  if (c.req.method === 'HEAD') return new Response(null, { headers: { ...SAFE_HEADERS, Allow: 'GET' }, status: 405 });
  const cookies = c.req.header('cookie');
  const session = needs.isPrivate ? (needs.sessions?.of(cookies)?.csrf ?? null) : view.csrf;
  const key = JSON.stringify([url.pathname, url.search, view.formats.locale, session]);
  needs.live.listen(key, c.env.outgoing, () => {
    // A user who has signed out since gets no more updates.
    if (needs.isPrivate && needs.sessions?.of(cookies) == null) throw refuse(problem('usage', NEEDS_ADDRESS));
    const now = { ...view, nowMs: needs.site.context.now() };
    return makePage(needs.site, url.pathname, { view: now, query: url.searchParams, patienceMs: 0 });
  });
  return RESPONSE_ALREADY_SENT;
}

async function ofRun(needs: AppNeeds, c: Req, made: (run: RunRecord) => AsyncGenerator<string>, type?: string) {
  const id = c.req.param('id') ?? '';
  try {
    const open = needs.site.keeper.current();
    const run = open === null ? null : runOf(open, id);
    if (run === null) return show(needs, c, noRun(id).content);
    return await streamed(needs, c, made(run), address(['runs', run.id]), type);
  } catch (error) {
    needs.site.keeper.failed(error);
    if (!(error instanceof HandbillError)) throw error;
    return show(needs, c, troublePage(error).content);
  }
}

async function previewed(needs: AppNeeds, c: Req): Promise<Response> {
  try {
    const pieces = await previewOf(needs.site, c.req.query('file') ?? '', c.req.query('env') ?? '');
    if (pieces !== null) return await streamed(needs, c, pieces, address(['campaigns']));
    return show(needs, c, messagePage(404, 'Not found', ['No such campaign is shown here.']));
  } catch (error) {
    if (!(error instanceof HandbillError)) throw error;
    return show(needs, c, messagePage(422, 'This campaign cannot be previewed', saidBy(error)));
  }
}

/**
 * A whole page or file from another module, a page with its policy inside. Waits for the first piece before the response
 * begins.
 * @param back - where a page leads back to: as a file it has no such link
 */
async function streamed(
  needs: AppNeeds,
  c: Req,
  pieces: AsyncGenerator<string>,
  back: string,
  type = 'text/html; charset=utf-8',
): Promise<Response> {
  // Such a page sends no form: the banner names the command.
  const view = { ...viewOf(needs, c, new URL(c.req.url), null), actions: 'off' as const };
  const banner = pausesBanner(view, needs.site.keeper.current()?.ledger.pauses() ?? [], []);
  const first = await pieces.next();
  const policy = "frame-ancestors 'none'; form-action 'none'; base-uri 'none'";
  const headers = { ...SAFE_HEADERS, 'Content-Type': type, 'Content-Security-Policy': policy };
  if (c.req.method === 'HEAD') {
    // Hono drops the body of a response to HEAD without cancelling it: the ledger behind it would stay open.
    await pieces.return(undefined);
    return new Response(null, { headers });
  }
  const way = html`<nav class="back" aria-label="Back"><a href="${back}">Back to handbill serve</a></nav>\n${banner}`;
  async function* toTheEnd(): AsyncGenerator<string> {
    try {
      if (first.done !== true) yield first.value.replace('<body>\n', (body) => body + way.markup);
      yield* pieces;
    } catch (error) {
      // A file cannot say that it is not whole: its download fails.
      if (!type.startsWith('text/html')) c.env.outgoing.destroy();
      // Rethrown, the error would bypass the log, and appear in the page as markup.
      yield brokenOff(needs, error);
    }
  }
  return new Response(ReadableStream.from(toTheEnd()).pipeThrough(new TextEncoderStream()), { headers });
}

function brokenOff(needs: AppNeeds, error: unknown): string {
  if (error instanceof LedgerError) needs.site.keeper.failed(error);
  const isKnown = error instanceof HandbillError;
  if (!isKnown) logBug(needs, asError(error), 'GET');
  const said = isKnown ? saidBy(error).map((line) => html`<p>${line}</p>\n`) : [html`<p>${A_BUG}</p>\n`];
  return html`<main role="alert">
<h1>This page is not whole</h1>
${said}</main>
</body>
</html>
`.markup;
}

function saidBy({ diagnostics }: HandbillError): readonly string[] {
  return diagnostics.slice(0, 20).map(({ message, at }) => (at === undefined ? message : `${at.file}: ${message}`));
}

/** Accepts a form only from these pages, by a signed-in user, with the token that only these pages contain. */
async function changed(needs: AppNeeds, c: Req): Promise<Response> {
  const { incoming } = c.env;
  const session = sessionOf(needs, c);
  const refuse = (status: number, why: string): Response =>
    show(needs, c, messagePage(status, 'Nothing was changed', [why]));
  if (!isOwnForm(incoming.headers)) return refuse(403, 'The form came from another site.');
  if (session === null) return refuse(403, NEEDS_ADDRESS);
  const type = (incoming.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') return refuse(415, 'This is no form of these pages.');
  const body = await receiveBody(incoming, MAX_FORM_BYTES);
  if (body === 'cut-off') return RESPONSE_ALREADY_SENT;
  if (body === 'too-large') return refuse(413, 'The form is too large.');
  const form = new URLSearchParams(body.toString('utf8'));
  if (!isSame(form.get('csrf') ?? '', session.csrf))
    return refuse(403, 'The form is out of date: go back, reload the page, and send it again.');
  if (c.req.path === '/logout') return redirect('/', needs.sessions?.signOut(c.req.header('cookie')) ?? '');
  const action = ACTIONS.get(c.req.path);
  if (action === undefined) return refuse(405, 'Nothing can be changed here.');
  const done = await act(action, needs.site, viewOf(needs, c, new URL(c.req.url), session), form, c.req.path);
  if ('question' in done) return show(needs, c, done.question);
  // To a script, which shows it in the page that is open.
  if (c.req.header('accept') === 'application/json') return Response.json(done.notice, { headers: SAFE_HEADERS });
  session.notice = done.notice;
  return redirect(done.to);
}

/** A user who opened the address that was printed at the start. */
interface Session {
  /** The token in each form: another site can send a form, but cannot read this. */
  readonly csrf: string;
  /** The result of the last action, to be shown once. */
  notice: Notice | null;
}

/** Signed-in users; all sessions end with the process. */
type Sessions = ReturnType<typeof createSessions>;

const BYTES = 24;
/** One more sign-in ends the oldest session. */
const MOST_SESSIONS = 100;

/** @param port part of the name of the cookie: browsers send it to every port of a host */
export function createSessions(port: () => number) {
  const token = randomBytes(BYTES).toString('base64url');
  const sessions = new Map<string, Session>();
  const name = (): string => `handbill_${port()}`;
  const idIn = (cookies: string | undefined): string | null => parse(cookies ?? '', name())[name()] ?? null;
  const cookie = (value: string, more: { readonly maxAge?: number } = {}): string =>
    serialize(name(), value, { path: '/', httpOnly: true, sameSite: 'Strict', ...more });
  return {
    /** 192 bits, made at the start. */
    token,
    /** The header that signs a browser in; null: another token. */
    signIn(given: string): string | null {
      if (!isSame(given, token)) return null;
      const id = randomBytes(BYTES).toString('base64url');
      sessions.set(id, { csrf: randomBytes(BYTES).toString('base64url'), notice: null });
      const oldest = sessions.keys().next().value;
      if (sessions.size > MOST_SESSIONS && oldest !== undefined) sessions.delete(oldest);
      return cookie(id);
    },
    signOut(cookies: string | undefined): string {
      const id = idIn(cookies);
      if (id !== null) sessions.delete(id);
      return cookie('', { maxAge: 0 });
    },
    of: (cookies: string | undefined): Session | null => sessions.get(idIn(cookies) ?? '') ?? null,
  };
}

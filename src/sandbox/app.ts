import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { describe, describeAsText, reportsOf } from './describe.ts';
import { isTo, receivedJson } from './inbox.ts';
import { describeDialect } from './openapi.ts';
import { postMessage, type SandboxState } from './post-message.ts';
import { answer, answerEmpty, answerJson, answerProblem } from './reply.ts';

interface Env {
  Bindings: HttpBindings;
}

/**
 * The routes. No answer carries a CORS header: a page on the web must not read the received messages.
 *
 * @param url gives the sandbox's own origin, which is known only when it listens
 */
export function createApp(state: SandboxState, url: () => string): Hono<Env> {
  const app = new Hono<Env>();
  app.post(
    '/v2/messages',
    written((c) => postMessage(state, c.env.incoming, c.env.outgoing)),
  );
  app.get(
    '/sandbox/messages',
    written((c) => listMessages(state, c)),
  );
  app.delete(
    '/sandbox/messages',
    written((c) => clearMessages(state, c)),
  );
  app.get(
    '/sandbox',
    written((c) => describeSandbox(state, url(), c)),
  );
  app.get(
    '/sandbox/reports',
    written((c) => answerJson(c.env.outgoing, 200, JSON.stringify(reportsOf(state)))),
  );
  app.get(
    '/sandbox/openapi.json',
    written((c) => showOpenApi(state, url(), c)),
  );
  app.notFound(written(answerElse));
  app.onError((error, c: Context<Env>) => {
    state.log?.(`error: ${error.message}`);
    if (c.env.outgoing.headersSent) c.env.outgoing.destroy();
    else answerProblem(c.env.outgoing, 500, { detail: 'The sandbox failed. Its log says more.' });
    return RESPONSE_ALREADY_SENT;
  });
  return app;
}

/**
 * Paths that exist, with their methods. Routes for all methods would do the same, but a path with two routes goes
 * through Hono's chain of middleware, which would slow down the hot path.
 */
const ALLOWED: ReadonlyMap<string, string> = new Map([
  ['/v2/messages', 'POST'],
  ['/sandbox/messages', 'GET, DELETE'],
  ['/sandbox', 'GET'],
  ['/sandbox/reports', 'GET'],
  ['/sandbox/openapi.json', 'GET'],
]);

/** A handler that writes its answer to Node's response itself (see reply.ts) and returns only the sign that it did. */
function written(write: (c: Context<Env>) => void | Promise<void>): (c: Context<Env>) => Response | Promise<Response> {
  return (c) => {
    const pending = write(c);
    return pending === undefined ? RESPONSE_ALREADY_SENT : pending.then(() => RESPONSE_ALREADY_SENT);
  };
}

const DEFAULT_LIMIT = '100';

function listMessages(state: SandboxState, c: Context<Env>): void {
  const { to, limit = DEFAULT_LIMIT } = c.req.query();
  if (!/^\d{1,9}$/.test(limit)) {
    answerProblem(c.env.outgoing, 400, { detail: 'limit must be a whole number.' });
    return;
  }
  const entries = state.inbox.newestFirst().filter((entry) => to === undefined || isTo(entry, to));
  const messages = entries.slice(0, Number(limit)).map(receivedJson);
  answerJson(c.env.outgoing, 200, `{"received":${state.inbox.received},"messages":[${messages.join(',')}]}`);
}

function clearMessages(state: SandboxState, c: Context<Env>): void {
  state.inbox.clear();
  answerEmpty(c.env.outgoing, 204, {});
}

function describeSandbox(state: SandboxState, url: string, c: Context<Env>): void {
  const description = describe(url, state);
  const wantsJson = c.env.incoming.headers.accept?.includes('application/json') === true;
  if (wantsJson) answerJson(c.env.outgoing, 200, JSON.stringify(description));
  else answer(c.env.outgoing, 200, 'text/plain; charset=utf-8', describeAsText(description, state.dialect.says));
}

function showOpenApi(state: SandboxState, url: string, c: Context<Env>): void {
  answerJson(c.env.outgoing, 200, JSON.stringify(describeDialect(state.dialect.name, url)));
}

function answerElse(c: Context<Env>): void {
  const { path } = c.req;
  const allow = ALLOWED.get(path);
  const { outgoing } = c.env;
  if (allow === undefined) answerProblem(outgoing, 404, { detail: 'See GET /sandbox for what there is.' });
  else answerProblem(outgoing, 405, { detail: `${path} takes ${allow}.` }, { Allow: allow });
}

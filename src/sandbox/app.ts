import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import type { Word } from '../providers/rules.ts';
import { DEVICES } from './devices.ts';
import { ENDINGS, type Ending } from './endings.ts';
import { readDescription } from './form.ts';
import { isTo, receivedJson } from './inbox.ts';
import type { SandboxReports } from './options.ts';
import { answer, answerEmpty, answerProblem, postMessage, type SandboxState } from './post-message.ts';
import { type ProviderApi, wordBy } from './provider-api.ts';
import { sorted } from './reporter.ts';

type Env = { Bindings: HttpBindings };

/** It writes its answer to Node's response itself (see `answer`). */
type Handler = (incoming: IncomingMessage, outgoing: ServerResponse, c: Context<Env>) => void | Promise<void>;

/** No answer has a CORS header: a web page must not read the messages. `url` is known only when the sandbox listens. */
export function createApp(state: SandboxState, url: () => string): Hono<Env> {
  const app = new Hono<Env>();
  const allowed = new Map<string, string[]>();
  const route = (method: string, path: string, handle: Handler): void => {
    allowed.set(path, [...(allowed.get(path) ?? []), method]);
    app.on(method, path, written(handle));
  };
  route('POST', state.provider === null ? '/v2/messages' : '*', (incoming, outgoing) =>
    postMessage(state, incoming, outgoing),
  );
  route('GET', '/sandbox', (incoming, outgoing) => {
    const facts = describe(state, url());
    if (incoming.headers.accept?.includes('application/json') === true) json(outgoing, facts);
    else answer(outgoing, 200, 'text/plain; charset=utf-8', describeAsText(facts));
  });
  route('GET', '/sandbox/messages', (_incoming, outgoing, c) => {
    const { to, limit = '100' } = c.req.query();
    if (!/^\d{1,9}$/.test(limit)) return answerProblem(outgoing, 400, { detail: 'limit must be a whole number.' });
    const entries = state.inbox.newestFirst().filter((entry) => to === undefined || isTo(entry, to));
    const messages = entries.slice(0, Number(limit)).map(receivedJson);
    const body = `{"received":${state.inbox.received},"messages":[${messages.join(',')}]}`;
    return answer(outgoing, 200, 'application/json', body);
  });
  route('DELETE', '/sandbox/messages', (_incoming, outgoing) => {
    state.inbox.clear();
    answerEmpty(outgoing, 204);
  });
  route('GET', '/sandbox/reports', (_incoming, outgoing) => json(outgoing, reportsOf(state)));
  if (state.provider === null) {
    route('GET', '/sandbox/openapi.json', (_incoming, outgoing) =>
      json(outgoing, { ...readDescription(), servers: [{ url: url() }] }),
    );
  }
  app.notFound(
    written((_incoming, outgoing, { req: { path } }) => {
      const allow = allowed.get(path)?.join(', ');
      if (allow === undefined) answerProblem(outgoing, 404, { detail: 'See GET /sandbox for what there is.' });
      else answerProblem(outgoing, 405, { detail: `${path} takes ${allow}.` }, { Allow: allow });
    }),
  );
  app.onError((error, { env: { outgoing } }) => {
    state.log?.(`error: ${error.message}`);
    if (outgoing.headersSent) outgoing.destroy();
    else answerProblem(outgoing, 500, { detail: 'The sandbox failed. Its log says more.' });
    return RESPONSE_ALREADY_SENT;
  });
  return app;
}

function written(handle: Handler): (c: Context<Env>) => Response | Promise<Response> {
  return (c) => {
    const pending = handle(c.env.incoming, c.env.outgoing, c);
    return pending === undefined ? RESPONSE_ALREADY_SENT : pending.then(() => RESPONSE_ALREADY_SENT);
  };
}

function json(outgoing: ServerResponse, value: unknown): void {
  answer(outgoing, 200, 'application/json', JSON.stringify(value));
}

export function reportsOf({ reporter }: Pick<SandboxState, 'reporter'>): SandboxReports {
  return reporter?.counts() ?? NO_REPORTS;
}

const NO_REPORTS: SandboxReports = {
  webhook: null,
  events: 0,
  pending: 0,
  acknowledged: 0,
  givenUp: 0,
  dropped: 0,
  posts: 0,
  retried: 0,
  answers: {},
  ends: {},
  replies: 0,
};

function describe(state: SandboxState, url: string) {
  const { inbox, maxRecipients, scripts, devices, provider } = state;
  return {
    name: 'handbill sandbox',
    isProvider: provider !== null,
    send: provider?.operations.map((path) => `${url}${path}`) ?? [`${url}/v2/messages`],
    received: inbox.received,
    accepted: inbox.accepted,
    /** How often each status was answered; `none` counts broken and silent connections. */
    answers: sorted(inbox.answers),
    /** How many requests `GET /sandbox/messages` can show. */
    kept: inbox.kept,
    maxRecipients,
    scripts,
    endings:
      provider === null
        ? ENDINGS.map(({ digits, answers, becomes }) => ({ digits, answers, becomes }))
        : ENDINGS.flatMap((ending) => endingBy(provider, ending)),
    devices: [...DEVICES].map(([digits, { label, takes }]) => ({ digits, device: label, takes: takes.join(', ') })),
    devicesFromFile: devices.size,
    reports: reportsOf(state),
  };
}

/** By the examples of a provider, which has an answer for a kind of status, and not for each of them. */
function endingBy(provider: ProviderApi, { digits, answers, answer: { status = 0, cut } = {} }: Ending) {
  if (cut !== undefined) return [{ digits, answers, becomes: 'in doubt' }];
  const shown = status < 400 ? null : provider.statusFor(status);
  return shown === null ? [] : [{ digits, answers: String(shown), becomes: BECOMES[wordBy(status)] }];
}

const BECOMES: Readonly<Record<Word, string>> = {
  accepted: 'accepted',
  refused: 'rejected',
  'opted-out': 'rejected, if the provider has such an answer as an opt-out',
  unsupported: 'rejected',
  retry: 'sent again, and accepted then',
  stop: 'pending; the run stops',
  doubt: 'in doubt',
};

const WHOSE: Readonly<Record<SandboxState['scripts'], string>> = {
  reserved: 'Numbers from +447700900000 to +447700900999 choose the answer by their last three digits:',
  all: 'Every number chooses the answer by its last three digits:',
  none: 'Scripted answers are switched off; these would be played:',
};

/** For a person with a browser or curl. */
function describeAsText(facts: ReturnType<typeof describe>): string {
  const { answers, devicesFromFile, reports } = facts;
  const counts = Object.entries(answers).map(([status, count]) => `${status}: ${count}`);
  const dropped = reports.dropped === 0 ? '' : `, dropped ${reports.dropped}`;
  const became = `acknowledged ${reports.acknowledged}, given up ${reports.givenUp}, pending ${reports.pending}${dropped}`;
  return [
    'handbill sandbox: the messaging API on this machine. Nothing that is sent here leaves it.',
    '',
    ...facts.send.map((address) => `POST   ${address}`),
    'GET    /sandbox/messages?to=NUMBER&limit=N   the received messages, newest first',
    'DELETE /sandbox/messages                     deletes them',
    'GET    /sandbox/reports                      what was posted to the webhook, and what waits',
    ...(facts.isProvider ? [] : ['GET    /sandbox/openapi.json                 the form of requests and answers']),
    '',
    `Received ${facts.received}, accepted ${facts.accepted}, kept ${facts.kept}.${counts.length === 0 ? '' : ` Answers: ${counts.join(', ')}.`}`,
    ...(reports.webhook === null ? [] : [`Events for ${reports.webhook}: ${reports.events}, ${became}.`]),
    `At most ${facts.maxRecipients} ${facts.maxRecipients === 1 ? 'recipient' : 'recipients'} in one request.`,
    '',
    WHOSE[facts.scripts],
    '',
    ...columns(facts.endings.map((one) => [one.digits, one.answers, one.becomes])),
    '',
    'All others are accepted.',
    '',
    'The device of a number too:',
    '',
    ...columns(facts.devices.map((one) => [one.digits, one.device, `takes ${one.takes}`])),
    '',
    `All others take every channel.${devicesFromFile === 0 ? '' : ` ${devicesFromFile} numbers have theirs from the file of devices.`}`,
    '',
  ].join('\n');
}

function columns(rows: readonly (readonly [digits: string, second: string, third: string])[]): string[] {
  const width = Math.max(...rows.map(([, second]) => second.length));
  return rows.map(([digits, second, third]) => `...${digits}  ${second.padEnd(width)}  ${third}`);
}

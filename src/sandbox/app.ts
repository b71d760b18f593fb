import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { thrownText } from '../errors.ts';
import { isKnownHost } from '../util/http-server.ts';
import { DEVICES } from './devices.ts';
import { ENDINGS } from './endings.ts';
import { readDescription } from './form.ts';
import { isTo, receivedJson } from './inbox.ts';
import { answer, answerProblem, postMessage } from './post-message.ts';
import { wordBy } from './provider-api.ts';
import { reportsOf, sorted } from './reporter.ts';
import type { SandboxState } from './state.ts';

type Handler = (incoming: IncomingMessage, outgoing: ServerResponse, url: URL) => void | Promise<void>;

/** No answer has a CORS header: a web page must not read the messages. */
export function createListener(state: SandboxState): RequestListener {
  const { inbox, provider, reporter } = state;
  const post: Handler = (incoming, outgoing) => postMessage(state, incoming, outgoing);
  const routes: Readonly<Record<string, Readonly<Record<string, Handler>>>> = {
    '/sandbox': { GET: (_incoming, outgoing, { origin }) => json(outgoing, describe(state, origin)) },
    '/sandbox/messages': {
      GET(_incoming, outgoing, { searchParams }) {
        const [to, limit] = [searchParams.get('to'), searchParams.get('limit') ?? '100'];
        if (!/^\d{1,9}$/.test(limit)) return answerProblem(outgoing, 400, { detail: 'limit must be a whole number.' });
        const entries = inbox.newestFirst().filter((entry) => to === null || isTo(entry, to));
        const messages = entries.slice(0, Number(limit)).map(receivedJson);
        const body = `{"received":${inbox.received},"messages":[${messages.join(',')}]}`;
        return answer(outgoing, 200, 'application/json', body);
      },
      DELETE(_incoming, outgoing) {
        inbox.clear();
        answer(outgoing, 204, '', '');
      },
    },
    '/sandbox/reports': { GET: (_incoming, outgoing) => json(outgoing, reportsOf(reporter)) },
    ...(provider === null && {
      '/v2/messages': { POST: post },
      '/sandbox/openapi.json': {
        GET: (_incoming, outgoing, { origin }) => json(outgoing, { ...readDescription(), servers: [{ url: origin }] }),
      },
    }),
  };
  return async (incoming, outgoing) => {
    const { method = '', headers } = incoming;
    if (!isKnownHost(headers.host, [])) {
      const detail = 'The Host header names another machine.';
      return answerProblem(outgoing, 421, { detail }, { Connection: 'close' });
    }
    const url = new URL(`http://${headers.host}`);
    const [path = '', query = ''] = (incoming.url ?? '').split('?');
    url.search = query;
    const methods = Object.hasOwn(routes, path) ? routes[path] : undefined;
    const handle = methods?.[method === 'HEAD' ? 'GET' : method] ?? (provider !== null && method === 'POST' && post);
    try {
      if (handle) await handle(incoming, outgoing, url);
      else if (methods === undefined) answerProblem(outgoing, 404, { detail: 'See GET /sandbox for what there is.' });
      else {
        const Allow = Object.keys(methods).join(', ');
        answerProblem(outgoing, 405, { detail: `${path} takes ${Allow}.` }, { Allow });
      }
    } catch (error) {
      state.log?.(`error: ${thrownText(error)}`);
      if (outgoing.headersSent) outgoing.destroy();
      else answerProblem(outgoing, 500, { detail: 'The sandbox failed. Its log says more.' });
    }
  };
}

/** With line breaks: people look at it with curl. */
function json(outgoing: ServerResponse, value: unknown): void {
  answer(outgoing, 200, 'application/json', `${JSON.stringify(value, null, 2)}\n`);
}

function describe({ inbox, provider, reporter, ...state }: SandboxState, origin: string) {
  const paths = provider?.operations ?? ['/v2/messages'];
  const endings = ENDINGS.flatMap(({ digits, answers, becomes, answer: { status = 0, cut } = {} }) => {
    if (provider === null) return [[digits, `${answers}: ${becomes}`]];
    if (cut !== undefined) return [[digits, `${answers}: doubt`]];
    // The examples of a provider have an answer for a kind of status, and not for each of them.
    const shown = status < 400 ? null : provider.statusFor(status);
    return shown === null ? [] : [[digits, `${shown}: ${wordBy(status)}`]];
  });
  return {
    about: 'The messaging API on this machine. Nothing that is sent here leaves it. More: handbill help sandbox',
    send: paths.map((path) => `${origin}${path}`),
    look: ['/sandbox/messages?to=NUMBER&limit=N', '/sandbox/reports'].map((path) => `${origin}${path}`),
    received: inbox.received,
    accepted: inbox.accepted,
    answers: sorted(inbox.answers),
    kept: inbox.kept,
    maxRecipients: state.maxRecipients,
    scripts: state.scripts,
    endings: Object.fromEntries(endings),
    devices: Object.fromEntries(
      [...DEVICES].map(([digits, { label, takes }]) => [digits, `${label}: ${takes.join(', ')}`]),
    ),
    devicesFromFile: state.devices.size,
    reports: reportsOf(reporter),
  };
}

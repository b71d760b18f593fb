import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findProject } from '../../src/campaign/place.ts';
import { readProject } from '../../src/campaign/project.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { fetchReports } from '../../src/operations/fetch-reports.ts';
import { send as sendHere } from '../../src/operations/send.ts';
import { environmentOf } from '../../src/plan/plan.ts';
import { portOf } from '../../src/util/http-server.ts';
import { handbillHere } from '../cli/in-process.ts';
import { type RunningCli, startCli } from '../helpers/cli.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

const TOKEN = 'token-of-a-test-that-no-one-may-see';
const HOUR = 3_600_000;
const START = Date.parse('2026-11-27T10:00:30Z');

/** An API: POST sends, GET has the pages of two lists. */
let server: Server;
let origin: string;
let project: TestProject;
let nowMs: number;
let posted: string[];
/** Path and query of each GET, with its credentials. */
let asked: { readonly url: string; readonly authorization: string | undefined }[];
let onGet: (url: URL, response: ServerResponse, request: IncomingMessage) => void;

beforeEach(async () => {
  nowMs = START;
  posted = [];
  asked = [];
  onGet = (_url, response) => page(response, []);
  server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      asked.push({ url: request.url ?? '', authorization: request.headers.authorization });
      onGet(new URL(request.url ?? '', origin), response, request);
      return;
    }
    const body = JSON.parse(await text(request)) as {
      to: string;
      ref: string;
    };
    posted.push(body.to);
    references.set(body.to, body.ref);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: `m-${body.to}` }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${portOf(server)}`;
  references.clear();
  project = createProject({
    'people.csv': 'key,msisdn\nann,+447700900001\nbo,+447700900002\n',
    'campaigns/hello/campaign.yaml': campaign(),
    'handbill.yaml': settings(),
  });
  gateway(`- { url: "{baseUrl}/events?since={since.unix}", events: [/items], next: /next }`);
});
afterEach(async () => {
  project[Symbol.dispose]();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const references = new Map<string, string>();

function campaign(more = ''): string {
  return `name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\n${more}
recipients: { csv: ../../people.csv, key: key }\n`;
}

function settings(more = 'fetch: true'): string {
  return `environments:\n  production:\n    provider: ./gateway.yaml\n    secrets: { token: { env: TOKEN } }
    baseUrl: "${origin}"\n    ${more}\n`;
}

function gateway(fetch: string): void {
  project.write(
    'gateway.yaml',
    `title: Gateway
secrets: { token: { description: The token } }
url: "{baseUrl}/send"
auth: { header: { Authorization: "Bearer {secret.token}" } }
channels: { sms: sms }
requests:
  - json: { text: "{text}", to: "{to}", ref: "{reference}" }
response: { messageId: [/id] }
reports:
  fetch:
    ${fetch}
`,
  );
}

function page(response: ServerResponse, items: readonly object[], more: object = {}): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ items, ...more }));
}

const delivered = (to: string) => ({
  messageId: `m-${to}`,
  to,
  status: 'delivered',
  timestamp: '2026-11-27T10:00:10Z',
});
const stop = (from: string) => ({
  from,
  to: '+447700900999',
  text: 'STOP',
  id: `r-${from}`,
  timestamp: '2026-11-27T10:00:20Z',
});

const run = (...args: readonly string[]) =>
  handbillHere(project.root, args, { env: { TOKEN }, width: 300, now: () => nowMs });
const fetchNow = (...args: readonly string[]) => run('listen', '--env', 'production', '--from', 'api', ...args);
const send = (...args: readonly string[]) => run('send', 'hello', '--env', 'production', '--yes', ...args);
const paths = (): readonly string[] => asked.map(({ url }) => url);

function inLedger<T>(read: (ledger: ReturnType<typeof openLedger>) => T): T {
  using ledger = openLedger(join(project.root, '.handbill/ledger.db'), { mode: 'read', nowMs });
  return read(ledger);
}

/** An opt-out came in, a report for each message, on two pages. */
const twoPages: typeof onGet = (url, response) => {
  if (url.searchParams.has('at')) page(response, [stop('+447700900002')]);
  else page(response, [delivered('+447700900001'), delivered('+447700900002')], { next: '/events?at=2' });
};

describe('listen --from api', () => {
  it('reads every page, matches reports, suppresses who sent STOP, and changes nothing the second time', async () => {
    expect((await fetchNow()).status).toBe(0);
    expect((await send()).status).toBe(0);
    onGet = twoPages;
    asked = [];
    const first = await fetchNow();
    expect(first.out).toContain('API of production: 2 delivery reports and 1 reply are new.');
    expect(first.out).toContain('1 address suppressed');
    expect(first.status).toBe(0);
    expect(paths()).toEqual([`/events?since=${Math.floor((START - 72 * HOUR) / 1000)}`, '/events?at=2']);
    expect(new Set(asked.map(({ authorization }) => authorization))).toEqual(new Set([`Bearer ${TOKEN}`]));
    nowMs += HOUR;
    expect((await fetchNow()).out).toContain('nothing is new, 3 events known already');
    expect(inLedger(({ events }) => [events.counts(), events.fetchedMs('production')])).toEqual([
      { reports: 2, replies: 1, unread: 0 },
      nowMs,
    ]);
    expect((await run('report', 'hello')).out).toMatch(/delivered\s+2/);
  });

  it.each([
    ['at another place', '{ next: /meta/nextt }', { meta: { next: '/events?at=2' } }, '/meta/next'],
    ['under another name', '{ next: /next }', { links: { next_page: '/events?at=2' } }, '/links/next_page'],
    ['as a value for the query', '{ next: /curser, cursor: at }', { paging: { cursor: 'c-2' } }, '/paging/cursor'],
  ])('does not take a page for the last one that has the next page %s', async (_where, keys, more, place) => {
    gateway(`- { url: "{baseUrl}/events", events: [/items], ${keys.slice(2)}`);
    onGet = (_url, response) => page(response, [delivered('+447700900001')], more);
    const { status, err } = await fetchNow();
    expect({ status, asked: paths().length }).toEqual({ status: 2, asked: 1 });
    expect(err).toContain(`and perhaps the next page at ${place}.`);
    expect(err).toContain('`next` of the list in the provider file says where.');
  });

  it.each([
    ['no key at all', {}],
    ['null', { next: null, meta: { next: '/events?at=2' } }],
    [
      'other addresses',
      { links: { self: '/events', first: '/events?at=1', prev: '/events?at=0' }, nextPollSeconds: 30 },
    ],
  ])('takes a page for the last one that has for the next page: %s', async (_what, more) => {
    onGet = (_url, response) => page(response, [delivered('+447700900001')], more);
    expect([(await fetchNow()).status, paths().length]).toEqual([0, 1]);
  });

  it('asks an API that gives each event once until a page is empty, and keeps a page before it asks again', async () => {
    gateway('- { url: "{baseUrl}/events", events: [/items], once: true }');
    const pages = [[delivered('+447700900001')], [delivered('+447700900002')], []];
    const kept: number[] = [];
    onGet = (_url, response) => {
      if (asked.length > 1) kept.push(inLedger(({ events }) => events.counts().reports));
      page(response, pages[asked.length - 1] ?? []);
    };
    expect((await fetchNow()).status).toBe(0);
    expect(asked).toHaveLength(3);
    expect(kept).toEqual([1, 2]);
  });

  it('has every page in the ledger that a killed process had received, from an API that does not give it again', async () => {
    gateway('- { url: "{baseUrl}/events", events: [/items], once: true }');
    const pages = Array.from({ length: 6 }, (_, n) => [{ ...delivered('+447700900001'), messageId: `m${n}` }]);
    let given = 0;
    let running: RunningCli | null = null;
    // Each process is killed when it asks for its third page: that one is still at the API.
    onGet = (_url, response) => {
      if (asked.length % 3 === 0 && given < pages.length) running?.kill('SIGKILL');
      else page(response, pages[given++] ?? []);
    };
    for (const signal of ['SIGKILL', 'SIGKILL', null]) {
      running = startCli(['listen', '--from', 'api'], { cwd: project.root, env: { TOKEN } });
      expect((await running.done).signal).toBe(signal);
      expect(inLedger(({ events }) => events.counts())).toEqual({
        reports: Math.min(given, pages.length),
        replies: 0,
        unread: 0,
      });
    }
  });

  it('keeps the replies of a page as they were written, whatever the order of the list', async () => {
    const at = (hour: number, text: string) => ({
      ...stop('+447700900001'),
      id: text,
      text,
      timestamp: `2026-11-27T0${hour}:00:00Z`,
    });
    onGet = (_url, response) => page(response, [at(9, 'third'), at(8, 'second'), at(7, 'first')]);
    await fetchNow();
    const { out } = await run('replies');
    expect([...out.matchAll(/first|second|third/g)].map(([word]) => word)).toEqual(['third', 'second', 'first']);
  });

  it('does not hide that a page was lost which does not come again', async () => {
    gateway('- { url: "{baseUrl}/events", events: [/items], once: true }');
    onGet = (_url, response) => {
      if (asked.length === 1) response.socket?.destroy();
      else page(response, []);
    };
    const { status, err } = await fetchNow();
    expect([status, asked.length]).toEqual([2, 1]);
    expect(err).toContain('the page may not come again');
    expect(err).toContain('an opt-out may be among them');
  });

  it('reads a page that a killed process has stored, and not read', async () => {
    gateway('- { url: "{baseUrl}/events", events: [/items], once: true }');
    await fetchNow();
    {
      using ledger = openLedger(join(project.root, '.handbill/ledger.db'), { mode: 'write', nowMs });
      const body = JSON.stringify({ items: [stop('+447700900002')] });
      ledger.events.record([{ kind: 'unread', body }], {
        nowMs,
        source: 'api production/1',
        environment: 'production',
      });
    }
    const { out } = await fetchNow();
    expect(out).toContain('1 reply is new');
    expect(inLedger((ledger) => [ledger.events.counts(), ledger.isSuppressed('+447700900002', nowMs)])).toEqual([
      { reports: 0, replies: 1, unread: 0 },
      true,
    ]);
  });

  it.each([
    [
      'a cursor',
      '- { url: "{baseUrl}/events", events: [/items], next: /items/0/n, cursor: after }',
      ['', '?after=1', '?after=2'],
    ],
    ['pages', '- { url: "{baseUrl}/events?p={page}", events: [/items] }', ['?p=0', '?p=1', '?p=2']],
    ['an offset', '- { url: "{baseUrl}/events?o={offset}", events: [/items] }', ['?o=0', '?o=2', '?o=4']],
  ])('follows %s', async (_name, fetch, queries) => {
    gateway(fetch);
    onGet = (_url, response) => {
      const n = asked.length;
      const item = (i: number) => ({ ...delivered(`+44770090000${n}`), messageId: `${n}-${i}`, n });
      page(response, n > 2 ? [] : [item(0), item(1)]);
    };
    const { out, err } = await fetchNow();
    expect(err).not.toContain('error');
    expect(out).toContain('4 delivery reports are new');
    expect(paths()).toEqual(queries.map((query) => `/events${query}`));
  });

  it('ends where a list leads back to a page that it has given', async () => {
    onGet = (_url, response) => page(response, [delivered('+447700900001')], { next: '/events?round=1' });
    expect((await fetchNow()).status).toBe(0);
    expect(asked).toHaveLength(2);
  });
});

describe('how a page names the next', () => {
  const second = [delivered('+447700900002')];
  it.each([
    ['an address with its host', () => `${origin}/events?since=1&at=2`, '/events?since=1&at=2'],
    ['a path', () => '/events?at=2', '/events?at=2'],
    ['a path beside its own', () => 'more/events?at=2', '/more/events?at=2'],
    ['a query alone', () => '?at=2', '/events?at=2'],
    ['a path with a fragment', () => '/events?at=2#top', '/events?at=2'],
  ])('by %s', async (_name, next, following) => {
    onGet = (url, response) => {
      if (url.searchParams.has('at')) page(response, second);
      else page(response, [delivered('+447700900001')], { next: next() });
    };
    expect((await fetchNow()).out).toContain('2 delivery reports are new');
    expect(paths().slice(1)).toEqual([following]);
  });

  it.each([
    ['an empty text', ''],
    ['null', null],
    ['false', false],
    ['nothing', undefined],
    ['an object', {}],
  ])('not at all, by %s', async (_name, next) => {
    for (const cursor of ['', ', cursor: after']) {
      gateway(`- { url: "{baseUrl}/events", events: [/items], next: /next${cursor} }`);
      asked = [];
      onGet = (_url, response) => page(response, [delivered('+447700900001')], { next });
      expect((await fetchNow()).status).toBe(0);
      expect(paths()).toEqual(['/events']);
    }
  });

  it('by its own address: the list ends there', async () => {
    onGet = (url, response) => page(response, [delivered('+447700900001')], { next: url.href });
    expect((await fetchNow()).status).toBe(0);
    expect(asked).toHaveLength(1);
  });

  it.each([
    ['another port', () => `http://127.0.0.1:${portOf(server) + 1}/events?at=2`],
    ['another scheme', () => origin.replace('http:', 'https:')],
    ['a host after two slashes', () => '//other.example/events'],
    ['a user before the host', () => 'http://127.0.0.1@other.example/events'],
  ])('by %s: it gets no key', async (_name, next) => {
    onGet = (_url, response) => page(response, [delivered('+447700900001')], { next: next() });
    const { status, err } = await fetchNow();
    expect([status, asked.length]).toEqual([2, 1]);
    expect(err).toContain('its next page is at another host');
  });

  it('by a cursor that is a number above 2^53, digit by digit', async () => {
    gateway('- { url: "{baseUrl}/events", events: [/items], next: /next, cursor: after }');
    onGet = (url, response) => {
      const body = JSON.stringify({ items: [delivered(`+44770090000${asked.length}`)], next: 7 });
      const isFirst = !url.searchParams.has('after');
      response.end(
        isFirst ? body.replace('"next":7', '"next":90071992547409931') : body.replace('"next":7', '"next":null'),
      );
    };
    expect((await fetchNow()).status).toBe(0);
    expect(paths()).toEqual(['/events', '/events?after=90071992547409931']);
  });
});

describe('pages that are unusual', () => {
  it('ids that are numbers above 2^53 stay apart', async () => {
    const ids = ['90071992547409931', '90071992547409932', '90071992547409933'];
    onGet = (_url, response) => {
      const items = ids.map((id) =>
        JSON.stringify({ ...delivered('+447700900001'), messageId: 0 }).replace(':0', `:${id}`),
      );
      response.end(`{"items":[${items}]}`);
    };
    expect((await fetchNow()).out).toContain('3 delivery reports are new');
    expect((await fetchNow()).out).toContain('nothing is new, 3 events known already');
    const found = inLedger(({ events }) =>
      ids.map((id) => events.reportsNaming({ reference: null, messageId: id }).length),
    );
    expect(found).toEqual([1, 1, 1]);
  });

  it('20,000 entries on one page', async () => {
    const items = Array.from({ length: 20_000 }, (_, i) => ({ ...delivered('+447700900001'), messageId: `m-${i}` }));
    onGet = (_url, response) => page(response, items);
    expect((await fetchNow()).out).toContain('20,000 delivery reports are new');
    expect((await fetchNow()).out).toContain('nothing is new, 20,000 events known already');
  });

  it('an entry that names no message and no person is kept unread, once, and the others count', async () => {
    const items = [{ status: 'delivered' }, delivered('+447700900001'), stop('+447700900002')];
    onGet = (_url, response) => page(response, items);
    for (const _ of [1, 2]) expect((await fetchNow()).status).toBe(0);
    expect(inLedger(({ events }) => events.counts())).toEqual({ reports: 1, replies: 1, unread: 1 });
  });

  it.each([
    [429, '1', 2],
    [429, undefined, 2],
    [503, '1', 2],
    [429, '61', 1],
  ])('%i with Retry-After %s is asked %i times', async (status, retryAfter, times) => {
    const waits: number[] = [];
    onGet = (_url, response) => {
      if (asked.length > 1) page(response, [delivered('+447700900001')]);
      else response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end();
    };
    const found = await fetchHere(waits);
    expect(asked).toHaveLength(times);
    expect(waits).toEqual(times === 1 ? [] : [1_000]);
    expect(found.map(({ message }) => message)).toEqual(
      times === 1 ? [expect.stringContaining('it answered 429')] : [],
    );
  });
});

/** A fetch whose waits end at once. */
async function fetchHere(waits: number[]) {
  const reading = readProject(findProject(project.root), { cwd: project.root });
  using ledger = openLedger(join(project.root, '.handbill/ledger.db'), { mode: 'write', nowMs });
  const environment = environmentOf(reading, 'production');
  const timers = { sleep: async (ms: number) => void waits.push(ms) };
  const context = { ledger, reading, environment, env: { TOKEN }, now: () => nowMs, timers };
  return await fetchReports(context, (events, source, page) => {
    return ledger.events.record(events, {
      nowMs,
      source,
      environment: 'production',
      ...(page === undefined ? {} : { page }),
    });
  });
}

describe('what keeps a fetch from being complete', () => {
  const failed = async (): Promise<string> => {
    const { status, out, err } = await fetchNow();
    expect(status).toBe(2);
    expect(out + err).not.toContain(TOKEN);
    expect(inLedger(({ events }) => events.fetchedMs('production'))).toBeNull();
    return err;
  };

  it('a status that refuses', async () => {
    onGet = (_url, response) => response.writeHead(401).end(TOKEN);
    expect(await failed()).toMatch(
      /error\[fetch-failed\]: The reports of production .* from http:\/\/127\.0\.0\.1:\d+\/events\?since=\d+: it answered 401: \[key\]\.\n.*help: Check the secrets and vars of production/,
    );
    expect(asked).toHaveLength(1);
  });

  it('a redirect, which is not followed', async () => {
    onGet = (url, response) => {
      if (url.pathname === '/events') response.writeHead(302, { location: '/elsewhere' }).end();
      else page(response, []);
    };
    expect(await failed()).toContain('it answered 302');
    expect(paths()).toHaveLength(1);
  });

  it('a next page at another host, which gets no key', async () => {
    onGet = (_url, response) => page(response, [delivered('+447700900001')], { next: 'https://other.example/events' });
    expect(await failed()).toContain('its next page is at another host');
    expect(inLedger(({ events }) => events.counts().reports)).toBe(1);
  });

  it.each(['{page}', '{offset}'])('the same page, whatever %s is', async (count) => {
    gateway(`- { url: "{baseUrl}/events?n=${count}", events: [/items] }`);
    onGet = (_url, response) => page(response, asked.length < 50 ? [delivered('+447700900001')] : []);
    expect(await failed()).toContain('it gives the same page again');
    expect(asked).toHaveLength(2);
    expect(inLedger(({ events }) => events.counts().reports)).toBe(1);
  });

  it('an answer that is no list', async () => {
    onGet = (_url, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Log in</html>');
    expect(await failed()).toContain('has no list at /items');
    expect(inLedger(({ events }) => events.counts().unread)).toBe(0);
  });

  it('a list of something else', async () => {
    onGet = (_url, response) => page(response, [{ invoice: 12 }]);
    expect(await failed()).toContain('nothing in its answer is a report or a reply');
  });

  it('the same of an API that gives each event once: the page is kept until it can be read', async () => {
    gateway('- { url: "{baseUrl}/events", events: [/items], once: true }');
    onGet = (_url, response) =>
      page(response, asked.length === 1 ? [{ result: { who: '+447700900001', what: 'DLVRD' } }] : []);
    expect(await failed()).toContain('nothing in its answer');
    expect(inLedger(({ events }) => events.counts())).toEqual({ reports: 0, replies: 0, unread: 1 });
    // Later pages are all read, and the one that is kept is not forgotten.
    const later = [[delivered('+447700900001')], [stop('+447700900002')]];
    onGet = (_url, response) => page(response, later.shift() ?? []);
    expect(await failed()).toContain('a page of an earlier fetch has no report or reply');
    expect(inLedger(({ events }) => events.counts())).toEqual({ reports: 1, replies: 1, unread: 1 });
    gateway(
      '- { url: "{baseUrl}/events", events: [/items], once: true, fields: { to: /result/who, status: /result/what } }',
    );
    expect((await fetchNow()).out).toContain('1 delivery report is new');
    expect(inLedger(({ events }) => events.counts())).toEqual({ reports: 2, replies: 1, unread: 0 });
  });

  it('a missing secret, before anything is asked', async () => {
    const { status, err } = await handbillHere(project.root, ['listen', '--from', 'api'], {
      env: {},
      now: () => nowMs,
    });
    expect([status, asked]).toEqual([2, []]);
    expect(err).toContain('error[missing-api-key]');
  });

  it('a provider without a list', async () => {
    project.write(
      'handbill.yaml',
      settings('')
        .replace('./gateway.yaml', 'vonage-sms')
        .replace('token:', 'secret:')
        .replace('secrets', 'vars: { key: k }\n    secrets'),
    );
    expect((await fetchNow()).err).toContain('Vonage SMS API has no reports that can be fetched.');
    project.write(
      'handbill.yaml',
      settings()
        .replace('./gateway.yaml', 'vonage-sms')
        .replace('token:', 'secret:')
        .replace('secrets', 'vars: { key: k }\n    secrets'),
    );
    expect((await run('validate')).err).toMatch(/has no reports that can be fetched[\s\S]*handbill\.yaml:7:12/);
  });

  it('a dry run', async () => {
    const { status, err } = await fetchNow('--dry-run');
    expect([status, asked]).toEqual([2, []]);
    expect(err).toContain('A dry run asks no API');
  });
});

describe('where the environment says fetch: true', () => {
  const daily = 'schedule: { cron: "0 10 * * *", timeZone: UTC, missed: catch-up }\n';
  const due = (...args: readonly string[]) => run('due', '--env', 'production', '--yes', ...args);

  beforeEach(async () => {
    project.write('campaigns/hello/campaign.yaml', campaign(daily));
    nowMs = START - HOUR;
    await due();
    nowMs = START;
    asked = [];
  });

  it('due asks first: who sent STOP gets nothing in the same call', async () => {
    onGet = twoPages;
    const { err, status } = await due();
    expect(err).toContain('API of production: 2 delivery reports and 1 reply are new.');
    expect([status, posted]).toEqual([0, ['+447700900001']]);
    expect(paths()).toHaveLength(2);
  });

  it('due goes on where the API is down, and begins nothing new once the last good fetch is over a day old', async () => {
    onGet = (_url, response) => response.writeHead(403).end();
    const first = await due();
    expect(first.err).toContain('it answered 403');
    expect([first.status, posted.length]).toEqual([2, 2]);
    nowMs += 24 * HOUR;
    const late = await due();
    expect(late.err).toContain('error[reports-stale]');
    expect([late.status, posted.length]).toEqual([2, 2]);
    await due('--allow', 'reports-stale');
    expect(posted).toHaveLength(4);
  });

  it('due says the same fault once an hour with --quiet', async () => {
    onGet = (_url, response) => response.writeHead(403).end();
    expect((await due('--quiet')).err).toContain('it answered 403');
    nowMs += HOUR / 2;
    expect((await due('--quiet')).err).toBe('');
  });

  it('due says that replies wait for review: with --quiet in the call that fetched them, else until they are read', async () => {
    const unclear = { ...stop('+447700900001'), text: 'stop it, I will come' };
    onGet = (_url, response) => page(response, [unclear]);
    const line = '1 reply may mean to opt out, and waits for review: handbill replies review\n';
    expect((await due('--quiet')).err).toBe(line);
    expect((await due('--quiet')).err).toBe('');
    expect((await due()).err).toContain(line);
    expect(JSON.parse((await due('--format', 'json')).out)).toMatchObject({ review: 1 });
    await run('replies', 'review', '--as', 'answer', '1');
    expect((await due()).err).not.toContain('review');
  });

  it('a follow-up is decided by replies that came in with the same call', async () => {
    const after = 'after: { campaign: hello, wait: 1h, unless: [replied] }\n';
    project.write('campaigns/hello-2/campaign.yaml', campaign(after).replace('name: hello', 'name: hello-2'));
    await due();
    nowMs += 2 * HOUR;
    const timestamp = new Date(nowMs - HOUR / 2).toISOString();
    onGet = (_url, response) =>
      page(response, [{ ...stop('+447700900001'), text: 'Thanks, see you there', timestamp }]);
    await due();
    expect(posted).toEqual(['+447700900001', '+447700900002', '+447700900002']);
  });

  it('doctor says that a send would be refused; a test of one message is not', async () => {
    expect((await run('doctor', '--env', 'production')).out).toContain('Reports were fetched at 2026-11-27T09:00:30');
    nowMs += 24 * HOUR;
    const { status, out } = await run('doctor', '--env', 'production');
    expect([status, out]).toEqual([
      2,
      expect.stringContaining('Reports and replies of production were fetched last at'),
    ]);
    const test = await run('send', 'hello', '--env', 'production', '--test-to', '+447700900009', '--yes');
    expect([test.status, posted]).toEqual([0, ['+447700900009']]);
  });

  it('nothing that only looks asks', async () => {
    for (const args of [
      ['due', '--dry-run', '--env', 'production'],
      ['preview', 'hello', '--env', 'production'],
      ['plan', 'hello', '--env', 'production', '--out', 'plan.json'],
      ['doctor', '--env', 'production'],
      ['validate'],
      ['send', 'hello'],
      ['runs'],
    ]) {
      await run(...args);
      expect(asked, args.join(' ')).toEqual([]);
    }
  });

  it('preview and a dry run of due say what send would refuse', async () => {
    nowMs += 24 * HOUR;
    expect((await run('preview', 'hello', '--env', 'production')).err).toContain('reports-stale');
    expect((await run('due', '--dry-run', '--env', 'production')).err).toContain('reports-stale');
    // A plan is sent later: it warns, and the start with it decides.
    const planned = await run('plan', 'hello', '--env', 'production');
    expect([planned.status, planned.err]).toEqual([0, expect.stringContaining('warning[reports-stale]')]);
  });

  it('a run that has begun goes on, however old the last fetch is', async () => {
    project.write('campaigns/hello/campaign.yaml', campaign());
    expect((await send('--limit', '1')).status).toBe(0);
    nowMs += 25 * HOUR;
    expect((await send('--allow', 'too-late')).err).not.toContain('reports-stale');
    expect(posted).toHaveLength(2);
  });

  it('a stand-in counts: its reports are asked for too, and are part of what may be stale', async () => {
    const own = settings().replace('environments:\n  production:', '  backup:\n    standsInFor: production');
    project.write('handbill.yaml', `${settings()}${own}`);
    onGet = (_url, response) => page(response, [stop('+447700900002')]);
    await due();
    expect([asked.length, posted]).toEqual([2, ['+447700900001']]);
  });

  it('a start whose canary waits for reports asks for them until the gate opens', async () => {
    project.write('people.csv', 'key,msisdn\nann,+447700900001\nbo,+447700900002\ncy,+447700900003\n');
    const gate = 'send: { canary: { steps: [1], pause: 0s, gate: { delivered: 100%, wait: 10m } } }\n';
    project.write('campaigns/hello/campaign.yaml', campaign(gate));
    onGet = (_url, response) =>
      page(
        response,
        posted.length === 0 || asked.length < 5 ? [] : [{ ...delivered('+447700900001'), timestamp: undefined }],
      );
    const result = await sendHere('hello', {
      cwd: project.root,
      env: { TOKEN },
      environment: 'production',
      confirm: async () => true,
      // A wait of the fetch ends at once; one of the gate lets the fetch go on.
      timers: { sleep: () => new Promise((resolve) => setImmediate(resolve)) },
      allow: ['reports-stale'],
    });
    expect(result.report.totals.accepted).toBe(3);
    expect(asked.length).toBeGreaterThanOrEqual(5);
  });
});

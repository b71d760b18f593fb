import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { builtIn, providerNames } from '../../src/campaign/read-provider.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { portOf } from '../../src/util/http-server.ts';
import type { Json } from '../../src/util/json.ts';
import { handbillHere } from '../cli/in-process.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { type FetchExample, knownProvider, type WebhookThen } from './examples.ts';

/** When the pages of the examples are asked for. */
const NOON = Date.parse('2026-11-27T12:00:00Z');
const HOUR = 3_600_000;

const NAMES = providerNames().filter((name) => builtIn(name).reading.events.reports?.fetch !== undefined);

let server: Server;
let project: TestProject;
/** Pages by path and query; of the same address, the first that is left. */
let pages: Map<string, Json[]>;
let asked: { readonly url: string; readonly authorization: string | undefined }[];
let nowMs: number;

beforeEach(async () => {
  nowMs = NOON;
  asked = [];
  pages = new Map();
  server = createServer((request, response) => {
    const url = request.url ?? '';
    const { authorization } = request.headers;
    asked.push({ url, authorization });
    const list = pages.get(url) ?? [];
    const page = list.length > 1 ? list.shift() : list[0];
    if (page === undefined) response.writeHead(404).end(`{"unknown":"${url}"}`);
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  project[Symbol.dispose]();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** A project whose provider is at the test server. */
function projectOf(
  name: string,
  more: object = {},
  environments: readonly string[] = ['production'],
  vars = knownProvider(name).examples.vars ?? {},
): TestProject {
  const { provider } = knownProvider(name);
  const secrets = Object.fromEntries(Object.keys(provider.secrets).map((key) => [key, { env: secretOf(key) }]));
  const baseUrl = `http://127.0.0.1:${portOf(server)}`;
  const environment = { provider: name, vars, secrets, baseUrl };
  const named = Object.fromEntries(environments.map((one) => [one, environment]));
  return createProject({ 'handbill.yaml': stringify({ defaultCountry: 'GB', environments: named, ...more }) });
}

function secretOf(key: string): string {
  return `SECRET_${key.toUpperCase()}`;
}

function envOf(name: string): Readonly<Record<string, string>> {
  const secrets = Object.entries(knownProvider(name).examples.secrets ?? {});
  return Object.fromEntries(secrets.map(([key, value]) => [secretOf(key), value]));
}

const fetchNow = (name: string, ...args: readonly string[]) =>
  handbillHere(project.root, ['listen', '--from', 'api', '--env', 'production', ...args], {
    env: envOf(name),
    width: 300,
    now: () => nowMs,
  });

/** Each page at its address. */
function serve(examples: readonly FetchExample[]): void {
  for (const { url, page } of examples) {
    const { pathname, search } = new URL(url);
    pages.set(pathname + search, [...(pages.get(pathname + search) ?? []), page]);
  }
}

/** All events in the order in which they came in. */
function recorded(): { readonly reports: readonly object[]; readonly replies: readonly object[] } {
  using database = new DatabaseSync(join(project.root, '.handbill/ledger.db'), { readOnly: true });
  const all = (sql: string) => database.prepare(sql).all();
  return {
    reports: all(`SELECT reference, message_id AS messageId, address AS "to", state, cause, happened_at AS atMs
      FROM delivery_reports ORDER BY number`),
    replies: all(`SELECT sender AS "from", recipient AS "to", text, meaning, happened_at AS atMs
      FROM replies ORDER BY number`),
  };
}

function expectedReport({ state, reference, messageId, to, timestamp, cause, optsOut }: WebhookThen): object {
  const why = optsOut === true ? 'opted-out' : (cause ?? null);
  return { state, reference: reference ?? null, messageId: messageId ?? null, to, cause: why, atMs: msOf(timestamp) };
}

function msOf(written: string | null | undefined): number | null {
  return typeof written === 'string' ? Date.parse(written) : null;
}

function isSuppressed(address: string): boolean {
  using ledger = openLedger(join(project.root, '.handbill/ledger.db'), { mode: 'read', nowMs });
  return ledger.isSuppressed(address, nowMs);
}

describe.each(NAMES)('the pages of %s', (name) => {
  const examples = knownProvider(name).examples.fetches ?? [];
  const thens = examples.flatMap(({ then }) => [then].flat());
  const replies = thens.flatMap(({ reply }) => (reply === undefined ? [] : [reply]));
  const reports = thens.filter(({ state }) => state !== undefined);
  const optOuts = thens.flatMap(({ reply, to, cause, optsOut }) => {
    if (reply !== undefined) return reply.meaning === 'opt-out' ? [reply.from] : [];
    return (cause === 'opted-out' || optsOut === true) && to !== undefined ? [to] : [];
  });

  it('are read as their examples say, once', async () => {
    project = projectOf(name);
    serve(examples);
    const { status, out, err } = await fetchNow(name);
    expect(asked.map(({ url }) => url)).toEqual(examples.map(({ url }) => url.replace(/^https:\/\/[^/]+/, '')));
    expect(err).toBe('Ledger: .handbill/ledger.db\n');
    expect(status).toBe(0);
    const { reports: gotReports, replies: gotReplies } = recorded();
    // A page is kept in the order in which it happened.
    expect([gotReports.length, gotReplies.length]).toEqual([reports.length, replies.length]);
    expect(gotReports).toEqual(expect.arrayContaining(reports.map(expectedReport)));
    expect(gotReplies).toEqual(
      expect.arrayContaining(
        replies.map(({ from, to, text, meaning, timestamp }) => {
          return { from, to: to ?? null, text, meaning, atMs: msOf(timestamp) };
        }),
      ),
    );
    expect(out).toContain(`${optOuts.length === 1 ? '1 address' : `${optOuts.length} addresses`} suppressed`);
    for (const { to } of reports) expect(isSuppressed(to ?? ''), to).toBe(optOuts.includes(to ?? ''));
    for (const address of optOuts) expect(isSuppressed(address), address).toBe(true);

    const first = recorded();
    nowMs += HOUR;
    pages.clear();
    serve(examples);
    expect((await fetchNow(name)).out).toContain(`nothing is new, ${thens.length} events known already`);
    expect(recorded()).toEqual(first);
  });
});

describe('what people wrote, in whatever order it is listed', () => {
  const message = (body: string, minute: number) => ({
    sid: `SM-${minute}`,
    direction: 'inbound',
    status: 'received',
    from: '+447700900123',
    to: '+447700900100',
    body,
    date_created: `Fri, 27 Nov 2026 10:0${minute}:00 +0000`,
  });
  const first = '/2010-04-01/Accounts/AC0000/Messages.json?PageSize=1000&DateSent%3E=2026-11-24';
  const [stop, start] = [message('STOP', 6), message('START', 7)];
  const [stopLater, startBefore] = [message('STOP', 7), message('START', 6)];

  it.each([
    ['START after STOP, newest first', [[start, stop]], false],
    ['START after STOP, oldest first', [[stop, start]], false],
    ['START after STOP, each on a page, newest first', [[start], [stop]], false],
    ['STOP after START, newest first', [[stopLater, startBefore]], true],
    ['STOP after START, oldest first', [[startBefore, stopLater]], true],
    ['STOP after START, each on a page, newest first', [[stopLater], [startBefore]], true],
  ])('%s: the last word counts', async (_name, lists, isStopped) => {
    project = projectOf('twilio', { webhook: { replies: { startLifts: true } } });
    for (const [i, messages] of lists.entries()) {
      const next = i + 1 < lists.length ? `${first}&Page=${i + 1}` : null;
      pages.set(i === 0 ? first : `${first}&Page=${i}`, [{ messages, next_page_uri: next }]);
    }
    for (const _ of [1, 2]) {
      expect((await fetchNow('twilio')).status).toBe(0);
      expect(isSuppressed('+447700900123')).toBe(isStopped);
    }
  });

  it('a STOP of an account that two environments share opts out once, and each knows its replies', async () => {
    project = projectOf('twilio', {}, ['production', 'other']);
    pages.set(first, [{ messages: [stop], next_page_uri: null }]);
    expect((await fetchNow('twilio')).out).toContain('1 reply is new.\n1 address suppressed');
    const other = ['listen', '--from', 'api', '--env', 'other'];
    const { out } = await handbillHere(project.root, other, { env: envOf('twilio'), now: () => nowMs });
    expect(out).toContain('API of other: 1 reply is new.');
    expect(out).not.toContain('suppressed');
    expect([recorded().replies.length, isSuppressed('+447700900123')]).toEqual([2, true]);
  });
});

it('a var that an environment leaves out has the value that the list names in its place', async () => {
  project = projectOf('postmark', {}, ['production'], {});
  await fetchNow('postmark');
  expect(asked.map(({ url }) => url)).toContain('/message-streams/outbound/suppressions/dump?fromdate=2026-11-24');
});

import { renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createReference } from '../../src/plan/expand.ts';
import { isKnownHost } from '../../src/util/http-server.ts';
import { formatsByLocale, localeOf } from '../../src/web/pages/format.ts';
import { startCli, until } from '../helpers/cli.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { silentConnection } from '../webhook/sender.ts';
import {
  ask,
  NOW,
  numberOf,
  openStream,
  recordRun,
  replyOf,
  reportOf,
  servePages,
  signIn,
  withLedger,
} from './serve-ledger.ts';

let project: TestProject;
beforeEach(() => {
  project = createProject({ 'handbill.yaml': 'defaultCountry: GB\n' });
});
afterEach(() => project[Symbol.dispose]());

const ledgerPath = () => project.path('.handbill/ledger.db');

function recordHello(): string {
  return withLedger(ledgerPath(), (ledger) => {
    const rows = [
      {},
      {},
      { state: 'in-doubt', reason: 'timeout' },
      { state: 'rejected', reason: 'status', error: 'no such number' },
      { state: 'skipped', reason: 'duplicate' },
    ] as const;
    const run = recordRun(ledger, { campaign: 'hello' }, rows);
    ledger.events.record([reportOf('m-0', 'delivered')], {
      nowMs: NOW + 5_000,
      source: 'webhook',
      environment: 'sandbox',
    });
    return run.id;
  });
}

/** As browsers say who asks for what. */
function fetched(site: string, destination: string) {
  return { 'sec-fetch-site': site, 'sec-fetch-dest': destination };
}

describe('the client', () => {
  it.each<[label: string, path: string, asking: Parameters<typeof ask>[2], status: number]>([
    ['the list of runs', '/', {}, 200],
    ['only its head', '/', { method: 'HEAD' }, 200],
    ['only the head of a stream', '/events?page=%2F', { method: 'HEAD' }, 405],
    ['as localhost', '/', { headers: { host: 'localhost:1' } }, 200],
    ['by a link of another site', '/', { headers: fetched('cross-site', 'document') }, 200],
    ['by an address that was typed', '/', { headers: fetched('none', 'document') }, 200],
    ['for a stream, from a page of these', '/', { headers: fetched('same-origin', 'empty') }, 200],
    ['as a picture of another site', '/', { headers: fetched('cross-site', 'image') }, 403],
    ['as a frame of another port', '/', { headers: fetched('same-site', 'iframe') }, 403],
    ['as a name that was made to mean this machine', '/', { headers: { host: 'evil.example' } }, 421],
    ['as such a name with a port', '/', { headers: { host: 'evil.example:4012' } }, 421],
    ['as a name that begins like this machine', '/', { headers: { host: '127.0.0.1.evil.example' } }, 421],
    ['as numbers that are not an address', '/', { headers: { host: '127.999.1.1' } }, 421],
    ['at a port that there is not', '/', { headers: { host: '127.0.0.1:99999' } }, 421],
    ['for events as such a name', '/events?page=/', { headers: { host: 'evil.example' } }, 421],
    ['to change something', '/suppressions', { method: 'POST', body: 'do=add&address=x' }, 405],
    ['to delete', '/', { method: 'DELETE' }, 405],
    ['with a method of its own', '/', { method: 'PROPFIND' }, 405],
    ['what may be asked', '/', { method: 'OPTIONS' }, 405],
    ['for another machine through this one', 'http://evil.example/', {}, 400],
    ['for a path that is not UTF-8', '/runs/%ff%fe', {}, 400],
    ['for a path with a broken escape', '/runs/%zz', {}, 400],
    ['for a file of the machine', '/../../etc/passwd', {}, 404],
    ['for a file of the machine, encoded', '/%2e%2e/%2e%2e/etc/passwd', {}, 404],
    ['for a step with a NUL', '/runs/a%00b', {}, 404],
    ['for what looks like another host', '//evil.example/', {}, 404],
    ['for a run that is not there', '/runs/none-00000000', {}, 404],
    ['for a row that is not there', '/runs/none-00000000/recipients/1', {}, 404],
    ['for a page that is not there', '/admin', {}, 404],
    ['for a very long address', `/${'a'.repeat(5_000)}`, {}, 414],
    ['with very large headers', '/', { headers: { 'x-a': 'a'.repeat(20_000) } }, 431],
    ['for events of no page', '/events', {}, 400],
    ['for a preview of a file outside', '/campaigns/preview?file=../../../etc/passwd', {}, 404],
  ])('%s', async (_label, path, asking, status) => {
    await using pages = await servePages(project.root);
    const answer = await ask(pages.port, path, asking);
    expect(answer.status).toBe(status);
    expect(answer.text).not.toMatch(/\bat .*\.ts:\d+|node_modules|Error:/);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('gets headers that keep a page to itself', async () => {
    await using pages = await servePages(project.root);
    const { headers } = await ask(pages.port, '/');
    const policy = headers['content-security-policy'] ?? '';
    for (const part of [
      "default-src 'none'",
      "connect-src 'self'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "script-src 'sha256-",
    ]) {
      expect(policy).toContain(part);
    }
    expect(policy).not.toContain("unsafe-inline' script");
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
    });
  });

  it('has to sign in, unless the pages are open to this machine', async () => {
    recordHello();
    await using pages = await servePages(project.root, { open: false });
    for (const path of ['/', '/runs', '/suppressions', '/events?page=/']) {
      const { status, text } = await ask(pages.port, path);
      expect([path, status]).toEqual([path, 401]);
      expect(text).not.toContain('hello');
    }
    const { pathname, search } = new URL(pages.signInUrl ?? '');
    const cookie = (await ask(pages.port, pathname + search)).headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    expect((await ask(pages.port, '/', { headers: { cookie } })).text).toContain('hello');
    const remote = { open: true, allowRemote: ['ops.example.com'] };
    await expect(servePages(project.root, remote)).rejects.toThrow('Pages that other machines reach are never open.');
  });

  it('from elsewhere has to be expected, and to sign in', async () => {
    await expect(servePages(project.root, { host: '0.0.0.0' })).rejects.toThrow('Other machines reach 0.0.0.0');
    recordHello();
    await using pages = await servePages(project.root, { host: '0.0.0.0', allowRemote: ['ops.example.com'] });
    const from = (host: string, cookie = '') => ask(pages.port, '/', { headers: { host, cookie } });
    expect((await from('evil.example')).status).toBe(421);
    const stranger = await from('ops.example.com');
    expect(stranger.status).toBe(401);
    expect(stranger.text).not.toContain('hello');
    expect((await ask(pages.port, '/events?page=/')).status).toBe(401);
    expect(pages.signInUrl).toMatch(/^http:\/\/ops\.example\.com:\d+\/login\?token=[\w-]{32}$/);
    const login = await ask(
      pages.port,
      new URL(pages.signInUrl ?? '').pathname + new URL(pages.signInUrl ?? '').search,
    );
    const cookie = login.headers['set-cookie']?.[0] ?? '';
    expect(cookie).toMatch(/; HttpOnly; SameSite=Strict$/);
    expect((await from('ops.example.com', cookie.split(';')[0])).text).toContain('hello');
    expect((await ask(pages.port, '/suppressions', { method: 'POST', headers: { cookie } })).status).toBe(405);
  });

  it('beside a thousand connections that send half a request', async () => {
    await using pages = await servePages(project.root);
    const silent = await Promise.all(
      Array.from({ length: 1_000 }, () => silentConnection(pages.port, 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n')),
    );
    for (let i = 0; i < 5; i += 1) expect((await ask(pages.port, '/')).status).toBe(200);
    for (const socket of silent) socket.destroy();
  });

  it.each<[string | undefined, boolean]>([
    ['127.0.0.1:4012', true],
    ['LOCALHOST', true],
    ['[::1]:4012', true],
    ['ops.example.com:80', true],
    ['ops.example.com.evil.example', false],
    ['a@127.0.0.1', false],
    ['127.999.1.1', false],
    ['127.0.0.1:99999', false],
    ['127.0.0.1, evil', false],
    ['', false],
    [undefined, false],
  ])('under the name %s: %s', (header, known) => {
    expect(isKnownHost(header, ['ops.example.com'])).toBe(known);
  });
});

describe('the language of a reader', () => {
  it.each([
    [undefined, 'en-GB'],
    ['de-CH, de;q=0.9, en;q=0.8', 'de-CH'],
    ['en;q=0.2, fr;q=0.9', 'fr'],
    ['xx-nonsense-!, tlh', 'en-GB'],
    ['*', 'en-GB'],
    ['de;q=0', 'en-GB'],
    [`${'a,'.repeat(10_000)}de`, 'en-GB'],
    ['en-\u0000', 'en-GB'],
  ])('%j is %s', (header, locale) => expect(localeOf(header)).toBe(locale));

  it.each([
    ['2026-11-21T00:30:00Z', '00:30'],
    ['2026-11-20T23:59:59Z', 'yesterday 23:59'],
    ['2026-11-22T09:00:00Z', 'tomorrow 09:00'],
    ['2026-11-23T09:00:00Z', 'Mon 23 Nov, 09:00'],
    ['2026-11-19T09:00:00Z', '19 Nov 2026, 09:00:00'],
    ['2027-11-22T09:00:00Z', '22 Nov 2027, 09:00:00'],
    ['soon', '-'],
    [null, '-'],
  ])('writes %s as %s on 21 November 2026', (at, shown) => {
    const { when } = formatsByLocale('Europe/London', null)('en-GB');
    const written = when(at, Date.parse('2026-11-21T09:00:00Z')).markup;
    expect(written.replace(/<[^>]+>/g, '')).toBe(shown);
  });

  it('writes dates and numbers, and names the zone', async () => {
    recordHello();
    await using pages = await servePages(project.root);
    const page = await ask(pages.port, '/', { headers: { 'accept-language': 'de-DE' } });
    expect(page.text).toContain('title="21.11.2026, 09:00:00 GMT+0">09:00</time>');
    expect(page.text).toContain('Europe/London');
  });
});

it('the campaigns say which list would be refused now, and no more once it is written again', async () => {
  const file = 'campaigns/daily/campaign.yaml';
  const text = 'name: daily\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\n';
  project.write(file, `${text}schedule: { cron: 0 9 * * *, timeZone: UTC }\nlimits: { change: 30% }\n`);
  project.write('campaigns/daily/people.csv', 'msisdn\n');
  await using pages = await servePages(project.root);
  expect((await ask(pages.port, '/campaigns')).text).toContain('has no recipient, and the campaign does not say');
  project.write('campaigns/daily/people.csv', 'msisdn\n+447700900001\n');
  expect((await ask(pages.port, '/campaigns')).text).not.toContain('would be refused');
  // The last list had five rows.
  withLedger(ledgerPath(), (ledger) => recordRun(ledger, { campaign: 'daily' }, [{}, {}, {}, {}, {}]));
  expect((await ask(pages.port, '/campaigns')).text).toContain('1 recipient, 80% fewer than the 5 of');
});

describe('a ledger', () => {
  it('that is not there yet is shown as empty, and picked up when it appears', async () => {
    await using pages = await servePages(project.root);
    for (const path of ['/', '/doubt', '/replies', '/suppressions', '/campaigns']) {
      expect((await ask(pages.port, path)).status).toBe(200);
    }
    const stream = await openStream(pages.port, '/');
    await until('the empty list', () => stream.text().includes('No run yet'));
    const id = recordHello();
    await until('the run', () => stream.text().includes(id), 5_000);
    stream.close();
    expect((await ask(pages.port, '/')).text).toContain(id);
  });

  it('is read, and never written', async () => {
    recordHello();
    await using pages = await servePages(project.root);
    const before = project.contents().get(ledgerPath());
    for (const path of ['/', '/doubt', '/replies', '/suppressions?q=1']) await ask(pages.port, path);
    expect(project.contents().get(ledgerPath())).toEqual(before);
  });

  it('that another process keeps to itself is said, and shown again when it is free', async () => {
    const id = recordHello();
    const other = new DatabaseSync(ledgerPath());
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; PRAGMA user_version; COMMIT');
    await using pages = await servePages(project.root);
    const locked = await ask(pages.port, `/runs/${id}`);
    expect(locked.status).toBe(503);
    expect(locked.text).toContain('The ledger cannot be read');
    other.close();
    await expect.poll(async () => (await ask(pages.port, `/runs/${id}`)).status, { timeout: 5_000 }).toBe(200);
  });

  it('that was replaced by another one is the other one', async () => {
    recordHello();
    await using pages = await servePages(project.root);
    expect((await ask(pages.port, '/')).text).toContain('hello');
    const elsewhere = project.path('.handbill/other.db');
    withLedger(elsewhere, (ledger) => recordRun(ledger, { campaign: 'other' }, [{}]));
    for (const suffix of ['-wal', '-shm']) rmSync(ledgerPath() + suffix, { force: true });
    renameSync(elsewhere, ledgerPath());
    const { text } = await ask(pages.port, '/');
    expect(text).toContain('other');
    expect(text).not.toContain('hello-');
  });

  it('that is damaged is said without a trace, and does not end the pages', async () => {
    project.write('.handbill/ledger.db', 'not a database '.repeat(100));
    await using pages = await servePages(project.root);
    const { status, text } = await ask(pages.port, '/');
    expect([status, text.includes('The ledger cannot be read')]).toEqual([503, true]);
    expect((await ask(pages.port, '/campaigns')).status).toBe(503);
  });

  it('whose recipients were purged shows their outcomes, and no recipient', async () => {
    const { id } = withLedger(ledgerPath(), (ledger) => recordRun(ledger, { campaign: 'hello' }, [{}, {}]));
    await using pages = await servePages(project.root);
    expect((await ask(pages.port, `/runs/${id}/recipients`)).text).toContain(numberOf(0));
    const purged = startCli(['purge', '--older-than', '1s', '--yes', '-q'], { cwd: project.root });
    expect((await purged.done).stderr).toBe('');
    const { text } = await ask(pages.port, `/runs/${id}/recipients`);
    expect(text).not.toContain(numberOf(0));
    expect(text).toContain('accepted');
    expect((await ask(pages.port, `/runs/${id}/recipients/0`)).text).toContain('line 2');
    expect((await ask(pages.port, `/runs/${id}`)).text).toContain('Personal data purged on');
  });

  it('of a run whose process was killed shows who is in doubt', async () => {
    const id = withLedger(ledgerPath(), (ledger) => {
      const run = recordRun(ledger, { campaign: 'killed', isKilled: true }, [{}, { state: 'pending' }]);
      ledger.commit(run, [], [{ row: 1, step: 0, key: numberOf(1), to: numberOf(1) }], NOW);
      return run.id;
    });
    await using pages = await servePages(project.root);
    expect((await ask(pages.port, `/runs/${id}`)).text).toMatch(/class="state[^>]*>interrupted/);
    const { text } = await ask(pages.port, '/doubt');
    expect(text).toContain(numberOf(1));
    expect(text).toContain('handbill was killed while the request was in flight');
    expect((await ask(pages.port, `/runs/${id}/recipients?outcome=in-doubt`)).text).toContain(numberOf(1));
  });
});

describe('pages', () => {
  it('show a run, its recipients and one of them with delivery reports and replies', async () => {
    const id = recordHello();
    await using pages = await servePages(project.root);
    const run = (await ask(pages.port, `/runs/${id}`)).text;
    for (const words of ['timeout', 'duplicate', 'delivered', 'handbill doubt list']) expect(run).toContain(words);
    const one = (await ask(pages.port, `/runs/${id}/recipients/0`)).text;
    const identity = { environment: 'sandbox', campaign: 'hello', occurrence: 'once' };
    for (const words of ['m-0', createReference(identity, 'sms')(numberOf(0)), 'What happened', 'webhook']) {
      expect(one).toContain(words);
    }
    expect((await ask(pages.port, `/runs/${id}/report`)).text).toContain('handbill report');
  });

  it('give one share of those who got the message: of the accepted', async () => {
    const id = recordHello();
    await using pages = await servePages(project.root);
    // One of two; a third is in doubt.
    const run = (await ask(pages.port, `/runs/${id}`)).text;
    const table = run.slice(run.indexOf('<h2>Deliveries</h2>'));
    expect(table).toMatch(/Share of accepted<.*>delivered<\/a>.*?>1<.*?>50%</s);
  });

  it.each<[query: string, rows: readonly number[]]>([
    ['q=4', [2]],
    ['q=line%204', [2]],
    [`q=${encodeURIComponent(numberOf(3))}`, [3]],
    [`q=${encodeURIComponent('07700 900003')}`, [3]],
    [`q=${encodeURIComponent('(0044) 7700-900003')}`, [3]],
    ['q=m-1', [1]],
    // Three digits are a line or nothing: a part of a number needs four.
    ['q=900', []],
    ['q=90000', [0, 1, 2, 3, 4]],
    ['q=nobody', []],
    ['outcome=rejected', [3]],
    ['reason=duplicate', [4]],
    ['delivery=delivered', [0]],
    ['delivery=none&outcome=accepted', [1]],
    ['q=%27%3B%20drop%20table%20runs%3B--', []],
  ])('%s finds %j', async (query, rows) => {
    const id = recordHello();
    await using pages = await servePages(project.root);
    const { text } = await ask(pages.port, `/runs/${id}/recipients?${query}`);
    const found = [...text.matchAll(/<th scope="row"><a href="[^"]+\/recipients\/(\d+)"/g)].map(([, row]) =>
      Number(row),
    );
    expect(found).toEqual(rows);
  });

  it.each([
    ['recipients?outcome=nonsense', 'There is no outcome &quot;nonsense&quot;: it can be accepted, '],
    ['recipients?outcome=rejected&delivery=arrived', 'There is no delivery &quot;arrived&quot;: it can be '],
    ['recipients?end=lost', 'There is no end &quot;lost&quot;: it can be delivered, '],
    ['recipients?sort=name', 'There is no sort &quot;name&quot;: it can be line, '],
    ['recipients.csv?end=lost', 'There is no end &quot;lost&quot;: it can be delivered, '],
    ['../../replies?meaning=maybe', 'There is no meaning &quot;maybe&quot;: it can be '],
  ])('%s is not found: no list has that value', async (query, sentence) => {
    const id = recordHello();
    await using pages = await servePages(project.root);
    const { pathname, search } = new URL(query, `http://x/runs/${id}/recipients`);
    const { status, text } = await ask(pages.port, pathname + search);
    expect(status).toBe(404);
    expect(text).toContain(sentence);
  });

  it('show replies and suppressions, searched in any spelling', async () => {
    withLedger(ledgerPath(), (ledger) => {
      recordRun(ledger, { campaign: 'hello' }, [{}]);
      const replies = [replyOf(numberOf(7), 'STOP please', 'review'), replyOf(numberOf(8), 'thanks', 'answer')];
      ledger.events.record(replies, { nowMs: NOW, source: 'webhook', environment: 'sandbox' });
      ledger.suppress(numberOf(5), { reason: 'by phone', untilMs: null, source: 'user', nowMs: NOW });
      ledger.suppress('jane@example.com', { reason: null, untilMs: null, source: 'user', nowMs: NOW });
    });
    await using pages = await servePages(project.root);
    const text = async (path: string) => (await ask(pages.port, path)).text;
    expect(await text('/replies?meaning=all')).toContain('thanks');
    const review = await text('/replies?meaning=review');
    expect(review).toContain('STOP please');
    expect(review).not.toContain('thanks');
    expect(await text(`/suppressions?q=${encodeURIComponent('07700 900 005')}`)).toContain('by phone');
    expect(await text('/suppressions?q=Jane%40Example.com')).toContain('>jane@example.com</a>');
    expect(await text('/suppressions?q=example')).not.toContain('by phone');
  });
});

describe('the command', () => {
  it('prints where, holds no stream open when it is told to stop, and ends within a second', async () => {
    recordHello();
    const cli = startCli(['serve', '--port', '0', '--open', '--allow-actions'], { cwd: project.root });
    await until('the address', () => cli.stdout().includes('Ctrl-C'));
    const port = Number(/127\.0\.0\.1:(\d+)\//.exec(cli.stdout())?.[1]);
    expect(cli.stdout()).toMatch(/login\?token=[\w-]{32}\n/);
    const streams = await Promise.all(Array.from({ length: 20 }, () => openStream(port, '/')));
    await until('events', () => streams.every(({ text }) => text().includes('event: parts')));
    const began = performance.now();
    cli.kill('SIGINT');
    const { status, stderr } = await cli.done;
    expect(performance.now() - began).toBeLessThan(5_000);
    expect([status, stderr]).toEqual([130, '']);
    await Promise.all(streams.map(({ ended }) => ended));
  });

  it('refuses a port that is taken, in words', async () => {
    await using pages = await servePages(project.root);
    await expect(servePages(project.root, { port: pages.port })).rejects.toThrow('Pages cannot be served on 127.0.0.1');
  });
});

it('a page that breaks off says why, as text, and prints nothing by itself', async () => {
  const rows = Array.from({ length: 5_000 }, (_, i) => `${numberOf(i)},Ada`);
  project.write(
    'campaigns/<b>big/campaign.yaml',
    'name: big\nchannel: sms\nfrom: Shop\ntemplate: t.hbs\nrecipients: r.csv\n',
  );
  project.write('campaigns/<b>big/t.hbs', 'Hello {{name}}');
  project.write('campaigns/<b>big/r.csv', `msisdn,name\n${rows.join('\n')}\n"+447700900001,\u001b]0;x\u0007`);
  const printed = vi.spyOn(console, 'error');
  try {
    const lines: string[] = [];
    await using pages = await servePages(project.root, { log: (line) => lines.push(line) });
    const { status, text } = await ask(pages.port, '/campaigns/preview?file=campaigns/%3Cb%3Ebig/campaign.yaml');
    expect(status).toBe(200);
    expect(text).toContain('<h1>This page is not whole</h1>');
    expect(text).toContain('&lt;b&gt;big/r.csv: A quoted value begins here');
    expect(text).not.toContain('<b>');
    expect(text.trimEnd().endsWith('</html>')).toBe(true);
    expect(printed).not.toHaveBeenCalled();
    expect(lines).toEqual([]);
  } finally {
    printed.mockRestore();
  }
});

it('a client that has not signed in is told nothing of the machine', async () => {
  recordHello();
  await using pages = await servePages(project.root, { allowRemote: ['ops.example.com'], allowActions: true });
  for (const [path, status] of [
    ['/', 401],
    ['/login?token=guessed', 403],
  ] as const) {
    const { status: own, text } = await ask(pages.port, path, {});
    expect(own).toBe(status);
    expect(text).not.toMatch(/ledger\.db|Times are in/);
  }
  const { cookie } = await signIn(pages);
  expect((await ask(pages.port, '/', { headers: { cookie } })).text).toMatch(/Times are in.*ledger\.db/);
});

it('a client that has signed out is told nothing more', async () => {
  recordHello();
  await using pages = await servePages(project.root, { allowRemote: ['ops.example.com'], allowActions: true });
  const { cookie, csrf } = await signIn(pages);
  const stream = await openStream(pages.port, '/', { cookie });
  await until('the run', () => stream.text().includes('hello'), 5_000);
  const form = { 'content-type': 'application/x-www-form-urlencoded', cookie };
  const out = await ask(pages.port, '/logout', { method: 'POST', headers: form, body: `csrf=${csrf}` });
  expect(out.status).toBe(303);
  withLedger(ledgerPath(), (ledger) => recordRun(ledger, { campaign: 'secret' }, [{}]));
  await until('the end', () => stream.text().includes('event: trouble'), 5_000);
  expect(stream.text()).not.toContain('secret');
  stream.close();
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openExistingLedger } from '../../src/ledger/open.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { ask, NOW, numberOf, recordRun, replyOf, reportOf, servePages, signIn, withLedger } from './serve-ledger.ts';

let project: TestProject;
let run: string;
beforeEach(() => {
  project = createProject({ 'handbill.yaml': 'defaultCountry: GB\n' });
  run = withLedger(project.path('.handbill/ledger.db'), (ledger) => {
    ledger.events.record([replyOf(numberOf(7), 'stop it', 'review')], {
      nowMs: NOW,
      source: 'webhook',
      environment: 'sandbox',
    });
    return recordRun(ledger, { campaign: 'hello' }, [
      {},
      { state: 'in-doubt', reason: 'timeout' },
      { state: 'in-doubt', reason: 'status', httpStatus: 503 },
    ]).id;
  });
});
afterEach(() => project[Symbol.dispose]());

function read<T>(use: (ledger: Ledger) => T): T {
  const ledger = openExistingLedger(project.path('.handbill/ledger.db'), { nowMs: NOW });
  if (ledger === null) throw new Error('no ledger');
  try {
    return use(ledger);
  } finally {
    ledger.close();
  }
}

const isSuppressed = (who: string) => read((ledger) => ledger.isSuppressed(who, NOW + 120_000));

const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', origin: 'null' };

describe('a form', () => {
  interface Wrong {
    readonly headers?: Readonly<Record<string, string>>;
    readonly csrf?: string;
    readonly noCookie?: true;
    readonly body?: string;
  }
  it.each<[label: string, wrong: Wrong, status: number]>([
    ['of these pages', {}, 303],
    ['of these pages, in a browser that says nothing of sites', { headers: { 'sec-fetch-site': '' } }, 403],
    ['without a cookie', { noCookie: true }, 403],
    ['with a made-up cookie', { headers: { cookie: 'handbill_0=aaaaaaaa' } }, 403],
    ['without the token', { csrf: '' }, 403],
    ['with the token of another user', { csrf: 'A'.repeat(32) }, 403],
    ['of another site', { headers: { 'sec-fetch-site': 'cross-site' } }, 403],
    ['of another port of this machine', { headers: { 'sec-fetch-site': 'same-site' } }, 403],
    ['that a person made up in the address bar', { headers: { 'sec-fetch-site': 'none' } }, 403],
    ['of another origin', { headers: { origin: 'https://evil.example' } }, 403],
    ['asked of a name that was made to mean this machine', { headers: { host: 'evil.example' } }, 421],
    ['in JSON', { headers: { 'content-type': 'application/json' } }, 415],
    ['in plain text, as another site could send it', { headers: { 'content-type': 'text/plain' } }, 415],
    ['in parts', { headers: { 'content-type': 'multipart/form-data; boundary=x' } }, 415],
    ['that is very large', { body: `address=${'a'.repeat(70_000)}` }, 413],
  ])('%s', async (_label, { headers = {}, csrf, noCookie, body }, status) => {
    await using pages = await servePages(project.root, { allowActions: true });
    const known = await signIn(pages);
    const form = body ?? new URLSearchParams({ do: 'add', address: numberOf(50), csrf: csrf ?? known.csrf }).toString();
    const cookie = noCookie === true ? '' : known.cookie;
    const answer = await ask(pages.port, '/suppressions', {
      method: 'POST',
      headers: { ...FORM, cookie, ...headers },
      body: form,
    });
    expect(answer.status).toBe(status);
    expect(isSuppressed(numberOf(50))).toBe(status === 303);
  });

  it('of a browser without Sec-Fetch-Site is held against its origin', async () => {
    await using pages = await servePages(project.root, { allowActions: true });
    const { cookie, csrf } = await signIn(pages);
    const body = new URLSearchParams({ do: 'add', address: numberOf(50), csrf }).toString();
    const send = (origin: string) =>
      ask(pages.port, '/suppressions', {
        method: 'POST',
        headers: { 'content-type': FORM['content-type'], cookie, origin },
        body,
      });
    expect((await send('http://evil.example')).status).toBe(403);
    expect((await send(pages.base)).status).toBe(303);
  });

  it.each(['GET', 'PUT', 'DELETE', 'PATCH'])('by %s changes nothing', async (method) => {
    await using pages = await servePages(project.root, { allowActions: true });
    const { cookie, csrf } = await signIn(pages);
    const query = new URLSearchParams({ do: 'add', address: numberOf(50), csrf });
    await ask(pages.port, `/suppressions?${query}`, { method, headers: { cookie } });
    expect(isSuppressed(numberOf(50))).toBe(false);
  });
});

describe('signing in', () => {
  it('accepts only the printed address, and ends', async () => {
    await using pages = await servePages(project.root, { allowActions: true });
    for (const token of ['', 'a', 'A'.repeat(32), 'A'.repeat(10_000).slice(0, 3_000)]) {
      const wrong = await ask(pages.port, `/login?token=${token}`);
      expect([wrong.status, wrong.headers['set-cookie']]).toEqual([403, undefined]);
    }
    const { cookie, csrf } = await signIn(pages);
    expect((await ask(pages.port, '/doubt', { headers: { cookie } })).text).toContain('The API has them');
    const read = (await ask(pages.port, '/doubt')).text;
    expect(read).not.toContain('The API has them');
    expect(read).toContain('HTTP 503: the API answered with an error status');
    const out = await ask(pages.port, '/logout', {
      method: 'POST',
      headers: { ...FORM, cookie },
      body: `csrf=${csrf}`,
    });
    expect(out.headers['set-cookie']?.[0]).toContain('Max-Age=0');
    expect((await ask(pages.port, '/doubt', { headers: { cookie } })).text).not.toContain('The API has them');
  });

  it('is not there where nothing may be changed', async () => {
    await using pages = await servePages(project.root);
    expect(pages.signInUrl).toBeNull();
    expect((await ask(pages.port, '/login?token=')).status).toBe(403);
    expect((await ask(pages.port, '/suppressions')).text).not.toContain('method="post"');
  });
});

describe('what is done', () => {
  const post = async (
    pages: Awaited<ReturnType<typeof servePages>>,
    path: string,
    form: Record<string, string>,
    known: { cookie: string; csrf: string },
  ) => {
    const body = new URLSearchParams({ ...form, csrf: known.csrf }).toString();
    return await ask(pages.port, path, { method: 'POST', headers: { ...FORM, cookie: known.cookie }, body });
  };

  it('about a doubt is asked once more, and written as the command writes it', async () => {
    await using pages = await servePages(project.root, { allowActions: true });
    const known = await signIn(pages);
    const form = { run, line: '3', as: 'accepted', messageId: 'api-1', note: 'found in <their> log' };
    const asked = await post(pages, '/doubt', form, known);
    expect(asked.status).toBe(200);
    expect(asked.text).toContain('found in &lt;their&gt; log');
    expect(read((ledger) => [...ledger.doubts(ledger.runs()[0] as never)].flat().length)).toBe(2);
    const done = await post(pages, '/doubt', { ...form, sure: 'yes' }, known);
    expect([done.status, done.headers.location]).toEqual([303, '/doubt']);
    const after = await ask(pages.port, '/doubt', { headers: { cookie: known.cookie } });
    expect(after.text).toContain('1 recipient recorded as accepted.');
    expect((await ask(pages.port, '/doubt', { headers: { cookie: known.cookie } })).text).not.toContain(
      'recorded as accepted.',
    );
    const history = read((ledger) => [...ledger.resolutions(ledger.runs()[0] as never)].flat());
    expect(history).toMatchObject([
      { line: 3, verdict: 'accepted', messageId: 'api-1', note: 'found in <their> log', resolvedBy: 'user' },
    ]);
    expect(history[0]?.who).toMatch(/.@./);
  });

  it('about a pause is asked once more, is above every page, and ends as it began', async () => {
    await using pages = await servePages(project.root, { allowActions: true });
    const known = await signIn(pages);
    const see = async (path: string) => (await ask(pages.port, path, { headers: { cookie: known.cookie } })).text;
    const scope = { environment: 'sandbox', campaign: '' };
    expect(await see('/')).toContain('Pause sandbox</button>');
    const asked = await post(pages, '/pause', { ...scope, do: 'ask-pause' }, known);
    expect([asked.status, asked.text.includes('Pause sandbox?')]).toEqual([200, true]);
    const empty = await post(pages, '/pause', { ...scope, do: 'pause', reason: ' ' }, known);
    expect([empty.status, read((ledger) => ledger.pauses())]).toEqual([303, []]);
    await post(pages, '/pause', { ...scope, do: 'pause', reason: 'wrong <prices>' }, known);
    expect(read((ledger) => ledger.pauses())).toMatchObject([{ environment: 'sandbox', reason: 'wrong <prices>' }]);
    for (const path of ['/', `/runs/${run}`, '/doubt', '/replies', '/suppressions', '/campaigns']) {
      expect(await see(path)).toMatch(/role="alert"><p><b>sandbox has been paused since .*wrong &lt;prices&gt;/);
    }
    const question = await post(pages, '/suppressions', { do: 'ask-add', address: '+447700900001' }, known);
    for (const text of [question.text, await see('/campaigns/preview?file=none'), await see('/none')]) {
      expect(text).toContain('sandbox has been paused since');
    }
    const signedOut = (await ask(pages.port, '/')).text;
    expect(signedOut).toContain('handbill resume --env sandbox');
    expect(signedOut).not.toContain('Resume</button>');
    expect((await post(pages, '/pause', { ...scope, do: 'ask-resume' }, known)).text).toContain('Resume sandbox?');
    await post(pages, '/pause', { ...scope, do: 'resume' }, known);
    expect(await see('/')).not.toContain('role="alert"');
  });

  it('offers no pause of a run that is over and that no other follows', async () => {
    const name = 'once-and-over';
    const [over, scheduled] = withLedger(project.path('.handbill/ledger.db'), (ledger) => [
      recordRun(ledger, { campaign: name }, [{}]),
      recordRun(ledger, { campaign: 'daily' }, [{}]),
    ]);
    project.write(
      'campaigns/daily/campaign.yaml',
      'name: daily\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hello." }\nrecipients: people.csv\nschedule: { cron: 0 9 * * * }\n',
    );
    project.write('campaigns/daily/people.csv', 'msisdn\n+447400100000\n');
    await using pages = await servePages(project.root, { allowActions: true });
    const known = await signIn(pages);
    const see = async (id: string) =>
      (await ask(pages.port, `/runs/${id}`, { headers: { cookie: known.cookie } })).text;
    expect(await see(over?.id ?? '')).not.toContain('ask-pause');
    expect(await see(scheduled?.id ?? '')).toContain('Pause daily in sandbox</button>');
  });

  it('about a doubt that is none any more is refused in words', async () => {
    await using pages = await servePages(project.root, { allowActions: true });
    const known = await signIn(pages);
    expect((await post(pages, '/doubt', { run, line: '2', as: 'accepted', sure: 'yes' }, known)).status).toBe(303);
    expect((await ask(pages.port, '/doubt', { headers: { cookie: known.cookie } })).text).toContain(
      'Line 2 is accepted, not in doubt.',
    );
    expect((await post(pages, '/doubt', { run, line: '3', as: 'resend', sure: 'yes' }, known)).status).toBe(303);
    expect(read((ledger) => [...ledger.doubts(ledger.runs()[0] as never)].flat().length)).toBe(2);
  });

  it('about a reply suppresses who opts out', async () => {
    await using pages = await servePages(project.root, { allowActions: true });
    const known = await signIn(pages);
    const done = await post(pages, '/replies', { id: '1', as: 'opt-out', back: '/replies?q=it' }, known);
    expect(done.headers.location).toBe('/replies?q=it');
    expect(isSuppressed(numberOf(7))).toBe(true);
    expect((await ask(pages.port, '/replies', { headers: { cookie: known.cookie } })).text).toContain(
      '1 address suppressed since.',
    );
  });

  it('about the list of suppressions: added in any spelling, removed after a question', async () => {
    await using pages = await servePages(project.root, { allowActions: true });
    const known = await signIn(pages);
    await post(
      pages,
      '/suppressions',
      { do: 'add', address: '07700 900 033', reason: 'by phone', until: '2027-01-31' },
      known,
    );
    expect(isSuppressed(numberOf(33))).toBe(true);
    const asked = await post(pages, '/suppressions', { do: 'ask', address: numberOf(33) }, known);
    expect(asked.text).toContain('Take it off');
    expect(isSuppressed(numberOf(33))).toBe(true);
    await post(pages, '/suppressions', { do: 'remove', address: numberOf(33) }, known);
    expect(isSuppressed(numberOf(33))).toBe(false);
    await post(pages, '/suppressions', { do: 'add', address: 'nonsense' }, known);
    const { text } = await ask(pages.port, '/suppressions', { headers: { cookie: known.cookie } });
    expect(text).toContain('class="notice bad"');
  });

  it('about an address that failed for good: on the pages of suppressions and of the person, until it is taken off', async () => {
    project.write(
      'handbill.yaml',
      `suppressions: { unreachable: { after: 2, within: 180d } }
environments: { real: { provider: twilio, vars: { account: AC1 }, secrets: { token: { env: TWILIO_TOKEN } } } }\n`,
    );
    withLedger(project.path('.handbill/ledger.db'), (ledger) => {
      const failed = { state: 'undeliverable', cause: 'gone', address: numberOf(0) } as const;
      ledger.events.record(
        ['x-1', 'x-2'].map((id) => ({ ...reportOf(id, 'undeliverable'), ...failed })),
        { nowMs: NOW, source: 'webhook', environment: 'real' },
      );
    });
    await using pages = await servePages(project.root, { allowActions: true });
    const known = await signIn(pages);
    const read = async (path: string) =>
      (await ask(pages.port, path, { headers: { cookie: known.cookie } })).text.replace(/<[^>]*>/g, ' ');
    const why = /2 permanent failures, the last on 2026-11-21/;
    expect(await read('/suppressions')).toMatch(/1 address failed for good too often\./);
    expect(await read('/suppressions')).toMatch(why);
    expect(await read(`/suppressions?q=${numberOf(1).slice(1)}`)).not.toMatch(why);
    expect(await read(`/people/${run}/0`)).toMatch(/Unreachable in real\s+2 permanent failures/);
    expect(await read(`/people/${run}/1`)).not.toMatch(/Unreachable/);
    await post(pages, '/suppressions', { do: 'remove', address: numberOf(0) }, known);
    expect(await read('/suppressions')).not.toMatch(why);
  });
});

import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { Ajv } from 'ajv';
import { describe, expect, it, test } from 'vitest';
import { due } from '../../src/operations/due.ts';
import { type RehearseOptions, rehearse } from '../../src/operations/rehearse.ts';
import { rehearsalCalendar } from '../../src/report/rehearsal-ics.ts';
import { rehearsalText } from '../../src/report/rehearsal-text.ts';
import { runCli, startCli, until } from '../helpers/cli.ts';
import { runHere } from '../helpers/here.ts';
import { createProject, type ProjectFiles, type TestProject } from '../helpers/project.ts';
import { examples } from '../helpers/quick.ts';

/** A Monday. */
const START = Date.parse('2026-11-30T00:02:00Z');

const PEOPLE = `msisdn,name\n${Array.from({ length: 12 }, (_, i) => `+44770090${String(1000 + i)},N${i}`).join('\n')}\n`;

function campaign(name: string, more: string, recipients = 'people.csv'): ProjectFiles {
  return {
    [`campaigns/${name}/campaign.yaml`]: `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hello {{name}}" }\nrecipients: ${recipients}\n${more}\n`,
    [`campaigns/${name}/people.csv`]: PEOPLE,
  };
}

const DAILY = 'schedule: { cron: "0 9 * * *", timeZone: UTC }';

function play({ root }: TestProject, more: Partial<RehearseOptions> = {}) {
  return rehearse([], { cwd: root, env: {}, now: () => START, days: 3, ...more });
}

function brief({ occurrences }: Awaited<ReturnType<typeof rehearse>>): string[] {
  return occurrences.map(({ campaign, state, begins, ends, messages }) =>
    [campaign, state, begins?.slice(8, 16), ends?.slice(8, 16), messages].join(' '),
  );
}

describe('the coming days', () => {
  test('have each occurrence of a schedule, and each follow-up at the time of its recipients', async () => {
    using project = createProject({
      ...campaign('hello', DAILY),
      ...campaign('nudge', 'after: { campaign: hello, wait: 1d }'),
    });
    const found = await play(project);
    expect(brief(found)).toEqual([
      'hello finished 30T09:00 30T09:00 12',
      'hello finished 01T09:00 01T09:00 12',
      'nudge finished 01T09:00 01T09:00 12',
      'hello finished 02T09:00 02T09:00 12',
      'nudge finished 02T09:00 02T09:00 12',
    ]);
    expect(found.days.map(({ day, messages }) => [day, messages])).toEqual([
      ['2026-11-30', 12],
      ['2026-12-01', 24],
      ['2026-12-02', 24],
    ]);
    expect(found.busiest).toBe(5);
  });

  /** Later than the last change of any file. */
  const LATER = Date.parse('2099-11-30T08:00:00Z');
  const CHAIN: ProjectFiles = {
    ...campaign('hello', ''),
    ...campaign('nudge', 'after: { campaign: hello, wait: 1d, unless: [replied] }'),
    ...campaign('last', 'after: { campaign: nudge, wait: 1d }'),
    ...campaign('news', ''),
  };

  test('begin with a campaign that is sent by hand, if it is named, and its follow-ups come by themselves', async () => {
    using project = createProject(CHAIN);
    const options = { cwd: project.root, env: {}, now: () => LATER, days: 4 };
    const found = await rehearse(['hello'], options);
    expect(brief(found)).toEqual([
      'hello finished 30T08:00 30T08:00 12',
      'nudge finished 01T08:00 01T08:00 12',
      'last finished 02T08:00 02T08:00 12',
    ]);
    expect(found.occurrences.map(({ occurrence, due }) => [occurrence, due !== null])).toEqual([
      ['once', false],
      ['once', true],
      ['once', true],
    ]);
    expect(found.assumed).toContain('hello is sent by hand, once, as these days begin.');
    const all = brief(await rehearse(['hello', 'campaigns/news'], { ...options, assume: { replied: 1 } }));
    expect(all).toEqual([
      'hello finished 30T08:00 30T08:00 12',
      'news finished 30T08:00 30T08:00 12',
      'nudge finished   0',
    ]);
    const from = await rehearse([project.path('campaigns/hello/campaign.yaml')], { ...options, from: '2099-12-24' });
    expect([from.from, ...brief(from)]).toEqual([
      '2099-12-24T00:00:00.000Z',
      'hello finished 24T00:00 24T00:00 12',
      'nudge finished 25T00:00 25T00:00 12',
      'last finished 26T00:00 26T00:00 12',
    ]);
  });

  test('have no campaign that is sent by hand without its name, and say how to play it', async () => {
    using project = createProject(CHAIN);
    const options = { cwd: project.root, env: {}, now: () => LATER, days: 4 };
    for (const paths of [[], ['campaigns'], ['nudge']]) {
      const found = await rehearse(paths, options);
      expect({ paths, messages: brief(found) }).toEqual({ paths, messages: [] });
      expect(found.assumed.join(' ')).toContain('`handbill rehearse hello` plays it.');
    }
    await expect(rehearse(['hello', 'news'], { ...options, from: '2099-02-30' })).rejects.toThrow('is no day');
  });

  test('say why a campaign that is sent by hand cannot begin', async () => {
    using project = createProject({ ...CHAIN, 'campaigns/hello/people.csv': 'msisdn\n+44770090X\n' });
    const options = { cwd: project.root, env: {}, now: () => LATER, days: 4 };
    const found = await rehearse(['hello'], options);
    expect(found.exit).toBe(2);
    expect(found.occurrences).toMatchObject([{ campaign: 'hello', state: 'refused', messages: 0 }]);
    project.write('campaigns/hello/campaign.yaml', 'name: hello\nchannel: nothing\n');
    await expect(rehearse(['hello'], options)).rejects.toThrow('"template" is missing.');
  });

  test('a call begins what follows a campaign when it has sent that one, whatever that took', async () => {
    using project = createProject({
      ...campaign('hello', `${DAILY}\nsend: { rate: 4/h, concurrency: 1 }`),
      ...campaign('nudge', 'after: { campaign: hello, wait: 1h }'),
      ...campaign('second', 'after: { campaign: nudge, wait: 0m }'),
    });
    expect(brief(await play(project, { days: 1, everyMs: 6 * 3_600_000 }))).toEqual([
      'hello finished 30T12:00 30T14:45 12',
      'nudge finished 30T14:45 30T18:00 12',
      'second finished 30T14:45 30T18:00 12',
    ]);
  });

  test.each([
    ['is decided at that call', 1, 'hello finished 30T09:00 30T17:00 12'],
    ['is not, and the days go on', 100, 'hello partial 30T09:00 30T09:00 4'],
  ])('a test whose wait ends at the instant of a call %s', async (_, minimum, shown) => {
    const variants =
      'variants: [{ name: a, template: { text: "A {{name}}" } }, { name: b, template: { text: "B {{name}}" } }]\ntest: 34%';
    const winner = `winner: { by: accepted, wait: 8h, minimum: ${minimum} }`;
    using project = createProject(
      campaign('hello', `schedule: { at: "2026-11-30T09:00", timeZone: UTC }\n${variants}\n${winner}`),
    );
    expect(brief(await play(project))).toEqual([shown]);
  });

  test('a slow campaign takes its time, and another one begins meanwhile', async () => {
    using project = createProject({
      ...campaign('slow', `${DAILY}\nsend: { rate: 6/h }`),
      ...campaign('quick', 'schedule: { cron: "30 9 * * *", timeZone: UTC }'),
    });
    expect(brief(await play(project, { days: 1 }))).toEqual([
      'slow finished 30T09:00 30T10:50 12',
      'quick finished 30T09:30 30T09:30 12',
    ]);
  });

  test('a campaign begins its next occurrence while the one before is being sent', async () => {
    using project = createProject(
      campaign('often', 'schedule: { cron: "2,4,6 6 * * *", timeZone: UTC }\nsend: { rate: 2/min }'),
    );
    expect(brief(await play(project, { days: 1, everyMs: 60_000 }))).toEqual([
      'often finished 30T06:02 30T06:07 12',
      'often finished 30T06:04 30T06:09 12',
      'often finished 30T06:06 30T06:11 12',
    ]);
  });

  test('of two occurrences that wait for the same window, the next call sends the second one while the first one is sent', async () => {
    using project = createProject(
      campaign(
        'slow',
        'schedule: { cron: "0 6,7 * * *", timeZone: UTC }\nsend: { rate: 6/h, window: { from: 09:00, to: 20:00, timeZone: UTC } }',
      ),
    );
    expect(brief(await play(project, { days: 1, everyMs: 30 * 60_000 }))).toEqual([
      'slow finished 30T09:00 30T10:50 12',
      'slow finished 30T09:30 30T11:20 12',
    ]);
  });

  test('a follow-up begins while the campaign before it is being sent', async () => {
    using project = createProject({
      ...campaign('slow', `${DAILY}\nsend: { rate: 6/h }`),
      ...campaign('nudge', 'after: { campaign: slow, wait: 30m }'),
    });
    expect(brief(await play(project, { days: 1 }))).toEqual([
      'slow finished 30T09:00 30T10:50 12',
      'nudge finished 30T09:30 30T11:20 12',
    ]);
  });

  test('a campaign that takes longer than its schedule allows is named with the next instant', async () => {
    using project = createProject(
      campaign('slow', 'schedule: { cron: "0 9,10 * * *", timeZone: UTC }\nsend: { rate: 6/h }'),
    );
    const { occurrences } = await play(project, { days: 1 });
    expect(occurrences[0]).toMatchObject({
      occurrence: '2026-11-30T09:00:00Z',
      overlaps: '2026-11-30T10:00:00Z',
      messages: 12,
    });
  });

  test('a window moves messages, and a cap leaves people out', async () => {
    using project = createProject({
      ...campaign(
        'night',
        `${DAILY.replace('0 9', '0 22')}\nsend: { window: { from: 08:00, to: 20:00, timeZone: UTC } }\nfrequency: { max: 1, per: 2d }`,
      ),
    });
    const { occurrences } = await play(project);
    expect(occurrences.map(({ begins, reasons, messages }) => [begins, reasons, messages])).toEqual([
      ['2026-12-01T08:00:00.000Z', {}, 12],
      [null, { skipped: { 'frequency-cap': 12 } }, 0],
      [null, { deferred: { 'outside-window': 12 } }, 0],
    ]);
    expect(occurrences[2]?.opensAt).toBe('2026-12-03T08:00:00.000Z');
  });

  test('a budget that is spent refuses the occurrence of that day', async () => {
    using project = createProject({
      'handbill.yaml': `prices: prices.csv\nenvironments:\n  test: { baseUrl: "http://127.0.0.1:9", apiKey: { env: NO_SUCH_KEY }, budget: { max: 0.9, per: month } }\n`,
      'prices.csv': 'channel,country,price,currency\nsms,*,0.04,GBP\n',
      ...campaign('dear', DAILY),
    });
    const { occurrences, days, currency } = await play(project, { environment: 'test' });
    expect([currency, days.map(({ cost }) => cost)]).toEqual(['GBP', [0.48, 0.48]]);
    expect(occurrences.at(-1)).toMatchObject({ state: 'refused', messages: 0 });
    expect(occurrences.at(-1)?.diagnostics.map(({ code }) => code)).toContain('over-budget');
  });

  test('a run that a budget stops before its last recipient says so, and waits for no instant that has passed', async () => {
    const visits = Array.from({ length: 12 }, (_, i) => `+44770090${1000 + i},2026-11-30T${i < 6 ? '04' : '20'}:00Z`);
    using project = createProject({
      'handbill.yaml': `prices: prices.csv\nenvironments:\n  test: { baseUrl: "http://127.0.0.1:9", apiKey: { env: NO_SUCH_KEY }, budget: { max: 0.5, per: week } }\n`,
      'prices.csv': 'channel,country,price,currency\nsms,*,0.04,GBP\n',
      'campaigns/visits/campaign.yaml':
        'name: visits\nchannel: sms\nfrom: Riverside\ntemplate: { text: "See you" }\nrecipients: people.csv\nschedule: { cron: "0 1 * * *", timeZone: UTC }\nsend: { each: { column: visit, before: 2h } }\n',
      'campaigns/visits/people.csv': `msisdn,visit\n${visits.join('\n')}\n`,
      ...campaign(
        'dear',
        'schedule: { cron: "0 3 30 11 *", timeZone: UTC }',
        '[{ msisdn: "+447700902000", name: Ada }]',
      ),
    });
    const found = await play(project, { environment: 'test', days: 1 });
    expect(brief(found)).toEqual(['visits partial 30T02:00 30T02:00 6', 'dear finished 30T03:00 30T03:00 1']);
    expect(found.exit).toBe(2);
    expect(rehearsalText(found, 120)).toContain('1 occurrence would stop before the last recipient.');
    expect(rehearsalText(found, 120)).toMatch(/\n +stops \(over-budget\); due Mon 30 Nov 01:00; wait: 6 too-early\n/);
  });

  test('an occurrence that a budget sends a day later says why', async () => {
    using project = createProject({
      'handbill.yaml': `prices: prices.csv\nenvironments:\n  test: { baseUrl: "http://127.0.0.1:9", apiKey: { env: NO_SUCH_KEY }, budget: { max: 0.5, per: day } }\n`,
      'prices.csv': 'channel,country,price,currency\nsms,*,0.04,GBP\n',
      ...campaign('first', 'schedule: { cron: "0 9 30 11 *", timeZone: UTC }'),
      ...campaign('second', 'schedule: { cron: "0 10 30 11 *", timeZone: UTC }'),
    });
    const found = await play(project, { environment: 'test' });
    expect(brief(found)).toEqual(['first finished 30T09:00 30T09:00 12', 'second finished 01T00:00 01T00:00 12']);
    expect(rehearsalText(found, 120)).toMatch(/\n +due Mon 30 Nov 10:00, at first refused \(over-budget\)\n/);
  });

  test.each(['1d', '30d'])(
    'a follow-up of a run that has halted is left unfinished after a day: wait %s',
    async (wait) => {
      using project = createProject({
        ...campaign(
          'hello',
          'schedule: { at: "2026-11-30T09:00", timeZone: UTC }\nsend: { canary: { steps: [5], gate: { delivered: 90%, wait: 30m } } }',
        ),
        ...campaign('nudge', `after: { campaign: hello, wait: ${wait} }`),
      });
      const found = await play(project, { days: 40 });
      const [, nudge] = found.occurrences;
      expect(nudge).toMatchObject({ campaign: 'nudge', state: 'partial', messages: 5, left: 'late' });
      expect(nudge).not.toHaveProperty('opensAt');
      const words = /is left unfinished, because it is too old by then; not sent to: 7 follow-up-later\n/;
      expect(rehearsalText(found, 120)).toMatch(words);
      expect(found.exit).toBe(2);
    },
  );

  test('a follow-up that cannot begin is shown when its wait is over, not at the instant of the message before it', async () => {
    using project = createProject({
      'handbill.yaml': `prices: prices.csv\nenvironments:\n  test: { baseUrl: "http://127.0.0.1:9", apiKey: { env: NO_SUCH_KEY }, budget: { max: 0.9, per: week } }\n`,
      'prices.csv': 'channel,country,price,currency\nsms,*,0.04,GBP\n',
      ...campaign('dear', 'schedule: { cron: "0 9 30 11 *", timeZone: UTC }'),
      ...campaign('nudge', 'after: { campaign: dear, wait: 1d }'),
    });
    const found = await play(project, { environment: 'test' });
    const nudge = found.occurrences.at(-1);
    expect(nudge).toMatchObject({ campaign: 'nudge', state: 'refused', due: '2026-12-01T09:00:00.000Z', begins: null });
    expect(rehearsalText(found, 120)).toMatch(/Tue 1 Dec 09:00 +nudge\n +cannot begin \(over-budget\)/);
    expect(rehearsalCalendar(found)).toContain('DTSTART:20261201T090000Z\r\nSUMMARY:nudge: cannot begin');
  });

  test('a list that is too old by then refuses its occurrence', async () => {
    using project = createProject(campaign('old', DAILY, '{ csv: people.csv, maxAge: 36h }'));
    const at = Math.ceil(Date.now() / 86_400_000) * 86_400_000;
    const noon = at / 1000 - 12 * 3600;
    utimesSync(project.path('campaigns/old/people.csv'), noon, noon);
    const { occurrences, exit } = await play(project, { now: () => at });
    expect(occurrences.map(({ state }) => state)).toEqual(['finished', 'refused', 'refused']);
    expect(exit).toBe(2);
  });

  test('names the people with too many messages', async () => {
    using project = createProject(campaign('hello', DAILY));
    const { most, busiest } = await play(project, { most: 2 });
    expect([busiest, most?.people, most?.first[0]]).toEqual([3, 12, { to: '+447700901000', messages: 3 }]);
  });

  test('are shown from a later day on, with all that came before played', async () => {
    using project = createProject(campaign('hello', `${DAILY}\nfrequency: { max: 1, per: 2d }`));
    const found = await play(project, { from: START + 2 * 86_400_000, days: 1 });
    expect(brief(found)).toEqual(['hello finished 02T09:00 02T09:00 12']);
    expect((await play(project, { from: START + 86_400_000, days: 1 })).occurrences[0]?.reasons).toEqual({
      skipped: { 'frequency-cap': 12 },
    });
  });
});

describe('nothing but a private copy is written', () => {
  test('the project and its ledger stay as they are, and the copy is gone', async () => {
    using project = createProject(campaign('hello', DAILY));
    const options = { cwd: project.root, env: {}, confirm: true } as const;
    await due([], { ...options, now: () => START });
    await due([], { ...options, now: () => START + 10 * 3_600_000 });
    const before = project.contents();
    const found = await play(project, { now: () => START + 11 * 3_600_000 });
    expect(brief(found)).toEqual(['hello finished 01T09:00 01T09:00 12', 'hello finished 02T09:00 02T09:00 12']);
    expect(project.contents()).toEqual(before);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`handbill-rehearse-${process.pid}.`))).toEqual([]);
  });

  test('also where there is no ledger yet', async () => {
    using project = createProject(campaign('hello', DAILY));
    const { assumed } = await play(project, { ledger: 'typo.db' });
    expect(assumed[0]).toBe('Nothing was sent before: there is no ledger at typo.db.');
    expect([existsSync(project.path('.handbill')), existsSync(project.path('typo.db'))]).toEqual([false, false]);
  });

  test('what another process has in flight is accepted, and its doubts stay', async () => {
    let requests = 0;
    await using api = createServer((request, response) => {
      request.resume();
      requests += 1;
      if (requests === 3) return response.writeHead(500).end();
      if (requests > 6) return;
      return response.writeHead(202, { 'content-type': 'application/json' }).end('{}');
    });
    await once(api.listen(0, '127.0.0.1'), 'listening');
    const { port } = api.address() as AddressInfo;
    using project = createProject({
      'handbill.yaml': `environments:\n  test: { baseUrl: "http://127.0.0.1:${port}", apiKey: { env: KEY } }\n`,
      ...campaign('hello', DAILY),
    });
    const env = { KEY: 'key-for-tests-only' };
    const cli = startCli(['send', 'hello', '--env', 'test', '--yes', '--concurrency', '2'], { cwd: project.root, env });
    await until('two requests are in flight', () => requests > 7);
    const found = await rehearse([], { cwd: project.root, env, environment: 'test', days: 1 });
    cli.kill('SIGKILL');
    await cli.done;
    api.closeAllConnections();
    const [hello] = found.occurrences;
    expect(hello?.totals).toMatchObject({ recipients: 12, accepted: 11, inDoubt: 1, pending: 0 });
    // The server may have a request before the answer to the one before it is on the disk.
    const [, before] = /\n.* (\d+) were sent before; 1 in doubt/.exec(rehearsalText(found, 120)) ?? [];
    expect(Number(before) + (hello?.messages ?? 0)).toBe(11);
    expect(Number(before)).toBeGreaterThan(0);
  });

  it('ends when it is told to', async () => {
    using project = createProject(campaign('hello', DAILY));
    const signal = AbortSignal.abort();
    await expect(play(project, { signal })).rejects.toMatchObject({ exit: 130 });
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('ends at %s with the status of that signal, and leaves no copy of the ledger', async (name, status) => {
    using project = createProject(campaign('hello', 'schedule: { cron: "* * * * *" }\n'));
    mkdirSync(project.path('tmp'));
    const env = { TMPDIR: project.path('tmp') };
    const cli = startCli(['rehearse', '--days', '92'], { cwd: project.root, env });
    await until('the copy is there', () => readdirSync(env.TMPDIR).length > 0);
    cli.kill(name);
    expect((await cli.done).status).toBe(status);
    expect(readdirSync(env.TMPDIR)).toEqual([]);
  });

  it('leaves its copy of the ledger when it is killed, and the next one deletes that, but not one in use', async () => {
    using project = createProject({
      ...campaign('slow', 'schedule: { cron: "* * * * *" }\n'),
      ...campaign('quick', DAILY),
    });
    mkdirSync(project.path('tmp'));
    const options = { cwd: project.root, env: { TMPDIR: project.path('tmp') } };
    const copies = (): readonly string[] => readdirSync(options.env.TMPDIR);
    const filesOf = (copy: string): readonly string[] => readdirSync(project.path(`tmp/${copy}`));
    const killed = startCli(['rehearse', 'slow', '--days', '92'], options);
    await until('the copy is there', () => copies().some((copy) => filesOf(copy).includes('ledger.db')));
    const next = () => runCli(['rehearse', 'quick', '--days', '1', '--quiet'], options);
    const beside = await next();
    const kept = copies();
    killed.kill('SIGKILL');
    expect(await killed.done).toMatchObject({ status: null, signal: 'SIGKILL' });
    expect(beside).toMatchObject({ status: 0, stderr: '' });
    expect(kept).toEqual([expect.stringMatching(`^handbill-rehearse-${killed.pid}\\.`)]);
    expect(copies()).toEqual(kept);
    expect(kept.flatMap(filesOf)).toContain('ledger.db');
    expect(await next()).toMatchObject({ status: 0, stderr: '' });
    expect(copies()).toEqual([]);
  });
});

describe('handbill rehearse', () => {
  it('says the answer first, in words', async () => {
    using project = createProject({
      ...campaign('hello', DAILY),
      ...campaign('slow', `${DAILY}\nsend: { rate: 6/h }`),
    });
    const { stdout, status } = await runHere(['rehearse', '--days', '2', '--most', '3'], {
      cwd: project.root,
      now: () => START,
    });
    expect(stdout).toMatchInlineSnapshot(`
      "48 messages to sandbox, from Mon 30 Nov 00:02 to Wed 2 Dec 00:00 (UTC), in 4 occurrences of 2 campaigns. The person with the most gets 4.

        Mon 30 Nov  24 messages  24 parts
        Tue 1 Dec   24 messages  24 parts

        Mon 30 Nov 09:00            hello  12 messages  12 parts
        Mon 30 Nov 09:00  to 10:50  slow   12 messages  12 parts
        Tue 1 Dec 09:00             hello  12 messages  12 parts
        Tue 1 Dec 09:00   to 10:50  slow   12 messages  12 parts

      12 people would get more than 3 messages:
        +44••••••1000  4
        +44••••••1001  4
        +44••••••1002  4
        +44••••••1003  4
        +44••••••1004  4
        +44••••••1005  4
        +44••••••1006  4
        +44••••••1007  4
        +44••••••1008  4
        +44••••••1009  4
        +44••••••1010  4
        +44••••••1011  4

      Assumed: Nothing was sent before: there is no ledger at .handbill/ledger.db. \`handbill due\` is called every 5m. Files and lists stay as they are now. The API accepts every message. Where no rate is set, it takes them all at once.
      "
    `);
    expect(status).toBe(0);
  });

  it('has a schema for its JSON', async () => {
    using project = createProject({
      ...campaign('hello', DAILY),
      ...campaign('old', `${DAILY}\nlimits: { minRecipients: 50 }`),
      'campaigns/broken/campaign.yaml': 'name: broken\nschedule: { cron: never }\n',
    });
    const args = ['rehearse', '--days', '2', '--most', '1', '--format', 'json'];
    const { stdout, status } = await runHere(args, { cwd: project.root, now: () => START });
    const schema: unknown = JSON.parse(readFileSync('schemas/rehearsal.schema.json', 'utf8'));
    const validate = new Ajv({ strict: false }).compile(schema as object);
    expect([validate(JSON.parse(stdout)), validate.errors]).toEqual([true, null]);
    expect(status).toBe(2);
  });

  it('says how often `due` is called, exactly', async () => {
    using project = createProject(campaign('hello', DAILY));
    const { assumed } = await play(project, { days: 1, everyMs: 90_000 });
    expect(assumed).toContain('`handbill due` is called every 90s.');
  });

  it('refuses what it cannot play', async () => {
    using project = createProject(campaign('hello', ''));
    const { status, stderr } = await runHere(['rehearse', 'campaigns'], { cwd: project.root });
    const said = 'No campaign here has a schedule. With a PATH, handbill looks at what it names';
    expect([status, stderr]).toEqual([2, expect.stringContaining(said)]);
  });
});

describe('other forms', () => {
  const files = { ...campaign('hello', DAILY), ...campaign('few', `${DAILY}\nlimits: { minRecipients: 50 }`) };

  it('is a page without a script that holds no address in clear', async () => {
    using project = createProject(files);
    const args = ['rehearse', '--days', '2', '--most', '1', '--format', 'html'];
    const { stdout } = await runHere(args, { cwd: project.root, now: () => START });
    expect(stdout).not.toMatch(/<script|\+4477009|NaN|undefined/);
    expect(stdout).toContain('cannot begin');
  });

  it('is a calendar with one event an occurrence', async () => {
    using project = createProject(files);
    const args = ['rehearse', '--days', '2', '--format', 'ics'];
    const { stdout } = await runHere(args, { cwd: project.root, now: () => START });
    expect(stdout.match(/^UID:.*$/gm)).toEqual([
      'UID:sandbox/few/2026-11-30T09:00:00Z@handbill',
      'UID:sandbox/hello/2026-11-30T09:00:00Z@handbill',
      'UID:sandbox/few/2026-12-01T09:00:00Z@handbill',
      'UID:sandbox/hello/2026-12-01T09:00:00Z@handbill',
    ]);
    expect(stdout).toContain('DTSTAMP:20261130T000200Z\r\nDTSTART:20261130T090000Z\r\nSUMMARY:hello: 12 messages\r\n');
  });

  it('is a calendar whose events stay the same when a campaign gets another name', async () => {
    const identities = async (name: string, settings: string) => {
      using project = createProject(campaign(name, settings));
      return rehearsalCalendar(await play(project)).match(/^UID:.*$/gm);
    };
    const before = await identities('hello', DAILY);
    expect(before).toHaveLength(3);
    expect(await identities('greeting', `id: hello\n${DAILY}`)).toEqual(before);
  });

  it('is a calendar whose lines are short, and whose texts are escaped', async () => {
    using project = createProject(campaign('hello', DAILY));
    const { occurrences, ...found } = await play(project, { days: 1 });
    const message = `Höher, weiter; \\ ${'ü😀'.repeat(40)}\r\nnext\rlast\u0000`;
    const halted = occurrences.map((one) => ({ ...one, halt: { rule: 'doubt' as const, message, next: '' } }));
    const calendar = rehearsalCalendar({ ...found, occurrences: halted });
    const lines = calendar.split('\r\n');
    expect(lines.at(-1)).toBe('');
    expect(lines.filter((line) => line.startsWith(' ')).length).toBeGreaterThan(3);
    expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThanOrEqual(75);
    const escaped = `Höher\\, weiter\\; \\\\ ${'ü😀'.repeat(40)}\\nnext\\nlast`;
    expect(calendar.replaceAll('\r\n ', '')).toContain(`DESCRIPTION:halts: ${escaped}\r\n`);
  });

  it('is a calendar with a component where nothing is due in these days', async () => {
    using project = createProject(campaign('later', 'schedule: { at: "2027-01-30T09:00", timeZone: UTC }'));
    const found = await play(project);
    expect(found.occurrences).toEqual([]);
    const parts = rehearsalCalendar(found).match(/^BEGIN:.*$/gm);
    expect(parts).toEqual(['BEGIN:VCALENDAR', 'BEGIN:VTIMEZONE', 'BEGIN:STANDARD']);
  });
});

describe('faults', () => {
  const run = (project: TestProject, ...args: string[]) =>
    runHere(['rehearse', ...args], { cwd: project.root, now: () => START });

  it('are printed with file and line, and once for each campaign', async () => {
    using project = createProject({
      ...campaign('few', `${DAILY}\nlimits: { minRecipients: 50 }`),
      'campaigns/broken/campaign.yaml': 'name: broken\nschedule: { cron: never }\n',
    });
    const { stdout, stderr, status } = await run(project, '--days', '2');
    expect(stdout).toContain('1 file with a schedule cannot be used. 2 occurrences cannot begin.');
    expect(stdout.match(/cannot begin \(list-too-short\)/g)).toHaveLength(2);
    expect(stderr.match(/error\[list-too-short\]/g)).toHaveLength(1);
    expect(stderr).toContain('campaigns/broken/campaign.yaml:');
    expect(status).toBe(2);
    const page = await run(project, '--days', '2', '--format', 'html');
    expect(page.stdout).toMatch(/What is wrong[\s\S]*campaigns\/broken\/campaign.yaml:2/);
  });

  it('a canary that halts has its reason, and the exit status is 2', async () => {
    using project = createProject(
      campaign('gated', `${DAILY}\nsend: { canary: { steps: [5], gate: { delivered: 90%, wait: 30m } } }`),
    );
    const { stdout, status } = await run(project, '--days', '1');
    expect(stdout).toMatch(/1 occurrence would halt\.[\s\S]*halts: The gate of the canary/);
    expect(status).toBe(2);
  });

  it('a run that has halted before stays halted, with its reason', async () => {
    await using api = createServer((_, response) => response.writeHead(401).end('{"message":"no such key"}'));
    await once(api.listen(0, '127.0.0.1'), 'listening');
    const { port } = api.address() as AddressInfo;
    using project = createProject({
      'handbill.yaml': `environments:\n  test: { baseUrl: "http://127.0.0.1:${port}", apiKey: { env: KEY } }\n`,
      ...campaign('hello', DAILY),
    });
    const nine = START + 9 * 3_600_000;
    const here = { cwd: project.root, env: { KEY: 'key-for-tests-only' } };
    const { items } = await due([], { ...here, environment: 'test', confirm: true, now: () => nine });
    expect(items).toMatchObject([{ action: 'send', exit: 5 }]);
    const args = ['rehearse', '--env', 'test', '--days', '1'];
    const { stdout } = await runHere(args, { ...here, now: () => nine + 3_600_000 });
    expect(stdout).toMatch(/1 occurrence would stay halted\.[\s\S]*is halted: .*key/);
  });

  it.each([
    [['--every', '10s'], 'Write a time from 1m to 24h, such as 5m or 1h.'],
    [['--from', '2026-11-29T23:59:59Z'], 'Write an instant to come, such as 2026-12-01T00:02:00.000Z.'],
    [['--days', '0'], 'Give a whole number from 1 to 92.'],
    [['--env', 'nowhere'], 'nowhere'],
  ])('%s is refused', async (args, said) => {
    using project = createProject(campaign('hello', DAILY));
    const { status, stderr } = await run(project, ...args);
    expect([status, stderr]).toEqual([2, expect.stringContaining(said)]);
  });

  it.each(['+0d', '2026-11-30T00:00:00Z'])('--from %s, a moment of today, is now', async (from) => {
    using project = createProject(campaign('hello', DAILY));
    let ms = START;
    // Some time goes by between the reading of the option and its use.
    const now = () => (ms += 1);
    const { stdout, status } = await runHere(['rehearse', '--from', from, '--days', '1'], { cwd: project.root, now });
    expect([status, stdout]).toEqual([0, expect.stringContaining('from Mon 30 Nov 00:02 to')]);
  });

  it('says which campaign has less time for a row than there is between calls', async () => {
    const visits = (before: string, more = '') => ({
      'campaigns/visits/campaign.yaml': `name: visits\nchannel: sms\nfrom: Riverside\ntemplate: { text: "See you" }\nrecipients: people.csv\n${DAILY}\nsend: { each: { column: visit, before: ${before} } }\n${more}`,
      'campaigns/visits/people.csv': 'msisdn,visit\n+447700901000,2026-11-30T12:03Z\n',
    });
    using short = createProject(visits('3m'));
    expect(brief(await play(short, { days: 1 }))[0]).toBe('visits finished 30T12:00 30T12:00 1');
    const rare = await play(short, { days: 1, everyMs: 5 * 60_000 });
    expect(rare.assumed).toContain('That is too rare for visits: it has 3m for each row.');
    using valid = createProject(visits('2h', 'validity: 3m\n'));
    expect((await play(valid, { days: 1 })).everyMs).toBe(60_000);
    using long = createProject(visits('5m'));
    const usual = await play(long, { days: 1 });
    expect([usual.everyMs, usual.assumed.join(' ')]).toEqual([300_000, expect.not.stringContaining('too rare')]);
  });

  it('the error of a clock behind the ledger names the ledger, not the copy', async () => {
    using project = createProject(campaign('hello', DAILY));
    await due([], { cwd: project.root, env: {}, confirm: true, now: () => START + 9 * 3_600_000 });
    const { stderr } = await run(project);
    expect(stderr).toMatch(/error\[clock\][\s\S]*\.handbill\/ledger\.db/);
    expect(stderr).not.toContain('handbill-rehearse-');
  });

  it('a follow-up alone says that its campaign is not sent', async () => {
    using project = createProject({
      ...campaign('hello', DAILY),
      ...campaign('nudge', 'after: { campaign: hello, wait: 1d }'),
    });
    const { stdout } = await run(project, 'nudge');
    expect(stdout).toContain('hello is not sent in these days, because it has no schedule or was not named:');
  });
});

describe('a rate', () => {
  const drawn = (seed: number) => {
    let state = seed;
    return (below: number) => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
  };

  it.each([1, 2, 3, 4, 5, 6].slice(0, examples(6)))(
    'each occurrence begins when it is due and ends by its rate: projects of seed %i',
    async (seed) => {
      const draw = drawn(seed * 7919);
      const rates = Array.from({ length: 3 }, () => 1 + draw(20));
      const minutes = rates.map(() => 5 * draw(12));
      using project = createProject(
        Object.assign(
          {},
          ...rates.map((rate, i) =>
            campaign(
              `c${i}`,
              `schedule: { cron: "${minutes[i]} 8-10 * * *", timeZone: UTC }\nsend: { rate: ${rate}/min }`,
            ),
          ),
        ),
      );
      const { occurrences } = await play(project, { days: 1 });
      expect(occurrences).toHaveLength(9);
      for (const { campaign: name, occurrence, begins, ends } of occurrences) {
        const rate = rates[Number(name.slice(1))] ?? 1;
        // Campaigns that are due at once are sent one after the other, until the next call sends them too.
        const lateMs = Date.parse(begins ?? '') - Date.parse(occurrence);
        expect([name, lateMs >= 0 && lateMs <= 5 * 60_000]).toEqual([name, true]);
        const lastMs = Date.parse(begins ?? '') + (11 * 60_000) / rate;
        expect(Math.abs(Date.parse(ends ?? '') - lastMs)).toBeLessThanOrEqual(2000);
      }
    },
  );
});

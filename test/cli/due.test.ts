import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it, test } from 'vitest';
import { type DueOptions, type DueResult, due } from '../../src/operations/due.ts';
import { previewRows } from '../../src/operations/preview.ts';
import { purge } from '../../src/operations/purge.ts';
import { send } from '../../src/operations/send.ts';
import { startCli, until } from '../helpers/cli.ts';
import { runHere } from '../helpers/here.ts';
import { createProject, type ProjectFiles, type TestProject } from '../helpers/project.ts';
import { readReceipts } from '../oracle/receipts.ts';
import { type Api, startApi } from '../processes/api.ts';
import { handbillHere } from './in-process.ts';

const KEY = { HANDBILL_TEST_KEY: 'key-for-tests-only' };
const MINUTE = 60_000;

interface Written {
  readonly cron: string;
  readonly more?: string;
  readonly timeZone?: string;
  readonly people?: number;
}

/** A project whose campaigns go to the API; each has its own numbers, so that receipts say whose they are. */
function projectOf(api: Pick<Api, 'url'>, campaigns: Readonly<Record<string, Written>>, files: ProjectFiles = {}) {
  const written = Object.entries(campaigns).map(
    ([name, { cron, more = '', timeZone = 'UTC', people = 1 }], campaign) => {
      const rows = Array.from(
        { length: people },
        (_, i) => `{ msisdn: "+4477009${campaign}${String(i).padStart(4, '0')}" }`,
      );
      const text = `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hello }\nrecipients: [${rows.join(', ')}]
send: { concurrency: 1 }\nschedule: { cron: "${cron}", timeZone: ${timeZone}${more === '' ? ', missed: catch-up' : more} }\n`;
      return [`campaigns/${name}/campaign.yaml`, text] as const;
    },
  );
  return createProject({
    'handbill.yaml': `environments:\n  test: { baseUrl: "${api.url}", apiKey: { env: HANDBILL_TEST_KEY } }\n`,
    ...Object.fromEntries(written),
    ...files,
  });
}

function dueAt(project: TestProject, at: string | number, more: Partial<DueOptions> = {}): Promise<DueResult> {
  const ms = typeof at === 'number' ? at : Date.parse(at);
  return due([], {
    cwd: project.root,
    env: KEY,
    now: () => ms,
    environment: 'test',
    confirm: async () => true,
    ...more,
  });
}

function brief({ items }: DueResult): string[] {
  return items.map(({ campaign, file, occurrence, action, why, exit }) =>
    [campaign ?? file, action, why, occurrence?.slice(5, 16) ?? null, exit === 0 ? null : exit]
      .filter((x) => x !== null)
      .join(' '),
  );
}

describe('through a night, looked at every ten minutes', () => {
  it.each<[zone: string, from: string, cron: string, times: string[]]>([
    ['Europe/London', '2026-10-24T23:00Z', '30 1 * * *', ['2026-10-25T00:30:00Z']],
    ['Europe/London', '2026-03-28T23:00Z', '30 1 * * *', ['2026-03-29T01:00:00Z']],
    ['America/New_York', '2026-11-01T04:00Z', '*/30 1 * * *', ['2026-11-01T05:00:00Z', '2026-11-01T05:30:00Z']],
    ['America/New_York', '2026-03-08T05:00Z', '30 2 * * *', ['2026-03-08T07:00:00Z']],
    ['Australia/Lord_Howe', '2026-04-04T13:00Z', '45 1 * * *', ['2026-04-04T14:45:00Z']],
    ['Australia/Lord_Howe', '2026-10-03T13:00Z', '15 2 * * *', ['2026-10-03T15:30:00Z']],
  ])('%s, %s: %s is sent once', async (timeZone, from, cron, times) => {
    await using api = await startApi();
    using project = projectOf(api, { night: { cron, timeZone } });
    const found: string[] = [];
    for (let at = Date.parse(from); at <= Date.parse(from) + 5 * 60 * MINUTE; at += 10 * MINUTE) {
      const { items, exit } = await dueAt(project, at);
      expect(exit).toBe(0);
      for (const { action, occurrence } of items) if (action === 'send') found.push(occurrence ?? '');
    }
    expect(found).toEqual(times);
    expect(api.numbers()).toEqual(times.map(() => '+447700900000'));
  });
});

test('a campaign with one time goes out once, and not again where it was sent by hand before', async () => {
  await using api = await startApi();
  using project = projectOf(api, { first: { cron: '0 9 * * *' }, second: { cron: '0 9 * * *' } });
  for (const name of ['first', 'second']) {
    const file = `campaigns/${name}/campaign.yaml`;
    const text = readFileSync(project.path(file), 'utf8');
    project.write(file, text.replace(/schedule: .*/, 'schedule: { at: "2026-12-24T10:00", timeZone: Europe/Berlin }'));
  }
  const at = Date.parse('2026-12-24T09:00:00Z');
  expect(brief(await dueAt(project, at - MINUTE))).toEqual(['first none', 'second none']);
  const args = ['send', 'second', '--env', 'test', '--yes', '--quiet'];
  expect(await handbillHere(project.root, args, { env: KEY, now: () => at - MINUTE })).toMatchObject({ status: 0 });
  expect(brief(await dueAt(project, at + 1000))).toEqual(['first send 12-24T09:00', 'second none']);
  for (const days of [1, 400]) {
    expect(brief(await dueAt(project, at + days * 86_400_000))).toEqual(['first none', 'second none']);
  }
  expect(api.received()).toBe(2);
});

test('what preview shows for an instant is what is sent then', async () => {
  await using api = await startApi();
  using project = projectOf(api, { hello: { cron: '0 9 * * *', people: 3 } });
  const at = Date.parse('2026-11-23T09:00:01Z');
  const shown = await previewRows('hello', { cwd: project.root, now: () => 0, at, environment: 'test' });
  const bodies: string[] = [];
  for await (const batch of shown.batches) for (const { request } of batch) bodies.push(request?.body ?? '');
  shown.close();
  expect(shown.plan.occurrence).toBe('2026-11-23T09:00:00Z');
  expect(brief(await dueAt(project, at))).toEqual(['hello send 11-23T09:00']);
  expect(readReceipts(api.receipts).map(({ text }) => text)).toEqual(bodies);
});

test('a process that sends and one that looks for what is due, in one second, send one message each', async () => {
  const gate = Promise.withResolvers<void>();
  await using api = await startApi(() => ({ after: gate.promise }));
  const before = new Date(Date.now() - 5 * MINUTE);
  using project = projectOf(api, {
    hello: { cron: `${before.getUTCMinutes()} ${before.getUTCHours()} * * *`, people: 5 },
  });
  const options = { cwd: project.root, env: KEY };
  const args = ['due', '--env', 'test', '--yes', '--quiet'];
  const both = [startCli(args, options), startCli(args, options)];
  await until('a request', () => api.received() > 0);
  // The one that came second has nothing to do, while the first is still at it.
  const early = await Promise.race(both.map(({ done }) => done));
  gate.resolve();
  const ended = await Promise.all(both.map(({ done }) => done));
  for (const one of [early, ...ended]) expect(one).toMatchObject({ status: 0, stdout: '', stderr: '' });
  expect(api.numbers().toSorted()).toEqual([0, 1, 2, 3, 4].map((i) => `+44770090000${i}`));
  expect(await runHere(['send', 'hello', '--env', 'test', '--yes', '--quiet'], options)).toMatchObject({ status: 0 });
  expect(api.received()).toBe(5);
});

test('what is wrong with one campaign does not keep the others from being sent', async () => {
  await using api = await startApi((number) => ({ status: number === 1 ? 401 : 202 }));
  using project = projectOf(
    api,
    { 'b-refused': { cron: '0 9 * * *' }, 'd-sent': { cron: '0 9 * * *' }, 'e-later': { cron: '0 10 * * *' } },
    {
      'campaigns/a-invalid/campaign.yaml':
        'name: a-invalid\nchannel: sms\ntemplate: { text: Hi }\nschedule: { cron: "0 9 * *" }\n',
      'campaigns/c-gone/campaign.yaml':
        'name: c-gone\nchannel: sms\ntemplate: { text: "Hi {{name}}" }\nrecipients: [{ msisdn: "+447700900009" }]\nschedule: { cron: "0 9 * * *", missed: catch-up }\n',
      'campaigns/f-draft/campaign.yaml': 'name: f-draft\nchannel: nothing\n',
      'campaigns/g-none/campaign.yaml':
        'name: g-none\nchannel: sms\ntemplate: { text: Hi }\nrecipients: [{ msisdn: "+447700900008" }]\n',
    },
  );
  const result = await dueAt(project, '2026-11-23T09:00:01Z');
  expect(brief(result)).toEqual([
    'campaigns/a-invalid/campaign.yaml refuse 2',
    'b-refused send 11-23T09:00 5',
    'c-gone refuse 11-23T09:00 2',
    'd-sent send 11-23T09:00',
    'e-later miss new 11-22T10:00',
  ]);
  expect(result.exit).toBe(2);
  // The person who has to look into the refused key was told: it is not tried again by itself, nor said to be wrong again.
  const again = await dueAt(project, '2026-11-23T09:05:00Z');
  expect(brief(again)).toContain('b-refused leave halted 11-23T09:00');
  expect(api.received()).toBe(2);
});

test('what was interrupted goes on with the next call, and campaigns after it begin then', async () => {
  const gate = Promise.withResolvers<void>();
  await using api = await startApi((number) => (number === 2 ? { after: gate.promise } : {}));
  const before = new Date(Date.now() - 5 * MINUTE);
  const cron = `${before.getUTCMinutes()} ${before.getUTCHours()} * * *`;
  using project = projectOf(api, { first: { cron, people: 4 }, second: { cron, people: 2 } });
  const options = { cwd: project.root, env: KEY };
  const args = ['due', '--env', 'test', '--yes', '--format', 'json'];
  const running = startCli(args, options);
  await until('a request in flight', () => api.received() === 2);
  running.kill('SIGTERM');
  await until('that it has heard', () => running.stderr().includes('Finishing'));
  gate.resolve();
  const { status, stdout, stderr } = await running.done;
  expect(status).toBe(143);
  expect(stderr).toContain('The next call checks the rest');
  expect(JSON.parse(stdout)).toMatchObject({
    stopped: true,
    campaigns: [{ campaign: 'first', report: { state: 'interrupted', totals: { accepted: 2, pending: 2 } } }],
  });
  const next = await runHere(args, options);
  expect(next.status).toBe(0);
  expect(JSON.parse(next.stdout).campaigns).toMatchObject([
    { campaign: 'first', action: 'continue', report: { state: 'finished', totals: { accepted: 4 } } },
    { campaign: 'second', action: 'send', report: { state: 'finished', totals: { accepted: 2 } } },
  ]);
  expect(new Set(api.numbers()).size).toBe(6);
  expect(api.received()).toBe(6);
});

test('a machine that was off sends the latest missed instant, and says which it did not', async () => {
  await using api = await startApi();
  using project = projectOf(api, {
    'catch-up': { cron: '0 */2 * * *' },
    skip: { cron: '0 */2 * * *', more: ', missed: skip' },
  });
  expect((await dueAt(project, '2026-11-23T02:00:00Z')).items.map(({ action }) => action)).toEqual(['send', 'send']);
  const { items } = await dueAt(project, '2026-11-23T09:30:00Z');
  expect(items[0]).toMatchObject({
    action: 'send',
    occurrence: '2026-11-23T08:00:00Z',
    missed: { count: 2, first: '2026-11-23T04:00:00Z', last: '2026-11-23T06:00:00Z' },
  });
  expect(items[1]).toMatchObject({ action: 'miss', why: 'late', occurrence: '2026-11-23T08:00:00Z', result: null });
  expect(api.received()).toBe(3);
});

test('a campaign is not sent for an instant before it was what it is now', async () => {
  await using api = await startApi();
  using project = projectOf(api, { hello: { cron: '0 9 * * *' } });
  await dueAt(project, '2026-11-22T09:00:00Z');
  const file = 'campaigns/hello/campaign.yaml';
  project.write(file, readFileSync(project.path(file), 'utf8').replace('0 9 * * *', '0 12 * * *'));
  expect(brief(await dueAt(project, '2026-11-22T14:00:00Z'))).toEqual(['hello miss new 11-22T12:00']);
  expect(brief(await dueAt(project, '2026-11-23T12:00:01Z'))).toEqual(['hello send 11-23T12:00']);
  expect(api.received()).toBe(2);
});

describe('a schedule that is new', () => {
  const NEW = ', missed: catch-up';
  /** A campaign with a schedule that asks for nothing, as it is written now. */
  function fresh(api: Pick<Api, 'url'>, cron: string): TestProject {
    const project = projectOf(api, { hello: { cron } });
    const file = 'campaigns/hello/campaign.yaml';
    project.write(file, readFileSync(project.path(file), 'utf8').replace(NEW, ''));
    return project;
  }
  const everyMinute = '* * * * *';
  const options = { env: KEY };
  const line = ['due', '--env', 'test', '--yes'];

  it('is not sent for an instant before it was seen, which is said once, with what sends it', async () => {
    await using api = await startApi();
    using project = fresh(api, everyMinute);
    const now = () => Date.now() - (Date.now() % MINUTE) + MINUTE - 1;
    const at = now();
    const call = (...more: string[]) => handbillHere(project.root, [...line, ...more], { ...options, now: () => at });
    const occurrence = `${new Date(at - (at % MINUTE)).toISOString().slice(0, 19)}Z`;
    const dry = await call('--dry-run');
    expect(dry.out).toContain(`hello (${occurrence}): not sent. Its schedule`);
    expect(dry.err).toBe('');
    expect([...project.contents().keys()].some((path) => path.includes('.handbill'))).toBe(false);
    const first = await call('--quiet');
    expect(first).toMatchObject({ status: 0, out: '' });
    expect(first.err).toMatch(/warning\[schedule-new\]: hello is not sent for/);
    const command = `handbill send hello --env test --occurrence ${occurrence}`;
    expect(first.err).toContain(command);
    expect(await call('--quiet')).toMatchObject({ status: 0, out: '', err: '' });
    expect((await call()).out).toContain(command);
    expect(api.received()).toBe(0);
    const send = [...command.split(' ').slice(1), '--yes'];
    expect((await handbillHere(project.root, send, { ...options, now: () => at })).status).toBe(0);
    expect(api.received()).toBe(1);
    // The next minute is one that it was there for.
    const next = await dueAt(project, at + 2);
    expect(next.items).toMatchObject([{ action: 'send', why: null }]);
    expect(api.received()).toBe(2);
  });

  it('is not sent by a later call for an instant that the first call passed over, though its file was there before', async () => {
    await using api = await startApi();
    using project = fresh(api, '0 9 * * *');
    const nine = Math.ceil(Date.now() / 86_400_000) * 86_400_000 + 9 * 3_600_000;
    for (const hours of [3, 4, 20]) {
      const { items } = await dueAt(project, nine + hours * 3_600_000);
      expect(items).toMatchObject([{ action: 'miss', why: 'new' }]);
    }
    expect(api.received()).toBe(0);
    expect((await dueAt(project, nine + 86_400_000)).items).toMatchObject([{ action: 'send', why: null }]);
  });

  it('is sent for an instant before the first call, where its file was there before', async () => {
    await using api = await startApi();
    using project = fresh(api, everyMinute);
    const instant = Date.now() - (Date.now() % MINUTE) + 2 * MINUTE;
    expect((await dueAt(project, instant + 2000)).items).toMatchObject([{ action: 'send', why: null }]);
    expect(api.received()).toBe(1);
  });

  it('was seen in another checkout with the same ledger, and is sent from one that is new', async () => {
    await using api = await startApi();
    using first = fresh(api, '0 9 * * *');
    using second = fresh(api, '0 9 * * *');
    const ledger = first.path('.handbill/ledger.db');
    const at = (project: TestProject, time: string) => dueAt(project, `2026-11-2${time}:00Z`, { ledger });
    expect(brief(await at(first, '2T09:30'))).toEqual(['hello miss new 11-22T09:00']);
    expect(brief(await at(second, '3T14:00'))).toEqual(['hello send 11-23T09:00']);
    expect(api.received()).toBe(1);
  });

  it('is new again when its cron or its zone changes, and not when its text does', async () => {
    await using api = await startApi();
    using project = fresh(api, '0 9 * * *');
    const file = 'campaigns/hello/campaign.yaml';
    const change = (from: string, to: string) =>
      project.write(file, readFileSync(project.path(file), 'utf8').replace(from, to));
    expect(brief(await dueAt(project, '2026-11-20T08:00:00Z'))).toEqual(['hello miss new 11-19T09:00']);
    expect(brief(await dueAt(project, '2026-11-20T09:00:04Z'))).toEqual(['hello send 11-20T09:00']);
    change('0 9 * * *', '0 10 * * *');
    expect(brief(await dueAt(project, '2026-11-20T10:00:04Z'))).toEqual(['hello miss new 11-20T10:00']);
    change('timeZone: UTC', 'timeZone: Europe/Berlin');
    expect(brief(await dueAt(project, '2026-11-21T09:10:00Z'))).toEqual(['hello miss new 11-21T09:00']);
    change('text: Hello', 'text: Goodbye');
    expect(brief(await dueAt(project, '2026-11-22T09:10:00Z'))).toEqual(['hello send 11-22T09:00']);
    expect(api.received()).toBe(2);
  });
});

describe('what is said already is not said at every call', () => {
  it('a canary in its pause is not touched, and recipients that the API refused are reported at once', async () => {
    await using api = await startApi((number) => ({ status: number === 1 ? 400 : 202 }));
    const canary = 'canary: { steps: [20, 21], pause: 30h, gate: { accepted: 90% } }';
    using project = projectOf(api, { slow: { cron: '0 9 20 * *', people: 25 } });
    const file = 'campaigns/slow/campaign.yaml';
    project.write(file, readFileSync(project.path(file), 'utf8').replace('concurrency: 1', canary));
    expect(brief(await dueAt(project, '2026-11-20T09:00:00Z'))).toEqual(['slow send 11-20T09:00 3']);
    expect(api.received()).toBe(20);
    for (const at of ['2026-11-20T09:05:00Z', '2026-11-21T09:05:00Z', '2026-11-21T14:59:00Z']) {
      expect(brief(await dueAt(project, at))).toEqual(['slow leave waiting 11-20T09:00']);
    }
    // What this call did is said, with the report of all of it.
    expect(brief(await dueAt(project, '2026-11-21T15:00:01Z'))).toEqual(['slow continue 11-20T09:00 3']);
    expect(brief(await dueAt(project, '2026-11-21T15:05:00Z'))).toEqual(['slow leave waiting 11-20T09:00']);
    expect(brief(await dueAt(project, '2026-11-22T21:00:02Z'))).toEqual(['slow continue 11-20T09:00 3']);
    expect(brief(await dueAt(project, '2026-11-22T21:05:00Z'))).toEqual(['slow none']);
    expect(new Set(api.numbers()).size).toBe(25);
    expect(api.received()).toBe(25);
  });

  it('a run whose list has changed is halted, and this is reported once', async () => {
    await using api = await startApi();
    using project = projectOf(api, { nightly: { cron: '0 9 * * *', people: 20 } });
    const file = 'campaigns/nightly/campaign.yaml';
    const inline = readFileSync(project.path(file), 'utf8').replace(/recipients: .*/, 'recipients: people.csv');
    project.write(file, inline.replace('concurrency: 1', 'canary: { steps: 5, pause: 1h }'));
    const list = (from: number) => Array.from({ length: 20 }, (_, i) => `+4477009001${from + i}`).join('\n');
    project.write('campaigns/nightly/people.csv', `msisdn\n${list(10)}\n`);
    expect(brief(await dueAt(project, '2026-11-20T09:00:00Z'))).toEqual(['nightly send 11-20T09:00']);
    project.write('campaigns/nightly/people.csv', `msisdn\n${list(11)}\n`);
    const changed = await dueAt(project, '2026-11-20T10:05:00Z');
    expect(brief(changed)).toEqual(['nightly refuse 11-20T09:00 2']);
    expect(changed.items[0]?.diagnostics).toMatchObject([{ code: 'input-changed' }]);
    expect(brief(await dueAt(project, '2026-11-20T10:10:00Z'))).toEqual(['nightly leave halted 11-20T09:00']);
    // The next instant is sent to the new list.
    expect(brief(await dueAt(project, '2026-11-21T09:00:00Z'))).toEqual([
      'nightly leave halted 11-20T09:00',
      'nightly send 11-21T09:00',
    ]);
    expect(api.received()).toBe(10);
    // The person who looked into it says what is meant; one of the first five is in the new list no more.
    const options = {
      cwd: project.root,
      env: KEY,
      environment: 'test',
      confirm: async () => true,
      allow: ['input-changed'],
    } as const;
    const occurrence = '2026-11-20T09:00:00Z';
    const amended = await send('nightly', { ...options, occurrence, now: () => Date.parse('2026-11-21T09:01:00Z') });
    expect(amended.report).toMatchObject({ state: 'finished', totals: { accepted: 21 } });
  });

  it('a run that was purged before it was finished is not asked for again', async () => {
    await using api = await startApi();
    using project = projectOf(api, { slow: { cron: '0 9 * * *', people: 5 } });
    const file = 'campaigns/slow/campaign.yaml';
    const canary = 'canary: { steps: 2, pause: 20h }';
    project.write(file, readFileSync(project.path(file), 'utf8').replace('concurrency: 1', canary));
    expect(brief(await dueAt(project, '2026-11-20T09:00:00Z'))).toEqual(['slow send 11-20T09:00']);
    const now = () => Date.parse('2026-11-21T06:00:00Z');
    const purging = { cwd: project.root, env: KEY, now, olderThanMs: 60 * MINUTE, withOpen: true };
    expect((await purge({ ...purging, confirm: async () => true })).purged).toHaveLength(1);
    expect(brief(await dueAt(project, now()))).toEqual(['slow none']);
  });

  it('except recipients without a known time zone, who would never be reported', async () => {
    await using api = await startApi();
    using project = projectOf(api, { calls: { cron: '0 9 * * *', people: 2 } });
    const file = 'campaigns/calls/campaign.yaml';
    const written = readFileSync(project.path(file), 'utf8');
    const window = 'window: { from: "08:00", to: "20:00" }, concurrency: 1';
    // The first is at home in London; a toll-free number has no known place.
    const [first, second] = ['+442079460001', '+18005550199'];
    const text = written.replace('+447700900000', first).replace('+447700900001', second);
    project.write(file, text.replace('concurrency: 1', window));
    const told = {
      code: 'zone-unknown',
      severity: 'warning',
      message: '1 recipient is not sent to: the time zone is not known.',
      hint: expect.stringMatching(/recipients\.timeZone.*send\.window\.unknown.*handbill report calls/),
    };
    const sent = await dueAt(project, '2026-11-20T09:00:00Z');
    expect(brief(sent)).toEqual(['calls send 11-20T09:00']);
    expect(sent.items[0]?.diagnostics).toMatchObject([told]);
    for (const more of [{ dryRun: true }, {}]) {
      const later = await dueAt(project, '2026-11-20T09:05:00Z', more);
      expect(brief(later)).toEqual(['calls leave waiting 11-20T09:00']);
      expect(later.items[0]?.diagnostics).toMatchObject([told]);
    }
    expect(api.numbers()).toEqual(['+442079460001']);
    const line = ['due', '--dry-run', '--at', '2026-11-20T09:05:00Z', '--env', 'test'];
    const shown = await runHere(line, { cwd: project.root, env: KEY });
    expect(shown.status).toBe(0);
    expect(shown.stderr).toMatch(/warning\[zone-unknown\]: 1 recipient is not sent to/);
    // CONTRACT section 4: quiet prints nothing where the exit status is 0.
    expect(await runHere([...line, '--quiet'], { cwd: project.root, env: KEY })).toMatchObject({
      stdout: '',
      stderr: '',
    });
    const now = () => Date.parse('2026-11-20T09:10:00Z');
    const sending = ['send', 'calls', '--env', 'test', '--yes', '--format', 'json'];
    const alone = await handbillHere(project.root, sending, { env: KEY, now });
    expect(alone).toMatchObject({
      status: 0,
      err: expect.stringMatching(/warning\[zone-unknown\]: 1 recipient is not/),
    });
    expect(await handbillHere(project.root, [...sending, '--quiet'], { env: KEY, now })).toMatchObject({
      out: '',
      err: '',
    });
    const again = await runHere(['report', 'calls'], { cwd: project.root });
    expect(again.stdout).toMatch(/1 recipient waits: the time zone is not known/);
  });

  it('a run that waits for the winner of its test goes on without a word', async () => {
    await using api = await startApi((number) => ({ status: number === 1 ? 400 : 202 }));
    using project = projectOf(api, { tested: { cron: '0 9 * * *', people: 20 } });
    const file = 'campaigns/tested/campaign.yaml';
    const variants = 'variants: [{ name: a, template: { text: A } }, { name: b, template: { text: B } }]\ntest: 50%\n';
    project.write(file, readFileSync(project.path(file), 'utf8').replace('template: { text: Hello }\n', variants));
    expect(brief(await dueAt(project, '2026-11-20T09:00:00Z'))).toEqual(['tested send 11-20T09:00 3']);
    const sent = api.received();
    expect(brief(await dueAt(project, '2026-11-20T09:05:00Z'))).toEqual(['tested continue 11-20T09:00']);
    expect(api.received()).toBe(sent);
  });
});

describe('send without --occurrence', () => {
  it('sends the instant that is due, which is then not due again', async () => {
    await using api = await startApi();
    using project = projectOf(api, { hello: { cron: '0 9 * * *' } });
    const now = () => Date.parse('2026-11-23T09:30:00Z');
    const options = { cwd: project.root, env: KEY, now, environment: 'test', confirm: async () => true };
    expect((await send('hello', options)).report.occurrence).toBe('2026-11-23T09:00:00Z');
    const spelt = await send('hello', { ...options, occurrence: '2026-11-23T10:00:00+01:00' });
    expect(spelt.started).toBe(false);
    expect(brief(await dueAt(project, now()))).toEqual(['hello none']);
    expect(api.received()).toBe(1);
  });

  it('refuses an instant of long ago, unless it is told to', async () => {
    await using api = await startApi();
    using project = projectOf(api, { monthly: { cron: '0 9 1 * *' } });
    const now = () => Date.parse('2026-11-23T09:30:00Z');
    const options = { cwd: project.root, env: KEY, now, environment: 'test', confirm: async () => true };
    await expect(send('monthly', options)).rejects.toMatchObject({ code: 'too-late', exit: 2 });
    expect(api.received()).toBe(0);
    expect((await send('monthly', { ...options, allow: ['too-late'] })).report.occurrence).toBe('2026-11-01T09:00:00Z');
    expect((await send('monthly', options)).started).toBe(false);
  });
});

describe('the command', () => {
  const schema: object = JSON.parse(readFileSync(join(import.meta.dirname, '../../schemas/due.schema.json'), 'utf8'));
  const check = new Ajv({ strict: true, strictTypes: false, allowUnionTypes: true }).compile(schema);
  const nowhere = { url: 'http://127.0.0.1:9' };

  it('does not say that a run was sent that no recipient got', async () => {
    using project = projectOf(nowhere, { hello: { cron: '* * * * *' } });
    const { status, stdout } = await runHere(['due', '--env', 'test', '--yes'], {
      cwd: project.root,
      env: { ...process.env, ...KEY },
    });
    expect(stdout).toMatch(/^hello \(\S+\): begun in test, not finished\.\n/);
    expect(status).not.toBe(0);
  });

  it('does not say that a run was sent whose recipients were all skipped, and says why they were', async () => {
    await using api = await startApi();
    using project = projectOf(
      api,
      { hello: { cron: '* * * * *', people: 2, more: ', missed: catch-up }\nsuppressions: [stop.csv]\n#' } },
      { 'campaigns/hello/stop.csv': 'msisdn\n+447700900000\n+447700900001\n' },
    );
    const { out } = await handbillHere(project.root, ['due', '--env', 'test', '--yes'], { env: KEY });
    expect(out).toMatch(/^hello \(\S+\): nothing was sent to test: 2 recipients skipped \(2 suppressed\)\.\n/);
    expect(readReceipts(api.receipts)).toEqual([]);
  });

  it('says what would be done, and does nothing', async () => {
    using project = projectOf(nowhere, { hello: { cron: '0 9 * * 1-5', timeZone: 'Europe/London' } });
    const dryRun = (at: string, ...more: string[]) =>
      runHere(['due', '--dry-run', '--env', 'test', '--at', at, ...more], { cwd: project.root });
    const at = '2026-07-06T08:00:00Z';
    expect(await dryRun(at)).toMatchObject({
      status: 0,
      stdout: 'hello (2026-07-06T08:00:00Z): would be sent to test.\n',
      stderr: '',
    });
    expect(await dryRun('2026-07-04T12:00:00Z')).toMatchObject({
      status: 0,
      stdout: '',
      stderr: 'Nothing is due. hello: weekdays 09:00 (Europe/London), next 2026-07-06 09:00.\n',
    });
    expect(await dryRun('2026-07-04T12:00:00Z', '--quiet')).toMatchObject({ status: 0, stdout: '', stderr: '' });
    const json = JSON.parse((await dryRun(at, '--format', 'json')).stdout);
    expect(check(json), JSON.stringify(check.errors)).toBe(true);
    expect(json).toMatchObject({ dryRun: true, at: '2026-07-06T08:00:00.000Z', campaigns: [{ action: 'send' }] });
    expect([...project.contents().keys()].some((path) => path.includes('.handbill'))).toBe(false);
  });

  it.each<[label: string, args: string[], status: number, said: RegExp]>([
    ['--at without --dry-run', ['--at', '2026-07-06T08:00:00Z'], 2, /--at is only for --dry-run/],
    ['an instant that is none', ['--dry-run', '--at', 'tomorrow'], 2, /Write an instant/],
    ['a campaign that is not there', ['nobody'], 2, /no campaign "nobody"/],
    [
      'an environment that is not there',
      ['--dry-run', '--at', '2026-07-06T08:00:00Z', '--env', 'prod'],
      2,
      /no environment "prod"/,
    ],
    ['not confirmed', ['--env', 'test'], 2, /not confirmed/],
  ])('%s is refused', async (_label, args, status, said) => {
    const now = new Date();
    using project = projectOf(nowhere, { hello: { cron: `${now.getUTCMinutes()} * * * *` } });
    const ended = await runHere(['due', ...args], { cwd: project.root, env: KEY });
    expect(ended.stderr).toMatch(said);
    expect(ended.status).toBe(status);
  });

  it('describes what it did, whatever that was', async () => {
    await using api = await startApi((number) => ({ status: number === 2 ? 400 : 202 }));
    const before = new Date(Date.now() - 5 * MINUTE);
    const cron = `${before.getUTCMinutes()} ${before.getUTCHours()} * * *`;
    using project = projectOf(
      api,
      { good: { cron }, mixed: { cron, people: 3 } },
      { 'campaigns/bad/campaign.yaml': 'name: bad\nchannel: sms\ntemplate: { text: Hi }\nschedule: { cron: never }\n' },
    );
    const ended = await runHere(['due', '--env', 'test', '--yes', '--format', 'json'], { cwd: project.root, env: KEY });
    expect(ended.status).toBe(2);
    const json = JSON.parse(ended.stdout);
    expect(check(json), JSON.stringify(check.errors)).toBe(true);
    expect(json.campaigns.map(({ action, exit }: { action: string; exit: number }) => `${action} ${exit}`)).toEqual([
      'refuse 2',
      'send 0',
      'send 3',
    ]);
  });
});

test('a list that is not there is said at every time, due or not', async () => {
  using project = createProject({
    'campaigns/gone/campaign.yaml':
      'name: gone\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hello }\nrecipients: gone.csv\nschedule: { cron: "0 9 * * *" }\n',
  });
  for (const at of ['2026-11-23T08:00:00Z', '2026-11-23T09:00:00Z']) {
    const result = await dueAt(project, at, { environment: 'sandbox' });
    expect(brief(result)).toEqual(['campaigns/gone/campaign.yaml refuse 2']);
    expect(result.items[0]?.diagnostics.map(({ code }) => code)).toEqual(['file-not-found']);
  }
});

import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import type { DeliveryReport, Reply } from '../../src/model.ts';
import { type DueResult, due } from '../../src/operations/due.ts';
import { plan } from '../../src/operations/plan.ts';
import { preview } from '../../src/operations/preview.ts';
import { send } from '../../src/operations/send.ts';
import { sendTest } from '../../src/operations/send-test.ts';
import { validate } from '../../src/operations/validate.ts';
import { createReference } from '../../src/plan/expand.ts';
import { joinReplies } from '../../src/send/deliveries.ts';
import type { OnEvent } from '../../src/send/event.ts';
import { startCli, until } from '../helpers/cli.ts';
import { deliveryOf, receive, replyOf } from '../helpers/events.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { examples } from '../helpers/quick.ts';
import { readReceipts } from '../oracle/receipts.ts';
import { type Answer, type Api, createGate, startApi } from '../processes/api.ts';

const KEY = { HANDBILL_TEST_KEY: 'key-for-tests-only' };
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOON = Date.parse('2026-11-24T12:00:00Z');
const ADA = '+447400123456';
const RAVI = '+447400123457';
const ZOE = '+447400123458';
const EVERYBODY = [ADA, RAVI, ZOE];

interface Chain {
  readonly people?: readonly string[];
  readonly wait?: string;
  readonly unless?: string;
  readonly more?: string;
  readonly length?: number;
}

/** Campaigns `one`, `two` and `three`, each after the one before. */
function project(api: Pick<Api, 'url'>, chain: Chain = {}): TestProject {
  const {
    people = EVERYBODY,
    wait = '3d',
    unless = '[replied, opted-out, delivered-not]',
    more = '',
    length = 3,
  } = chain;
  const names = ['one', 'two', 'three'].slice(0, length);
  const files = names.map((name, i) => {
    const after = i === 0 ? '' : `after: { campaign: ${names[i - 1]}, wait: ${wait}, unless: ${unless} }\n${more}`;
    const list = people.map((msisdn) => `{ msisdn: "${msisdn}" }`).join(', ');
    const text = `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: { text: "This is ${name}." }\nrecipients: [${list}]
send: { concurrency: 1 }\n${after}`;
    return [`campaigns/${name}/campaign.yaml`, text] as const;
  });
  return createProject({
    'handbill.yaml': `environments:\n  test: { baseUrl: "${api.url}", apiKey: { env: HANDBILL_TEST_KEY } }\n`,
    ...Object.fromEntries(files),
  });
}

const textOf = (here: TestProject, file: string): string => readFileSync(here.path(file), 'utf8');

const at = (here: TestProject, nowMs: number) => ({
  cwd: here.root,
  env: KEY,
  now: () => nowMs,
  environment: 'test',
  random: () => 0,
  confirm: async () => true,
});

const sendAt = (here: TestProject, name: string, nowMs: number, more: object = {}) =>
  send(name, { ...at(here, nowMs), ...more });

async function dueAt(here: TestProject, nowMs: number): Promise<readonly string[]> {
  return brief(await due([], at(here, nowMs)));
}

function brief({ items }: DueResult): readonly string[] {
  return items.flatMap(({ campaign, action, why, occurrence }) =>
    action === 'none' ? [] : [[campaign, action, why, occurrence].filter((part) => part !== null).join(' ')],
  );
}

/** `two +447400123456`, in the order in which they arrived. */
function arrived(api: Api): readonly string[] {
  return readReceipts(api.receipts).map(({ text }) => {
    const [, name = '?'] = /This is (\w+)\./.exec(text) ?? [];
    const [, number = '?'] = /"msisdn":"([^"]+)"/.exec(text) ?? [];
    return `${name} ${number}`;
  });
}

const record = (here: TestProject, events: readonly (Reply | DeliveryReport)[], nowMs: number): void =>
  receive(here.path('.handbill/ledger.db'), events, { nowMs, environment: 'test' });

const reply = (from: string, atMs: number, meaning: Reply['meaning'] = 'answer'): Reply =>
  replyOf({ from, text: `Hi ${from} ${atMs}`, meaning, atMs });

function failed(campaign: string, key: string, atMs: number): DeliveryReport {
  const reference = createReference({ environment: 'test', campaign, occurrence: 'once' }, 'sms')(key);
  return deliveryOf({ reference, state: 'undeliverable', atMs });
}

/** A project that `due` has seen, whose first campaign was sent at noon. */
async function begun(here: TestProject): Promise<void> {
  await dueAt(here, NOON - HOUR);
  await sendAt(here, 'one', NOON);
}

describe('a chain of three', () => {
  it('goes out step by step, each recipient some time after the message before', async () => {
    await using api = await startApi();
    using here = project(api);
    await begun(here);
    expect(await dueAt(here, NOON + 3 * DAY - 1)).toEqual([]);
    expect(await dueAt(here, NOON + 3 * DAY)).toEqual(['two send once']);
    expect(await dueAt(here, NOON + 6 * DAY - 1)).toEqual([]);
    expect(await dueAt(here, NOON + 6 * DAY + HOUR)).toEqual(['three send once']);
    expect(await dueAt(here, NOON + 6 * DAY + 2 * HOUR)).toEqual([]);
    expect(arrived(api)).toEqual(['one', 'two', 'three'].flatMap((name) => EVERYBODY.map((who) => `${name} ${who}`)));
  });

  it('after an outage sends one step, and waits again before the next', async () => {
    await using api = await startApi();
    using here = project(api, { wait: '6h' });
    await begun(here);
    const late = NOON + 25 * HOUR;
    expect(await dueAt(here, late)).toEqual(['two send once']);
    expect(await dueAt(here, late + 1)).toEqual([]);
    expect(await dueAt(here, late + 6 * HOUR)).toEqual(['three send once']);
  });

  it('is not begun more than a day late, which is said', async () => {
    await using api = await startApi();
    using here = project(api, { wait: '6h' });
    await begun(here);
    expect(await dueAt(here, NOON + 31 * HOUR)).toEqual(['two miss late once']);
    expect(await dueAt(here, NOON + 90 * HOUR)).toEqual([]);
    expect(arrived(api).length).toBe(3);
  });

  it('does not follow runs from before it was first seen', async () => {
    await using api = await startApi();
    using here = project(api, { length: 1 });
    await sendAt(here, 'one', NOON);
    using later = project(api);
    here.write('campaigns/two/campaign.yaml', textOf(later, 'campaigns/two/campaign.yaml'));
    await dueAt(here, NOON + HOUR);
    expect(await dueAt(here, NOON + 3 * DAY + HOUR)).toEqual([]);
    await sendAt(here, 'one', NOON + 4 * DAY, { occurrence: 'second' });
    expect(await dueAt(here, NOON + 7 * DAY)).toEqual(['two send second']);
  });

  it('follows a run that went out before the first call of due, which is made from any folder', async () => {
    await using api = await startApi();
    using here = project(api);
    // Its files are older than that.
    const noon = Date.parse('2099-11-24T12:00:00Z');
    await sendAt(here, 'one', noon);
    const dueIn = async (folder: string, nowMs: number) =>
      brief(await due([here.path('campaigns/two')], { ...at(here, nowMs), cwd: here.path(folder) }));
    expect(await dueIn('campaigns', noon + HOUR)).toEqual([]);
    expect(await dueIn('campaigns/two', noon + 3 * DAY)).toEqual(['two send once']);
  });
});

describe('who gets no follow-up', () => {
  it('those who replied, opted out, or were not reached', async () => {
    await using api = await startApi();
    using here = project(api, { people: [...EVERYBODY, '+447400123459'] });
    await begun(here);
    const events = [reply(ADA, NOON + HOUR), reply(RAVI, NOON + HOUR, 'opt-out'), failed('one', ZOE, NOON + HOUR)];
    record(here, events, NOON + HOUR);
    const shown = preview('two', { ...at(here, NOON + 3 * DAY), at: NOON + 3 * DAY });
    const said: string[] = [];
    for await (const one of shown.decisions) said.push('detail' in one ? `${one.reason}: ${one.detail}` : one.decision);
    expect(said).toEqual([
      'no-follow-up: replied to one@once',
      expect.stringMatching(/^suppressed|^no-follow-up: opted out after one@once/),
      'no-follow-up: not reached by one@once',
      'send',
    ]);
    await dueAt(here, NOON + 3 * DAY);
    expect(arrived(api).slice(4)).toEqual(['two +447400123459']);
  });

  it('without `unless`, a reply does not matter', async () => {
    await using api = await startApi();
    using here = project(api, { unless: '[]', length: 2 });
    await begun(here);
    record(here, [reply(ADA, NOON + HOUR), failed('one', ZOE, NOON + HOUR)], NOON + HOUR);
    await dueAt(here, NOON + 3 * DAY);
    expect(arrived(api).slice(3)).toEqual(EVERYBODY.map((who) => `two ${who}`));
  });

  it('those who were refused in the run before, or are not in it', async () => {
    await using api = await startApi((number) => (number === 1 ? { status: 400 } : {}));
    using here = project(api, { length: 2 });
    const file = 'campaigns/two/campaign.yaml';
    const text = textOf(here, file);
    here.write(file, text.replace(`{ msisdn: "${ZOE}" }`, '{ msisdn: "+447400123459" }'));
    await begun(here);
    const planned = await plan('two', at(here, NOON + 3 * DAY));
    expect(planned.estimate).toMatchObject({ send: 1, skipped: { 'no-follow-up': 2 } });
    const warned: string[] = [];
    const onEvent: OnEvent = (event) => {
      if (event.kind === 'warnings') warned.push(...event.warnings.map(({ message }) => message));
    };
    const sent = await sendAt(here, 'two', NOON + 3 * DAY, { onEvent });
    expect(sent.report.totals).toMatchObject({ accepted: 1, skipped: 2 });
    expect(warned.filter((message) => message.includes('recipients of'))).toEqual([]);
    expect(arrived(api).slice(3)).toEqual([`two ${RAVI}`]);
  });

  it('all who are not in the list of the run before, and a warning says that most are not', async () => {
    await using api = await startApi();
    using here = project(api, { length: 2 });
    const file = 'campaigns/two/campaign.yaml';
    here.write(file, textOf(here, file).replaceAll('+4474001234', '+4474001299'));
    await sendAt(here, 'one', NOON);
    const expected = 'Of 3 recipients of one@once, 0 are in the list of two.';
    const shown = await preview('two', at(here, NOON + 3 * DAY)).result();
    expect(shown.warnings.map(({ message }) => message)).toContain(expected);
    const warned: string[] = [];
    const onEvent: OnEvent = (event) => {
      if (event.kind === 'warnings') warned.push(...event.warnings.map(({ message }) => message));
    };
    const sent = await sendAt(here, 'two', NOON + 3 * DAY, { onEvent });
    expect(sent.report.totals).toMatchObject({ skipped: 3 });
    expect(warned).toContain(expected);
  });

  it('all who are skipped by another rule first, without a warning that they are not in the list', async () => {
    await using api = await startApi();
    const more = 'suppressions: [stop.csv]\n';
    using here = project(api, { length: 2, more });
    here.write('campaigns/two/stop.csv', `msisdn\n${EVERYBODY.map((one) => `${one}\n`).join('')}`);
    await sendAt(here, 'one', NOON);
    const shown = await preview('two', at(here, NOON + 3 * DAY)).result();
    expect(shown.estimate.skipped).toEqual({ suppressed: 3 });
    expect(shown.warnings.map(({ code }) => code)).not.toContain('follow-up-list');
    const warned: string[] = [];
    const onEvent: OnEvent = (event) => {
      if (event.kind === 'warnings') warned.push(...event.warnings.map(({ code }) => code));
    };
    const sent = await sendAt(here, 'two', NOON + 3 * DAY, { onEvent });
    expect(sent.report.reasons).toEqual({ skipped: { suppressed: 3 } });
    expect(warned).not.toContain('follow-up-list');
  });

  it('one whose redirected message did not arrive, by a report with the other number', async () => {
    await using api = await startApi();
    using here = project(api, { length: 2, unless: 'delivered-not' });
    const settings = textOf(here, 'handbill.yaml').replace(' } }\n', ' }, redirect: ["+447400999999"] }\n');
    here.write('handbill.yaml', settings);
    await begun(here);
    record(here, [{ ...failed('one', ADA, NOON + HOUR), address: '+447400999999' }], NOON + HOUR);
    const sent = await sendAt(here, 'two', NOON + 3 * DAY);
    expect(sent.report.totals).toMatchObject({ accepted: 2, skipped: 1 });
  });

  it('one whose answer comes while the follow-up is going out', async () => {
    const gate = createGate();
    await using api = await startApi((number) => (number === 4 ? { after: gate.opened } : {}));
    using here = project(api, { wait: '1s', length: 2 });
    await sendAt(here, 'one', Date.now());
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const sending = startCli(['send', 'two', '--env', 'test', '--yes', '--quiet'], { cwd: here.root, env: KEY });
    await until('the first request', () => api.received() === 4);
    record(here, [reply(ZOE, Date.now())], Date.now());
    gate.open();
    expect(await sending.done).toMatchObject({ status: 0 });
    expect(arrived(api).slice(3)).not.toContain(`two ${ZOE}`);
  });
});

describe('an answer to the message before', () => {
  const mail = (name: string, after = ''): string =>
    `name: ${name}\nchannel: email\nfrom: a@example.com\ncontent: { subject: Hi }\ntemplate: { text: "This is ${name}." }
recipients: [{ email: "Ada@Example.com" }]\n${after}`;

  it.each([['before it is joined'], ['joined to a later message of another campaign']])(
    'from an email address in other letters, %s',
    async (when) => {
      await using api = await startApi();
      using here = project(api, { length: 1 });
      here.write('campaigns/one/campaign.yaml', mail('one'));
      here.write('campaigns/other/campaign.yaml', mail('other'));
      here.write('campaigns/two/campaign.yaml', mail('two', 'after: { campaign: one, wait: 3d, unless: replied }\n'));
      await begun(here);
      await sendAt(here, 'other', NOON + 1000);
      record(here, [reply('ada@example.com', NOON + HOUR)], NOON + HOUR);
      if (when.startsWith('joined')) {
        const ledger = openLedger(here.path('.handbill/ledger.db'), { mode: 'write', nowMs: NOON + HOUR });
        joinReplies(ledger, { startLifts: false, stopEnds: 'everything', now: () => NOON + HOUR });
        ledger.close();
      }
      expect(await dueAt(here, NOON + 3 * DAY)).toEqual(['two send once']);
      expect(readReceipts(api.receipts).length).toBe(2);
    },
  );

  it('from another number, which names the message', async () => {
    await using api = await startApi();
    using here = project(api, { length: 2 });
    await begun(here);
    const reference = createReference({ environment: 'test', campaign: 'one', occurrence: 'once' }, 'sms')(ADA);
    record(here, [{ ...reply('+447400999999', NOON + HOUR), reference }], NOON + HOUR);
    const shown = await preview('two', { ...at(here, NOON + 3 * DAY), at: NOON + 3 * DAY }).result();
    expect(shown.estimate).toMatchObject({ send: 2, skipped: { 'no-follow-up': 1 } });
    await dueAt(here, NOON + 3 * DAY);
    expect(arrived(api).slice(3)).toEqual([`two ${RAVI}`, `two ${ZOE}`]);
  });
});

it('a message before that goes out again is waited for once more, also at the claim', async () => {
  const gate = createGate();
  await using api = await startApi((number) => (number === 4 ? { after: gate.opened } : {}));
  using here = project(api, { wait: '1h', length: 2 });
  const listed = (name: string, last: string): void => {
    const file = `campaigns/${name}/campaign.yaml`;
    const rows = [ADA, RAVI, last].map((msisdn, i) => `{ id: "${i}", msisdn: "${msisdn}" }`);
    const list = `recipients: { list: [${rows.join(', ')}], key: id }`;
    here.write(file, textOf(here, file).replace(/recipients: .*/, list));
  };
  for (const name of ['one', 'two']) listed(name, ZOE);
  await sendAt(here, 'one', Date.now() - 2 * HOUR);
  const sending = startCli(['send', 'two', '--env', 'test', '--yes', '--quiet'], { cwd: here.root, env: KEY });
  await until('the first request', () => api.received() === 4);
  listed('one', '+447400123459');
  await sendAt(here, 'one', Date.now(), { allow: ['input-changed'], retry: 'corrected' });
  gate.open();
  await sending.done;
  expect(arrived(api)).toContain('one +447400123459');
  expect(arrived(api).filter((one) => one.startsWith('two'))).toEqual([`two ${ADA}`, `two ${RAVI}`]);
  const rest = await sendAt(here, 'two', Date.now() + 2 * HOUR);
  expect(rest.report.totals).toMatchObject({ accepted: 3, deferred: 0 });
});

describe('a follow-up by hand', () => {
  it('is sent to testers whether or not the campaign before was sent', async () => {
    await using api = await startApi();
    using here = project(api, { length: 2 });
    const tested = await sendTest('two', { ...at(here, NOON), testers: [ADA] });
    expect(tested.exit).toBe(0);
    expect(arrived(api)).toEqual([`two ${ADA}`]);
  });

  it('is not continued where the ledger has no run of the campaign before any more', async () => {
    await using api = await startApi();
    using here = project(api, { length: 2 });
    await begun(here);
    await sendAt(here, 'two', NOON + 3 * DAY, { limit: 1 });
    const db = new DatabaseSync(here.path('.handbill/ledger.db'));
    db.exec("UPDATE runs SET campaign = 'gone' WHERE campaign = 'one'");
    db.close();
    await expect(sendAt(here, 'two', NOON + 3 * DAY)).rejects.toThrow(/two follows one, which was not sent/);
    expect(arrived(api).length).toBe(4);
  });

  it('does not come before the message that it follows, with no wait either', async () => {
    await using api = await startApi();
    using here = project(api, { wait: '0m', length: 2 });
    await sendAt(here, 'one', NOON, { limit: 1 });
    const first = await sendAt(here, 'two', NOON);
    expect(first).toMatchObject({ posted: 1, report: { totals: { accepted: 1, deferred: 2 } } });
    await sendAt(here, 'one', NOON + HOUR);
    expect(await sendAt(here, 'two', NOON + HOUR)).toMatchObject({ posted: 2, report: { state: 'finished' } });
  });

  it('waits for those whose message is too young, and for those who have none yet', async () => {
    await using api = await startApi();
    using here = project(api, { length: 2 });
    await sendAt(here, 'one', NOON, { limit: 1 });
    // The claim would hold them back, too: what is shown before it must say so.
    const shown = await preview('two', at(here, NOON + HOUR)).result();
    expect(shown.estimate).toMatchObject({ send: 0, deferred: { 'follow-up-later': 3 } });
    const early = await sendAt(here, 'two', NOON + HOUR);
    expect(early.report.totals).toMatchObject({ deferred: 3, accepted: 0 });
    await sendAt(here, 'one', NOON + 2 * HOUR);
    const first = await sendAt(here, 'two', NOON + 3 * DAY);
    expect(first.report.totals).toMatchObject({ deferred: 2, accepted: 1 });
    const rest = await sendAt(here, 'two', NOON + 3 * DAY + 2 * HOUR);
    expect(rest.report.totals).toMatchObject({ deferred: 0, accepted: 3 });
  });

  it('waits for those whose message failed, as long as a later start of the run before may send it', async () => {
    await using api = await startApi();
    using here = project(api, { length: 2 });
    await sendAt(here, 'one', NOON, { limit: 1 });
    const ledger = openLedger(here.path('.handbill/ledger.db'), { mode: 'write', nowMs: NOON + 1 });
    const [found] = ledger.runs();
    if (found === undefined) throw new Error('it was sent');
    const { run } = ledger.start(found, NOON + 1);
    ledger.commit(run, [], [{ row: 1, step: 0, to: RAVI, key: RAVI }], NOON + 1);
    const facts = { reason: 'dns', attempts: 3, httpStatus: null, messageId: null, error: null } as const;
    ledger.commit(run, [{ row: 1, step: 0, from: 'claimed', state: 'failed', ...facts }], [], NOON + 2);
    ledger.finish(run, { state: 'partial', halt: null, figures: null, nowMs: NOON + 3 });
    ledger.close();
    const early = await sendAt(here, 'two', NOON + 3 * DAY);
    expect(early.report.totals).toMatchObject({ accepted: 1, deferred: 2, skipped: 0 });
    await sendAt(here, 'one', NOON + 3 * DAY, { allow: ['too-late'] });
    const rest = await sendAt(here, 'two', NOON + 6 * DAY, { allow: ['too-late'] });
    expect(rest.report.totals).toMatchObject({ accepted: 3, deferred: 0 });
    expect(arrived(api).filter((one) => one.endsWith(RAVI))).toEqual([`one ${RAVI}`, `two ${RAVI}`]);
  });

  it('is refused where the campaign before was not sent, and preview and plan say so', async () => {
    await using api = await startApi();
    using here = project(api);
    const expected = /two follows one, which was not sent to test as "once"/;
    await expect(sendAt(here, 'two', NOON)).rejects.toThrow(expected);
    await expect(plan('two', at(here, NOON))).rejects.toThrow(expected);
    const shown = await preview('two', at(here, NOON)).result();
    expect(shown).toMatchObject({ valid: false, problems: [{ code: 'run-not-found' }], estimate: { send: 3 } });
    await sendAt(here, 'one', NOON, { occurrence: 'spring' });
    const other = sendAt(here, 'two', NOON, { occurrence: 'autumn' });
    await expect(other).rejects.toThrow(/which was not sent to test as "autumn"/);
    // Without a name it goes with the newest run.
    expect((await sendAt(here, 'two', NOON + 3 * DAY)).report).toMatchObject({ occurrence: 'spring' });
  });
});

describe('what is wrong with `after`', () => {
  it.each<readonly [string, RegExp]>([
    ['{ campaign: on, wait: 3d }', /a campaign "on", which is not there.*Did you mean "one"/],
    ['{ campaign: two, wait: 3d }', /cannot follow itself/],
    ['{ campaign: three, wait: 3d }', /in a circle: two after three after two/],
    ['{ campaign: one, wait: soon }', /"after.wait" cannot be "soon".*90m, 24h, 3d/],
    ['{ campaign: one, wait: 3 }', /must be text.*90m, 24h, 3d/],
    ['{ campaign: one, wait: 400d }', /"400d" is not a time of at most 366d/],
    ['{ campaign: one, wait: 3d, unless: silence }', /replied, opted-out or delivered-not/],
    ['{ campaign: one, wait: 3d, environment: live }', /"environment" is not a key/],
    ['{ campaign: one, wait: 3d }\nschedule: { cron: 0 9 * * * }', /"after" and "schedule" both/],
    ['{ campaign: one }', /"wait"/],
  ])('%s', async (after, expected) => {
    using here = project({ url: 'http://127.0.0.1:9' });
    const file = 'campaigns/two/campaign.yaml';
    here.write(file, textOf(here, file).replace(/after: .*\n/, `after: ${after}\n`));
    const { diagnostics } = await validate(['two'], { cwd: here.root });
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    expect(errors.map(({ message, hint }) => `${message} ${hint ?? ''}`)).toEqual([expect.stringMatching(expected)]);
    expect(errors[0]?.at?.line).toBeGreaterThan(0);
  });
});

it('in any history no recipient gets a follow-up early, twice, or after a reply', { timeout: 300_000 }, async () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ what: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 9 }) }) },
    { weight: 2, arbitrary: fc.record({ what: fc.constant('reply' as const), who: fc.nat(2) }) },
    // The process is stopped at this request, or the API fails for it.
    { weight: 2, arbitrary: fc.record({ what: fc.constant('stop' as const), after: fc.integer({ min: 1, max: 3 }) }) },
    { weight: 1, arbitrary: fc.record({ what: fc.constant('fail' as const), after: fc.integer({ min: 1, max: 3 }) }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 14 }), async (steps) => {
      let nowMs = NOON;
      let stopIn = 0;
      let failIn = 0;
      let stopping = new AbortController();
      const sentAt: number[] = [];
      const behave = (): Answer => {
        sentAt.push(nowMs);
        stopIn -= 1;
        failIn -= 1;
        if (stopIn === 0) stopping.abort();
        return failIn === 0 ? { status: 400 } : {};
      };
      await using api = await startApi(behave);
      using here = project(api, { wait: '8h', unless: 'replied' });
      await dueAt(here, NOON - HOUR);
      const replied = new Map<string, number>();
      await sendAt(here, 'one', nowMs);
      for (const one of steps) {
        if (one.what === 'wait') nowMs += one.hours * HOUR;
        if (one.what === 'stop') stopIn = one.after;
        if (one.what === 'fail') failIn = one.after;
        if (one.what === 'reply') {
          const who = EVERYBODY[one.who] ?? ADA;
          record(here, [reply(who, nowMs)], nowMs);
          if (!replied.has(who)) replied.set(who, nowMs);
        }
        stopping = new AbortController();
        await due([], { ...at(here, nowMs), signal: stopping.signal });
      }
      const times = new Map<string, number>();
      for (const [i, message] of arrived(api).entries()) {
        expect(times.has(message), `${message} twice`).toBe(false);
        const time = sentAt[i] ?? 0;
        times.set(message, time);
        const [name = '', who = ''] = message.split(' ');
        if (name === 'one') continue;
        const before = times.get(`${name === 'two' ? 'one' : 'two'} ${who}`) ?? Number.POSITIVE_INFINITY;
        expect(time - before, `${message} early`).toBeGreaterThanOrEqual(8 * HOUR);
        expect(replied.get(who) ?? Number.POSITIVE_INFINITY, `${message} after a reply`).toBeGreaterThanOrEqual(time);
      }
    }),
    { numRuns: examples(24) },
  );
});

it('the campaign before was renamed', async () => {
  await using api = await startApi();
  using here = project(api, { length: 2 });
  await begun(here);
  record(here, [failed('one', ADA, NOON + HOUR)], NOON + HOUR);
  const [one, two] = ['campaigns/one/campaign.yaml', 'campaigns/two/campaign.yaml'] as const;
  here.write(one, textOf(here, one).replace('name: one', 'name: uno\nid: one'));
  here.write(two, textOf(here, two).replace('campaign: one', 'campaign: uno'));
  expect(await dueAt(here, NOON + 2 * DAY)).toEqual([]);
  expect(await dueAt(here, NOON + 3 * DAY)).toEqual(['two send once']);
  expect(arrived(api).slice(3)).toEqual([`two ${RAVI}`, `two ${ZOE}`]);
  await sendAt(here, 'uno', NOON + 4 * DAY, { occurrence: 'next' });
  await sendAt(here, 'two', NOON + 7 * DAY, { occurrence: 'next' });
  expect(arrived(api)).toHaveLength(11);
});

it('campaigns that follow each other are a circle by their names', async () => {
  await using api = await startApi();
  using here = project(api, { length: 2 });
  const one = 'campaigns/one/campaign.yaml';
  const after = 'after: { campaign: two, wait: 1d }\n';
  here.write(one, `${textOf(here, one).replace('name: one', 'name: uno\nid: one')}${after}`);
  const two = 'campaigns/two/campaign.yaml';
  here.write(two, textOf(here, two).replace('campaign: one', 'campaign: uno'));
  const found = await validate(['campaigns/two'], at(here, NOON));
  expect(JSON.stringify(found)).toContain('two after uno after two');
});

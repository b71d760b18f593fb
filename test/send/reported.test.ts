import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import type { DeliveryReport } from '../../src/model.ts';
import { due } from '../../src/operations/due.ts';
import { previewRows } from '../../src/operations/preview.ts';
import { reconcile } from '../../src/operations/reconcile.ts';
import { report as reportOf } from '../../src/operations/report.ts';
import { send } from '../../src/operations/send.ts';
import { createReference } from '../../src/plan/expand.ts';
import { resolveByReports } from '../../src/send/deliveries.ts';
import { handbillHere } from '../cli/in-process.ts';
import { deliveryOf, receive as record, replyOf } from '../helpers/events.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { answer, type Behaviour, reset, startRawServer } from '../helpers/raw-server.ts';

const NINE = Date.UTC(2026, 10, 21, 9);
const HOUR = 3_600_000;
const ANN = '+447700900123';
const BOB = '+447700900124';
const CID = '+447700900125';

interface Api extends AsyncDisposable {
  readonly url: string;
  /** `channel number` of every message that was posted, in order. */
  readonly posted: readonly string[];
}

/** An API that gives out `m-1`, `m-2` ..., or what a test says for the n-th request. */
async function startApi(behave: (n: number) => Behaviour | null = () => null): Promise<Api> {
  const posted: string[] = [];
  const server = await startRawServer({
    behaviour: (request) => {
      const { channel, recipients } = JSON.parse(request.body);
      posted.push(`${channel} ${recipients[0].msisdn}`);
      const own = behave(posted.length);
      (own ?? answer(202, JSON.stringify({ id: `m-${posted.length}` })))(request);
    },
  });
  return { url: new URL(server.url).origin, posted, [Symbol.asyncDispose]: () => server.close() };
}

const CAMPAIGN = `name: hello
channel: rcs
from: Riverside
template: { text: "Hi {{name}}" }
recipients: people.csv
fallback: { channel: sms, template: { text: "Hi {{name}}, by SMS" } }
`;

function given(url: string, campaign = CAMPAIGN): TestProject {
  return createProject({
    'handbill.yaml': `environments:\n  live: { baseUrl: "${url}", apiKey: { env: KEY } }\n`,
    'hello/campaign.yaml': campaign,
    'hello/people.csv': `msisdn,name\n${ANN},Ann\n${BOB},Bob\n`,
  });
}

function optionsOf(project: TestProject, atMs = NINE) {
  return {
    cwd: project.root,
    env: { KEY: 'key-of-a-test' },
    now: () => atMs,
    random: () => 0,
    environment: 'live',
    confirm: async () => true,
    concurrency: 1,
  };
}

const identity = { environment: 'live', campaign: 'hello', occurrence: 'once' };

const report = (state: DeliveryReport['state'], changes: Partial<DeliveryReport>): DeliveryReport =>
  deliveryOf({ state, word: state, atMs: NINE + 1, ...changes });

/** What `listen` does with a report. */
function receive(project: TestProject, nowMs: number, ...reports: DeliveryReport[]): number {
  const ledger = openLedger(project.path('.handbill/ledger.db'), { mode: 'write', nowMs });
  ledger.events.record(reports, { nowMs, source: 'webhook', environment: 'live' });
  const resolved = resolveByReports(ledger, nowMs);
  ledger.close();
  return resolved;
}

async function decisionsOf(project: TestProject, atMs: number): Promise<string[]> {
  const shown = await previewRows('hello', { ...optionsOf(project, atMs), at: atMs, allow: ['input-changed'] });
  const found: string[] = [];
  for await (const batch of shown.batches) {
    for (const { decision } of batch) {
      found.push(decision.decision === 'send' ? `send by ${decision.channel}` : decision.decision);
    }
  }
  shown.close();
  return found;
}

describe('a report that a message was not delivered', () => {
  it('makes the fallback due in the start that takes a changed list over, in whatever order that is', async () => {
    await using api = await startApi();
    using project = given(api.url);
    await send('hello', optionsOf(project));
    receive(project, NINE + HOUR, ...['m-1', 'm-2'].map((messageId) => report('undeliverable', { messageId })));
    project.write('hello/people.csv', `msisdn,name\n${BOB},Bob\n${CID},Cid\n${ANN},Ann\n`);
    expect(await decisionsOf(project, NINE + HOUR)).toEqual(['send by sms', 'send by rcs', 'send by sms']);
    await send('hello', { ...optionsOf(project, NINE + HOUR), allow: ['input-changed'] });
    expect(api.posted.slice(2).toSorted()).toEqual([`RCS ${CID}`, `SMS ${ANN}`, `SMS ${BOB}`]);
  });

  it('gives way to a second message to a corrected address, which has the first channel again', async () => {
    await using api = await startApi();
    using project = given(api.url, CAMPAIGN.replace('people.csv', '{ csv: people.csv, key: name }'));
    await send('hello', optionsOf(project));
    receive(project, NINE + HOUR, report('undeliverable', { messageId: 'm-1' }));
    project.write('hello/people.csv', `msisdn,name\n${CID},Ann\n${BOB},Bob\n`);
    const dry = ['send', 'hello', '--env', 'live', '--allow', 'input-changed', '--retry', 'corrected', '--dry-run'];
    const shown = await handbillHere(project.root, [...dry, '--format', 'jsonl'], { now: () => NINE + HOUR });
    expect(jsonLines<object>(shown.out)).toMatchObject([
      { decision: 'send', request: { body: { channel: 'RCS' } } },
      { decision: 'done' },
    ]);
    const again = { ...optionsOf(project, NINE + HOUR), allow: ['input-changed'], retry: 'corrected' } as const;
    await send('hello', again);
    expect(api.posted.slice(2)).toEqual([`RCS ${CID}`]);
  });

  it.each<[string, Partial<DeliveryReport>]>([
    ['by the id of the API', { messageId: 'm-1' }],
    ['by our reference', { reference: createReference(identity, 'rcs')(ANN) }],
    ['by both', { messageId: 'm-1', reference: createReference(identity, 'rcs')(ANN) }],
  ])('makes the fallback due, %s: preview shows it, send posts it once', async (_, ids) => {
    await using api = await startApi();
    using project = given(api.url);
    await send('hello', optionsOf(project));
    expect(await decisionsOf(project, NINE + HOUR)).toEqual(['done', 'done']);
    receive(project, NINE + HOUR, report('undeliverable', ids), report('sent', { ...ids, atMs: NINE + 9 }));
    expect(await decisionsOf(project, NINE + HOUR)).toEqual(['send by sms', 'done']);
    const again = await send('hello', optionsOf(project, NINE + HOUR));
    expect(again.report).toMatchObject({ state: 'finished', totals: { recipients: 2, accepted: 2 } });
    expect(again.report.steps).toMatchObject([
      { channel: 'rcs', accepted: 1, fellBack: 1 },
      { channel: 'sms', accepted: 1 },
    ]);
    expect(api.posted).toEqual([`RCS ${ANN}`, `RCS ${BOB}`, `SMS ${ANN}`]);
    // The same report again, and another one about the fallback: there is nothing left to fall back to.
    receive(project, NINE + HOUR, report('undeliverable', ids), report('undeliverable', { messageId: 'm-3' }));
    const third = await send('hello', optionsOf(project, NINE + HOUR));
    expect(third).toMatchObject({ started: false, exit: 0 });
    expect(api.posted).toHaveLength(3);
  });

  it.each<[string, readonly DeliveryReport[]]>([
    [
      'it arrived all the same',
      [report('undeliverable', { messageId: 'm-1' }), report('delivered', { messageId: 'm-1' })],
    ],
    ['it only failed', [report('failed', { messageId: 'm-1' })]],
    ['they opted out, known or not', [report('undeliverable', { messageId: 'm-1', cause: 'opted-out' })]],
    [
      'they opted out, as another report says',
      [
        report('undeliverable', { messageId: 'm-1', cause: 'unsupported-channel' }),
        report('failed', { messageId: 'm-1', cause: 'opted-out' }),
      ],
    ],
    ['the message is unknown', [report('undeliverable', { messageId: 'x' })]],
  ])('does not where %s', async (_, reports) => {
    await using api = await startApi();
    using project = given(api.url);
    await send('hello', optionsOf(project));
    receive(project, NINE + HOUR, ...reports);
    expect(await decisionsOf(project, NINE + HOUR)).toEqual(['done', 'done']);
    expect((await send('hello', optionsOf(project, NINE + HOUR))).started).toBe(false);
    expect(api.posted).toHaveLength(2);
  });

  it('does where it failed because the channel is not supported', async () => {
    await using api = await startApi();
    using project = given(api.url);
    await send('hello', optionsOf(project));
    receive(project, NINE + HOUR, report('failed', { messageId: 'm-2', cause: 'unsupported-channel' }));
    await send('hello', optionsOf(project, NINE + HOUR));
    expect(api.posted.at(-1)).toBe(`SMS ${BOB}`);
  });

  it('makes that of its variant due, also where the list gives the row another one by then', async () => {
    const texts: string[] = [];
    await using api = await startApi((n) => (request) => {
      texts.push(JSON.parse(request.body).body.text);
      answer(202, JSON.stringify({ id: `m-${n}` }))(request);
    });
    const welsh =
      'variants: [{ name: welsh, where: { name: Ann }, template: { text: Helo }, fallback: { channel: sms, template: { text: "Helo, SMS" } } }]\n';
    using project = given(api.url, CAMPAIGN + welsh);
    await send('hello', optionsOf(project));
    project.write('hello/people.csv', `msisdn,name\n${ANN},Bob\n${BOB},Ann\n`);
    receive(project, NINE + HOUR, report('undeliverable', { messageId: 'm-1' }));
    receive(project, NINE + HOUR, report('undeliverable', { messageId: 'm-2' }));
    const options = { ...optionsOf(project, NINE + HOUR), allow: ['input-changed'] as const };
    const shown = await previewRows('hello', { ...options, at: NINE + HOUR });
    const previewed: (string | null)[] = [];
    for await (const batch of shown.batches)
      for (const { decision } of batch) previewed.push(decision.decision === 'send' ? decision.text : null);
    shown.close();
    expect(previewed).toEqual(['Helo, SMS', 'Hi Ann, by SMS']);
    // The start that takes the other list over leaves fallbacks to the next one.
    await send('hello', options);
    await send('hello', optionsOf(project, NINE + HOUR));
    expect(texts).toEqual(['Helo', 'Hi Bob', 'Helo, SMS', 'Hi Ann, by SMS']);
  });

  it('stale is worse than never: a day later the message stays as it is, until --allow too-late says otherwise', async () => {
    await using api = await startApi();
    using project = given(api.url);
    await send('hello', optionsOf(project));
    const later = NINE + 25 * HOUR;
    receive(project, later, report('undeliverable', { messageId: 'm-1' }));
    expect(await decisionsOf(project, later)).toEqual(['done', 'done']);
    expect((await send('hello', optionsOf(project, later))).started).toBe(false);
    await send('hello', { ...optionsOf(project, later), allow: ['too-late'] });
    expect(api.posted.at(-1)).toBe(`SMS ${ANN}`);
  });

  it.each([
    ['its validity', 'validity: 3h\n'],
    ['notAfter', 'send: { notAfter: "2026-11-21T12:00:00Z" }\n'],
    ['the time of its row', 'send: { each: { column: visit, before: 4h } }\n'],
    ['its validity from the time of its row', 'validity: 1h\nsend: { each: { column: visit, before: 2h } }\n'],
  ])('is not due after %s, and nothing advises to send it', async (_, more) => {
    await using api = await startApi();
    using project = given(api.url, CAMPAIGN + more);
    project.write('hello/people.csv', `msisdn,name,visit\n${ANN},Ann,2026-11-21T11:00:00Z\n`);
    await send('hello', optionsOf(project));
    receive(project, NINE + HOUR / 2, report('undeliverable', { messageId: 'm-1' }));
    project.write('none.jsonl', JSON.stringify({ messageId: 'm-1', status: 'undeliverable' }));
    const dueAt = async (atMs: number) => {
      const { fallbacksDue } = await reconcile(['none.jsonl'], optionsOf(project, atMs));
      return [fallbacksDue.length, (await reportOf('hello', optionsOf(project, atMs))).fallbacksDue];
    };
    expect(await dueAt(NINE + HOUR / 2)).toEqual([1, 1]);
    expect(await dueAt(NINE + 4 * HOUR)).toEqual([0, undefined]);
    expect(await send('hello', optionsOf(project, NINE + 4 * HOUR))).toMatchObject({ started: false, exit: 0 });
    expect(api.posted).toHaveLength(1);
  });

  it('does not post to a recipient who opted out meanwhile: the message stays accepted', async () => {
    await using api = await startApi();
    using project = given(api.url);
    await send('hello', optionsOf(project));
    receive(project, NINE + HOUR, report('undeliverable', { messageId: 'm-1' }));
    receive(project, NINE + HOUR, report('rejected', { messageId: 'm-1', address: ANN, cause: 'opted-out' }));
    expect(await decisionsOf(project, NINE + HOUR)).toEqual(['done', 'done']);
    const { report: summary } = await send('hello', optionsOf(project, NINE + HOUR));
    expect(summary).toMatchObject({ state: 'finished', totals: { accepted: 2 } });
    expect(api.posted).toHaveLength(2);
  });

  it('waits where nothing can be reached: the message is accepted until the fallback is claimed', async () => {
    const api = await startApi();
    using project = given(api.url);
    await send('hello', optionsOf(project));
    await api[Symbol.asyncDispose]();
    receive(project, NINE + HOUR, report('undeliverable', { messageId: 'm-1' }));
    const down = await send('hello', optionsOf(project, NINE + HOUR));
    expect(down.report.totals).toMatchObject({ accepted: 2, failed: 0 });
    expect(await decisionsOf(project, NINE + HOUR)).toEqual(['send by sms', 'done']);
  });

  it('does not fall back for a recipient whose message is reported to have arrived while it waits for its turn', async () => {
    let arrived = (): void => undefined;
    await using api = await startApi((n) => {
      if (n === 3) arrived();
      return null;
    });
    using project = given(api.url);
    await send('hello', optionsOf(project));
    receive(project, NINE + HOUR, ...['m-1', 'm-2'].map((messageId) => report('undeliverable', { messageId })));
    arrived = () => receive(project, NINE + HOUR, report('delivered', { messageId: 'm-2' }));
    const { report: summary, exit } = await send('hello', optionsOf(project, NINE + HOUR));
    expect(summary).toMatchObject({ state: 'finished', totals: { accepted: 2 } });
    expect(exit).toBe(0);
    expect(api.posted.slice(2)).toEqual([`SMS ${ANN}`]);
  });

  it('does not send the next fallback where the message of any step before is reported to have arrived', async () => {
    await using api = await startApi();
    const second = '  - { channel: voice, template: { text: "Hi {{name}}, by voice" } }';
    using project = given(
      api.url,
      CAMPAIGN.replace(/fallback: (.*)/, (_, first: string) => `fallback:\n  - ${first}\n${second}`),
    );
    await send('hello', optionsOf(project));
    receive(project, NINE + HOUR, ...['m-1', 'm-2'].map((messageId) => report('undeliverable', { messageId })));
    await send('hello', optionsOf(project, NINE + HOUR));
    expect(api.posted.slice(2)).toEqual([`SMS ${ANN}`, `SMS ${BOB}`]);
    receive(
      project,
      NINE + 2 * HOUR,
      report('delivered', { messageId: 'm-1' }),
      ...['m-3', 'm-4'].map((messageId) => report('undeliverable', { messageId, atMs: NINE + HOUR + 1 })),
    );
    expect(await decisionsOf(project, NINE + 2 * HOUR)).toEqual(['done', 'send by voice']);
    await send('hello', optionsOf(project, NINE + 2 * HOUR));
    expect(api.posted.slice(4)).toEqual([`Voice ${BOB}`]);
  });

  it('does not fall back for a recipient who answered the message', async () => {
    await using api = await startApi();
    using project = given(api.url);
    await send('hello', optionsOf(project));
    receive(project, NINE + HOUR, ...['m-1', 'm-2'].map((messageId) => report('undeliverable', { messageId })));
    const ledger = openLedger(project.path('.handbill/ledger.db'), { mode: 'write', nowMs: NINE + HOUR });
    const reply = replyOf({ from: ANN, text: 'Thanks', messageId: 'm-1', atMs: NINE + HOUR });
    ledger.events.record([reply], { nowMs: NINE + HOUR, source: 'webhook', environment: 'live' });
    ledger.close();
    await send('hello', optionsOf(project, NINE + HOUR));
    expect(api.posted.slice(2)).toEqual([`SMS ${BOB}`]);
  });

  it('waits for the window, also where no other recipient is left: with --wait in the same start', async () => {
    await using api = await startApi();
    using project = given(api.url, `${CAMPAIGN}send: { window: { from: 09:00, to: 20:00 } }\n`);
    await send('hello', optionsOf(project));
    let nowMs = NINE + 12 * HOUR;
    receive(project, nowMs, report('undeliverable', { messageId: 'm-1' }));
    expect((await send('hello', optionsOf(project, nowMs))).report).toMatchObject({ totals: { accepted: 2 } });
    expect(api.posted).toHaveLength(2);
    const sleep = async (ms: number): Promise<void> => {
      nowMs += ms;
    };
    const waited = { ...optionsOf(project), now: () => nowMs, wait: true, timers: { sleep } };
    await send('hello', waited);
    expect(api.posted.slice(2)).toEqual([`SMS ${ANN}`]);
    expect(nowMs).toBe(NINE + 24 * HOUR);
  });

  it('does not have due start before the window opens', async () => {
    await using api = await startApi();
    const more = 'schedule: { cron: "0 9 * * *", timeZone: UTC }\nsend: { window: { from: 09:00, to: 20:00 } }\n';
    using project = given(api.url, `${CAMPAIGN}${more}`);
    await send('hello', { ...optionsOf(project), occurrence: '2026-11-21T09:00:00Z' });
    receive(project, NINE + 12 * HOUR, report('undeliverable', { messageId: 'm-1' }));
    const { cwd, env } = optionsOf(project);
    const dueAt = async (atMs: number) => {
      const passed = { cwd, env, environment: 'live', now: () => atMs, random: () => 0, confirm: async () => true };
      return (await due(['hello'], passed)).items.map(({ action, occurrence }) => `${action} ${occurrence}`);
    };
    expect(await dueAt(NINE + 12 * HOUR)).toEqual(['continue 2026-11-21T09:00:00Z']);
    expect(await dueAt(NINE + 13 * HOUR)).toEqual(['leave 2026-11-21T09:00:00Z']);
    expect(api.posted).toHaveLength(2);
    await dueAt(NINE + 24 * HOUR);
    expect(api.posted).toContain(`SMS ${ANN}`);
  });

  it('does not wait for those whose time comes later, nor does due', async () => {
    await using api = await startApi();
    const more = 'schedule: { cron: "0 9 * * *", timeZone: UTC }\nsend: { each: { column: visit, before: 2h } }\n';
    using project = given(api.url, `${CAMPAIGN}${more}`);
    const rows = [`${ANN},Ann,2026-11-21T11:00Z`, `${BOB},Bob,2026-11-21T20:00Z`];
    project.write('hello/people.csv', `msisdn,name,visit\n${rows.join('\n')}\n`);
    await send('hello', { ...optionsOf(project), occurrence: '2026-11-21T09:00:00Z' });
    receive(project, NINE + HOUR / 2, report('undeliverable', { messageId: 'm-1' }));
    const { cwd, env } = optionsOf(project);
    const passed = { cwd, env, environment: 'live', random: () => 0, confirm: async () => true };
    const actions = async (atMs: number) =>
      (await due(['hello'], { ...passed, now: () => atMs })).items.map(({ action }) => action);
    expect(await actions(NINE + HOUR)).toEqual(['continue']);
    expect(api.posted).toEqual([`RCS ${ANN}`, `SMS ${ANN}`]);
    expect(await actions(NINE + HOUR + 1)).toEqual(['leave']);
  });

  it('is posted by due, in the run that had finished', async () => {
    await using api = await startApi();
    using project = given(api.url, `${CAMPAIGN}schedule: { cron: "0 9 * * *", timeZone: UTC }\n`);
    await send('hello', { ...optionsOf(project), occurrence: '2026-11-21T09:00:00Z' });
    receive(project, NINE + HOUR, report('undeliverable', { messageId: 'm-1' }));
    const { cwd, env, confirm, random } = optionsOf(project);
    const passed = { cwd, env, environment: 'live', now: () => NINE + HOUR, random: random ?? (() => 0) };
    const found = await due(['hello'], { ...passed, ...(confirm === undefined ? {} : { confirm }) });
    expect(found.items).toMatchObject([{ action: 'continue', exit: 0 }]);
    expect(api.posted.at(-1)).toBe(`SMS ${ANN}`);
    expect((await due(['hello'], { ...passed, ...(confirm === undefined ? {} : { confirm }) })).items).toMatchObject([
      { action: 'none' },
    ]);
  });
});

describe('a STOP from another address of the same person', () => {
  it('counts at the next start, although it is not joined yet to the message that it answers', async () => {
    await using api = await startApi();
    using project = given(api.url);
    await send('hello', optionsOf(project));
    const stop = replyOf({ messageId: 'm-1', from: '+447700900999', text: 'STOP', meaning: 'opt-out' });
    record(project.path('.handbill/ledger.db'), [stop], { nowMs: NINE + HOUR, environment: 'live' });
    const { report: summary } = await send('hello', { ...optionsOf(project, NINE + HOUR), occurrence: 'again' });
    expect(summary).toMatchObject({ totals: { accepted: 1, skipped: 1 }, reasons: { skipped: { suppressed: 1 } } });
    expect(api.posted.slice(2)).toEqual([`RCS ${BOB}`]);
  });
});

describe('a report about a recipient in doubt (K2)', () => {
  const doubts = (n: number): Behaviour | null => (n === 2 ? reset : null);
  const text = (words: string) => ({ address: BOB, textHash: hash('sha256', words), messageId: 'm-9' });

  it.each<[string, Partial<DeliveryReport>, boolean]>([
    ['names our reference', { reference: createReference(identity, 'rcs')(BOB) }, true],
    ['quotes the text to that address at that time', text('Hi Bob'), true],
    ['quotes another text', text('Hi Ann'), false],
    ['is about an earlier time', { ...text('Hi Bob'), atMs: NINE - HOUR }, false],
    ['is about a message that is known', { ...text('Hi Bob'), messageId: 'm-1' }, false],
    ['names only the address', { address: BOB, messageId: 'm-9' }, false],
  ])('%s', async (_, changes, isSettled) => {
    await using api = await startApi(doubts);
    using project = given(api.url, CAMPAIGN.replace(/^fallback.*$/m, 'limits: { stopAfter: { inDoubt: 9 } }'));
    const first = await send('hello', optionsOf(project));
    expect(first.report.totals).toMatchObject({ accepted: 1, inDoubt: 1 });
    expect(receive(project, NINE + HOUR, report('sent', changes))).toBe(isSettled ? 1 : 0);
    expect(receive(project, NINE + HOUR, report('sent', changes))).toBe(0);
    const { report: summary, exit } = await send('hello', optionsOf(project, NINE + HOUR));
    expect(summary.totals).toMatchObject(isSettled ? { accepted: 2, inDoubt: 0 } : { accepted: 1, inDoubt: 1 });
    expect(exit).toBe(isSettled ? 0 : 4);
    expect(api.posted).toHaveLength(2);
  });
});

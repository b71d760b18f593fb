import { describe, expect, it } from 'vitest';
import type { DeliveryReport, DeliveryState, Reply } from '../../src/model.ts';
import { due } from '../../src/operations/due.ts';
import { send } from '../../src/operations/send.ts';
import type { SendOptions } from '../../src/operations/send-options.ts';
import { createReference } from '../../src/plan/expand.ts';
import { judgeReports } from '../../src/send/canary.ts';
import { NOTHING_RETURNED, type Returned } from '../../src/send/deliveries.ts';
import { deliveryOf, receive, replyOf } from '../helpers/events.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { answer, type Behaviour, reset, startRawServer } from '../helpers/raw-server.ts';

const GATE = { accepted: null, delivered: null, optedOut: null, waitMs: 0 };

describe('delivery reports, at a gate', () => {
  const said = (gate: Partial<typeof GATE> | object, counts: Partial<Returned>, isOver: boolean): string => {
    const verdict = judgeReports({ ...GATE, ...gate }, { ...NOTHING_RETURNED, ...counts }, isOver);
    return typeof verdict === 'string' ? verdict : verdict.shut;
  };

  it.each<[string, object, Partial<Returned>, boolean, string]>([
    ['is waited for while it can decide either way', { delivered: 0.9 }, { accepted: 10, arrived: 8 }, false, 'waits'],
    ['is enough as soon as the share is reached', { delivered: 0.9 }, { accepted: 10, arrived: 9 }, false, 'open'],
    ['is still possible with one failure of ten', { delivered: 0.9 }, { accepted: 10, ended: 1 }, false, 'waits'],
    ['of no recipient is enough', { delivered: 0.9, optedOut: 0.1 }, { accepted: 0 }, false, 'open'],
    ['allows as many opt-outs as are asked for', { optedOut: 0.01 }, { accepted: 100, optedOut: 1 }, true, 'open'],
    [
      'is too little as soon as it cannot be reached',
      { delivered: 0.9 },
      { accepted: 10, arrived: 3, ended: 2 },
      false,
      'at most 80% of the first 10 accepted messages can be delivered (3, 2 failed, 5 without a final report); send.canary.gate.delivered asks for 90%.',
    ],
    [
      'is too little when the time is over',
      { delivered: 0.9 },
      { accepted: 10, arrived: 8 },
      true,
      '80% of the first 10 accepted messages were delivered (8, 2 without a final report); send.canary.gate.delivered asks for 90%.',
    ],
    [
      'is nothing where no receiver listens',
      { delivered: 0.9 },
      { accepted: 1 },
      true,
      '0% of the first accepted message was delivered (0, 1 without a final report); send.canary.gate.delivered asks for 90%. Nothing was reported: is `handbill listen` running?',
    ],
    [
      'is too much where more opt out',
      { delivered: 0.9, optedOut: 0.01 },
      { accepted: 100, arrived: 100, optedOut: 2 },
      false,
      '2% of the first 100 accepted messages opted out (2); send.canary.gate.optedOut allows 1%.',
    ],
  ])('%s', (_, gate, counts, isOver, expected) => expect(said(gate, counts, isOver)).toBe(expected));

  it('never becomes another verdict by what is still to come, once it is decided', () => {
    // Every way in which ten messages can go on from every state.
    for (let arrived = 0; arrived <= 10; arrived++) {
      for (let ended = 0; arrived + ended <= 10; ended++) {
        const now = said({ delivered: 0.65 }, { accepted: 10, arrived, ended }, false);
        const ends = Array.from({ length: 11 - arrived - ended }, (_, more) =>
          said({ delivered: 0.65 }, { accepted: 10, arrived: arrived + more, ended: 10 - arrived - more }, true),
        ).map((end) => end === 'open');
        if (now === 'waits') expect(new Set(ends)).toEqual(new Set([true, false]));
        else expect(new Set(ends)).toEqual(new Set([now === 'open']));
      }
    }
  });
});

const campaign = (canary: string, more = ''): string => `name: hello
channel: sms
from: Riverside
template: { text: "Hi" }
recipients: people.csv
send: { canary: ${canary} }
${more}`;

describe('a gate on delivery, in the sandbox', () => {
  it('leaves the other 99% without a request where 6% of the canary fail', async () => {
    // Of contacts with a tag the sandbox tells that story.
    const ids = Array.from({ length: 1_000 }, (_, row) => `sandbox-${row}${row < 100 && row % 17 === 3 ? '+602' : ''}`);
    using here = createProject({
      'hello/campaign.yaml': campaign('{ steps: 10%, gate: { delivered: 95% } }').replace(
        'recipients: people.csv',
        'recipients: { csv: people.csv, contact: id }',
      ),
      'hello/people.csv': `id\n${ids.join('\n')}\n`,
    });
    const start = () => send('hello', { cwd: here.root, env: {}, now: Date.now, random: () => 0 });
    const { report, posted, exit } = await start();
    expect({ posted, exit, state: report.state, message: report.halt?.message }).toEqual({
      posted: 100,
      exit: 5,
      state: 'halted',
      message: expect.stringMatching(
        /^The gate of the canary is shut: at most 94% of the first 100 accepted messages can be delivered \(\d+, 6 failed/,
      ),
    });
    // The next start is told the same, and no recipient gets anything.
    expect(await start()).toMatchObject({ posted: 0, exit: 5, report: { totals: { pending: 900 } } });
  });
});

const NINE = Date.UTC(2026, 10, 21, 9);
const MINUTE = 60_000;
const numberOf = (row: number): string => `+4477009${String(row).padStart(5, '0')}`;

async function startApi(behave: (n: number) => Behaviour | null = () => null) {
  let posted = 0;
  const server = await startRawServer({
    behaviour: (request) => {
      posted += 1;
      (behave(posted) ?? answer(202, JSON.stringify({ id: `m-${posted}` })))(request);
    },
  });
  return { url: new URL(server.url).origin, [Symbol.asyncDispose]: () => server.close() };
}

function given(url: string, canary: string, more = ''): TestProject {
  return createProject({
    'handbill.yaml': `environments:\n  live: { baseUrl: "${url}", apiKey: { env: KEY } }\n`,
    'hello/campaign.yaml': campaign(canary, more),
    'hello/people.csv': `msisdn\n${Array.from({ length: 40 }, (_, row) => numberOf(row)).join('\n')}\n`,
  });
}

function optionsOf(project: TestProject, atMs: number) {
  return {
    cwd: project.root,
    env: { KEY: 'key-of-a-test' },
    now: () => atMs,
    random: () => 0,
    environment: 'live',
    confirm: async () => true,
  };
}

function report(row: number, state: DeliveryState, occurrence = 'once'): DeliveryReport {
  const reference = createReference({ environment: 'live', campaign: 'hello', occurrence }, 'sms')(numberOf(row));
  return deliveryOf({ reference, state, word: state, atMs: NINE + 1000 });
}

const stop = (row: number): Reply =>
  replyOf({ from: numberOf(row), text: 'STOP', meaning: 'opt-out', atMs: NINE + 2000 });

/** What `listen` does with events. */
const received = (project: TestProject, nowMs: number, events: readonly (DeliveryReport | Reply)[]): void =>
  receive(project.path('.handbill/ledger.db'), events, { nowMs, environment: 'live' });

const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const delivered = (from: number, to: number) => rows(from, to).map((row) => report(row, 'delivered'));

/**
 * A start whose clock goes on while it waits: how long it stayed, in minutes, and what it came to. It goes on for 50
 * minutes at most: a busy machine looks later, and what follows has a time of its own.
 */
async function start(project: TestProject, fromMinutes: number, options: Partial<SendOptions> = {}, mostMinutes = 50) {
  let nowMs = NINE + fromMinutes * MINUTE;
  const endMs = nowMs + mostMinutes * MINUTE;
  const pass = (): void => {
    if (nowMs < endMs) nowMs += MINUTE;
  };
  const result = await send('hello', {
    ...optionsOf(project, 0),
    now: () => nowMs,
    // While it looks, four times a second, every 15 ms are a minute.
    onEvent(event) {
      if (event.kind !== 'waits') return;
      clearInterval(passing);
      if (event.why === 'reports') passing = setInterval(pass, 15);
    },
    ...options,
  }).finally(() => clearInterval(passing));
  const { posted, exit, report: said } = result;
  return { posted, exit, state: said.state, stayed: (nowMs - NINE) / MINUTE - fromMinutes, said };
}
let passing: NodeJS.Timeout | undefined;

describe('a gate on delivery reports', () => {
  it('is left to later starts after 15 minutes, and opened by the first that finds enough', async () => {
    await using api = await startApi();
    using project = given(api.url, '{ steps: [10, 20], gate: { delivered: 80%, wait: 2h } }');
    const first = await start(project, 0);
    expect(first).toMatchObject({ posted: 10, exit: 0, state: 'partial', said: { totals: { deferred: 30 } } });
    expect(first.said.reasons).toEqual({ deferred: { 'canary-undecided': 30 } });
    expect(first.stayed).toBeGreaterThanOrEqual(15);
    expect(Date.parse(first.said.opensAt ?? '')).toBeGreaterThanOrEqual(NINE + 120 * MINUTE);
    received(project, NINE + 99 * MINUTE, delivered(0, 7));
    // A later one looks once.
    expect(await start(project, 100)).toMatchObject({ posted: 0, state: 'partial', stayed: 0 });
    received(project, NINE + 101 * MINUTE, delivered(7, 8));
    const next = await start(project, 102);
    expect(next).toMatchObject({ posted: 10, exit: 0, state: 'partial' });
    expect(next.said.totals).toMatchObject({ accepted: 20, deferred: 20 });
  });

  it('is shut when the time is over, and opens where the reports come after all', async () => {
    await using api = await startApi();
    using project = given(api.url, '{ steps: 10, gate: { delivered: 80%, wait: 10m } }');
    const first = await start(project, 0);
    expect(first).toMatchObject({ posted: 10, exit: 5, state: 'halted' });
    expect(first.said.halt?.message).toContain('Nothing was reported');
    received(project, NINE + 60 * MINUTE, delivered(0, 9));
    expect(await start(project, 61)).toMatchObject({ posted: 30, exit: 0, state: 'finished' });
  });

  it('is stayed for with --wait', async () => {
    await using api = await startApi();
    using project = given(api.url, '{ steps: 10, gate: { delivered: 80%, wait: 2h } }');
    const waited = await start(project, 0, { wait: true }, 1000);
    expect(waited).toMatchObject({ posted: 10, exit: 5 });
    expect(waited.stayed).toBeGreaterThanOrEqual(120);
  });

  it('is shut where too many opt out', async () => {
    await using api = await startApi();
    using project = given(api.url, '{ steps: 10, pause: 1h, gate: { optedOut: 10% } }');
    expect(await start(project, 0)).toMatchObject({ posted: 10, state: 'partial' });
    received(project, NINE + 5 * MINUTE, [stop(3), stop(8)]);
    const shut = await start(project, 61);
    expect(shut).toMatchObject({ posted: 0, exit: 5, state: 'halted' });
    expect(shut.said.halt?.message).toContain('20% of the first 10 accepted messages opted out (2)');
  });

  it('lets through where few opt out, and suppresses them', async () => {
    await using api = await startApi();
    using project = given(api.url, '{ steps: 10, pause: 1h, gate: { optedOut: 10% } }');
    expect(await start(project, 0)).toMatchObject({ posted: 10 });
    received(project, NINE + 5 * MINUTE, [stop(3), stop(30)]);
    const rest = await start(project, 61);
    // Number 30 was not sent to yet, and wrote before that: no opt-out of the canary.
    expect(rest).toMatchObject({ posted: 29, exit: 0, state: 'finished', said: { totals: { skipped: 1 } } });
  });

  it('waits for reports about those in doubt, where enough of them may have their message', async () => {
    await using api = await startApi((n) => (n === 4 ? reset : null));
    using project = given(api.url, '{ steps: 10, gate: { accepted: 95%, delivered: 50%, wait: 2h } }');
    const first = await start(project, 0);
    expect(first).toMatchObject({ posted: 10, state: 'partial', said: { totals: { inDoubt: 1, deferred: 30 } } });
    received(project, NINE + 100 * MINUTE, delivered(0, 10));
    expect(await start(project, 101)).toMatchObject({ posted: 30, exit: 0, state: 'finished' });
  });

  it('is stood before by `due` when it is decided, and not before', async () => {
    await using api = await startApi();
    const schedule = 'schedule: { cron: "0 9 * * *", timeZone: UTC }\n';
    using project = given(api.url, '{ steps: 10, pause: 20m, gate: { delivered: 80%, wait: 4h } }', schedule);
    const at = async (minutes: number) => {
      const { items } = await due(['hello'], optionsOf(project, NINE + minutes * MINUTE));
      return items.map(({ action, why, result }) => `${action} ${why} ${result?.posted ?? '-'}`);
    };
    const occurrence = '2026-11-21T09:00:00Z';
    expect(await at(0)).toEqual(['send null 10']);
    expect(await at(10)).toEqual(['leave waiting -']);
    // The pause is over: it looks, and finds nothing.
    expect(await at(40)).toEqual(['continue null 0']);
    expect(await at(50)).toEqual(['leave waiting -']);
    received(
      project,
      NINE + 55 * MINUTE,
      rows(0, 8).map((row) => report(row, 'read', occurrence)),
    );
    expect(await at(60)).toEqual(['continue null 30']);
  });
});

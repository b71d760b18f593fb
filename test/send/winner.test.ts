import { describe, expect, it } from 'vitest';
import type { DeliveryReport, DeliveryState, Reply, ReplyMeaning } from '../../src/model.ts';
import { due } from '../../src/operations/due.ts';
import { previewRows } from '../../src/operations/preview.ts';
import { send } from '../../src/operations/send.ts';
import type { SendOptions } from '../../src/operations/send-options.ts';
import { createAssigner } from '../../src/plan/assign.ts';
import { createReference } from '../../src/plan/expand.ts';
import { deliveryOf, receive, replyOf } from '../helpers/events.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { answer, startRawServer } from '../helpers/raw-server.ts';

const NINE = Date.UTC(2026, 10, 21, 9);
const HOUR = 3_600_000;
const ROWS = 120;
const numberOf = (row: number): string => `+4477009${String(row).padStart(5, '0')}`;

/** Half of the people test two messages of equal weight. */
const assign = createAssigner(
  [
    { name: 'A', weight: 1 },
    { name: 'B', weight: 1 },
  ],
  { seed: 'hello', holdout: 0, test: 0.5, winner: null, decides: null },
);
const variantOf = (row: number): 'A' | 'B' | null => {
  const assigned = assign(numberOf(row));
  return assigned.kind === 'variant' ? ((['A', 'B'] as const)[assigned.index] ?? null) : null;
};
const rowsOf = (variant: 'A' | 'B' | null) =>
  Array.from({ length: ROWS }, (_, row) => row).filter((row) => variantOf(row) === variant);
const A = rowsOf('A');
const B = rowsOf('B');
const REST = rowsOf(null).length;

function given(url: string, winner: string, more = ''): TestProject {
  return createProject({
    'handbill.yaml': `environments:\n  live: { baseUrl: "${url}", apiKey: { env: KEY } }\n`,
    'hello/campaign.yaml': `name: hello
channel: sms
from: Riverside
variants: [{ name: A, template: { text: "Hi, it is A" } }, { name: B, template: { text: "Hi, it is B" } }]
test: 50%
winner: ${winner}
recipients: people.csv
${more}`,
    'hello/people.csv': `msisdn\n${Array.from({ length: ROWS }, (_, row) => numberOf(row)).join('\n')}\n`,
  });
}

/** An API that takes everything but what a test says, and counts the texts. */
async function startApi(isRefused: (to: string) => boolean = () => false) {
  const texts: string[] = [];
  const server = await startRawServer({
    behaviour: (request) => {
      const { body, recipients } = JSON.parse(request.body);
      texts.push(String(body.text).slice(-1));
      answer(isRefused(recipients[0].msisdn) ? 422 : 202, JSON.stringify({ id: `m-${texts.length}` }))(request);
    },
  });
  return { url: new URL(server.url).origin, texts, [Symbol.asyncDispose]: () => server.close() };
}

function optionsOf(project: TestProject, atMs: number): SendOptions {
  return {
    cwd: project.root,
    env: { KEY: 'key-of-a-test' },
    now: () => atMs,
    random: () => 0,
    environment: 'live',
    confirm: async () => true,
  };
}

const reference = createReference({ environment: 'live', campaign: 'hello', occurrence: 'once' }, 'sms');

const report = (row: number, state: DeliveryState): DeliveryReport =>
  deliveryOf({ reference: reference(numberOf(row)), state, word: state, atMs: NINE + 60_000 });

const reply = (row: number, meaning: ReplyMeaning): Reply =>
  replyOf({ from: numberOf(row), text: meaning, meaning, atMs: NINE + 120_000 });

/** What `listen` does with events. */
const received = (project: TestProject, events: readonly (DeliveryReport | Reply)[], nowMs = NINE + 200_000): void =>
  receive(project.path('.handbill/ledger.db'), events, { nowMs, environment: 'live' });

const delivered = (rows: readonly number[]) => rows.map((row) => report(row, 'delivered'));

async function decisionsOf(project: TestProject, atMs: number): Promise<Record<string, number>> {
  const shown = await previewRows('hello', { ...optionsOf(project, atMs), at: atMs });
  const found: Record<string, number> = {};
  for await (const batch of shown.batches) {
    for (const { decision } of batch) {
      const word = decision.decision === 'send' ? `send ${decision.variant}` : decision.decision;
      found[word] = (found[word] ?? 0) + 1;
    }
  }
  shown.close();
  return found;
}

describe('the winner of a test', () => {
  it('is found by replies alone, as shares of the accepted messages, where the API reports no delivery', async () => {
    await using api = await startApi();
    using project = given(api.url, '{ by: replied, wait: 4h, minimum: 10 }');
    await send('hello', optionsOf(project, NINE));
    const answers = [...A.slice(0, 1), ...B.slice(0, 9)].map((row) => reply(row, 'answer'));
    received(project, answers);
    const { report } = await send('hello', optionsOf(project, NINE + 5 * HOUR));
    expect(report.winner).toMatchObject({
      variant: 'B',
      shares: [
        { name: 'A', part: 1, whole: A.length },
        { name: 'B', part: 9, whole: B.length },
      ],
    });
    expect(report.significance).toMatchObject({ by: 'replied', best: 'B' });
    expect(report.significance?.p).toBeLessThan(0.05);
    // Nothing says that a message was read, so that no figure does.
    expect(report.variants?.every(({ read }) => read === undefined)).toBe(true);
  });

  it('is found when the time has passed, by delivery reports: preview shows it, the next start sends it', async () => {
    await using api = await startApi();
    using project = given(api.url, '{ by: replied, wait: 4h, minimum: 10 }');
    const first = await send('hello', optionsOf(project, NINE));
    expect(first).toMatchObject({ posted: A.length + B.length, exit: 0, report: { state: 'partial' } });
    expect(first.report).toMatchObject({ winnerAt: '2026-11-21T13:00:00.000Z', opensAt: '2026-11-21T13:00:00.000Z' });
    received(project, [...delivered([...A, ...B]), ...A.slice(0, 2).map((row) => reply(row, 'answer'))]);
    received(
      project,
      B.slice(0, 5).map((row) => reply(row, 'answer')),
    );

    const early = NINE + 4 * HOUR - 1;
    expect(await decisionsOf(project, early)).toEqual({ done: A.length + B.length, defer: REST });
    expect(await send('hello', optionsOf(project, early))).toMatchObject({ posted: 0, started: false });
    const late = NINE + 4 * HOUR;
    expect(await send('hello', optionsOf(project, late))).toMatchObject({
      posted: REST,
      report: {
        state: 'finished',
        winner: {
          variant: 'B',
          by: 'replied',
          why: null,
          shares: [
            { name: 'A', part: 2, whole: A.length },
            { name: 'B', part: 5, whole: B.length },
          ],
        },
      },
    });
    expect(api.texts.slice(A.length + B.length)).toEqual(Array(REST).fill('B'));
    // It is remembered, whatever comes in afterwards.
    const answers = A.map((row) => reply(row, 'answer'));
    received(project, answers, late);
    const again = await send('hello', optionsOf(project, late + HOUR));
    expect(again).toMatchObject({ started: false, report: { winner: { variant: 'B', by: 'replied' } } });
  });

  it('is shown by preview as the next start takes it', async () => {
    await using api = await startApi();
    using project = given(api.url, '{ by: delivered, wait: 1h, minimum: 10 }');
    await send('hello', optionsOf(project, NINE));
    received(project, delivered([...A, ...B.slice(1)]));
    expect(await decisionsOf(project, NINE + HOUR)).toEqual({ done: A.length + B.length, 'send A': REST });
  });

  it.each<[string, string, readonly (DeliveryReport | Reply)[], object]>([
    ['delivered', 'delivered', [...delivered(A), ...delivered(B.slice(3))], { variant: 'A', why: null }],
    [
      'read, per message that was accepted',
      'read',
      // Six of all of A, seven of all of B, of which few are known to have arrived.
      [
        ...delivered(A.slice(6)),
        ...A.slice(0, 6).map((row) => report(row, 'read')),
        ...delivered(B.slice(7, 11)),
        ...B.slice(0, 7).map((row) => report(row, 'read')),
      ],
      { variant: 'B', why: null },
    ],
    [
      'replied to, of which opting out is none',
      'replied',
      [
        ...delivered([...A, ...B]),
        ...A.slice(0, 9).map((row) => reply(row, 'opt-out')),
        ...B.slice(0, 1).map((row) => reply(row, 'answer')),
      ],
      { variant: 'B', why: null },
    ],
    [
      'opted out after, of which the least wins',
      'optedOut',
      [...delivered([...A, ...B]), ...A.slice(0, 3).map((row) => reply(row, 'opt-out'))],
      { variant: 'B', why: null },
    ],
    ['equal: the first one', 'replied', delivered([...A, ...B]), { variant: 'A', why: 'tie' }],
    ['equal: none', 'replied, tie: none', delivered([...A, ...B]), { variant: null, why: 'tie' }],
    ['too few: none', 'replied, minimum: 61', delivered([...A, ...B]), { variant: null, why: 'sample' }],
    ['nothing: none', 'delivered, minimum: 61', [], { variant: null, why: 'sample' }],
  ])('by how many were %s', async (_, by, events, expected) => {
    await using api = await startApi();
    using project = given(api.url, `{ by: ${by}${by.includes('minimum') ? '' : ', minimum: 10'} }`);
    await send('hello', optionsOf(project, NINE));
    received(project, events);
    const { report: found, posted } = await send('hello', optionsOf(project, NINE + 5 * HOUR));
    expect(found.winner).toMatchObject(expected);
    expect(posted).toBe(found.winner?.variant === null ? 0 : REST);
    // A test that nothing decides waits for a person.
    if (found.winner?.variant !== null) return;
    const named = await send('hello', { ...optionsOf(project, NINE + 6 * HOUR), winner: 'A' });
    expect(named).toMatchObject({ posted: REST, report: { winner: { variant: 'A', by: null } } });
  });

  it('by how many were accepted counts recipients that the API refused', async () => {
    const refused = new Set([...A.slice(0, 3)].map(numberOf));
    await using api = await startApi((to) => refused.has(to));
    using project = given(api.url, '{ by: accepted, wait: 0s, minimum: 10 }');
    await send('hello', optionsOf(project, NINE));
    const { report: found } = await send('hello', optionsOf(project, NINE + 1));
    expect(found.winner).toMatchObject({ variant: 'B', shares: [{ part: A.length - 3, whole: A.length }, {}] });
  });

  it('is not looked for while the test is being sent, and its time begins with the last of it', async () => {
    await using api = await startApi();
    using project = given(api.url, '{ by: accepted, wait: 1h, minimum: 10 }');
    const half = A.length + B.length - 5;
    expect(await send('hello', { ...optionsOf(project, NINE), limit: half })).toMatchObject({ posted: half });
    const second = await send('hello', optionsOf(project, NINE + 3 * HOUR));
    expect(second).toMatchObject({ posted: 5, report: { winnerAt: '2026-11-21T13:00:00.000Z' } });
    expect(await send('hello', optionsOf(project, NINE + 4 * HOUR))).toMatchObject({ posted: REST });
  });

  it('is waited for with --wait', async () => {
    await using api = await startApi();
    using project = given(api.url, '{ by: accepted, wait: 4h, minimum: 10 }');
    let nowMs = NINE;
    const waits: string[] = [];
    const { posted, report: found } = await send('hello', {
      ...optionsOf(project, NINE),
      now: () => nowMs,
      wait: true,
      onEvent(event) {
        if (event.kind === 'waits') waits.push(new Date(event.untilMs).toISOString().slice(11, 16));
      },
      timers: {
        sleep: async (ms) => {
          nowMs += ms;
        },
      },
    });
    expect({ posted, waits, winner: found.winner?.variant }).toEqual({ posted: ROWS, waits: ['13:00'], winner: 'A' });
  });

  it('is found by `due`, which does not touch the run until then', async () => {
    await using api = await startApi();
    const schedule = 'schedule: { cron: "0 9 * * *", timeZone: UTC }\n';
    using project = given(api.url, '{ by: accepted, wait: 26h, minimum: 10 }', schedule);
    const at = async (atMs: number) => {
      const { occurrence: _, limit: __, onEvent: ___, ...options } = optionsOf(project, atMs);
      const { items } = await due(['hello'], options);
      return items.map(({ action, why, result }) => `${action} ${why} ${result?.posted ?? '-'}`);
    };
    expect(await at(NINE)).toEqual([`send null ${A.length + B.length}`]);
    expect(await at(NINE + 20 * HOUR)).toEqual(['leave waiting -']);
    expect((await at(NINE + 26 * HOUR))[0]).toBe(`continue null ${REST}`);
  });

  it('where nothing has won, is looked for by `due` again when there is new evidence', async () => {
    await using api = await startApi();
    const schedule = 'schedule: { cron: "0 9 * * *", timeZone: UTC }\n';
    using project = given(api.url, '{ by: delivered, wait: 1h, minimum: 1, tie: none }', schedule);
    const at = async (atMs: number) => {
      const { occurrence: _, limit: __, onEvent: ___, ...options } = optionsOf(project, atMs);
      const { items } = await due(['hello'], options);
      return items.map(({ action, why, result }) => `${action} ${why} ${result?.posted ?? '-'}`);
    };
    const identity = { environment: 'live', campaign: 'hello', occurrence: '2026-11-21T09:00:00Z' };
    const referenceOf = createReference(identity, 'sms');
    const arrived = (row: number) =>
      deliveryOf({ reference: referenceOf(numberOf(row)), state: 'delivered', word: 'delivered', atMs: NINE + HOUR });
    expect(await at(NINE)).toEqual([`send null ${A.length + B.length}`]);
    // The first call notes why nothing has won, for the report.
    expect(await at(NINE + HOUR)).toEqual(['continue null 0']);
    expect(await at(NINE + 2 * HOUR)).toEqual(['leave waiting -']);
    received(
      project,
      rowsOf(null).map((row) => reply(row, 'answer')),
      NINE + 2 * HOUR,
    );
    expect(await at(NINE + 3 * HOUR)).toEqual(['continue null 0']);
    expect(await at(NINE + 4 * HOUR)).toEqual(['leave waiting -']);
    received(project, A.map(arrived), NINE + 4 * HOUR);
    expect(await at(NINE + 5 * HOUR)).toEqual([`continue null ${REST}`]);
  });
});

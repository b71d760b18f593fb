import { parse } from 'csv-parse/sync';
import { expect } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import type { Report, StepCount } from '../../src/model.ts';
import { outcomes } from '../../src/operations/report.ts';
import { countRun } from '../../src/web/counts.ts';
import { handbillHere } from '../cli/in-process.ts';
import { deliveryOf, receive } from '../helpers/events.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { createProject } from '../helpers/project.ts';
import { answer, startRawServer } from '../helpers/raw-server.ts';

const NINE = Date.UTC(2026, 10, 21, 9);
const HOUR = 3_600_000;
const MONTH = '2026-11';

const CAMPAIGN = `name: hello
channel: rcs
from: Riverside
template: { text: "Hi {{name}}" }
recipients: people.csv
fallback: { channel: sms, template: { text: "Hi {{name}}, by SMS" } }
variants: [{ name: english }, { name: welsh, where: { name: { $in: [Ann, Cy] } }, template: { text: Helo }, fallback: { channel: sms, template: { text: "Helo, SMS" } } }]
send: { attempts: 1, concurrency: 1 }
`;

interface Told {
  /** The text of each SMS that was posted. */
  readonly texts: readonly string[];
  readonly report: Report;
  readonly runs: readonly Report[];
  readonly csv: readonly Readonly<Record<string, string>>[];
  /** What the steps of each recipient cost, by key. */
  readonly costs: readonly (readonly [string, readonly (number | null)[]])[];
  /** The same, as a program gets them. */
  readonly inPrograms: readonly (readonly [string | null, readonly (number | null)[]])[];
  /** As `serve` counts them. */
  readonly counted: readonly StepCount[];
  readonly counts: readonly StepCount[];
  /** In millionths. */
  readonly spent: number;
}

/**
 * RCS at 0.06 and SMS at 0.04: one message is reported as undeliverable (Ann), one arrives (Bob), one is refused because
 * the channel is not supported (Cy). The first SMS to Ann finds the API too busy, so that another start sends it.
 */
async function tellFallbacks(ledger?: string): Promise<Told> {
  const texts: string[] = [];
  let requests = 0;
  const server = await startRawServer({
    behaviour: (request) => {
      const { channel, body, recipients } = JSON.parse(request.body);
      requests += 1;
      if (channel === 'SMS') texts.push(body.text);
      const isBusy = texts.length === 2 && channel === 'SMS';
      const [status, said] =
        channel === 'RCS' && String(recipients[0].msisdn).endsWith('3')
          ? [422, { code: 'channel-not-supported' }]
          : isBusy
            ? [429, {}]
            : [202, { id: `m-${requests}` }];
      answer(status, JSON.stringify(said))(request);
    },
  });
  using project = createProject({
    'handbill.yaml': `prices: prices.csv\nenvironments:\n  live: { baseUrl: "${new URL(server.url).origin}", apiKey: { env: KEY }, budget: { max: 9, per: month } }\n`,
    'prices.csv': 'country,price,channel,currency\nGB,0.06,rcs,EUR\nGB,0.04,sms,EUR\n',
    'hello/campaign.yaml': CAMPAIGN,
    'hello/people.csv': 'msisdn,name\n+447700900001,Ann\n+447700900002,Bob\n+447700900003,Cy\n',
  });
  const place = ledger ?? project.path('.handbill/ledger.db');
  const env = { KEY: 'key-of-a-test', ...(ledger === undefined ? {} : { HANDBILL_LEDGER: ledger }) };
  const handbill = async (line: string, nowMs: number): Promise<string> =>
    (await handbillHere(project.root, line.split(' '), { env, now: () => nowMs })).out;
  try {
    await handbill('send hello --env live --yes', NINE);
    const undeliverable = deliveryOf({ state: 'undeliverable', messageId: 'm-1', atMs: NINE + 1 });
    receive(place, [undeliverable], { nowMs: NINE + HOUR, environment: 'live' });
    for (const hours of [1, 2]) await handbill('send hello --env live --yes', NINE + hours * HOUR);
    const later = NINE + 3 * HOUR;
    const [report, { runs }] = (await Promise.all(
      ['report hello --format json', 'runs --format json'].map(async (line) => JSON.parse(await handbill(line, later))),
    )) as [Report, { runs: Report[] }];
    const records: { key: string; steps?: { cost: number | null }[] }[] = jsonLines(
      await handbill('report hello --format jsonl', later),
    );
    const inPrograms: [string | null, (number | null)[]][] = [];
    for await (const { key, steps = [] } of outcomes('hello', { cwd: project.root, env, now: () => later })) {
      inPrograms.push([key, steps.map(({ cost }) => cost)]);
    }
    using open = openLedger(place, { mode: 'read', nowMs: later });
    const run = open.runs()[0];
    if (run === undefined) throw new Error('nothing was sent');
    return {
      texts,
      report,
      runs,
      csv: parse(await handbill('report hello --format csv', later), { columns: true }),
      costs: records.map(({ key, steps = [] }) => [key, steps.map(({ cost }) => cost)] as const),
      inPrograms,
      counted: (await countRun(open, run, null, () => false, later)).steps,
      counts: open.steps(run),
      spent: open.spent({ environment: 'live', period: MONTH, currency: 'EUR' }),
    };
  } finally {
    await server.close();
  }
}

export async function expectAgreed(ledger?: string): Promise<void> {
  const { texts, report, runs, csv, costs, inPrograms, counted, counts, spent } = await tellFallbacks(ledger);
  expect(texts).toEqual(['Helo, SMS', 'Helo, SMS', 'Helo, SMS']);
  const sms = { parts: 2, encodings: { 'GSM-7': 2 }, cost: 0.2 };
  const steps = [
    { channel: 'rcs', attempted: 3, accepted: 1, fellBack: 2, cost: 0.12 },
    { channel: 'sms', attempted: 2, accepted: 2, fellBack: 0, cost: 0.08 },
  ];
  const variants = [
    { name: 'english', recipients: 1, accepted: 1 },
    { name: 'welsh', recipients: 2, accepted: 2 },
  ];
  for (const one of [report, ...runs]) expect(one).toMatchObject({ sms, steps, variants });
  expect(runs).toHaveLength(1);
  expect(csv.map(({ line, variant, steps }) => [line, variant, steps])).toEqual([
    ['2', 'welsh', 'rcs:rejected sms:accepted'],
    ['3', 'english', ''],
    ['4', 'welsh', 'rcs:rejected sms:accepted'],
  ]);
  expect(costs).toEqual([
    ['+447700900001', [0.06, 0.04]],
    ['+447700900002', []],
    ['+447700900003', [0, 0.04]],
  ]);
  expect(inPrograms).toEqual(costs);
  const sorted = (all: readonly StepCount[]) => all.map((one) => JSON.stringify(Object.entries(one).sort())).sort();
  expect(sorted(counted)).toEqual(sorted(counts));
  expect(spent).toBe(200_000);
}

import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import type { Report } from '../../src/model.ts';
import type { CommandContext } from '../../src/operations/context.ts';
import { send } from '../../src/operations/send.ts';
import { createReferences } from '../../src/plan/expand.ts';
import { formatAjv } from '../helpers/format-schemas.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

/** Who has which device in the sandbox is said by the number: docs/sandbox.md. */
const PEOPLE = [
  ['c1', '+447700900844', '+447700900901'], // no RCS; an SMS that is never answered
  ['c2', '+447700900801', '+447700900002'], // no RCS
  ['c3', '+447700900003', '+447700900003'],
  ['c4', '+447700900801', '+447700900400'], // no RCS; an SMS that is refused
  ['c5', '+447700900776', '+447700900801'], // no RCS; a landline
] as const;

const BACK = `name: back
channel: rcs
from: Riverside
template: { text: "Hello" }
recipients: { csv: people.csv, to: app, key: id }
fallback: { channel: sms, to: phone, from: Riverside, template: { text: "Hello by SMS" } }
`;

const TESTED = `name: tested
channel: sms
from: Riverside
recipients: people.csv
variants:
  - { name: zebra, template: { text: "Hello" } }
  - { name: aardvark, template: { text: "Good day" } }
test: 50%
`;

const IDENTITY = { environment: 'sandbox', campaign: 'back', occurrence: 'once' };
const referenceOf = createReferences(IDENTITY);
const schema = JSON.parse(readFileSync(new URL('../../schemas/report.schema.json', import.meta.url), 'utf8'));
const ajv = formatAjv({ strict: true, allErrors: true, allowUnionTypes: true });
const isReport = ajv.compile(schema);
const isRecord = ajv.compile({ ...schema.definitions.record, definitions: schema.definitions });

let project: TestProject;

beforeAll(async () => {
  project = createProject({
    'handbill.yaml': 'prices: prices.csv\n',
    'prices.csv': 'country,price,channel,currency\nGB,0.06,rcs,EUR\nGB,0.04,sms,EUR\n',
    'campaigns/back/campaign.yaml': BACK,
    'campaigns/back/people.csv': `id,app,phone\n${PEOPLE.map((row) => `${row.join(',')}\n`).join('')}`,
    'campaigns/tested/campaign.yaml': TESTED,
    'campaigns/tested/people.csv': `msisdn\n${Array.from({ length: 60 }, (_, i) => `+447700900${100 + i}\n`).join('')}`,
  });
  await send('back', { cwd: project.root, env: {}, now: Date.now });
});
afterAll(() => project[Symbol.dispose]());

/** The command line in this process, with a terminal of so many columns. */
async function handbill(args: readonly string[], width = 80): Promise<{ out: string; err: string; status: number }> {
  const said = { out: '', err: '', status: 0 };
  const context: CommandContext = {
    cwd: project.root,
    env: {},
    now: Date.now,
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    colour: { out: false, err: false },
    width,
    interactive: false,
    exit: (status) => {
      said.status = status;
    },
  };
  await runProgram(args, context);
  return said;
}

async function reportOf(...args: readonly string[]): Promise<Report> {
  const report = JSON.parse((await handbill(['report', ...args, '--format', 'json'])).out);
  isReport(report);
  expect(isReport.errors).toBeNull();
  return report;
}

async function recordsOf(campaign: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { out } = await handbill(['report', campaign, '--format', 'jsonl']);
  return out
    .trimEnd()
    .split('\n')
    .map((line) => {
      const record = JSON.parse(line);
      isRecord(record);
      expect(isRecord.errors).toBeNull();
      return record;
    });
}

describe('a campaign with a fallback', () => {
  it('has its own accounting for each channel, and counts each recipient once', async () => {
    const { totals, reasons, steps, sms, variants } = await reportOf('back');
    expect(totals).toMatchObject({ recipients: 5, accepted: 2, rejected: 2, inDoubt: 1 });
    expect(reasons).toEqual({ rejected: { status: 1, 'unsupported-channel': 1 }, inDoubt: { 'no-response': 1 } });
    const none = { rejected: 0, inDoubt: 0, failed: 0, fellBack: 0, pending: 0 };
    expect(steps).toEqual([
      { channel: 'rcs', attempted: 5, accepted: 1, ...none, fellBack: 4, parts: 0, cost: 0.06 },
      { channel: 'sms', attempted: 4, accepted: 1, ...none, rejected: 2, inDoubt: 1, parts: 2, cost: 0.08 },
    ]);
    expect(sms).toEqual({ parts: 2, encodings: { 'GSM-7': 2 }, cost: 0.14 });
    expect(variants).toBeUndefined();
  });

  it('has the last step in each record, and all of them beside it', async () => {
    const records = await recordsOf('back');
    expect(records.map(({ key, channel, to, outcome, reason }) => [key, channel, to, outcome, reason])).toEqual([
      ['c1', 'sms', '+447700900901', 'in-doubt', 'no-response'],
      ['c2', 'sms', '+447700900002', 'accepted', null],
      ['c3', 'rcs', '+447700900003', 'accepted', null],
      ['c4', 'sms', '+447700900400', 'rejected', 'status'],
      ['c5', 'sms', '+447700900801', 'rejected', 'unsupported-channel'],
    ]);
    expect(
      records.map(({ key, reference }) => reference === referenceOf(String(key), key === 'c3' ? 'rcs' : 'sms')),
    ).toEqual(records.map(() => true));
    expect(records[2]).not.toHaveProperty('steps');
    expect(records[0]?.['steps']).toMatchObject([
      {
        channel: 'rcs',
        to: '+447700900844',
        reference: referenceOf('c1', 'rcs'),
        outcome: 'rejected',
        reason: 'fell-back',
        httpStatus: 422,
        cost: 0,
      },
      { channel: 'sms', to: '+447700900901', reference: referenceOf('c1', 'sms'), outcome: 'in-doubt', cost: 0.04 },
    ]);
    const rows: Record<string, string>[] = parse((await handbill(['report', 'back', '--format', 'csv'])).out, {
      columns: true,
    });
    expect(rows.map(({ steps }) => steps)).toEqual([
      'rcs:rejected sms:in-doubt',
      'rcs:rejected sms:accepted',
      '',
      'rcs:rejected sms:rejected',
      'rcs:rejected sms:rejected',
    ]);
  });

  it.each([40, 80])('is told in %i columns', async (width) => {
    const { out } = await handbill(['report', 'back'], width);
    const section = out.slice(out.indexOf('\nChannels\n'), out.indexOf('\nWhat to do next'));
    expect(section).toMatch(/\n {2}rcs +5 +1 +4/);
    expect(section).toMatch(/\n {2}sms +4 +1 +0/);
    for (const line of section.split('\n')) expect(line.length).toBeLessThanOrEqual(width);
  });

  test('its doubts are about the step that is in doubt, whichever way it is named', async () => {
    const listed = JSON.parse((await handbill(['doubt', 'list', 'back', '--format', 'json'])).out).doubts;
    expect(listed).toMatchObject([
      { key: 'c1', channel: 'sms', step: 1, to: '+447700900901', reference: referenceOf('c1', 'sms') },
    ]);
    const { out } = await handbill(['doubt', 'list', 'back']);
    expect(out).toMatch(/^ {2}line +address +via +reference .*\n +2 +\S+0901 +sms /m);
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(80);

    const resolve = (...args: string[]) => handbill(['doubt', 'resolve', 'back', ...args, '--as', 'accepted', '--yes']);
    await expect(resolve('--key', referenceOf('c1', 'rcs'), referenceOf('c3', 'rcs'))).rejects.toMatchObject({
      code: 'not-in-doubt',
      exit: 2,
      diagnostics: [
        {
          message: `"${referenceOf('c1', 'rcs')}" (line 2) is rejected (fell-back), not in doubt.`,
          hint: 'Its fallback (sms) is in doubt: choose it with --line 2.',
        },
        { message: `"${referenceOf('c3', 'rcs')}" (line 4) is accepted, not in doubt.` },
      ],
    });
    for (const name of [referenceOf('c1', 'sms'), 'c1', '+44 7700 900901']) {
      await expect(resolve('--key', name, 'nobody')).rejects.toMatchObject({
        diagnostics: [{ message: '"nobody" is not in this run.' }],
      });
    }
    expect((await resolve('--key', '+44 7700 900901')).out).toMatch(/^1 recipient recorded as accepted/);
    const history = await handbill(['doubt', 'list', 'back', '--resolved', '--format', 'jsonl']);
    expect(JSON.parse(history.out)).toMatchObject({ step: 1, channel: 'sms', verdict: 'accepted' });
    expect((await reportOf('back')).steps?.[1]).toMatchObject({ accepted: 2, inDoubt: 0 });
  });
});

describe('a campaign with a test', () => {
  it('says who waits and what to do, sends to them once the winner is named, and compares', async () => {
    const first = await handbill(['send', 'tested']);
    expect(first.status).toBe(0);
    expect(first.out).toMatch(/\d+ of 60 sent, \d+ waiting\./);
    expect(first.out).toMatch(/\n {4}handbill send tested --winner NAME\n/);
    const before = await reportOf('tested');
    expect(before).toMatchObject({ state: 'partial', significance: { p: 1, test: 'fisher', enough: true } });
    expect(before).not.toHaveProperty('steps');
    // As the campaign has them, not by name.
    expect(before.variants?.map(({ name, rate }) => [name, rate])).toEqual([
      ['zebra', 1],
      ['aardvark', 1],
    ]);
    const inTest = before.variants?.reduce((sum, { recipients }) => sum + recipients, 0) ?? 0;
    expect(before.totals).toMatchObject({ accepted: inTest, deferred: 60 - inTest });

    const again = await handbill(['send', 'tested']);
    expect(again).toMatchObject({
      status: 0,
      err: 'Nothing was posted: all remaining recipients wait for the variant that wins the test.\n',
    });
    await expect(handbill(['send', 'tested', '--winner', 'zebre'])).rejects.toMatchObject({ exit: 2 });
    expect((await handbill(['send', 'tested', '--winner', 'aardvark'])).status).toBe(0);
    const after = await reportOf('tested');
    expect(after).toMatchObject({ state: 'finished', totals: { accepted: 60, deferred: 0 } });
    const [zebra, aardvark] = after.variants ?? [];
    expect(zebra).toEqual(before.variants?.[0]);
    expect(aardvark).toMatchObject({ recipients: 60 - (zebra?.recipients ?? 0), rate: 1, high: 1 });
    expect((await recordsOf('tested')).filter(({ variant }) => variant === 'aardvark')).toHaveLength(
      aardvark?.accepted ?? -1,
    );
    const page = (await handbill(['report', 'tested', '--format', 'html'])).out;
    expect(page.slice(page.indexOf('<h2>Variants'))).toMatch(
      new RegExp(`<th scope="row">List[^]*?data-label="aardvark"><span>${aardvark?.recipients}<`),
    );
    expect(page).toContain('Too early to tell a difference in what the API accepts');
  });

  it('has the variants by name once the campaign file says something else', async () => {
    const names = async () => (await reportOf('tested')).variants?.map(({ name }) => name);
    expect(await names()).toEqual(['zebra', 'aardvark']);
    project.write('campaigns/tested/campaign.yaml', `${TESTED}# another\n`);
    expect(await names()).toEqual(['aardvark', 'zebra']);
    project.write('campaigns/tested/campaign.yaml', 'name: ][');
    expect(await names()).toEqual(['aardvark', 'zebra']);
    project.write('campaigns/tested/campaign.yaml', TESTED);
    const { runs } = JSON.parse((await handbill(['runs', '--format', 'json'])).out);
    for (const run of runs) expect(isReport(run), JSON.stringify(isReport.errors)).toBe(true);
    expect(runs).toHaveLength(2);
  });
});

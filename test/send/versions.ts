import { parse } from 'csv-parse/sync';
import { beforeEach, expect, it } from 'vitest';
import type { Report } from '../../src/model.ts';
import { handbillHere } from '../cli/in-process.ts';
import { accepted, type FileApi, recipientsIn, useApi } from '../helpers/api.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

/** What the commands of a test find in their environment. */
const env: Record<string, string> = { KEY: 'secret' };

const NINE = Date.parse('2026-11-23T09:00:00Z');

interface Received {
  readonly to: string;
  /** The word of the text that the test changes. */
  readonly word: string;
  readonly isTaken: boolean;
}

/** Its connection is dropped. */
let silent = '';
/** Takes an SMS, and RCS for numbers that end in an even digit. */
let api: FileApi;

function answer(body: string, number: number) {
  const { to, isTaken } = readBody(body);
  if (to === silent) return null;
  return isTaken ? accepted(body, number) : { status: 422, body: '{"code":"NO_RCS"}' };
}

function readBody(body: string): Received {
  const to = recipientsIn(body)[0]?.msisdn ?? '';
  const word = /(?:November|December|January)/.exec(body)?.[0] ?? '';
  return { to, word, isTaken: !body.includes('by RCS') || Number(to.at(-1)) % 2 === 0 };
}

const PEOPLE = Array.from({ length: 10 }, (_, i) => `+4474001234${50 + i}`);
const listOf = (people: readonly string[]): string =>
  `id,msisdn,n\n${people.map((to) => `${to.slice(-2)},${to},Ann\n`).join('')}`;

const rent = (text: string): string => `name: rent
channel: rcs
from: Riverside
template: text.txt
recipients: { csv: people.csv, key: id }
fallback: { channel: sms, to: msisdn, from: Riverside, template: { text: "${text} by SMS" } }
`;

function project(): TestProject {
  return createProject({
    'handbill.yaml': `environments:
  api:
    baseUrl: ${api.url}
    apiKey: { env: KEY }
    wire: { answers: [{ status: 422, then: unsupported }] }
`,
    'rent.yaml': rent('November'),
    'text.txt': TEXT.replace('WORD', 'November'),
    'people.csv': listOf(PEOPLE),
  });
}

const TEXT = 'WORD for {{n}} by RCS';

function say(here: TestProject, word: string): void {
  here.write('text.txt', TEXT.replace('WORD', word));
  here.write('rent.yaml', rent(word));
}

const handbill = (here: TestProject, line: string) =>
  handbillHere(here.root, line.trim().split(' '), { env, now: () => NINE, width: 400 });

const send = (here: TestProject, more: string) => handbill(here, `send rent --env api --yes ${more}`);

interface Row {
  readonly key: string;
  readonly to: string;
  readonly outcome: string;
  readonly inputs: string;
}

async function rowsOf(here: TestProject, more = ''): Promise<readonly Row[]> {
  const { out, status, err } = await handbill(here, `report rent --format csv${more}`);
  expect({ status, err }).toEqual({ status: 0, err: '' });
  // A spreadsheet would take the plus sign for a formula.
  return parse(out.replaceAll(`'+`, '+'), { columns: true }) as Row[];
}

const tos = (rows: readonly { readonly to: string }[]): readonly string[] => rows.map(({ to }) => to).sort();
const gotWord = (word: string): readonly string[] =>
  tos(api.bodies.map(readBody).filter((one) => one.isTaken && one.word === word));

async function reportOf(here: TestProject): Promise<Report> {
  return JSON.parse((await handbill(here, 'report rent --format json')).out) as Report;
}

/** Half of them get November, the others December. */
async function changedHalfWay(here: TestProject): Promise<void> {
  await send(here, '--limit 5');
  say(here, 'December');
  expect((await send(here, '')).err).toContain('input-changed');
  expect(await send(here, '--allow input-changed')).toMatchObject({ status: 0 });
}

/** The tests of versions, with a ledger at the address that is given; null: in a file. */
export function versionsIn(address: (() => Promise<string>) | null): void {
  api = useApi(answer);
  beforeEach(async () => {
    env['HANDBILL_LEDGER'] = (await address?.()) ?? '';
    silent = '';
  });

  it('is kept with every row: one command says who got the old text', async () => {
    using here = project();
    await changedHalfWay(here);
    expect(gotWord('November')).toHaveLength(5);
    expect(gotWord('December')).toHaveLength(5);
    expect(tos(await rowsOf(here, ' --inputs v1'))).toEqual(gotWord('November'));
    expect(tos(await rowsOf(here, ' --inputs v2'))).toEqual(gotWord('December'));
    expect(await rowsOf(here, ' --inputs v1 v2')).toHaveLength(10);
    expect((await rowsOf(here)).map(({ inputs }) => inputs)).toEqual([...Array(5).fill('v1'), ...Array(5).fill('v2')]);
    const { out } = await handbill(here, 'report rent --format jsonl --inputs v2');
    const steps = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).steps as { inputs: string }[] | undefined);
    expect(steps.flatMap((own) => own ?? []).map(({ inputs }) => inputs)).toEqual(Array(6).fill('v2'));
  });

  it('is counted in the report, where there are several', async () => {
    using here = project();
    await send(here, '--limit 5');
    expect((await reportOf(here)).versions).toBeUndefined();
    expect((await handbill(here, 'report rent')).out).not.toContain('Inputs v1');
    say(here, 'December');
    await send(here, '--allow input-changed --limit 3');
    const { versions = [], inputs = [] } = await reportOf(here);
    expect(versions.map(({ name, totals }) => [name, totals.recipients, totals.accepted])).toEqual([
      ['v1', 5, 5],
      ['v2', 3, 3],
    ]);
    const [old, now] = versions.map((one) => one.inputs.find(({ role }) => role === 'template')?.sha256);
    expect(old).not.toBe(now);
    expect(inputs.find(({ role }) => role === 'template')?.sha256).toBe(now);
    const { out } = await handbill(here, 'report rent');
    expect(out).toMatch(/Inputs v1 +5 accepted; since 2026-11-23 09:00:00 UTC\n/);
    expect(out).toMatch(/Inputs v2 +3 accepted; since 2026-11-23 09:00:00 UTC; other than v1: rent.yaml, text.txt\n/);
  });

  it('is the same after a change of the list, and again that of inputs that come back', async () => {
    using here = project();
    await send(here, '--limit 2');
    here.write('people.csv', listOf(PEOPLE.toReversed()));
    await send(here, '--allow input-changed --limit 2');
    expect(new Set((await rowsOf(here)).map(({ inputs }) => inputs))).toEqual(new Set(['v1', '']));
    say(here, 'December');
    await send(here, '--allow input-changed --limit 2');
    say(here, 'November');
    await send(here, '--allow input-changed --limit 2');
    expect(gotWord('December')).toHaveLength(2);
    expect(tos(await rowsOf(here, ' --inputs v2'))).toEqual(gotWord('December'));
    expect((await reportOf(here)).versions).toHaveLength(2);
    expect((await rowsOf(here)).filter(({ inputs }) => inputs === '')).toHaveLength(2);
  });

  it('names a recipient with each text that may have arrived', async () => {
    using here = project();
    silent = PEOPLE[0] ?? '';
    await send(here, '--limit 2');
    expect((await rowsOf(here)).map(({ outcome, inputs }) => [outcome, inputs]).slice(0, 3)).toEqual([
      ['in-doubt', 'v1'],
      ['accepted', 'v1'],
      ['pending', ''],
    ]);
    silent = '';
    await handbill(here, 'doubt resolve rent --resend --accept-duplicates --key 50 --yes');
    say(here, 'December');
    await send(here, '--allow input-changed');
    expect((await rowsOf(here))[0]).toMatchObject({ outcome: 'accepted', inputs: 'v1 v2' });
    expect((await rowsOf(here, ' --inputs v1')).map(({ key }) => key)).toEqual(['50', '51']);
    const { out } = await handbill(here, 'person 50');
    expect(out).toContain('rcs: accepted, inputs v1 v2');
  });

  it('that the run does not have is refused, and so is a format without recipients', async () => {
    using here = project();
    await send(here, '--limit 2');
    expect(await handbill(here, 'report rent --inputs v2 --format csv')).toMatchObject({
      status: 2,
      err: expect.stringContaining('has no version "v2" of its inputs'),
    });
    expect(await handbill(here, 'report rent --inputs v1')).toMatchObject({
      status: 2,
      err: expect.stringContaining('--inputs chooses recipients'),
    });
  });
}

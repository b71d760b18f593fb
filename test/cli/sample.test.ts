import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { preview } from '../../src/operations/preview.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { handbillHere } from './in-process.ts';
import { projectWith } from './run-handbill.ts';

const NOW = Date.parse('2026-11-23T09:00:00Z');

const CAMPAIGN = `name: visit
channel: sms
from: Riverside
template: { text: "{{name}}, {{plan}}, {{visit}}" }
recipients:
  csv: people.csv
  sample: sample.csv
  columns:
    visit: { type: date, required: true }
    plan: { values: [Gold, Silver] }
`;
const HEADER = 'msisdn,name,plan,visit\n';

interface Written {
  readonly people?: string | null;
  readonly sample?: string;
  readonly campaign?: string;
}

function project({
  people = null,
  sample = `${HEADER}+447700900123,Ada,Gold,2026-12-01\n`,
  campaign = CAMPAIGN,
}: Written) {
  return createProject({
    'handbill.yaml': '{}\n',
    'campaigns/visit/campaign.yaml': campaign,
    'campaigns/visit/sample.csv': sample,
    ...(people === null ? {} : { 'campaigns/visit/people.csv': people }),
  });
}

const handbill = (here: TestProject, line: string) =>
  handbillHere(here.root, line.split(' '), { now: () => NOW, width: 400 });

const SAID =
  'The list campaigns/visit/people.csv is not there: its sample campaigns/visit/sample.csv is read in its place.';

describe('the sample of a list that is not there', () => {
  it('is validated and previewed, and every output says so', async () => {
    using here = project({});
    const validated = await handbill(here, 'validate');
    expect(validated).toMatchObject({ status: 0, err: expect.stringContaining(SAID) });
    expect(validated.out).toBe('visit (sample campaigns/visit/sample.csv): 1 recipient, 1 to send, 1 part: ok\n');
    for (const format of ['github', 'json', 'junit']) {
      expect((await handbill(here, `validate --format ${format}`)).out).toContain('list-sampled');
    }
    const text = await handbill(here, 'preview visit');
    expect(text).toMatchObject({ status: 0, err: expect.stringContaining(SAID) });
    expect(text.out).toContain('Ada, Gold, 2026-12-01');
    expect(text.out).toMatch(/^list +The list campaigns/m);
    const json = JSON.parse((await handbill(here, 'preview visit --format json')).out);
    expect(json).toMatchObject({ sample: 'campaigns/visit/sample.csv', estimate: { rows: 1 } });
    expect((await handbill(here, 'preview visit --format html')).out).toContain('is read in its place');
    const { sample } = await preview('visit', { cwd: here.root, now: () => NOW }).result();
    expect(sample).toBe('campaigns/visit/sample.csv');
  });

  it.each([
    'send visit --yes',
    'send visit --dry-run',
    'plan visit',
    'due --yes',
    'send visit --test-to +447700900199',
  ])('is what handbill never sends to: %s', async (line) => {
    using here = project({ campaign: `${CAMPAIGN}schedule: { cron: "0 9 * * *", missed: catch-up }\n` });
    const { status, err } = await handbill(here, line);
    expect({ status, err }).toMatchObject({ status: 2, err: expect.stringContaining('file-not-found') });
    expect(err).toContain('never sent to');
    expect((await handbill(here, 'runs')).out).not.toContain('visit');
  });

  it('is not judged by the guards of the list, and needs no ledger', async () => {
    using here = project({
      people: `${HEADER}+447700900101,Zoe,Gold,2026-12-01\n+447700900102,Mei,Silver,2026-12-01\n`,
    });
    expect(await handbill(here, 'send visit --yes')).toMatchObject({ status: 0 });
    here.write('campaigns/visit/campaign.yaml', `${CAMPAIGN}limits: { minRecipients: 100, change: 1% }\n`);
    rmSync(here.path('campaigns/visit/people.csv'));
    expect(await handbill(here, 'preview visit')).toMatchObject({ status: 0 });
    expect(await handbill(here, 'validate visit')).toMatchObject({ status: 0 });
  });

  it.each([
    ['is not there', 'csv: people.csv\n  sample: gone.csv', 'file-not-found', 'gone.csv'],
    ['is outside of the project', 'csv: people.csv\n  sample: ../../../x.csv', 'path-outside-project', 'x.csv'],
    ['is the list itself', 'csv: sample.csv\n  sample: sample.csv', 'invalid-value', 'the list itself'],
    ['belongs to no file', 'list: [{ msisdn: "+447700900101" }]\n  sample: sample.csv', 'invalid-value', 'in a file'],
  ])('is an error where it %s', async (_, keys, code, said) => {
    using here = project({
      campaign: `name: visit\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients:\n  ${keys}\n`,
    });
    const { status, err } = await handbill(here, 'validate');
    expect({ status, err }).toMatchObject({ status: 2, err: expect.stringContaining(`error[${code}]`) });
    expect(err).toContain(said);
  });
});

describe('a sample beside its list', () => {
  it('is left alone, but for columns that differ', async () => {
    using here = project({ people: 'msisdn,name,plan,visit,branch\n+447700900101,Zoe,Gold,2026-12-01,Bath\n' });
    const { status, out, err } = await handbill(here, 'validate');
    expect({ status, out }).toEqual({
      status: 0,
      out: 'visit: 1 recipient, 1 to send, 1 part: ok\n',
    });
    expect(err).toContain('warning[sample-differs]: The sample lacks the column "branch" of the list.');
    expect(err).toContain('campaigns/visit/sample.csv:1');
    here.write('campaigns/visit/sample.csv', `"${HEADER}`);
    expect(await handbill(here, 'validate')).toMatchObject({ status: 2, err: expect.stringContaining('sample.csv:1') });
    expect(await handbill(here, 'send visit --yes')).toMatchObject({ status: 0 });
  });
});

describe('the contract of columns', () => {
  const BAD = `${HEADER}+447700900101,Zoe,gold,\n+447700900102,Mei,,12/01/2026\n+447700900103,Kim, Silver ,2026-12-01\n`;

  it.each(['sample', 'list'])('is checked in every row of the %s, all faults of a row at once', async (which) => {
    using here = project(which === 'sample' ? { sample: BAD } : { people: BAD });
    const file = `campaigns/visit/${which === 'sample' ? 'sample' : 'people'}.csv`;
    const { status, err } = await handbill(here, 'validate');
    expect(status).toBe(2);
    expect(err).toContain('The column "visit" is empty; "plan" holds "gold", not one of Gold, Silver.');
    expect(err).toContain('Did you mean "Gold"?');
    expect(err).toContain(`${file}:2\n`);
    expect(err).toContain('The column "visit" holds "12/01/2026", not a date.');
    expect(err).not.toContain('A cell may be empty');
    expect(err).toContain('2 errors');
  });

  it('refuses the run before the first request, or skips the row where that is asked for', async () => {
    using here = project({ people: BAD });
    expect(await handbill(here, 'send visit --yes')).toMatchObject({ status: 2 });
    const sent = await handbill(here, 'send visit --yes --allow invalid-rows --format json');
    expect(JSON.parse(sent.out).totals).toMatchObject({ accepted: 1, skipped: 2 });
  });

  it('asks for its columns, and is itself checked', async () => {
    using here = project({ sample: 'msisdn,name,visit\n+447700900101,Zoe,2026-12-01\n' });
    const lacking = await handbill(here, 'validate');
    expect(lacking).toMatchObject({ status: 2, err: expect.stringContaining('no column "plan"') });
    here.write('campaigns/visit/campaign.yaml', CAMPAIGN.replace('{ values:', '{ type: number, values:'));
    expect((await handbill(here, 'validate')).err).toContain('"recipients.columns.plan.values" is for text only');
  });
});

it('twelve campaigns with samples: one notice, no doubt about invented numbers, and what they share once', async () => {
  const files: Record<string, string> = { 'sample.csv': 'msisdn,name\n+447700900123,Žofie\n', 'handbill.yaml': '{}\n' };
  for (let i = 0; i < 12; i += 1) {
    files[`campaigns/c${i}/campaign.yaml`] =
      `name: c${i}\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: { csv: people.csv, sample: ../../sample.csv }\n`;
  }
  await using made = await projectWith(files);
  const github = await handbillHere(made.root, ['validate', '--format', 'github']);
  const lines = github.out.trim().split('\n');
  expect(lines.filter((line) => line.includes('list-sampled'))).toEqual([
    expect.stringMatching(/^::notice .*12 lists are not there: their samples are read in their place\./),
  ]);
  expect(github.out).not.toContain('unassigned-number');
  expect(lines.filter((line) => line.includes('unicode-message'))).toHaveLength(1);
  const text = await handbillHere(made.root, ['validate']);
  expect(text.err.match(/list-sampled/g)).toHaveLength(1);
  expect(text.err).not.toContain('unassigned-number');
});

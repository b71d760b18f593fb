import { existsSync, readFileSync, utimesSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { handbillHere } from '../cli/in-process.ts';
import { useApi } from '../helpers/api.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

const NINE = Date.parse('2026-11-23T09:00:05Z');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const api = useApi();

const rows = (count: number): string =>
  `msisdn,name\n${Array.from({ length: count }, (_, i) => `+4477009001${String(i).padStart(2, '0')},Name ${i}\n`).join('')}`;

interface Written {
  readonly recipients?: string;
  readonly more?: string;
  readonly people?: number;
}

function project({ recipients = 'people.csv', more = '', people = 4 }: Written): TestProject {
  return createProject({
    'handbill.yaml': `environments:\n  api:\n    baseUrl: ${api.url}\n    apiKey: { env: KEY }\n`,
    'campaigns/hello/campaign.yaml': `name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: ${recipients}\n${more}`,
    'campaigns/hello/people.csv': rows(people),
  });
}

const SCHEDULE = 'schedule: { cron: "0 9 * * *", missed: catch-up }\n';

function handbill(here: TestProject, line: string, nowMs = NINE) {
  const args = line.split(' ');
  const env = args[0] === 'validate' || args[0] === 'report' ? [] : ['--env', 'api'];
  return handbillHere(here.root, [...args, ...env], { env: { KEY: 'secret' }, now: () => nowMs, width: 400 });
}

/** Makes the list so old as the clock of the commands sees it. */
function age(here: TestProject, hours: number, nowMs = NINE): void {
  const at = (nowMs - hours * HOUR_MS) / 1000;
  utimesSync(here.path('campaigns/hello/people.csv'), at, at);
}

const GUARDED = {
  recipients: '{ csv: people.csv, maxAge: 26h }',
  more: 'limits: { minRecipients: 3, change: 30% }\n',
} as const;

describe('the guards of a list', () => {
  it('all refuse before the first request, each with its figures and the place of its key', async () => {
    using here = project({ ...GUARDED, people: 10 });
    age(here, 1);
    expect(await handbill(here, 'send hello --yes --occurrence monday')).toMatchObject({ status: 0 });
    here.write('campaigns/hello/people.csv', rows(2));
    age(here, 75);
    for (const line of ['send hello --yes', 'preview hello', 'plan hello', 'send hello --dry-run']) {
      const { status, err } = await handbill(here, `${line} --occurrence tuesday`);
      expect({ line, status }).toEqual({ line, status: 2 });
      expect(err).toContain(
        'The list campaigns/hello/people.csv was written 3 days ago (2026-11-20T06:00:05.000Z); recipients.maxAge allows 26h.',
      );
      expect(err).toContain('The list has 2 recipients; limits.minRecipients asks for 3.');
      expect(err).toContain('2 recipients, 80% fewer than the 10 of monday; limits.change allows 30%.');
      for (const place of ['5:40', '6:26', '6:37']) expect(err).toContain(`campaigns/hello/campaign.yaml:${place}`);
      for (const code of ['list-too-old', 'list-too-short', 'list-size-changed']) {
        expect(err).toContain(`If the list is as it should be: --allow ${code} sends to this list once`);
      }
    }
    expect(api.bodies).toHaveLength(10);
    // Nothing of the refused run is in the ledger: the occurrence is free.
    expect((await handbill(here, 'report')).out).not.toContain('tuesday');
    const validated = await handbill(here, 'validate hello');
    expect(validated).toMatchObject({ status: 2, err: expect.stringContaining('list-too-old') });
    expect(validated.err).toContain('list-too-short');
    // Which environment is compared with, only a start knows.
    expect(validated.err).not.toContain('list-size-changed');
  });

  it('let a list through that meets them exactly, and one of the future', async () => {
    using here = project({ ...GUARDED, people: 10 });
    age(here, 26);
    expect(await handbill(here, 'send hello --yes --occurrence monday')).toMatchObject({ status: 0 });
    here.write('campaigns/hello/people.csv', rows(13));
    age(here, -48);
    expect(await handbill(here, 'send hello --yes --occurrence tuesday')).toMatchObject({ status: 0 });
    here.write('campaigns/hello/people.csv', rows(17));
    age(here, 0);
    const grown = await handbill(here, 'send hello --yes --occurrence wednesday');
    expect(grown).toMatchObject({ status: 2, err: expect.stringContaining('17 recipients, 30.8% more than the 13') });
  });

  it('are passed over once with --allow, and the run says so', async () => {
    using here = project({ more: 'limits: { minRecipients: 5 }\n' });
    const sent = await handbill(
      here,
      'send hello --yes --allow list-too-old,list-too-short,list-size-changed --format json',
    );
    expect(sent).toMatchObject({ status: 0, err: expect.stringContaining('warning[list-too-short]') });
    const said = ['The list has 4 recipients; limits.minRecipients asks for 5.'];
    expect(JSON.parse(sent.out)).toMatchObject({ acceptedList: said, totals: { accepted: 4 } });
    expect((await handbill(here, 'report hello')).out).toContain(`Accepted with --allow: ${said[0]}`);
    expect(await handbill(here, 'send hello --yes --occurrence again')).toMatchObject({ status: 2 });
  });

  it('a size that was accepted is not what the next list is compared with; one that was only old is', async () => {
    using here = project({ ...GUARDED, people: 10 });
    age(here, 1);
    await handbill(here, 'send hello --yes --occurrence monday');
    for (const [occurrence, count, allow] of [
      ['tuesday', 5, 'list-size-changed'],
      ['wednesday', 2, 'list-too-short,list-size-changed'],
    ] as const) {
      here.write('campaigns/hello/people.csv', rows(count));
      age(here, 1);
      const line = `send hello --yes --occurrence ${occurrence}`;
      expect((await handbill(here, line)).err).toContain('than the 10 of monday');
      expect(await handbill(here, `${line} --allow ${allow}`)).toMatchObject({ status: 0 });
    }
    here.write('campaigns/hello/people.csv', rows(12));
    age(here, 99);
    const full = await handbill(here, 'send hello --yes --occurrence thursday --allow list-too-old');
    expect(full, full.err).toMatchObject({ status: 0 });
    here.write('campaigns/hello/people.csv', rows(16));
    age(here, 1);
    const grown = await handbill(here, 'send hello --yes --occurrence friday');
    expect(grown.err).toContain('16 recipients, 33.4% more than the 12 of thursday');
    // The way to a new size that stays: one occurrence without the guard.
    const text = readFileSync(here.path('campaigns/hello/campaign.yaml'), 'utf8');
    here.write('campaigns/hello/campaign.yaml', text.replace(', change: 30%', ''));
    expect(await handbill(here, 'send hello --yes --occurrence friday')).toMatchObject({ status: 0 });
    here.write('campaigns/hello/campaign.yaml', text);
    expect(await handbill(here, 'send hello --yes --occurrence saturday')).toMatchObject({ status: 0 });
  });

  it('a start that they refuse under a clock that is ahead keeps no start under the right one away', async () => {
    using here = project({ ...GUARDED, people: 4 });
    age(here, 25);
    const refused = await handbill(here, 'send hello --yes', NINE + 2 * HOUR_MS);
    expect(refused.err).toContain('error[list-too-old]');
    expect(await handbill(here, 'send hello --yes --limit 1')).toMatchObject({ status: 0 });
    here.write('campaigns/hello/people.csv', rows(2));
    for (const line of ['send hello --yes --occurrence next', 'send hello --yes --allow input-changed']) {
      expect(await handbill(here, line, NINE + 2 * HOUR_MS)).toMatchObject({ status: 2 });
    }
    here.write('campaigns/hello/people.csv', rows(4));
    age(here, 25);
    const { status, err } = await handbill(here, 'send hello --yes');
    expect({ status, err }).toMatchObject({ status: 0 });
  });

  it('ask nothing of a run that was begun with the list, however old it is by then', async () => {
    using here = project(GUARDED);
    age(here, 1);
    await handbill(here, 'send hello --yes --limit 1');
    age(here, 100);
    expect(await handbill(here, 'preview hello')).toMatchObject({ status: 0 });
    expect(await handbill(here, 'send hello --yes')).toMatchObject({ status: 0 });
    expect(api.bodies).toHaveLength(4);
    here.write('campaigns/hello/people.csv', rows(2));
    const amended = await handbill(here, 'send hello --yes --allow input-changed');
    expect(amended).toMatchObject({ status: 2, err: expect.stringContaining('list-too-short') });
  });

  it('compare with the last occurrence that was sent to this environment, and not with a test or an empty run', async () => {
    using here = project({ more: 'limits: { change: 30% }\n', people: 10 });
    await handbill(here, 'send hello --yes --occurrence monday');
    here.write('campaigns/hello/people.csv', rows(0));
    const empty = await handbill(
      here,
      'send hello --yes --occurrence tuesday --allow list-too-old,list-too-short,list-size-changed',
    );
    expect(empty).toMatchObject({ status: 0, err: expect.stringContaining('100% fewer than the 10 of monday') });
    await handbill(here, 'send hello --yes --test-to +447700900199');
    here.write('campaigns/hello/people.csv', rows(3));
    const next = await handbill(here, 'send hello --yes --occurrence wednesday');
    expect(next).toMatchObject({ status: 2, err: expect.stringContaining('70% fewer than the 10 of monday') });
  });

  it('go with a plan: made with --allow it is sent without, and else it is not made', async () => {
    using here = project({ more: 'limits: { minRecipients: 5 }\n' });
    expect(await handbill(here, 'plan hello -o a.json')).toMatchObject({ status: 2 });
    expect(existsSync(here.path('a.json'))).toBe(false);
    expect(
      await handbill(here, 'plan hello -o a.json --allow list-too-old,list-too-short,list-size-changed'),
    ).toMatchObject({ status: 0 });
    expect(await handbill(here, 'send --plan a.json --dry-run')).toMatchObject({ status: 0 });
    expect(await handbill(here, 'send --plan a.json --yes')).toMatchObject({ status: 0 });
    expect(api.bodies).toHaveLength(4);
  });

  it.each([
    ['recipients: { csv: people.csv, maxAge: 0s }', '"0s" is not a time from 1s'],
    ['recipients: { list: [{ msisdn: "+447700900101" }], maxAge: 26h }', 'is for a list in a file'],
    ['recipients: people.csv\nlimits: { change: 30 }', 'Write a percentage'],
    ['recipients: people.csv\nlimits: { minRecipients: -1 }', 'at least 0'],
  ])('that mean nothing are errors of the campaign: %s', async (keys, said) => {
    using here = project({});
    here.write(
      'campaigns/hello/campaign.yaml',
      `name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\n${keys}\n`,
    );
    expect(await handbill(here, 'validate hello')).toMatchObject({ status: 2, err: expect.stringContaining(said) });
  });
});

describe('due', () => {
  it('refuses a list without a row, and sends the same occurrence when the list is there', async () => {
    using here = project({ more: SCHEDULE, people: 0 });
    for (const line of ['due --dry-run', 'due --yes', 'due --yes']) {
      const { status, out, err } = await handbill(here, line);
      expect({ line, status, out }).toMatchObject({ line, status: 2, out: expect.stringContaining('not sent') });
      expect(err).toContain('has no recipient, and the campaign does not say that it may be empty');
    }
    here.write('campaigns/hello/people.csv', rows(2));
    expect(await handbill(here, 'due --yes')).toMatchObject({ status: 0 });
    expect(api.bodies).toHaveLength(2);
  });

  it.each([
    ['the campaign allows it', 'limits: { minRecipients: 0 }\n', 'due --yes'],
    ['it is accepted once', '', 'due --yes --allow list-too-old,list-too-short,list-size-changed'],
    ['a person sends it', '', 'send hello --yes'],
  ])('takes a list without a row where %s', async (_, more, line) => {
    using here = project({ more: `${SCHEDULE}${more}`, people: 0 });
    expect(await handbill(here, line)).toMatchObject({ status: 0 });
    expect(await handbill(here, 'due --yes')).toMatchObject({
      status: 0,
      err: expect.stringContaining('Nothing is due'),
    });
  });

  it('leaves the occurrence free while the list is too old', async () => {
    using here = project({ recipients: '{ csv: people.csv, maxAge: 26h }', more: SCHEDULE });
    age(here, 50);
    expect(await handbill(here, 'due --yes --format json')).toMatchObject({ status: 2 });
    age(here, 1);
    expect(await handbill(here, 'due --yes', NINE + HOUR_MS / 2)).toMatchObject({ status: 0 });
    expect(api.bodies).toHaveLength(4);
    const next = JSON.parse((await handbill(here, 'due --dry-run --format json', NINE + 2 * DAY_MS)).out);
    expect(next.campaigns[0]).toMatchObject({ action: 'refuse', exit: 2, diagnostics: [{ code: 'list-too-old' }] });
  });
});

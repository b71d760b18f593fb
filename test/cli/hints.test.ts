import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject, type TestProject } from '../helpers/project.ts';
import { handbillHere } from './in-process.ts';

const API = 'baseUrl: https://api.example.com, apiKey: { env: KEY }';

let project: TestProject;
beforeEach(() => {
  project = createProject({
    'handbill.yaml': `environments:\n  production: { ${API} }\n`,
    'hello/campaign.yaml': hello(''),
    'hello/people.csv': 'msisdn\n+447400123456\n',
  });
});
afterEach(() => project[Symbol.dispose]());

function hello(more: string, list = 'people.csv'): string {
  return `name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: ${list}\n${more}`;
}

const environment = (more: string): void =>
  project.write(
    'handbill.yaml',
    `environments:\n  production:\n    baseUrl: https://api.example.com\n    apiKey: { env: KEY }\n    ${more}\n`,
  );

const run = (...args: readonly string[]) =>
  handbillHere(project.root, args, { env: { KEY: 'key-of-a-test' }, width: 200 });

describe('a value that says nothing has a hint', () => {
  it.each([['exclude: []', 'or remove the key.']])('%s', async (key, hint) => {
    project.write('hello/campaign.yaml', hello(`${key}\n`));
    const { status, err } = await run('validate', 'hello');
    expect(status).toBe(2);
    expect(err).toContain('is an empty list.\n  hello/campaign.yaml:6:');
    expect(err).toContain(hint);
  });

  it.each([
    ['countries: []', 'for example countries: ['],
    ['redirect: []', 'for example redirect: "+447700900123"'],
    ['only: []', 'or remove the key'],
  ])('of an environment: %s', async (key, hint) => {
    environment(key);
    const { status, err } = await run('validate', 'hello');
    expect({ status, err }).toMatchObject({ status: 2, err: expect.stringContaining(hint) });
    expect(err).toContain('handbill.yaml:5:');
  });

  it('maxAge: 0h', async () => {
    project.write('hello/campaign.yaml', hello('', '{ csv: people.csv, maxAge: 0h }'));
    const { status, err } = await run('validate', 'hello');
    expect({ status, err }).toMatchObject({ status: 2, err: expect.stringContaining('10m, 24h or 7d') });
  });
});

describe('fences that cannot be used name the line of handbill.yaml', () => {
  it.each([
    ['redirect: testers.csv', 'handbill.yaml:5:15', 'Did you mean only: testers.csv?'],
    ['redirect: ["+447700900123", lists/qa.txt]', 'handbill.yaml:5:33', 'Did you mean only: lists/qa.txt?'],
    ['only: ["+447700900123", missing.csv]', 'handbill.yaml:5:29', 'missing.csv does not exist'],
    ['redirect: qa@example.com', 'handbill.yaml:5:15', 'Add one to `redirect`, for hello/campaign.yaml.'],
    ['only: hello/people.txt', 'handbill.yaml:5:11', 'hello/people.txt'],
  ])('%s', async (key, place, says) => {
    environment(key);
    const { status, err } = await run('preview', 'hello', '--env', 'production');
    expect(status).toBe(2);
    expect(err).toContain(place);
    expect(err).toContain(says);
  });
});

it.each(['esential', 'essentials', 'Essential'])('a topic that is nearly essential: %s', async (topic) => {
  project.write('hello/campaign.yaml', hello(`topic: ${topic}\n`));
  const { err } = await run('validate', 'hello');
  if (topic === 'Essential') expect(err).toContain('error[invalid-value]');
  else expect(err).toMatch(/warning\[invalid-value\].*hello\/campaign.yaml:6:8[\s\S]*Did you mean "essential"/s);
  project.write('hello/campaign.yaml', hello('topic: essential\n'));
  expect((await run('validate', 'hello')).err).toBe('');
  project.write('hello/campaign.yaml', hello('topic: offers\n'));
  expect((await run('validate', 'hello')).err).not.toContain('invalid-value');
});

it('suppress remove warns of a topic that no entry has', async () => {
  await run('suppress', 'add', '+447400123456', '--topic', 'offers');
  const slip = await run('suppress', 'remove', '+447400123456', '--topic', 'offer');
  expect(slip).toMatchObject({ status: 0, out: expect.stringContaining('1 address was not on the list') });
  expect(slip.err).toMatch(
    /warning\[usage\]: No entry of the suppression list has the topic "offer"\.[\s\S]*Did you mean "offers"/,
  );
  const other = await run('suppress', 'remove', '+447400123457', '--topic', 'offers');
  expect(other.err).not.toContain('warning');
  const right = await run('suppress', 'remove', '+447400123456', '--topic', 'offers');
  expect(right.err).not.toContain('warning');
});

describe('HANDBILL_ENV that names no environment', () => {
  const wrong = (...args: readonly string[]) =>
    handbillHere(project.root, args, { env: { KEY: 'key-of-a-test', HANDBILL_ENV: 'prodction' }, width: 200 });

  it.each([
    [['validate', 'hello']],
    [['preview', 'hello']],
    [['runs']],
    [['report']],
    [['suppress', 'list']],
    [['doubt', 'list']],
    [['person', '+447400123456']],
    [['purge', '--older-than', '1d', '--yes']],
    [['schedule']],
    [['due', '--yes']],
    [['diff', 'HEAD']],
  ])('%j is refused', async (args) => {
    const { status, out, err } = await wrong(...args);
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err).toMatch(
      /unknown-environment\]: There is no environment "prodction"[\s\S]*handbill\.yaml[\s\S]*Did you mean "production"/,
    );
  });

  it('does not matter where --env says another one, without environments, and where no project is needed', async () => {
    expect((await wrong('preview', 'hello', '--env', 'sandbox')).status).toBe(0);
    expect((await wrong('completion', 'bash')).status).toBe(0);
    project.write('handbill.yaml', '{}\n');
    expect((await wrong('validate', 'hello')).status).toBe(0);
  });
});

it('validate says in a line of pauses and fences, and goes on', async () => {
  await run('pause', '--env', 'production', '--reason', 'wrong prices', '--by', 'ann@ops-1');
  environment('only: ["+447400123456"]');
  const { status, err, out } = await run('validate', 'hello');
  expect({ status, out }).toMatchObject({ status: 0, out: expect.stringContaining(': ok') });
  expect(err).toMatch(/^Note: .*production.*paused.*wrong prices.*$/m);
  expect(err).toMatch(/^Note: production sends to 1 address only.*$/m);
  expect(await run('validate', 'hello', '--quiet')).toMatchObject({ status: 0, out: '', err: '' });
});

it('pause and resume write a line to the log', async () => {
  await run('pause', '--env', 'production', '--reason', 'wrong prices', '--by', 'ann@ops-1', '--log', 'log.jsonl');
  await run('resume', '--env', 'production', '--by', 'bo@ops-2', '--log', 'log.jsonl');
  const lines = readFileSync(project.path('log.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.filter(({ event }) => event === 'paused' || event === 'resumed')).toMatchObject([
    {
      event: 'paused',
      command: 'pause',
      environment: 'production',
      campaign: null,
      reason: 'wrong prices',
      by: 'ann@ops-1',
      isNew: true,
    },
    { event: 'resumed', command: 'resume', environment: 'production', by: 'bo@ops-2', isNew: true },
  ]);
});

describe('digits of a quoted line', () => {
  const quoted = async () => (await run('validate', 'hello')).err;

  it('of a template and of a campaign are as they were written', async () => {
    project.write('hello/t.hbs', 'Call {{default phone "0800 123 4567"}} or +442079460000. {{nmae}}\n');
    project.write('hello/campaign.yaml', hello('').replace('{ text: Hi }', 't.hbs'));
    expect(await quoted()).toContain('Call {{default phone "0800 123 4567"}} or +442079460000.');
    project.write('hello/campaign.yaml', hello('vars: { office: "02079460000" }\n'));
    expect(await quoted()).toContain('vars: { office: "02079460000" }');
  });

  it.each([
    ['of a list in the campaign', hello('', '\n  - { msisdn: "+447400123456", nmae: A, nmae: B }')],
    ['of one in which the YAML is wrong', hello('', '\n- { msisdn: "+447400123456"\n- { msisdn: "07400123456", }}')],
    ['of one in braces', '{ name: hello, recipients: [\n  { msisdn: "+447400123456", nmae: A, nmae: B } ] }\n'],
    ['of a list without a header', hello('')],
  ])('%s are hidden', async (_label, text) => {
    project.write('hello/campaign.yaml', text);
    project.write('hello/people.csv', '+447400123456,+447400123456\n');
    const err = await quoted();
    expect(err).toMatch(/\n +\d+ \| .*•/);
    expect(err).not.toContain('7400123456');
  });
});

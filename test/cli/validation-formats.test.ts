import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { elementsOf, readXml } from '../helpers/xml.ts';
import { handbillHere } from './in-process.ts';
import { type Finished, HELLO, handbill, projectWith } from './run-handbill.ts';
import { type Annotation, readCommands } from './validation-readers.ts';

const YAML = 'name: NAME\nchannel: sms\nfrom: Riverside\ntemplate: { text: "TEXT" }\nrecipients: people.csv\n';
const campaign = (name: string, text: string) => YAML.replace('NAME', name).replace('TEXT', text);

/** Names and values that mean something to a runner, to XML, to a URI or to a terminal. */
const ODD = 'a b%41,c:d#é😀[x](y)';
const EVIL = 'e\n::set-output name=a::b';
const BAD_CELLS = [
  '1\n::error::pwned',
  '2]]>\u001b[31m',
  '##[3]x',
  '<4/>&',
  '5\u202e😀\ufffe',
  '6%0A::7',
  '=8+9',
  '"[a](b)',
];

const FILES = {
  'marketing/handbill.yaml': '{}\n',
  [`marketing/campaigns/${ODD}/campaign.yaml`]: campaign('odd', '😀😀 Dear {{frist}}'),
  [`marketing/campaigns/${ODD}/people.csv`]: 'msisdn,first\n+447911123456,Ann\n',
  [`marketing/campaigns/${EVIL}/campaign.yaml`]: campaign('evil', 'Dear {{first}}'),
  [`marketing/campaigns/${EVIL}/people.csv`]: `msisdn,first\n${BAD_CELLS.map((cell) => `"${cell.replaceAll('"', '""')}",x\n`).join('')}+447911123456,\n`,
  'marketing/campaigns/good/campaign.yaml': campaign('good', 'Hello 😀'),
  'marketing/campaigns/good/people.csv': 'msisdn\n+447911123456\n+447911123457\n',
  'marketing/campaigns/nul/campaign.yaml': campaign('nul', 'Hello'),
  'marketing/campaigns/nul/people.csv': 'msisdn\n+447911123456\n\0\n',
};

const CODES_FOUND = ['csv-nul', 'invalid-address', 'missing-variable', 'unicode-message', 'unknown-name'];
const ERRORS = 3 + BAD_CELLS.length;

const runValidate = (cwd: string, args: readonly string[]) => handbillHere(cwd, ['validate', ...args]);

let root = '';
let remove = async () => {};
const results = new Map<string, Finished>();

beforeAll(async () => {
  ({ root, remove } = await projectWith(FILES));
  for (const format of ['json', 'github', 'junit']) {
    results.set(format, await runValidate(join(root, 'marketing'), ['--format', format]));
  }
});
afterAll(() => remove());

const outOf = (format: string) => results.get(format)?.out ?? '';

test('campaigns that try to be more: every format refuses them alike, and says nothing on stderr', () => {
  for (const [format, { status, err }] of results)
    expect({ format, status, err }).toEqual({ format, status: 2, err: '' });
  const { diagnostics } = JSON.parse(outOf('json')) as { diagnostics: { code: string; severity: string }[] };
  expect([...new Set(diagnostics.map(({ code }) => code))].toSorted()).toEqual(CODES_FOUND);
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toHaveLength(ERRORS);
});

test('the command line prints the same', async () => {
  const { status, out, err } = await handbill(join(root, 'marketing'), ['validate', '--format', 'github']);
  expect({ status, out, err }).toEqual(results.get('github'));
});

test.each(['github', 'junit'])('%s has nothing that a terminal obeys, and no whole number', (format) => {
  expect(outOf(format)).toMatch(
    /^[\n\x20-\x7e\u00a0-\u061b\u061d-\u200d\u2010-\u2027\u202f-\u2065\u206a-\ufefe\uff00-\uffff\u{10000}-\u{10ffff}]*$/u,
  );
  expect(outOf(format)).not.toContain('7911123456');
});

describe('github', () => {
  let commands: readonly Annotation[] = [];
  let rest: readonly string[] = [];
  beforeAll(() => {
    ({ commands, rest } = readCommands(outOf('github')));
  });

  it('has a command for each error, then for each kind of warning, then the counts', () => {
    expect(commands.map(({ name }) => name)).toEqual([...Array(ERRORS).fill('error'), 'warning']);
    expect(rest).toEqual([`${ERRORS} errors, 2 warnings in 4 campaigns.`]);
    expect(commands.at(-1)?.message).toContain('1 more of the same kind.');
  });

  it('shows each kind of fault of each file before a kind is repeated', () => {
    const titles = commands.slice(0, 4).map(({ properties }) => properties['title']);
    expect(titles.toSorted()).toEqual(
      ['csv-nul', 'invalid-address', 'missing-variable', 'unknown-name'].map((c) => `handbill: ${c}`),
    );
  });

  it('names files by their path from the root of the repository', () => {
    for (const { properties, message } of commands) {
      expect(existsSync(join(root, properties['file'] ?? 'none')), properties['file']).toBe(true);
      expect(message).toContain(`:${properties['line']}`);
    }
  });

  it('counts columns in UTF-16 units', () => {
    const { properties = {} } = commands.find((one) => one.properties['title'] === 'handbill: unknown-name') ?? {};
    const line =
      readFileSync(join(root, properties['file'] ?? ''), 'utf8').split('\n')[Number(properties['line']) - 1] ?? '';
    expect(line.slice(Number(properties['col']) - 1, Number(properties['endColumn']))).toBe('frist');
    expect(line).toContain('😀😀');
  });
});

describe('junit', () => {
  it('has a suite for each campaign, whose counts add up', () => {
    const document = readXml(outOf('junit'));
    expect(document.attributes).toMatchObject({ tests: '5', failures: '4', errors: '0', skipped: '0' });
    const suites = elementsOf(document, 'testsuite').map(({ attributes: { name, tests, failures } }) => [
      name,
      tests,
      failures,
    ]);
    expect(suites.toSorted()).toEqual(
      [
        [`marketing/campaigns/${ODD}/campaign.yaml`, '1', '1'],
        [`marketing/campaigns/${EVIL}/campaign.yaml`, '2', '2'],
        ['marketing/campaigns/good/campaign.yaml', '1', '0'],
        ['marketing/campaigns/nul/campaign.yaml', '1', '1'],
      ].toSorted(),
    );
  });

  it('has a failure for each kind of error, with the places', () => {
    const cases = elementsOf(readXml(outOf('junit')), 'testcase');
    const bad = cases.find(({ attributes }) => attributes['name']?.startsWith('invalid-address'));
    const file = `marketing/campaigns/${EVIL}/people.csv`;
    expect(bad?.attributes).toMatchObject({ name: `invalid-address in ${file}`, file, line: '2' });
    const failure = bad?.children[0];
    expect(failure?.attributes).toMatchObject({ type: 'invalid-address' });
    expect(failure?.attributes['message']).toContain(`(and ${BAD_CELLS.length - 1} more)`);
    expect(failure?.text.match(/people\.csv:\d+: /g)).toHaveLength(BAD_CELLS.length);
  });

  it('shows what a good list comes to, and its warnings, which fail nothing', () => {
    const suite = elementsOf(readXml(outOf('junit')), 'testsuite').find(({ attributes }) =>
      attributes['name']?.includes('good'),
    );
    const [passed] = elementsOf(suite ?? { name: '', attributes: {}, children: [], text: '' }, 'testcase');
    expect(passed?.attributes['name']).toBe('no errors');
    expect(passed?.children[0]?.text).toBe('2 recipients, 2 to send, 2 parts');
    expect(suite?.children.at(-1)?.text).toMatch(
      /^warning\[unicode-message\]: .*people\.csv:2.*1 more of the same kind\.\n$/,
    );
  });
});

describe('where nothing is wrong', () => {
  test.each(['github', 'junit'])('%s is whole, exit 0', async (format) => {
    await using good = await projectWith({
      ...HELLO,
      'campaigns/hello/people.csv': 'msisdn,first\n+447911123456,Ann\n',
    });
    const { status, out, err } = await runValidate(good.root, ['--format', format]);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    if (format === 'github') expect(out).toBe('0 errors, 0 warnings in 1 campaign.\n');
    if (format === 'junit') expect(readXml(out).attributes).toMatchObject({ tests: '1', failures: '0' });
  });
});

describe('what has no place in the repository', () => {
  test.each(['github', 'junit'])('%s: no campaign at all', async (format) => {
    await using empty = await projectWith({ 'a.txt': '' });
    const { status, out } = await runValidate(empty.root, ['--format', format]);
    expect(status).toBe(2);
    if (format === 'github')
      expect(readCommands(out).commands).toMatchObject([{ properties: { title: 'handbill: campaign-not-found' } }]);
    if (format === 'junit')
      expect(elementsOf(readXml(out), 'testcase')[0]?.attributes).toMatchObject({ name: 'campaign-not-found' });
  });

  it('has its own name in the message', async () => {
    const project = await projectWith(HELLO);
    const elsewhere = await projectWith({ 'list.csv': 'msisdn,first\n12,Ann\n' });
    const list = join(elsewhere.root, 'list.csv');
    try {
      const { out } = await runValidate(project.root, ['--recipients', list, '--format', 'github']);
      const { commands } = readCommands(out);
      expect(commands[0]?.properties).toEqual({ title: 'handbill: invalid-address' });
      expect(commands[0]?.message).toContain('list.csv:2');
    } finally {
      await project.remove();
      await elsewhere.remove();
    }
  });
});

test('a campaign that cannot be sent because of its project is not called good', async () => {
  await using here = await projectWith({
    'handbill.yaml': 'suppressions: [gone.csv]\n',
    'campaigns/one/campaign.yaml': campaign('one', 'Hello'),
    'campaigns/one/people.csv': 'msisdn\n+447911123456\n',
    'campaigns/two/campaign.yaml': campaign('two', 'Hello'),
    'campaigns/two/people.csv': 'msisdn\n+447911123456\n',
  });
  const text = await runValidate(here.root, []);
  expect(text.out).toMatch(/^campaign .*\none +1 error\ntwo +1 error\n2 campaigns .* 2 with errors\n$/);
  expect(text.err.match(/file-not-found/g)).toHaveLength(1);
  const { out, status } = await runValidate(here.root, ['--format', 'junit']);
  expect(status).toBe(2);
  const cases = elementsOf(readXml(out), 'testcase').map(({ attributes, children }) => [
    attributes['name'],
    children.length > 0,
  ]);
  expect(cases).toEqual([
    ['file-not-found in handbill.yaml', true],
    ['errors of the project', true],
  ]);
});

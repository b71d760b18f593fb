import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { runHere } from '../helpers/here.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

/*
 * What a person writes by a slip, and could overlook where nothing is said.
 */

const HELLO = { text: 'Hello {{name}}' };

function project(list: string, more: Readonly<Record<string, unknown>> = {}): TestProject {
  const campaign = {
    name: 'hello',
    channel: 'sms',
    from: 'Riverside',
    template: HELLO,
    recipients: 'people.csv',
    ...more,
  };
  return createProject({
    'handbill.yaml': 'defaultCountry: GB\n',
    'hello/campaign.yaml': JSON.stringify(campaign),
    'hello/people.csv': list,
    'hello/short.csv': 'msisdn\n07400 1230\n0740012300\n+447400123456\n',
  });
}

const PEOPLE = 'msisdn,name,city\n+447400123456,Ada,Bath\n+447400123457,Ravi,Bristol\n';
const cli = (at: TestProject, ...args: string[]) => runHere(args, { cwd: at.root });

describe('a suppressed number with a digit too few', () => {
  const WARNING =
    /warning\[wrong-length-number\]: The suppressed number has \d digits after \+44, and mobile numbers of GB have 10/;

  it('is said where a campaign names its file, and no other command refuses it', async () => {
    using at = project(PEOPLE, { suppressions: 'short.csv' });
    for (const command of [
      ['validate', 'hello'],
      ['preview', 'hello'],
      ['plan', 'hello'],
      ['send', 'hello', '--dry-run'],
    ]) {
      const { status, stderr } = await cli(at, ...command);
      expect([command, status, stderr]).toEqual([command, 0, expect.stringMatching(WARNING)]);
      expect(stderr).toContain('The same kind in 1 more entry.');
      expect(stderr).toMatch(/hello\/short\.csv:2/);
    }
    const sent = await cli(at, 'send', 'hello');
    expect([sent.status, sent.stderr]).toEqual([0, expect.stringMatching(WARNING)]);
  });

  it('is said where it is added or imported', async () => {
    using at = project(PEOPLE);
    const added = await cli(at, 'suppress', 'add', '0740012', '+447400123456');
    expect([added.status, added.stdout]).toEqual([0, expect.stringContaining('2 addresses suppressed')]);
    expect(added.stderr).toMatch(WARNING);
    expect((await cli(at, 'suppress', 'import', 'hello/short.csv')).stderr).toMatch(WARNING);
    expect((await cli(at, 'suppress', 'add', '+447400123457', 'ann@example.com')).stderr).not.toContain('warning');
  });
});

test.each([
  ['validate', ['validate', 'hello']],
  ['plan', ['plan', 'hello']],
  ['send', ['send', 'hello']],
])('%s warns of a segment that no recipient is in', async (_label, args) => {
  using at = project(PEOPLE, { recipients: { csv: 'people.csv', where: { city: 'bath' } } });
  const { status, stderr } = await cli(at, ...args);
  expect([status, stderr]).toEqual([
    0,
    expect.stringContaining('warning[unmet-comparison]: `recipients.where` leaves out all 2 recipients.'),
  ]);
});

it('no warning where the segment depends on the day: on most days no recipient has a birthday', async () => {
  const where = { born: { $anniversary: 'today' } };
  using at = project('msisdn,name,born\n+447400123456,Ada,1990-01-01\n', {
    recipients: { csv: 'people.csv', columns: { born: 'date' }, where },
  });
  const { status, stderr } = await cli(at, 'validate', 'hello');
  expect([status, stderr]).toEqual([0, '']);
});

it('no warning about the segment where `exclude` left them all out', async () => {
  using at = project(PEOPLE, {
    recipients: { csv: 'people.csv', where: { city: { $exists: true } } },
    exclude: 'before',
  });
  const before = {
    name: 'before',
    channel: 'sms',
    from: 'Riverside',
    template: HELLO,
    recipients: '../hello/people.csv',
  };
  at.write('before/campaign.yaml', JSON.stringify(before));
  expect((await cli(at, 'send', 'before')).status).toBe(0);
  const { status, stdout, stderr } = await cli(at, 'send', 'hello');
  expect([status, stdout, stderr]).toEqual([
    0,
    expect.stringContaining('2 excluded'),
    expect.not.stringContaining('leaves out'),
  ]);
});

it('an email address in other letters is the same mailbox', async () => {
  using at = project('email,name\nana@example.com,Ana\nAna@Example.com,Ana\nANA@EXAMPLE.COM,Ana\nbo@example.com,Bo\n', {
    channel: 'email',
    from: 'Riverside <hello@riverside.example>',
    content: { subject: 'Hello' },
  });
  const { stdout } = await cli(at, 'validate', 'hello');
  expect(stdout).toContain('4 recipients, 2 to send, 2 skipped (2 duplicate): ok');
});

it.each([
  [['--key', '1000'], 'The list has no row with the key "1000".'],
  [['--line', '99'], 'The list has no row that begins at line 99.'],
])('preview %j says that there is no such row', async (which, said) => {
  using at = project(PEOPLE);
  const { status, stderr } = await cli(at, 'preview', 'hello', ...which);
  expect([status, stderr]).toEqual([2, expect.stringContaining(said)]);
  // A document is whole all the same.
  const json = await cli(at, 'preview', 'hello', ...which, '--format', 'json');
  expect([json.status, (JSON.parse(json.stdout) as { decisions: unknown }).decisions]).toEqual([2, []]);
  expect((await cli(at, 'preview', 'hello', '--line', '3', '--limit', '0')).status).toBe(0);
  expect(
    (await cli(at, 'preview', 'hello', '--line', '3', '--format', 'jsonl')).stdout.trim().split('\n'),
  ).toHaveLength(1);
});

it('a change of the campaign is not said to be one of the project as well', async () => {
  using at = project(PEOPLE, { from: 'Hillside' });
  expect((await cli(at, 'send', 'hello', '--limit', '1')).status).toBe(0);
  at.write(
    'hello/campaign.yaml',
    readFileSync(at.path('hello/campaign.yaml'), 'utf8').replace('Hillside', 'Riverside'),
  );
  const { status, stderr } = await cli(at, 'send', 'hello');
  expect([status, stderr.match(/error\[input-changed\].*/g)]).toEqual([
    2,
    [expect.stringContaining('The campaign file changed since')],
  ]);
});

it('of many warnings of one kind, one says how many there are', async () => {
  const rows = Array.from({ length: 40 }, (_, n) => `+4474001234${String(n).padStart(2, '0')},00100${n}`).join('\n');
  using at = project(`msisdn,id\n${rows}\n`, {
    channel: 'voice',
    from: '+441632960000',
    template: { text: 'Your number is {{id}}.' },
  });
  const { stderr } = await cli(at, 'validate', 'hello');
  expect(stderr.match(/warning\[content-advice\]/g)).toHaveLength(1);
  expect(stderr).toContain('39 more of the same kind.');
});

it.each([
  ['campaign.yaml', { form: 'Riverside' }, 'Did you mean "from"?'],
  ['campaign.yaml', { recipients: { cvs: 'people.csv' } }, 'Did you mean "csv"?'],
])('two letters that changed places: %s with %j', async (_file, more, hint) => {
  using at = project(PEOPLE, more);
  expect((await cli(at, 'validate', 'hello')).stderr).toContain(hint);
});

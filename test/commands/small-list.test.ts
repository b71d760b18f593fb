import { describe, expect, it, test } from 'vitest';
import { hasSmallLists } from '../../src/commands/small-list.ts';
import { createProject } from '../helpers/project.ts';

const LARGE = 'x'.repeat(1024 * 1024 + 1);

function given(recipients: string, list = 'msisdn\n+447400000001\n') {
  return createProject({
    'campaigns/hello/campaign.yaml': `name: hello\n${recipients}\n`,
    'campaigns/hello/people.csv': list,
    'campaigns/large/campaign.yaml': 'name: large\nrecipients: people.csv\n',
    'campaigns/large/people.csv': LARGE,
  });
}

describe('a list is known to be small', () => {
  test.each([
    'recipients: people.csv',
    'recipients: "people.csv" # the list',
    "recipients: '../hello/people.csv'",
    'recipients:\n  csv: people.csv\n  to: msisdn',
    'recipients:\n  to: msisdn\n  csv: "people.csv"',
    'recipients: { csv: people.csv, to: msisdn }',
    'recipients: { to: msisdn, csv: people.csv }',
  ])('%j', (recipients) => {
    using small = given(recipients);
    expect(hasSmallLists(['validate', 'hello'], small.root)).toBe(true);
    using large = given(recipients, LARGE);
    expect(hasSmallLists(['validate', 'hello'], large.root)).toBe(false);
  });

  test.each([
    [['validate', 'campaigns/hello']],
    [['preview', 'campaigns/hello/campaign.yaml', '--format', 'json']],
    [['send', '--env', 'local', 'hello', '--yes']],
  ])('%j', (args) => {
    using project = given('recipients: people.csv');
    expect(hasSmallLists(args, project.root)).toBe(true);
  });
});

describe('a list is not known to be small', () => {
  test.each([
    [['validate']],
    [['validate', 'nowhere']],
    [['validate', 'hello', 'large']],
    [['validate', 'hello', '--recipients', 'campaigns/large/people.csv']],
    [['send', '--plan', 'campaigns/hello/campaign.yaml']],
    [['report']],
  ])('%j', (args) => {
    using project = given('recipients: people.csv');
    expect(hasSmallLists(args, project.root)).toBe(false);
  });

  test.each(['recipients: nowhere.csv', 'recipients: .', 'recipients: *list', 'from: Riverside', 'recipients: [1, 2]'])(
    '%j',
    (recipients) => {
      using project = given(recipients);
      expect(hasSmallLists(['validate', 'hello'], project.root)).toBe(false);
    },
  );

  it('where nothing can be read', () => {
    using project = given('recipients: people.csv');
    expect(hasSmallLists(['validate', 'a'.repeat(5000)], project.root)).toBe(false);
    expect(hasSmallLists(['validate', 'hello/'.repeat(900)], project.root)).toBe(false);
  });

  it('where one of several is large', () => {
    using project = given('recipients: people.csv\nfallback:\n  csv: ../large/people.csv');
    expect(hasSmallLists(['validate', 'hello'], project.root)).toBe(false);
  });
});

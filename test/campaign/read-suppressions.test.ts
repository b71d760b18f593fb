import { describe, expect, test } from 'vitest';
import { readCampaign } from '../../src/campaign/load.ts';
import { createProject } from '../helpers/project.ts';

const CAMPAIGN = 'name: a\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\n';

async function read(own: string, project: string) {
  using files = createProject({
    '.git/HEAD': '',
    'handbill.yaml': project,
    'one.csv': 'msisdn\n',
    'two.csv': 'msisdn\n',
    'a/campaign.yaml': CAMPAIGN + own,
    'a/people.csv': 'msisdn\n',
    'a/three.csv': 'msisdn\n',
  });
  const { campaign, diagnostics } = await readCampaign('a', { cwd: files.root });
  return {
    lists: campaign?.suppressions.map(({ file, namedBy }) => `${file} (${namedBy})`) ?? null,
    problems: diagnostics.map(({ code, at }) => `${code} ${at?.file}:${at?.line}:${at?.column}`),
  };
}

describe('suppression lists', () => {
  test.each<[label: string, own: string, project: string, lists: string[]]>([
    ['none', '', '', []],
    ['one of the project', '', 'suppressions: one.csv\n', ['one.csv (project)']],
    ['of the campaign, from its folder', 'suppressions: three.csv\n', '', ['a/three.csv (campaign)']],
    [
      'the campaign adds, and replaces nothing',
      'suppressions: [three.csv, ../two.csv]\n',
      'suppressions: [one.csv, two.csv]\n',
      ['one.csv (project)', 'two.csv (project)', 'a/three.csv (campaign)'],
    ],
  ])('%s', async (_, own, project, lists) => {
    expect(await read(own, project)).toEqual({ lists, problems: [] });
  });

  test.each<[label: string, own: string, project: string, problems: string[]]>([
    ['a file that is not there', 'suppressions: [three.csv, no.csv]\n', '', ['file-not-found a/campaign.yaml:6:27']],
    ['one of the project', '', 'suppressions: no.csv\n', ['file-not-found handbill.yaml:1:15']],
    ['outside the project', 'suppressions: ../../x.csv\n', '', ['path-outside-project a/campaign.yaml:6:15']],
    ['a folder', 'suppressions: ..\n', '', ['file-not-regular a/campaign.yaml:6:15']],
    ['an empty list', 'suppressions: []\n', '', ['invalid-value a/campaign.yaml:6:15']],
    ['a number', 'suppressions: 1\n', '', ['wrong-type a/campaign.yaml:6:15']],
  ])('%s is refused', async (_, own, project, problems) => {
    expect(await read(own, project)).toEqual({ lists: null, problems });
  });
});

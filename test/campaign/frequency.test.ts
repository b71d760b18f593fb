import { expect, it, test } from 'vitest';
import { readCampaign } from '../../src/campaign/load.ts';
import { createProject } from '../helpers/project.ts';

const HEAD = 'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\n';

async function read(rules: string, project = '{}\n') {
  using here = createProject({
    'handbill.yaml': project,
    'campaigns/hello/campaign.yaml': HEAD + rules,
    'campaigns/hello/people.csv': 'msisdn\n+447400100001\n',
    'campaigns/spring/campaign.yaml': HEAD.replace('hello', 'spring'),
  });
  const { campaign, diagnostics } = await readCampaign('hello', { cwd: here.root });
  return { campaign, found: diagnostics.map(({ at, message }) => `${at?.line}:${at?.column} ${message}`) };
}

const DAY = { max: 1, per: { kind: 'calendar', unit: 'day' } };
const WEEK = { max: 2, per: { kind: 'calendar', unit: 'week' } };

test.each([
  ['nothing', '', [], true],
  ['a calendar day', 'frequency: { max: 1, per: day }', [DAY], true],
  ['a rolling day', 'frequency: { max: 1, per: 24h }', [{ max: 1, per: { kind: 'rolling', ms: 86_400_000 } }], true],
  ['several', 'frequency: [{ max: 1, per: day }, { max: 2, per: week }]', [DAY, WEEK], true],
  ['exempt', 'frequency: exempt', [], false],
  ['none', 'frequency: none', [], true],
])('frequency: %s', async (_, rules, frequency, isCounted) => {
  expect((await read(rules)).campaign).toMatchObject({ frequency, isCounted });
});

test.each([
  ['its own', 'frequency: { max: 1, per: day }', [DAY], true],
  ['none', 'frequency: none', [], true],
  ['exempt', 'frequency: exempt', [], false],
  ['nothing', '', [WEEK], true],
])('over the cap of the project a campaign may say %s', async (_, rules, frequency, isCounted) => {
  const { campaign } = await read(rules, 'defaults: { frequency: { max: 2, per: week } }\n');
  expect(campaign).toMatchObject({ frequency, isCounted });
});

test.each([
  ['frequency: { max: 1, per: fortnight }', '6:27 "fortnight" is not a time from 1s to 366d.'],
  ['frequency: { max: 1, per: 0s }', '6:27 "0s" is not a time from 1s to 366d.'],
  ['frequency: [{ max: 1, per: 367d }]', '6:28 "367d" is not a time from 1s to 366d.'],
  ['frequency: { max: 1 }', '6:1 "per" is missing in "frequency".'],
  ['frequency: { per: fortnight }', '6:1 "max" is missing in "frequency".'],
])('%s is refused', async (rules, message) => {
  expect(await read(rules)).toEqual({ campaign: null, found: [message] });
});

test.each([
  ['variants', 'variants: [{ name: a, template: { text: Hi } }, { name: b, template: { text: Ho } }]'],
  ['content', 'content: { text: Hi }'],
])('exclude knows a campaign of the project whose message is under %s', async (_, message) => {
  using here = createProject({
    'handbill.yaml': '{}\n',
    'campaigns/hello/campaign.yaml': `${HEAD}exclude: spring\n`,
    'campaigns/hello/people.csv': 'msisdn\n+447400100001\n',
    'campaigns/spring/campaign.yaml': `name: spring\nchannel: rcs\n${message}\nrecipients: people.csv\n`,
  });
  const { campaign } = await readCampaign('hello', { cwd: here.root });
  expect(campaign?.exclude).toMatchObject([{ campaign: 'spring', occurrence: null, unknown: null }]);
});

it('exclude takes campaigns and occurrences, and knows those of the project', async () => {
  const { campaign, found } = await read('exclude: [spring, hello@2026-11-21T09:00:00Z, winter@a b]');
  expect(found).toEqual([]);
  expect(campaign?.exclude).toMatchObject([
    { campaign: 'spring', occurrence: null, unknown: null },
    { campaign: 'hello', occurrence: '2026-11-21T09:00:00Z', unknown: null },
    { campaign: 'winter', occurrence: 'a b', unknown: { code: 'campaign-not-found', at: { line: 6, column: 47 } } },
  ]);
});

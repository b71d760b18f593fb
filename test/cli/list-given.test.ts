import { join } from 'node:path';
import { expect, it } from 'vitest';
import { recipientsIn, useApi } from '../helpers/api.ts';
import { createProject } from '../helpers/project.ts';
import { handbillHere } from './in-process.ts';

const api = useApi((body, number) =>
  recipientsIn(body)[0]?.msisdn === '+447400123402'
    ? { status: 422, body: '{"title":"No route"}' }
    : { status: 202, body: JSON.stringify({ messageId: `m-${number}` }) },
);

const PROJECT = {
  'handbill.yaml': `environments: { api: { baseUrl: "{url}", apiKey: { env: KEY } } }\n`,
  'campaigns/c/campaign.yaml':
    'name: c\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hello" }\nrecipients: p.csv\nsend: { attempts: 1 }\n',
  'campaigns/c/p.csv': 'msisdn\n+447400123401\n',
  'second.csv': 'msisdn\n+447400123402\n+447400123403\n',
};

it('a run with the list of --recipients is continued with that list, from every folder', async () => {
  using here = createProject({ ...PROJECT, 'handbill.yaml': PROJECT['handbill.yaml'].replace('{url}', api.url) });
  const run = (args: readonly string[], cwd = here.root) => handbillHere(cwd, args, { env: { KEY: 'k' }, width: 120 });
  const send = ['send', 'c', '--env', 'api', '--occurrence', 'may'];
  const sent = await run([...send, '--yes', '--recipients', 'second.csv']);
  const offered = `handbill ${send.join(' ')} --recipients second.csv --retry rejected`;
  expect(sent.out).toContain(offered);
  for (const format of ['text', 'html'])
    expect((await run(['report', 'c', '--format', format])).out).toContain(offered);
  const inFolder = await run(['report', 'c'], join(here.root, 'campaigns'));
  expect(inFolder.out).toContain('--occurrence may --recipients ../second.csv --retry rejected');
  const words = offered.split(' ').slice(1);
  const again = await run([...words, '--yes', '--format', 'json']);
  expect(again.err).not.toContain('error');
  expect(JSON.parse(again.out).totals).toMatchObject({ accepted: 1, rejected: 1 });
});

it('the list of the campaign is not named', async () => {
  using here = createProject({
    ...PROJECT,
    'handbill.yaml': PROJECT['handbill.yaml'].replace('{url}', api.url),
    'campaigns/c/p.csv': PROJECT['second.csv'],
  });
  const run = (args: readonly string[], cwd = here.root) => handbillHere(cwd, args, { env: { KEY: 'k' }, width: 120 });
  const inFolder = join(here.root, 'campaigns', 'c');
  const sent = await run(['send', 'campaign.yaml', '--env', 'api', '--yes'], inFolder);
  for (const { out } of [sent, await run(['report', 'c']), await run(['report', 'c'], inFolder)]) {
    expect(out).toMatch(/handbill send \S+ --env api --retry rejected/);
    expect(out).not.toContain('--recipients');
  }
});

import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { loadCampaign } from '../../src/campaign/load.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { createPeopleOf } from '../../src/operations/run-people.ts';
import { startSandbox } from '../../src/operations/sandbox.ts';
import { send } from '../../src/operations/send.ts';
import { createProject } from '../helpers/project.ts';

it('shows people as a changed handbill.yaml says, whatever folder serve was started in', async () => {
  await using sandbox = await startSandbox({ port: 0 });
  const settings = (display: string) =>
    `environments:\n  here: { baseUrl: "${sandbox.url}", apiKey: { env: KEY } }\ndefaults: { recipients: { display: "${display}" } }\n`;
  using project = createProject({
    'handbill.yaml': settings('{{name}}'),
    'campaigns/hello/campaign.yaml':
      'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: people.csv\n',
    'campaigns/hello/people.csv': 'msisdn,name,town\n+447400123456,Ada,Leeds\n',
  });
  const env = { KEY: 'sandbox' };
  await send('hello', { cwd: project.root, env, environment: 'here', confirm: true });
  using ledger = openLedger(project.path('.handbill/ledger.db'), { mode: 'read', nowMs: Date.now() });
  const [run] = ledger.runs();
  if (run === undefined) throw new Error('it was sent');
  const cwd = dirname(project.root);
  const { campaign } = await loadCampaign(project.path('campaigns/hello/campaign.yaml'), { cwd, env });
  const peopleOf = createPeopleOf(campaign.project, { cwd, env });
  const label = async () => {
    const people = await peopleOf(run, 60_000);
    return 'why' in people ? people.why : people.of(0)?.label;
  };
  expect(await label()).toBe('Ada');
  project.write('handbill.yaml', settings('{{name}} of {{town}}'));
  expect(await label()).toBe('Ada of Leeds');
});

import { expect, it } from 'vitest';
import { createProject } from '../helpers/project.ts';
import { ask, numberOf, recordRun, servePages, withLedger } from './serve-ledger.ts';

it('a preview is of the environment of the last run', async () => {
  using project = createProject({
    'handbill.yaml':
      'environments:\n  production: { baseUrl: "https://api.example.com", apiKey: { env: KEY } }\n  sandbox: {}\n',
    'campaigns/hello/campaign.yaml':
      'name: hello\nchannel: sms\nfrom: Shop\ntemplate: { text: "Hello {{name}}" }\nrecipients: people.csv\n',
    'campaigns/hello/people.csv': `msisdn,name\n${numberOf(0)},Ada\n`,
  });
  await using before = await servePages(project.root);
  const none = await ask(before.port, '/campaigns');
  expect(none.text).toContain('/campaigns/preview?file=campaigns%2Fhello%2Fcampaign.yaml"');
  withLedger(project.path('.handbill/ledger.db'), (ledger) => {
    recordRun(ledger, { campaign: 'hello', environment: 'production', occurrence: 'earlier' }, [{}]);
  });
  await using pages = await servePages(project.root);
  const [, link = ''] = /href="(\/campaigns\/preview[^"]*)"/.exec((await ask(pages.port, '/campaigns')).text) ?? [];
  expect(link).toContain('env=production');
  const shown = await ask(pages.port, link.replaceAll('&amp;', '&'));
  expect(shown.text).toContain('environment production');
  const unknown = await ask(pages.port, link.replace('production', 'elsewhere').replaceAll('&amp;', '&'));
  expect(unknown.status).toBe(200);
  expect(unknown.text).toContain('environment sandbox');
});

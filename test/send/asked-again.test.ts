import { expect, it } from 'vitest';
import { send } from '../../src/operations/send.ts';
import { createProject } from '../helpers/project.ts';
import { answer, startRawServer } from '../helpers/raw-server.ts';

const HEAD = 'name: hello\nchannel: sms\nfrom: Riverside\nrecipients: people.csv\n';
const PEOPLE = 'msisdn,name\n+447700900123,Ann\n';

/** Two variants of which the first is as good as never drawn. */
function campaign(rare: string, usual: string, text: string, attempts: number): string {
  const variants = [`{ name: ${rare}, weight: 0.000001 }`, `{ name: ${usual} }`].join(', ');
  return `${HEAD}template: { text: "${text}" }\nvariants: [${variants}]\nsend: { attempts: ${attempts} }\n`;
}

it('a refused recipient gets the message at an address that was corrected since', async () => {
  const list = `${HEAD.replace('people.csv', '{ csv: people.csv, key: id }')}template: { text: Hi }\n`;
  using here = createProject({ 'hello/campaign.yaml': list, 'hello/people.csv': 'msisdn,id\n+447700900422,1\n' });
  const options = { cwd: here.root, env: {}, now: () => Date.UTC(2026, 10, 21, 9), random: () => 0 };
  expect((await send('hello', options)).report.totals).toMatchObject({ rejected: 1 });
  here.write('hello/people.csv', 'msisdn,id\n+447700900123,1\n');
  const { report } = await send('hello', { ...options, allow: ['input-changed'], retry: 'rejected' });
  expect(report).toMatchObject({ state: 'finished', totals: { recipients: 1, accepted: 1 } });
});

it('a refused recipient who is retried counts with what is sent now', async () => {
  const statuses = [422];
  const server = await startRawServer({
    behaviour: (request) => answer(statuses.pop() ?? 202, '{"id":"m-1"}')(request),
  });
  using here = createProject({
    'handbill.yaml': `environments: { live: { baseUrl: "${new URL(server.url).origin}", apiKey: { env: KEY } } }`,
    'hello/campaign.yaml': campaign('A', 'B', 'Hi', 1),
    'hello/people.csv': PEOPLE,
  });
  const options = {
    cwd: here.root,
    env: { KEY: 'key-of-a-test-only' },
    environment: 'live',
    confirm: async () => true,
    now: () => Date.UTC(2026, 10, 21, 9),
    random: () => 0,
  };
  const before = await send('hello', options);
  expect(before.report).toMatchObject({
    totals: { rejected: 1 },
    variants: [{ name: 'A' }, { name: 'B', rejected: 1 }],
  });
  here.write('hello/campaign.yaml', campaign('B', 'A', 'x'.repeat(200), 2));
  const { report } = await send('hello', { ...options, allow: ['input-changed'], retry: 'rejected' });
  expect(report).toMatchObject({
    totals: { accepted: 1 },
    sms: { parts: 2, encodings: { 'GSM-7': 1 } },
    variants: [
      { name: 'B', recipients: 0 },
      { name: 'A', accepted: 1 },
    ],
  });
  await server.close();
});

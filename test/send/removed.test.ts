import { expect, it } from 'vitest';
import { send } from '../../src/operations/send.ts';
import { createProject } from '../helpers/project.ts';

const HELLO = 'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: people.csv\n';
/** The sandbox refuses numbers that end in 422. */
const REFUSED = '+447700900422,Ben\n';

it('leaves no recipient pending who was refused, removed from the list and asked for again', async () => {
  using here = createProject({
    'hello/campaign.yaml': HELLO,
    'hello/people.csv': `msisdn,name\n+447700900123,Ann\n${REFUSED}`,
  });
  const options = { cwd: here.root, env: {}, now: () => Date.UTC(2026, 10, 21, 9), random: () => 0 };
  expect((await send('hello', options)).report.totals).toMatchObject({ accepted: 1, rejected: 1 });
  here.write('hello/people.csv', 'msisdn,name\n+447700900123,Ann\n+447700900124,Cid\n');
  const { report } = await send('hello', { ...options, allow: ['input-changed'], retry: 'rejected' });
  expect(report).toMatchObject({
    state: 'finished',
    totals: { recipients: 3, accepted: 2, rejected: 0, skipped: 1, pending: 0 },
    reasons: { skipped: { removed: 1 } },
  });
  expect(await send('hello', options)).toMatchObject({ started: false, posted: 0 });
});

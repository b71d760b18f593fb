import { expect, it } from 'vitest';
import { previewRows } from '../../src/operations/preview.ts';
import { send } from '../../src/operations/send.ts';
import { createProject } from '../helpers/project.ts';

const CAMPAIGN = `name: hello
channel: rcs
from: Riverside
template: { text: Hi }
recipients: people.csv
send: { recipientsPerRequest: 5 }
`;
const FALLBACK = 'fallback: { channel: email, to: mail, template: { text: Hello }, content: { subject: News } }\n';
/** The first has no RCS, and the account of the second step is refused (401), so that the run halts before the others. */
const PEOPLE = `msisdn,mail
+447700900801,a+401@example.com
+447700900124,b@example.com
+447700900125,
`;
const NOW = () => Date.UTC(2026, 10, 21, 9);

async function shown(root: string) {
  const rows = await previewRows('hello', { cwd: root, now: NOW });
  const found: unknown[] = [];
  for await (const batch of rows.batches) {
    for (const { decision, request: made, sharedWith, fallbacks } of batch) {
      const request =
        made === null ? null : (JSON.parse(made.body) as { channel: string; recipients: readonly unknown[] });
      const what = request === null ? decision.decision : `${request.channel} to ${request.recipients.length}`;
      found.push([what, decision.to, sharedWith, fallbacks.length]);
    }
  }
  rows.close();
  return found;
}

it('shows the channel step that would be sent next, as the only one of its request', async () => {
  using here = createProject({ 'hello/campaign.yaml': CAMPAIGN + FALLBACK, 'hello/people.csv': PEOPLE });
  expect(await shown(here.root)).toEqual([
    ['RCS to 3', '+447700900801', null, 1],
    ['send', '+447700900124', 2, 1],
    ['send', '+447700900125', 2, 0],
  ]);
  const options = { cwd: here.root, env: {}, now: NOW, random: () => 0, limit: 1 };
  expect((await send('hello', options)).report).toMatchObject({ state: 'halted', totals: { pending: 3 } });
  expect(await shown(here.root)).toEqual([
    ['Email to 1', 'a+401@example.com', null, 0],
    ['RCS to 2', '+447700900124', null, 1],
    ['send', '+447700900125', 3, 0],
  ]);
  // The campaign has that fallback no more: nothing is left to send.
  here.write('hello/campaign.yaml', CAMPAIGN);
  expect((await shown(here.root))[0]).toEqual(['skip', '+447700900801', null, 0]);
});

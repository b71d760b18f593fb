import { expect, test } from 'vitest';
import { send } from '../../src/operations/send.ts';
import { createProject } from '../helpers/project.ts';

test('a message that waited for its window has its parts, its variant and its own cost in the report', async () => {
  using project = createProject({
    'handbill.yaml': 'prices: prices.csv\n',
    'prices.csv': 'channel,country,price,currency\nsms,*,0.05,GBP\n',
    'campaigns/hours/campaign.yaml': `name: hours
channel: sms
from: Riverside
template: { text: "{{text}}" }
recipients: [{ msisdn: "+447400123456", text: Hello }, { msisdn: "+447400123457", text: "${'long '.repeat(40)}" }]
variants: [{ name: one }, { name: two, from: Other }]
send: { window: { from: 08:00, to: 20:00, timeZone: UTC } }
`,
  });
  const at = (time: string) => () => Date.parse(`2027-01-04T${time}Z`);
  const options = { cwd: project.root, env: {} } as const;
  await send('hours', { ...options, now: at('07:00:00') });
  const { report } = await send('hours', { ...options, now: at('09:00:00') });
  expect(report.totals.accepted).toBe(2);
  expect(report.sms).toMatchObject({ parts: 3, cost: 0.15, encodings: { 'GSM-7': 2 } });
  expect(report.variants?.reduce((sum, { recipients }) => sum + recipients, 0)).toBe(2);
});

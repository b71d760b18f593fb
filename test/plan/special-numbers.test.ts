import { expect, test } from 'vitest';
import { handbillHere } from '../cli/in-process.ts';
import { createProject } from '../helpers/project.ts';

async function previewed(
  list: string,
  settings = '',
  channel = 'sms',
): Promise<{ status: number | null; said: string }> {
  using here = createProject({
    'c.yaml': `name: c\nchannel: ${channel}\nfrom: "447400999999"\ntemplate: { text: "Sale!" }\nrecipients: { csv: p.csv${settings} }\n`,
    'p.csv': `msisdn\n${list}\n`,
  });
  const { status, out, err } = await handbillHere(here.root, ['preview', 'c.yaml']);
  return { status, said: `${out}${err}` };
}

test.each([
  ['+449001234567', 'premium-rate'],
  ['+19002345678', 'premium-rate'],
  ['+979123456789', 'premium-rate'],
  ['+611900123456', 'premium-rate'],
  ['+448001111', 'toll-free'],
  ['+18002345678', 'toll-free'],
  ['+80012345678', 'toll-free'],
  ['+491801234567', 'shared-cost'],
  ['+447000000000', 'personal number'],
  ['+447640123456', 'pager'],
  ['+445512345678', 'company-wide'],
])('%s is warned about as %s', async (number, type) => {
  expect((await previewed(number)).said).toContain(type);
});

test.each(['+447400123456', '+12025550123', '+4915112345678', '+881612345678'])('%s is not', async (number) => {
  expect((await previewed(number)).said).not.toMatch(
    /premium|toll-free|shared-cost|personal|pager|company-wide|voicemail/,
  );
});

test('alsoInvalid refuses the types that it names, and no other', async () => {
  const refused = await previewed('+449001234567', ', alsoInvalid: [premium]');
  expect(refused.status).toBe(2);
  expect(refused.said).toMatch(/invalid-address.*premium-rate number of GB/);
  expect((await previewed('+448001111', ', alsoInvalid: [premium]')).status).toBe(0);
});

test('a call is warned about where it costs more, and not where it is free', async () => {
  expect((await previewed('+449001234567', '', 'voice')).said).toContain('premium-rate');
  expect((await previewed('+448001111', '', 'voice')).said).not.toContain('toll-free');
});

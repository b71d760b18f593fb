import { expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import { preview } from '../../src/operations/preview.ts';
import { listReplies } from '../../src/operations/replies.ts';
import { send } from '../../src/operations/send.ts';
import { addSuppressions } from '../../src/operations/suppress-change.ts';
import { checkSuppressions } from '../../src/operations/suppress-list.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

const MORNING = Date.parse('2026-11-25T09:00:00Z');
const MINUTE = 60_000;
const NUMBERS = ['+447400123456', '+447400123457', '+447400123458'];

function project(webhook = 'webhook: { replies: { stopEnds: topic } }', offers = ''): TestProject {
  const campaign = (name: string, more: string) =>
    `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hello. }\nrecipients: people.csv\n${more}\n`;
  return createProject({
    'handbill.yaml': `${webhook}\n`,
    'campaigns/offers/campaign.yaml': campaign('offers', `topic: offers\n${offers}`),
    'campaigns/visits/campaign.yaml': campaign('visits', 'topic: appointments'),
    'campaigns/codes/campaign.yaml': campaign('codes', 'topic: essential'),
    'campaigns/plain/campaign.yaml': campaign('plain', ''),
    ...Object.fromEntries(
      ['offers', 'visits', 'codes', 'plain'].map((name) => [
        `campaigns/${name}/people.csv`,
        `msisdn\n${NUMBERS.join('\n')}\n`,
      ]),
    ),
  });
}

const options = (here: TestProject, atMs: number) => ({ cwd: here.root, env: {}, now: () => atMs, random: () => 0 });

async function sentTo(here: TestProject, campaign: string, occurrence: string, atMs: number): Promise<number> {
  const target = `campaigns/${campaign}`;
  const shown = await preview(target, { ...options(here, atMs), occurrence }).result();
  const { report } = await send(target, { ...options(here, atMs), occurrence });
  // What preview says is what send does.
  expect(report.totals.accepted).toBe(shown.estimate.send);
  return report.totals.accepted;
}

/** The first recipient answers STOP to the last message. */
function stop(here: TestProject, atMs: number, stopEnds: 'everything' | 'topic' = 'topic'): void {
  const ledger = openLedger(here.path('.handbill/ledger.db'), { mode: 'write', nowMs: atMs });
  const ids = { replyId: `stop-${atMs}`, reference: null, messageId: null, channel: null };
  const reply = { kind: 'reply', ...ids, from: NUMBERS[0] ?? '', to: null, text: 'STOP', meaning: 'opt-out' } as const;
  ledger.events.record([{ ...reply, atMs }], { nowMs: atMs, source: 'webhook', environment: 'sandbox', stopEnds });
  ledger.close();
}

it('a STOP to an offer ends offers: not appointments, codes, or what has no topic', async () => {
  using here = project();
  expect(await sentTo(here, 'offers', 'one', MORNING)).toBe(3);
  stop(here, MORNING + MINUTE);
  const later = MORNING + 2 * MINUTE;
  expect(await sentTo(here, 'offers', 'two', later)).toBe(2);
  for (const campaign of ['visits', 'codes', 'plain']) expect(await sentTo(here, campaign, 'two', later)).toBe(3);
  const [reply] = await listReplies({ cwd: here.root, now: () => later });
  expect(reply).toMatchObject({ meaning: 'opt-out', campaign: 'offers', optsOutOf: 'offers' });
  const { answers } = await checkSuppressions({ cwd: here.root, addresses: [NUMBERS[0] ?? ''], now: () => later });
  expect(answers).toMatchObject([{ suppressed: false, entries: [{ topic: 'offers', source: 'reply' }] }]);
});

it('a STOP to what has no topic, and any STOP by default, ends everything but what is essential', async () => {
  for (const [webhook, first] of [
    ['webhook: { replies: { stopEnds: topic } }', 'plain'],
    ['{}', 'offers'],
  ] as const) {
    using here = project(webhook);
    expect(await sentTo(here, first, 'one', MORNING)).toBe(3);
    stop(here, MORNING + MINUTE, webhook === '{}' ? 'everything' : 'topic');
    const later = MORNING + 2 * MINUTE;
    for (const campaign of ['offers', 'visits', 'plain']) expect(await sentTo(here, campaign, 'two', later)).toBe(2);
    expect(await sentTo(here, 'codes', 'two', later)).toBe(3);
    const [reply] = await listReplies({ cwd: here.root, now: () => later });
    expect(reply).toMatchObject({ optsOutOf: 'everything' });
  }
});

it('entries by hand and in files are about a topic too, and count for what is essential', async () => {
  using here = project('suppressions: out.csv');
  here.write('out.csv', `msisdn,topic\n${NUMBERS[0]},offers\n${NUMBERS[1]},\n`);
  await addSuppressions([NUMBERS[2] ?? ''], { cwd: here.root, topic: 'offers', now: () => MORNING });
  expect(await sentTo(here, 'offers', 'one', MORNING)).toBe(0);
  for (const campaign of ['visits', 'codes', 'plain']) expect(await sentTo(here, campaign, 'one', MORNING)).toBe(2);
  here.write('out.csv', `msisdn,topic\n${NUMBERS[0]},Special Offers\n`);
  const refused = preview('campaigns/plain', { ...options(here, MORNING), occurrence: 'two' }).result();
  await expect(refused).rejects.toMatchObject({
    diagnostics: [{ code: 'invalid-suppression', at: { file: 'out.csv', line: 2 } }],
  });
  await expect(addSuppressions(NUMBERS, { cwd: here.root, topic: 'Offers' })).rejects.toThrow('"Offers" is no topic');
});

it('a cap within a topic counts its messages alone', async () => {
  using here = project('{}', 'frequency: { max: 1, per: day, of: topic }');
  for (const campaign of ['visits', 'codes', 'plain']) expect(await sentTo(here, campaign, 'one', MORNING)).toBe(3);
  expect(await sentTo(here, 'offers', 'one', MORNING)).toBe(3);
  expect(await sentTo(here, 'offers', 'two', MORNING + MINUTE)).toBe(0);
});

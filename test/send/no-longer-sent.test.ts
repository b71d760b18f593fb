import { describe, expect, it } from 'vitest';
import type { Decision } from '../../src/model.ts';
import { previewRows } from '../../src/operations/preview.ts';
import { send } from '../../src/operations/send.ts';
import { createProject } from '../helpers/project.ts';

const HEAD = 'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\n';
const PEOPLE = 'msisdn,name\n+447700900123,Ann\n+447700900422,Ben\n';
const NOW = () => Date.UTC(2026, 10, 21, 9);

/** The sandbox refuses numbers that end in 422; then the campaign is amended, and they are asked for again. */
const CASES = [
  { label: 'the segment leaves out', change: { where: 'where: { name: Ann }' }, reason: 'excluded' },
  { label: 'is held out', change: { more: 'holdout: 99.9%\n' }, reason: 'holdout' },
  { label: 'has no name any more', change: { people: PEOPLE.replace('Ben', '') }, reason: 'missing-variable' },
];

describe('leaves no recipient pending who was refused and is left out by the amended campaign', () => {
  it.each(CASES)('because it $label', async ({ change, reason }) => {
    const campaign = (where = '', more = '') => `${HEAD}recipients: { csv: people.csv, ${where} }\n${more}`;
    using here = createProject({ 'hello/campaign.yaml': campaign(), 'hello/people.csv': PEOPLE });
    const options = { cwd: here.root, env: {}, now: NOW, random: () => 0 };
    expect((await send('hello', options)).report.totals).toMatchObject({ accepted: 1, rejected: 1 });
    here.write('hello/campaign.yaml', campaign(change.where, change.more));
    here.write('hello/people.csv', change.people ?? PEOPLE);
    const { report } = await send('hello', { ...options, allow: ['input-changed', 'invalid-rows'], retry: 'rejected' });
    expect(report).toMatchObject({
      state: 'finished',
      totals: { recipients: 2, accepted: 1, rejected: 0, skipped: 1, pending: 0 },
      reasons: { skipped: { [reason]: 1 } },
    });
  });
});

it('preview shows the outcome of a recipient that the segment leaves out by now', async () => {
  const campaign = (where: string) => `${HEAD}recipients: { csv: people.csv, where: { name: ${where} } }\n`;
  using here = createProject({ 'hello/campaign.yaml': campaign('{ $in: [Ann, Ben] }'), 'hello/people.csv': PEOPLE });
  await send('hello', { cwd: here.root, env: {}, now: NOW, random: () => 0, limit: 1 });
  here.write('hello/campaign.yaml', campaign('Cid'));
  expect(await previewed(here.root)).toMatchObject([
    { decision: 'done', outcome: 'accepted' },
    { decision: 'skip', reason: 'excluded' },
  ]);
});

async function previewed(root: string): Promise<readonly Decision[]> {
  const shown = await previewRows('hello', { cwd: root, now: NOW });
  const decisions: Decision[] = [];
  for await (const batch of shown.batches) decisions.push(...batch.map(({ decision }) => decision));
  shown.close();
  return decisions;
}

describe('a recipient who waits for the winner of a test', () => {
  const CAMPAIGN = `name: hello
channel: rcs
from: Riverside
recipients: people.csv
variants:
  - { name: A, template: { text: A } }
  - { name: B, template: { text: B } }
test: 1%
fallback: { channel: sms, to: phone, template: { text: "Hi {{name}}" } }
`;
  const ROWS = 'msisdn,name,phone\n+447700900123,Ann,+447700900124\n+447700900125,Ben,nonsense\n+447700900126,,\n';

  it('is refused before the test where the fallback cannot be written', async () => {
    using here = createProject({ 'hello/campaign.yaml': CAMPAIGN, 'hello/people.csv': ROWS });
    expect(await previewed(here.root)).toMatchObject([
      { decision: 'defer' },
      { decision: 'invalid', reason: 'invalid-address' },
      { decision: 'defer' },
    ]);
  });

  it('is skipped at once, and nothing is left of it when the winner is known', async () => {
    using here = createProject({ 'hello/campaign.yaml': CAMPAIGN, 'hello/people.csv': ROWS });
    const options = { cwd: here.root, env: {}, now: NOW, random: () => 0, allow: ['invalid-rows'] } as const;
    const before = await send('hello', options);
    expect(before.report.totals).toMatchObject({ deferred: 2, skipped: 1 });
    const after = await send('hello', { ...options, winner: 'A' });
    expect(after.report).toMatchObject({ state: 'finished', totals: { accepted: 2, skipped: 1, deferred: 0 } });
  });
});

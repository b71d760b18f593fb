import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { plan } from '../../src/operations/plan.ts';
import { createProject } from '../helpers/project.ts';
import { handbillHere } from './in-process.ts';

const NOW = Date.parse('2026-11-21T09:00:00Z');
const ROWS = Array.from({ length: 202 }, (_, i) => `+4477009${String(i).padStart(5, '0')}\n`);
const TESTED = `name: sale
channel: sms
from: Riverside
recipients: people.csv
variants:
  - { name: A, template: { text: A } }
  - { name: B, template: { text: "${'B'.repeat(200)}" } }
test: 20%
winner: { by: replied, wait: 4h, minimum: 10 }
`;
const project = createProject({
  'handbill.yaml': 'prices: prices.csv\n',
  'prices.csv': 'country,channel,price,currency\n*,*,0.05,EUR\n',
  'sale/campaign.yaml': TESTED,
  'sale/people.csv': `msisdn\n${ROWS.join('')}`,
});
afterAll(() => project[Symbol.dispose]());
const run = (...args: readonly string[]) => handbillHere(project.root, args, { now: () => NOW, width: 200 });

describe('who is sent to later, with the winner of the test', () => {
  it('is in the plan, with parts and cost of the cheapest and of the most expensive variant', async () => {
    const { estimate } = await plan('sale', { cwd: project.root, now: () => NOW });
    const { send } = estimate;
    const later = 202 - send;
    expect(estimate).toMatchObject({ rows: 202, deferred: { 'winner-undecided': later } });
    expect(estimate.waitingParts).toEqual({ low: later, high: 2 * later });
    const { err } = await run('plan', 'sale', '-o', 'sale.json');
    const parts = `${estimate.parts} parts, later ${later} to ${2 * later}`;
    expect(err).toContain(
      `Planned: ${send} recipients now, ${later} later (winner-undecided), at most 202; ${parts}; ${money(estimate.parts)} EUR, later ${money(later)} to ${money(2 * later)} EUR. Send it with`,
    );
  });

  it('is shown to those who sign the plan', async () => {
    await run('plan', 'sale', '-o', 'sale.json');
    const { estimate } = await plan('sale', { cwd: project.root, now: () => NOW });
    const later = 202 - estimate.send;
    const { err } = await run('approve', 'sale.json', '--check');
    expect(err).toContain(
      `  recipients   ${estimate.send} now, ${later} later (winner-undecided), at most 202 (202 rows)\n`,
    );
    expect(err).toContain('  deferred     winner-undecided: waits for the variant that wins the test\n');
    expect(err).toContain(`  parts        ${estimate.parts}, later ${later} to ${2 * later}\n`);
    expect(err).toContain(`  cost         ${money(estimate.parts)} EUR, later`);
  });

  it('has parts in the preview too', async () => {
    const { out } = await run('preview', 'sale', '--limit', '0');
    expect(out).toMatch(/^to send {3}(\d+), \d+ parts, later 1\d\d to 3\d\d$/m);
  });
});

describe('a plan of a run that has begun', () => {
  const inSteps = {
    'two/campaign.yaml': 'name: two\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\n',
  };
  it('counts what is left, as the preview does, and says what is done', async () => {
    using begun = createProject({ ...inSteps, 'two/people.csv': `msisdn\n${ROWS.slice(0, 20).join('')}` });
    const here = (...args: readonly string[]) => handbillHere(begun.root, args, { width: 200 });
    expect(await here('send', 'two', '--limit', '7')).toMatchObject({ status: 0 });
    const preview = JSON.parse((await here('preview', 'two', '--format', 'json')).out);
    const made = await here('plan', 'two', '-o', 'two.json');
    expect(made.err).toContain('Planned: 13 recipients, 13 parts; done before: 7 accepted. Send it with');
    expect(JSON.parse(readFileSync(begun.path('two.json'), 'utf8')).estimate).toEqual(preview.estimate);
    expect((await here('approve', 'two.json', '--check')).err).toContain('  done before  7 accepted\n');
  });

  it('is compared as of the time that it was made: its own run came later', async () => {
    using whole = createProject({ ...inSteps, 'two/people.csv': `msisdn\n${ROWS.slice(0, 20).join('')}` });
    const here = (...args: readonly string[]) => handbillHere(whole.root, args, { width: 200 });
    await here('plan', 'two', '-o', 'two.json');
    await here('send', '--plan', 'two.json', '--yes');
    const { status, err } = await here('approve', 'two.json', '--check');
    expect(err).toContain('  recipients   20 (20 rows)\n');
    expect(status).toBe(0);
  });
});

/** What so many parts cost. */
function money(parts: number): string {
  return (parts * 0.05).toFixed(2);
}

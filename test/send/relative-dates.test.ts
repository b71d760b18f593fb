import { expect, it } from 'vitest';
import { plan } from '../../src/operations/plan.ts';
import { preview } from '../../src/operations/preview.ts';
import { send } from '../../src/operations/send.ts';
import type { SendOptions } from '../../src/operations/send-options.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

const EVENING = Date.parse('2026-11-24T23:50:00Z');
const AFTER_MIDNIGHT = Date.parse('2026-11-25T00:10:00Z');

function project(more = ''): TestProject {
  return createProject({
    'handbill.yaml': '{}\n',
    'visits/campaign.yaml': `name: visits\nchannel: sms\nfrom: Riverside\ntimeZone: Europe/London
template: { text: See you tomorrow. }\nrecipients: { csv: people.csv, where: { visit: { $on: tomorrow } } }\n${more}`,
    'visits/people.csv':
      'msisdn,visit\n+447400123456,2026-11-25\n+447400123457,2026-11-25\n+447400123458,2026-11-26\n+447400123459,\n',
  });
}

const at = (here: TestProject, nowMs: number, options: Partial<SendOptions> = {}) =>
  send('visits', { cwd: here.root, env: {}, now: () => nowMs, random: () => 0, ...options });

it('a run that continues after midnight means the day on which it began', async () => {
  using here = project();
  const first = await at(here, EVENING, { limit: 1 });
  expect(first.report.totals).toMatchObject({ accepted: 1, pending: 1, skipped: 2 });
  const shown = await preview('visits', { cwd: here.root, now: () => AFTER_MIDNIGHT }).result();
  expect(shown).toMatchObject({ day: '2026-11-24', valid: true, estimate: { send: 1 } });
  const rest = await at(here, AFTER_MIDNIGHT);
  expect(rest.report.totals).toMatchObject({ accepted: 2, skipped: 2 });
});

it('one start has one day, however late it becomes', async () => {
  using here = project();
  let nowMs = EVENING;
  // A quarter of an hour passes at each look at the clock.
  const sent = await at(here, EVENING, {
    now: () => {
      nowMs += 900_000;
      return nowMs;
    },
  });
  expect(sent.report.totals).toMatchObject({ accepted: 1, skipped: 3 });
});

it('an occurrence that is a date means that day, whenever it is sent', async () => {
  using here = project();
  const late = await at(here, AFTER_MIDNIGHT, { occurrence: '2026-11-24' });
  expect(late.report.totals).toMatchObject({ accepted: 2, skipped: 2 });
});

it('a scheduled occurrence that is sent late means its own day', async () => {
  using here = project('schedule: { cron: 30 23 * * * }\n');
  const late = await at(here, AFTER_MIDNIGHT);
  expect(late.report.occurrence).toBe('2026-11-24T23:30:00Z');
  expect(late.report.totals).toMatchObject({ accepted: 2, skipped: 2 });
});

it('a plan holds its day, and is not sent on another', async () => {
  using here = project();
  const planFile = await plan('visits', { cwd: here.root, now: () => EVENING });
  expect(planFile.inputs).toContainEqual(expect.objectContaining({ role: 'day', file: '2026-11-24' }));
  expect(planFile.estimate.send).toBe(2);
  const later = send(planFile, { cwd: here.root, env: {}, now: () => AFTER_MIDNIGHT });
  await expect(later).rejects.toThrow(/The day from which dates in `recipients.where` count changed/);
  const sent = await send(planFile, { cwd: here.root, env: {}, now: () => EVENING + 60_000 });
  expect(sent.report.totals).toMatchObject({ accepted: 2 });
});

it('a cell that is not a date refuses the run, with its line and column', async () => {
  using here = project();
  here.write('visits/people.csv', 'msisdn,visit\n+447400123456,soon\n');
  const { problems } = await preview('visits', { cwd: here.root, now: () => EVENING }).result();
  expect(problems).toMatchObject([
    { code: 'column-type', at: { file: 'visits/people.csv', line: 2 } },
    { code: 'invalid-rows', hint: expect.stringContaining('--allow invalid-rows') },
  ]);
  expect(problems[0]?.message).toContain('"visit" holds');
});

import { expect, it } from 'vitest';
import { due } from '../../src/operations/due.ts';
import { plan } from '../../src/operations/plan.ts';
import { previewRows } from '../../src/operations/preview.ts';
import { send } from '../../src/operations/send.ts';
import type { SendOptions } from '../../src/operations/send-options.ts';
import { validate } from '../../src/operations/validate.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { slowCommitClock } from '../helpers/slow-commit.ts';

const START = Date.UTC(2026, 10, 21, 9);
const HOUR = 3_600_000;
const LIST = 'msisdn,name\n+447700900123,Ann\n+447700900124,Ben\n+447700900125,Cid\n';

function project(more = '') {
  return createProject({
    'hello/campaign.yaml': `name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: people.csv\n${more}`,
    'hello/people.csv': LIST,
  });
}

const at = (here: TestProject, nowMs: number, options: Partial<SendOptions> = {}) =>
  send('hello', { cwd: here.root, env: {}, now: () => nowMs, random: () => 0, ...options });

it('continues a run for 24 hours, and later only when it is told to', async () => {
  using here = project();
  await at(here, START, { limit: 1 });
  const within = await at(here, START + 24 * HOUR, { limit: 1 });
  expect(within.report.totals).toMatchObject({ accepted: 2, pending: 1 });
  await expect(at(here, START + 24 * HOUR + 1)).rejects.toMatchObject({ code: 'too-late', exit: 2 });
  const late = await at(here, START + 25 * HOUR, { allow: ['too-late'] });
  expect(late.report).toMatchObject({ state: 'finished', totals: { accepted: 3, pending: 0 } });
  // A finished run is never late: it says that nothing is left.
  expect(await at(here, START + 900 * HOUR)).toMatchObject({ started: false, posted: 0, exit: 0 });
});

it.each(['send: { notAfter: "2026-11-21T12:00:00Z" }', 'validity: 3h', 'validity: "2026-11-21T12:00:00Z"'])(
  'expires what is left after %s',
  async (end) => {
    using here = project(`${end}\n`);
    await at(here, START, { limit: 1 });
    const { report, posted, exit } = await at(here, START + 25 * HOUR);
    expect({ posted, exit }).toEqual({ posted: 0, exit: 0 });
    expect(report).toMatchObject({
      state: 'finished',
      totals: { accepted: 1, skipped: 2 },
      reasons: { skipped: { expired: 2 } },
    });
  },
);

it.each(['send: { notAfter: "2026-11-21T12:00:00Z" }', 'validity: "2026-11-21T12:00:00Z"', 'validity: 3h'])(
  'expires who was waiting for their turn when it passed: %s',
  async (end) => {
    using here = project(`${end}\n`);
    let posted = () => 0;
    const { report } = await at(here, START, {
      now: () => (posted() > 0 ? START + 4 * HOUR : START),
      onEvent(event) {
        if (event.kind === 'sending') posted = () => event.figures.posted;
      },
    });
    expect(report.totals).toMatchObject({ accepted: 1, skipped: 2 });
    expect(report.reasons).toEqual({ skipped: { expired: 2 } });
  },
);

it('expires a recipient whose claim was committed after notAfter', async () => {
  using here = project('send: { notAfter: "2026-11-21T12:00:00Z" }\n');
  const now = slowCommitClock(here.root, START, START + 4 * HOUR);
  const { posted, report } = await at(here, START, { now });
  expect(posted).toBe(0);
  expect(report.totals).toMatchObject({ accepted: 0, skipped: 3, pending: 0 });
  expect(report.reasons).toEqual({ skipped: { expired: 3 } });
});

it.each(['send: { notAfter: "2026-11-21T12:00:00Z" }', 'validity: 3h'])(
  'leaves final outcomes as they are after %s, whatever --retry asks for',
  async (end) => {
    using here = createProject({
      'hello/campaign.yaml': `name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: { csv: people.csv, key: name }\n${end}\n`,
      'hello/people.csv': 'msisdn,name\n+447700900123,Ann\n+447700900422,Ben\n',
    });
    const { report } = await at(here, START);
    expect(report.totals).toMatchObject({ accepted: 1, rejected: 1 });
    here.write('hello/people.csv', 'msisdn,name\n+447700900124,Ann\n+447700900422,Ben\n');
    for (const retry of ['corrected', 'rejected', 'skipped'] as const) {
      const allow = ['input-changed'] as const;
      const now = () => START + 4 * HOUR;
      const shown = await previewRows('hello', { cwd: here.root, env: {}, now, allow, start: { retry } });
      const decided: string[] = [];
      for await (const rows of shown.batches) decided.push(...rows.map(({ decision }) => decision.decision));
      shown.close();
      expect(decided).toEqual(['done', 'done']);
      const later = await at(here, START + 4 * HOUR, { retry, allow, confirm: async () => true });
      expect(later).toMatchObject({ posted: 0, exit: 3, report: { totals: report.totals } });
    }
  },
);

it('tries rejected recipients again only when it is told to', async () => {
  using here = createProject({
    'hello/campaign.yaml':
      'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: people.csv\n',
    'hello/people.csv': 'msisdn,name\n+447700900123,Ann\n+447700900422,Ben\n',
  });
  expect(await at(here, START)).toMatchObject({ exit: 3, posted: 2, report: { totals: { accepted: 1, rejected: 1 } } });
  expect(await at(here, START)).toMatchObject({ exit: 3, posted: 0, started: false });
  expect(await at(here, START, { retry: 'rejected' })).toMatchObject({
    exit: 3,
    posted: 1,
    report: { totals: { rejected: 1 } },
  });
});

it('refuses any environment but the sandbox unless a person confirms', async () => {
  using here = project();
  here.write(
    'handbill.yaml',
    'environments:\n  production:\n    baseUrl: https://api.invalid\n    apiKey: { env: KEY }\n',
  );
  const production = { environment: 'production', env: { KEY: 'SEKRET-1' } };
  await expect(at(here, START, production)).rejects.toMatchObject({ code: 'not-confirmed', exit: 2 });
  let asked: unknown;
  const confirm = async (question: unknown) => {
    asked = question;
    return false;
  };
  await expect(at(here, START, { ...production, confirm })).rejects.toMatchObject({ code: 'not-confirmed' });
  expect(asked).toMatchObject({ campaign: 'hello', environment: 'production', recipients: 3, estimate: { parts: 3 } });
  // Nothing was left behind: the same run may still be sent.
  expect(await at(here, START)).toMatchObject({ exit: 0, posted: 3 });
});

it('refuses to begin a run whose messages have expired, and says so before; a run that began goes on', async () => {
  using here = project('validity: "2026-11-21T12:00:00Z"\n');
  const later = START + 4 * HOUR;
  const options = { cwd: here.root, env: {}, now: () => later };
  const previewed = async () => {
    const shown = await previewRows('hello', options);
    for await (const _ of shown.batches);
    shown.close();
    return shown.result().problems.map(({ code }) => code);
  };
  const said = async () =>
    (await validate(['hello'], options)).diagnostics.flatMap(({ code, severity, at }) =>
      severity === 'error' ? [[code, at?.line]] : [],
    );
  await expect(at(here, later)).rejects.toMatchObject({ code: 'validity-past', exit: 2 });
  await expect(plan('hello', options)).rejects.toMatchObject({ code: 'validity-past', exit: 2 });
  expect(await said()).toEqual([['validity-past', 6]]);
  expect(await previewed()).toEqual(['validity-past']);
  // The refused start has left no run.
  await at(here, START, { limit: 1 });
  expect(await previewed()).toEqual([]);
  expect(await at(here, later)).toMatchObject({
    posted: 0,
    report: { state: 'finished', totals: { accepted: 1, skipped: 2 } },
  });
});

it('due goes on with a run whose messages have expired since, and refuses the next one', async () => {
  using here = project('validity: "2026-11-21T12:00:00Z"\nschedule: { cron: "0 9 * * *", timeZone: UTC }\n');
  await at(here, START, { limit: 1 });
  const called = async (nowMs: number) => {
    const { items } = await due(['hello'], { cwd: here.root, env: {}, now: () => nowMs, confirm: true });
    return items.map(({ action, result, diagnostics }) => [
      action,
      result?.report.totals.skipped,
      diagnostics[0]?.code,
    ]);
  };
  expect(await called(START + 4 * HOUR)).toEqual([['continue', 2, undefined]]);
  expect(await called(START + 24 * HOUR)).toEqual([['refuse', undefined, 'validity-past']]);
});

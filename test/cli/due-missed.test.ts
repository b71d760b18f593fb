import { describe, expect, it } from 'vitest';
import { doctor } from '../../src/operations/doctor.ts';
import { createProject } from '../helpers/project.ts';
import { startApi } from '../processes/api.ts';
import { handbillHere } from './in-process.ts';

const KEY = { HANDBILL_TEST_KEY: 'key-for-tests-only' };
const DUE = ['due', '--env', 'test', '--yes', '--quiet'];

function projectOf(url: string, schedule = 'cron: "0 9 * * 1"') {
  return createProject({
    'handbill.yaml': `environments:\n  test: { baseUrl: "${url}", apiKey: { env: HANDBILL_TEST_KEY } }\n`,
    'campaigns/rent/campaign.yaml': `name: rent\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hello }\nrecipients: people.csv\nlimits: { minRecipients: 1 }\nschedule: { ${schedule}, timeZone: UTC }\n`,
    'campaigns/rent/people.csv': 'msisdn\n+447400900001\n',
  });
}

/** 21 December 2026 is a Monday. */
const at = (time: string) => ({ env: KEY, now: () => Date.parse(`2026-12-${time}Z`) });

describe('an occurrence that is never sent', () => {
  it('is a refusal that is printed once an hour, and then an event: status 8, once', async () => {
    await using api = await startApi();
    using project = projectOf(api.url);
    const call = (time: string, ...more: string[]) => handbillHere(project.root, [...DUE, ...more], at(time));
    expect(await call('21T09:00:01')).toMatchObject({ status: 0 });
    project.write('campaigns/rent/people.csv', 'msisdn\n');

    const first = await call('28T09:05:00');
    expect(first).toMatchObject({ status: 2, err: expect.stringContaining('list-too-short') });
    expect(await call('28T09:10:00')).toEqual({ status: 2, out: '', err: '' });
    expect(await call('28T09:15:00', '--format', 'json')).toEqual({ status: 2, out: '', err: '' });
    expect(await call('28T10:06:00')).toMatchObject({ status: 2, err: first.err });
    project.write('campaigns/rent/people.csv', 'msisdn\nx\n');
    expect(await call('28T10:10:00')).toMatchObject({ status: 2, err: expect.stringContaining('invalid-address') });

    const metrics = ['--metrics-file', 'm.prom', '--log', 'log.jsonl'];
    const lost = await call('29T09:05:00', ...metrics);
    expect(lost).toMatchObject({ status: 8, err: '' });
    expect(lost.out).toBe('rent (2026-12-28T09:00:00Z): missed, and not sent any more.\n');
    const files = project.contents();
    expect(`${files.get(project.path('m.prom'))}`).toContain('handbill_missed{campaign="rent",environment="test"} 1');
    expect(`${files.get(project.path('m.prom'))}`).toContain(
      'handbill_command_exit_status{command="due",environment="test"} 8',
    );
    expect(`${files.get(project.path('log.jsonl'))}`).toMatch(
      /"level":"warn"[^\n]*campaign-due|campaign-due[^\n]*"level":"warn"/,
    );
    expect(await call('29T09:10:00', ...metrics)).toEqual({ status: 0, out: '', err: '' });
    expect(`${project.contents().get(project.path('m.prom'))}`).toContain(
      'handbill_missed{campaign="rent",environment="test"} 1',
    );

    const times = await handbillHere(project.root, ['schedule', '--env', 'test'], at('29T09:10:00'));
    expect(times).toMatchObject({ status: 0, err: '' });
    expect(times.out).toContain('rent  missed in test: 2026-12-28T09:00:00Z');
    const { checks } = await doctor({ cwd: project.root, now: at('29T09:10:00').now });
    expect(checks).toContainEqual(
      expect.objectContaining({
        check: 'missed',
        of: 'test',
        status: 'warning',
        message: expect.stringContaining('2026-12-28T09:00:00Z'),
      }),
    );
  });

  it('is one event with a count where several were missed, also before one that is sent', async () => {
    await using api = await startApi();
    using project = projectOf(api.url, 'cron: "0 * * * *", missed: catch-up');
    const call = (time: string) => handbillHere(project.root, DUE, at(time));
    expect(await call('21T09:00:01')).toMatchObject({ status: 0 });
    const after = await call('21T13:10:00');
    expect(after.status).toBe(8);
    expect(after.out).toContain('Missed before it: 3 instants, 2026-12-21T10:00:00Z to 2026-12-21T12:00:00Z.');
    expect(await call('21T13:20:00')).toMatchObject({ status: 0 });
    expect(await call('21T14:00:10')).toMatchObject({ status: 0 });
    expect(api.received()).toBe(3);
  });
});

describe('a run that became too old with recipients left', () => {
  it('is an event too, once', async () => {
    await using api = await startApi();
    using project = projectOf(api.url);
    const call = (time: string, ...more: string[]) => handbillHere(project.root, [...DUE, ...more], at(time));
    expect(await call('14T09:00:01')).toMatchObject({ status: 0 });
    project.write('campaigns/rent/people.csv', 'msisdn\n+447400900001\n+447400900002\n');
    const some = 'send rent --env test --yes --quiet --limit 1 --occurrence 2026-12-21T09:00:00Z'.split(' ');
    expect(await handbillHere(project.root, some, at('21T09:00:30'))).toMatchObject({ status: 0 });
    const late = await call('22T09:30:00');
    expect(late).toMatchObject({ status: 8, out: expect.stringContaining('left unfinished') });
    expect(await call('22T09:35:00')).toEqual({ status: 0, out: '', err: '' });
    expect(api.received()).toBe(2);
  });
});

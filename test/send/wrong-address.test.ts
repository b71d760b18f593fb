import { expect, it } from 'vitest';
import { send } from '../../src/operations/send.ts';
import { useApi } from '../helpers/api.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

const NOON = Date.parse('2026-11-23T12:00:00Z');

/** The status of each next request; then 202. */
let statuses: number[] = [];
const api = useApi(() => {
  const status = statuses.shift() ?? 202;
  return { status, body: status === 202 ? '{"id":"m"}' : '{"title":"no"}' };
});

const settings = (path: string): string =>
  ['one', 'two'].map((name) => `  ${name}:\n    baseUrl: ${api.url}${path}\n    apiKey: { env: KEY }\n`).join('');

function project(): TestProject {
  return createProject({
    'handbill.yaml': `environments:\n${settings('/a')}`,
    'hello/campaign.yaml':
      'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi" }\nrecipients: people.csv\nsend: { concurrency: 1 }\n',
    'hello/people.csv': 'msisdn\n+447700900101\n+447700900102\n',
  });
}

async function sent(here: TestProject, occurrence: string, answers: readonly number[], environment = 'one') {
  statuses = [...answers];
  const options = {
    cwd: here.root,
    env: { KEY: 'secret' },
    now: () => NOON,
    confirm: true,
    allow: ['sent-elsewhere'] as const,
  };
  const { report } = await send('hello', { ...options, environment, occurrence });
  const { accepted, rejected, pending } = report.totals;
  return { halt: report.halt?.rule ?? null, accepted, rejected, pending };
}

const HALTED = { halt: 'wrong-address', accepted: 0, rejected: 0, pending: 2 };

it.each([404, 405, 410])(
  '%i halts until the environment was accepted at this address, in whichever start and run',
  async (status) => {
    using here = project();
    expect(await sent(here, 'a', [status])).toEqual(HALTED);
    expect(await sent(here, 'a', [400, status])).toEqual({ ...HALTED, rejected: 1, pending: 1 });
    expect(await sent(here, 'b', [202, status])).toEqual({ halt: null, accepted: 1, rejected: 1, pending: 0 });
    expect(await sent(here, 'c', [status, 202])).toEqual({ halt: null, accepted: 1, rejected: 1, pending: 0 });
    expect(await sent(here, 'c', [status], 'two')).toEqual(HALTED);
    here.write('handbill.yaml', `environments:\n${settings('/b')}`);
    expect(await sent(here, 'd', [status])).toEqual(HALTED);
  },
);

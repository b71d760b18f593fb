import { describe, expect, it } from 'vitest';
import { loadCampaign } from '../../src/campaign/load.ts';
import { sendPlan } from '../../src/operations/send-once.ts';
import { createPlan } from '../../src/plan/plan.ts';
import { createMemory } from '../../src/send/memory.ts';
import { handbillHere } from '../cli/in-process.ts';
import { useApi } from '../helpers/api.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

const NINE = Date.parse('2026-11-23T09:00:05Z');

const api = useApi();

const PEOPLE = [0, 1, 2, 3].map((i) => `+44770090020${i}`);
const listOf = (people: readonly string[]): string => `msisdn,name\n${people.map((to) => `${to},Name\n`).join('')}`;

/** An address that is not of this machine. No test gets as far as a request to it. */
const FAR = 'https://api.example.invalid';

type Urls = Readonly<Record<string, string>>;

const projectFile = (urls: Urls, more: Urls = {}): string =>
  `environments:\n${Object.entries(urls)
    .map(([name, url]) => `  ${name}:\n    baseUrl: ${url}\n    apiKey: { env: KEY }\n${more[name] ?? ''}`)
    .join('')}`;

function project(): TestProject {
  return createProject({
    'handbill.yaml': projectFile({ one: api.url, two: FAR }),
    'urgent.yaml':
      'name: urgent\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: people.csv\n',
    'people.csv': listOf(PEOPLE),
  });
}

const env = { KEY: 'secret' };

const handbill = (here: TestProject, line: string) =>
  handbillHere(here.root, line.split(' '), { env, now: () => NINE, width: 400 });

/** `one` has sent to some of them, while its address was that of this machine; from then on it is another sender. */
async function sentFromOne(here: TestProject, limit = 3, urls: Urls = { one: FAR, two: FAR }, more: Urls = {}) {
  here.write('handbill.yaml', projectFile({ one: api.url, two: FAR }, { one: more['one'] ?? '' }));
  expect(await handbill(here, `send urgent --env one --yes --limit ${limit}`)).toMatchObject({ status: 0 });
  here.write('handbill.yaml', projectFile(urls, more));
  api.bodies.length = 0;
}

const SAID = 'This occurrence (once) was sent already to 3 recipients from one (run urgent-';

describe('recipients who have this occurrence from another environment', () => {
  it('are a warning of preview, and a refusal of send and plan', async () => {
    using here = project();
    await sentFromOne(here);
    expect(await handbill(here, 'preview urgent --env two')).toMatchObject({
      status: 0,
      out: expect.stringMatching(/to send +4/),
      err: expect.stringContaining(`warning[sent-elsewhere]: ${SAID}`),
    });
    for (const line of ['send urgent --env two --yes', 'send urgent --env two', 'plan urgent --env two']) {
      const { status, err } = await handbill(here, line);
      expect({ line, status, err }).toMatchObject({ line, status: 2, err: expect.stringContaining(SAID) });
      expect(err).toContain('error[sent-elsewhere]');
      expect(err).toContain('--allow sent-elsewhere');
    }
    expect((await handbill(here, 'send urgent --env two --dry-run')).err).toContain('sent-elsewhere');
    expect((await handbill(here, 'runs --format json')).out).not.toContain('"environment":"two"');
  });

  it('get it again where that is allowed, for this start', async () => {
    using here = project();
    await sentFromOne(here);
    const { err } = await handbill(here, 'send urgent --env two --yes --limit 1 --allow sent-elsewhere');
    expect(err).toContain('warning[sent-elsewhere]');
    expect((await handbill(here, 'report urgent --format json')).out).toContain('"environment": "two"');
    // The rest of the run is asked about again.
    expect(await handbill(here, 'send urgent --env two --yes')).toMatchObject({
      status: 2,
      err: expect.stringContaining('sent-elsewhere'),
    });
    here.write('people.csv', listOf([...PEOPLE, '+447700900209']));
    const changed = await handbill(here, 'send urgent --env two --yes --allow input-changed');
    expect(changed).toMatchObject({ status: 2, err: expect.stringContaining('sent-elsewhere') });
  });

  it('are asked about as a question, whose answer counts', async () => {
    using here = project();
    await sentFromOne(here);
    const { campaign } = await loadCampaign('urgent', { cwd: here.root });
    const plan = await createPlan(campaign, { environment: 'two', occurrence: 'once', nowMs: NINE });
    const asked: (readonly string[])[] = [];
    const answer = (yes: boolean) => ({
      cwd: here.root,
      env,
      now: () => NINE,
      limit: 1,
      confirm: async (question: { readonly allows: readonly string[] }) => {
        asked.push(question.allows);
        return yes;
      },
    });
    await expect(sendPlan(plan, answer(false), createMemory())).rejects.toThrow(SAID);
    const { report } = await sendPlan(plan, answer(true), createMemory());
    expect(report.environment).toBe('two');
    expect(asked).toEqual([[expect.stringContaining(SAID)], [expect.stringContaining(SAID)]]);
  });

  it('are noticed when the other environment begins while the question waits', async () => {
    using here = project();
    here.write('handbill.yaml', projectFile({ one: FAR, two: FAR }));
    const { campaign } = await loadCampaign('urgent', { cwd: here.root });
    const plan = await createPlan(campaign, { environment: 'two', occurrence: 'once', nowMs: NINE });
    const confirm = async () => {
      await sentFromOne(here);
      return true;
    };
    const sent = sendPlan(plan, { cwd: here.root, env, now: () => NINE, confirm }, createMemory());
    await expect(sent).rejects.toThrow('is being sent from one at this moment');
  });

  it('are counted by their address where their keys differ', async () => {
    using here = project();
    await sentFromOne(here);
    here.write('people.csv', `msisdn,name,id\n${PEOPLE.map((to, i) => `${to},Name,k${i}\n`).join('')}`);
    const keyed = 'recipients: { csv: people.csv, key: id }';
    here.write(
      'urgent.yaml',
      `name: urgent\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\n${keyed}\n`,
    );
    expect((await handbill(here, 'preview urgent --env two')).err).toContain(SAID);
  });

  it('count also where the project no longer has that environment', async () => {
    using here = project();
    await sentFromOne(here, 3, { two: FAR });
    expect((await handbill(here, 'preview urgent --env two')).err).toContain(SAID);
  });

  it('are unknown people where that run was purged, and still a refusal', async () => {
    using here = project();
    await sentFromOne(here, 4);
    const later = { env, now: () => NINE + 86_400_000, width: 400 };
    const purged = ['purge', '--older-than', '1h', '--yes'];
    expect(await handbillHere(here.root, purged, later)).toMatchObject({ status: 0 });
    const { status, err } = await handbillHere(here.root, ['send', 'urgent', '--env', 'two', '--yes'], later);
    expect({ status, err }).toMatchObject({
      status: 2,
      err: expect.stringContaining('4 recipients (purged) from one'),
    });
  });
});

describe('nothing is said', () => {
  const FENCE = `    only: ["${PEOPLE[0]}", "${PEOPLE[1]}"]\n`;
  it.each<[string, string, string, Urls, Urls]>([
    ['of the sandbox', 'preview urgent', '', { one: FAR, two: FAR }, {}],
    ['to an address of this machine', 'preview urgent --env two', '', { one: FAR, two: 'http://localhost:9' }, {}],
    ['of an address of this machine', 'preview urgent --env two', '', { one: 'http://127.0.0.1:9', two: FAR }, {}],
    ['in a fenced environment', 'preview urgent --env two', '', { one: FAR, two: FAR }, { two: FENCE }],
    ['of a fenced environment', 'preview urgent --env two', '', { one: FAR, two: FAR }, { one: FENCE }],
    ['of another occurrence', 'preview urgent --env two --occurrence next', '', { one: FAR, two: FAR }, {}],
    ['of other people', 'preview urgent --env two', listOf(['+447700900300']), { one: FAR, two: FAR }, {}],
    ['in the same environment', 'preview urgent --env one', '', { one: FAR, two: FAR }, {}],
  ])('%s', async (_, line, list, urls, more) => {
    using here = project();
    await sentFromOne(here, 2, urls, more);
    if (list !== '') here.write('people.csv', list);
    const { err } = await handbill(here, line);
    expect(err).not.toContain('sent-elsewhere');
  });
});

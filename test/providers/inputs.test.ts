import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadCampaign } from '../../src/campaign/load.ts';
import { createPlan } from '../../src/plan/plan.ts';
import { standingInputs } from '../../src/plan/standing-inputs.ts';
import { handbillHere } from '../cli/in-process.ts';
import { createRepository } from '../diff/repository.ts';
import { useApi } from '../helpers/api.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

/* A provider file of the project is a file of the messages, as their template is. */

const NINE = Date.parse('2026-11-23T09:00:00Z');
const FILE = 'providers/gateway.yaml';
const api = useApi();

const GATEWAY = `title: Gateway
vars: { account: { description: The account } }
secrets: { token: { description: The token } }
url: https://gateway.example/{var.account}/send
auth: { header: { Authorization: "Bearer {secret.token}" } }
channels: { sms: text }
limits: { text: 500 }
requests: [{ json: { number: "{to}", text: "{text}", ref: "{reference}", token: "{secret.token}" } }]
`;

const settings = (provider = './providers/gateway.yaml', token = 'TOKEN', more = '') => `environments:
  live:
    provider: ${provider}
    baseUrl: ${api.url}
    vars: { account: A1 }
    secrets: { token: { env: ${token} } }
${more}`;

const FILES = {
  [FILE]: GATEWAY,
  'providers/other.yaml': GATEWAY,
  'hello/campaign.yaml': 'name: hello\nchannel: sms\ntemplate: { text: Hi }\nrecipients: people.csv\n',
  'hello/people.csv': 'msisdn\n+447700900123\n+447700900124\n',
};

const project = (): TestProject => createProject({ ...FILES, 'handbill.yaml': settings() });

function handbill(here: TestProject, ...args: readonly string[]) {
  const options = { env: { TOKEN: 't0ken', OTHER: 't0ken-2' }, now: () => NINE, width: 400 };
  return handbillHere(here.root, args[0] === 'report' ? args : [...args, '--env', 'live'], options);
}

async function planOf(here: TestProject) {
  const { campaign } = await loadCampaign('hello', { cwd: here.root });
  return await createPlan(campaign, { environment: 'live', occurrence: 'once', nowMs: NINE });
}

const CHANGES: readonly (readonly [string, string, string])[] = [
  ['a comment', 'title: Gateway', '# A comment.\ntitle: Gateway'],
  ['a word', 'sms: text', 'sms: TEXT'],
  ['the body', 'ref: ', 'id: '],
];

describe('a provider file of the project', () => {
  it.each(CHANGES)('changes between plan and send: %s', async (_what, was, is) => {
    using here = project();
    await handbill(here, 'plan', 'hello', '-o', 'plan.json');
    const inputs = JSON.parse(readFileSync(here.path('plan.json'), 'utf8')).inputs as { role: string; file: string }[];
    expect(inputs.filter(({ role }) => role === 'provider').map(({ file }) => file)).toEqual([FILE]);
    here.write(FILE, GATEWAY.replace(was, is));
    const { status, err } = await handbill(here, 'send', '--plan', 'plan.json', '--yes');
    expect([status, api.bodies]).toEqual([2, []]);
    expect(err).toContain(`input-changed`);
    expect(err).toContain(`The provider file changed since the plan was made.`);
    expect(err).toContain(FILE);
    expect(err).not.toContain('A setting of the environment');
    here.write(FILE, GATEWAY);
    expect(await handbill(here, 'send', '--plan', 'plan.json', '--yes')).toMatchObject({ status: 0 });
    expect(api.bodies.length).toBe(2);
  });

  it('changes while a run goes on, and is named by it and by its report', async () => {
    using here = project();
    await handbill(here, 'send', 'hello', '--yes', '--limit', '1');
    here.write(FILE, GATEWAY.replace('ref: ', 'id: '));
    const refused = await handbill(here, 'send', 'hello', '--yes');
    expect(refused).toMatchObject({ status: 2, err: expect.stringContaining('The provider file changed since') });
    expect(await handbill(here, 'send', 'hello', '--yes', '--allow', 'input-changed')).toMatchObject({ status: 0 });
    const { out } = await handbill(here, 'report', 'hello', '--format', 'json');
    const { inputs } = JSON.parse(out) as { inputs: { role: string; file: string }[] };
    expect(inputs.filter(({ role }) => role === 'provider')).toMatchObject([{ file: FILE }]);
  });

  it('ends a standing approval', async () => {
    using here = project();
    const before = standingInputs(await planOf(here));
    here.write(FILE, `${GATEWAY}# A comment.\n`);
    const after = standingInputs(await planOf(here));
    expect(after.filter((one, i) => one.sha256 !== before[i]?.sha256).map(({ role }) => role)).toEqual(['provider']);
  });

  it('is no input of another environment, and the place of a secret is none at all', async () => {
    using here = project();
    const before = (await planOf(here)).inputs;
    here.write(
      'handbill.yaml',
      settings(undefined, 'OTHER', settings('./providers/other.yaml').slice(14).replace('live', 'other')),
    );
    expect((await planOf(here)).inputs).toEqual(before);
    here.write('providers/other.yaml', GATEWAY.replace('ref: ', 'id: '));
    expect((await planOf(here)).inputs).toEqual(before);
  });

  it('goes on with a copy of the same words', async () => {
    using here = project();
    await handbill(here, 'send', 'hello', '--yes', '--limit', '1');
    here.write('handbill.yaml', settings('./providers/other.yaml'));
    expect(await handbill(here, 'send', 'hello', '--yes')).toMatchObject({ status: 0 });
  });

  it('is in diff, and must be committed where the environment asks for that', async () => {
    using repository = createRepository({
      ...FILES,
      'handbill.yaml': settings(undefined, undefined, '    git: { clean: true }\n'),
    });
    repository.write({ [FILE]: GATEWAY.replace('sms: text', 'sms: TEXT').replace('500', '400') });
    expect((await repository.diff('HEAD')).project).toEqual([
      { key: `${FILE} channels.sms`, before: 'text', after: 'TEXT' },
      { key: `${FILE} limits.text`, before: '500', after: '400' },
    ]);
    const options = { env: { TOKEN: 't0ken', PATH: process.env['PATH'] }, now: () => NINE, width: 400 };
    const sent = await handbillHere(repository.root, ['send', 'hello', '--env', 'live', '--yes'], options);
    expect(sent).toMatchObject({ status: 2, err: expect.stringContaining(FILE) });
    repository.write({ [FILE]: null, 'handbill.yaml': settings('./providers/other.yaml') });
    expect((await repository.diff('HEAD')).project).toContainEqual({
      key: FILE,
      before: 'a provider file',
      after: null,
    });
  });
});

it('a provider that comes with handbill is no file of the project', async () => {
  using here = createProject({ ...FILES, 'handbill.yaml': settings('twilio') });
  here.write('hello/campaign.yaml', FILES['hello/campaign.yaml'].replace('sms', 'sms\nfrom: Riverside'));
  expect((await planOf(here)).inputs.map(({ role }) => role)).not.toContain('provider');
});

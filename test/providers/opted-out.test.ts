import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { handbillHere } from '../cli/in-process.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { answer, type RawServer, startRawServer } from '../helpers/raw-server.ts';

const BO = '+447700900002';
const PEOPLE = 'key,msisdn\nann,+447700900001\nbo,+447700900002\ncy,+447700900003\n';

/** An API with one entry for each recipient. */
const GATEWAY = `title: Gateway
secrets: { token: { description: The token } }
url: https://gateway.example/send
auth: { header: { Authorization: "Bearer {secret.token}" } }
channels: { sms: sms }
limits: { recipients: 10 }
requests:
  - json: { text: "{text}", to: { $each: recipients, $do: "{to}" } }
response: { recipients: [/results], recipientAddress: [/number], recipientId: [/id] }
answers:
  - { codeAt: /code, code: [stopped], then: opted-out }
  - { codeAt: /code, code: [taken], then: accepted }
`;
const TWILIO = `provider: twilio
    vars: { account: AC0000 }
    secrets: { token: { env: TOKEN } }`;
const LIST = `provider: ./gateway.yaml
    secrets: { token: { env: TOKEN } }`;

let server: RawServer;
let project: TestProject;
beforeEach(async () => {
  server = await startRawServer({
    behaviour(request) {
      if (request.body.startsWith('{')) {
        const { to } = JSON.parse(request.body) as { readonly to: readonly string[] };
        const results = to.map((number, i) => ({
          number,
          id: `G${server.requests.length}-${i}`,
          code: number === BO ? 'stopped' : 'taken',
        }));
        return answer(207, JSON.stringify({ results }))(request);
      }
      if (!request.body.includes('0900002')) {
        return answer(201, `{"sid":"SM${server.requests.length}","status":"queued"}`)(request);
      }
      const refusal = { code: 21610, message: 'Attempt to send to unsubscribed recipient', status: 400 };
      return answer(400, JSON.stringify(refusal))(request);
    },
  });
  project = createProject({ 'people.csv': PEOPLE, 'gateway.yaml': GATEWAY });
});
afterEach(async () => {
  project[Symbol.dispose]();
  await server.close();
});

interface Settings {
  readonly provider: string;
  readonly keys?: string;
  readonly stopEnds?: string;
  readonly topic?: string;
}

function write({ provider, keys = '', stopEnds = 'everything', topic = '' }: Settings): void {
  project.write(
    'handbill.yaml',
    `defaultCountry: GB
webhook: { replies: { stopEnds: ${stopEnds} } }
environments:
  staging:
    ${provider}
    baseUrl: "${new URL(server.url).origin}"
    ${keys}
`,
  );
  const most = provider === LIST ? 10 : 1;
  for (const name of ['first', 'second']) {
    project.write(
      `${name}/campaign.yaml`,
      `name: ${name}\nchannel: sms\nfrom: Riverside\nsend: { recipientsPerRequest: ${most} }\n${name === 'first' ? topic : ''}
template: { text: Hi }\nrecipients: { csv: ../people.csv, key: key }\n`,
    );
  }
}

const run = (...args: readonly string[]) =>
  handbillHere(project.root, args, { env: { TOKEN: 'token-of-a-test' }, width: 200 });
const send = (campaign: string, ...args: readonly string[]) =>
  run('send', campaign, '--env', 'staging', '--yes', ...args);

async function outcomes(campaign: string): Promise<Readonly<Record<string, string>>> {
  const { out } = await run('report', campaign, '--format', 'jsonl');
  const rows = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { key: string; outcome: string; reason: string | null });
  return Object.fromEntries(
    rows.map(({ key, outcome, reason }) => [key, reason === null ? outcome : `${outcome}(${reason})`]),
  );
}

async function suppressed(): Promise<readonly unknown[]> {
  const { out } = await run('suppress', 'list', '--format', 'json');
  const { suppressions } = JSON.parse(out) as { suppressions: readonly { [key: string]: unknown }[] };
  return suppressions.map(({ address, topic, source, until }) => ({ address, topic, source, until }));
}

describe.each([
  ['one recipient in a request, refused by a 400', TWILIO],
  ['several, one of them refused in a 207', LIST],
])('%s', (_, provider) => {
  it('puts the address on the suppression list, with the outcome', async () => {
    write({ provider });
    await send('first');
    expect(await outcomes('first')).toEqual({ ann: 'accepted', bo: 'rejected(opted-out)', cy: 'accepted' });
    expect(server.requests.length).toBe(provider === LIST ? 1 : 3);
    expect(await suppressed()).toEqual([{ address: BO, topic: null, source: 'provider', until: null }]);
    expect((await run('suppress', 'list', '--full')).out).toMatch(/\+447700900002.*provider/);
    await send('second');
    expect(await outcomes('second')).toEqual({ ann: 'accepted', bo: 'skipped(suppressed)', cy: 'accepted' });
  });

  it('in the scope of a STOP: the topic of the campaign, where that is what a STOP ends', async () => {
    write({ provider, stopEnds: 'topic', topic: 'topic: offers' });
    await send('first');
    expect(await suppressed()).toEqual([{ address: BO, topic: 'offers', source: 'provider', until: null }]);
    await send('second');
    expect(await outcomes('second')).toMatchObject({ bo: 'rejected(opted-out)' });
  });

  it('an entry that a person adds later does not hide where it came from', async () => {
    write({ provider });
    await send('first');
    await run('suppress', 'add', BO, '--reason', 'wrote a letter');
    expect(await suppressed()).toMatchObject([{ address: BO, source: 'provider' }]);
  });

  it('not for a message that went to a tester instead', async () => {
    write({ provider, keys: `redirect: "${BO}"` });
    await send('first');
    expect(await outcomes('first')).toMatchObject({ bo: 'rejected(opted-out)' });
    expect(await suppressed()).toEqual([]);
  });

  it('not for a test', async () => {
    write({ provider });
    const { out } = await send('first', '--test-to', BO);
    expect(out).toContain('opted');
    expect(server.requests.length).toBe(1);
    expect(await suppressed()).toEqual([]);
  });
});

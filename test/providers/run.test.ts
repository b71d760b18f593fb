import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { handbillHere } from '../cli/in-process.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { answer, type Behaviour, type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { knownProvider } from './examples.ts';

const TOKEN = 'token-of-a-test-that-no-one-may-see';
const PEOPLE = 'key,msisdn\nann,+447700900001\nbo,+447700900002\n';
const MINUTE = 60_000;

let server: RawServer;
let project: TestProject;
let nowMs: number;
/** What the server does with the first, the second request ...; the last goes on. */
let behaviours: readonly Behaviour[];
beforeEach(async () => {
  nowMs = Date.now();
  behaviours = [];
  server = await startRawServer({
    behaviour(request) {
      const behaviour = behaviours[Math.min(server.requests.length, behaviours.length) - 1];
      behaviour?.(request);
    },
  });
  project = createProject({
    'people.csv': PEOPLE,
    'one.csv': 'key,msisdn\nann,+447700900001\n',
    'hello/campaign.yaml': campaign(),
  });
});
afterEach(async () => {
  project[Symbol.dispose]();
  await server.close();
});

function campaign(more = '', list = 'one.csv'): string {
  return `name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\n${more}
recipients: { csv: ../${list}, key: key }\n`;
}

/** An API of the project, with these keys of its file. */
function gateway(keys: string, auth = 'auth: { header: { Authorization: "Bearer {secret.token}" } }'): void {
  project.write(
    'gateway.yaml',
    `title: Gateway
secrets: { token: { description: The token } }
url: https://gateway.example/send
${auth}
channels: { sms: sms }
requests:
  - json: { text: "{text}", left: "{validity.seconds}", to: { $each: recipients, $do: "{to}" } }
${keys}
`,
  );
  write('provider: ./gateway.yaml\n    secrets: { token: { env: TOKEN } }');
}

function write(provider: string): void {
  project.write(
    'handbill.yaml',
    `environments:\n  production:\n    ${provider}\n    baseUrl: "${new URL(server.url).origin}"\n`,
  );
}

const run = (...args: readonly string[]) =>
  handbillHere(project.root, args, { env: { TOKEN }, width: 200, now: () => nowMs });
const send = (...args: readonly string[]) => run('send', 'hello', '--env', 'production', '--yes', ...args);

interface Row {
  readonly key: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly messageId: string | null;
}

async function rows(): Promise<readonly Row[]> {
  const { out } = await run('report', 'hello', '--format', 'jsonl');
  return out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
}

const bodies = () => server.requests.map(({ body }) => JSON.parse(body) as { [key: string]: unknown });
const headerOf = (name: string) =>
  server.requests.map(({ head }) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim());

describe('what a provider file says reaches the run', () => {
  it('the id of a message in a header, without the characters around it', async () => {
    gateway('response: { messageIdHeader: X-Message-Id, trimId: "<>" }');
    behaviours = [answer(202, '', { 'X-Message-Id': '<abc@gateway.example>' })];
    await send();
    expect(await rows()).toMatchObject([{ outcome: 'accepted', messageId: 'abc@gateway.example' }]);
  });

  it('a 2xx without that header is in doubt: another server may have answered', async () => {
    gateway('response: { messageIdHeader: X-Message-Id }');
    behaviours = [answer(202, '')];
    await send();
    expect(await rows()).toMatchObject([{ outcome: 'in-doubt', reason: 'unrecognised' }]);
  });

  it('an id in the body comes before that of the header, and is trimmed too', async () => {
    gateway('response: { messageId: [/id], messageIdHeader: X-Message-Id, trimId: "<>" }');
    behaviours = [answer(200, '{"id":"<in-the-body>"}', { 'X-Message-Id': 'other' })];
    await send();
    expect(await rows()).toMatchObject([{ messageId: 'in-the-body' }]);
  });

  it('the header also counts for several recipients, and where a rule accepts', async () => {
    gateway(`response: { messageIdHeader: X-Message-Id }
limits: { recipients: 10 }
answers: [{ status: 202, codeAt: /state, code: [ok], then: accepted }]`);
    project.write('hello/campaign.yaml', campaign('send: { recipientsPerRequest: 10 }', 'people.csv'));
    behaviours = [answer(202, '{"state":"ok"}', { 'x-message-id': 'batch-1' })];
    await send();
    expect(await rows()).toMatchObject([{ messageId: 'batch-1' }, { messageId: 'batch-1' }]);
  });

  it('statuses after which a request is sent in parts', async () => {
    gateway('answers: [{ status: 422, then: refused }]\nlimits: { recipients: 10 }');
    project.write('hello/campaign.yaml', campaign('send: { recipientsPerRequest: 10 }', 'people.csv'));
    behaviours = [answer(422, '{"code":"too-many"}'), answer(200, '{"id":"a"}'), answer(200, '{"id":"b"}')];
    await send();
    expect(bodies().map(({ to }) => (to as unknown[]).length)).toEqual([2, 1, 1]);
    expect((await rows()).map(({ outcome }) => outcome)).toEqual(['accepted', 'accepted']);
  });

  it('statuses after which nothing was done', async () => {
    gateway('answers: [{ status: 503, then: retry }]');
    behaviours = [answer(503), answer(200, '{"id":"a"}')];
    await send();
    expect(server.requests.length).toBe(2);
    expect(await rows()).toMatchObject([{ outcome: 'accepted' }]);
  });

  it('the header for the reference, which is the same for each attempt', async () => {
    gateway('idempotency: { header: Idempotency-Key }');
    behaviours = [answer(429), answer(200, '{"id":"a"}')];
    await send();
    const [first, second] = headerOf('idempotency-key');
    expect(first).toMatch(/^[\w-]{22}$/);
    expect(second).toBe(first);
  });
});

describe('a rule', () => {
  it('that stops halts the run, says why in the words of the API without an address, and affects no recipient', async () => {
    gateway('answers: [{ status: 400, codeAt: /code, code: [sender], then: stop }]');
    const message = 'The sender is not registered for +447700900001.';
    behaviours = [answer(400, JSON.stringify({ code: 'sender', message }))];
    const { status, out, err } = await send();
    expect(status).toBe(5);
    expect(out + err).toContain('It says: The sender is not registered for +44');
    expect(out + err).not.toContain('+447700900001');
    expect(await rows()).toMatchObject([{ outcome: 'pending', reason: 'not-authorised' }]);
  });

  it('that asks for another attempt gets one, in a 200 as well', async () => {
    gateway('answers: [{ codeAt: /code, code: [busy], then: retry }]');
    behaviours = [answer(200, '{"code":"busy"}'), answer(200, '{"id":"a"}')];
    await send();
    expect(server.requests.length).toBe(2);
    expect(await rows()).toMatchObject([{ outcome: 'accepted', messageId: 'a' }]);
  });
});

describe('each attempt', () => {
  it('says what is left of the validity', async () => {
    gateway('');
    project.write('hello/campaign.yaml', campaign('validity: PT1H'));
    const later: Behaviour = (request) => {
      nowMs += 20 * MINUTE;
      answer(429)(request);
    };
    behaviours = [later, answer(200, '{"id":"a"}')];
    await send();
    expect(bodies().map(({ left }) => left)).toEqual([3600, 2400]);
  });

  it('has its own token, where the provider takes JSON Web Tokens', async () => {
    gateway('', 'auth: { jwt: { alg: HS256, key: "{secret.token}", claims: { iss: handbill, iat: now } } }');
    const later: Behaviour = (request) => {
      nowMs += MINUTE;
      answer(429)(request);
    };
    behaviours = [later, answer(200, '{"id":"a"}')];
    await send();
    const tokens = headerOf('authorization').map((text) => text?.replace('Bearer ', '') ?? '');
    const claims = tokens.map((token) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()));
    expect(claims).toMatchObject([{ iss: 'handbill' }, { iss: 'handbill' }]);
    expect(claims[1].iat - claims[0].iat).toBe(60);
  });
});

describe('a redirect', () => {
  const FORMS: readonly (readonly [string, string])[] = [
    ['a header', 'auth: { header: { Authorization: "Bearer {secret.token}" } }'],
    ['Basic', 'auth: { basic: [me, "{secret.token}"] }'],
    ['a JSON Web Token', 'auth: { jwt: { alg: HS256, key: "{secret.token}", claims: { iat: now } } }'],
    ['a header of the file', 'headers: { X-Token: "{secret.token}" }'],
  ];
  it.each(FORMS.flatMap((form) => [301, 302, 303, 307, 308].map((status) => [...form, status] as const)))(
    'gets no key: %s%.0s, %i',
    async (_, auth, status) => {
      const elsewhere = await startRawServer({ behaviour: answer(200, '{"id":"a"}') });
      gateway('', auth);
      behaviours = [answer(status, '', { location: elsewhere.url })];
      const { status: exit } = await send();
      expect([exit, elsewhere.connections, server.requests.length]).toEqual([5, 0, 1]);
      await elsewhere.close();
    },
  );

  it('gets no secret of a body either', async () => {
    const elsewhere = await startRawServer({ behaviour: answer(200) });
    const { vars = {} } = knownProvider('vonage-sms').examples;
    write(`provider: vonage-sms\n    vars: ${JSON.stringify(vars)}\n    secrets: { secret: { env: TOKEN } }`);
    behaviours = [answer(307, '', { location: elsewhere.url })];
    await send();
    expect(server.requests.map(({ body }) => body.includes(TOKEN))).toEqual([true]);
    expect(elsewhere.connections).toBe(0);
    await elsewhere.close();
  });
});

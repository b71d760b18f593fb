import { afterEach, beforeEach, expect, it } from 'vitest';
import { exchangeText } from '../../src/cli/send/exchange.ts';
import type { ShownExchange } from '../../src/http/explain.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { type RawRequest, type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { handbillHere } from './in-process.ts';

const ME = '+447400900001';
const SECRET = 'S3cr+t/of=the"Provider';

let server: RawServer;
let project: TestProject;
beforeEach(async () => {
  server = await startRawServer({ behaviour: echo });
  project = createProject({
    'hello/campaign.yaml':
      'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}} & 1+1" }\nrecipients: people.csv\n',
    'hello/people.csv': 'msisdn,name\n+447400123456,Ann\n+447400123457,Ben\n',
  });
});
afterEach(async () => {
  project[Symbol.dispose]();
  await server.close();
});

/** An API that repeats what it was sent, with headers that help, and a cookie. */
function echo({ head, body, socket }: RawRequest): void {
  const said = JSON.stringify({ id: 12345678901234567890n.toString(), head, body }).replace(/"(\d{20})"/, '$1');
  const headers = [
    'content-type: application/json',
    `x-request-id: r-${server.requests.length}`,
    'set-cookie: session=5f3a',
    `content-length: ${Buffer.byteLength(said)}`,
  ];
  socket.write(`HTTP/1.1 200 OK\r\n${headers.join('\r\n')}\r\n\r\n${said}`);
}

const JSON_BODY = 'json: { to: "{to}", text: "{text}", ref: "{reference}", key: "{secret.token}" }';
const FORM_BODY = 'form: { To: "{to}", Body: "{text}", Key: "{secret.token}" }';

function provider(auth: string, body: string): void {
  project.write(
    'own.yaml',
    `title: Own
secrets: { token: { description: The token } }
url: https://own.example/send/{secret.token}?a=b
auth: ${auth}
channels: { sms: sms }
requests: [{ ${body} }]
response: { messageId: [/id] }
`,
  );
  const secrets = '{ token: { env: OPENS_THE_DOOR } }';
  const own = `provider: ./own.yaml\n    secrets: ${secrets}\n    baseUrl: ${new URL(server.url).origin}`;
  project.write('handbill.yaml', `environments:\n  real:\n    ${own}\n`);
}

const test = (...args: readonly string[]) =>
  handbillHere(project.root, ['send', 'hello', '--env', 'real', '--yes', ...args, '--test-to', ME], {
    env: { OPENS_THE_DOOR: SECRET },
  });

const AUTHS: readonly (readonly [auth: string, shown: string])[] = [
  ['{ basic: [shop, "{secret.token}"] }', 'authorization: Basic [key]'],
  ['{ jwt: { alg: HS256, key: "{secret.token}", claims: { iat: now, kid: shop } } }', 'authorization: Bearer [key]'],
  ['{ header: { X-Token: "{secret.token}" } }', 'x-token: [key]'],
];

it.each(AUTHS)('prints the request and the answer with %s, and hides it in both', async (auth, shown) => {
  provider(auth, JSON_BODY);
  const { out, err, status } = await test();
  expect([status, out.split('\n').filter((line) => line.startsWith('>'))]).toEqual([
    0,
    expect.arrayContaining([
      `> POST ${new URL(server.url).origin}/send/[key]?a=b`,
      '> content-type: application/json',
      `> ${shown}`,
      '>',
      `>   "to": "${ME}",`,
      '>   "text": "Hi Ann & 1+1",',
      '>   "key": "[key]"',
    ]),
  ]);
  expect(out).toContain('\n< 200\n< content-type: application/json\n< x-request-id: r-1\n<\n< {\n');
  expect(out).toContain('<   "id": 12345678901234567890,\n');
  expect(out).toContain(`\nAnswer to +44••••••0001: 200, accepted`);
  expect(out).not.toContain('session');
  // The server repeated what it was sent.
  const [{ head = '', body = '' } = {}] = server.requests;
  const credentials = /^(?:authorization|x-token): (?:\w+ )?(\S+)$/im.exec(head)?.[1] ?? '';
  expect(credentials.length).toBeGreaterThan(20);
  expect(body).toContain(JSON.stringify(SECRET));
  const inJson = JSON.stringify(SECRET).slice(1, -1);
  const twice = JSON.stringify(inJson).slice(1, -1);
  for (const secret of [credentials, SECRET, inJson, twice, encodeURIComponent(SECRET)]) {
    expect(`${out}${err}`).not.toContain(secret);
  }
});

it('prints a field of a form a line, as its receiver reads it', async () => {
  provider('{ header: { X-Token: "{secret.token}" } }', FORM_BODY);
  const { out } = await test();
  expect(server.requests[0]?.body).toContain(`To=${encodeURIComponent(ME)}&Body=Hi+Ann+%26+1%2B1&Key=`);
  expect(out).toContain(`>\n> To=${ME}\n> Body=Hi Ann & 1+1\n> Key=[key]\n<`);
});

it('has them as data too, each with its run, and in brief only how the answer was read', async () => {
  provider('{ basic: [shop, "{secret.token}"] }', JSON_BODY);
  const json = await test('--format', 'json');
  const { runs, exchanges } = JSON.parse(json.out) as { runs: { run: string }[]; exchanges: ShownExchange[] };
  expect(exchanges).toEqual([
    {
      run: runs[0]?.run,
      request: {
        method: 'POST',
        url: `${new URL(server.url).origin}/send/[key]?a=b`,
        headers: expect.objectContaining({ authorization: 'Basic [key]' }),
        body: server.requests[0]?.body.replace(JSON.stringify(SECRET), '"[key]"'),
      },
      answer: {
        status: 200,
        headers: { 'content-type': 'application/json', 'x-request-id': 'r-1' },
        body: expect.stringContaining('Basic [key]'),
      },
      readings: [expect.objectContaining({ to: ME, outcome: 'accepted', messageIdAt: '/id' })],
    },
  ]);
  const brief = await test('--format', 'brief');
  expect(brief.out).toMatch(/^hello .*\n$/);
  expect(brief.err).toContain('Answer to +44••••••0001: 200, accepted');
  expect(await test('--quiet')).toEqual({ status: 0, out: '', err: '' });
});

it('prints each message of a test, and one without an answer', async () => {
  provider('{ basic: [shop, "{secret.token}"] }', JSON_BODY);
  project.write(
    'hello/campaign.yaml',
    'name: hello\nchannel: sms\nfrom: Riverside\nrecipients: people.csv\nvariants:\n' +
      ['a', 'b'].map((name) => `  - { name: ${name}, template: { text: "${name} {{name}}" } }\n`).join(''),
  );
  server.behaviour = (request) => (server.requests.length === 1 ? echo(request) : request.socket.destroy());
  const { out } = await test();
  const [first = '', second = ''] = out.split(/(?=^> POST)/m);
  expect(first).toMatch(/"text": "a Ann"[\s\S]*< 200[\s\S]*Answer to [\s\S]*1 of 1 sent\./);
  expect(second).toMatch(/"text": "b Ann"[\s\S]*Answer to [\s\S]*: none, in-doubt/);
  expect(second).not.toContain('< ');
});

it('changes nothing of a text but its lines, and leaves out what is too long', () => {
  const body = '{"2":[],"1":{ },"a":[1.50,"x:{\\"y\\"}",[{"b":null}]]}';
  const shown = (text: string, headers = {}): string =>
    exchangeText({ request: null, answer: { status: 200, headers, body: text }, readings: [] });
  expect(shown(body)).toBe(
    `< 200
<
< {
<   "2": [],
<   "1": { },
<   "a": [
<     1.50,
<     "x:{\\"y\\"}",
<     [
<       {
<         "b": null
<       }
<     ]
<   ]
< }

`,
  );
  expect(shown('<p>\u001b[2J no\nJSON')).toBe('< 200\n<\n< <p>\\u{1b}[2J no\n< JSON\n\n');
  expect(shown('')).toBe('< 200\n\n');
  expect(shown('x'.repeat(10_000))).toContain('x\n< ... 4005 more characters: --format json has all of them\n');
  expect(shown('['.repeat(30_000) + ']'.repeat(30_000)).length).toBeLessThan(10_000);
});

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { providerNames } from '../../src/campaign/read-provider.ts';
import type { Json } from '../../src/util/json.ts';
import { createRedactor } from '../../src/util/redact.ts';
import { handbillHere } from '../cli/in-process.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { answer, type Behaviour, type RawServer, reset, startRawServer } from '../helpers/raw-server.ts';
import { type Known, knownProvider } from './examples.ts';

/** Signs that forms, JSON and URLs write in another way. No variable is named as one of a secret. */
const SECRET = 'S3cret+of/the=Provider"0123';
const VARIABLE = 'OPENS_THE_DOOR';

/** An API that repeats all that it was sent. */
const echo =
  (status: number): Behaviour =>
  (request) => {
    const said = {
      message: `${request.head}\n${request.body}`,
      error: { message: request.body },
      Message: request.head,
    };
    answer(status, JSON.stringify({ ...said, id: SECRET, sid: SECRET, errors: [said] }))(request);
  };

let server: RawServer;
let project: TestProject;
beforeEach(async () => {
  server = await startRawServer({
    behaviour(request) {
      const all = [echo(400), reset, echo(200), echo(500)];
      all[(server.requests.length - 1) % all.length]?.(request);
    },
  });
  project = createProject({ 'people.csv': 'key,msisdn,email\n' });
});
afterEach(async () => {
  project[Symbol.dispose]();
  await server.close();
});

const OWN = `title: Own
secrets: { token: { description: The token } }
url: https://own.example/send/{secret.token}?token={secret.token}
channels: { sms: sms }
requests: [{ json: { to: "{to}", text: "{text}", key: "{secret.token}", pair: "me:{secret.token}" } }]
`;

function write({ provider: { name, secrets }, examples }: Pick<Known, 'provider' | 'examples'>): void {
  const [example] = examples.requests;
  if (example === undefined) throw new Error('It has an example.');
  const { channel, from = 'Riverside', text, template, variables, content } = example.message;
  const isEmail = channel === 'email';
  const environment = {
    provider: name,
    vars: examples.vars ?? {},
    secrets: Object.fromEntries(Object.keys(secrets).map((one) => [one, { env: VARIABLE }])),
    baseUrl: new URL(server.url).origin,
  };
  project.write('handbill.yaml', JSON.stringify({ environments: { production: environment } }));
  const campaign = {
    name: 'hello',
    channel,
    from,
    ...(content === undefined ? { template: template ?? { text } } : { content: { subject: 'Hi', text: 'Hi' } }),
    ...(template === undefined || variables === undefined ? {} : { variables: columnsFor(variables) }),
    send: { concurrency: 1 },
    limits: { stopAfter: { inDoubt: 100 } },
    recipients: { csv: '../people.csv', key: 'key', to: isEmail ? 'email' : 'msisdn' },
  };
  project.write('hello/campaign.yaml', JSON.stringify(campaign));
  const people = ['ann', 'bo', 'cy', 'di'].map((key, i) => `${key},+44770090000${i},${key}@example.com\n`);
  project.write('people.csv', `key,msisdn,email\n${people.join('')}`);
}

/** Variables of a campaign name columns. */
function columnsFor(value: Json): Json {
  if (typeof value !== 'object' || value === null) return 'key';
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, columnsFor(inner)]));
}

/** Every file of the project, the ledger among them. */
function filesIn(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesIn(path) : [readFileSync(path, 'latin1')];
  });
}

const BUILT_IN = providerNames()
  .filter((name) => name !== 'messages-v2')
  .map(knownProvider);
const OWN_FILE: Pick<Known, 'name' | 'provider' | 'examples'> = {
  name: 'a file of the project',
  provider: { ...knownProvider('vonage-sms').provider, name: './own.yaml', secrets: { token: SECRET } as never },
  examples: { requests: [{ message: { channel: 'sms', text: 'Hi' } } as never], answers: [], webhooks: [] },
};

it.each([...BUILT_IN, OWN_FILE])('$name: no command shows or keeps a secret', async (known) => {
  project.write('own.yaml', OWN);
  write(known);
  const shown: string[] = [];
  const run = async (...args: readonly string[]): Promise<void> => {
    const { out, err } = await handbillHere(project.root, args, { env: { [VARIABLE]: SECRET }, width: 500 });
    shown.push(out, err);
  };
  const at = ['--env', 'production'] as const;
  await run('preview', 'hello', ...at, '--format', 'json');
  if (known === OWN_FILE) await run('preview', 'hello', ...at);
  const [to] = known.examples.requests[0]?.message.channel === 'email' ? ['ann@example.com'] : ['+447700900001'];
  await run('send', 'hello', ...at, '--yes', '--test-to', to ?? '');
  await run('send', 'hello', ...at, '--yes', '--test-to', to ?? '', '--format', 'json');
  expect(server.requests.length, shown.join('\n')).toBe(2);
  expect(shown.join('\n')).toMatch(/^> POST http:/m);
  const all = server.requests.length;
  for (let i = 0; i < 4; i += 1) await run('send', 'hello', ...at, '--yes');
  expect(server.requests.length).toBeGreaterThan(all);
  await run('doubt', 'list');
  // A report says nothing of how requests are made: every format for one of them, and the fullest for the others.
  const formats = known === OWN_FILE ? ['text', 'json', 'jsonl', 'html', 'csv'] : ['jsonl'];
  for (const format of formats) await run('report', 'hello', '--format', format);
  await run('runs', '--format', 'json');
  await run('doctor', ...at);
  const redact = createRedactor([SECRET]);
  for (const text of [...shown, ...filesIn(project.root)]) expect(redact(text)).toBe(text);
  // The requests had it, or there would be nothing to hide.
  const asSent = server.requests.map(({ head, body }) => `${head}\n${body}`).join('\n');
  if (known.provider.auth === null || !('jwt' in known.provider.auth)) expect(redact(asSent)).not.toBe(asSent);
});

it.each([OWN_FILE, knownProvider('vonage-sms')])('$name: a run goes on with another secret', async (known) => {
  project.write('own.yaml', OWN);
  write(known);
  server.behaviour = (request) => {
    const id = `m-${server.requests.length}`;
    answer(200, JSON.stringify({ id, messages: [{ status: '0', 'message-id': id }] }))(request);
  };
  const run = (secret: string, ...args: readonly string[]) =>
    handbillHere(project.root, args, { env: { [VARIABLE]: secret }, width: 500 });
  const at = ['hello', '--env', 'production', '--yes'] as const;
  await run('the-first-secret', 'send', ...at, '--limit', '2');
  const { status, err } = await run('the-second-secret', 'send', ...at);
  expect([status, err]).toEqual([0, expect.not.stringContaining('changed')]);
  expect(server.requests.map(({ body }) => /the-\w+-secret/.exec(body)?.[0])).toEqual([
    'the-first-secret',
    'the-first-secret',
    'the-second-secret',
    'the-second-secret',
  ]);
});

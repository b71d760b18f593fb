import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTarget, type Target } from '../fuzz/target.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { answer, type Behaviour, type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { CANARY_KEY } from '../oracle/scene.ts';
import { CanarySearch, formsOf } from './canary.ts';

let target: Target;
let server: RawServer;
beforeAll(async () => {
  // Where fsync costs nothing: each send makes a ledger.
  if (existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm';
  target = startTarget();
  server = await startRawServer();
});
afterAll(async () => {
  await target[Symbol.asyncDispose]();
  await server.close();
});

const ALL_FORMS = [...formsOf(CANARY_KEY).values()].join(' ');

const WIRE = `
    wire:
      response:
        recipients: [/results]
        refusedRecipients: [/refused]
        recipientStatus: { at: [/status], refused: [no] }
      answers: [{ status: 404, then: unsupported }, { codeAt: /code, code: [unsupported], then: unsupported }]`;

/** Three recipients in a request, a fallback for each, and variants: what only such campaigns read of an answer. */
const CAMPAIGN = `name: proof
channel: messaging-app
from: Riverside
variants:
  - { name: a, template: { id: first } }
  - { name: b, template: { id: second } }
fallback: { channel: sms, template: { text: "Hi {{name}}" } }
recipients: { csv: people.csv, key: id, columns: { age: number }, where: { age: { $gte: 18 } } }
send: { recipientsPerRequest: 3, timeout: 1s, concurrency: 1, attempts: 2 }
limits: { stopAfter: { inDoubt: 50, rejected: 100% } }
`;

function projectWith(campaign = CAMPAIGN, project = ''): TestProject {
  const rows = Array.from(
    { length: 24 },
    (_, row) => `+4474001000${10 + row},c-${row},Ana,${row % 6 === 0 ? 17 : 30}\n`,
  );
  return createProject({
    'handbill.yaml': `environments:\n  test:\n    baseUrl: http://127.0.0.1:${server.port}\n    apiKey: { env: HANDBILL_API_KEY }${project || WIRE}\n`,
    'campaign.yaml': campaign,
    'people.csv': `msisdn,id,name,age\n${rows.join('')}`,
  });
}

/** What an API that repeats the key says of each recipient of a request. */
const ENTRIES: readonly ((to: string) => object)[] = [
  (to) => ({ to, id: CANARY_KEY }),
  (to) => ({ to, id: `m-${CANARY_KEY}`, status: 'no', error: { message: ALL_FORMS } }),
  (to) => ({ to, code: 'unsupported', error: CANARY_KEY }),
  (to) => ({ to, code: CANARY_KEY, status: 'no', error: [{ detail: ALL_FORMS }] }),
  (to) => ({ to: `${CANARY_KEY}${to}`, id: 'm' }),
  (to) => ({ to, [CANARY_KEY]: CANARY_KEY, status: CANARY_KEY, error: { message: CANARY_KEY } }),
];

const numbersIn = (body: string): readonly string[] =>
  [...body.matchAll(/"msisdn":"([^"]+)"/g)].map(([, to]) => to ?? '');

/** Answers in turn: of single recipients, unsupported, echoed whole, refused whole. */
const TELLTALES: readonly Behaviour[] = [
  ...ENTRIES.flatMap((entry) =>
    [200, 207, 400].map(
      (status): Behaviour =>
        (request) => {
          const results = numbersIn(request.body).map((to) => entry(to));
          answer(status, JSON.stringify({ id: CANARY_KEY, results, refused: results }))(request);
        },
    ),
  ),
  (request) => answer(404, JSON.stringify({ code: 'unsupported', message: ALL_FORMS }))(request),
  (request) =>
    answer(422, JSON.stringify({ errors: numbersIn(request.body).map((to) => `${to} ${CANARY_KEY}`) }))(request),
  (request) => answer(413, `${CANARY_KEY} is too large`)(request),
  (request) => answer(200, JSON.stringify({ echo: request.body, head: request.head, id: CANARY_KEY }))(request),
];

const LOOKS: readonly (readonly string[])[] = [
  ['validate', 'campaign.yaml'],
  ['validate', 'campaign.yaml', '--format', 'json'],
  ['preview', 'campaign.yaml', '--env', 'test'],
  ['preview', 'campaign.yaml', '--env', 'test', '--format', 'jsonl'],
  ['plan', 'campaign.yaml', '--env', 'test', '-o', 'plan.json'],
];
const REPORTS: readonly (readonly string[])[] = [
  ...['text', 'json', 'jsonl', 'csv', 'html'].map((format) => ['report', '--format', format]),
  ['doubt', 'list'],
  ['doubt', 'list', '--format', 'json'],
  ['runs'],
];

it('the key is nowhere, whatever an answer says of single recipients, channels and their ids (S7)', async () => {
  const search = new CanarySearch();
  let answered = 0;
  server.behaviour = (request) => TELLTALES[answered++ % TELLTALES.length]?.(request);
  using project = projectWith();
  const ended = new Set<string>();
  for (let start = 0; start < 6; start++) {
    const send = ['send', 'campaign.yaml', '--env', 'test', '--yes', '--occurrence', `o-${start}`];
    for (const args of [send, ...REPORTS]) {
      const ran = await look(project, args);
      search.printed(args.join(' '), ran);
      expect([args, ran.stderr, ran.status]).not.toEqual([args, ran.stderr, 1]);
      for (const [, outcome, reason] of ran.stdout.matchAll(/"outcome":"([^"]+)","reason":(?:"([^"]+)"|null)/g)) {
        ended.add(`${outcome} ${reason ?? ''}`.trim());
      }
    }
  }
  search.folder(project.root);
  expect(answered).toBeGreaterThan(TELLTALES.length);
  // Every way in which an answer can speak of a recipient was read.
  const ways = ['accepted', 'rejected refused', 'rejected fell-back', 'in-doubt unrecognised', 'skipped excluded'];
  expect(ways.filter((way) => !ended.has(way))).toEqual([]);
  expect(search.found).toEqual([]);
});

/** Lines in which the key was put by mistake: a replacement in the campaign or in the project file. */
const MISTAKES: readonly (readonly [label: string, campaign: string])[] = [
  ['a text', 'channel: rcs\ncontent: { text: "KEY {{name}}" }'],
  ['a label', 'channel: messaging-app\ncontent: { text: x, buttons: [{ text: KEY, reply: x }] }'],
  [
    'an address of a button',
    'channel: rcs\ncontent: { text: x, buttons: [{ text: x, url: "https://x.example/?key=KEY" }] }',
  ],
  [
    'an address with a password',
    'channel: rcs\ncontent: { text: x, buttons: [{ text: x, url: "https://u:KEY@x.example/" }] }',
  ],
  ['a header', 'channel: messaging-app\ncontent: { header: { image: "KEY" }, text: x }'],
  ['an unknown part', 'channel: messaging-app\ncontent: { text: x, apiKey: KEY }'],
  ['a part by its name', 'channel: messaging-app\ncontent: { text: x, "KEY": x }'],
  [
    'a list',
    'channel: messaging-app\ncontent: { text: x, list: { button: x, sections: [{ rows: [{ id: KEY, title: KEY }] }] } }',
  ],
  ['an expression', 'channel: messaging-app\ncontent: { text: "{{KEY}}" }'],
  ['a helper', `channel: messaging-app\ncontent: { text: "{{default name 'KEY'}}" }`],
  ['a voice', 'channel: voice\ncontent: { text: x, language: KEY, voice: KEY }'],
  ['a subject', 'channel: email\ncontent: { subject: KEY, text: x, unsubscribe: { url: "https://x.example/KEY" } }'],
  ['a file', 'channel: email\ncontent: { subject: x, html: "KEY.html" }'],
  ['a template of the provider', 'channel: rcs\ntemplate: { id: KEY, needs: [KEY] }'],
  ['a variable', 'channel: rcs\ntemplate: { id: x }\nvariables: { KEY: name, x: "KEY {{nope}}", y: KEY }'],
  ['metadata of recipients', 'channel: rcs\ntemplate: { text: x }\nrecipientMetaData: { x: KEY }'],
  ['a seed', 'channel: rcs\nseed: KEY\nvariants: [{ name: a, template: { id: x } }, { name: b, template: { id: y } }]'],
  [
    'a winner',
    'channel: rcs\ntest: 10%\nwinner: KEY\nvariants: [{ name: a, template: { id: x } }, { name: b, template: { id: y } }]',
  ],
  ['a variant', 'channel: rcs\nvariants: [{ name: KEY, template: { id: x } }, { name: b, template: { id: y } }]'],
  ['a share', 'channel: rcs\ntemplate: { text: x }\nholdout: KEY'],
  ['a fallback', 'channel: rcs\ntemplate: { text: x }\nfallback: { channel: sms, to: KEY, template: { text: KEY } }'],
  ['a condition', 'channel: rcs\ntemplate: { text: x }\nrecipients: { csv: people.csv, where: { name: KEY } }'],
  [
    'a condition of another type',
    'channel: rcs\ntemplate: { text: x }\nrecipients: { csv: people.csv, columns: { age: number }, where: { age: KEY } }',
  ],
  [
    'an operator',
    'channel: rcs\ntemplate: { text: x }\nrecipients: { csv: people.csv, where: { name: { $KEY: KEY } } }',
  ],
  [
    'a column of a condition',
    'channel: rcs\ntemplate: { text: x }\nrecipients: { csv: people.csv, where: { KEY: x } }',
  ],
  ['a type', 'channel: rcs\ntemplate: { text: x }\nrecipients: { csv: people.csv, columns: { age: KEY, KEY: date } }'],
  ['a recipient', 'channel: rcs\ntemplate: { text: x }\nrecipients: [{ msisdn: KEY, name: KEY }]'],
  ['a contact', 'channel: rcs\ntemplate: { text: x }\nrecipients: { contacts: [KEY] }'],
];

const WIRES: readonly string[] = [
  'channels: { sms: KEY }',
  'channels: { KEY: x }',
  'characterSets: { KEY: KEY }',
  'msisdn: KEY',
  'KEY: x',
  'answers: [{ status: KEY, codeAt: /code, code: [KEY], then: KEY }]',
  'response: { recipients: [KEY], recipientStatus: { at: [/KEY], refused: [KEY] } }',
  'messageTypes: { KEY: KEY }',
  'apiKey: KEY',
];

describe('the key, typed where it does not belong, is not shown', () => {
  it.each(MISTAKES)('%s (S7)', async (_, lines) => {
    const list = lines.includes('recipients:') ? '' : 'recipients: { csv: people.csv, to: msisdn }\n';
    using project = projectWith(`name: proof\nfrom: Riverside\n${lines.replaceAll('KEY', CANARY_KEY)}\n${list}`);
    await expectHidden(project);
  });

  it('in the wire of an environment (S7)', async () => {
    for (const line of WIRES) {
      const wire = `\n    wire: { ${line.replaceAll('KEY', `"${CANARY_KEY}"`)} }`;
      using project = projectWith('name: proof\nchannel: rcs\ntemplate: { text: x }\nrecipients: people.csv\n', wire);
      await expectHidden(project);
    }
  });

  it.each([
    'provider: KEY',
    'provider: ./providers/KEY.yaml',
    'vars: { account: KEY }',
    'vars: { KEY: x }',
    'secrets: { token: KEY }',
    'secrets: { KEY: { env: TOKEN } }',
    'secrets: { token: { env: KEY } }',
    'secrets: { token: { file: KEY } }',
  ])('in an environment: %s (S7)', async (line) => {
    const settings = `\n    ${line.replaceAll('KEY', CANARY_KEY)}`;
    using project = projectWith('name: proof\nchannel: rcs\ntemplate: { text: x }\nrecipients: people.csv\n', settings);
    await expectHidden(project);
  });

  it('as the winner on the command line (S7)', async () => {
    const variants = 'test: 10%\nvariants: [{ name: a, template: { id: x } }, { name: b, template: { id: y } }]';
    using project = projectWith(`name: proof\nchannel: rcs\n${variants}\nrecipients: people.csv\n`);
    await expectHidden(project, ['--winner', CANARY_KEY]);
  });

  async function expectHidden(project: TestProject, more: readonly string[] = []): Promise<void> {
    const search = new CanarySearch();
    for (const args of LOOKS) {
      const given = args[0] === 'validate' ? args : [...args, ...more];
      const ran = await look(project, given);
      expect([given, ran.stderr, ran.status]).not.toEqual([given, ran.stderr, 1]);
      search.printed(args.join(' '), ran);
    }
    search.folder(project.root, ['campaign.yaml', 'handbill.yaml']);
    expect(search.found).toEqual([]);
    expect(search.bytes).toBeGreaterThan(100);
  }
});

async function look(project: TestProject, args: readonly string[]) {
  return await target.run({ cwd: project.root, args, env: { HANDBILL_API_KEY: CANARY_KEY, HANDBILL_DEBUG: '1' } });
}

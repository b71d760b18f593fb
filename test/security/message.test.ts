import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ran, startTarget, type Target } from '../fuzz/target.ts';
import { createProject } from '../helpers/project.ts';
import { type RawServer, startRawServer } from '../helpers/raw-server.ts';

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

interface Sent extends Ran {
  readonly bodies: readonly string[];
}

/** Sends one campaign to one recipient, and says what was posted. */
async function send(campaign: string, name: string, partial = ''): Promise<Sent> {
  using project = createProject({
    'handbill.yaml': `partials: partials\nenvironments:\n  test:\n    baseUrl: http://127.0.0.1:${server.port}\n    apiKey: { env: HANDBILL_API_KEY }\n`,
    'partials/given.hbs': partial,
    'campaign.yaml': `name: proof\nfrom: Riverside\n${campaign}\n`,
    'people.csv': `msisdn,email,name\n+447400100000,ana@example.com,"${name.replaceAll('"', '""')}"\n`,
  });
  const before = server.requests.length;
  const args = ['send', 'campaign.yaml', '--env', 'test', '--yes'];
  const ran = await target.run({ cwd: project.root, args, env: { HANDBILL_API_KEY: 'SEKRET-5f0e9a1c7b3d' } });
  return { ...ran, bodies: server.requests.slice(before).map(({ body }) => body) };
}

const EMAIL = 'channel: email\nrecipients: { csv: people.csv, to: email }';
const TWO_LINES = 'Hello\nBcc: everybody@evil.test';

/** Where a text with a line break would become a header, and how it gets there. */
const HEADERS: readonly (readonly [label: string, campaign: string])[] = [
  ['the subject, from a cell', `${EMAIL}\ncontent: { subject: "{{name}}", text: x }`],
  ['the subject, from a partial', `${EMAIL}\ncontent: { subject: "{{> given}}", text: x }`],
  ['the subject, written', `${EMAIL}\ncontent: { subject: "Hello\\nBcc: everybody@evil.test", text: x }`],
  ['the subject, in an expression', `${EMAIL}\ncontent: { subject: "{{trim 'a\\nBcc: b'}}", text: x }`],
  ['the subject, beside a template of the provider', `${EMAIL}\ntemplate: { id: x }\ncontent: { subject: "{{name}}" }`],
  [
    'the subject of a fallback',
    'channel: sms\ntemplate: { text: x }\nrecipients: people.csv\nfallback: { channel: email, to: email, content: { subject: "{{name}}", text: x } }',
  ],
  [
    'the subject of a variant',
    `${EMAIL}\nvariants: [{ name: a, content: { subject: "{{name}}", text: x } }, { name: b, content: { subject: "{{name}}", text: y } }]`,
  ],
];

/** Where it is encoded as a part of an address. */
const ADDRESSES: typeof HEADERS = [
  [
    'the address to unsubscribe',
    `${EMAIL}\ncontent: { subject: x, text: x, unsubscribe: { url: "https://x.example/{{name}}" } }`,
  ],
  [
    'the address to unsubscribe by mail',
    `${EMAIL}\ncontent: { subject: x, text: x, unsubscribe: { mailto: "stop@x.example?subject={{name}}" } }`,
  ],
];

describe('a line break begins no header', () => {
  it.each(HEADERS)('%s (S9)', async (_, campaign) => {
    for (const end of ['\n', '\r\n', '\u2028', '\u0085', '\v']) {
      const text = TWO_LINES.replace('\n', end);
      const { status, stderr, bodies } = await send(campaign, text, text);
      expect(stderr).toMatch(/error\[(?:content-invalid|render-error)\]/);
      expect({ status, bodies }).toEqual({ status: 2, bodies: [] });
    }
  });

  it.each(ADDRESSES)('%s holds it encoded (S9)', async (_, campaign) => {
    for (const end of ['\n', '\r\n', '\u2028', '\u0085', '\v']) {
      const { status, bodies } = await send(campaign, TWO_LINES.replace('\n', end));
      expect([status, bodies.length]).toEqual([0, 1]);
      expect(bodies[0]).toContain(`Hello${encodeURIComponent(end)}Bcc%3A%20everybody%40evil.test>`);
    }
  });

  it('one line passes (S9)', async () => {
    for (const [, campaign] of [...HEADERS, ...ADDRESSES].filter(([label]) => !/written|expression/.test(label))) {
      const { status, stderr, bodies } = await send(campaign, 'Ana', 'Ana');
      expect([campaign, stderr, status, bodies.length]).toEqual([campaign, expect.anything(), 0, 1]);
    }
  });
});

describe('a message that is the same for all recipients is judged as one with names in it', () => {
  const long = 'It is late. '.repeat(500);
  it.each([
    ['a text that is too long to be said', 'channel: voice\ntemplate: { text: "LONG" }'],
    ['one that comes from an expression', `channel: voice\ntemplate: { text: "{{trim 'LONG'}}" }`],
    ['one that comes from a partial', 'channel: voice\ntemplate: { text: "{{> given}}" }'],
    ['a text that is too long for the app', 'channel: messaging-app\ntemplate: { text: "LONG" }'],
    ['a text that is too long for RCS', 'channel: rcs\ntemplate: { text: "{{> given}}" }'],
    [
      'a label in two lines',
      'channel: messaging-app\ncontent: { text: x, buttons: [{ text: "{{> given}}", reply: x }] }',
    ],
    [
      'an address of a script',
      `channel: messaging-app\ncontent: { text: x, buttons: [{ text: x, url: "{{lower 'JAVASCRIPT:alert(1)'}}" }] }`,
    ],
  ])('%s', async (_, campaign) => {
    const { status, stderr, bodies } = await send(
      `${campaign.replace('LONG', long)}\nrecipients: people.csv`,
      'Ana',
      `${long}\n${long}`,
    );
    expect(stderr).toMatch(/error\[content-(?:invalid|limit)\]/);
    expect({ status, bodies }).toEqual({ status: 2, bodies: [] });
  });
});

it('what is wrong with a template is said once', async () => {
  const { stderr } = await send(
    'channel: rcs\ntemplate: { id: "a\\tb", needs: [name] }\nrecipients: people.csv',
    'Ana',
  );
  expect(stderr.match(/^error\[/gm)).toHaveLength(1);
  expect(stderr).toContain('template.id');
});

it.each(['__proto__.name', 'constructor.name', 'prototype.name', '.name'])(
  'no variable becomes a key that means something to a program: %s (S12)',
  async (need) => {
    const campaign = `channel: rcs\ntemplate: { id: x, needs: [${need}] }\nrecipients: people.csv`;
    const { status, stderr, bodies } = await send(campaign, 'Ana');
    expect(stderr).toMatch(/error\[template-needs\]: .* which is never allowed/);
    expect({ status, bodies }).toEqual({ status: 2, bodies: [] });
  },
);

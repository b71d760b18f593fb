import { existsSync } from 'node:fs';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.ts';
import { type Ran, startTarget, type Target } from '../fuzz/target.ts';
import { yamlOf } from '../fuzz/trees.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { answer, type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { rules } from '../http/wire.ts';
import { numberOf } from '../oracle/scene.ts';
import { elementsOf } from './markup.ts';
import { ALL_ESCAPES, CHOSEN, PRINTABLE, SCRIPTS } from './payloads.ts';

const FULL = process.env['HANDBILL_FULL'] === '1';

let target: Target;
let server: RawServer;
let says = '';
beforeAll(async () => {
  // Where fsync costs nothing: each send makes a ledger.
  if (existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm';
  target = startTarget();
  server = await startRawServer({
    // No recipient can receive the first channel; the second refuses, and each says why in its own words.
    behaviour: (request) => {
      const first = request.body.includes('"channel":"SMS"');
      answer(first ? 400 : 404, JSON.stringify({ code: says, id: says, error: { message: says } }))(request);
    },
  });
});
afterAll(async () => {
  await target[Symbol.asyncDispose]();
  await server.close();
});

const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const LIST = { csv: 'people.csv', key: 'id' };
const SMS = { channel: 'sms', to: 'phone', template: { text: 'Hi {{name}}' } };

/** Messages that say a text from a cell, and one from the campaign file, wherever they can. */
function messages(text: string): Readonly<Record<string, object>> {
  const line = text.replace(/[\r\n\u2028\u2029\u0085]/g, '');
  return {
    app: {
      channel: 'messaging-app',
      content: {
        text: `{{name}} ${text}`,
        footer: '{{short}}',
        buttons: [
          { text: 'B{{short}}', reply: 'r{{short}}' },
          { text: line.slice(0, 8) || 'b', reply: line || 'x' },
        ],
      },
      recipientMetaData: { [text.slice(0, 100)]: '{{name}}' },
      recipients: { ...LIST, where: { name: { $ne: 'nobody' }, id: { $nin: ['k0', text] } } },
      fallback: SMS,
    },
    rcs: {
      channel: 'rcs',
      content: { cards: [1, 2].map((n) => ({ title: `T${n} {{short}}`, description: `{{name}} ${text}` })) },
      recipients: { ...LIST, where: { name: { $startsWith: text.trim() || 'x' } } },
      fallback: SMS,
    },
    email: {
      channel: 'email',
      from: `"${text.replace(/["\\\p{Cc}]/gu, '').slice(0, 150)}" <news@riverside.example>`,
      content: { subject: 'S {{short}}', preheader: `{{name}} ${text}`, html: 'page.html', text: '{{name}}' },
      recipients: { ...LIST, to: 'email' },
      fallback: SMS,
    },
    voice: { channel: 'voice', content: { text: `{{name}} ${text}`, voice: text }, recipients: LIST, fallback: SMS },
    provider: {
      channel: 'messaging-app',
      template: { id: line || 'x', needs: ['a.b', line || 'x'] },
      variables: { a: { b: '{{name}}' }, [line || 'x']: `{{name}} ${text}` },
      recipients: LIST,
      send: { recipientsPerRequest: 2 },
      fallback: SMS,
    },
    contacts: {
      channel: 'messaging-app',
      template: { text: 'x' },
      recipients: { contacts: [text.trim() || 'x', 'b'] },
    },
    split: {
      channel: 'sms',
      template: { text: 'x {{name}}' },
      seed: line.slice(0, 200) || 'x',
      test: '50%',
      variants: [{ name: 'a', template: { text: text || 'x' } }, { name: 'b' }],
      recipients: LIST,
    },
    // Each of these is refused, and says what is wrong with what it quotes.
    'wrong-part': { channel: 'messaging-app', content: { text, [text]: text }, recipients: LIST },
    'wrong-place': {
      channel: 'rcs',
      content: { text: 'x', buttons: [{ text, url: text, dial: text }] },
      recipients: LIST,
    },
    'wrong-name': { channel: 'rcs', content: { text: `{{[${text.replace(/[\]\\]/g, '')}]}}` }, recipients: LIST },
    'wrong-where': {
      channel: 'sms',
      template: { text: 'x' },
      recipients: { ...LIST, where: { [text]: text, name: { $x: 1 } } },
    },
    'wrong-type': { channel: 'sms', template: { text: 'x' }, recipients: { ...LIST, columns: { name: 'number' } } },
    'wrong-variant': {
      channel: 'sms',
      variants: [{ name: text, template: { text: 'x' } }, { name: 'b' }],
      recipients: LIST,
    },
    'wrong-mjml': {
      channel: 'email',
      content: { subject: 'x', html: 'page.mjml' },
      recipients: { ...LIST, to: 'email' },
    },
    'wrong-voice': { channel: 'voice', content: { text: 'x', language: text }, recipients: LIST },
    'wrong-fallback': {
      channel: 'sms',
      template: { text: 'x' },
      fallback: { ...SMS, channel: 'rcs', to: text },
      recipients: LIST,
    },
  };
}

const NAMES = Object.keys(messages('x'));

function projectWith(text: string): TestProject {
  const rows = [0, 1, 2].map((row) =>
    [
      numberOf(row),
      `u${row}@example.com`,
      `k${row}${text.replace(/[\r\n]/g, '')}`,
      `${text} ${row}`,
      text.replace(/[\r\n\t\u2028\u2029\u0085\v]/g, '').slice(0, 10),
    ]
      .concat(numberOf(100 + row))
      .map(cell)
      .join(','),
  );
  const wire = { ...rules('status: 404, then: unsupported'), response: { error: ['/error/message'] } };
  const environment = { baseUrl: `http://127.0.0.1:${server.port}`, apiKey: { env: 'HANDBILL_API_KEY' }, wire };
  return createProject({
    'handbill.yaml': yamlOf({ environments: { test: environment } }),
    'people.csv': `msisdn,email,id,name,short,phone\n${rows.join('\n')}\n`,
    'page.html': `<p title="{{name}}">${text} {{name}}</p>`,
    'page.mjml': `<mjml><mj-body><mj-${text}>${text}</mj-body></mjml>`,
    ...Object.fromEntries(
      Object.entries(messages(text)).map(([name, message]) => [
        `campaigns/${name}/campaign.yaml`,
        fileOf(name, message),
      ]),
    ),
  });
}

/** JSON is YAML, as long as what YAML does not take unchanged is escaped. */
function fileOf(name: string, message: object): string {
  const whole = { name, from: 'Riverside', ...fromRoot(message), limits: { stopAfter: { rejected: '100%' } } };
  return `${JSON.stringify(whole).replace(/[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff]/g, numbered)}\n`;
}

function numbered(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Lists and pages lie at the root, and are seen from two folders below. */
function fromRoot(message: object): object {
  const written = JSON.stringify(message);
  return JSON.parse(written.replace(/"(people\.csv|page\.(?:html|mjml))"/g, '"../../$1"')) as object;
}

async function run(project: TestProject, args: readonly string[]): Promise<Ran> {
  const ran = await target.run({ cwd: project.root, args, env: { HANDBILL_API_KEY: 'SEKRET-5f0e9a1c7b3d' } });
  expect([args, ran.stderr, ran.status]).not.toEqual([args, ran.stderr, 1]);
  return ran;
}

describe('a terminal', () => {
  // All campaigns have one function that hides escapes: each escape by itself goes through three of them.
  it.each([
    ['all of them', ALL_ESCAPES, NAMES] as const,
    ...CHOSEN.filter(([, payload]) => payload !== ALL_ESCAPES).map(
      ([label, payload]) => [label, payload, ['app', 'wrong-part', 'wrong-where']] as const,
    ),
  ])('obeys nothing of what a message, a condition or a fallback holds: %s (S21)', async (_, payload, names) => {
    says = payload;
    using project = projectWith(payload.replaceAll('\0', ''));
    const ended = new Map<string, number | null>();
    for (const name of names) {
      for (const args of [
        ['validate', name],
        ['preview', name, '--env', 'test'],
        ['send', name, '--env', 'test', '--yes'],
      ]) {
        const { status, stdout, stderr } = await run(project, args);
        expect([args, stdout.replace(PRINTABLE, '')]).toEqual([args, '']);
        expect([args, stderr.replace(PRINTABLE, '')]).toEqual([args, '']);
        ended.set(name, status);
      }
      if (ended.get(name) === 2) continue;
      for (const args of [
        ['report', name],
        ['report', name, '--format', 'html'],
        ['doubt', 'list'],
      ]) {
        const { stdout, stderr } = await run(project, args);
        expect([args, `${stdout}${stderr}`.replace(PRINTABLE, '')]).toEqual([args, '']);
      }
    }
    // What is wrong is refused, and the others get as far as the API.
    for (const [name, status] of ended) if (name.startsWith('wrong')) expect([name, status]).toEqual([name, 2]);
    const sent = [...ended.values()].filter((status) => status !== 2).length;
    if (names === NAMES) expect(sent).toBeGreaterThan(2);
  });

  it.each(CHOSEN)('nor of what a sandbox logs of a message: %s (S21)', async (_, payload) => {
    const logged: string[] = [];
    const sandbox = await startSandbox({ apiKey: 'test-key', fields: 'any', log: (line) => logged.push(line) });
    const to = (recipient: object): object => ({ channel: payload, body: { text: payload }, recipients: [recipient] });
    const all = [
      { channel: 'RCS', body: { text: 'x' }, addressBook: { contacts: [{ id: payload }, { id: `${payload}2` }] } },
      ...[{ msisdn: payload }, { email: `${payload}@example.com` }, { [payload]: payload }].map(to),
      { ...to({ msisdn: '+447700900404' }), messageType: payload },
    ];
    for (const message of all) {
      const headers = { 'x-api-key': 'test-key', 'content-type': 'application/json' };
      await fetch(`${sandbox.url}/v2/messages`, { method: 'POST', headers, body: JSON.stringify(message) });
    }
    const kept = (await (await fetch(`${sandbox.url}/sandbox/messages`)).json()) as { messages: unknown[] };
    const seen = await (await fetch(`${sandbox.url}/sandbox`)).text();
    await sandbox.close();
    expect(kept.messages).toHaveLength(all.length);
    expect(logged).toHaveLength(all.length);
    expect(`${logged.join('\n')}${seen}`.replace(PRINTABLE, '')).toBe('');
  });
});

/** A chart or a mark: those have attributes that no payload gives its drawings, and no others. */
function isOurs({
  name,
  attributes,
}: {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}): boolean {
  const keys = [...attributes.keys()];
  return name === 'svg' && (keys.includes('class') || keys.includes('overflow')) && keys.every((key) => DRAWN.has(key));
}

const DRAWN: ReadonlySet<string> = new Set(
  'class role aria-label width height viewbox preserveaspectratio aria-hidden x y overflow'.split(' '),
);

describe('pages and lines', () => {
  it('what single recipients, steps and answers are called adds no element, no line and no document (S22, S23)', async () => {
    const payloads = SCRIPTS.slice(0, FULL ? 16 : 4).map((text) => text.replaceAll('\0', ''));
    for (const payload of payloads) {
      says = `${payload}\n{"outcome":"accepted"}`;
      using project = projectWith(payload);
      for (const name of ['app', 'provider', 'contacts']) {
        await run(project, ['send', name, '--env', 'test', '--yes']);
        const page = await run(project, ['report', name, '--format', 'html']);
        if (page.status !== 0) continue;
        const { elements } = elementsOf(page.stdout);
        expect(
          elements.filter(
            (one) => /^(?:script|img|svg|iframe|object|embed|link|base|form|a)$/.test(one.name) && !isOurs(one),
          ),
        ).toEqual([]);
        expect(
          elements.flatMap(({ attributes }) => [...attributes.keys()].filter((key) => key.startsWith('on'))),
        ).toEqual([]);
        // JSON escapes quotes and backslashes; any other markup is text to it, as the first payloads are.
        if (payloads.indexOf(payload) > 3 && !/["'\\\p{Cc}]/u.test(payload)) continue;
        const lines = (await run(project, ['report', name, '--format', 'jsonl'])).stdout.trimEnd().split('\n');
        expect(lines.map((line) => Object.keys(JSON.parse(line) as object)[0])).toEqual(lines.map(() => 'line'));
        expect(lines).toHaveLength(name === 'contacts' ? 2 : 3);
        expect(JSON.parse((await run(project, ['report', name, '--format', 'json'])).stdout)).toHaveProperty('totals');
        const preview = (await run(project, ['preview', name, '--env', 'test', '--format', 'json'])).stdout;
        expect(JSON.parse(preview)).toHaveProperty('decisions.length', lines.length);
      }
    }
  });
});

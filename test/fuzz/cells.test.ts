import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { elementsOf } from '../security/markup.ts';
import { SCRIPTS } from '../security/payloads.ts';
import { type Arena, openArena } from './arena.ts';
import { runs, TIMEOUT_MS } from './runs.ts';
import { startTarget, type Target } from './target.ts';
import { yamlOf } from './trees.ts';
import { words } from './words.ts';

/*
 * What is in a cell is text wherever it goes: it is posted as it is, at its place and nowhere else, or the row is
 * refused. The expectation is made without handbill: from the same message, written by hand, with the text put in.
 */

let target: Target;
let arena: Arena;
beforeAll(async () => {
  target = startTarget();
  arena = await openArena(target, undefined, {
    'campaigns/cells/campaign.yaml': 'name: cells\n',
    'campaigns/cells/people.csv': 'msisdn\n',
    'campaigns/cells/page.html': PAGE,
    'campaigns/cells/page.mjml': MJML,
    'campaigns/cells/bare.html': '<body><p title={{name}} class="a">Dear {{name}}</p></body>',
  });
});
afterAll(async () => {
  await arena[Symbol.asyncDispose]();
  await target[Symbol.asyncDispose]();
});

const PAGE = `<!doctype html><html><head><title>{{name}}</title><style>p { color: red }</style></head>
<body><!-- for {{name}} --><p title="{{name}}" class='{{name}}'>Dear {{name}}</p><a href="https://x.example/{{name}}">x</a></body></html>`;

const MJML = `<mjml><mj-head><mj-title>{{name}}</mj-title></mj-head><mj-body><mj-section><mj-column>
<mj-text>Dear {{name}}</mj-text><mj-button href="https://x.example/{{name}}" title="{{name}}">{{name}}</mj-button>
<mj-image src="https://x.example/{{name}}.png" alt="{{name}}" /></mj-column></mj-section></mj-body></mjml>`;

const LIST = { csv: 'people.csv', to: 'msisdn', key: 'id' };

/** The body that one text makes, where `N` means it. */
type Make = (n: string) => unknown;

const MESSAGES: Readonly<Record<string, { readonly campaign: object; readonly make: Make }>> = {
  'messaging-app': {
    campaign: {
      channel: 'messaging-app',
      content: {
        header: { image: 'https://x.example/a.png' },
        text: 'Dear {{name}}!',
        footer: 'F {{name}}',
        buttons: [{ text: 'B {{name}}', reply: 'r-{{name}}' }],
      },
      recipientMetaData: { who: 'W {{name}}' },
      recipients: LIST,
    },
    make: (n) => ({
      name: 'cells',
      channel: 'WhatsApp',
      from: 'Riverside',
      body: {
        text: `Dear ${n}!`,
        content: {
          header: { image: 'https://x.example/a.png' },
          footer: `F ${n}`,
          buttons: [{ text: `B ${n}`, reply: `r-${n}` }],
        },
      },
      recipients: [{ msisdn: '+447400100001', metaData: { who: `W ${n}`, handbill: REFERENCE } }],
    }),
  },
  rcs: {
    campaign: {
      channel: 'rcs',
      content: {
        card: { title: 'T {{name}}', description: 'D {{name}}', buttons: [{ text: 'B', reply: '{{name}}' }] },
      },
      recipients: LIST,
    },
    make: (n) => ({
      name: 'cells',
      channel: 'RCS',
      from: 'Riverside',
      body: {
        content: { card: { title: `T ${n}`, description: `D ${n}`, buttons: [{ text: 'B', reply: n }] } },
      },
      recipients: [{ msisdn: '+447400100001', metaData: { handbill: REFERENCE } }],
    }),
  },
  voice: {
    campaign: { channel: 'voice', content: { text: 'Hello {{name}}.', voice: 'v-{{name}}' }, recipients: LIST },
    make: (n) => ({
      name: 'cells',
      channel: 'Voice',
      from: 'Riverside',
      body: { text: `Hello ${n}.`, content: { voice: `v-${n}` } },
      recipients: [{ msisdn: '+447400100001', metaData: { handbill: REFERENCE } }],
    }),
  },
  'a template of the provider': {
    campaign: {
      channel: 'messaging-app',
      template: { id: 'x' },
      variables: { header: { image: 'I {{name}}' }, name: 'name' },
      recipients: LIST,
    },
    make: (n) => ({
      name: 'cells',
      channel: 'WhatsApp',
      from: 'Riverside',
      body: { templateId: 'x' },
      recipients: [
        {
          msisdn: '+447400100001',
          variables: { header: { image: `I ${n}` }, name: n },
          metaData: { handbill: REFERENCE },
        },
      ],
    }),
  },
  email: {
    campaign: {
      channel: 'email',
      content: {
        subject: 'S {{name}}',
        text: 'Dear {{name}}',
        unsubscribe: { url: 'https://x.example/u?{{id}}', oneClick: true },
      },
      recipients: { ...LIST, to: 'email' },
    },
    make: (n) => ({
      name: 'cells',
      channel: 'Email',
      from: 'Riverside',
      body: { text: `Dear ${n}`, content: { subject: `S ${n}` } },
      recipients: [
        {
          email: 'ana@example.com',
          metaData: {
            'List-Unsubscribe': '<https://x.example/u?k1>',
            'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
            handbill: REFERENCE,
          },
        },
      ],
    }),
  },
};

const REFERENCE = '(reference)';

/** Short, on one line, and with a meaning somewhere: most of these are posted. */
const PIECES = [
  ...['{{name}}', '{{{name}}}', '{{> sign-off}}', '{{id}}', '}}', '{{', '\\{{', '","x":"', '"}]}', '</style>'],
  ...['\u27e60\u27e7', '\u27e5', '$1', '$&', '$`', '%0d%0a', '&amp;', '&#123;', '\u200f', '\u2066', '<!--'],
  ...['Ana', '雷', 'é', 'e\u0301', '\ud83d\ude00', 'ﷺ', '-->', ']]>', '" onload="', "' x='", '=', '`', "O'Neil"],
];

const cellText = fc.oneof(
  { weight: 6, arbitrary: pieces(fc.constantFrom(...PIECES)) },
  { weight: 3, arbitrary: pieces(fc.constantFrom(...PIECES, ...words('any'), ...words('template'))) },
  { weight: 2, arbitrary: fc.constantFrom(...SCRIPTS) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }) },
  { weight: 1, arbitrary: fc.constantFrom('x'.repeat(900_000), '😀'.repeat(100_000), '"'.repeat(9_000), '\0') },
);

function pieces(piece: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.array(piece, { minLength: 1, maxLength: 4 }).map((all) => all.join(''));
}

/** The list with the text in its first row. */
function listWith(text: string): string {
  const quoted = `"${text.replaceAll('"', '""')}"`;
  return `msisdn,email,id,name\n+447400100001,ana@example.com,k1,${quoted}\n`;
}

/** As texts are read and sent: without the guard of a spreadsheet, composed, with plain line ends where they are text. */
function asRead(text: string): string {
  return /^'+(?: *=|[+\-@\t\r\n\0＝＋－＠])/.test(text) ? text.slice(1) : text;
}

function normal(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\r\n?/g, '\n').normalize('NFC');
  if (Array.isArray(value)) return value.map(normal);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, normal(inner)]));
}

async function post(campaign: object, text: string): Promise<readonly string[]> {
  arena.write('campaigns/cells/campaign.yaml', yamlOf({ name: 'cells', from: 'Riverside', ...campaign }));
  arena.write('campaigns/cells/people.csv', listWith(text));
  const before = arena.server.requests.length;
  try {
    await arena.run(['send', 'cells', '--env', 'test', '--yes']);
    return arena.server.requests.slice(before).map(({ body }) => body);
  } finally {
    arena.remove('.handbill');
  }
}

describe('whatever a cell holds, it is posted as text at its place, or refused', () => {
  it(
    'in every part of a message but HTML',
    async () => {
      let posted = 0;
      const input = fc.tuple(fc.constantFrom(...Object.keys(MESSAGES)), cellText);
      const property = fc.asyncProperty(input, async ([name, text]) => {
        const message = MESSAGES[name];
        if (message === undefined) throw new Error('there is no such message');
        const [body, ...others] = await post(message.campaign, text);
        expect(others).toEqual([]);
        if (body === undefined) return;
        posted += 1;
        const received = body.replace(/"handbill":"[^"]+"\}/, `"handbill":${JSON.stringify(REFERENCE)}}`);
        expect(normal(JSON.parse(received))).toEqual(normal(message.make(asRead(text))));
      });
      await fc.assert(property, runs(40, 1_000));
      expect(posted).toBeGreaterThan(15);
    },
    TIMEOUT_MS,
  );

  it(
    'in HTML and MJML, where it makes no element, no attribute and no other value',
    async () => {
      let posted = 0;
      const input = fc.tuple(fc.constantFrom('page.html', 'page.mjml'), cellText);
      const pages = new Map<string, string>();
      const page = async (html: string, text: string): Promise<string | null> => {
        const content = { subject: 'S', preheader: 'P {{name}}', html };
        const [body] = await post({ channel: 'email', content, recipients: { ...LIST, to: 'email' } }, text);
        if (body === undefined) return null;
        return (JSON.parse(body) as { body: { content: { html: string } } }).body.content.html;
      };
      for (const html of ['page.html', 'page.mjml']) pages.set(html, (await page(html, 'NAME')) ?? '');
      const property = fc.asyncProperty(input, async ([html, text]) => {
        const found = await page(html, text);
        if (found === null) return;
        posted += 1;
        const read = elementsOf(found);
        const plain = elementsOf(pages.get(html) ?? '');
        expect(read.elements.map(({ name }) => name)).toEqual(plain.elements.map(({ name }) => name));
        const value = asRead(text);
        for (const [i, { attributes }] of plain.elements.entries()) {
          const expected = [...attributes].map(([name, written]) => [name, written.replaceAll('NAME', () => value)]);
          expect(normal([...(read.elements[i]?.attributes ?? [])])).toEqual(normal(expected));
        }
      });
      await fc.assert(property, runs(25, 500));
      expect(posted).toBeGreaterThan(8);
    },
    TIMEOUT_MS,
  );

  it(
    'in an attribute without quotes it can add attributes, but none with a value',
    async () => {
      let posted = 0;
      const property = fc.asyncProperty(cellText, async (text) => {
        const content = { subject: 'S', html: 'bare.html' };
        const [body] = await post({ channel: 'email', content, recipients: { ...LIST, to: 'email' } }, text);
        if (body === undefined) return;
        posted += 1;
        const { html } = (JSON.parse(body) as { body: { content: { html: string } } }).body.content;
        const { elements } = elementsOf(html);
        expect(elements.map(({ name }) => name)).toEqual(['body', 'p']);
        const [, p] = elements;
        for (const [name, value] of p?.attributes ?? []) if (name !== 'title') expect(['', 'a']).toContain(value);
      });
      await fc.assert(property, runs(10, 300));
      expect(posted).toBeGreaterThan(3);
    },
    TIMEOUT_MS,
  );
});

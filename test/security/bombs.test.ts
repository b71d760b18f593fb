import { existsSync } from 'node:fs';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ran, startTarget, type Target } from '../fuzz/target.ts';
import { createProject } from '../helpers/project.ts';
import { type RawServer, startRawServer } from '../helpers/raw-server.ts';

const FULL = process.env['HANDBILL_FULL'] === '1';

let target: Target;
let server: RawServer;
beforeAll(async () => {
  // Where fsync costs nothing: each send makes a ledger.
  if (existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm';
  target = startTarget();
  server = await startRawServer();
  // What is loaded once must not count as time of the first case.
  await look({ ...EMAIL, content: { subject: 'x', html: 'a.mjml' } }, { 'a.mjml': mjml('x') });
});
afterAll(async () => {
  await target[Symbol.asyncDispose]();
  await server.close();
});

const EMAIL = { channel: 'email', recipients: { csv: 'people.csv', to: 'email' } };
const APP = { channel: 'messaging-app', recipients: 'people.csv' };
const PEOPLE = 'msisdn,email,name\n+447400100000,ana@example.com,Ana\n+447400100001,bo@example.com,Bo\n';

/** Bounds for a command that reads the worst file there can be: CPU, and the most memory at any time. */
const MOST = { cpuMs: 3_000, megabytes: 512 };

/**
 * Previews and, in the full set, validates a campaign without pages, which the same code reads for both; neither may need
 * long, need much or be a bug.
 */
async function look(
  campaign: object,
  files: Readonly<Record<string, string>> = {},
  options: readonly string[] = [],
): Promise<Ran> {
  using project = createProject({
    'handbill.yaml': 'partials: partials\n',
    'partials/x.hbs': 'x',
    'campaign.yaml': `${JSON.stringify({ name: 'proof', from: 'Riverside', ...campaign })}\n`,
    'people.csv': PEOPLE,
    ...files,
  });
  const previewed = await target.run({ cwd: project.root, args: ['preview', 'campaign.yaml', ...options] });
  const validated =
    FULL && Object.keys(files).length === 0
      ? await target.run({ cwd: project.root, args: ['validate', 'campaign.yaml'] })
      : previewed;
  for (const ran of new Set([validated, previewed])) {
    expect([0, 2]).toContain(ran.status);
    expect(ran.cpuMs).toBeLessThan(MOST.cpuMs);
    expect(ran.peakMb).toBeLessThan(MOST.megabytes);
    expect(ran.polluted).toEqual([]);
  }
  expect(validated.status).toBe(previewed.status);
  return previewed;
}

function mjml(inside: string): string {
  return `<mjml><mj-body><mj-section><mj-column><mj-text>${inside}</mj-text></mj-column></mj-section></mj-body></mjml>`;
}

/** Longer files are not read. */
const MOST_HTML = 256 << 10;
const deep = (open: string, close: string, times: number, inside = 'x'): string =>
  open.repeat(times) + inside + close.repeat(times);

/** HTML that costs a careless program much, and whether handbill takes it. */
const PAGES: readonly (readonly [label: string, page: string, status: 0 | 2])[] = [
  ['as much text as is read', `<p>{{name}}${'lorem '.repeat((MOST_HTML - 100) / 6)}</p>`, 0],
  ['more than that', `<p>{{name}}${'lorem '.repeat(MOST_HTML / 6 + 10)}</p>`, 2],
  ['9,000 expressions', `<p>${'{{default name name}}'.repeat(9_000)}</p>`, 2],
  ['80,000 tags', `<p>{{name}}${'<b>'.repeat(80_000)}`, 0],
  ['35,000 elements inside each other', `{{name}}${deep('<b>', '</b>', 35_000)}`, 0],
  ['7,000 tables inside each other', `{{name}}${deep('<table><tr><td>', '</td></tr></table>', 7_000)}`, 0],
  ['a table of a billion columns', `{{name}}<table><tr><td colspan=1000000000>x</td></tr></table>`, 0],
  ['a list that begins at infinity', '{{name}}<ol type=a start=Infinity><li>x</ol><ol start=1e308><li>x</ol>', 0],
  ['Roman numbers', '{{name}}<ol type=I start=99999999><li>x</ol>', 0],
  ['nothing but quotes', `{{name}}<p ${'"'.repeat(MOST_HTML - 100)}`, 0],
  ['attributes without an end', `{{name}}<p ${'a=b '.repeat(60_000)}>x`, 0],
  ['comments that do not end', `{{name}}${'<!--'.repeat(60_000)}`, 0],
  ['bodies that do not end', `{{name}}${'<body '.repeat(40_000)}`, 0],
  ['entities', `{{name}}${'&amp;&nbsp;&#x10ffff;&#99999999999;'.repeat(7_000)}`, 0],
  ['links', `{{name}}${'<a href="https://x.example/">x</a>'.repeat(7_000)}`, 0],
  ['spaces', `{{name}}<p>${' '.repeat(MOST_HTML - 100)}x</p>`, 0],
  ['preformatted lines', `{{name}}<pre>${'\n'.repeat(MOST_HTML - 100)}x</pre>`, 0],
  ['a declaration of entities', '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><p>{{name}} &b;</p>', 0],
];

describe('HTML', () => {
  it.each(PAGES)('%s (S17)', async (_, page, status) => {
    const ran = await look(
      { ...EMAIL, content: { subject: 'x', preheader: 'P {{name}}', html: 'a.html' } },
      { 'a.html': page },
    );
    expect([ran.stderr.slice(0, 500), ran.status]).toEqual([expect.anything(), status]);
  });
});

it('the text of a page that is too long to be read ends with a whole character (S17)', async () => {
  // Short in the file, long when filled in: more than the text is made of, with half a pair where it is cut.
  for (const shift of ['', 'x']) {
    const page = `<p>${shift}${'{{name}}'.repeat(10)}</p>`;
    const people = `msisdn,email,name\n+447400100000,ana@example.com,${'x'.repeat(30_000)}${'😀'.repeat(18_000)}\n`;
    const files = { 'a.html': page, 'people.csv': people };
    const ran = await look({ ...EMAIL, content: { subject: 'x', html: 'a.html' } }, files, ['--format', 'jsonl']);
    expect([ran.stderr.slice(0, 500), ran.status]).toEqual([expect.anything(), 0]);
    const line = ran.stdout.split('\n').find((one) => one.startsWith('{')) ?? '';
    const { text } = (JSON.parse(line) as { request: { body: { body: { text: string } } } }).request.body.body;
    expect(text.length).toBeGreaterThan(500_000);
    expect(text.isWellFormed()).toBe(true);
  }
});

/** MJML that costs a careless program much. `ok` where it is a page after all. */
const MAILS: readonly (readonly [label: string, mail: string, status: 0 | 2])[] = [
  ['elements inside each other, a few too many', mjml(deep('<b>', '</b>', 120)), 2],
  ['100,000 of them', mjml(deep('<b>', '</b>', 30_000)), 2],
  [
    'sections inside each other',
    deep('<mjml><mj-body><mj-wrapper><mj-section>', '</mj-section></mj-wrapper></mj-body></mjml>', 2_000),
    2,
  ],
  [
    'entities that double',
    `<!DOCTYPE m [<!ENTITY a "aaaaaaaa">${Array.from({ length: 30 }, (_, i) => `<!ENTITY a${i} "&a${i - 1};&a${i - 1};">`).join('')}]>${mjml('&a29;')}`,
    2,
  ],
  ['an entity of the machine', `<!DOCTYPE m [<!ENTITY a SYSTEM "file:///etc/passwd">]>${mjml('&a;')}`, 2],
  ['an undeclared entity', mjml('&a; {{name}}'), 0],
  ['an included file', `<mjml><mj-include path="/etc/passwd" /><mj-body></mj-body></mjml>`, 2],
  ['an included file, in capitals', `<mjml><MJ-Include path="/etc/passwd" /><mj-body></mj-body></mjml>`, 2],
  [
    'an included file in an expression',
    `<mjml>{{#if name}}<mj-include path="/etc/passwd" />{{/if}}<mj-body></mj-body></mjml>`,
    2,
  ],
  [
    'an attribute of 200 KB',
    `<mjml><mj-body><mj-section background-color="${'a'.repeat(200_000)}"><mj-column></mj-column></mj-section></mj-body></mjml>`,
    0,
  ],
  [
    '20,000 attributes',
    `<mjml><mj-body><mj-section ${Array.from({ length: 20_000 }, (_, i) => `a${i}="b"`).join(' ')}></mj-section></mj-body></mjml>`,
    0,
  ],
  [
    '5,000 classes',
    `<mjml><mj-head><mj-attributes>${'<mj-class name="a" color="red" />'.repeat(5_000)}</mj-attributes></mj-head><mj-body></mj-body></mjml>`,
    0,
  ],
  [
    '10,000 columns',
    `<mjml><mj-body><mj-section>${'<mj-column></mj-column>'.repeat(10_000)}</mj-section></mj-body></mjml>`,
    2,
  ],
  ['20,000 expressions', mjml('{{name}} '.repeat(20_000)), 2],
  ['an expression that does not end', mjml(`{{name ${'x'.repeat(300_000)}`), 2],
  ['quotes that do not end', mjml(`{{${'"'.repeat(100_001)}`), 2],
  ['brackets that do not end', mjml('{{['.repeat(100_000)), 2],
  ['nothing but signs', '<'.repeat(500_000), 2],
  ['comments', `<mjml><mj-body>${'<!-- x -->'.repeat(20_000)}</mj-body></mjml>`, 0],
  ['comments that do not end', `<mjml><mj-body>${'<!--'.repeat(100_000)}</mj-body></mjml>`, 2],
  ['a widthless image', mjml('</mj-text><mj-image width="99999999999999999999px" src="x" /><mj-text>{{name}}'), 0],
  ['more than is read', mjml('x'.repeat(MOST_HTML)), 2],
  ['all brackets', mjml('\u27e6\u2e28\u2772{{name}}'), 2],
  ['accents and joiners', mjml(`{{name}}${'e\u0301\u200d'.repeat(20_000)}`), 0],
];

describe('MJML', () => {
  it.each(MAILS)('%s (S17)', async (_, mail, status) => {
    const ran = await look({ ...EMAIL, content: { subject: 'x', html: 'a.mjml' } }, { 'a.mjml': mail });
    expect([ran.stderr.slice(0, 500), ran.status]).toEqual([expect.anything(), status]);
    expect(`${ran.stdout}${ran.stderr}`).not.toMatch(
      /root:|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa{200}/,
    );
  });

  it('the compiler that one of them broke is a new one for the next (S17)', async () => {
    const next = { 'a.mjml': mjml('Hello {{name}}') };
    expect((await look({ ...EMAIL, content: { subject: 'x', html: 'a.mjml' } }, next)).status).toBe(0);
  });
});

const times = <T>(count: number, make: (i: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const LONG = 'x'.repeat(60_000);

/** Campaign files of a size and depth that no person writes. */
const CAMPAIGNS: readonly (readonly [label: string, campaign: object, status: 0 | 2])[] = [
  [
    '10,000 buttons',
    { ...APP, content: { text: 'x', buttons: times(10_000, (i) => ({ text: `b${i}`, reply: `r${i}` })) } },
    2,
  ],
  [
    '100 buttons',
    { ...APP, content: { text: 'x', buttons: times(100, (i) => ({ text: `b${i}`, reply: `r${i}` })) } },
    2,
  ],
  [
    '100 cards with 100 buttons each',
    {
      channel: 'rcs',
      recipients: 'people.csv',
      content: {
        cards: times(100, () => ({
          title: 'x',
          buttons: times(100, (i) => ({ text: `b{{name}}${i}`, reply: `r${i}` })),
        })),
      },
    },
    2,
  ],
  [
    '10,000 rows of a list',
    {
      ...APP,
      content: {
        text: 'x',
        list: { button: 'x', sections: times(100, () => ({ rows: times(100, (i) => ({ id: `${i}`, title: 'x' })) })) },
      },
    },
    2,
  ],
  [
    '1,000 recipients',
    {
      channel: 'sms',
      template: { text: 'x {{name}}' },
      recipients: times(1_000, (i) => ({ msisdn: `+4474001${String(10_000 + i)}`, name: 'x' })),
    },
    0,
  ],
  [
    '1,001 recipients',
    {
      channel: 'sms',
      template: { text: 'x' },
      recipients: times(1_001, (i) => ({ msisdn: `+4474001${String(10_000 + i)}` })),
    },
    2,
  ],
  [
    'recipients with 20,000 columns',
    { channel: 'sms', template: { text: 'x' }, recipients: [Object.fromEntries(times(20_000, (i) => [`c${i}`, 'x']))] },
    2,
  ],
  [
    'recipients without a common column',
    {
      channel: 'sms',
      template: { text: 'x' },
      recipients: times(1_000, (i) => ({ msisdn: `+4474001${String(10_000 + i)}`, [`c${i}`]: 'x' })),
    },
    0,
  ],
  ['1,000 contacts', { ...APP, template: { text: 'x' }, recipients: { contacts: times(1_000, (i) => `c${i}`) } }, 0],
  ['200 needs', { ...APP, template: { id: 'x', needs: times(200, (i) => `n${i}`) } }, 2],
  [
    '5,000 variables',
    { ...APP, template: { id: 'x' }, variables: Object.fromEntries(times(5_000, (i) => [`v${i}`, '{{name}}'])) },
    0,
  ],
  ['100 variants', { ...APP, variants: times(100, (i) => ({ name: `v${i}`, template: { text: 'x' } })) }, 2],
  [
    '10 variants of 60 KB',
    {
      channel: 'sms',
      recipients: 'people.csv',
      variants: times(10, (i) => ({ name: `v${i}`, template: { text: LONG } })),
    },
    2,
  ],
  [
    'fallbacks to everything',
    { ...APP, template: { text: 'x' }, fallback: times(5, () => ({ channel: 'sms', template: { text: 'x' } })) },
    2,
  ],
  [
    'a condition with 10,000 values',
    {
      ...APP,
      template: { text: 'x' },
      recipients: { csv: 'people.csv', where: { name: { $in: ['Ana', ...times(10_000, (i) => `n${i}`)] } } },
    },
    0,
  ],
  [
    'a condition of 3,000 parts',
    {
      ...APP,
      template: { text: 'x' },
      recipients: { csv: 'people.csv', where: { $or: times(3_000, (i) => ({ name: { $ne: `n${i}` } })) } },
    },
    0,
  ],
  [
    'a condition of 20 levels',
    { ...APP, template: { text: 'x' }, recipients: { csv: 'people.csv', where: levels(20) } },
    0,
  ],
  [
    'a condition of 2,000 levels',
    { ...APP, template: { text: 'x' }, recipients: { csv: 'people.csv', where: levels(2_000) } },
    2,
  ],
  [
    'conditions that double',
    { ...APP, template: { text: 'x' }, recipients: { csv: 'people.csv', where: doubled(10) } },
    0,
  ],
];

function levels(depth: number): object {
  let query: object = { name: 'Ana' };
  for (let i = 0; i < depth; i++) query = { $nor: [query] };
  return query;
}

function doubled(depth: number): object {
  return depth === 0
    ? { name: { $not: { $not: { $startsWith: 'A' } } } }
    : { $or: [doubled(depth - 1), doubled(depth - 1)] };
}

describe('campaigns', () => {
  it.each(CAMPAIGNS)('%s (S10)', async (_, campaign, status) => {
    const ran = await look(campaign);
    expect([ran.stderr.slice(0, 500), ran.status]).toEqual([expect.anything(), status]);
    // A thousand lines of the same are of no use.
    expect(ran.stderr.length).toBeLessThan(60_000);
  });
});

describe('a condition is data', () => {
  const inside = (operator: string, operand: unknown) => ({ name: { [operator]: operand } });
  const CODE = '(() => { globalThis.polluted = true; return true })()';
  it.each([
    ['$where', { $where: CODE }],
    ['$where in a column', inside('$where', CODE)],
    ['$where below $or', { $or: [{ $where: CODE }] }],
    ['$where below $not', { name: { $not: { $where: CODE } } }],
    ['$expr', { $expr: { $function: { body: CODE, args: [], lang: 'js' } } }],
    ['$function', inside('$function', CODE)],
    ['$regex', inside('$regex', '(a+)+$')],
    ['$regex with options', { name: { $regex: 'a', $options: 'i' } }],
    ['$elemMatch', inside('$elemMatch', { $eq: 'x' })],
    ['$all', inside('$all', ['x'])],
    ['$type', inside('$type', 'string')],
    ['$mod', inside('$mod', [1, 0])],
    ['$size', inside('$size', 1)],
    ['$jsonSchema', { $jsonSchema: {} }],
    ['constructor', { constructor: { name: 'Object' } }],
    ['__proto__', JSON.parse('{"__proto__":{"name":"Ana"}}')],
    ['__proto__ in a column', { name: JSON.parse('{"__proto__":{"$ne":"x"}}') }],
    ['toString', { toString: { $exists: true } }],
    ['a part of a column', { 'name.length': 3 }],
    ['a part of the row', { '0': 'Ana' }],
    ['a column and a prototype', { 'name.constructor.name': 'String' }],
  ])('refused: %s (S14)', async (_, where) => {
    const ran = await look({ ...APP, template: { text: 'x' }, recipients: { csv: 'people.csv', where } });
    expect(ran.stderr).toMatch(/error\[(?:invalid-where|yaml-forbidden-key)\]/);
    expect(ran.status).toBe(2);
    expect(Object.hasOwn(globalThis, 'polluted')).toBe(false);
  });
});

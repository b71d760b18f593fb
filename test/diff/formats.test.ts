import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { diffMarkdown } from '../../src/cli/diff/markdown.ts';
import { diffText } from '../../src/cli/diff/text.ts';
import type { CampaignDiff, Diff } from '../../src/diff/result.ts';
import { createRepository, type Files } from './repository.ts';

const FIXTURES = join(import.meta.dirname, '..', 'fixtures', 'diff');
const SCHEMA: object = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', '..', 'schemas', 'diff.schema.json'), 'utf8'),
);

/** What would do harm where it is not shown as text. */
const HARM = '<img src=x onerror=alert(1)>|`rm`|@octocat|#17|[a](http://evil.example)|www.evil.example';

const offer = (more: string, text: string) => `name: offer
channel: sms
template: offer.hbs
recipients: { csv: people.csv, key: "id" }
${more}metaData: { note: ${JSON.stringify(text)} }
`;

const BEFORE: Files = {
  'handbill.yaml': `prices: prices.csv
defaults: { from: Riverside }
environments:
  production: { baseUrl: "https://api.example.com", apiKey: { env: HANDBILL_API_KEY }, rate: 50/s }
`,
  'prices.csv': 'country,price,currency\nGB,0.04,EUR\nFR,0.06,EUR\n',
  'campaigns/offer/campaign.yaml': offer('', 'spring'),
  'campaigns/offer/offer.hbs': 'Hello {{name}}, {{default offer "nothing"}} for you.\nRiverside',
  'campaigns/offer/people.csv': `id,msisdn,name,offer
1,+447700900001,Ann,10 %
2,+447700900002,Bo,20 %
3,+447700900003,Cy,30 %
4,+33639980001,Di,40 %
5,+447700900005,Ed,50 %
`,
  'campaigns/old/campaign.yaml':
    'name: old\nchannel: sms\ntemplate: { text: "Bye" }\nrecipients: [{ msisdn: "+447700900009" }]\n',
  'campaigns/same/campaign.yaml':
    'name: same\nchannel: sms\ntemplate: { text: "Same" }\nrecipients: [{ msisdn: "+447700900008" }]\n',
};

const AFTER: Files = {
  'handbill.yaml': String(BEFORE['handbill.yaml']).replace('50/s', '80/s'),
  'campaigns/offer/campaign.yaml': offer('send: { rate: 10/s }\nlimits: { maxRecipients: 3 }\n', HARM),
  'campaigns/offer/offer.hbs': `Hi {{name}}, {{default offer "nothing"}} for you – ${HARM}\nRiverside`,
  'campaigns/offer/people.csv': `id,msisdn,name,offer
1,+447700900001,Ann,10 %
2,+447700900022,Bo,25 %
4,+33639980001,Di,40 %
6,+447700900006,<b>Flo</b>,10 %
7,+33639980007,@gus,10 %
5,+44770090000,Ed,50 %
`,
  'campaigns/old/campaign.yaml': null,
  'campaigns/new/campaign.yaml':
    'name: new\nchannel: sms\ntemplate: { text: "Welcome" }\nrecipients: [{ msisdn: "+447700900007" }]\n',
};

const numbers = [...Object.values(BEFORE), ...Object.values(AFTER)].flatMap((text) => text?.match(/\+\d{9,}/g) ?? []);

describe('a change with a bit of everything', () => {
  let result: Diff;

  beforeAll(async () => {
    using repository = createRepository(BEFORE);
    repository.git('checkout', '-q', '-b', 'offer');
    repository.write(AFTER);
    result = await repository.diff('main');
  });

  it('as text', async () => {
    await expect(diffText(result)).toMatchFileSnapshot(join(FIXTURES, 'everything.txt'));
  });

  it('as Markdown', async () => {
    await expect(diffMarkdown(result)).toMatchFileSnapshot(join(FIXTURES, 'everything.md'));
  });

  it('as JSON, as its schema says', async () => {
    const ajv = new Ajv({ strict: false, allErrors: true });
    const isValid = ajv.compile(SCHEMA);
    expect(isValid(result), JSON.stringify(isValid.errors)).toBe(true);
    expect(isValid({ ...result, valid: 'yes' })).toBe(false);
    await expect(`${JSON.stringify(result, null, 2)}\n`).toMatchFileSnapshot(join(FIXTURES, 'everything.json'));
  });

  it('shows no number and no value of any recipient', () => {
    expect(new Set(numbers).size).toBeGreaterThan(8);
    for (const text of [diffText(result), diffMarkdown(result), JSON.stringify(result)]) {
      for (const number of numbers) expect(text).not.toContain(number.slice(1));
      expect(text).not.toMatch(/\d{7}|Ann|Flo|gus|25 %/);
    }
  });

  it('as Markdown, holds no markup but its own', () => {
    const markdown = diffMarkdown(result);
    expect(markdown).not.toMatch(/<img|<b>|\[a\]|`rm|@octocat|#17|:\/\/evil|www\.evil/);
    expect(new Set(markdown.match(/<\/?[a-z]+/g))).toEqual(
      new Set(['<code', '</code', '<details', '</details', '<summary', '</summary']),
    );
    const rows = markdown.split('\n').filter((line) => line.startsWith('|'));
    for (const line of rows) expect([4, 8], line).toContain(line.split('|').length - 1);
  });
});

test('a comment is never longer than GitHub takes, and is whole', () => {
  const campaign = (index: number): CampaignDiff => ({
    name: `campaign-${index}`,
    change: 'changed',
    renamedFrom: null,
    file: `campaigns/${index}/campaign.yaml`,
    notes: [],
    before: { errors: [], figures: null },
    after: { errors: [], figures: null },
    rules: Array.from({ length: 60 }, (_, i) => ({
      key: `metaData.${i}`,
      before: HARM,
      after: '@|'.repeat(10),
    })),
    recipients: null,
    decisions: [],
    texts: { compared: 0, changed: 0, groups: [], more: null },
  });
  const side = { name: 'main', commit: 'a'.repeat(40), mergeBase: false };
  for (const count of [1, 10, 1000]) {
    const result: Diff = {
      version: 1,
      before: side,
      after: { ...side, name: 'work tree', commit: null },
      environment: 'sandbox',
      project: [],
      campaigns: Array.from({ length: count }, (_, i) => campaign(i)),
      unchanged: [],
      notes: [],
      valid: true,
    };
    const markdown = diffMarkdown(result);
    expect(Buffer.byteLength(markdown)).toBeLessThan(65_536);
    expect(markdown.match(/<details>/g)?.length ?? 0).toBe(markdown.match(/<\/details>/g)?.length ?? 0);
    expect(markdown.includes('This comment is as long as it can be')).toBe(count > 1);
  }
});

test('text that a terminal would obey is shown', () => {
  const side = { name: 'main\u001b[2J', commit: 'a'.repeat(40), mergeBase: false };
  const rules = [{ key: 'from', before: 'a\u001b]52;c;x\u0007', after: '\u202eb\r' }];
  const result = {
    version: 1,
    before: side,
    after: side,
    environment: 'sandbox',
    project: rules,
    campaigns: [],
    unchanged: [],
    notes: ['\u009b31m'],
    valid: true,
  } as const;
  for (const text of [diffText(result), diffMarkdown(result)]) {
    expect(text).toMatch(/^[\n\x20-\x7e\u00a0-\u2027\u202f-\uffff]*$/);
  }
});

describe('a partial that several campaigns include', () => {
  const campaign = (name: string) => `name: ${name}
channel: sms
from: Riverside
template: { text: "Hi {{name}}. {{> foot}}" }
variants: [{ name: a, weight: 50 }, { name: b, weight: 50, template: { text: "Hello {{name}}. {{> foot}}" } }]
recipients: people.csv
`;

  it('is shown in the first of them, and named in the others', async () => {
    const files = ['one', 'two', 'three'].map((name) => [`campaigns/${name}/campaign.yaml`, campaign(name)] as const);
    const lists = ['one', 'two', 'three'].map(
      (name) =>
        [
          `campaigns/${name}/people.csv`,
          `msisdn,name\n${Array.from({ length: 20 }, (_, n) => `+4474001234${10 + n},P${n}\n`).join('')}`,
        ] as const,
    );
    using repository = createRepository({
      'handbill.yaml': 'partials: partials\n',
      'partials/foot.hbs': 'Call us on 0161 496 0001.',
      ...Object.fromEntries([...files, ...lists]),
    });
    repository.write({
      'partials/foot.hbs': 'Call us on 0161 496 0002.',
      'campaigns/two/campaign.yaml': campaign('two').replace('Hi ', 'Dear '),
    });
    const diff = await repository.diff('HEAD');
    const text = diffText(diff);
    expect(text.match(/partials\.foot: Call us on/g)).toHaveLength(1);
    expect(text.match(/partials\.foot: as in one, above/g)?.length).toBeGreaterThanOrEqual(2);
    expect(text).toContain('[-Hi-]{+Dear+}');
    const markdown = diffMarkdown(diff);
    expect(markdown.match(/Call us on/g)).toHaveLength(1);
    expect(markdown).toContain('as in one, above');
    // Programs get every change where it is.
    expect(JSON.stringify(diff).match(/Call us on/g)?.length).toBeGreaterThanOrEqual(3);
  });
});

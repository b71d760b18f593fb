import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { preview } from '../../src/operations/preview.ts';
import { validate } from '../../src/operations/validate.ts';
import { createProject } from '../helpers/project.ts';
import { examples } from '../helpers/quick.ts';

const WELSH = '  - { name: welsh, where: { lang: cy }, template: { text: Helo } }\n';

function projectOf(variants: string, values: readonly string[], { column = 'lang', more = '' } = {}) {
  const rows = values.map((value, i) => `+4474001${String(23450 + i)},"${value}",gold\n`);
  return createProject({
    'hello/campaign.yaml': `name: hello\nchannel: sms\nfrom: Riverside\nrecipients: people.csv\n${more}${variants.includes('name: B') ? '' : 'template: { text: Hello }\n'}variants:\n${variants}`,
    'hello/people.csv': `msisdn,${column},tier\n${rows.join('')}`,
  });
}

async function warned(...given: Parameters<typeof projectOf>) {
  using project = projectOf(...given);
  const { diagnostics } = await validate(['hello'], { cwd: project.root });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return diagnostics.filter(({ code }) => code === 'no-variant').map(({ message }) => message);
}

const many = (count: number, value: string) => Array.from({ length: count }, () => value);

describe('a language without a variant', () => {
  const LIST = [...many(5, 'en'), ...many(3, 'it'), 'pt', 'cy', ''];
  const SAID = 'Of 11 recipients, 3 with "it" and 1 with "pt" in the column "lang" have no variant.';

  it('is a warning of validate and preview, at the condition, with what to do', async () => {
    using project = projectOf(WELSH, LIST);
    const found = (await validate(['hello'], { cwd: project.root })).diagnostics;
    expect(found.filter(({ code }) => code === 'no-variant')).toMatchObject([
      {
        severity: 'warning',
        message: SAID,
        at: { file: 'hello/campaign.yaml', line: 7, column: 27 },
        hint: 'Add a variant for them. Where the message of the campaign, whose `locale` is en-GB, is right for them, add one with `name` and `where` alone.',
      },
    ]);
    const { warnings } = await preview('hello', { cwd: project.root }).result();
    expect(warnings.map(({ message }) => message)).toContain(SAID);
  });

  it('says which language the message of the campaign has, not that of a variant', async () => {
    using project = projectOf(WELSH.replace(', template', ', locale: cy, template'), ['it'], {
      more: 'locale: de-AT\n',
    });
    const { diagnostics } = await validate(['hello'], { cwd: project.root });
    expect(diagnostics.find(({ code }) => code === 'no-variant')?.hint).toContain('whose `locale` is de-AT,');
  });

  it('that a condition spells otherwise is to be written there', async () => {
    for (const value of ['CY', 'cy-GB', 'cy_GB']) {
      using project = projectOf(WELSH, ['it', 'it', value]);
      const { diagnostics } = await validate(['hello'], { cwd: project.root });
      expect(diagnostics.find(({ code }) => code === 'no-variant')?.hint).toBe(
        `A condition asks for "cy": write "${value}" beside it, or correct the list.`,
      );
    }
  });

  it('needs no other text where a variant gives the message of the campaign', async () => {
    expect(await warned(`${WELSH}  - { name: rest, where: { lang: { $in: [it, pt] } } }\n`, LIST)).toEqual([]);
  });

  it.each<[string, string, readonly string[], Parameters<typeof projectOf>[2], readonly string[]]>([
    ['the language of the campaign, in any spelling', WELSH, ['en', 'EN', 'en_US', 'eng', 'English'], {}, []],
    ['that of another campaign', WELSH, ['en', 'de', 'Deutsch'], { more: 'locale: de-AT\n' }, ['1 with "en"']],
    ['another spelling of a condition', WELSH, ['CY', 'welsh'], {}, ['1 with "CY" and 1 with "welsh"']],
    ['cells of an export without a value', WELSH, ['N/A', '#N/A', 'null', 'no'], {}, ['4 recipients, 1 with "no"']],
    ['values that are no languages', WELSH.replace('lang: cy', 'tier: gold'), ['en', 'it'], {}, []],
    [
      'a column that a locale makes one of languages',
      WELSH.replace('{ lang: cy }', '{ speaks: cy }, locale: cy'),
      ['it'],
      { column: 'speaks' },
      ['1 with "it" in the column "speaks"'],
    ],
    ['a column of something else', WELSH.replace('lang', 'speaks'), ['it'], { column: 'speaks' }, []],
    ['the rest of a condition of two columns', WELSH.replace('cy }', 'cy, tier: silver }'), ['cy'], {}, []],
    [
      'a condition in a group',
      WELSH.replace('{ lang: cy }', '{ $or: [{ lang: cy }, { lang: gd }] }'),
      ['gd', 'ga'],
      {},
      ['1 with "ga"'],
    ],
    ['all but one', WELSH.replace('lang: cy', 'lang: { $ne: en }'), ['en', 'it'], { more: 'locale: de\n' }, []],
    [
      'recipients who are divided',
      `${WELSH}  - { name: A, template: { text: A } }\n  - { name: B, template: { text: B } }\n`,
      ['it'],
      {},
      ['1 with "it"'],
    ],
    ['many of them', WELSH, ['it', 'pt', 'fr', 'ga', 'gd'], {}, ['1 with "fr" and 2 with other values']],
    [
      'those of most recipients first',
      WELSH,
      ['ga', 'fr', 'it', ...many(2, 'fr'), ...many(4, 'pt')],
      {},
      ['4 with "pt", 3 with "fr", 1 with "ga" and 1 with other values'],
    ],
    ['a number in the column', WELSH, ['+447400123450'], {}, ['•']],
  ])('%s', async (_label, variants, values, options, says) => {
    const found = await warned(variants, values, options);
    expect(found).toHaveLength(says.length);
    for (const [at, part] of says.entries()) expect(found[at]).toContain(part);
    for (const message of found) expect(message).not.toContain('447400123450');
  });

  it('counts each recipient who gets no variant, and no other (property)', async () => {
    const language = fc.constantFrom('en', 'cy', 'it', 'gd', 'CY', '', 'en-GB', ' it ');
    await fc.assert(
      fc.asyncProperty(fc.array(language, { minLength: 1, maxLength: 12 }), async (values) => {
        const left = new Map<string, number>();
        for (const value of values.map((one) => one.trim()))
          if (['it', 'gd', 'CY'].includes(value)) left.set(value, (left.get(value) ?? 0) + 1);
        const [message = ''] = await warned(WELSH, values);
        const counted = [...message.matchAll(/(\d+) with "(\w+)"/g)].map(([, count, value]) => [value, Number(count)]);
        expect(new Map(counted as [string, number][])).toEqual(left);
      }),
      { numRuns: examples(60) },
    );
  });
});

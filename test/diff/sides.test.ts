import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { diffMarkdown } from '../../src/cli/diff/markdown.ts';
import { diffText } from '../../src/cli/diff/text.ts';
import type { CampaignDiff, Diff } from '../../src/diff/result.ts';
import { examples } from '../helpers/quick.ts';
import { createRepository, HELLO } from './repository.ts';

const LIST = 'campaigns/hello/people.csv';
const FILE = 'campaigns/hello/campaign.yaml';
const TEMPLATE = 'campaigns/hello/hello.hbs';
const CAMPAIGN = HELLO[FILE];

function only({ campaigns }: Diff): CampaignDiff {
  const [one, ...more] = campaigns;
  if (one === undefined || more.length > 0) throw new Error(`${campaigns.length} campaigns differ`);
  return one;
}

async function changed(after: Readonly<Record<string, string | null>>, before: Readonly<Record<string, string>> = {}) {
  using repository = createRepository({ ...HELLO, ...before });
  repository.write(after);
  return await repository.diff('HEAD');
}

describe('recipients and texts', () => {
  it('nothing changes', async () => {
    const result = await changed({});
    expect([result.campaigns, result.unchanged, result.valid]).toEqual([[], ['hello'], true]);
  });

  it('values, templates and both are told apart', async () => {
    const { texts } = only(
      await changed({
        [TEMPLATE]: 'Hi {{name}}{{#if (eq amount "20")}}, you owe {{amount}}{{/if}}.',
        [LIST]: HELLO[LIST].replace('Cy,30', 'Cyd,30'),
      }),
    );
    expect(texts).toMatchObject({ compared: 3, changed: 3, more: null });
    expect(texts.groups.map(({ recipients, columns }) => [recipients, columns])).toEqual([
      [2, []],
      [1, ['name']],
    ]);
    expect(texts.groups[0]?.templates[0]?.shape).toContain('[-Hello-]{+Hi+} {{name}}');
  });

  it('only a column', async () => {
    const { texts, recipients } = only(await changed({ [LIST]: HELLO[LIST].replace(',20', ',25') }));
    expect(recipients).toMatchObject({ added: 0, removed: 0, common: 3 });
    expect(texts.groups).toEqual([
      { recipients: 1, example: '+44••••••0002', decision: 'send', templates: [], columns: ['amount'], variant: null },
    ]);
  });

  it('a text that changes where no recipient gets it', async () => {
    const guarded = (word: string) => `Hello {{name}}{{#if (eq amount "99")}}${word}{{/if}}.`;
    const { texts } = only(await changed({ [TEMPLATE]: guarded('new') }, { [TEMPLATE]: guarded('old') }));
    expect(texts).toMatchObject({ compared: 3, changed: 0 });
    expect(texts.groups).toMatchObject([{ recipients: 0, templates: [{ what: 'text' }] }]);
  });

  it('by a setting', async () => {
    const template = { [TEMPLATE]: 'Due {{date amount "MMMM"}}', [LIST]: 'msisdn,amount\n+447700900001,2026-05-01\n' };
    const { texts, rules } = only(await changed({ [FILE]: `${CAMPAIGN}locale: fr\n` }, template));
    expect(texts.groups).toMatchObject([{ recipients: 1, templates: [], columns: [] }]);
    expect(rules).toEqual([{ key: 'locale', before: null, after: 'fr' }]);
  });

  it('partials, fallbacks and variants have names of their own', async () => {
    const rich = (word: string) => ({
      [FILE]: `name: hello
channel: rcs
from: Riverside
variants:
  - { name: a, weight: 1, template: { text: "${word} a {{> foot}}" } }
  - { name: b, weight: 1, template: { text: "Same b" } }
fallback: { channel: sms, template: { text: "${word} sms" } }
recipients: people.csv
`,
      'campaigns/hello/foot.hbs': `${word} foot`,
    });
    const { texts } = only(await changed(rich('Hi'), rich('Hello')));
    const names = texts.groups.flatMap(({ templates }) => templates.map(({ what }) => what));
    expect(new Set(names)).toEqual(new Set(['variants.a.text', 'fallback.sms.text', 'partials.foot']));
    expect(texts.changed).toBe(3);
  });

  it('the texts of a variant with a condition, of its fallback, and of all others', async () => {
    const spoken = (own: string, shared: string, welsh: string) => ({
      [FILE]: `name: hello
channel: rcs
from: Riverside
template: { text: "${own}" }
fallback: { channel: sms, template: { text: "${shared}" } }
variants:
  - { name: welsh, where: { name: Bo }, template: { text: Helo }, fallback: { channel: sms, template: { text: "${welsh}" } } }
  - { name: irish, where: { name: Cy }, locale: ga, template: { text: Dia duit } }
recipients: people.csv
`,
    });
    const groupsOf = async (own: string, shared: string, welsh: string) => {
      const { texts, rules } = only(await changed(spoken(own, shared, welsh), spoken('Hi', 'Short', 'Byr')));
      // What a message says is no setting.
      expect(rules).toEqual([]);
      return texts.groups.map(({ recipients, templates }) => [recipients, templates.map(({ what }) => what)]);
    };
    expect(await groupsOf('Hello', 'Short', 'Byr')).toEqual([[1, ['text']]]);
    expect(await groupsOf('Hi', 'Short', 'Byrrach')).toEqual([[1, ['variants.welsh.fallback.sms.text']]]);
    expect(await groupsOf('Hi', 'Shorter', 'Byr')).toEqual([
      [1, ['fallback.sms.text']],
      [1, ['fallback.sms.text']],
    ]);
    expect((await groupsOf('Hi', 'Shorter', 'Byrrach')).toSorted()).toEqual([
      [1, ['fallback.sms.text']],
      [1, ['fallback.sms.text']],
      [1, ['variants.welsh.fallback.sms.text']],
    ]);
  });

  it('decisions that change, and the cost of each country', async () => {
    const prices = 'country,price,currency\nGB,0.04,EUR\nFR,0.06,EUR\n';
    const result = only(
      await changed(
        {
          [FILE]: CAMPAIGN.replace('people.csv', '{ csv: people.csv, where: { name: { $ne: Bo } } }'),
          [LIST]: `${HELLO[LIST]}+33639980001,Di,5\n`,
        },
        { 'handbill.yaml': 'prices: prices.csv\n', 'prices.csv': prices },
      ),
    );
    expect(result.decisions).toEqual([
      { before: 'send', after: 'skip (excluded)', recipients: 1, example: '+44••••••0002' },
    ]);
    expect(result.before?.figures?.cost).toEqual({ low: 0.12, high: 0.12 });
    expect(result.after?.figures).toMatchObject({
      cost: { low: 0.14, high: 0.14 },
      countries: { GB: { messages: 2, cost: 0.08 }, FR: { messages: 1, cost: 0.06 } },
    });
    expect(result.rules).toContainEqual({ key: 'recipients.where.name.$ne', before: null, after: 'Bo' });
  });

  it('a key column: other addresses of the same people; another key: all recipients look new', async () => {
    const keyed = { [FILE]: CAMPAIGN.replace('people.csv', '{ csv: people.csv, key: name }') };
    const readdressed = only(await changed({ [LIST]: HELLO[LIST].replace('0900002', '0900009') }, keyed));
    expect(readdressed.recipients).toMatchObject({ added: 0, removed: 0, readdressed: 1 });
    const rekeyed = only(await changed(keyed));
    expect(rekeyed.recipients).toMatchObject({ added: 3, removed: 3, common: 0 });
    expect(rekeyed.notes).toEqual([expect.stringContaining('What identifies a recipient changes')]);
  });

  it('for any list and any edit: added, removed and common add up, and every changed value is counted', async () => {
    using repository = createRepository(HELLO);
    const person = fc.record({ number: fc.integer({ min: 0, max: 12 }), name: fc.constantFrom('Ann', 'Bo', 'Cy') });
    const people = fc.array(person, { minLength: 1, maxLength: 10 });
    const csv = (list: readonly { number: number; name: string }[]) =>
      `msisdn,name,amount\n${list.map(({ number, name }) => `+4477009000${String(number).padStart(2, '0')},${name},1\n`).join('')}`;
    const firsts = (list: readonly { number: number; name: string }[]) =>
      new Map([...list].reverse().map(({ number, name }) => [number, name]));
    await fc.assert(
      fc.asyncProperty(people, people, async (before, after) => {
        repository.commit({ [LIST]: csv(before) });
        repository.write({ [LIST]: csv(after) });
        const [old, now] = [firsts(before), firsts(after)];
        const common = [...old.keys()].filter((number) => now.has(number));
        const renamed = common.filter((number) => old.get(number) !== now.get(number)).length;
        const { campaigns } = await repository.diff('HEAD');
        const found = campaigns[0];
        const counts = found?.recipients ?? {
          before: old.size,
          after: now.size,
          added: 0,
          removed: 0,
          common: old.size,
        };
        expect(counts).toMatchObject({
          before: old.size,
          after: now.size,
          common: common.length,
          added: now.size - common.length,
          removed: old.size - common.length,
        });
        expect(found?.texts.changed ?? 0).toBe(renamed);
        const grouped = (found?.texts.groups ?? []).reduce((sum, { recipients }) => sum + (recipients ?? 0), 0);
        expect(grouped).toBe(renamed);
      }),
      { numRuns: examples(12) },
    );
  });
});

describe('recipients who wait for the winner of a test', () => {
  const LONG = `Hi {{name}}, ${'come in and see us. '.repeat(8)}`;
  const tested = (short: string, only = 'Hello Zoe'): string => `name: hello
channel: sms
from: Riverside
variants:
  - { name: A, template: { text: "${short}" } }
  - { name: B, template: { text: "${LONG}" } }
  - { name: C, where: { name: Zoe }, template: { text: "${only}" } }
test: 25%
recipients: { csv: people.csv, key: id }
`;
  const people = Array.from({ length: 40 }, (_, i) => `${i},+4477009001${String(i).padStart(2, '0')},P${i}\n`);
  const BEFORE = {
    'handbill.yaml': 'prices: prices.csv\n',
    'prices.csv': 'country,price,currency\nGB,0.04,EUR\n',
    [FILE]: tested('Hello {{name}}'),
    [LIST]: `id,msisdn,name\n${people.join('')}`,
  };

  it('are counted, and what they cost is said to come later', async () => {
    const result = await changed({ [FILE]: tested('Hi {{name}}') }, BEFORE);
    const { after } = only(result);
    const { send = 0, deferred = {}, cost, waiting } = after?.figures ?? {};
    const waits = deferred['winner-undecided'] ?? 0;
    expect(send).toBeGreaterThan(2);
    expect(send + waits).toBe(40);
    // One part for A, two parts for B.
    expect(waiting?.low).toBeCloseTo(waits * 0.04, 9);
    expect(waiting?.high).toBeCloseTo(waits * 0.08, 9);
    expect(cost?.high).toBe(cost?.low);
    const [low, high] = [(waits * 0.04).toFixed(2), (waits * 0.08).toFixed(2)];
    const now = `${cost?.low.toFixed(2)} EUR, later ${low} to ${high} EUR`;
    expect(diffText(result)).toMatch(new RegExp(`^  deferred: winner-undecided +${waits}$`, 'm'));
    expect(diffText(result)).toMatch(new RegExp(`^  cost +${now.replaceAll('.', '\\.')}$`, 'm'));
    expect(diffMarkdown(result)).toContain(`| deferred: winner-undecided | ${waits} | ${waits} |`);
    expect(diffMarkdown(result)).toContain(` | ${now} | `);
  });

  it('get another text by the templates of the test', async () => {
    const result = await changed({ [FILE]: tested('Hi {{name}}', 'Zoe, hello') }, BEFORE);
    const { after, texts } = only(result);
    const waits = after?.figures?.deferred['winner-undecided'] ?? 0;
    const group = texts.groups.find(({ decision }) => decision !== 'send');
    expect(group).toMatchObject({
      recipients: waits,
      decision: 'defer (winner-undecided)',
      templates: [{ what: 'variants.A.text', shape: '[-Hello-]{+Hi+} {{name}}' }],
      columns: [],
      variant: null,
    });
    expect(diffText(result)).toMatch(
      new RegExp(`${waits} recipients such as \\S+, defer \\(winner-undecided\\)\\n +variants\\.A\\.text: `),
    );
    expect(diffText(result)).not.toContain('by a setting');
  });

  it('get another text by a value, or the same text at another address', async () => {
    const named = only(await changed({ [LIST]: BEFORE[LIST].replaceAll(',P', ',Q') }, BEFORE));
    expect(named.texts.groups.map(({ decision, columns }) => [decision, columns])).toEqual([
      ['defer (winner-undecided)', ['name']],
      // A and B.
      ['send', ['name']],
      ['send', ['name']],
    ]);
    const moved = only(await changed({ [LIST]: BEFORE[LIST].replaceAll('+4477009001', '+4477009002') }, BEFORE));
    expect(moved.recipients).toMatchObject({ common: 40, readdressed: 40 });
    expect(moved.texts).toMatchObject({ changed: 0, groups: [] });
  });
});

describe('campaigns', () => {
  it('new, deleted and renamed ones', async () => {
    const other = {
      'campaigns/other/campaign.yaml': CAMPAIGN.replace('hello', 'other')
        .replace('hello.hbs', '{ text: A }')
        .replace('people.csv', '[{ msisdn: "+447700900009" }]'),
    };
    const added = only(await changed(other));
    expect(added).toMatchObject({
      name: 'other',
      change: 'added',
      before: null,
      after: { figures: { send: 1 } },
      rules: [],
    });
    const removed = only(await changed({ 'campaigns/other/campaign.yaml': null }, other));
    expect(removed).toMatchObject({ name: 'other', change: 'removed', after: null, before: { figures: { send: 1 } } });
    const renamed = only(await changed({ [FILE]: CAMPAIGN.replace('name: hello', 'name: welcome') }));
    expect(renamed).toMatchObject({
      name: 'welcome',
      renamedFrom: 'hello',
      change: 'changed',
      recipients: { common: 3 },
    });
    expect(renamed.notes).toEqual([expect.stringContaining('to the ledger it is a new campaign')]);
    expect(renamed.notes[0]).toContain('`id: hello` it keeps its history');
  });

  it.each(['before', 'after'])('one whose file is broken %s says nothing of its id', async (side) => {
    const broken = { [FILE]: 'name: [hello\n' };
    const { notes } = only(await (side === 'after' ? changed(broken) : changed({ [FILE]: CAMPAIGN }, broken)));
    expect(notes.filter((note) => note.includes('id'))).toEqual([]);
  });

  it.each([
    ['with another name', '', 'to the ledger it is a new campaign'],
    ['with its id', 'id: hello\n', 'The runs of hello stay those of this campaign'],
  ])('one that was renamed and moved is the same one: %s', async (_, keys, note) => {
    const moved = only(
      await changed({
        [FILE]: null,
        [LIST]: null,
        [TEMPLATE]: null,
        'campaigns/welcome/campaign.yaml': `${CAMPAIGN.replace('name: hello', 'name: welcome')}${keys}`,
        'campaigns/welcome/people.csv': HELLO[LIST],
        'campaigns/welcome/hello.hbs': HELLO[TEMPLATE],
      }),
    );
    expect(moved).toMatchObject({
      name: 'welcome',
      renamedFrom: 'hello',
      change: 'changed',
      recipients: { common: 3 },
    });
    expect(moved.notes).toEqual([expect.stringContaining(note)]);
  });

  it('one that was deleted can be named', async () => {
    using repository = createRepository(HELLO);
    repository.write({ [FILE]: null });
    expect(only(await repository.diff('HEAD', 'hello'))).toMatchObject({ change: 'removed', name: 'hello' });
  });
});

describe('a side that does not validate', () => {
  it('the old one: its errors, and what can still be said; the change is sound', async () => {
    const result = await changed({ [TEMPLATE]: 'Hello {{name}}' }, { [TEMPLATE]: 'Hello {{nmae}}' });
    expect(result.valid).toBe(true);
    expect(only(result)).toMatchObject({
      before: { figures: null, errors: [{ code: 'unknown-name', file: TEMPLATE, line: 1 }] },
      after: { figures: { send: 3 }, errors: [] },
      recipients: null,
      texts: { groups: [{ recipients: null, templates: [{ shape: 'Hello [-{{nmae}}-]{+{{name}}+}' }] }] },
    });
  });

  it('the new one, by a row: it is counted, and its cells are not shown', async () => {
    const list = `${HELLO[LIST]}07700 900 999 12 34,Zoe Secret,1\n+447700900004,,1\n+447700900005,,1\n`;
    const result = await changed({ [LIST]: list });
    expect(result.valid).toBe(false);
    const { after } = only(result);
    expect(after?.errors.map(({ code, line, count }) => [code, line, count])).toEqual([
      ['invalid-address', 5, 1],
      ['missing-variable', 6, 2],
    ]);
    expect(JSON.stringify(result)).not.toMatch(/Secret|900 999/);
  });

  it('YAML that is none: the file is named, and rules are not made up', async () => {
    const result = await changed({ [FILE]: 'name: hello\nchannel: [sms\n' });
    expect(only(result)).toMatchObject({
      name: 'hello',
      rules: [],
      after: { errors: [{ code: 'yaml-syntax', file: FILE }] },
    });
  });

  it('both, by the same fault: it is shown, although nothing changes', async () => {
    const result = await changed({}, { [TEMPLATE]: 'Hello {{nmae}}' });
    expect([result.valid, result.unchanged]).toEqual([false, []]);
    expect(only(result).after?.errors).toMatchObject([{ code: 'unknown-name' }]);
  });

  it('a list without a header is not shown', async () => {
    const result = await changed({ [LIST]: '+447700900001,Ann,10\n+447700900002,Bo,20\n' });
    expect(result.valid).toBe(false);
    expect(JSON.stringify(result)).not.toContain('447700900001');
  });
});

describe('lists that are not in git', () => {
  const ignored = { '.gitignore': 'people.csv\n' };

  it('are taken from the work tree for both sides', async () => {
    using repository = createRepository({ ...HELLO, [LIST]: null, ...ignored });
    repository.write({ [LIST]: HELLO[LIST], [TEMPLATE]: 'Hi {{name}}' });
    const found = only(await repository.diff('HEAD'));
    expect(found).toMatchObject({
      recipients: null,
      texts: { compared: 3, changed: 3 },
      before: { figures: { send: 3 } },
    });
    expect(found.notes).toEqual([
      expect.stringMatching(/^The list campaigns\/hello\/people\.csv is not there \(HEAD \w{8}\): both/),
    ]);
  });

  it('are nowhere: the templates can still be compared, and nothing is wrong', async () => {
    using repository = createRepository({ ...HELLO, [LIST]: null, ...ignored });
    repository.write({ [TEMPLATE]: 'Hi {{name}}, you owe {{amount}}.' });
    const result = await repository.diff('HEAD');
    expect(result.valid).toBe(true);
    expect(only(result)).toMatchObject({
      recipients: null,
      after: { figures: null, errors: [] },
      texts: {
        groups: [{ recipients: null, templates: [{ shape: '[-Hello-]{+Hi+} {{name}}, you owe {{amount}}.' }] }],
      },
    });
  });

  it('are nowhere: both sides are read with the sample, or with the only one', async () => {
    using repository = createRepository({
      ...HELLO,
      [FILE]: CAMPAIGN.replace('people.csv', '{ csv: gone.csv, sample: people.csv }'),
    });
    repository.write({ [TEMPLATE]: 'Hi {{name}}, you owe {{amount}}.' });
    const both = only(await repository.diff('HEAD'));
    expect(both.notes).toEqual([
      expect.stringMatching(/gone\.csv is not there \(HEAD [0-9a-f]{8}, work tree\): the sample/),
    ]);
    expect(both.notes.join(' ')).toContain('the sample is read in its place, and recipients are not compared');
    expect(both).toMatchObject({
      recipients: null,
      texts: { compared: 3, changed: 3 },
      after: { figures: { rows: 3 } },
    });
    repository.write({ [TEMPLATE]: 'Hi {{nome}}.' });
    expect(only(await repository.diff('HEAD')).after?.errors).toMatchObject([{ code: 'unknown-name' }]);
  });

  it('are nowhere: a template that is not well-formed is an error all the same', async () => {
    using repository = createRepository({ ...HELLO, [LIST]: null, ...ignored });
    repository.write({ [TEMPLATE]: 'Hello {{#if name}}{{name}}, you owe {{amount}}.' });
    const result = await repository.diff('HEAD');
    expect(result.valid).toBe(false);
    expect(only(result).after?.errors).toMatchObject([{ code: 'template-syntax', line: 1, column: 7 }]);
  });

  it('are passed', async () => {
    using repository = createRepository({ ...HELLO, [LIST]: null, ...ignored });
    repository.write({ 'elsewhere.csv': HELLO[LIST], [TEMPLATE]: 'Hi {{name}}' });
    const found = only(await repository.diff('HEAD', 'hello', { recipients: 'elsewhere.csv' }));
    expect(found).toMatchObject({
      recipients: null,
      texts: { changed: 3 },
      notes: [expect.stringContaining('was passed')],
    });
  });

  it('are nowhere, and nothing else changes: it is not said that all is the same', async () => {
    using repository = createRepository({ ...HELLO, [LIST]: null, ...ignored });
    const { unchanged, notes } = await repository.diff('HEAD');
    expect(unchanged).toEqual(['hello']);
    expect(notes[0]).toMatch(/^hello: The list .* are not compared\.$/);
  });

  it('lie in Git LFS', async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 120\n`;
    const found = only(await changed({ [LIST]: HELLO[LIST], [TEMPLATE]: 'Hi {{name}}' }, { [LIST]: pointer }));
    expect(found.notes).toEqual([expect.stringContaining('only a pointer of Git LFS')]);
    expect(found).toMatchObject({ recipients: null, texts: { changed: 3 } });
  });
});

describe('suppression lists', () => {
  const STOP = 'campaigns/hello/stop.csv';
  const listed = { [FILE]: `${CAMPAIGN}suppressions: stop.csv\n` };
  const stopped = [{ before: 'send', after: 'skip (suppressed)', recipients: 1, example: '+44••••••0002' }];

  it('that change, change decisions', async () => {
    const before = { ...listed, [STOP]: 'msisdn\n+447700900099\n' };
    const found = only(
      await changed(
        { [STOP]: 'msisdn\n+447700900099\n07700 900002\n' },
        { ...before, 'handbill.yaml': 'defaultCountry: GB\n' },
      ),
    );
    expect(found.decisions).toEqual(stopped);
    expect(JSON.stringify(found)).not.toContain('900099');
  });

  it('that git does not hold are those of the work tree on both sides', async () => {
    using repository = createRepository({ ...HELLO, ...listed, '.gitignore': 'stop.csv\n' });
    repository.write({ [STOP]: 'msisdn\n+447700900002\n', [TEMPLATE]: 'Hi {{name}}' });
    const found = only(await repository.diff('HEAD'));
    expect(found).toMatchObject({ decisions: [], texts: { changed: 2 }, before: { errors: [] } });
    expect(found.notes).toEqual([expect.stringContaining('stop.csv is not in git')]);
  });
});

describe('rules', () => {
  const KEY = 'sk-live-0123456789abcdef';

  it('are compared key by key as they are written, whatever the keys are', async () => {
    const { rules } = only(
      await changed(
        {
          [FILE]: `${CAMPAIGN}send: { rate: 10/s, notAfter: "2026-12-01T09:00:00Z" }\nlimits: { maxCost: 5, stopAfter: { inDoubt: 3 } }\n`,
        },
        { [FILE]: `${CAMPAIGN}send: { rate: 50/s }\nlimits: { maxCost: 5 }\n` },
      ),
    );
    expect(rules).toEqual([
      { key: 'send.rate', before: '50/s', after: '10/s' },
      { key: 'send.notAfter', before: null, after: '2026-12-01T09:00:00Z' },
      { key: 'limits.stopAfter.inDoubt', before: null, after: '3' },
    ]);
  });

  it('environments: a key is never shown, wherever it is', async () => {
    const project = (key: string, more: string) =>
      `environments:\n  production:\n    baseUrl: https://api.example.com\n    apiKey: { env: ${key} }\n${more}`;
    const result = await changed(
      {
        'handbill.yaml': project(
          'OTHER_KEY',
          `    rate: 10/s\n    proxy: http://me:${KEY}@proxy.example\n    acces: ${KEY}\n`,
        ),
      },
      { 'handbill.yaml': project('SOME_KEY', '') },
    );
    const shown = JSON.stringify(result);
    expect(shown).not.toContain(KEY);
    expect(shown).not.toContain('OTHER_KEY');
    expect(result.project.map(({ key }) => key)).toEqual([
      'environments.production.apiKey.env',
      'environments.production.rate',
      'environments.production.proxy',
      'environments.production.acces',
    ]);
    expect(result.project[0]).toMatchObject({ before: '(hidden)', after: '(hidden) (another one)' });
  });

  it('recipients that are in the file, and addresses in settings, are not shown', async () => {
    const inline = (number: string) =>
      CAMPAIGN.replace('hello.hbs', '{ text: Hi }').replace(
        'people.csv',
        `\n  list:\n    - { msisdn: "${number}" }\n  where: { msisdn: { $ne: "+447700900555" } }`,
      );
    const result = await changed(
      { [FILE]: inline('+447700900777') },
      { [FILE]: inline('+447700900666').replace('555', '556') },
    );
    expect(only(result).recipients).toMatchObject({ added: 1, removed: 1 });
    expect(only(result).rules).toEqual([
      { key: 'recipients.where.msisdn.$ne', before: '+44••••••0556', after: '+44••••••0555' },
    ]);
    expect(JSON.stringify(result)).not.toMatch(/7700900(?:555|556|666|777)/);
  });
});

test('an older environment that does not exist is an error of only that side', async () => {
  using repository = createRepository(HELLO);
  repository.write({
    'handbill.yaml': 'environments: { live: { baseUrl: "https://api.example.com", apiKey: { env: SOME_KEY } } }\n',
  });
  const result = await repository.diff('HEAD', 'hello', { environment: 'live' });
  expect(result.valid).toBe(true);
  expect(only(result)).toMatchObject({ before: { errors: [{ code: 'unknown-environment' }] }, after: { errors: [] } });
});

test('an environment that neither side has is refused once, and those that there are are named', async () => {
  const environments = {
    'handbill.yaml': 'environments: { live: { baseUrl: "https://api.example.com", apiKey: { env: SOME_KEY } } }\n',
  };
  using repository = createRepository({ ...HELLO, ...environments });
  await expect(repository.diff('HEAD', null, { environment: 'nowhere' })).rejects.toMatchObject({
    exit: 2,
    diagnostics: [{ code: 'unknown-environment', hint: expect.stringContaining('live') }],
  });
});

test('a price list whose prices change is named', async () => {
  const priced = { ...HELLO, 'handbill.yaml': 'prices: prices.csv\n', 'prices.csv': 'country,price\nGB,0.04\n' };
  using repository = createRepository(priced);
  repository.write({ 'prices.csv': 'country,price\r\nGB,0.040\r\n' });
  expect((await repository.diff('HEAD')).project).toEqual([]);
  repository.write({ 'prices.csv': 'country,price\nGB,0.05\n' });
  expect((await repository.diff('HEAD')).project).toEqual([
    { key: 'prices.csv', before: 'the price list', after: 'the price list (changed)' },
  ]);
});

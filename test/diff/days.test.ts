import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Ajv } from 'ajv';
import { describe, expect, it, test } from 'vitest';
import { diffMarkdown } from '../../src/cli/diff/markdown.ts';
import { diffText } from '../../src/cli/diff/text.ts';
import type { Diff, RehearsalDiff, RehearsedSide } from '../../src/diff/result.ts';
import type { Rehearsal } from '../../src/model.ts';
import type { DiffOptions } from '../../src/operations/diff.ts';
import { due } from '../../src/operations/due.ts';
import { rehearse } from '../../src/operations/rehearse.ts';
import { runHere } from '../helpers/here.ts';
import { createProject } from '../helpers/project.ts';
import { examples } from '../helpers/quick.ts';
import { drawProject } from '../rehearse/projects.ts';
import { createRepository, type Files, type Repository } from './repository.ts';

/** A Monday. */
const START = Date.parse('2026-11-30T00:02:00Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const DAILY = 'schedule: { cron: "0 9 * * *", timeZone: UTC }\n';
const PRICES = {
  'handbill.yaml': 'prices: prices.csv\n',
  'prices.csv': 'channel,country,price,currency\nsms,*,0.04,GBP\n',
};

const people = (count: number): string =>
  `msisdn,name\n${Array.from({ length: count }, (_, i) => `+44770090${1000 + i},N${i}\n`).join('')}`;

function campaign(name: string, more = DAILY, count = 12, recipients = 'people.csv'): Files {
  return {
    [`campaigns/${name}/campaign.yaml`]: `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hello {{name}}" }\nrecipients: ${recipients}\n${more}`,
    [`campaigns/${name}/people.csv`]: people(count),
  };
}

async function play(
  repository: Repository,
  more: DiffOptions = {},
  revision = 'HEAD',
): Promise<Diff & { readonly rehearsal: RehearsalDiff }> {
  const diff = await repository.diff(revision, null, { days: 3, now: () => START, env: {}, ...more });
  if (diff.rehearsal === undefined) throw new Error('days were asked for');
  return { ...diff, rehearsal: diff.rehearsal };
}

async function changed(before: Files, after: Files, more: DiffOptions = {}) {
  using repository = createRepository({ 'handbill.yaml': '{}\n', ...before });
  repository.write(after);
  return await play(repository, more);
}

/** The sentence that comes first, and the rows of days. */
function shown(diff: Diff): { readonly answer: string; readonly rows: readonly string[] } {
  const blocks = diffText(diff).split('\n\n');
  const answer = blocks.find((block) => / next (?:day|\d+ days) /.test(block)) ?? '';
  const rows = blocks.find((block) => /^ {2}day /.test(block)) ?? '';
  return {
    answer,
    rows: rows
      .split('\n')
      .slice(1)
      .filter((row) => row !== '')
      .map((row) => row.trim().replaceAll(/ {2,}/g, ' | ')),
  };
}

function totals({ campaigns }: RehearsedSide): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const figures of Object.values(campaigns)) {
    for (const [name, count] of Object.entries(figures)) {
      sums[name] = Math.round(((sums[name] ?? 0) + count) * 1e6) / 1e6;
    }
  }
  return sums;
}

/** What a rehearsal of one side alone says, in the same figures. */
function figuresOf({ occurrences, days }: Rehearsal): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  const add = (name: string, count: number): void => {
    if (count !== 0) sums[name] = Math.round(((sums[name] ?? 0) + count) * 1e6) / 1e6;
  };
  for (const { messages, parts, cost } of days) {
    add('messages', messages);
    add('parts', parts);
    add('cost', cost ?? 0);
  }
  for (const { reasons = {} } of occurrences) {
    for (const outcome of ['skipped', 'deferred'] as const) {
      for (const [reason, count] of Object.entries(reasons[outcome] ?? {})) add(`${outcome}: ${reason}`, count);
    }
  }
  return sums;
}

const OF_RECIPIENTS = /^(?:messages|parts|cost|skipped: .*|deferred: .*)$/;
const ofRecipients = (sums: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(sums).filter(([name, count]) => OF_RECIPIENTS.test(name) && count !== 0));

describe('the next days on both sides', () => {
  it('are not played without being asked for', async () => {
    using repository = createRepository({ 'handbill.yaml': '{}\n', ...campaign('hello') });
    expect(await repository.diff('HEAD')).not.toHaveProperty('rehearsal');
  });

  it('say in one sentence that nothing differs', async () => {
    const diff = await changed(campaign('hello'), {});
    expect(shown(diff)).toEqual({
      answer: 'In the next 3 days nothing differs: 36 messages.',
      rows: [],
    });
    expect(diff.rehearsal.changes).toEqual([]);
  });

  it('say first how many messages more, and what they cost, then the days', async () => {
    const diff = await changed({ ...PRICES, ...campaign('hello'), ...campaign('same') }, campaign('hello', DAILY, 20));
    expect(shown(diff)).toEqual({
      answer: 'In the next 3 days this change sends 24 messages more and costs 0.96 GBP more: 96 instead of 72.',
      rows: ['Mon 30 Nov to Wed 2 Dec, 3 days | hello | 12 -> 20 | 12 -> 20 | 0.48 GBP -> 0.80 GBP | 09:00'],
    });
  });

  it('say when a campaign begins at another time, with as many messages', async () => {
    const diff = await changed(campaign('hello'), campaign('hello', DAILY.replace('0 9', '30 14')), { days: 1 });
    expect(shown(diff)).toEqual({
      answer: 'In the next day this change sends as many messages as before: 12.',
      rows: ['Mon 30 Nov | hello | 12 | 12 | 09:00 -> 14:30'],
    });
  });

  it('say which messages go out later by a rate', async () => {
    const diff = await changed(campaign('hello'), campaign('hello', `${DAILY}send: { rate: 6/h }\n`), { days: 1 });
    expect(shown(diff).rows).toEqual(['Mon 30 Nov | hello | 12 | 12 | 09:00 -> 09:00 to 10:50']);
  });

  it('have a campaign that is new, removed or renamed', async () => {
    const added = await changed(campaign('hello'), campaign('second'), { days: 1 });
    expect(shown(added).rows).toEqual(['Mon 30 Nov | second | - -> 12 | - -> 12 | - -> 09:00']);
    const gone = { 'campaigns/hello/campaign.yaml': null, 'campaigns/hello/people.csv': null };
    const removed = await changed({ ...campaign('hello'), ...campaign('second') }, gone, { days: 1 });
    expect(shown(removed)).toEqual({
      answer: 'In the next day this change sends 12 messages fewer: 12 instead of 24.',
      rows: ['Mon 30 Nov | hello | 12 -> - | 12 -> - | 09:00 -> -'],
    });
    const last = await changed(campaign('hello'), gone, { days: 1 });
    expect(shown(last).answer).toMatch(/^In the next day this change sends 12 messages fewer: 0 instead of 12\./);
    const named = await changed(campaign('hello'), { ...gone, ...campaign('hello2') }, { days: 1 });
    expect([named.campaigns[0]?.renamedFrom, named.rehearsal.changes]).toEqual(['hello', []]);
    expect(Object.keys(named.rehearsal.before.campaigns)).toEqual(['hello2']);
  });

  it('have no schedule on either side', async () => {
    const diff = await changed(campaign('hello', ''), {});
    expect(shown(diff).answer).toBe('In the next 3 days nothing differs: 0 messages.');
  });

  it('say of which side an assumption is that the other does not make', async () => {
    const { rehearsal } = await changed(
      { ...campaign('hello', ''), ...campaign('next', 'after: { campaign: hello, wait: 1d }\n') },
      campaign('hello'),
    );
    const byHand = rehearsal.assumed.filter((one) => one.includes('hello is not sent in these days'));
    expect(byHand).toEqual([expect.stringMatching(/^Before the change: hello/)]);
    expect(rehearsal.assumed).toContain('The API accepts every message.');
  });

  it('have a budget that is spent by the change, and a cap that leaves people out', async () => {
    const environment = (budget: string) =>
      `prices: prices.csv\nenvironments:\n  test: { baseUrl: "http://127.0.0.1:9", apiKey: { env: NO_SUCH_KEY }${budget} }\n`;
    const spent = await changed(
      { ...PRICES, 'handbill.yaml': environment(''), ...campaign('hello') },
      { 'handbill.yaml': environment(', budget: { max: 0.9, per: month }') },
      { environment: 'test' },
    );
    expect(diffText(spent)).toContain('  hello: cannot begin (over-budget): 0 -> 1\n');
    expect(shown(spent).rows.at(-1)).toMatch(/^Wed 2 Dec \| hello \| 12 -> - .*cannot begin \(over-budget\): 0 -> 1$/);
    const capped = await changed(campaign('hello'), campaign('hello', `${DAILY}frequency: { max: 1, per: 2d }\n`));
    expect(diffText(capped)).toContain('  hello: skipped: frequency-cap: 0 -> 12\n');
    expect(shown(capped).rows).toEqual([
      'Tue 1 Dec | hello | 12 -> - | 12 -> - | 09:00 -> - | skipped: frequency-cap: 0 -> 12',
    ]);
  });

  it('have an occurrence that does not end before the next', async () => {
    const thrice = DAILY.replace('0 9', '0 9-11');
    const diff = await changed(campaign('slow', thrice), campaign('slow', `${thrice}send: { rate: 6/h }\n`), {
      days: 1,
    });
    expect(diffText(diff)).toContain('  slow: does not end before the next one: 0 -> 2\n');
  });

  it('have days in the zone of the new side', async () => {
    const zone = (timeZone: string) => ({ 'handbill.yaml': `timeZone: ${timeZone}\n` });
    const diff = await changed({ ...zone('UTC'), ...campaign('hello') }, zone('Asia/Kolkata'));
    expect(diff.rehearsal).toMatchObject({ timeZone: 'Asia/Kolkata', until: '2026-12-02T18:30:00.000Z', changes: [] });
  });

  it('begin neither side for an instant before now', async () => {
    const now = Math.ceil(Date.now() / DAY) * DAY + 9.5 * HOUR;
    using repository = createRepository({ 'handbill.yaml': '{}\n', ...campaign('hello') });
    repository.write(campaign('second'));
    for (const revision of ['HEAD', 'HEAD..HEAD']) {
      const { before, after } = (await play(repository, { days: 1, now: () => now }, revision)).rehearsal;
      expect([totals(before), totals(after)]).toEqual([{}, {}]);
    }
  });
});

/** Projects with few occurrences first. */
const SEEDS = [5, 6, 3, 2, 1, 4];

describe('the sum of the differences is the difference of the sums', () => {
  it.each(SEEDS.slice(0, examples(SEEDS.length)))('change %i', async (seed) => {
    const [old, now] = [drawProject(seed, 'http://127.0.0.1:9', 3), drawProject(seed + 7000, 'http://127.0.0.1:9', 3)];
    const gone = Object.keys(old.files).map((path) => [path, null] as const);
    using repository = createRepository(old.files);
    repository.write({ ...Object.fromEntries(gone), ...now.files });
    const given = { environment: 'test', days: 3, now: () => now.startMs, env: {} } as const;
    const { rehearsal } = await play(repository, given);
    const { before, after, changes, timeZone } = rehearsal;
    const alone = async (files: Readonly<Record<string, string>>) => {
      using project = createProject(files);
      const side = { timeZone, listOf: () => undefined };
      return await rehearse([], { ...given, cwd: project.root, side, everyMs: 60_000 });
    };
    const [was, is] = [await alone(old.files), await alone(now.files)];
    expect(ofRecipients(totals(before))).toEqual(figuresOf(was));
    expect(ofRecipients(totals(after))).toEqual(figuresOf(is));
    expect([before.busiest, after.busiest]).toEqual([was.busiest, is.busiest]);
    const differences: Record<string, number> = {};
    for (const change of changes) {
      for (const [figures, sign] of [
        [change.before?.figures, -1],
        [change.after?.figures, 1],
      ] as const) {
        for (const [name, count] of Object.entries(figures ?? {}))
          differences[name] = (differences[name] ?? 0) + sign * count;
      }
    }
    const names = new Set([...Object.keys(totals(before)), ...Object.keys(totals(after))]);
    for (const name of names) {
      if (name.startsWith('cannot be read')) continue;
      expect([name, differences[name] ?? 0]).toEqual([
        name,
        expect.closeTo((totals(after)[name] ?? 0) - (totals(before)[name] ?? 0), 5),
      ]);
    }
  });
});

describe('the ledger', () => {
  const CAPPED = `${DAILY}frequency: { max: 2, per: 5d }\n`;

  it('counts on both sides as it is now, and is not written', async () => {
    using repository = createRepository({
      'handbill.yaml': '{}\n',
      '.gitignore': '.handbill\n',
      ...campaign('hello', CAPPED),
    });
    const here = { cwd: repository.root, env: {}, confirm: true } as const;
    await due([], { ...here, now: () => START - 2 * DAY });
    await due([], { ...here, now: () => START - 15 * HOUR });
    const ledger = readFileSync(join(repository.root, '.handbill/ledger.db'));
    repository.write(campaign('hello', CAPPED, 14));
    const { rehearsal } = await play(repository);
    expect(rehearsal.ledger).toBe('.handbill/ledger.db');
    expect(totals(rehearsal.before)).toMatchObject({ messages: 12, 'skipped: frequency-cap': 24 });
    expect(totals(rehearsal.after)).toMatchObject({ messages: 16, 'skipped: frequency-cap': 26 });
    expect(readFileSync(join(repository.root, '.handbill/ledger.db'))).toEqual(ledger);
  });

  it('of another project is one in which nothing was sent from here', async () => {
    using other = createProject(campaign('news') as Readonly<Record<string, string>>);
    await due([], { cwd: other.root, env: {}, confirm: true, now: () => START - 15 * HOUR });
    const ledger = join(other.root, '.handbill/ledger.db');
    const { rehearsal } = await changed(campaign('hello'), campaign('hello', DAILY, 14), { ledger });
    expect([totals(rehearsal.before)['messages'], totals(rehearsal.after)['messages']]).toEqual([36, 42]);
    expect(rehearsal.ledger).toContain('.handbill/ledger.db');
  });

  it('that cannot be used refuses the comparison, and names no copy', async () => {
    using repository = createRepository({ 'handbill.yaml': '{}\n', '.gitignore': '.handbill\n', ...campaign('hello') });
    repository.write({ '.handbill/ledger.db': 'x'.repeat(2000) });
    const { status, stderr } = await runHere(['diff', '--days', '3'], { cwd: repository.root, now: () => START });
    expect([status, stderr]).toEqual([7, expect.stringContaining('.handbill/ledger.db')]);
    expect(stderr).not.toContain('handbill-diff-');
  });

  it('of handbill.yaml on a server is not asked', async () => {
    let connections = 0;
    const server = createServer(() => (connections += 1));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const diff = await changed(campaign('hello'), {
        'handbill.yaml': `ledger: postgres://127.0.0.1:${port}/handbill\n`,
      });
      expect([connections, diff.rehearsal.ledger]).toEqual([0, null]);
      expect(diff.rehearsal.assumed[0]).toContain('--ledger or HANDBILL_LEDGER');
    } finally {
      server.close();
    }
  });
});

describe('lists that are not in git', () => {
  const ignored = (name: string) => ({ '.gitignore': 'people.csv\n', [`campaigns/${name}/people.csv`]: null });

  it('are those of the work tree on both sides', async () => {
    using repository = createRepository({ 'handbill.yaml': '{}\n', ...campaign('hello'), ...ignored('hello') });
    repository.write(campaign('hello', DAILY.replace('0 9', '0 9,15'), 14));
    const { rehearsal } = await play(repository, { days: 1 });
    expect([totals(rehearsal.before), totals(rehearsal.after)]).toEqual([
      { messages: 14, parts: 14 },
      { messages: 28, parts: 28 },
    ]);
    expect(rehearsal.assumed).toContain('A list that is not here is that of the other side, or its sample.');
  });

  it('are their samples where neither side has them', async () => {
    const sampled = {
      ...campaign('hello', DAILY, 12, '{ csv: people.csv, sample: sample.csv }'),
      ...ignored('hello'),
      'campaigns/hello/sample.csv': people(3),
    };
    const diff = await changed(sampled, { 'campaigns/hello/sample.csv': people(4) }, { days: 1 });
    expect(shown(diff).answer).toBe('In the next day this change sends 1 message more: 4 instead of 3.');
  });

  it('are missed where there is no sample', async () => {
    const diff = await changed({ ...campaign('hello'), ...ignored('hello') }, {});
    expect(diffText(diff)).toMatch(/\n {2}HEAD: campaigns\/hello\/campaign\.yaml:5:13: .*\[file-not-found\]\n/);
    expect(diff.rehearsal.before.errors).toEqual(diff.rehearsal.after.errors);
  });

  it('are as old on both sides as in the work tree', async () => {
    const now = Math.ceil(Date.now() / DAY) * DAY;
    using repository = createRepository({
      'handbill.yaml': '{}\n',
      ...campaign('hello', DAILY, 12, '{ csv: people.csv, maxAge: 12d }'),
    });
    repository.write({ 'handbill.yaml': 'timeZone: UTC\n' });
    const old = now / 1000 - 10 * 24 * 3600;
    utimesSync(join(repository.root, 'campaigns/hello/people.csv'), old, old);
    const { rehearsal } = await play(repository, { now: () => now });
    expect([totals(rehearsal.after), rehearsal.changes]).toEqual([
      { messages: 24, parts: 24, 'cannot begin (list-too-old)': 1 },
      [],
    ]);
  });
});

describe('a side that cannot be played', () => {
  it('is named, with what the other side sends; no day is compared', async () => {
    const broken = { 'campaigns/hello/campaign.yaml': 'name: hello\nschedule: [\n' };
    const before = await changed({ ...campaign('hello'), ...broken }, campaign('hello'));
    expect(shown(before)).toEqual({
      answer: 'The next 3 days cannot be compared: HEAD cannot be played. work tree sends 36 messages.',
      rows: [],
    });
    expect(diffText(before)).toMatch(/\n {2}HEAD: campaigns\/hello\/campaign\.yaml:3:/);
    const after = await changed(campaign('hello'), broken);
    expect(shown(after).answer).toBe(
      'The next 3 days cannot be compared: work tree cannot be played. HEAD sends 36 messages.',
    );
    const environments = 'environments:\n  test: { baseUrl: "http://127.0.0.1:9", apiKey: { env: NO_SUCH_KEY } }\n';
    const added = await changed(campaign('hello'), { 'handbill.yaml': environments }, { environment: 'test' });
    expect(shown(added).answer).toContain('HEAD cannot be played. work tree sends 36 messages.');
  });

  it('is not all of a side where one campaign has an error', async () => {
    const broken = { 'campaigns/second/campaign.yaml': 'name: second\nchannel: sms\nschedule: { cron: never }\n' };
    const diff = await changed({ ...campaign('hello'), ...campaign('second') }, broken);
    expect(shown(diff).answer).toBe('In the next 3 days this change sends 36 messages fewer: 36 instead of 72.');
    expect(diffText(diff)).toMatch(/\n {2}second: cannot be read \([a-z-]+\): 0 -> 1\n/);
    // Its errors are of no day.
    expect(shown(diff).rows).toEqual(['Mon 30 Nov to Wed 2 Dec, 3 days | second | 12 -> - | 12 -> - | 09:00 -> -']);
    expect(diff.rehearsal.after.campaigns['hello']).toEqual({ messages: 36, parts: 36 });
    const both = await changed({ ...campaign('hello'), ...campaign('second'), ...broken }, { 'note.txt': 'x' });
    expect(shown(both).answer).toBe(
      'In the next 3 days nothing differs: 36 messages. Without campaigns/second/campaign.yaml: not readable on either side.',
    );
  });
});

it('a campaign whose name is not valid is named by its file, and is not left out of the answer', async () => {
  const named = (name: string) => JSON.stringify({ name, template: { text: 'x' }, schedule: { cron: 'never' } });
  const diff = await changed(campaign('hello'), {
    'campaigns/a/campaign.yaml': named('__proto__'),
    'campaigns/b/campaign.yaml': named('- @all\nx'),
  });
  expect(Object.keys(diff.rehearsal.after.campaigns).sort()).toEqual([
    'campaigns/a/campaign.yaml',
    'campaigns/b/campaign.yaml',
    'hello',
  ]);
  expect(shown(diff)).toEqual({
    answer: 'In the next 3 days this change sends as many messages as before: 36.',
    rows: [],
  });
});

describe('the forms', () => {
  const before = { ...PRICES, ...campaign('hello'), ...campaign('second') };
  const after = {
    ...campaign('hello', `${DAILY}frequency: { max: 2, per: 2d }\n`, 13),
    ...campaign('third', DAILY, 3),
  };
  const schema: object = JSON.parse(readFileSync(join(import.meta.dirname, '../../schemas/diff.schema.json'), 'utf8'));

  it('are text, Markdown and JSON without an address, a name or a temporary path', async () => {
    using repository = createRepository(before);
    repository.write(after);
    const diff = await play(repository);
    const texts = { text: diffText(diff), markdown: diffMarkdown(diff), json: JSON.stringify(diff) };
    for (const text of Object.values(texts)) {
      for (const secret of [tmpdir(), 'handbill-diff', '4477009', 'N11']) expect(text).not.toContain(secret);
    }
    expect(texts.text.split('\nhello\n')[0]).toMatchInlineSnapshot(`
      "From HEAD (c55d5e1f) to the work tree, environment sandbox.

      In the next 3 days this change sends 3 messages fewer and costs 0.12 GBP less: 69 instead of 72.

        hello: skipped: frequency-cap: 0 -> 15
        most messages to one person: 6 -> 7

        day                              campaign  messages  parts     cost                  sent        not sent
        Mon 30 Nov                       hello     12 -> 13  12 -> 13  0.48 GBP -> 0.52 GBP  09:00
        Mon 30 Nov to Wed 2 Dec, 3 days  third     - -> 3    - -> 3    - -> 0.12 GBP         - -> 09:00
        Tue 1 Dec                        hello     12 -> 1   12 -> 1   0.48 GBP -> 0.04 GBP  09:00       skipped: frequency-cap: 0 -> 12
        Wed 2 Dec                        hello     12 -> 10  12 -> 10  0.48 GBP -> 0.40 GBP  09:00       skipped: frequency-cap: 0 -> 3

      Played from Mon 30 Nov 00:02 to Thu 3 Dec 00:00 (UTC) in sandbox. Assumed: Nothing was sent before: there is no ledger at .handbill/ledger.db. \`handbill due\` is called every 1m. Files and lists stay as they are now. The API accepts every message. Where no rate is set, it takes them all at once.
      "
    `);
    expect(texts.markdown.split('\n| campaign |')[0]).toMatchInlineSnapshot(`
      "<!-- handbill diff -->
      ### handbill: what this change means

      From HEAD (c55d5e1f) to the work tree, environment sandbox.

      **In the next 3 days this change sends 3 messages fewer and costs 0.12 GBP less: 69 instead of 72.**

      - hello: skipped: frequency-cap: 0 → 15
      - most messages to one person: 6 → 7

      | day | campaign | messages | parts | cost | sent | not sent |
      | --- | --- | --- | --- | --- | --- | --- |
      | Mon 30 Nov | hello | 12 → 13 | 12 → 13 | 0.48 GBP → 0.52 GBP | 09:00 |  |
      | Mon 30 Nov to Wed 2 Dec, 3 days | third | - → 3 | - → 3 | - → 0.12 GBP | - → 09:00 |  |
      | Tue 1 Dec | hello | 12 → 1 | 12 → 1 | 0.48 GBP → 0.04 GBP | 09:00 | skipped: frequency-cap: 0 → 12 |
      | Wed 2 Dec | hello | 12 → 10 | 12 → 10 | 0.48 GBP → 0.40 GBP | 09:00 | skipped: frequency-cap: 0 → 3 |

      Played from Mon 30 Nov 00:02 to Thu 3 Dec 00:00 (UTC) in sandbox. Assumed: Nothing was sent before: there is no ledger at .handbill/ledger.db. &#96;handbill due&#96; is called every 1m. Files and lists stay as they are now. The API accepts every message. Where no rate is set, it takes them all at once.
      "
    `);
    const isValid = new Ajv({ strict: false, allErrors: true }).compile(schema);
    expect([isValid(JSON.parse(texts.json)), isValid.errors]).toEqual([true, null]);
    const left = readdirSync(tmpdir()).filter(
      (name) => name.startsWith(`handbill-`) && name.includes(`-${process.pid}.`),
    );
    expect(left).toEqual([]);
  });

  it('holds no markup but its own, and folds a long table', async () => {
    const broken = { 'campaigns/@octocat/campaign.yaml': 'schedule: [\n' };
    const { rehearsal, ...diff } = await changed({}, { ...campaign('a', DAILY, 1), ...broken }, { days: 1 });
    const changes = Array.from({ length: 22 }, (_, i) =>
      rehearsal.changes.map((change) => ({ ...change, campaign: change.campaign.replace(/^a$/, `a-${i}`) })),
    ).flat();
    const markdown = diffMarkdown({ ...diff, rehearsal: { ...rehearsal, changes } });
    expect(markdown).toContain('<summary><code>days</code></summary>');
    expect(markdown).toContain('| Mon 30 Nov | a-21 |');
    expect(markdown).toContain('- campaigns/&#64;&#8288;octocat/campaign.yaml: cannot be read');
  });

  test.each([
    ['0', 'whole number from 1 to 92'],
    ['93', 'whole number from 1 to 92'],
  ])('--days %s is refused', async (days, said) => {
    using repository = createRepository({ 'handbill.yaml': '{}\n' });
    const { status, stderr } = await runHere(['diff', '--days', days], { cwd: repository.root });
    expect([status, stderr]).toEqual([2, expect.stringContaining(said)]);
  });
});

describe('a user who begins', () => {
  it('sees what a schedule does, and a longer list', async () => {
    using repository = createRepository({});
    const run = (...args: string[]) => runHere(args, { cwd: repository.root, now: () => START });
    expect((await run('init')).status).toBe(0);
    // As its README says: who wants no follow-ups deletes them.
    for (const end of [2, 3]) rmSync(join(repository.root, `campaigns/hello-${end}`), { recursive: true });
    repository.git('add', '--all');
    repository.git('commit', '--quiet', '--message', 'begin');
    const file = 'campaigns/hello/campaign.yaml';
    const text = readFileSync(join(repository.root, file), 'utf8');
    repository.write({ [file]: `${text}schedule: { cron: 0 9 * * 1-5 }\n` });
    const first = await run('diff', '--days', '5');
    expect(first.stdout).toMatch(/\nIn the next 5 days this change sends \d+ messages more: \d+ instead of 0\.\n/);
    expect(first.stdout).toMatch(/Mon 30 Nov to Fri 4 Dec, 5 days +hello +- -> 3 /);
    repository.commit({});
    const list = 'campaigns/hello/people.csv';
    repository.write({ [list]: `${readFileSync(join(repository.root, list), 'utf8')}+447700900019,Zed,R-1009\n` });
    expect((await run('diff', '--days', '5')).stdout).toContain('sends 5 messages more: 20 instead of 15.');
    const unread = await run('diff', '--ledger', '.handbill/other.db');
    expect([unread.status, unread.stderr]).toEqual([2, expect.stringContaining('Without --days no ledger is read.')]);
  });
});

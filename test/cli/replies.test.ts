import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { Reply } from '../../src/model.ts';
import { exportReplies, listReplies, REPLY_FIELDS, reviewReplies } from '../../src/operations/replies.ts';
import { replyOf } from '../helpers/events.ts';
import { formatAjv } from '../helpers/format-schemas.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { endedRun, withLedger } from '../ledger/given.ts';
import { loadRow, NOON } from '../ledger/values.ts';
import { handbillHere } from './in-process.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const MINUTE = 60_000;
const NOW = NOON + 60 * MINUTE;
const CAMPAIGN = 'campaigns/survey/campaign.yaml';
const FORMULA = '=HYPERLINK("http://x","y")';

const numberOf = (row: number): string => `+44770090000${row}`;

let project: TestProject;

beforeEach(() => {
  project = createProject({
    'handbill.yaml': 'defaultCountry: GB\n',
    [CAMPAIGN]:
      'name: survey\nchannel: sms\ntemplate: { text: "How was it, {{name}}?" }\nrecipients: { csv: people.csv, key: id }\n',
    'campaigns/survey/people.csv': `id,msisdn,name,text\nA,${numberOf(1)},Ada,t1\nB,${numberOf(2)},"Bob, ""B""",t2\n`,
  });
  inLedger((ledger) => {
    for (const [campaign, atMs] of [
      ['other', NOON - MINUTE],
      ['survey', NOON],
    ] as const) {
      const list = ['A', 'B', 'C'].map((key, row) =>
        loadRow(row, { key: `${campaign === 'other' ? 'other-' : ''}${key}`, to: numberOf(row + 1), variant: 'v' }),
      );
      const inputs = [{ role: 'campaign', file: CAMPAIGN, sha256: '' } as const];
      endedRun(ledger, list, [{}, {}, {}], { campaign, inputs, nowMs: atMs });
    }
    ledger.events.record(
      [
        reply(1, 'Very good, thanks'),
        reply(2, FORMULA),
        reply(3, "please don't\u001b[2J stop, call +44 7700 900 777", { meaning: 'review' }),
        reply(9, 'who is this?', { meaning: 'review', atMs: null }),
      ],
      { nowMs: NOON + 20 * MINUTE, source: 'webhook', environment: 'sandbox' },
    );
  }, NOON - MINUTE);
});
afterEach(() => project[Symbol.dispose]());

const inLedger = <T>(use: (ledger: Ledger) => T, nowMs = NOW): T =>
  withLedger(project.path('.handbill/ledger.db'), nowMs, use);

function reply(person: number, text: string, changes: Partial<Reply> = {}): Reply {
  const written = { to: '60300', channel: 'sms', text, atMs: NOON + (10 + person) * MINUTE } as const;
  return replyOf({ from: numberOf(person), ...written, ...changes });
}

const run = (...args: readonly string[]) => handbillHere(project.root, ['replies', ...args], { now: () => NOW });
const options = () => ({ cwd: project.root, env: {}, now: () => NOW });
const suppressed = () => inLedger((ledger) => [...ledger.suppressions()].map(({ address }) => address));

describe('handbill replies', () => {
  it('shows them newest first, with what they answer, and nothing that a terminal obeys', async () => {
    const { status, out, err } = await run();
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect(out).toMatchInlineSnapshot(`
      "id  written (UTC)     from           meaning  campaign
       4  2026-11-21 12:20  +44••••••0009  review
          who is this?
       3  2026-11-21 12:13  +44••••••0003  review   survey
          please don't\\u{1b}[2J stop, call +44••••••••• 777
       2  2026-11-21 12:12  +44••••••0002  answer   survey
          =HYPERLINK("http://x","y")
       1  2026-11-21 12:11  +44••••••0001  answer   survey
          Very good, thanks

      2 replies waiting for review: handbill replies review
      "
    `);
    expect((await run('list')).out).toBe(out);
    expect((await run('--full')).out).toContain(
      `${numberOf(3)}  review   survey    please don't\\u{1b}[2J stop, call +44 7700 900 777`,
    );
  });

  it.each<[args: readonly string[], ids: readonly number[]]>([
    [[], [4, 3, 2, 1]],
    [
      ['--campaign', 'survey'],
      [3, 2, 1],
    ],
    [['--campaign', 'other'], []],
    [
      ['--meaning', 'review'],
      [4, 3],
    ],
    [
      ['--meaning', 'review', 'answer', '--campaign', 'survey'],
      [3, 2, 1],
    ],
    [
      ['--since', '2026-11-21T12:12:30Z'],
      [4, 3],
    ],
    [
      ['--since', '48m'],
      [4, 3, 2],
    ],
    [['--since', '2026-11-22'], []],
    [['--questions'], [4]],
  ])('%j', async (args, ids) => {
    const { out } = await run(...args, '--format', 'jsonl');
    expect(jsonLines(out).map(({ id }) => id)).toEqual(ids);
  });

  it('writes times as a clock in the zone of the project shows them, as do the other commands', async () => {
    project.write('handbill.yaml', 'defaultCountry: GB\ntimeZone: Asia/Kolkata\n');
    const { out } = await run();
    expect(out).toContain('written (Asia/Kolkata)');
    expect(out).toMatch(/^ *4 +2026-11-21 17:50 /m);
    const person = await handbillHere(project.root, ['person', numberOf(1)], { now: () => NOW });
    expect(person.out).toContain('2026-11-21 17:41:00 GMT+5:30  survey  answer');
  });

  it('says the same as a function, as JSON that its schema describes, and as CSV', async () => {
    const replies = await listReplies(options());
    const { replies: shown, ...rest } = JSON.parse((await run('--format', 'json')).out);
    expect(rest).toEqual({ version: 1 });
    expect(shown).toEqual(replies);
    expect(replies[2]).toEqual({
      id: 2,
      from: numberOf(2),
      to: '60300',
      channel: 'sms',
      text: FORMULA,
      meaning: 'answer',
      optsOutOf: null,
      at: '2026-11-21T12:12:00.000Z',
      receivedAt: '2026-11-21T12:20:00.000Z',
      source: 'webhook',
      run: expect.stringMatching(/^survey-[0-9a-f]{8}$/),
      campaign: 'survey',
      environment: 'sandbox',
      occurrence: 'once',
      line: 3,
      key: 'B',
      variant: 'v',
      reviewedBy: null,
      reviewedAt: null,
    });
    const schema = JSON.parse(readFileSync(join(ROOT, 'schemas/replies.schema.json'), 'utf8'));
    const check = formatAjv({ strict: false, allErrors: true }).compile(schema);
    expect(check({ version: 1, replies: shown }), JSON.stringify(check.errors)).toBe(true);
    expect(schema.definitions.reply.required).toEqual([...REPLY_FIELDS]);
    const file = project.path('out.csv');
    expect((await run('--format', 'csv', '-o', file)).err).toMatch(/^Written: .*\/out\.csv \([0-9,]+ bytes\)\n$/);
    expect(await run('--format', 'csv', '-o', file, '-q')).toMatchObject({ status: 0, out: '', err: '' });
    const [head, ...rows] = parse(readFileSync(file, 'utf8')) as string[][];
    expect(head).toEqual([...REPLY_FIELDS]);
    // S20: what a spreadsheet would run.
    expect(rows[2]?.slice(0, 5)).toEqual(['2', `'${numberOf(2)}`, '60300', 'sms', `'${FORMULA}`]);
  });

  it.each<[label: string, args: readonly string[], says: RegExp]>([
    ['an unknown campaign', ['--campaign', 'surveys'], /Did you mean "survey"/],
    ['a time that is none', ['--since', 'yesterday'], /--since "yesterday" is no time/],
    ['ids without a meaning', ['review', '3'], /The meaning of the replies is missing/],
    ['a meaning without ids', ['review', '--as', 'answer'], /The ids of the replies are missing/],
    ['an id that is none', ['review', '--as', 'answer', 'x'], /Give a whole number/],
    ['an unknown id', ['review', '--as', 'opt-out', '3', '99'], /holds no reply 99/],
    ['nobody', ['review', '--as', 'opt-out', '3', '--by', ' '], /--by is empty/],
    ['an export of an unknown campaign', ['export', 'surveys'], /Did you mean "survey"/],
  ])('%s is refused, and changes nothing', async (_, args, says) => {
    const { status, err } = await run(...args);
    expect(status).toBe(2);
    expect(err).toMatch(says);
    expect(suppressed()).toEqual([]);
    expect((await listReplies(options())).filter(({ reviewedBy }) => reviewedBy !== null)).toEqual([]);
  });

  it('has nothing to say where nothing was ever sent', async () => {
    using empty = createProject({ 'handbill.yaml': '' });
    expect(await handbillHere(empty.root, ['replies'])).toMatchObject({ status: 0, out: 'No replies.\n' });
    expect(await handbillHere(empty.root, ['replies', 'review', '--as', 'answer', '1'])).toMatchObject({ status: 2 });
  });
});

describe('handbill replies review', () => {
  it('lists what a person has to read, without a terminal', async () => {
    const { out } = await run('review', '--format', 'jsonl');
    expect(jsonLines(out).map(({ id }) => id)).toEqual([4, 3]);
  });

  it('records who resolved it and when, and suppresses at once a sender who opts out', async () => {
    const { status, out } = await run('review', '--as', 'opt-out', '3', '--by', 'jane');
    expect({ status, out }).toEqual({ status: 0, out: '1 reply entered as opt-out. 1 address suppressed since.\n' });
    expect(suppressed()).toEqual([numberOf(3)]);
    expect((await run('review', '--as', 'answer', '4', '2', '-q')).out).toBe('');
    expect(suppressed()).toEqual([numberOf(3)]);
    const [fourth, third] = await listReplies(options());
    expect(third).toMatchObject({ meaning: 'opt-out', reviewedBy: 'jane', reviewedAt: new Date(NOW).toISOString() });
    expect(fourth).toMatchObject({ meaning: 'answer', reviewedBy: expect.stringContaining('@') });
    expect((await run('review')).out).toBe('No replies.\n');
  });

  it('says whose decision a later one replaces', async () => {
    await run('review', '--as', 'answer', '3', '--by', 'jane');
    const { out } = await run('review', '--as', 'opt-out', '3', '--by', 'ann');
    expect(out).toContain('jane entered it as answer before; this replaces it.');
    const late = await reviewReplies([3, 4], { ...options(), as: 'answer', by: 'bo', onlyUnread: true });
    expect(late).toMatchObject({ reviewed: 0, earlier: [{ id: 3, meaning: 'opt-out', reviewedBy: 'ann' }] });
  });

  it('takes back an opt-out only where the project says so', async () => {
    await reviewReplies([3], { ...options(), as: 'opt-out', by: 'jane' });
    expect(await reviewReplies([3], { ...options(), as: 'opt-in', by: 'jane' })).toMatchObject({ lifted: [] });
    project.write('handbill.yaml', 'webhook: { replies: { startLifts: true } }\n');
    const done = await reviewReplies([3], { ...options(), as: 'opt-in', by: 'jane' });
    expect(done).toMatchObject({ lifted: [numberOf(3)] });
    expect(suppressed()).toEqual([]);
  });
});

describe('handbill replies export', () => {
  it('writes the replies to a campaign, oldest first, with the rows of the list', async () => {
    const file = project.path('answers.csv');
    const { status, err } = await run('export', 'survey', '-o', file);
    const text = readFileSync(file, 'utf8');
    const size = `3 replies, ${Buffer.byteLength(text).toLocaleString('en')} bytes`;
    expect({ status, err }).toEqual({ status: 0, err: `Written: ${file} (${size})\n` });
    const rows = parse(text, { columns: true }) as Record<string, string>[];
    expect(rows.map(({ key, name }) => [key, name])).toEqual([
      ['A', 'Ada'],
      ['B', 'Bob, "B"'],
      ['C', ''],
    ]);
    expect(rows[1]).toEqual({
      key: 'B',
      from: `'${numberOf(2)}`,
      text: `'${FORMULA}`,
      meaning: 'answer',
      at: '2026-11-21T12:12:00.000Z',
      variant: 'v',
      environment: 'sandbox',
      occurrence: 'once',
      id: 'B',
      msisdn: `'${numberOf(2)}`,
      name: 'Bob, "B"',
      'list.text': 't2',
    });
  });

  it('writes JSON lines, and is a function', async () => {
    const { out } = await run('export', 'survey', '--format', 'jsonl', '--meaning', 'answer');
    const { replies } = await exportReplies('survey', { ...options(), meanings: ['answer'] });
    expect(jsonLines(out)).toEqual(replies);
    expect(replies[0]?.row).toEqual({ id: 'A', msisdn: numberOf(1), name: 'Ada', text: 't1' });
  });

  it('leaves the columns away, and says so, where the list cannot be read any more', async () => {
    project.write('campaigns/survey/people.csv', 'nothing\n1\n');
    const { status, out, err } = await run('export', 'survey');
    expect(status).toBe(0);
    expect(err).toMatch(/warning.*no column "msisdn"/s);
    expect(out.split('\r\n')[0]).toBe('"key","from","text","meaning","at","variant","environment","occurrence"');
    expect(out.split('\r\n')).toHaveLength(5);
  });
});

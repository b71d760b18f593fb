import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { WRITERS } from '../../src/cli/preview/formats.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openExistingLedger, openLedger } from '../../src/ledger/open.ts';
import { previewRows } from '../../src/operations/preview.ts';
import { send } from '../../src/operations/send.ts';
import { createHasher } from '../../src/suppression/hash.ts';
import { recipientsIn, useApi } from '../helpers/api.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

/** Monday; 12:00 in London, 07:00 in New York, 21:00 in Tokyo. */
const NOON = Date.parse('2026-11-23T12:00:00Z');
const HOUR = 3_600_000;
const KEY = 'a key of more than sixteen bytes';

const NUMBERS = [
  ...['+442079460001', '+442079460002', '+442079460003', '+442079460004', '+442079460005', '+442079460006'],
  ...['+12125550101', '+12125550102', '+12125550103', '+81312340001', '+351912345678', '+18005550199'],
];
const ROWS = NUMBERS.map((number, n) => `${number},Name ${n},${n}`);
/** A recipient twice, and an empty list. */
const LIST = ['msisdn,name,age', ...ROWS, ROWS[2], '12,Nobody,3'].join('\n');

type Lines = Readonly<Record<string, unknown>>;

/** A rule as a campaign says it, and what is in the ledger for it. */
interface Rule {
  readonly lines?: Lines;
  readonly ledger?: (ledger: Ledger) => void;
  /** What comes into it before the run goes on. */
  readonly later?: (ledger: Ledger) => void;
  /** What must come of it by itself, so that the comparison compares something. */
  readonly shows: string;
}

const facts = { reason: 'STOP', untilMs: null, source: 'user', nowMs: NOON - HOUR };
const hasher = createHasher(Buffer.from(KEY));

const RULES: Readonly<Record<string, Rule>> = {
  'a list in the ledger': {
    ledger: (ledger) => ledger.suppress(NUMBERS[0] ?? '', facts),
    shows: 'skip suppressed',
  },
  'hashes in the ledger': {
    ledger: (ledger) => {
      const entry = { reason: null, untilMs: null, source: 'import', keyId: hasher.keyId };
      ledger.suppressAll([], [{ ...entry, hash: hasher.hash(NUMBERS[1] ?? '') }], NOON - HOUR);
    },
    shows: 'skip suppressed',
  },
  'a list in a file': { lines: { suppressions: '../gone.csv' }, shows: 'skip suppressed' },
  exclude: { lines: { exclude: ['earlier'] }, shows: 'skip excluded' },
  'a cap by day': { lines: { frequency: { max: 1, per: 'day' } }, shows: 'skip frequency-cap' },
  'a rolling cap': { lines: { frequency: { max: 1, per: '3h' } }, shows: 'skip frequency-cap' },
  'a window': { lines: { send: { window: { from: '09:00', to: '20:00' } } }, shows: 'defer outside-window' },
  'a window that opens too late': {
    lines: { send: { window: { from: '16:00', to: '20:00', timeZone: 'Europe/London' } }, validity: '2h' },
    shows: 'skip window-closed',
  },
  'a time that has passed': { lines: { send: { notAfter: '2026-11-23T11:00:00Z' } }, shows: 'skip expired' },
  'a validity that ends': { lines: { validity: '2h' }, shows: 'send' },
  'a time that passes': { lines: { send: { notAfter: '2026-11-23T17:00:00Z' } }, shows: 'send' },
  'opt-outs meanwhile': {
    later: (ledger) => ledger.suppress(NUMBERS[6] ?? '', { ...facts, nowMs: NOON + HOUR }),
    shows: 'send',
  },
  'a segment': { lines: { recipients: { where: { age: { $lt: 7 } } } }, shows: 'skip excluded' },
  'a test': {
    lines: {
      template: null,
      variants: [
        { name: 'A', template: { text: 'A for all' } },
        { name: 'B', template: { text: 'B for all' } },
      ],
      test: '50%',
      holdout: '20%',
    },
    shows: 'defer winner-undecided',
  },
  'requests for several': { lines: { send: { recipientsPerRequest: 4 } }, shows: 'send' },
  'a canary': { lines: { send: { canary: { steps: [2], gate: { accepted: '90%' } } } }, shows: 'send' },
};

const names = Object.keys(RULES);
const pairs = names.flatMap((one, at) => names.slice(at + 1).map((other) => `${one} + ${other}`));
/** No recipient is sent to any more when the winner is named. */
const WAITED_IN_VAIN = 'a time that passes + a test';

/** Every rule, and of the pairs each seventh; with HANDBILL_FULL=1 all of them. */
const TABLE = [
  ...names,
  ...pairs.filter((pair, at) => process.env['HANDBILL_FULL'] === '1' || at % 7 === 0 || pair === WAITED_IN_VAIN),
  // A recipient who waits is left out by two rules when the run goes on.
  'a window + a time that passes + opt-outs meanwhile',
];

/** A ledger in which the campaign `earlier` was sent to every third of them. */
let sentBefore: string | null = null;
const api = useApi((body, number) => {
  const messages = recipientsIn(body).map(({ msisdn }, n) => ({ to: msisdn, id: `m-${number}-${n}` }));
  const answer = messages.length === 1 ? { messageId: messages[0]?.id } : { messages };
  return { status: 202, body: JSON.stringify(answer) };
});
afterAll(() => {
  if (sentBefore !== null) rmSync(sentBefore, { recursive: true });
});

const env = { HANDBILL_SUPPRESSION_KEY: KEY, API_KEY: 'k'.repeat(20) };

it.each(TABLE)('what preview says at an instant is what send does then: %s', async (label) => {
  using here = await projectWith(label.split(' + '));
  const ledger = join(here.root, '.handbill', 'ledger.db');
  // At once; when other windows are open; and when the day has ended everywhere.
  for (const [at, hours] of [0, 7, 24].entries()) {
    const now = (): number => NOON + hours * HOUR;
    if (at > 0) changeLedger(ledger, label, now(), (rule) => rule.later);
    const said = await previewed(here, now);
    if (at === 0 && !label.includes(' + '))
      expect(said.decisions.map(({ text }) => text)).toContain(RULES[label]?.shows);
    api.bodies.length = 0;
    const before = outcomesOf(ledger);
    await send('hello', { cwd: here.root, env, now, environment: 'test', confirm: async () => true, random: () => 0 });
    const became = outcomesOf(ledger);
    expect(said.decisions.map(({ line, text }) => `${line} ${expected(text, before.get(line))}`)).toEqual(
      said.decisions.map(({ line }) => `${line} ${became.get(line)}`),
    );
    // A step of a canary ends in the middle of a request that preview shows as one: who gets what is the same.
    const shown = label.endsWith('requests for several + a canary') ? apart : (all: readonly string[]) => all;
    expect(shown(api.bodies).toSorted()).toEqual(shown(said.bodies).toSorted());
  }
});

/** The same requests, for one recipient each. */
function apart(all: readonly string[]): string[] {
  return all.flatMap((body) => {
    const whole = JSON.parse(body) as { readonly recipients: readonly unknown[] };
    return whole.recipients.map((one) => JSON.stringify({ ...whole, recipients: [one] }));
  });
}

/** What a decision makes of a row; a row that is done stays as it was. */
function expected(text: string, before: string | undefined): string | undefined {
  if (text === 'send') return 'accepted';
  if (text.startsWith('done')) return before;
  return text.replace('skip ', 'skipped ').replace('defer ', 'deferred ');
}

async function projectWith(some: readonly string[]): Promise<TestProject> {
  const here = createProject({
    'handbill.yaml': JSON.stringify({
      suppressionKey: { env: 'HANDBILL_SUPPRESSION_KEY' },
      environments: { test: { baseUrl: api.url, apiKey: { env: 'API_KEY' } } },
    }),
    'gone.csv': `msisdn,hash\n0044 20 7946 0003,\n,hb1:${hasher.keyId}:${hasher.hash('+12125550101')}\n`,
  });
  const recipients = { csv: 'list.csv', columns: { age: 'number' }, onInvalid: 'skip' };
  const base = { channel: 'sms', from: 'Riverside', template: { text: 'Hi all' }, recipients };
  const rules = some.map((name) => RULES[name] ?? { shows: '' });
  const lines = rules.reduce<Lines>((all, { lines = {} }) => merged(all, lines), { name: 'hello', ...base });
  here.write('hello/campaign.yaml', JSON.stringify(withoutNull(lines)));
  here.write('hello/list.csv', `${LIST}\n`);
  here.write('earlier/campaign.yaml', JSON.stringify({ name: 'earlier', ...base }));
  here.write('earlier/list.csv', `${['msisdn,name,age', ...ROWS.filter((_, n) => n % 3 === 0)].join('\n')}\n`);
  if (sentBefore === null) {
    const at = { cwd: here.root, env, now: () => NOON - 2 * HOUR, environment: 'test', confirm: async () => true };
    await send('earlier', at);
    sentBefore = mkdtempSync(join(tmpdir(), 'handbill-sent-before-'));
    cpSync(join(here.root, '.handbill'), sentBefore, { recursive: true });
  } else cpSync(sentBefore, join(here.root, '.handbill'), { recursive: true });
  changeLedger(join(here.root, '.handbill', 'ledger.db'), some.join(' + '), NOON - HOUR, (rule) => rule.ledger);
  return here;
}

function changeLedger(path: string, label: string, nowMs: number, of: (rule: Rule) => Rule['ledger']): void {
  const ledger = openLedger(path, { mode: 'write', nowMs });
  for (const name of label.split(' + ')) of(RULES[name] ?? { shows: '' })?.(ledger);
  ledger.close();
}

function merged(one: Lines, other: Lines): Lines {
  const result: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const both = isMap(value) && isMap(result[name]);
    result[name] = both ? merged(result[name] as Lines, value as Lines) : value;
  }
  return result;
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withoutNull(lines: Lines): Lines {
  return Object.fromEntries(Object.entries(lines).filter(([, value]) => value !== null));
}

/** The rows of `--format jsonl`. */
async function previewed(here: TestProject, now: () => number) {
  const shown = await previewRows('hello', { cwd: here.root, env, now, environment: 'test' });
  try {
    let text = '';
    const all = { limit: null, key: null, line: null, width: 80 };
    for await (const chunk of WRITERS.jsonl(shown, all)) text += chunk;
    const rows = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
    const requests = text.matchAll(/"body":(\{.*\})\}[,}]/g);
    return {
      decisions: rows.map(({ line, decision, reason }) => ({ line, text: `${decision} ${reason ?? ''}`.trim() })),
      bodies: [...requests].map(([, body = '']) => body),
    };
  } finally {
    shown.close();
  }
}

interface Row {
  readonly line: number;
  readonly decision: string;
  readonly reason: string | null;
}

/** By line: `accepted`, `skipped frequency-cap` ... */
function outcomesOf(path: string): ReadonlyMap<number, string> {
  const ledger = openExistingLedger(path, { nowMs: NOON });
  try {
    const run = ledger?.findRun({ environment: 'test', campaign: 'hello', occurrence: 'once' }) ?? null;
    if (ledger === null || run === null) return new Map();
    const all = [...ledger.outcomes(run)].flat();
    return new Map(all.map(({ line, outcome, reason }) => [line, `${outcome} ${reason ?? ''}`.trim()]));
  } finally {
    ledger?.close();
  }
}

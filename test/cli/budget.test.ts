import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Report } from '../../src/model.ts';
import { startCli, until } from '../helpers/cli.ts';
import { runHere } from '../helpers/here.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { accepting, afterMs, type RawServer, startRawServer } from '../helpers/raw-server.ts';

const KEY = { HANDBILL_TEST_KEY: 'key-for-tests-only' };
const ROWS = 200;
/** Of a message. */
const PRICE = 0.04;

let server: RawServer;
let seen = 0;
beforeAll(async () => {
  server = await startRawServer();
});
afterAll(async () => await server.close());
beforeEach(() => {
  seen = 0;
  answers(afterMs(2, accepting()));
});

function answers(behaviour: RawServer['behaviour']): void {
  server.behaviour = (request) => {
    seen += 1;
    behaviour(request);
  };
}

/** No answer before both campaigns have begun: each was let through by the check before its first request. */
function togetherBehaviour(): RawServer['behaviour'] {
  const begun = new Set<string>();
  const held: (() => void)[] = [];
  const accept = afterMs(2, accepting());
  return (request) => {
    for (const name of ['sale', 'news']) if (request.body.includes(`from ${name}`)) begun.add(name);
    held.push(() => accept(request));
    if (begun.size === 2) for (const go of held.splice(0)) go();
  };
}

interface Given {
  readonly messages: number;
  readonly rows?: number;
  readonly prices?: string | null;
  readonly more?: string;
  readonly per?: string;
}

/** A project whose environment may spend what so many messages cost; campaigns `sale` and `news` to the same list. */
function project({ messages, rows = ROWS, prices = 'GB,0.04', more = '', per = 'month' }: Given): TestProject {
  const list = Array.from({ length: rows }, (_, i) => `+4477009${String(i).padStart(5, '0')}\n`).join('');
  const campaign = (name: string): string =>
    `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hello from ${name} }\nrecipients: people.csv\nsend: { concurrency: 4 }\n${more}`;
  const max = Number((messages * PRICE).toFixed(2));
  return createProject({
    'handbill.yaml': `${prices === null ? '' : 'prices: prices.csv\n'}environments:\n  test: { baseUrl: "${server.url.replace('/v2/messages', '')}", apiKey: { env: HANDBILL_TEST_KEY }, budget: { max: ${max}, per: ${per} } }\n`,
    'prices.csv': `country,price,currency\n${(prices ?? '').replace(',0.04', ',0.04,EUR')}\n`,
    'campaigns/sale/campaign.yaml': campaign('sale'),
    'campaigns/sale/people.csv': `msisdn\n${list}`,
    'campaigns/news/campaign.yaml': campaign('news'),
    'campaigns/news/people.csv': `msisdn\n${list}`,
  });
}

const cli = (at: TestProject, ...args: string[]) => runHere(args, { cwd: at.root, env: KEY });
const cliAt = (at: TestProject, now: string, ...args: string[]) =>
  runHere(args, { cwd: at.root, env: KEY, now: () => Date.parse(now) });
const SEND = ['send', '--env', 'test', '--yes', '--format', 'json'];
const sendHere = (at: TestProject, name: string) => cli(at, ...SEND, name);
/** In a separate process: beside another, or to be killed. */
const begin = (at: TestProject, name: string, ...args: string[]) =>
  startCli([...SEND, name, ...args], { cwd: at.root, env: KEY });

/** Messages that the ledger counts as spent. */
function spentIn(at: TestProject): number {
  const db = new DatabaseSync(at.path('.handbill/ledger.db'), { readOnly: true });
  const sum = db.prepare('SELECT coalesce(sum(spent_micros), 0) AS sum FROM budgets').get()?.['sum'];
  db.close();
  return Math.round(Number(sum) / (PRICE * 1e6));
}

describe('two campaigns at a time on one ledger (A7)', () => {
  it('never spend more together than the budget; who has no room halts, and all recipients are accounted for', async () => {
    using at = project({ messages: 250 });
    answers(togetherBehaviour());
    const ended = await Promise.all(['sale', 'news'].map((name) => begin(at, name).done));
    const reports = ended.map(({ stdout }) => JSON.parse(stdout) as Report);
    expect(seen).toBe(250);
    expect(reports.reduce((sum, { totals }) => sum + totals.accepted, 0)).toBe(250);
    expect(spentIn(at)).toBe(250);
    for (const { totals } of reports) expect(totals.accepted + totals.pending).toBe(ROWS);
    const halted = reports.find(({ state }) => state === 'halted');
    expect(ended.some(({ status }) => status === 5)).toBe(true);
    expect(halted?.halt?.rule).toBe('over-budget');
    expect(halted?.halt?.message).toMatch(
      /^The budget of test has no room for the next message: 10\.00 of 10\.00 EUR spent in \d{4}-\d\d\.$/,
    );
    expect(halted?.halt?.next).toMatch(
      /^Send again from \d{4}-\d\d-01 00:00 \(UTC\) on: the rest is pending\. Or raise environments\.test\.budget\.max/,
    );
    const again = await sendHere(at, halted?.campaign ?? '');
    expect([again.status, seen]).toEqual([2, 250]);
    expect(again.stderr).toMatch(
      /error\[over-budget\]: The plan may cost \d+\.\d+ EUR; the budget of test has 0\.00 EUR left in/,
    );
    expect((await cli(at, 'runs')).stdout).toMatch(/^test: 10\.00 of 10\.00 EUR spent in \d{4}-\d\d, until/);
  });

  it('after a raise the rest is sent, each recipient once', async () => {
    using at = project({ messages: 250 });
    answers(togetherBehaviour());
    await Promise.all(['sale', 'news'].map((name) => begin(at, name).done));
    at.write('handbill.yaml', readFileSync(at.path('handbill.yaml'), 'utf8').replace('max: 10', 'max: 16'));
    for (const name of ['sale', 'news']) await sendHere(at, name);
    expect([seen, spentIn(at)]).toEqual([2 * ROWS, 2 * ROWS]);
    for (const name of ['sale', 'news']) {
      const { totals } = JSON.parse((await cli(at, 'report', name, '--format', 'json')).stdout) as Report;
      expect(totals.accepted).toBe(ROWS);
    }
  });
});

describe('before a send', () => {
  it('a plan that does not fit is refused with figures, before any request', async () => {
    using at = project({ messages: 100 });
    for (const command of [['validate'], ['plan', 'sale', '--env', 'test'], ['preview', 'sale', '--env', 'test']]) {
      const { status, stdout, stderr } = await cli(at, ...command);
      expect([command[0], status]).toEqual([command[0], 2]);
      expect(stdout + stderr).toContain('The plan may cost 8.00 EUR; the budget of test allows 4.00 EUR a month.');
    }
    const { status } = await sendHere(at, 'sale');
    expect([status, seen]).toEqual([2, 0]);
    expect((await cli(at, 'runs')).stdout).toContain('No run yet.');
  });

  it('what is left is said by plan, preview and send, and counts what was sent before', async () => {
    using at = project({ messages: 300 });
    const first = await sendHere(at, 'sale');
    expect(first.status).toBe(0);
    expect(first.stderr).toMatch(/note\[budget\]: test: 0\.00 of 12\.00 EUR spent in .* What is left: 12\.00 EUR\./);
    for (const command of ['plan', 'preview']) {
      const { status, stderr } = await cli(at, command, 'news', '--env', 'test');
      expect([command, status]).toEqual([command, 2]);
      expect(stderr).toContain('the budget of test has 4.00 EUR left in');
      expect(stderr).toContain('(8.00 of 12.00 EUR spent)');
      expect((await cli(at, command, 'news')).stderr).not.toContain('budget');
    }
    expect((await cli(at, 'preview', 'sale', '--env', 'test')).stderr).toContain('What is left: 4.00 EUR.');
    expect([(await sendHere(at, 'news')).status, seen]).toEqual([2, ROWS]);
  });

  it('without a price it is refused', async () => {
    using at = project({ messages: 1000, prices: 'FR,0.04' });
    for (const command of [['validate'], ['send', 'sale', '--env', 'test', '--yes']]) {
      const { status, stdout, stderr } = await cli(at, ...command);
      expect([status, stdout + stderr]).toEqual([2, expect.stringContaining('error[no-price]: 200 recipients have')]);
    }
    expect(seen).toBe(0);
  });

  it.each([
    ['{ max: 5 }', 'per'],
    ['{ max: -1, per: month }', 'must be at least 0'],
    ['{ max: 5, per: year }', 'day, week, month'],
  ])('%s is refused', async (written, message) => {
    using at = project({ messages: 1, rows: 1 });
    at.write(
      'handbill.yaml',
      readFileSync(at.path('handbill.yaml'), 'utf8').replace(/budget: \{[^}]*\}/, `budget: ${written}`),
    );
    const { status, stdout, stderr } = await cli(at, 'validate');
    expect([status, stdout + stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

it('a process that is killed leaves the counter at what was claimed or above', async () => {
  using at = project({ messages: 400 });
  answers(afterMs(30, accepting()));
  const sending = begin(at, 'sale');
  await until('it sends', () => seen > 20);
  sending.kill('SIGKILL');
  await sending.done;
  const db = new DatabaseSync(at.path('.handbill/ledger.db'));
  const claimed = Number(
    db.prepare("SELECT count(*) AS n FROM recipients WHERE state IN ('claimed', 'accepted')").get()?.['n'],
  );
  db.close();
  expect(claimed).toBeGreaterThan(20);
  expect(spentIn(at)).toBeGreaterThanOrEqual(claimed);
  answers(accepting());
  const { stdout } = await sendHere(at, 'sale');
  const { totals } = JSON.parse(stdout) as Report;
  expect(totals.accepted + totals.inDoubt).toBe(ROWS);
  expect(totals.inDoubt).toBeLessThanOrEqual(4);
  expect(spentIn(at)).toBe(ROWS);
});

it('due leaves what does not fit, and the occurrence stays free', async () => {
  using at = project({
    messages: 300,
    more: 'schedule: { cron: "* * * * *", timeZone: UTC, missed: catch-up }\n',
  });
  const due = (...args: string[]) => cli(at, 'due', '--env', 'test', '--yes', ...args);
  const { stdout } = await due('--format', 'json');
  const { campaigns } = JSON.parse(stdout) as {
    campaigns: { campaign: string; action: string; why: string | null; exit: number }[];
  };
  const left = campaigns.filter(({ why }) => why === 'over-budget');
  expect(left.map(({ action, exit }) => [action, exit])).toEqual([['leave', 0]]);
  expect(seen).toBe(ROWS);
  const text = await due();
  expect(text.stdout).toContain('not sent, because the budget has no room for it.');
  expect(text.stdout + text.stderr).toContain('error[over-budget]: The plan may cost 8.00 EUR');
  expect((await cli(at, 'runs')).stdout).not.toContain(`${left[0]?.campaign}-`);
});

describe('rows with a time (`send.each`) count in the week of their time', () => {
  /** Visits at noon of these days, by a list that was read on Monday; four messages a week. */
  const visits = (days: readonly string[], more = ''): TestProject => {
    const at = project({ messages: 4, rows: 0, per: 'week', more: `  each: { column: visit, before: 2h }\n${more}` });
    at.write(
      'campaigns/news/campaign.yaml',
      'name: news\nchannel: sms\ntemplate: { text: Hi }\nrecipients: sure.csv\n',
    );
    at.write('campaigns/news/sure.csv', 'msisdn\n+447700900001\n');
    const rows = days.map((day, i) => `+4477009${String(i).padStart(5, '0')},${day}T12:00:00Z\n`).join('');
    const file = at.path('campaigns/sale/campaign.yaml');
    const text = readFileSync(file, 'utf8').replace('send: { concurrency: 4 }', 'send:\n  concurrency: 4');
    at.write('campaigns/sale/campaign.yaml', text);
    at.write('campaigns/sale/people.csv', `msisdn,visit\n${rows}`);
    return at;
  };
  const week = (monday: number, count: number) =>
    Array.from({ length: count }, (_, i) => new Date(Date.UTC(2026, 10, monday + i)).toISOString().slice(0, 10));
  /** Mondays are 30 November, 7 and 14 December 2026. */
  const WEEKS = [...week(30, 4), ...week(37, 4), ...week(44, 4)];
  const MONDAY = '2026-11-30T06:00:00Z';

  it('three weeks of which each fits are sent, though not together, by a run that goes on', async () => {
    using at = visits(WEEKS);
    for (const command of [
      ['validate', 'sale'],
      ...['plan', 'preview'].map((name) => [name, 'sale', '--env', 'test']),
    ]) {
      const { status, stderr } = await cliAt(at, MONDAY, ...command);
      expect([command[0], status, stderr]).toEqual([command[0], 0, expect.not.stringContaining('over-budget')]);
    }
    const sent: number[] = [];
    for (const day of WEEKS) {
      const { stderr } = await cliAt(at, `${day}T10:00:00Z`, ...SEND, 'sale');
      expect(stderr).not.toContain('over-budget');
      sent.push(seen);
    }
    expect(sent).toEqual(WEEKS.map((_, i) => i + 1));
    expect(spentIn(at)).toBe(12);
  });

  it('validate leaves out rows whose time has passed, and what fits into no week is refused', async () => {
    using at = visits([...WEEKS, ...WEEKS]);
    expect((await cliAt(at, MONDAY, 'validate', 'sale')).status).toBe(2);
    expect((await cliAt(at, '2026-12-19T06:00:00Z', 'validate', 'sale')).status).toBe(0);
    const later = await cliAt(at, MONDAY, 'validate', 'sale', '--at', '2026-12-07T06:00:00Z');
    expect(later.stderr).toContain('in 2026-W50');
    expect(later.stderr).not.toContain('in 2026-W49');
  });

  it('a run that goes on is refused for what is left of this week, and not for what waits or has passed', async () => {
    using at = visits(WEEKS);
    await cliAt(at, MONDAY, ...SEND, 'sale');
    // The first visit has passed: three of this week are left, and another campaign takes two of the four messages.
    at.write('campaigns/news/sure.csv', 'msisdn\n+447700900001\n+447700900002\n');
    expect((await cliAt(at, '2026-11-30T13:00:00Z', ...SEND, 'news')).status).toBe(0);
    const refused = await cliAt(at, '2026-11-30T13:30:00Z', ...SEND, 'sale');
    expect([refused.status, refused.stderr]).toEqual([
      2,
      expect.stringContaining(
        'The plan may cost 0.12 EUR in 2026-W49; the budget of test has 0.08 EUR left in 2026-W49',
      ),
    ]);
    // A day later one more has passed, and what is left fits.
    const { stderr } = await cliAt(at, '2026-12-01T13:30:00Z', ...SEND, 'sale');
    expect(stderr).not.toContain('over-budget');
  });
});

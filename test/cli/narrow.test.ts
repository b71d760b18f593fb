import { join } from 'node:path';
import { expect, it } from 'vitest';
import { acquireRunLock } from '../../src/ledger/lock.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { displayWidth } from '../../src/util/table.ts';
import { startedRun } from '../ledger/given.ts';
import { recordRun, withLedger } from '../web/serve-ledger.ts';
import { handbillHere } from './in-process.ts';
import { projectWith } from './run-handbill.ts';

const T0 = Date.parse('2026-11-20T09:00:00Z');
const AT_80 = { outIsTerminal: true, width: 80, tableWidth: 80 };

const campaign = (name: string, text = 'Hello {{name}}', more = ''): Record<string, string> => ({
  [`campaigns/${name}/campaign.yaml`]: `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: { text: "${text}" }\nrecipients: people.csv\n${more}`,
  [`campaigns/${name}/people.csv`]: 'msisdn,name\n+447700900123,Ada\n',
});

it('11 runs are 11 lines below their titles, by name where that is enough', async () => {
  await using here = await projectWith({ 'handbill.yaml': 'timeZone: Europe/Paris\n' });
  const ledger = openLedger(join(here.root, '.handbill', 'ledger.db'), { mode: 'write', nowMs: T0 });
  const ids = Array.from({ length: 11 }, (_, i) => {
    const name = i < 9 ? `regional-announcement-${i}` : 'every-weekday-morning';
    const occurrence = i < 9 ? 'once' : `2026-11-${i + 9}T08:00:00Z`;
    return startedRun(ledger, [], { campaign: name, occurrence, nowMs: T0 + i * 60_000 }).id;
  });
  ledger.close();
  const now = () => T0 + 3_600_000;
  const { out } = await handbillHere(here.root, ['runs'], { ...AT_80, now });
  const lines = out.trimEnd().split('\n');
  expect(lines).toHaveLength(12);
  expect(lines[0]).toMatch(/^state +run +occurrence +started/);
  expect(lines[1]).toMatch(new RegExp(`^interrupted +${ids[10]} +2026-11-19T08:00Z +10:10`));
  expect(lines[11]).toMatch(/^interrupted +regional-announcement-0 +once +10:00/);
  for (const line of lines) expect(displayWidth(line), line).toBeLessThanOrEqual(80);
  // A program finds each run by its id, and all of its facts.
  const piped = await handbillHere(here.root, ['runs'], { tableWidth: Number.POSITIVE_INFINITY, now });
  for (const id of ids) expect(piped.out).toMatch(new RegExp(` ${id} +sandbox `));
  const tomorrow = await handbillHere(here.root, ['runs'], { ...AT_80, now: () => T0 + 86_400_000 });
  expect(tomorrow.out).toContain('2026-11-20 10:10');
});

it('a run in progress has its share and the time of its end; names that are too long cost a column, not its end', async () => {
  await using here = await projectWith({ 'handbill.yaml': 'timeZone: Europe/Paris\n' });
  const place = join(here.root, '.handbill', 'ledger.db');
  const rows = Array.from({ length: 100 }, (_, i) => (i < 30 ? {} : ({ state: 'pending' } as const)));
  const about = { campaign: 'water-notice', atMs: T0, isKilled: true };
  const [going, , other] = withLedger(place, (ledger) => [
    recordRun(ledger, about, rows),
    recordRun(ledger, { campaign: 'a-reminder-of-every-weekday', occurrence: '2026-11-18T08:00:00Z', atMs: T0 }, [{}]),
    recordRun(ledger, { campaign: 'a-reminder-of-every-weekday', occurrence: '2026-11-19T08:00:00Z', atMs: T0 }, [{}]),
  ]);
  using lock = new DisposableStack();
  lock.adopt(acquireRunLock(place, going), (held) => held?.release());
  const { out } = await handbillHere(here.root, ['runs'], { ...AT_80, now: () => T0 + 31_000 });
  // 30 of 100 in 31 s: 72 s for the others.
  expect(out).toMatch(/^running +water-notice +(?:once +)?10:00 +30% +until 10:01$/m);
  expect(out).toContain(other.id);
  expect(out).not.toContain('…');
  expect(out).not.toContain('sandbox');
  const tomorrow = await handbillHere(here.root, ['runs'], { ...AT_80, now: () => T0 + 90_000_000 });
  expect(tomorrow.out).toMatch(/^running +water-notice +2026-11-20 10:00 +30%$/m);
  expect(tomorrow.out).not.toContain('until');
});

it('20 campaigns are checked in 22 lines: their names, what is wrong last, the sums', async () => {
  const names = Array.from({ length: 19 }, (_, i) => `a-campaign-with-a-rather-long-name-${i}`);
  const files = Object.assign({}, ...names.map((name) => campaign(name)), campaign('broken', 'Hello {{nam}}'));
  await using here = await projectWith(files);
  const { out, err } = await handbillHere(here.root, ['validate'], AT_80);
  const lines = out.trimEnd().split('\n');
  expect(lines).toHaveLength(22);
  expect(lines[1]).toMatch(/^a-campaign-with-a-rather-long-name-0 +1 +1 +1 +ok$/);
  expect(lines.at(-2)).toMatch(/^broken +1 error$/);
  expect(lines.at(-1)).toMatch(/^20 campaigns +19 +19 +19 +1 with errors$/);
  for (const line of lines) expect(displayWidth(line), line).toBeLessThanOrEqual(80);
  expect(err).toContain('18 more of the same kind, in 19 campaigns.');
});

it.each<[command: string[]]>([
  [['--help']],
  [['send', '--help']],
  [['help', 'outcomes']],
  [['doctor']],
  [['preview', 'a-campaign-with-a-long-name']],
  [['due', '--dry-run']],
  [['plan', 'a-campaign-with-a-long-name']],
  [['schedule']],
  [['person', '+447700900123']],
])('%j has no line wider than 80 columns, but for what is to be copied', async (command) => {
  const text = 'Hello {{name}}, this is a message that is longer than a line of the terminal on which it is shown';
  await using here = await projectWith(
    campaign('a-campaign-with-a-long-name', text, 'schedule: { cron: 0 9 * * 1-5 }\n'),
  );
  // The schedule is new, and its last instant was 22 hours ago.
  const { out } = await handbillHere(here.root, command, { ...AT_80, now: () => T0 + 79_200_000 });
  expect(out.split('\n').length).toBeGreaterThan(2);
  for (const line of out.split('\n')) {
    if (/^ *(?:npx )?handbill /.test(line)) continue;
    expect(displayWidth(line), line).toBeLessThanOrEqual(80);
  }
});

it('the first instant of a schedule is also a time from now', async () => {
  await using here = await projectWith(campaign('morning', 'Hi', 'schedule: { cron: 0 9 * * * }\n'));
  const inWords = async (at: string): Promise<string | undefined> => {
    const { out } = await handbillHere(here.root, ['schedule', '--at', at], AT_80);
    expect(out.match(/ in /g)).toHaveLength(1);
    return / {2}(in .*)$/m.exec(out)?.[1];
  };
  expect(await inWords('2026-11-20T08:35:00Z')).toBe('in 25 min');
  expect(await inWords('2026-11-20T13:00:00Z')).toBe('in 20 h');
});

it('says schedules in words, and a pause of what it shows', async () => {
  const files = {
    ...campaign('morning', 'Hi', 'schedule: { cron: 0 9 * * 1-5, timeZone: Europe/London }\n'),
    ...campaign('by-hand', 'Hi'),
  };
  await using here = await projectWith(files);
  withLedger(join(here.root, '.handbill', 'ledger.db'), (ledger) => {
    ledger.pause({ environment: 'sandbox', campaign: 'morning' }, { reason: 'wrong text', who: 'ann', nowMs: T0 });
    ledger.pause({ environment: 'sandbox', campaign: 'gone' }, { reason: 'no', who: 'ann', nowMs: T0 });
  });
  const at = ['--at', '2026-11-22T12:00:00Z'];
  const now = () => T0 + 60_000;
  const paused = 'morning in sandbox has been paused since 2026-11-20 09:00:00 UTC by ann: wrong text.';
  const words = 'weekdays 09:00 (Europe/London), next tomorrow 09:00';
  const times = await handbillHere(here.root, ['schedule', ...at], { ...AT_80, now });
  expect(times.out).toMatch(
    /^morning in sandbox has been paused .*\n {2}text.\nmorning {2}weekdays 09:00 {2}Europe\/London, catch-up\n/,
  );
  expect(times.out).not.toContain('gone');
  const due = await handbillHere(here.root, ['due', '--dry-run', ...at], { now });
  expect(due.err).toContain(`Nothing is due. morning: ${words}.\n`);
  expect(due.err.replaceAll(/\s+/g, ' ')).toContain(paused);
  expect(due.err).not.toContain('gone');
  const one = await handbillHere(here.root, ['validate', 'morning', ...at], { now });
  expect(one.out).toBe(`morning: 1 recipient, 1 to send, 1 part: ok\n  ${words}\n`);
  const both = await handbillHere(here.root, ['validate', ...at], { now, tableWidth: 120 });
  expect(both.out).toContain(`ok      ${words}`);
  expect((await handbillHere(here.root, ['validate', ...at], { ...AT_80, now })).out).not.toContain('weekdays');
});

it('a diff without a revision is one with HEAD', async () => {
  await using here = await projectWith(campaign('morning'));
  const { err } = await handbillHere(here.root, ['diff'], AT_80);
  expect(err).toBe((await handbillHere(here.root, ['diff', 'HEAD'], AT_80)).err);
  expect(err).not.toContain('error[usage]');
});

it('init names the four files to begin with, and counts the others', async () => {
  await using here = await projectWith({});
  const { out } = await handbillHere(here.root, ['init', 'shop', '--yes'], AT_80);
  expect(out).toMatch(/^Made in shop:\n(?: {2}[a-z./]+\n){4} {2}and 12 more\n/);
});

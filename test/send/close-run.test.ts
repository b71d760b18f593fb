import { beforeEach, describe, expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import { handbillHere } from '../cli/in-process.ts';
import { recipientsIn, useApi } from '../helpers/api.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

const NOON = Date.parse('2026-11-23T12:00:00Z');
const HOUR_MS = 3_600_000;
const numbers = ['+447700900101', '+447700900102', '+447700900103', '+447700900104'];
const [, BEN, CLEO] = numbers;

/** The recipient whose outcome stays unknown. */
let doubted = '';
const api = useApi((body, number) => ({
  status: recipientsIn(body).some(({ msisdn }) => msisdn === doubted) ? 500 : 202,
  body: `{"id":"m-${number}"}`,
}));
beforeEach(() => {
  doubted = '';
});

function project(more = ''): TestProject {
  const list = numbers.map((to, i) => `${i + 1},${to},Name\n`).join('');
  return createProject({
    'handbill.yaml': `environments:\n  api:\n    baseUrl: ${api.url}\n    apiKey: { env: KEY }\n`,
    'hello/campaign.yaml': `name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: { csv: people.csv, key: id }\n${more}`,
    'hello/people.csv': `id,msisdn,name\n${list}`,
  });
}

const handbill = (here: TestProject, args: readonly string[], nowMs = NOON) =>
  handbillHere(here.root, args, { env: { KEY: 'secret' }, now: () => nowMs, width: 400 });

const send = (here: TestProject, ...more: readonly string[]) =>
  handbill(here, ['send', 'hello', '--env', 'api', '--yes', ...more]);

async function fates(here: TestProject): Promise<readonly string[]> {
  const { out } = await handbill(here, ['report', 'hello', '--format', 'jsonl']);
  const rows = out.trim().split('\n');
  return rows.map((line) => {
    const { outcome, reason } = JSON.parse(line) as { outcome: string; reason: string | null };
    return reason === null ? outcome : `${outcome}(${reason})`;
  });
}

async function runId(here: TestProject, named = 'once'): Promise<string> {
  const { out } = await handbill(here, ['runs', '--format', 'json']);
  const { runs } = JSON.parse(out) as { runs: { run: string; occurrence: string }[] };
  return runs.find(({ occurrence }) => occurrence === named)?.run ?? '';
}

describe('handbill runs close', () => {
  it('skips who was not sent to, says who is in doubt, and nothing is sent of the run any more', async () => {
    using here = project();
    doubted = BEN ?? '';
    await send(here, '--limit', '2');
    const closed = await handbill(here, ['runs', 'close', 'hello', '--yes']);
    expect(closed).toMatchObject({ status: 0 });
    expect(closed.out).toMatch(
      /is closed: 2 recipients skipped just now\..*1 recipient still in doubt: handbill doubt list/,
    );
    expect(await fates(here)).toEqual(['accepted', 'in-doubt(status)', 'skipped(closed)', 'skipped(closed)']);
    for (const more of [
      [],
      ['--retry', 'skipped'],
      ['--retry', 'rejected'],
      ['--allow', 'input-changed,too-late'],
      ['--dry-run'],
    ]) {
      const again = await send(here, ...more);
      expect(again).toMatchObject({ status: 2 });
      expect(again.err).toContain('run-closed');
    }
    here.write('hello/people.csv', `id,msisdn,name\n9,+447700900109,New\n`);
    expect((await send(here, '--allow', 'input-changed')).err).toContain('run-closed');
    const [run, resolve] = [await runId(here), ['--line', '3', '--yes']];
    const resend = await handbill(here, ['doubt', 'resolve', run, ...resolve, '--resend', '--accept-duplicates']);
    expect(resend.err).toContain('run-closed');
    expect((await handbill(here, ['doubt', 'resolve', run, ...resolve, '--as', 'accepted'])).status).toBe(0);
    expect(await fates(here)).toEqual(['accepted', 'accepted(resolved)', 'skipped(closed)', 'skipped(closed)']);
    const report = await handbill(here, ['report', 'hello']);
    expect(report.out).toContain('Closed on 2026-11-23 12:00:00 UTC: it sends nothing more.');
    expect(report.out).not.toContain('handbill send');
    expect(api.bodies).toHaveLength(2);
  });

  it('is confirmed, changes nothing without that, and nothing a second time', async () => {
    using here = project();
    await send(here, '--limit', '1');
    const unasked = await handbill(here, ['runs', 'close', 'hello']);
    expect(unasked.status).toBe(2);
    expect(unasked.err).toMatch(/3 recipients will be skipped[\s\S]*not-confirmed[\s\S]*--yes/);
    expect(await fates(here)).toEqual(['accepted', 'pending', 'pending', 'pending']);
    await handbill(here, ['runs', 'close', 'hello', '--yes']);
    const before = await fates(here);
    const twice = await handbill(here, ['runs', 'close', 'hello', '--yes'], NOON + HOUR_MS);
    expect(twice).toMatchObject({ status: 0, out: expect.stringContaining('0 recipients skipped just now') });
    expect(await fates(here)).toEqual(before);
  });

  it('skips those too who wait, and leaves a finished run and one that is being sent as they are', async () => {
    using here = project(`send: { window: { from: "09:00", to: "10:00", timeZone: Europe/London } }\n`);
    await send(here);
    expect(await fates(here)).toEqual(Array(4).fill('deferred(outside-window)'));
    const run = await runId(here);
    const ledger = openLedger(here.path('.handbill/ledger.db'), { mode: 'write', nowMs: NOON });
    const record = ledger.runs()[0];
    const lock = record === undefined ? null : ledger.lock(record);
    expect(await handbill(here, ['runs', 'close', run, '--yes'])).toMatchObject({ status: 6 });
    lock?.release();
    ledger.close();
    expect(await fates(here)).toEqual(Array(4).fill('deferred(outside-window)'));
    await handbill(here, ['runs', 'close', run, '--yes']);
    expect(await fates(here)).toEqual(Array(4).fill('skipped(closed)'));

    using other = project();
    await send(other);
    expect((await handbill(other, ['runs', 'close', 'hello', '--yes'])).out).toContain('nothing is left to close');
    expect((await send(other)).status).toBe(0);
  });

  it('does not let the database start it again', async () => {
    using here = project();
    await send(here, '--limit', '1');
    await handbill(here, ['runs', 'close', 'hello', '--yes']);
    const ledger = openLedger(here.path('.handbill/ledger.db'), { mode: 'write', nowMs: NOON });
    const [record] = ledger.runs();
    if (record === undefined) throw new Error('there is a run');
    expect(() => ledger.start(record, NOON)).toThrow('may not be continued');
    ledger.close();
  });
});

describe('an older run that is open', () => {
  const WARNS =
    /run-open[\s\S]*\(a\) is open: 3 recipients may still be sent to[\s\S]*handbill runs close hello-[0-9a-f]{8}/;

  it('is said by a start and a preview of another occurrence, until it is closed or finished', async () => {
    using here = project();
    await send(here, '--occurrence', 'a', '--limit', '1');
    expect((await send(here, '--occurrence', 'a', '--limit', '1', '--dry-run')).err).not.toContain('run-open');
    const preview = ['preview', 'hello', '--env', 'api', '--occurrence', 'b'];
    expect((await handbill(here, preview)).err).toMatch(WARNS);
    expect((await send(here, '--occurrence', 'b', '--limit', '1')).err).toMatch(WARNS);
    // The older one does not warn of the newer one.
    expect((await send(here, '--occurrence', 'a', '--limit', '1')).err).not.toContain('run-open');
    await handbill(here, ['runs', 'close', await runId(here, 'a'), '--yes']);
    await send(here, '--occurrence', 'b');
    expect((await send(here, '--occurrence', 'c')).err).not.toContain('run-open');
    expect(api.numbers()).toContain(CLEO);
  });
});

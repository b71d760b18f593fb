import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import { isChosen, outcomes } from '../../src/operations/report.ts';
import { deliveryOf, receive } from '../helpers/events.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { handbillHere } from './in-process.ts';
import { projectWith } from './run-handbill.ts';

const PEOPLE = [
  'msisdn;first;=sum',
  '07700 900001;Ann;1',
  "+447700900002;O'Brien;+1+2",
  '+447700900003;"Zoë; ""Z""\nline";=cmd',
  '07700 900001;Ann again;4',
];
const CAMPAIGN = `name: hello
channel: sms
from: Riverside
template: { text: "Hello {{first}}, see you soon." }
recipients: { csv: people.csv, defaultCountry: GB, delimiter: ";", encoding: windows-1252 }
`;
let root = '';
let remove = async (): Promise<void> => undefined;
let posted: readonly string[] = [];

interface Line {
  readonly line: number;
  readonly key: string;
  readonly messageId: string;
  readonly columns: Readonly<Record<string, string>> | null;
}

async function lines(...args: readonly string[]): Promise<readonly Line[]> {
  const { out, err } = await handbillHere(root, ['report', 'hello', '--format', 'jsonl', ...args]);
  expect(err).toBe('');
  return out === '' ? [] : jsonLines(out);
}

beforeAll(async () => {
  ({ root, remove } = await projectWith({ 'hello/campaign.yaml': CAMPAIGN }));
  await writeFile(join(root, 'hello/people.csv'), Buffer.from(PEOPLE.join('\n'), 'latin1'));
  const sent = await handbillHere(root, ['send', 'hello', '--format', 'json']);
  expect(JSON.parse(sent.out).totals).toMatchObject({ recipients: 4, accepted: 3, skipped: 1 });
  posted = (await lines()).map(({ messageId }) => messageId);
  const events = (['delivered', 'failed', 'undeliverable'] as const).map((state, row) =>
    deliveryOf({ messageId: posted[row] ?? '', atMs: Date.now(), state }),
  );
  receive(join(root, '.handbill/ledger.db'), events);
});
afterAll(() => remove());

describe('--end', () => {
  const chosen = async (...args: readonly string[]) => (await lines('--end', ...args)).map(({ line }) => line);
  it.each([
    [['delivered'], [2]],
    [['not-delivered'], [3, 4]],
    [['not-sent,delivered'], [2, 6]],
    [['delivered', 'not-delivered', '--outcome', 'skipped'], []],
    [['sent', 'unclear', 'waiting', 'not-tried'], []],
  ])('%j keeps the lines %j', async (args, expected) => {
    expect(await chosen(...args)).toEqual(expected);
  });
  it('has the same choice in programs, and joins refusals with reports of a loss in one list', async () => {
    const ledger = openLedger(join(root, '.handbill/ledger.db'), { mode: 'read', nowMs: Date.now() });
    const [run] = ledger.runs();
    const all = run === undefined ? [] : [...ledger.outcomes(run)].flat();
    ledger.close();
    const refused = all.map((row) => ({ ...row, outcome: 'rejected' as const, delivery: null }));
    const lost = all.map((row) => ({ ...row, outcome: 'accepted' as const, delivery: 'undeliverable' as const }));
    const rows = [...refused, ...lost, ...all.map((row) => ({ ...row, delivery: 'delivered' as const }))];
    expect(rows.filter((row) => isChosen(row, { ends: ['not-delivered'] }))).toEqual([...refused, ...lost]);
    const found: number[] = [];
    for await (const { line } of outcomes('hello', { cwd: root, ends: ['not-delivered'] })) found.push(line);
    expect(found).toEqual([3, 4]);
  });
});

describe('--delivery', () => {
  test.each([
    [['delivered'], [0]],
    [['undeliverable,failed'], [1, 2]],
    [
      ['undeliverable', 'failed'],
      [1, 2],
    ],
    [['none'], [3]],
    [['none', '--outcome', 'accepted'], []],
    [
      ['failed,delivered', '--outcome', 'accepted', 'rejected'],
      [0, 1],
    ],
  ])('%j', async (args, rows) => {
    const found = await lines('--delivery', ...args);
    expect(found.map(({ messageId }) => posted.indexOf(messageId))).toEqual(rows);
  });

  it('takes no word that is none', async () => {
    const { status, err } = await handbillHere(root, ['report', '--format', 'csv', '--delivery', 'failed,lost']);
    expect(status).toBe(2);
    expect(err).toContain('Allowed choices are queued, sent, delivered');
  });

  it.each([
    ['text', '--delivery', 'failed'],
    ['brief', '--end', 'sent'],
    ['json', '--outcome', 'accepted'],
  ])('has no place where no recipient is shown: %s', async (format, option, word) => {
    const { status, out, err } = await handbillHere(root, ['report', '--format', format, option, word]);
    expect([status, out]).toEqual([2, '']);
    expect(err).toContain(`${option} chooses recipients`);
    expect(err).toContain('--format csv');
  });

  it('leaves the summary of html as it is', async () => {
    const { out } = await handbillHere(root, ['report', 'hello', '--format', 'html', '--delivery', 'failed']);
    expect(out).toMatch(/<th scope="row">delivered<\/th><td class="n"[^>]*>1<\/td>/);
    expect(out).toContain('1 not delivered, by cause and by line of the list');
  });
});

describe('--with-columns', () => {
  it('puts the row of the list beside what became of it', async () => {
    const found = await lines('--with-columns', '--delivery', 'undeliverable');
    expect(found.map(({ columns }) => columns)).toEqual([
      { msisdn: '+447700900003', first: 'Zoë; "Z"\nline', '=sum': '=cmd' },
    ]);
  });

  it('reads the list as the run did, whatever the campaign says by now, or if it is gone', async () => {
    const path = join(root, 'hello/campaign.yaml');
    const other = CAMPAIGN.replace(', delimiter: ";", encoding: windows-1252', '');
    try {
      for (const edited of [`${CAMPAIGN}# A comment.\n`, other, 'name: hello\n', null]) {
        if (edited === null) await rm(path);
        else await writeFile(path, edited);
        const found = await lines('--with-columns', '--delivery', 'undeliverable');
        expect(found.map(({ columns }) => columns?.['first'])).toEqual(['Zoë; "Z"\nline']);
      }
    } finally {
      await writeFile(path, CAMPAIGN);
    }
  });

  it('makes a list that can be sent again, and again', async () => {
    const again = ['report', 'hello', '--format', 'csv', '--delivery', 'failed,undeliverable', '--with-columns'];
    const made = await handbillHere(root, [...again, '-o', 'failed.csv', '--quiet']);
    expect(made).toMatchObject({ status: 0, err: '' });
    const text = await readFile(join(root, 'failed.csv'), 'utf8');
    expect(text.split('\n')[0]).toMatch(/^\ufeff"msisdn";"first";"'=sum";"handbill_line";"handbill_key";/);
    expect(text).toContain('\n"\'+447700900002";"O\'Brien";"\'+1+2";');

    const sending = ['send', 'hello', '--recipients', 'failed.csv', '--occurrence', 'again', '--format', 'json'];
    const sent = await handbillHere(root, sending);
    expect({ ...JSON.parse(sent.out).totals, err: sent.err }).toMatchObject({ recipients: 2, accepted: 2, err: '' });
    const third = await handbillHere(root, ['report', 'hello', '--format', 'csv', '--with-columns']);
    expect(third.err).toBe('');
    expect(third.out.split('\n')[0]).toBe(text.split('\n')[0]);
    expect(third.out).toContain('"Zoë; ""Z""\nline";"\'=cmd"');
    const second = await lines('--with-columns');
    expect(second.map(({ key, columns }) => [key, columns?.['first'], columns?.['handbill_delivery']])).toEqual([
      ['+447700900002', "O'Brien", 'failed'],
      ['+447700900003', 'Zoë; "Z"\nline', 'undeliverable'],
    ]);
  });

  it('offers the template of the provider only the columns of the list', async () => {
    const campaign = 'name: t\nchannel: sms\ntemplate: { id: welcome }\nrecipients: failed.csv\n';
    await mkdir(join(root, 't'));
    await writeFile(join(root, 't/campaign.yaml'), campaign);
    await copyFile(join(root, 'failed.csv'), join(root, 't/failed.csv'));
    const { out, err } = await handbillHere(root, ['preview', 't', '--format', 'jsonl']);
    expect(err).toBe('');
    const { variables } = JSON.parse(out.split('\n')[0] ?? '').request.body.recipients[0];
    expect(Object.keys(variables)).toEqual(['first', '=sum']);
  });

  it('joins a list that was replaced by the key of the recipient, and says so', async () => {
    const path = join(root, 'hello/people.csv');
    const before = await readFile(path);
    const ledger = openLedger(join(root, '.handbill/ledger.db'), { mode: 'read', nowMs: Date.now() });
    const id = ledger.findRun({ environment: 'sandbox', campaign: 'hello', occurrence: 'once' })?.id ?? '';
    ledger.close();
    // In another order, with a new row above, and without the row of line 3.
    const nightly = ['msisdn;first;=sum', '+447700900009;New;9', '+447700900003;Zoe;8', '0447700 900001;Anna;7'];
    await writeFile(path, nightly.join('\n').replace('0447700', '07700'));
    await writeFile(join(root, 'as-it-was.csv'), before);
    const args = ['report', id, '--format', 'csv', '--with-columns'];
    const joined = await handbillHere(root, args);
    expect(joined.status).toBe(0);
    const records: Record<string, string>[] = parse(joined.out, { columns: true, delimiter: ';', bom: true });
    expect(records.map(({ handbill_key, first }) => [handbill_key, first])).toEqual([
      ["'+447700900001", 'Anna'],
      ["'+447700900002", ''],
      ["'+447700900003", 'Zoe'],
      ["'+447700900001", 'Anna'],
    ]);
    expect(joined.err).toContain('warning[input-changed]');
    expect(joined.err).toContain('the columns are those of the list as it is now');
    expect(joined.err).toContain('1 row of the run has no match in it, and empty columns.');
    const chosen = await handbillHere(root, [
      'report',
      id,
      '--format',
      'jsonl',
      '--with-columns',
      '--outcome',
      'skipped',
    ]);
    expect(JSON.parse(chosen.out).columns).toEqual({ msisdn: '07700 900001', first: 'Anna', '=sum': '7' });
    expect(chosen.err).not.toContain('no match');
    // Nothing says the key of a row any more.
    await rename(join(root, 'hello/campaign.yaml'), join(root, 'hello/away.yaml'));
    const refused = await handbillHere(root, args);
    await rename(join(root, 'hello/away.yaml'), join(root, 'hello/campaign.yaml'));
    expect({ ...refused, out: refused.out.length }).toMatchObject({ status: 2, out: 0 });
    expect(refused.err).toContain('is not the one that');
    const named = await handbillHere(root, [...args, '--recipients', 'as-it-was.csv']);
    expect(named).toMatchObject({ status: 0, err: '' });
    expect(named.out).toContain('Ann again');
    await writeFile(path, before);
  });

  test.each([
    [['--with-columns'], '--with-columns is not for --format text'],
    [['--format', 'csv', '--recipients', 'x.csv'], 'Add --with-columns'],
    [['--format', 'html', '--follow'], '--follow is not for --format html'],
    [['--follow', '-o', 'x'], '--follow prints as things happen'],
  ])('%j is refused', async (args, says) => {
    const { status, err } = await handbillHere(root, ['report', ...args]);
    expect(status).toBe(2);
    expect(err).toContain(says);
  });
});

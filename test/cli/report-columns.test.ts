import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import type { DeliveryReport, DeliveryState } from '../../src/model.ts';
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
  readonly key: string;
  readonly messageId: string;
  readonly columns: Readonly<Record<string, string>> | null;
}

async function lines(...args: readonly string[]): Promise<readonly Line[]> {
  const { out, err } = await handbillHere(root, ['report', 'hello', '--format', 'jsonl', ...args]);
  expect(err).toBe('');
  return out === ''
    ? []
    : out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
}

function say(messageId: string | undefined, state: DeliveryState): DeliveryReport {
  const nothing = { reference: null, address: null, channel: null, cause: null, error: null, word: null };
  return {
    kind: 'delivery',
    ...nothing,
    messageId: messageId ?? '',
    textHash: null,
    atMs: Date.now(),
    eventId: null,
    state,
  };
}

beforeAll(async () => {
  ({ root, remove } = await projectWith({ 'hello/campaign.yaml': CAMPAIGN }));
  await writeFile(join(root, 'hello/people.csv'), Buffer.from(PEOPLE.join('\n'), 'latin1'));
  const sent = await handbillHere(root, ['send', 'hello', '--format', 'json']);
  expect(JSON.parse(sent.out).totals).toMatchObject({ recipients: 4, accepted: 3, skipped: 1 });
  posted = (await lines()).map(({ messageId }) => messageId);
  const ledger = openLedger(join(root, '.handbill/ledger.db'), { mode: 'write', nowMs: Date.now() });
  const events = [say(posted[0], 'delivered'), say(posted[1], 'failed'), say(posted[2], 'undeliverable')];
  ledger.events.record(events, { nowMs: Date.now(), source: 'webhook', environment: 'sandbox' });
  ledger.close();
});
afterAll(() => remove());

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
    ['text', '--delivery'],
    ['json', '--outcome'],
  ])('has no place where no recipient is shown: %s', async (format, option) => {
    const word = option === '--outcome' ? 'accepted' : 'failed';
    const { status, out, err } = await handbillHere(root, ['report', '--format', format, option, word]);
    expect([status, out]).toEqual([2, '']);
    expect(err).toContain(`${option} chooses recipients`);
    expect(err).toContain('--format csv');
  });

  it('leaves the summary of html as it is', async () => {
    const { out } = await handbillHere(root, ['report', 'hello', '--format', 'html', '--delivery', 'failed']);
    expect(out).toContain('<th scope="row">delivered</th><td class="n">1</td>');
    expect(out).toContain('1 recipient, by line of the list');
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

  it('says that the list has changed, and finds it where it is named', async () => {
    const path = join(root, 'hello/people.csv');
    const before = await readFile(path);
    const ledger = openLedger(join(root, '.handbill/ledger.db'), { mode: 'read', nowMs: Date.now() });
    const id = ledger.findRun({ environment: 'sandbox', campaign: 'hello', occurrence: 'once' })?.id ?? '';
    ledger.close();
    await writeFile(path, Buffer.concat([before, Buffer.from('\n+447700900009;New;9')]));
    await writeFile(join(root, 'as-it-was.csv'), before);
    const args = ['report', id, '--format', 'csv', '--with-columns'];
    const refused = await handbillHere(root, args);
    expect({ ...refused, out: refused.out.length }).toMatchObject({ status: 2, out: 0 });
    expect(refused.err).toContain('is not the one that');
    const named = await handbillHere(root, [...args, '--recipients', 'as-it-was.csv']);
    expect(named).toMatchObject({ status: 0, err: '' });
    expect(named.out).toContain('Ann again');
    await writeFile(path, before);
  });

  test.each([
    [['--with-columns'], '--with-columns has no place in --format text'],
    [['--format', 'csv', '--recipients', 'x.csv'], 'Add --with-columns'],
    [['--format', 'html', '--follow'], '--follow has no place in --format html'],
    [['--follow', '-o', 'x'], '--follow prints as things happen'],
  ])('%j is refused', async (args, says) => {
    const { status, err } = await handbillHere(root, ['report', ...args]);
    expect(status).toBe(2);
    expect(err).toContain(says);
  });
});

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { keptRows } from './peers/lists.ts';
import { curlConfig } from './peers/programs.ts';
import { type Receipt, type Received, readMessage, startReceiver } from './peers/receiver.ts';
import { type Expected, tallyOf } from './peers/tally.ts';
import { cpuPerMessage, type Sending } from './peers.ts';
import { type BenchRow, rowOf, textOf } from './project.ts';

const KEY = 'bench';
const PEERS = join(import.meta.dirname, 'peers');

describe('the receiver', () => {
  it('keeps a receipt of each message, in the order in which they came, until it is emptied', async () => {
    await using receiver = await startReceiver(KEY);
    expect(await post(receiver.url, messageTo('+447400000001'))).toBe(202);
    expect(await post(receiver.url, messageTo('+447400000001'))).toBe(202);
    expect(await post(receiver.url, messageTo('07400 000002'))).toBe(202);
    const received = await receivedBy(receiver.url);
    expect(received.receipts).toEqual([
      ['+447400000001', 'Hello'],
      ['+447400000001', 'Hello'],
      ['07400 000002', 'Hello'],
    ]);
    expect(received.tookMs).toBeGreaterThan(0);
    expect(received.refused).toBe(0);
    await fetch(`${receiver.url}/receipts`, { method: 'DELETE' });
    expect(await receivedBy(receiver.url)).toMatchObject({ receipts: [], tookMs: 0, refused: 0 });
  });

  it('keeps nothing that has another key, or is not a message', async () => {
    await using receiver = await startReceiver(KEY);
    expect(await post(receiver.url, messageTo('+447400000001'), 'another')).toBe(401);
    expect(await post(receiver.url, '{"body":')).toBe(400);
    expect(await receivedBy(receiver.url)).toMatchObject({ receipts: [], refused: 2 });
  });

  it.each<[label: string, body: unknown]>([
    ['a number that is not a text', { body: { text: 'Hello' }, recipients: [{ msisdn: 447_400_000_001 }] }],
    ['two recipients', { body: { text: 'Hello' }, recipients: [{ msisdn: '1' }, { msisdn: '2' }] }],
    ['no text', { body: {}, recipients: [{ msisdn: '1' }] }],
  ])('takes %s for no message', (_label, body) => {
    expect(readMessage(Buffer.from(JSON.stringify(body)))).toBeNull();
  });
});

describe('the tally', () => {
  const [ann, bob, nobody] = [rowFor('R-1', '+447400000001'), rowFor('R-2', '+447400000002'), rowFor('R-3', null)];
  const annAgain = rowFor('R-4', ann.to);
  const fine = { messages: 2, people: 2, once: 2, missed: 0, twice: 0, wrongNumbers: 0, wrongTexts: 0 };

  it.each<[label: string, list: Expected[], receipts: [string, string][], tally: Partial<typeof fine>]>([
    ['each once', [ann, bob], [said(ann), said(bob)], {}],
    ['one twice', [ann, bob], [said(ann), said(bob), said(ann)], { messages: 3, once: 1, twice: 1 }],
    ['one not at all', [ann, bob], [said(ann)], { messages: 1, once: 1, missed: 1 }],
    [
      'two rows of one person, both sent',
      [ann, annAgain, bob],
      [said(ann), said(annAgain), said(bob)],
      { messages: 3, once: 1, twice: 1 },
    ],
    ['two rows of one person, one sent', [ann, annAgain, bob], [said(annAgain), said(bob)], {}],
    ['another spelling', [ann, bob], [['07400 000001', ann.text], said(bob)], { once: 1, missed: 1, wrongNumbers: 1 }],
    [
      'a number without its plus',
      [ann, bob],
      [['447400000001', ann.text], said(bob)],
      { once: 1, missed: 1, wrongNumbers: 1 },
    ],
    [
      'the number of another recipient',
      [ann, bob],
      [['+447400000002', ann.text], said(bob)],
      { once: 1, missed: 1, wrongNumbers: 1 },
    ],
    [
      'a number that cannot be told',
      [ann, bob, nobody],
      [said(ann), said(bob), ['4.47E+11', nobody.text]],
      { messages: 3, wrongNumbers: 1 },
    ],
    ['and not sent to', [ann, bob, nobody], [said(ann), said(bob)], {}],
    ['another text', [ann, bob], [['+447400000001', ann.text.replace('Hello', 'Hi')], said(bob)], { wrongTexts: 1 }],
    [
      'a message that was not asked for',
      [ann, bob],
      [said(ann), said(bob), ['+1', 'Hello']],
      { messages: 3, wrongNumbers: 1, wrongTexts: 1 },
    ],
  ])('%s', (_label, list, receipts, tally) => {
    expect(tallyOf(list, receipts)).toEqual({ ...fine, ...tally });
  });
});

it('takes the start off the CPU time of a message, and the least disturbed of several', () => {
  const plain = [sending(1_000, 260_000), sending(1_000, 250_000), sending(1_000, 300_000)];
  const kept = [sending(100, 170_000), sending(100, 160_000)];
  expect(cpuPerMessage({ plain, kept })).toBe(100);
});

describe('the list as people keep them', () => {
  it('has a hundred rows of eighty people who can be reached, ten of them twice', () => {
    const rows = keptRows();
    const numbers = rows.map(({ to }) => to).filter((to) => to !== null);
    expect([rows.length, numbers.length, new Set(numbers).size]).toEqual([100, 90, 80]);
  });

  it('has a number written as it is sent to in half of its rows only', () => {
    expect(keptRows().filter(({ row, to }) => row.msisdn === to)).toHaveLength(45);
  });
});

describe('the same text for the same row', () => {
  const rows = [...keptRows().map(({ row }) => row), ...Array.from({ length: 30 }, (_, n) => rowOf(n))];

  it('from what Artillery calls, which stops at the end of the list', () => {
    const file = join(PEERS, 'artillery.cjs');
    const require = createRequire(import.meta.url);
    const { nextPerson, anyLeft } = require(file) as Record<'nextPerson' | 'anyLeft', (...of: unknown[]) => void>;
    const context = { vars: { people: rows, msisdn: '', text: '' } };
    const texts: string[] = [];
    let isLeft = true;
    while (isLeft) {
      nextPerson?.(context, null, () => texts.push(context.vars.text));
      anyLeft?.(context, (left: boolean) => {
        isLeft = left;
      });
    }
    nextPerson?.(context, null, () => undefined);
    delete require.cache[file];
    expect(texts).toEqual(rows.map(textOf));
    expect(context.vars.msisdn).toBeUndefined();
  });

  it('from the script of newman', () => {
    expect(runNewman(rows).map((receipt) => receipt?.[1])).toEqual(rows.map(textOf));
    expect(runNewman([rowOf(0)])[0]?.[0]).toBe(rowOf(0).msisdn);
  });

  it('from what curl is given, with a request for each row', () => {
    const requests = curlConfig({ rows }, { url: 'http://127.0.0.1:9', key: KEY }).split('next\n');
    const messages = requests.map((request) => JSON.parse(/^data = (.*)$/m.exec(request)?.[1] ?? '') as string);
    expect(messages.map((message) => readMessage(Buffer.from(message)))).toEqual(
      rows.map((row) => [row.msisdn, textOf(row)]),
    );
  });
});

/** What the collection's script makes of rows, with a number of what newman has read as one. */
function runNewman(rows: readonly BenchRow[]): readonly (Receipt | null)[] {
  const collection = JSON.parse(readFileSync(join(PEERS, 'newman.json'), 'utf8')) as {
    item: { event: { script: { exec: string[] } }[] }[];
  };
  const script = collection.item[0]?.event[0]?.script.exec.join('\n') ?? '';
  const said: (Receipt | null)[] = [];
  const run = runInNewContext(`(pm) => {\n${script}\n}`) as (pm: object) => void;
  for (const row of rows) {
    const msisdn = /^[+]?[1-9]\d*$/.test(row.msisdn) ? Number(row.msisdn) : row.msisdn;
    const iterationData = { toObject: () => ({ ...row, msisdn }) };
    const set = (_name: string, message: string): void => void said.push(readMessage(Buffer.from(message)));
    run({ iterationData, variables: { set } });
  }
  return said;
}

function rowFor(order: string, to: string | null): Expected {
  return { order, to, text: `Hello Ann, your order ${order} is ready. Riverside` };
}

function said({ to, text }: Expected): [string, string] {
  return [to ?? '', text];
}

function sending(messages: number, cpuUs: number): Sending {
  const tally = { messages, people: 0, once: 0, missed: 0, twice: 0, wrongNumbers: 0, wrongTexts: 0 };
  return { tally, usage: { cpuUs, peakBytes: 0, wallMs: 0 }, tookMs: 1, receiverBusy: 0 };
}

function messageTo(msisdn: string): string {
  return JSON.stringify({ channel: 'SMS', body: { text: 'Hello' }, recipients: [{ msisdn }] });
}

async function post(url: string, body: string, key = KEY): Promise<number> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const response = await fetch(`${url}/v2/messages`, { method: 'POST', headers, body });
  await response.arrayBuffer();
  return response.status;
}

async function receivedBy(url: string): Promise<Received> {
  return (await (await fetch(`${url}/receipts`)).json()) as Received;
}

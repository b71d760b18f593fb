import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acquireRunLock } from '../../src/ledger/lock.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { nationalDigits } from '../../src/recipients/phone.ts';
import { createHasher } from '../../src/suppression/hash.ts';
import { traceOf } from '../../src/util/address-trace.ts';
import { receive, replyOf } from '../helpers/events.ts';
import { formatAjv } from '../helpers/format-schemas.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { answer, type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { handbillHere } from './in-process.ts';

const ANN = '+447400123456';
const BOB = '+447400123457';
const CAT = '+447400123458';
const KEY = 'a suppression key of thirty-two b';
const env = { KEY: 'key-of-a-test', HASHES: KEY };

const isErasure = formatAjv({ strict: false }).compile(
  JSON.parse(readFileSync(join(import.meta.dirname, '../../schemas/erasure.schema.json'), 'utf8')) as object,
);

let server: RawServer;
let project: TestProject;
let sent: string[] = [];
let statusOf: (body: string) => number = () => 202;
beforeEach(async () => {
  sent = [];
  statusOf = () => 202;
  server = await startRawServer({
    behaviour: (request) => {
      const body = request.body.toString();
      sent.push(/\+?447400\d+/.exec(body)?.[0] ?? body);
      answer(statusOf(body), `{"id":"M${sent.length}"}`)(request);
    },
  });
  project = createProject({
    'handbill.yaml': `suppressionKey: { env: HASHES }
environments:
  production: { baseUrl: "${new URL(server.url).origin}", apiKey: { env: KEY } }
`,
    'one/campaign.yaml':
      'name: one\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: { csv: people.csv, key: id }\n',
    'one/people.csv': `msisdn,id\n${ANN},cust-77\n${BOB},2\n`,
    'replies.csv': `from,to,text,timestamp\n${ANN},Riverside,STOP,2026-11-21T10:00:00Z\n${BOB},Riverside,Thanks,2026-11-21T10:00:00Z\n`,
  });
});
afterEach(async () => {
  project[Symbol.dispose]();
  await server.close();
});

const keyedByAddress = (): void =>
  project.write(
    'one/campaign.yaml',
    'name: one\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\n',
  );
const run = (...args: readonly string[]) => handbillHere(project.root, args, { env, width: 200 });
const send = (...more: readonly string[]) => run('send', 'one', '--env', 'production', '--yes', ...more);
const erase = (...more: readonly string[]) => run('person', ANN, '--erase', '--yes', ...more);
const ledger = (): string => project.path('.handbill/ledger.db');

/** Every file beside the ledger, as one string of bytes. */
function bytes(): string {
  return readdirSync(dirname(ledger()), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

/** What identifies Ann. */
const traces = (): readonly string[] => ['7400123456', 'cust-77', 'STOP'].filter((trace) => bytes().includes(trace));

describe('a person who asks to be erased', () => {
  it('leaves every run and the file, and is suppressed as a hash', async () => {
    await send();
    await run('send', 'one');
    await run('listen', '--env', 'production', '--from', 'replies.csv');
    expect(traces()).toHaveLength(3);
    const before = (await run('report', 'one', '--format', 'json')).out;
    const { status, out, err } = await erase('--format', 'json');
    expect({ status, err }).toEqual({ status: 0, err: '' });
    const erased = JSON.parse(out) as Record<string, unknown>;
    expect(isErasure(erased), JSON.stringify(isErasure.errors)).toBe(true);
    expect(erased).toMatchObject({
      runs: [{ environment: 'production', recipients: 1 }, { environment: 'sandbox' }],
      events: { replies: 1 },
      suppressed: { as: 'hash', addresses: 1 },
      rewritten: 'done',
    });
    expect(out).not.toContain(ANN);
    expect(traces()).toEqual([]);
    expect(bytes()).toContain(BOB.slice(1));
    expect(existsSync(`${ledger()}.purge`)).toBe(false);
    const after = JSON.parse((await run('report', 'one', '--format', 'json')).out) as Record<string, unknown>;
    expect(after['totals']).toEqual((JSON.parse(before) as Record<string, unknown>)['totals']);

    const known = JSON.parse((await run('person', ANN, '--format', 'json')).out) as Record<string, unknown>;
    expect(known).toMatchObject({
      suppressed: true,
      messages: [],
      replies: [],
      entries: [{ list: 'ledger', hashed: true, topic: null, reason: null, until: null, source: 'user' }],
    });
    expect((await run('person', BOB, '--format', 'json')).out).toContain('Thanks');
  });

  it('is not sent to again by --allow input-changed under another address: a list with keys is not amended any more', async () => {
    await send();
    expect((await erase()).status).toBe(0);
    project.write('one/people.csv', `msisdn,id\n+447400777777,cust-77\n${BOB},2\n`);
    for (const more of [
      ['--allow', 'input-changed'],
      ['--allow', 'input-changed', '--retry', 'corrected'],
    ]) {
      expect(await send(...more)).toMatchObject({ status: 2, err: expect.stringContaining('A person was erased') });
    }
    expect(await send('--allow', 'input-changed', '--dry-run')).toMatchObject({
      status: 2,
      err: expect.stringContaining('A person was erased'),
    });
    expect(sent).toHaveLength(2);
  });

  it('is not sent to again: in another occurrence, by --allow input-changed, by --retry rejected', async () => {
    keyedByAddress();
    statusOf = (body) => (body.includes(ANN.slice(1)) ? 400 : 202);
    await send();
    expect((await erase()).status).toBe(0);
    sent = [];
    statusOf = () => 202;
    expect((await send('--retry', 'rejected')).status).toBe(3);
    expect((await send('--occurrence', 'two')).status).toBe(0);
    project.write('one/people.csv', `msisdn,id\n${CAT},3\n${ANN},cust-77\n${BOB},2\n`);
    expect((await send('--allow', 'input-changed')).status).toBe(3);
    expect(sent.map((to) => to.slice(-3))).toEqual(['457', '458']);
    const { totals } = JSON.parse((await run('report', 'one', '--format', 'json')).out) as {
      readonly totals: Record<string, number>;
    };
    // The refusal of the erased row still counts; the row that is in the list again is skipped.
    expect(totals).toMatchObject({ recipients: 4, accepted: 2, rejected: 1, skipped: 1 });
    // The list has them still, and the run says so.
    expect((await run('person', ANN)).out).toContain('skipped, suppressed');
  });

  it('takes the other addresses of the row along, or the next run would reach them', async () => {
    await send();
    const list = `msisdn,id\n${CAT},cust-77\n${BOB},2\n`;
    project.write('one/people.csv', list);
    expect((await send('--allow', 'input-changed')).status).toBe(0);
    const { status, out } = await erase();
    expect({ status, out }).toMatchObject({
      status: 0,
      out: expect.stringContaining('another address of the same rows'),
    });
    project.write('one/people.csv', `${list}+447400123459,4\n`);
    expect((await send('--occurrence', 'two')).status).toBe(0);
    expect(sent.map((to) => to.slice(-3))).toEqual(['456', '457', '457', '459']);
  });

  it('is found by a key that is the number with blanks, where the message went to an email address', async () => {
    project.write(
      'one/campaign.yaml',
      'name: one\nchannel: email\nfrom: a@b.example\ncontent: { subject: Hi }\ntemplate: { text: Hi }\nrecipients: { csv: people.csv, key: phone }\n',
    );
    project.write('one/people.csv', 'email,phone\nann@x.example,+44 7400 123456\nbob@x.example,2\n');
    await send();
    expect(bytes()).toMatch(/ann@x\.example/);
    expect((await run('person', ANN)).out).toContain('accepted');
    expect((await erase()).out).toContain('Erased 1 row of 1 run.');
    expect(bytes()).not.toMatch(/ann@x\.example|7400 123456/);
    expect((await run('suppress', 'check', 'ann@x.example', '--format', 'json')).out).toContain('"suppressed": true');
  });

  it('is asked about first, with figures', async () => {
    await send();
    const before = readFileSync(ledger());
    const { status, out, err } = await run('person', ANN, '--erase');
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err).toMatch(
      /1 row of 1 run[\s\S]*one-[0-9a-f]{8} \(production, once\)[\s\S]*keyed hash[\s\S]*not-confirmed[\s\S]*--yes/,
    );
    expect(err).not.toContain(ANN);
    expect(readFileSync(ledger()).equals(before)).toBe(true);
    const text = await erase();
    expect(text.out).toMatch(/^Erased 1 row of 1 run\.\n[\s\S]*Not in the ledger, so look there too:\n[\s\S]*provider/);
    expect(text.out).not.toContain(ANN);
  });

  it('stays as an address where that is asked for; without a key nothing is done', async () => {
    await send();
    project.write('handbill.yaml', readFileSync(project.path('handbill.yaml'), 'utf8').replace(/^.*\n/, ''));
    const refused = await erase();
    expect(refused).toMatchObject({ status: 2, err: expect.stringContaining('missing-suppression-key') });
    expect(refused.err).toMatch(/suppressionKey: \{ env: [\s\S]*--keep-suppressed/);
    expect(traces()).toContain('cust-77');
    expect((await erase('--keep-suppressed')).out).toContain('suppressed in all campaigns, as it is');
    expect(traces()).toEqual(['7400123456']);
    const found = JSON.parse((await run('person', ANN, '--format', 'json')).out) as Record<string, unknown>;
    expect(found).toMatchObject({ messages: [], suppressed: true, entries: [{ hashed: false, reason: null }] });
  });

  it('is suppressed also where the ledger knows nothing of them', async () => {
    expect((await erase()).out).toContain('Erased 0 rows of 0 runs.');
    expect((await run('suppress', 'check', ANN, '--format', 'json')).out).toContain('"suppressed": true');
  });
});

describe('nothing is erased', () => {
  it.each([
    [
      'not finished',
      ['--limit', '1'],
      /run-open[\s\S]*one-[0-9a-f]{8} \(one, production, once\) is not finished[\s\S]*handbill send one --env production[\s\S]*purge/,
    ],
    ['in doubt', [], /run-open[\s\S]*in doubt whether the person has the message[\s\S]*handbill doubt list one-/],
  ])('while a run of the person is %s', async (what, more, says) => {
    if (what === 'in doubt') statusOf = () => 504;
    await send(...more);
    const before = traces();
    const { status, err } = await erase();
    expect(status).toBe(2);
    expect(err).toMatch(says);
    expect(traces()).toEqual(before);
    expect((await run('suppress', 'check', ANN, '--format', 'json')).out).toContain('"suppressed": false');
    expect(existsSync(`${ledger()}.purge`)).toBe(false);
  });

  it('while another process is at a run of the person, or purges', async () => {
    await send();
    for (const identity of [
      { environment: 'production', campaign: 'one', occurrence: 'once' },
      { environment: '', campaign: '', occurrence: 'purge' },
    ]) {
      const lock = acquireRunLock(ledger(), identity);
      const { status, err } = await erase();
      lock?.release();
      expect({ status, err }).toMatchObject({ status: 6, err: expect.stringContaining('locked') });
      expect(traces()).toContain('cust-77');
    }
  });

  it('by what goes with --erase alone, or by a hash', async () => {
    for (const args of [
      [ANN, '--yes'],
      [ANN, '--keep-suppressed'],
      [`hb1:12345678:${'0'.repeat(64)}`, '--erase', '--yes'],
      ['12', '--erase', '--yes'],
    ]) {
      expect(await run('person', ...args)).toMatchObject({ status: 2, out: '' });
    }
  });
});

it('is shown and erased where other texts name the number, however it is spelt', async () => {
  await send();
  const spelt = [
    '44 7400 123456',
    '+44 (0)7400 123456',
    '07400/123456',
    '０７４００１２３４５６',
    'tel:+44.7400.123.456',
  ];
  receive(
    ledger(),
    [
      ...spelt.map((odd) => ({ kind: 'unread' as const, body: JSON.stringify({ odd }) })),
      { kind: 'unread', body: JSON.stringify({ odd: BOB }) },
      replyOf({ replyId: 'r1', from: BOB, channel: 'sms', text: 'Ask Ann, 07400 123 456, please' }),
    ],
    { environment: 'production' },
  );
  const shown = JSON.parse((await run('person', ANN, '--format', 'json')).out);
  expect(shown.unread).toHaveLength(spelt.length);
  expect(shown.mentions).toBe(1);
  const { status, out } = await erase('--format', 'json');
  expect([status, JSON.parse(out).events.unread]).toEqual([0, spelt.length]);
  const left = bytes();
  for (const one of [...spelt, '07400 123 456']) expect(left).not.toContain(Buffer.from(one).toString('latin1'));
  expect(left).toContain('Ask Ann, [erased], please');
  expect(left).toContain(BOB);
  const after = JSON.parse((await run('person', ANN, '--format', 'json')).out);
  expect([after.unread, after.mentions]).toEqual([[], 0]);
});

it.each(['purge', 'erase'])('killed before the file was written anew: the next %s goes on', async (next) => {
  await send();
  const hasher = createHasher(Buffer.from(KEY));
  const open = openLedger(ledger(), { mode: 'write', nowMs: Date.now() });
  const [found] = open.runs();
  if (found === undefined) throw new Error('it was sent');
  open.purge.begin();
  const trace = traceOf(ANN, nationalDigits);
  const rows = [{ run: found, rows: [0], keys: ['cust-77'], kept: [] }];
  open.purge.erase({ address: ANN, runs: rows, drafts: [], suppressed: [ANN], hasher, trace }, Date.now());
  open.close();
  expect(existsSync(`${ledger()}.purge`)).toBe(true);
  const { status } = next === 'purge' ? await run('purge', '--older-than', '90d', '--yes') : await erase();
  expect(status).toBe(0);
  expect(existsSync(`${ledger()}.purge`)).toBe(false);
  expect(traces()).toEqual([]);
});

it('a list that a killed start left half loaded loses its rows', async () => {
  await send();
  const open = openLedger(ledger(), { mode: 'write', nowMs: Date.now() });
  const draft = open.beginLoad(
    { environment: 'production', campaign: 'one', occurrence: 'next' },
    { channel: 'sms', nowMs: 1 },
  );
  const row = { state: 'pending', reason: null, parts: 1, encoding: null, costMicros: null, variant: null } as const;
  open.load(draft, [
    { ...row, row: 0, line: 2, key: 'cust-77', to: ANN },
    { ...row, row: 1, line: 3, key: '2', to: BOB },
  ]);
  open.close();
  expect((await erase()).status).toBe(0);
  expect(traces()).toEqual([]);
});

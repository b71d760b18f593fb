import { readdirSync, readFileSync } from 'node:fs';
import { chmod, cp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Ajv } from 'ajv';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import { reconcile } from '../../src/operations/reconcile.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { endedRun, withLedger } from '../ledger/given.ts';
import { loadRow } from '../ledger/values.ts';
import { handbillHere } from './in-process.ts';
import { projectWith } from './run-handbill.ts';

const SCHEMA = JSON.parse(readFileSync(new URL('../../schemas/reconciliation.schema.json', import.meta.url), 'utf8'));
const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(SCHEMA);

const CAMPAIGN = `name: hello
channel: rcs
from: Riverside
template: { text: "Hello" }
recipients: people.csv
fallback: { channel: sms, template: { text: "Hello by SMS" } }
`;
const ANN = '+447700900001';
const BOB = '+447700900002';
const CAT = '+447700900003';

let root = '';
let remove = async (): Promise<void> => undefined;
let ids: Readonly<Record<string, string>> = {};

/** Sent once, and copied for each test. */
let sent = { root: '', remove: async (): Promise<void> => undefined };

beforeAll(async () => {
  sent = await projectWith({
    'hello/campaign.yaml': CAMPAIGN,
    'hello/people.csv': `msisdn\n${ANN}\n${BOB}\n${CAT}\n`,
    'handbill.yaml': 'defaultCountry: GB\n',
  });
  await handbillHere(sent.root, ['send', 'hello', '--quiet']);
  const lines = (await handbillHere(sent.root, ['report', '--format', 'jsonl'])).out.trim().split('\n');
  ids = Object.fromEntries(lines.map((line) => [JSON.parse(line).key, JSON.parse(line).messageId]));
});
afterAll(() => sent.remove());

beforeEach(async () => {
  ({ root, remove } = await projectWith({}));
  await cp(sent.root, root, { recursive: true });
  // The copy would be open to others otherwise.
  await chmod(join(root, '.handbill'), 0o700);
});
afterEach(() => remove());

async function file(name: string, text: string | Buffer): Promise<string> {
  await writeFile(join(root, name), text);
  return name;
}

async function run(...args: readonly string[]) {
  const isFlag = (one: string): boolean => one.startsWith('-');
  const flags = args.filter(isFlag);
  const files = args.filter((one) => !isFlag(one));
  const { status, out, err } = await handbillHere(root, ['listen', '--format', 'json', ...flags, '--from', ...files]);
  const result = out === '' ? null : JSON.parse(out);
  if (result !== null) {
    validate(result);
    expect(validate.errors).toBeNull();
  }
  return { status, err, result };
}

async function deliveries(): Promise<readonly (string | null)[]> {
  const { out } = await handbillHere(root, ['report', '--format', 'jsonl']);
  return jsonLines(out).map(({ delivery }) => delivery);
}

const now = (): string => new Date().toISOString();

describe('a CSV', () => {
  it('of reports has columns under any of the usual names', async () => {
    const text = [
      'Message ID;Status;Timestamp;error.code;To',
      `${ids[ANN]};DELIVRD;${now()};;447700900001`,
      `${ids[BOB]};failed;${now()};30006;"'+447700900002"`,
      '',
    ].join('\n');
    const { status, result, err } = await run(await file('reports.csv', text));
    expect({ status, err, diagnostics: result.diagnostics }).toEqual({
      status: 0,
      err: 'Ledger: .handbill/ledger.db\n',
      diagnostics: [],
    });
    expect(result.files).toEqual([{ file: 'reports.csv', events: 2, reports: 2, replies: 0, unread: 0, known: 0 }]);
    expect(await deliveries()).toEqual(['delivered', 'failed', null]);
  });

  it('says how many reports are about no message, each once', async () => {
    const text = `messageId,status,to\n${ids[ANN]},delivered,\nm-unknown,delivered,\n${ids[BOB]},delivered,${CAT}\n,read,${CAT}\n`;
    const { result } = await run(await file('reports.csv', text));
    expect(result).toMatchObject({ unmatched: 3, files: [{ reports: 4 }] });
    expect((await run('reports.csv')).result).toMatchObject({ unmatched: 0 });
    const more = await file('more.csv', 'messageId,status\nm-other,delivered\n');
    const said = await handbillHere(root, ['listen', '--from', more]);
    expect(said.out).toContain('1 delivery report matches no message of sandbox in this ledger.');
    const all = await run(await file('all.csv', `messageId,status\n${ids[CAT]},read\n${ids[BOB]},read\n`));
    expect(all.result).toMatchObject({ unmatched: 0, files: [{ reports: 2 }] });
  });

  it('of replies suppresses, and joins each to what it answers', async () => {
    const text = `from,to,text,timestamp\n447700900001,Riverside," Stop. ",${now()}\n07700900002,Riverside,"Yes,\nplease",${now()}\n`;
    const { status, result } = await run(await file('replies.csv', text));
    expect({ status, suppressed: result.suppressed }).toEqual({ status: 0, suppressed: [ANN] });
    expect(result).toMatchObject({ repliesJoined: 2, files: [{ replies: 2 }] });
    expect(await deliveries()).toEqual(['opted-out', 'replied', null]);
  });

  it('has rows that are wrong by their lines, and the others are taken over', async () => {
    const text = `messageId,status\n${ids[ANN]},delivered\nx\n"${ids[BOB]}",read\n`;
    const { status, result } = await run(await file('reports.csv', text));
    expect(status).toBe(2);
    expect(result.files).toMatchObject([{ reports: 2 }]);
    expect(result.diagnostics).toMatchObject([{ code: 'invalid-reports', file: 'reports.csv', line: 3 }]);
    expect(await deliveries()).toEqual(['delivered', 'read', null]);
  });
});

describe('JSON', () => {
  const events = () => [
    { messageId: ids[ANN], status: 'delivered', timestamp: now() },
    { messageId: ids[BOB], status: 'undeliverable', timestamp: now() },
  ];

  test.each<[string, (all: readonly object[]) => string]>([
    ['lines', (all) => all.map((one) => JSON.stringify(one)).join('\r\n')],
    ['an array', (all) => JSON.stringify(all)],
    ['an array over several lines, with a mark', (all) => `\ufeff${JSON.stringify(all, null, 2)}`],
    ['values after each other', (all) => all.map((one) => JSON.stringify(one, null, 2)).join('\n')],
    ['an envelope', (all) => JSON.stringify({ results: all })],
    ['arrays in lines', (all) => all.map((one) => JSON.stringify([one])).join('\n')],
  ])('as %s', async (_, write) => {
    const { status, result } = await run(await file('events.json', write(events())));
    expect({ status, file: result.files[0] }).toMatchObject({ status: 0, file: { events: 2, reports: 2 } });
    expect(await deliveries()).toEqual(['delivered', 'undeliverable', null]);
  });

  it('in UTF-16 is read too', async () => {
    const text = Buffer.from(`\ufeff${JSON.stringify(events())}`, 'utf16le');
    expect((await run(await file('events.json', text))).result.files).toMatchObject([{ reports: 2 }]);
  });

  test.each([
    ['a broken line', (all: readonly string[]) => `${all[0]}\n{"messageId":\n${all[1]}`, 2, 2],
    ['a word', (all: readonly string[]) => `[${all[0]},\n${all[1]},\nstatus=delivered\n]`, 3, 2],
    ['an array without an end', (all: readonly string[]) => `[${all[0]},\n${all[1]}`, 2, 2],
    ['no UTF-8', (all: readonly string[]) => Buffer.from(`${all[0]}\n${all[1]}\n{"a":"\xff"}`, 'latin1'), 3, 0],
    ['too deep', (all: readonly string[]) => `${all[0]}\n${'['.repeat(40)}${']'.repeat(40)}`, 2, 1],
  ])('with %s says where', async (_, write, line, reports) => {
    const text = write(events().map((one) => JSON.stringify(one)));
    const { status, result } = await run(await file('events.json', text));
    expect({ status, reports: result.files[0].reports }).toEqual({ status: 2, reports });
    expect(result.diagnostics).toMatchObject([{ code: 'invalid-reports', severity: 'error', line }]);
    expect(result.diagnostics[0].hint).toContain('give it again');
  });

  it('is told from a list of recipients where a file is empty', async () => {
    const { status, err } = await handbillHere(root, ['listen', '--from', await file('empty.csv', '')]);
    expect({ status, err }).toEqual({ status: 2, err: expect.stringContaining('messageId,status') });
    expect(err).not.toMatch(/list|msisdn/);
  });
});

describe('a form, as a webhook gets it', () => {
  const NEXMO =
    'msisdn=447700900001&to=447400999999&messageId=in77&text=STOP&type=text&message-timestamp=2026-11-27+15%3A00%3A00';
  const TWILIO = 'MessageSid=SM7&From=%2B447700900002&To=%2B447400999999&Body=Stop&OptOutType=STOP';
  const PROVIDERS: Readonly<Record<string, string>> = {
    'vonage-sms': 'vonage-sms, vars: { key: abcd0000 }, secrets: { secret: { env: KEY } }',
    twilio: 'twilio, vars: { account: AC0 }, secrets: { token: { env: KEY } }',
  };
  const REPORT = () => `MessageSid=${ids[CAT]}&MessageStatus=delivered&To=%2B447700900003`;

  test.each<[string, string, string, () => string | Buffer, readonly string[]]>([
    ['vonage-sms', 's.txt', 'alone', () => NEXMO, [ANN]],
    ['vonage-sms', 's.form', 'with a line end', () => `${NEXMO}\r\n`, [ANN]],
    ['twilio', 's.csv', 'alone', () => TWILIO, [BOB]],
    ['twilio', 's.txt', 'behind blank lines and a mark', () => `\ufeff\n \n${TWILIO}\n`, [BOB]],
    ['twilio', 's.txt', 'in UTF-16', () => Buffer.from(`\ufeff${TWILIO}\r\n`, 'utf16le'), [BOB]],
    ['twilio', 's.txt', 'in a code page', () => Buffer.from(`${TWILIO}&City=Orl\xe9ans`, 'latin1'), [BOB]],
    ['twilio', 's.txt', 'longer than the beginning', () => `Extra=${'x'.repeat(200_000)}&${TWILIO}`, [BOB]],
  ])('of %s in %s, %s, is read as --explain reads it', async (provider, name, _, text, suppressed) => {
    await file(
      'handbill.yaml',
      `defaultCountry: GB\nenvironments: { production: { provider: ${PROVIDERS[provider]} } }\n`,
    );
    await file(name, text());
    const env = ['--env', 'production'];
    const { out, err } = await handbillHere(root, ['listen', ...env, '--explain', name]);
    expect({ out, err }).toEqual({ out: expect.stringContaining(`${name} is a form, with 1 event in it.`), err: '' });
    const { status, out: said } = await handbillHere(root, ['listen', '--format', 'json', ...env, '--from', name]);
    expect({ status, ...JSON.parse(said) }).toMatchObject({ status: 0, suppressed, files: [{ replies: 1 }] });
  });

  it('is one of several, each in a line, and once', async () => {
    const text = `${NEXMO}\n\n${TWILIO}\r\n${REPORT()}`;
    const { status, result } = await run(await file('s.txt', text));
    expect({ status, suppressed: result.suppressed }).toEqual({ status: 0, suppressed: [ANN, BOB] });
    expect(result).toMatchObject({ unmatched: 0, files: [{ reports: 1, replies: 2 }], diagnostics: [] });
    expect((await run('s.txt')).result).toMatchObject({ files: [{ known: 3 }] });
  });

  it('is read beside a line that is none, which is named', async () => {
    const { status, result } = await run(await file('s.txt', `${NEXMO}\nhello there\n${TWILIO}\n`));
    expect({ status, suppressed: result.suppressed }).toEqual({ status: 2, suppressed: [ANN, BOB] });
    expect(result.diagnostics).toMatchObject([{ code: 'invalid-reports', line: 2 }]);
  });

  it('comes from standard input, in any pieces', async () => {
    const bytes = Buffer.from(`${NEXMO}\n${TWILIO}\n`);
    const input = Readable.from([bytes.subarray(0, 7), bytes.subarray(7, 130), bytes.subarray(130)]);
    const result = await reconcile(['-'], { cwd: root, env: {}, input });
    expect(result).toMatchObject({ suppressed: [ANN, BOB], files: [{ file: 'standard input', replies: 2 }] });
  });

  it('that is no event is refused', async () => {
    const { status, err } = await handbillHere(root, ['listen', '--from', await file('s.txt', 'colour=blue&size=4')]);
    expect({ status, err }).toEqual({ status: 2, err: expect.stringContaining('Nothing in s.txt is') });
  });
});

describe('a CSV of one line', () => {
  test.each([
    'messageId,status,timestamp,error',
    'from,to,text,timestamp',
    'type;from;text',
    'Message ID;Status;error.code',
    'direction,from,to,body\r\n',
    'sep=;\nmessageId;status',
  ])('%j has no events', async (text) => {
    const said = await handbillHere(root, ['listen', '--from', await file('none.csv', text)]);
    expect(said).toMatchObject({ status: 0, out: 'none.csv: no events.\n' });
  });

  test.each(['447700900001,STOP', 'STOP', 'From=%2B447700900001&Body=STOP please', 'name,city'])(
    '%j is no header, and is refused',
    async (text) => {
      const { status, out, err } = await handbillHere(root, ['listen', '--from', await file('one.csv', text)]);
      expect({ status, out }).toEqual({ status: 2, out: '' });
      expect(err).toContain('Nothing in one.csv is a delivery report or a reply');
    },
  );
});

describe('what follows', () => {
  it('is the same when it is done twice, in another order, and from two files', async () => {
    const reports = [
      JSON.stringify({ messageId: ids[ANN], status: 'sent', timestamp: now() }),
      JSON.stringify({ messageId: ids[ANN], status: 'delivered', timestamp: now() }),
      JSON.stringify({ from: BOB, to: 'Riverside', text: 'STOP', timestamp: now() }),
    ];
    const first = await run(await file('a.jsonl', reports.join('\n')));
    const second = await run(await file('b.jsonl', reports.toReversed().join('\n')), 'a.jsonl');
    expect(first.result).toMatchObject({ suppressed: [BOB], files: [{ events: 3, reports: 2, replies: 1, known: 0 }] });
    expect(second.result).toMatchObject({ suppressed: [], repliesJoined: 0, files: [{ known: 3 }, { known: 3 }] });
    expect(await deliveries()).toEqual(['delivered', 'opted-out', null]);
  });

  it('are fallbacks that are due, with what sends them', async () => {
    const text = `messageId,status\n${ids[CAT]},undeliverable\n`;
    const { result } = await run(await file('reports.csv', text));
    const [due] = result.fallbacksDue;
    expect(due).toMatchObject({ campaign: 'hello', recipients: 1, command: 'handbill send hello' });
    const { out } = await handbillHere(root, ['report']);
    expect(out).toContain('did not reach 1 recipient');
    await handbillHere(root, due.command.split(' ').slice(1));
    expect((await run('reports.csv')).result).toMatchObject({ fallbacksDue: [], files: [{ known: 1 }] });
  });

  it('are doubts that are settled', async () => {
    const nowMs = Date.now();
    const doubt = { state: 'in-doubt', reason: 'timeout', httpStatus: null, messageId: 'm-9' } as const;
    withLedger(join(root, '.handbill/ledger.db'), nowMs, (ledger) =>
      endedRun(ledger, [loadRow(0, { key: CAT })], [doubt], { campaign: 'other', nowMs }),
    );
    const dry = await run('--dry-run', await file('reports.csv', 'messageId,status\nm-9,delivered\n'));
    expect(dry.result).toMatchObject({ dryRun: true, doubtsResolved: 1, files: [{ reports: 1 }] });
    expect((await run('reports.csv')).result).toMatchObject({ doubtsResolved: 1 });
    expect((await run('reports.csv')).result).toMatchObject({ doubtsResolved: 0 });
    const report = await handbillHere(root, ['report', 'other', '--format', 'jsonl']);
    expect(JSON.parse(report.out)).toMatchObject({ outcome: 'accepted', delivery: 'delivered' });
  });
});

describe('--dry-run', () => {
  it('changes nothing, and leaves nothing behind', async () => {
    const text = `messageId,status,from,text\n${ids[ANN]},delivered,,\n,,${BOB},STOP\n`;
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('handbill-reconcile-'));
    const name = await file('reports.csv', text);
    const dry = await run('--dry-run', name);
    expect(dry.result).toMatchObject({ dryRun: true, suppressed: [BOB], files: [{ reports: 1, replies: 1 }] });
    expect(await deliveries()).toEqual([null, null, null]);
    expect(readdirSync(tmpdir()).filter((one) => one.startsWith('handbill-reconcile-'))).toEqual(before);
    expect((await run(name)).result).toMatchObject({ ...dry.result, dryRun: false });
  });
});

describe('a file of which nothing is understood', () => {
  it('is refused, and nothing of it is kept', async () => {
    const { status, err } = await handbillHere(root, ['listen', '--from', 'hello/people.csv']);
    expect(status).toBe(2);
    expect(err).toContain('Nothing in hello/people.csv is a delivery report or a reply');
    const ledger = openLedger(join(root, '.handbill/ledger.db'), { mode: 'read', nowMs: Date.now() });
    expect(ledger.events.counts()).toEqual({ reports: 0, replies: 0, unread: 0 });
    ledger.close();
  });

  it('but for some events is taken over, and says which is the first of the others', async () => {
    const text = `messageId,status\n${ids[ANN]},delivered\n,\n${ids[BOB]},\n,weird\n`;
    const { status, result } = await run(await file('reports.csv', text));
    expect({ status, file: result.files[0] }).toMatchObject({ status: 0, file: { reports: 1, unread: 2 } });
    expect(result.diagnostics).toMatchObject([{ code: 'unread-event', severity: 'warning', line: 4 }]);
  });

  test.each([
    ['nowhere.csv', 'does not exist'],
    ['.', 'not a regular file'],
  ])('%s', async (name, says) => {
    const { status, err } = await handbillHere(root, ['listen', '--from', name]);
    expect(status).toBe(2);
    expect(err).toContain(says);
  });
});

test('text says what was done; --quiet says nothing', async () => {
  const text = `messageId,status,from,text\n${ids[ANN]},delivered,,\n,,${BOB},STOP\n${ids[CAT]},undeliverable,,\n`;
  const name = await file('reports.csv', text);
  const { out } = await handbillHere(root, ['listen', '--from', name, name]);
  expect(out).toBe(`reports.csv: 2 delivery reports and 1 reply are new.
reports.csv: nothing is new, 3 events known already.
1 reply joined to the message that was answered.
1 address suppressed: +44••••••0002.
1 message of hello did not arrive, as reports say. Sending again sends the fallback:
    handbill send hello
`);
  expect(await handbillHere(root, ['listen', '--from', name, '--quiet'])).toEqual({ status: 0, out: '', err: '' });
});

test('standard input is read once, whatever it holds', async () => {
  const events = Array.from(
    { length: 5_000 },
    (_, i) => `${JSON.stringify({ messageId: `x-${i}`, status: 'sent' })}\n`,
  );
  const result = await reconcile(['-'], { cwd: root, env: {}, input: Readable.from(events) });
  expect(result.files).toMatchObject([{ file: 'standard input', reports: 5_000 }]);
  await expect(reconcile(['-', '-'], { cwd: root, env: {}, input: Readable.from([]) })).rejects.toThrow('read once');
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import { recorderOf } from '../../src/operations/listen.ts';
import { addressTest, interpreterOf, projectHere } from '../../src/operations/project.ts';
import { handbillHere } from './in-process.ts';
import { projectWith } from './run-handbill.ts';

// An opt-out that can be joined to no address is an error, and never counts as suppressed.

const NUMBER = '+447400123457';

let remove = async (): Promise<void> => undefined;
afterEach(() => remove());

async function givenProject(file: string, text: string, settings = 'defaultCountry: GB\n'): Promise<string> {
  const made = await projectWith({
    'handbill.yaml': settings,
    'c.yaml': 'name: c\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Sale!" }\nrecipients: people.csv\n',
    'people.csv': `msisdn\n${NUMBER}\n`,
    [file]: text,
  });
  remove = made.remove;
  return made.root;
}

async function suppressedIn(root: string): Promise<readonly string[]> {
  const { out } = await handbillHere(root, ['suppress', 'list', '--format', 'json']);
  return JSON.parse(out).suppressions.map(({ address }: { address: string }) => address);
}

test.each([
  ['4.474E+11', /scientific notation/],
  ['4,474e11', /scientific notation/],
  ['abc', /is not a phone number/],
  ['447400123457@lid', /email|@/],
  ['120363041234567890@g.us', /is not a phone number/],
  ['7400 12', /too short|cannot be/],
  ['+999123456', /country code/],
  ['Anonymous', /is not a phone number/],
])('a STOP from %s', async (sender, why) => {
  const root = await givenProject('replies.csv', `from,text\n+447400123499,hello\n"${sender}",STOP\n`);
  const { status, out, err } = await handbillHere(root, ['listen', '--from', 'replies.csv']);
  expect(status).toBe(2);
  expect(err).toMatch(/error\[unassigned-opt-out\][^\n]*\n {2}replies\.csv:3\n/);
  expect(err).toMatch(why);
  expect(out).not.toContain('suppressed');
  expect(await suppressedIn(root)).toEqual([]);
  // Held all the same, for a person to read; and giving the file again says it again.
  expect((await handbillHere(root, ['replies'])).out).toContain('STOP');
  expect((await handbillHere(root, ['listen', '--from', 'replies.csv'])).status).toBe(2);
});

test.each([
  '447400123457@s.whatsapp.net',
  '447400123457@c.us',
  '+447400123457@C.US',
  '447400123457:12@s.whatsapp.net',
  'whatsapp:447400123457',
])('a STOP from %s is one of the number', async (sender) => {
  const root = await givenProject('replies.jsonl', `${JSON.stringify({ from: sender, text: 'STOP' })}\n`);
  expect((await handbillHere(root, ['listen', '--from', 'replies.jsonl'])).status).toBe(0);
  expect(await suppressedIn(root)).toEqual([NUMBER]);
});

test('such an id is a number on a command line too', async () => {
  const root = await givenProject('replies.csv', 'from,text\n');
  await handbillHere(root, ['suppress', 'add', '447400123457@c.us']);
  expect(await suppressedIn(root)).toEqual([NUMBER]);
});

test('a number without a country code is an error that names the setting, and counts once that is set', async () => {
  const root = await givenProject('replies.csv', 'from,text\n07400 123457,STOP\n', 'locale: en\n');
  const { status, err } = await handbillHere(root, ['listen', '--from', 'replies.csv']);
  expect([status, err]).toEqual([2, expect.stringContaining('`defaultCountry` in handbill.yaml')]);
  expect(await suppressedIn(root)).toEqual([]);
  await writeFile(join(root, 'handbill.yaml'), 'defaultCountry: GB\n');
  expect((await handbillHere(root, ['listen', '--from', 'replies.csv'])).status).toBe(0);
  expect(await suppressedIn(root)).toEqual([NUMBER]);
});

test('an opt-out without a sender is an error, and a text without one is not', async () => {
  const root = await givenProject('replies.csv', `from,text\n${NUMBER},hello\n,STOP\n,see you\n`);
  const { status, err } = await handbillHere(root, ['listen', '--from', 'replies.csv']);
  expect(status).toBe(2);
  expect(err.match(/unassigned-opt-out/g)).toHaveLength(1);
  expect(err).toContain('replies.csv:3');
});

test('a report of an opt-out counts the same', async () => {
  const report = { messageId: 'x', status: 'failed', to: '4.474E+11', error: { code: '21610', message: 'opted out' } };
  const root = await givenProject('reports.jsonl', `${JSON.stringify(report)}\n`);
  const { status, err } = await handbillHere(root, ['listen', '--from', 'reports.jsonl']);
  expect([status, err]).toEqual([2, expect.stringContaining('unassigned-opt-out')]);
});

test.each([
  { event: 'unsubscribe', email: 'a@example.com' },
  { event: 'spamreport', email: 'a@example.com' },
  { notificationType: 'Complaint', complaint: { complainedRecipients: [{ emailAddress: 'a@example.com' }] } },
  { msys: { unsubscribe_event: { type: 'list_unsubscribe', rcpt_to: 'a@example.com' } } },
  { type: 'email.complained', data: { email_id: '1', from: 'us@example.com', to: ['a@example.com'] } },
  { type: 'contact.updated', data: { email: 'a@example.com', unsubscribed: true } },
  { Type: 'Notification', Message: '{"notificationType":"Complaint","mail":{"source":"us@example.com"}}' },
  { RecordType: 'SpamComplaint', Email: 'a@example.com', From: 'us@example.com', Content: 'a copy of our message' },
  { RecordType: 'SpamComplaint', Email: 'a@example.com', From: 'us@example.com', Content: 'unsubscribe' },
])('an event that is not understood and seems to be an opt-out is an error: %j', async (event) => {
  const known = { messageId: 'x', status: 'delivered', to: NUMBER };
  const other = { event: 'open', email: 'a@example.com', headers: 'list-unsubscribe' };
  const lines = [known, event, other].map((one) => JSON.stringify(one)).join('\n');
  const root = await givenProject('events.jsonl', `${lines}\n`);
  const { status, err } = await handbillHere(root, ['listen', '--from', 'events.jsonl']);
  expect([status, err.match(/error\[unassigned-opt-out\]/g)?.length]).toEqual([2, 1]);
  expect(err).toMatch(/names no sender[\s\S]*events\.jsonl:2[\s\S]*suppress add[\s\S]*webhook\.optOut/);
});

test('a STOP that answers a known message suppresses its recipient, whatever its sender is', async () => {
  const root = await givenProject('replies.csv', '');
  await handbillHere(root, ['send', 'c.yaml', '--quiet']);
  const { out } = await handbillHere(root, ['report', '--format', 'jsonl']);
  const { messageId } = JSON.parse(out);
  await writeFile(join(root, 'replies.csv'), `from,text,inReplyTo\n4.474E+11,STOP,${messageId}\n`);
  const { status, out: said } = await handbillHere(root, ['listen', '--from', 'replies.csv']);
  expect([status, said]).toEqual([0, expect.stringContaining('1 address suppressed')]);
  expect(await suppressedIn(root)).toEqual([NUMBER]);
});

test('the sender of a complaint is not taken for the one who complained, and a STOP beside a name is one', async () => {
  const complaint = { RecordType: 'SpamComplaint', Email: 'a@example.com', From: 'us@example.com', Content: 'STOP' };
  const stop = { type: 'opt_out', from: NUMBER, text: 'STOP' };
  const root = await givenProject('events.jsonl', [complaint, stop].map((one) => JSON.stringify(one)).join('\n'));
  expect((await handbillHere(root, ['listen', '--from', 'events.jsonl'])).status).toBe(2);
  expect(await suppressedIn(root)).toEqual([NUMBER]);
});

test('a receiver holds it, says so, and does not count it', async () => {
  const root = await givenProject('x.txt', '');
  const ledger = openLedger(join(root, '.handbill/ledger.db'), { mode: 'write', nowMs: Date.now() });
  const reading = projectHere({ cwd: root, env: {} });
  const lines: string[] = [];
  const counted: string[] = [];
  const recorder = recorderOf(ledger, {
    ...{ now: Date.now, startLifts: false, stopEnds: 'everything' as const, isAddress: addressTest(reading) },
    onRecorded: ({ suppressed }) => counted.push(...suppressed),
    log: (line) => lines.push(line),
  });
  const read = interpreterOf(reading, 'sandbox').interpret(
    Buffer.from('{"from":"4.474E+11","text":"STOP"}'),
    Date.now(),
  );
  await recorder.record(read.events, 'sandbox');
  expect(lines.join('\n')).toMatch(/cannot be read as an address.*no recipient is suppressed/);
  const unnamed = interpreterOf(reading, 'sandbox').interpret(
    Buffer.from('{"event":"spamreport","email":"a@example.com"}'),
    Date.now(),
  );
  await recorder.record(unnamed.events, 'sandbox');
  expect(lines.join('\n')).toMatch(/names no sender[^\n]*no recipient is suppressed[^\n]*webhook\.optOut/);
  expect(counted).toEqual([]);
  expect(ledger.events.counts().replies).toBe(1);
  const review = { meaning: 'opt-out', who: 'jane', atMs: Date.now() } as const;
  expect(ledger.events.reviewReplies([1], review, { startLifts: false })).toMatchObject({
    suppressed: [],
    unassigned: ['4.474E+11'],
  });
  ledger.close();
});

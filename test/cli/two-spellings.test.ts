import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { handbillHere } from './in-process.ts';
import { projectWith } from './run-handbill.ts';

// One phone in two spellings: the list has one of them, and what came in has the other.

const KEY = 'a key of more than sixteen bytes';
const ENV = { env: { HANDBILL_SUPPRESSION_KEY: KEY } };
const SPELLINGS: readonly (readonly [where: string, listed: string, other: string])[] = [
  ['Brazil, the short form in the list', '+558587654321', '+5585987654321'],
  ['Argentina', '+5491123456789', '+541123456789'],
  ['Mexico', '+525512345678', '+5215512345678'],
];

let remove = async (): Promise<void> => undefined;
afterEach(() => remove());

async function givenProject(number: string, campaign = '', project = ''): Promise<string> {
  const made = await projectWith({
    'handbill.yaml': `suppressionKey: { env: HANDBILL_SUPPRESSION_KEY }\n${project}`,
    'c.yaml': `name: c\nchannel: messaging-app\nfrom: "447400999999"\ntemplate: { text: "Sale!" }\n${campaign}recipients: people.csv\n`,
    'people.csv': `msisdn\n${number}\n`,
  });
  remove = made.remove;
  return made.root;
}

async function decisionIn(root: string): Promise<string> {
  const { out, err } = await handbillHere(root, ['preview', 'c.yaml', '--occurrence', 'next', '--format', 'json'], ENV);
  expect(err).not.toContain('error');
  const [row] = JSON.parse(out).decisions;
  return row.reason ?? row.decision;
}

function hashOf(number: string): string {
  const hmac = (text: string): string => createHmac('sha256', KEY).update(text).digest('hex');
  return `hb1:${hmac('hb1:key-id').slice(0, 8)}:${hmac(`hb1:msisdn:${number}`)}`;
}

for (const [where, listed, other] of SPELLINGS) {
  test(`${where}: a STOP from the other spelling counts`, async () => {
    const root = await givenProject(listed);
    await writeFile(join(root, 'replies.csv'), `from,text\n${other.slice(1)},STOP\n`);
    expect((await handbillHere(root, ['listen', '--from', 'replies.csv'], ENV)).status).toBe(0);
    expect(await decisionIn(root)).toBe('suppressed');
    const { out } = await handbillHere(root, ['person', listed], ENV);
    expect(out).toMatch(/STOP/);
  });

  test(`${where}: an entry of the ledger counts, and is removed again by either spelling`, async () => {
    const root = await givenProject(listed);
    await handbillHere(root, ['suppress', 'add', other], ENV);
    expect(await decisionIn(root)).toBe('suppressed');
    await handbillHere(root, ['suppress', 'remove', listed], ENV);
    expect(await decisionIn(root)).toBe('send');
  });

  test.each([
    ['in clear', `msisdn\n${other}\n`],
    ['as a hash', `hash\n${hashOf(other)}\n`],
  ])(`${where}: a suppression file counts, %s`, async (_, text) => {
    const root = await givenProject(listed, 'suppressions: out.csv\n');
    await writeFile(join(root, 'out.csv'), text);
    expect(await decisionIn(root)).toBe('suppressed');
    // The same in the ledger, whose hash is removed by the number.
    await handbillHere(root, ['suppress', 'import', 'out.csv'], ENV);
    await writeFile(join(root, 'out.csv'), 'msisdn\n');
    expect(await decisionIn(root)).toBe('suppressed');
    expect((await handbillHere(root, ['suppress', 'check', listed], ENV)).out).toMatch(/: suppressed/);
    await handbillHere(root, ['suppress', 'remove', listed], ENV);
    expect(await decisionIn(root)).toBe('send');
  });

  test(`${where}: the list has the phone twice`, async () => {
    const root = await givenProject(listed);
    await writeFile(join(root, 'people.csv'), `msisdn\n${listed}\n${other}\n`);
    const { out } = await handbillHere(root, ['preview', 'c.yaml', '--format', 'json'], ENV);
    expect(JSON.parse(out).decisions.map((row: { reason: string | null }) => row.reason)).toEqual([null, 'duplicate']);
  });

  test.each([
    ['frequency: { max: 1, per: 30d }\n', 'frequency-cap'],
    ['exclude: [before]\n', 'excluded'],
  ])(`${where}: a message to the other spelling counts for %j`, async (rule, reason) => {
    const root = await givenProject(listed, rule);
    await writeFile(
      join(root, 'before.yaml'),
      'name: before\nchannel: messaging-app\nfrom: "447400999999"\ntemplate: { text: "Sale!" }\nrecipients: before.csv\n',
    );
    await writeFile(join(root, 'before.csv'), `msisdn\n${other}\n`);
    expect((await handbillHere(root, ['send', 'before.yaml', '--quiet'], ENV)).status).toBe(0);
    expect(await decisionIn(root)).toBe(reason);
  });

  test(`${where}: a list that was changed to the other spelling reaches no second time`, async () => {
    const root = await givenProject(listed);
    expect((await handbillHere(root, ['send', 'c.yaml', '--quiet'], ENV)).status).toBe(0);
    await writeFile(join(root, 'people.csv'), `msisdn\n${other}\n`);
    await handbillHere(root, ['send', 'c.yaml', '--allow', 'input-changed'], ENV);
    const { out } = await handbillHere(root, ['report', '--format', 'json'], ENV);
    expect(JSON.parse(out).requests).toMatchObject({ posted: 1 });
    expect((await handbillHere(root, ['report'], ENV)).out).not.toContain('another address');
  });
}

/** An email address in other letters is the same person, too, in the next form of a list and beside another time. */
const MAIL = 'name: c\nchannel: email\nfrom: a@example.com\ncontent: { subject: Hi }\ntemplate: { text: Hi }\n';

test.each(['', ', key: email', ', key: [email, list]'])(
  'an email address that is written in other letters later gets no second message%s',
  async (key) => {
    const root = await givenProject('+447400123456');
    await writeFile(join(root, 'c.yaml'), `${MAIL}recipients: { csv: people.csv${key} }\n`);
    await writeFile(join(root, 'people.csv'), 'email,list\nAda.Evans@Example.com,a\n');
    expect((await handbillHere(root, ['send', 'c.yaml', '--quiet'], ENV)).status).toBe(0);
    await writeFile(join(root, 'people.csv'), 'email,list\nada.evans@example.com,a\n');
    await handbillHere(root, ['send', 'c.yaml', '--allow', 'input-changed'], ENV);
    const { out } = await handbillHere(root, ['report', '--format', 'json'], ENV);
    expect(JSON.parse(out)).toMatchObject({ requests: { posted: 1 }, totals: { accepted: 1 } });
    // As the first list had it.
    const name = ['--key', 'Ada.Evans@Example.com'];
    expect((await handbillHere(root, ['preview', 'c.yaml', ...name, '--occurrence', 'next'], ENV)).err).toBe('');
    const test = ['send', 'c.yaml', '--test-to', 'bob@example.com', ...name];
    expect((await handbillHere(root, test, ENV)).err).not.toContain('has no row');
    const { err } = await handbillHere(root, ['doubt', 'resolve', 'c', ...name, '--as', 'accepted', '--yes'], ENV);
    expect(err).not.toContain('is not in this run');
    expect((await handbillHere(root, ['report'], ENV)).out).not.toContain('another address');
  },
);

test('an email address in other letters with the same time is a duplicate', async () => {
  const root = await givenProject('+447400123456');
  await writeFile(
    join(root, 'c.yaml'),
    `${MAIL}recipients: people.csv\nsend: { each: { column: visit, before: 2h } }\n`,
  );
  const visits = ['Ada@Example.com,2030-01-01T09:00Z', 'ada@example.com,2030-01-01T09:00Z'];
  await writeFile(join(root, 'people.csv'), `email,visit\n${visits.join('\n')}\n`);
  const { out } = await handbillHere(root, ['preview', 'c.yaml', '--format', 'json'], ENV);
  const reasons = JSON.parse(out).decisions.map((row: { reason: string | null }) => row.reason);
  expect(reasons).toEqual(['too-early', 'duplicate']);
});

test('a Brazilian landline keeps its form', async () => {
  const root = await givenProject('+551133334444');
  await handbillHere(root, ['suppress', 'add', '+5511933334444'], ENV);
  expect(await decisionIn(root)).toBe('send');
});

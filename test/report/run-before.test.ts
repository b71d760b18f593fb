import { expect, test } from 'vitest';
import type { Report } from '../../src/model.ts';
import { verdictOf } from '../../src/report/verdict.ts';
import { handbillHere } from '../cli/in-process.ts';
import { recipientsIn, useApi } from '../helpers/api.ts';
import { createProject } from '../helpers/project.ts';
import { PLAIN } from './examples.ts';

/** Numbers that the API refuses from the second occurrence on. */
let refused: RegExp | null = null;
const api = useApi((body, number) => {
  const [to] = recipientsIn(body);
  return refused?.test(to?.msisdn ?? '') === true
    ? { status: 422, body: '{"title":"Sender not registered"}' }
    : { status: 202, body: JSON.stringify({ messageId: `m-${number}` }) };
});

const ROWS = Array.from({ length: 60 }, (_, i) => `+4474001234${10 + i}`);

async function reports(formats: readonly string[], refuses: RegExp, optedOut = false): Promise<readonly string[]> {
  using here = createProject({
    'handbill.yaml': `environments: { api: { baseUrl: "${api.url}", apiKey: { env: KEY } } }\n`,
    'campaigns/c/campaign.yaml':
      'name: c\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hello" }\nrecipients: p.csv\nsend: { attempts: 1 }\nlimits: { stopAfter: { rejected: 100% } }\n',
    'campaigns/c/p.csv': `msisdn\n${ROWS.join('\n')}\n`,
  });
  const run = (args: readonly string[]) => handbillHere(here.root, args, { env: { KEY: 'k' } });
  const send = ['send', 'c', '--env', 'api', '--yes', '--quiet', '--occurrence'];
  refused = null;
  await run([...send, 'monday']);
  refused = refuses;
  if (optedOut) await run(['suppress', 'add', ...ROWS]);
  await run([...send, 'thursday']);
  const said = [];
  for (const format of formats) said.push((await run(['report', 'c', '--format', format])).out);
  return said;
}

test('a run with fewer accepted messages than the one before says so after the counts, in every format', async () => {
  const [text, brief, json, html] = await reports(['text', 'brief', 'json', 'html'], /[0-3]$/);
  const sentence = 'The API took 36 of 60 messages, and 60 of 60 in the run before';
  for (const [shown, counted] of [
    [text, 'not delivered'],
    [html, '24 not delivered'],
  ] as const) {
    const at = shown?.indexOf(sentence) ?? -1;
    expect(at).toBeGreaterThan(shown?.indexOf(counted) ?? 0);
  }
  expect(brief).toContain(sentence.replace(' messages', ''));
  const report = JSON.parse(json ?? '') as Report;
  expect(report.verdict).toContain(sentence);
  expect(report.before).toMatchObject({ occurrence: 'monday', accepted: 60, rejected: 0, failed: 0 });
});

test('a run that sent nothing at all says so in every format, refused or left out', async () => {
  const formats = ['text', 'brief', 'json', 'html'];
  for (const said of await reports(formats, /./)) {
    expect(said.replace(/\s+/g, ' ')).toMatch(/The API took 0 of 20(?: messages)?, and 60 of 60 in the run before/);
  }
  for (const said of await reports(formats, /./, true)) {
    expect(said.replace(/\s+/g, ' ')).toContain(
      'The API took messages for 0 of 60 recipients, and for 60 of 60 in the run before',
    );
  }
});

test('a refusal or two is no news, and the first run has none before it', async () => {
  const [text] = await reports(['text'], /9$/);
  expect(text).not.toContain('in the run before');
  const [few] = await reports(['text'], /[0-1]9$/);
  expect(few).not.toContain('in the run before');
});

const ALL = {
  ...PLAIN.totals,
  recipients: 100,
  rejected: 0,
  failed: 0,
  skipped: 0,
  inDoubt: 0,
  pending: 0,
  deferred: 0,
};
const before = { run: 'c-1', occurrence: 'monday', accepted: 98, rejected: 2, failed: 0, skipped: 0 };
const fallOf = (accepted: number, rejected: number, than = before) =>
  verdictOf({ ...PLAIN, before: than, totals: { ...ALL, accepted, rejected } }).fall;
const leftOut = (skipped: number, changes: Partial<typeof ALL & Pick<Report, 'state'>> = {}, than = before) => {
  const { state = 'finished', ...totals } = changes;
  return verdictOf({ ...PLAIN, state, before: than, totals: { ...ALL, accepted: 0, skipped, ...totals } }).fall;
};

test.each([
  [61, 39, true],
  [86, 14, true],
  [94, 6, false],
  [100, 0, false],
  // Too few to tell.
  [2, 1, false],
  [0, 0, false],
])('%i accepted and %i refused after 98 of 100: %s', (accepted, rejected, isSaid) => {
  expect(fallOf(accepted, rejected) !== null).toBe(isSaid);
});

test('a run whose recipients are all left out is compared by its list, once it is over', () => {
  const sentence = 'The API took messages for 0 of 100 recipients, and for 98 of 100 in the run before.';
  expect(leftOut(100)).toBe(sentence);
  expect(leftOut(100, { state: 'running' })).toBeNull();
  expect(leftOut(99, { pending: 1 })).toBeNull();
  expect(leftOut(99, { inDoubt: 1 })).toBeNull();
  // A few people more or fewer, as on the days of a follow-up.
  expect(leftOut(100, {}, { ...before, accepted: 4, rejected: 0, skipped: 96 })).toBeNull();
  expect(leftOut(0, { recipients: 0 })).toBeNull();
});

test('a run whose messages are all in doubt, after a run without any, says nothing of shares', () => {
  expect(fallOf(10, 0, { ...before, accepted: 0, rejected: 0 })).toBeNull();
});

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { interpreterOf, projectHere } from '../../src/operations/project.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { givenRun } from '../ledger/scratch.ts';
import { claimOf, loadRow, NOON } from '../ledger/values.ts';

let project: TestProject;
let ledger: Ledger;

beforeEach(() => {
  project = createProject({ 'handbill.yaml': 'defaultCountry: GB\n' });
  ledger = openLedger(project.path('.handbill/ledger.db'), { mode: 'write', nowMs: NOON });
});
afterEach(() => {
  ledger.close();
  project[Symbol.dispose]();
});

/** A body comes in, as `listen` reads and records it. */
async function receive(body: object): Promise<readonly string[]> {
  const reading = projectHere({ cwd: project.root, env: {} });
  const { events } = interpreterOf(reading, 'sandbox').interpret(Buffer.from(JSON.stringify(body)), NOON);
  return ledger.events.record(events, { nowMs: NOON, source: 'webhook', environment: 'sandbox' }).suppressed;
}

const RULES = { isListed: () => false, hasher: null };

/** What the claim of a recipient is answered. */
function claim(to: string, key: string): unknown {
  const run = givenRun(ledger, [loadRow(0, { to, key })]);
  return ledger.commit(run, [], [{ ...claimOf(0), to, key }], NOON, RULES)[0];
}

test.each([
  '+447911123456',
  '447911123456',
  '00447911123456',
  '07911 123456',
  '+44 (0)7911 123-456',
  'tel:+447911123456',
  'whatsapp:+447911123456',
])('a STOP from %s keeps +447911123456 from being sent to', async (from) => {
  expect(await receive({ from, to: '60300', text: 'Stop!' })).toEqual(['+447911123456']);
  expect(claim('+447911123456', '+447911123456')).toBe('suppressed');
});

test.each<[label: string, from: string, to: string, key: string]>([
  ['the key of a recipient who is sent to by email', '07911 123456', 'ada@example.com', '+44 7911 123456'],
  ['an address in other letters', 'ADA@Example.com', 'Ada@example.com', 'Ada@example.com'],
])('a STOP counts for %s', async (_, from, to, key) => {
  await receive({ from, to: 'us', text: 'unsubscribe' });
  expect(claim(to, key)).toBe('suppressed');
});

test('an opt-out holds on every channel, and in every campaign', async () => {
  await receive({ from: '447911123456', to: 'us', text: 'STOP', channel: 'whatsapp' });
  expect(claim('+447911123456', '+447911123456')).toBe('suppressed');
});

test('a reply for a person to read, and an answer, suppress no recipient', async () => {
  expect(await receive({ from: '447911123456', to: 'us', text: "please don't stop" })).toEqual([]);
  expect(await receive({ from: '447911123456', to: 'us', text: 'cancel my order' })).toEqual([]);
  expect(claim('+447911123456', '+447911123456')).toBe('claimed');
});

test('words of the project are words', async () => {
  project.write('handbill.yaml', 'defaultCountry: GB\nwebhook: { replies: { stopWords: [keine Werbung] } }\n');
  expect(await receive({ from: '447911123456', to: 'us', text: 'Keine Werbung, bitte!' })).toEqual(['+447911123456']);
});

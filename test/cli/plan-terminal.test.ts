import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import type { InputFile } from '../../src/model.ts';
import { handbillHere } from './in-process.ts';
import { projectWith } from './run-handbill.ts';

const FILES = {
  'handbill.yaml': 'prices: prices.csv\n',
  'prices.csv': 'country,price,currency\nGB,0.04,EUR\n',
  'hello/campaign.yaml':
    'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: people.csv\nsuppressions: gone.csv\n',
  'hello/people.csv': 'msisdn,name\n+447400123456,Ada\n+447400123457,Bo\n+447400123458,Cy\n',
  'hello/gone.csv': 'msisdn\n+447400123457\n',
};

it('a terminal gets the figures of a plan, a pipe and a file the plan', async () => {
  await using here = await projectWith(FILES);
  const shown = await handbillHere(here.root, ['plan', 'hello'], { outIsTerminal: true });
  expect(shown.status).toBe(0);
  expect(shown.out).toContain('Plan of hello (once), environment sandbox');
  expect(shown.out).toMatch(/^to send +2, 2 parts$/m);
  expect(shown.out).toMatch(/^cost +0\.08 EUR$/m);
  expect(shown.out).toMatch(/^skipped +1 suppressed$/m);
  expect(shown.out).toContain('-o FILE');
  expect(shown.out).not.toContain('{');
  const piped = await handbillHere(here.root, ['plan', 'hello']);
  expect(JSON.parse(piped.out)).toMatchObject({ version: 1, estimate: { send: 2 } });
  const written = await handbillHere(here.root, ['plan', 'hello', '-o', 'x.json'], { outIsTerminal: true });
  expect(written.out).toBe('');
  expect(written.err).toContain('Planned: 2 recipients, 2 parts, 0.08 EUR; skipped: 1 suppressed. Send it with');
});

it('a plan and its approval show the first message, and the occurrence before with what is another now', async () => {
  await using here = await projectWith(FILES);
  const first = await handbillHere(here.root, ['plan', 'hello', '--occurrence', 'june', '-o', 'june.json']);
  expect(first.status).toBe(0);
  const nowMs = Date.now() - 60_000;
  const ledger = openLedger(join(here.root, '.handbill', 'ledger.db'), { mode: 'write', nowMs });
  const { inputs } = JSON.parse(await readFile(join(here.root, 'june.json'), 'utf8')) as { inputs: InputFile[] };
  for (const occurrence of ['june', 'test-2026-06-02T09:00:00.000Z']) {
    const identity = { environment: 'sandbox', campaign: 'hello', occurrence };
    const draft = ledger.beginLoad(identity, { channel: 'sms', nowMs });
    ledger.finishLoad(draft, { inputs, identityHash: 'x', nowMs });
  }
  ledger.close();
  const july = ['plan', 'hello', '--occurrence', 'july'];
  const same = await handbillHere(here.root, july, { outIsTerminal: true });
  expect(same.out).toMatch(/^last time +june: 0 of 0 recipients accepted; the same inputs$/m);
  expect(same.out).toMatch(/^message +Hi Ada$/m);
  await writeFile(join(here.root, 'hello', 'people.csv'), 'msisdn,name\n+447400123458,Cy\n');
  const other = await handbillHere(here.root, july, { outIsTerminal: true });
  expect(other.out).toMatch(/^last time +june: .*; changed since: recipients$/m);
  expect(other.out).toMatch(/^message +Hi Cy$/m);
  await handbillHere(here.root, [...july, '-o', 'july.json']);
  const { err } = await handbillHere(here.root, ['approve', 'july.json', '--check']);
  expect(err).toMatch(/^ {2}recipients +1 .*\n(?:.*\n)* {2}last time +june: .*\n {2}message +Hi Cy$/m);
});

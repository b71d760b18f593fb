import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { report } from '../../src/index.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { formatAjv } from '../helpers/format-schemas.ts';
import { ask, recordRun, servePages, signIn } from '../web/serve-ledger.ts';
import { HELLO, handbill, projectWith } from './run-handbill.ts';

/* A command was sending when its ledger was replaced: commands that read the other file say that it is not the latest. */

const NIGHTLY = {
  'campaigns/nightly/campaign.yaml':
    'name: nightly\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hello }\nrecipients: people.csv\n' +
    'schedule: { cron: "0 9 * * *", timeZone: Europe/London }\n',
  'campaigns/nightly/people.csv': 'msisdn\n+447911123456\n',
};

let root = '';
let remove = async (): Promise<void> => undefined;
const ledger = (): string => join(root, '.handbill/ledger.db');

beforeAll(async () => {
  ({ root, remove } = await projectWith({ ...HELLO, ...NIGHTLY }));
  await mkdir(join(root, '.handbill'), { mode: 0o700 });
  const open = openLedger(ledger(), { mode: 'write', nowMs: Date.now() });
  recordRun(open, { campaign: 'past', atMs: Date.now() }, [{}, { state: 'in-doubt', reason: 'timeout' }]);
  open.close();
  writeFileSync(`${ledger()}.rescued`, 'a copy');
});
afterAll(() => remove());

async function signedIn(serving: Awaited<ReturnType<typeof servePages>>) {
  if (serving.signInUrl === null) return {};
  return { headers: { cookie: (await signIn(serving)).cookie } };
}

const READERS: readonly (readonly [args: string, schema: string | null])[] = [
  ['report past', 'report'],
  ['runs', null],
  ['preview hello', null],
  ['doubt list', 'doubts'],
  ['replies list', 'replies'],
  ['person +447700900000', 'person'],
  ['suppress list', 'suppressions'],
  ['suppress check', 'suppression-check'],
  ['validate hello', null],
  ['due --env sandbox --dry-run', 'due'],
];

describe.each(READERS)('%s', (line, schema) => {
  const args = line.split(' ');

  it('warns in text', async () => {
    const { status, err, out } = await handbill(root, args);
    expect({ status, err, out }).toMatchObject({ status: 0 });
    expect(err).toContain('warning[ledger-replaced]');
    expect(err).toContain('ledger.db.rescued');
    expect(err.match(/warning\[ledger-replaced\]/g)).toHaveLength(1);
  });

  it('has it in JSON, which is as its schema says', async () => {
    const { out, err } = await handbill(root, [...args, '--format', 'json']);
    const document = JSON.parse(out) as { readonly warnings: readonly { readonly code: string }[] };
    expect(document.warnings.map(({ code }) => code)).toEqual(['ledger-replaced']);
    expect(err).toContain('warning[ledger-replaced]');
    if (schema === null) return;
    const text = readFileSync(join(import.meta.dirname, `../../schemas/${schema}.schema.json`), 'utf8');
    const validate = formatAjv({ strict: true, formats: { 'date-time': true } }).compile(JSON.parse(text) as object);
    expect(validate(document), JSON.stringify(validate.errors)).toBe(true);
  });
});

it('a JSON file has it too; what is read line by line is warned about on stderr alone', async () => {
  const file = join(root, 'report.json');
  const { err } = await handbill(root, ['report', 'past', '--format', 'json', '-o', file]);
  expect(err).toContain('warning[ledger-replaced]');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ warnings: [{ code: 'ledger-replaced' }] });
  const { out } = await handbill(root, ['report', 'past', '--format', 'jsonl']);
  for (const line of out.trim().split('\n')) expect(JSON.parse(line)).not.toHaveProperty('warnings');
  const quiet = await handbill(root, ['preview', 'hello', '--quiet']);
  expect(quiet.err).toContain('warning[ledger-replaced]');
});

it('a plan file stays as it is, and a ledger that is named has no copy beside it', async () => {
  const plan = await handbill(root, ['plan', 'hello', '--env', 'sandbox']);
  expect(plan.err).toContain('warning[ledger-replaced]');
  expect(JSON.parse(plan.out)).not.toHaveProperty('warnings');
  const other = await handbill(root, ['preview', 'hello', '--ledger', join(root, 'none/ledger.db')]);
  expect(other.err).not.toContain('ledger-replaced');
});

it('a program hears it from the channel, each time that a function opens the ledger to read it', async () => {
  const heard: unknown[] = [];
  const hear = (warning: unknown) => void heard.push(warning);
  subscribe('handbill:ledger-warnings', hear);
  try {
    expect(await report('past', { cwd: root })).toMatchObject({ campaign: 'past' });
  } finally {
    unsubscribe('handbill:ledger-warnings', hear);
  }
  expect(heard[0]).toMatchObject({ code: 'ledger-replaced', severity: 'warning', at: { file: ledger() } });
});

it('doctor says what send says', async () => {
  const { status, out, err } = await handbill(root, ['doctor']);
  expect(status).toBe(7);
  expect(out).toMatch(/^PROBLEM +ledger .*The ledger was removed or replaced/m);
  expect(err).toBe('');
});

it('every page says it', async () => {
  await using serving = await servePages(root);
  for (const path of ['/', '/doubt', '/replies', '/suppressions', '/campaigns']) {
    const { text } = await ask(serving.port, path, await signedIn(serving));
    expect(text).toContain('The ledger was removed or replaced');
  }
});

it('where the ledger is gone and a copy is there, no command says that nothing was ever sent', async () => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${ledger()}${suffix}`, { force: true });
  for (const args of [['runs'], ['report'], ['preview', 'hello'], ['suppress', 'list']]) {
    const { status, err } = await handbill(root, args);
    expect({ status, err }).toMatchObject({ status: 7 });
    expect(err).toContain('error[ledger-replaced]');
  }
  await using serving = await servePages(root);
  expect((await ask(serving.port, '/', await signedIn(serving))).text).toContain('ledger.db.rescued');
  expect(existsSync(ledger())).toBe(false);
});

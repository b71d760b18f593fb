import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createProject } from '../helpers/project.ts';
import { handbillHere } from './in-process.ts';
import { handbill, projectWith } from './run-handbill.ts';

let root = '';
let remove = async (): Promise<void> => undefined;
beforeAll(async () => {
  ({ root, remove } = await projectWith({ 'handbill.yaml': 'defaults: { recipients: { defaultCountry: GB } }\n' }));
});
afterAll(() => remove());

test('the list is empty, and neither list nor remove makes a ledger', async () => {
  expect((await handbillHere(root, ['suppress', 'list'])).out).toBe('No addresses are suppressed.\n');
  expect(JSON.parse((await handbillHere(root, ['suppress', 'list', '--format', 'json'])).out)).toEqual({
    version: 1,
    suppressions: [],
    hashes: [],
  });
  expect((await handbillHere(root, ['suppress', 'remove', '07700900123'])).status).toBe(0);
  expect(existsSync(join(root, '.handbill'))).toBe(false);
});

test('text that is not a phone number is refused, all of it at once, and nothing is added', async () => {
  const { status, err } = await handbillHere(root, ['suppress', 'add', '07700900123', '12', 'nobody']);
  expect(status).toBe(2);
  expect(err.match(/error\[invalid-address\]/g)).toHaveLength(2);
  expect(err).toContain(': "nobody" is not a phone number.\n');
  expect(existsSync(join(root, '.handbill'))).toBe(false);
});

test.each(['tomorrow', '2026-02-30', '2001-01-01'])('--until %s is refused', async (until) => {
  const { status, err } = await handbillHere(root, ['suppress', 'add', '07700900123', '--until', until]);
  expect(status).toBe(2);
  expect(err).toContain('error[usage]');
});

test('numbers are added as they will be compared, listed, and removed', async () => {
  const added = await handbillHere(root, [
    'suppress',
    'add',
    '07700 900123',
    '+44 7700 900123',
    '--reason',
    'asked, twice',
  ]);
  expect(added).toEqual({ status: 0, out: '1 address suppressed.\n', err: 'Ledger: .handbill/ledger.db\n' });
  const again = await handbill(root, ['suppress', 'add', '+447700900123', '+447700900124', '--until', '2999-12-31']);
  expect(again.out).toBe('1 address suppressed. 1 address was suppressed before.\n');

  const text = (await handbillHere(root, ['suppress', 'list'])).out;
  expect(text).not.toContain('+447700900123');
  expect(text).toContain('0123');
  expect((await handbill(root, ['suppress', 'list', '--full'])).out).toContain('+447700900123');
  const { suppressions } = JSON.parse((await handbillHere(root, ['suppress', 'list', '--format', 'json'])).out);
  expect(suppressions).toMatchObject([
    { address: '+447700900123', reason: 'asked, twice', until: null, source: 'user' },
    { address: '+447700900124', reason: null, until: '3000-01-01T00:00:00.000Z' },
  ]);
  const csv = (await handbillHere(root, ['suppress', 'list', '--format', 'csv'])).out;
  expect(csv.split('\r\n').slice(0, 2)).toEqual([
    'msisdn,email,contact,hash,reason,until,topic',
    `"'+447700900123","","","","asked, twice","",""`,
  ]);

  const removed = await handbillHere(root, ['suppress', 'remove', '07700900123', '07700900125']);
  expect(removed.out).toBe('1 address removed. 1 address was not on the list.\n');
  expect((await handbillHere(root, ['suppress', 'remove', '--quiet', '07700900124'])).out).toBe('');
  expect((await handbillHere(root, ['suppress', 'list'])).out).toBe('No addresses are suppressed.\n');
});

test('a long reason is whole, on several lines', async () => {
  using project = createProject({ 'handbill.yaml': '{}\n' });
  const reason = 'asked at the desk in the Harbour branch not to get any more messages about offers';
  await handbillHere(project.root, ['suppress', 'add', '+447700900123', '--reason', reason]);
  const { out } = await handbillHere(project.root, ['suppress', 'list']);
  const lines = out.trimEnd().split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  const at = lines[0]?.indexOf('reason');
  const said = lines.slice(1).map((line) => line.slice(at).trim());
  expect(said.join(' ')).toBe(reason);
});

test('a reason that is given for a known entry is recorded, and without one the old reason stays', async () => {
  const project = await projectWith({ 'handbill.yaml': 'defaultCountry: GB\n' });
  const add = (...args: string[]) => handbillHere(project.root, ['suppress', 'add', '07700900123', ...args]);
  const entry = async (): Promise<unknown> =>
    JSON.parse((await handbillHere(project.root, ['suppress', 'list', '--format', 'json'])).out).suppressions[0];
  await add('--until', '2999-12-31');
  const [known, until] = ['0 addresses suppressed. 1 address was suppressed before', '3000-01-01T00:00:00.000Z'];
  expect((await add('--reason', 'by phone', '--until', '2998-12-31')).out).toBe(`${known}, and has this reason now.\n`);
  expect(await entry()).toMatchObject({ reason: 'by phone', until });
  expect((await add()).out).toBe(`${known}.\n`);
  expect(await entry()).toMatchObject({ reason: 'by phone', until: null });
  await add('--reason', 'by letter', '--until', '2999-12-31');
  expect(await entry()).toMatchObject({ reason: 'by letter', until: null });
  // An import says why only where nothing is said yet.
  await writeFile(
    join(project.root, 'outs.csv'),
    'msisdn,reason\n+447700900123,from a file\n+447700900124,from a file\n',
  );
  await handbillHere(project.root, ['suppress', 'import', 'outs.csv']);
  expect(await entry()).toMatchObject({ reason: 'by letter', until: null });
  await project.remove();
});

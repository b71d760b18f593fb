import { Buffer } from 'node:buffer';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { HELLO, handbill, projectWith } from './run-handbill.ts';

const removals: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const remove of removals.splice(0)) await remove();
});

/** A project with a list of these bytes: latin1, so that \xfc is one byte. */
async function listOf(text: string): Promise<string> {
  const { root, remove } = await projectWith(HELLO);
  removals.push(remove);
  await writeFile(join(root, 'campaigns/hello/people.csv'), Buffer.from(text, 'latin1'));
  return root;
}

const PLACE = /^error\[([\w-]+)\][\s\S]*?people\.csv:(\d+)/gm;

function placesIn(err: string): readonly string[] {
  return [...err.matchAll(PLACE)].map(([, code, line]) => `${code} ${line}`);
}

async function places(root: string, command: readonly string[] = ['validate']): Promise<readonly string[]> {
  const { status, err } = await handbill(root, command);
  expect(status).toBe(2);
  return placesIn(err).toSorted((a, b) => Number(a.split(' ')[1]) - Number(b.split(' ')[1]));
}

const GOOD = '+447700900001,Ann\n';
const MESSY = `msisdn,first\n${GOOD}+447700900002,J\xfcrgen\n+447700900003,5" Bo\n12,Cy\n+447700900004,\n`;

describe('one round names every fault of a list', () => {
  const all = ['invalid-encoding 3', 'csv-syntax 4', 'invalid-address 5', 'missing-variable 6'];
  test.each([[['validate']], [['preview', 'hello']], [['plan', 'hello']], [['send', 'hello', '--yes']]])(
    '%j',
    async (command) => {
      expect(await places(await listOf(MESSY), command)).toEqual(all);
    },
  );

  test('rows that were wrong before the fault are named once, however far they are from it', async () => {
    const root = await listOf(`msisdn,first\n12,Bo\n${GOOD.repeat(1000)}13,Cy\n+44,"x" y\n14,Di\n`);
    for (const command of [['validate'], ['preview', 'hello'], ['plan', 'hello']]) {
      expect(await places(root, command)).toEqual([
        'invalid-address 2',
        'invalid-address 1003',
        'csv-syntax 1004',
        'invalid-address 1005',
      ]);
    }
  });

  test('a header that is wrong hides neither quotes nor rows', async () => {
    const root = await listOf(`msisdn,,pr\xe9nom\n12,x,Bo\n+447700900003,x,5" Bo\n13,x\n`);
    expect(await places(root)).toEqual([
      'invalid-encoding 1',
      'csv-blank-header 1',
      'invalid-address 2',
      'csv-syntax 3',
      'csv-ragged-row 4',
    ]);
  });

  test('a quote that is never closed hides nothing', async () => {
    const root = await listOf(`msisdn,first\n+447700900003,"Bo\n12,Cy\n${GOOD}13,Di\n`);
    expect(await places(root)).toEqual(['csv-syntax 2', 'invalid-address 3', 'invalid-address 5']);
  });

  test('quoted line ends, CR LF and an unreadable character in an address cause no false message', async () => {
    const root = await listOf(
      `msisdn,first\r\n+447700900003,"Bo\r\nthe ""first"""\r\n+44770\xa00900001,An\xfc\r\n\r\n12,"C\r\ny"\r\n13,Di\r\n`,
    );
    expect(await places(root)).toEqual(['invalid-encoding 4', 'invalid-address 6', 'invalid-address 8']);
  });
});

test('bad rows that are skipped are not named because of another fault', async () => {
  const root = await listOf(MESSY);
  expect(await places(root, ['validate', '--allow', 'invalid-rows'])).toEqual(['invalid-encoding 3', 'csv-syntax 4']);
});

test('a list in an undeclared encoding is one fault if its header shows it', async () => {
  const root = await listOf('');
  await writeFile(join(root, 'campaigns/hello/people.csv'), Buffer.from(`msisdn,first\n${GOOD.repeat(9)}`, 'utf16le'));
  expect(await places(root)).toEqual(['csv-nul 1']);
});

test('the list is read again for its first 20 faults, and the message says that there may be more', async () => {
  const root = await listOf(`msisdn,first\n${'+447700900001,\xfc\n'.repeat(2345)}`);
  const json = await handbill(root, ['validate', '--format', 'json']);
  const { diagnostics } = JSON.parse(json.out) as { diagnostics: { code: string; line?: number }[] };
  const named = diagnostics.filter(({ code }) => code === 'invalid-encoding').map(({ line }) => line);
  expect(named).toEqual(Array.from({ length: 20 }, (_, row) => row + 2));
  for (const command of [['validate'], ['preview', 'hello'], ['send', 'hello', '--yes']]) {
    const { status, err } = await handbill(root, command);
    expect(status).toBe(2);
    expect(err).toContain('handbill names the first 20 faults of this list: there may be more.');
    expect(err).toContain('20 errors');
  }
  const { err } = await handbill(await listOf(MESSY), ['validate']);
  expect(err).not.toContain('there may be more');
});

test('rows that were wrong before the fault are counted beside the first 20 faults', async () => {
  const root = await listOf(`msisdn,first\n${'12,Bo\n'.repeat(1500)}${'+447700900001,\xfc\n'.repeat(50)}`);
  expect((await handbill(root, ['validate'])).err).toMatch(/1,5\d\d errors/);
});

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import { startedRun } from '../ledger/given.ts';
import { handbill, projectWith } from './run-handbill.ts';

const T0 = Date.parse('2026-11-20T09:00:00Z');

test('runs are listed last active first; one that was killed is interrupted', async () => {
  const { root, remove } = await projectWith({});
  const ledger = openLedger(join(root, 'other.db'), { mode: 'write', nowMs: T0 });
  const first = startedRun(ledger, [], { campaign: 'first', nowMs: T0 }).id;
  const second = startedRun(ledger, [], { campaign: 'second', nowMs: T0 + 60_000 }).id;
  ledger.close();

  const json = await handbill(root, ['runs', '--format', 'json', '--ledger', 'other.db']);
  const { runs } = JSON.parse(json.out) as { runs: { run: string; state: string }[] };
  expect(runs.map(({ run, state }) => [run, state])).toEqual([
    [second, 'interrupted'],
    [first, 'interrupted'],
  ]);
  const text = await handbill(root, ['runs'], { HANDBILL_LEDGER: 'other.db' });
  expect(text.status).toBe(0);
  const lines = text.out.trim().split('\n');
  expect(lines).toHaveLength(3);
  expect(lines[1]).toMatch(/^interrupted +second /);
  await remove();
});

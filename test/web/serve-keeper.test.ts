import { renameSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { problem, refuse } from '../../src/errors.ts';
import { keepLedger } from '../../src/web/ledger.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { NOW, recordRun, withLedger } from './serve-ledger.ts';

let project: TestProject;
beforeEach(() => {
  project = createProject({ 'handbill.yaml': 'defaultCountry: GB\n' });
});
afterEach(() => project[Symbol.dispose]());

const ledgerPath = () => project.path('.handbill/ledger.db');

it('opens a ledger that was restored, although requests came all the while', async () => {
  project.write('.handbill/ledger.db', 'not a database '.repeat(100));
  using keeper = keeping();
  expect(() => keeper.current()).toThrow();
  const good = project.path('good.db');
  withLedger(good, (ledger) => recordRun(ledger, { campaign: 'hello' }, [{}]));
  for (const suffix of ['-wal', '-shm']) rmSync(ledgerPath() + suffix, { force: true });
  renameSync(good, ledgerPath());
  // As listeners do: the mark is asked for more often than a failure is remembered.
  await expect.poll(() => keeper.mark(), { interval: 100, timeout: 3_000 }).not.toContain('failed');
  expect(keeper.current()?.ledger.runs()).toHaveLength(1);
});

it('keeps what it has opened when something else than the ledger cannot be read', () => {
  withLedger(ledgerPath(), (ledger) => recordRun(ledger, { campaign: 'hello' }, [{}]));
  using keeper = keeping();
  const open = keeper.current();
  keeper.failed(refuse(problem('usage', 'There is no such campaign.')));
  expect(keeper.current()).toBe(open);
});

it('opens nothing after it was closed', () => {
  withLedger(ledgerPath(), (ledger) => recordRun(ledger, { campaign: 'hello' }, [{}]));
  const keeper = keepLedger(ledgerPath(), () => NOW);
  expect(keeper.current()).not.toBeNull();
  keeper.close();
  expect(keeper.current()).toBeNull();
  expect(keeper.mark()).toBe('none');
});

function keeping() {
  const keeper = keepLedger(ledgerPath(), () => NOW);
  return { ...keeper, [Symbol.dispose]: () => keeper.close() };
}

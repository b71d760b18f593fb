import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test, vi } from 'vitest';
import { due } from '../../src/operations/due.ts';

/** A project of so many campaigns, none of which is due for years. */
function project(campaigns: number): string {
  const root = mkdtempSync(join(tmpdir(), 'handbill-due-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(
    join(root, 'handbill.yaml'),
    'environments:\n  local: { baseUrl: http://127.0.0.1:9, apiKey: { env: HANDBILL_API_KEY } }\n',
  );
  for (let n = 0; n < campaigns; n += 1) {
    const folder = join(root, 'campaigns', `c${n}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, 'campaign.yaml'),
      `name: c${n}\nchannel: sms\nfrom: Riverside\ntemplate: text.hbs\nrecipients: people.csv\nschedule: { cron: 0 9 29 2 *, timeZone: UTC }\n`,
    );
    writeFileSync(join(folder, 'text.hbs'), 'Hello {{name}}');
    writeFileSync(join(folder, 'people.csv'), 'msisdn,name\n+447400000000,Ann\n');
  }
  return root;
}

/** How often SQLite opened the ledger, for two calls: the first one records the schedules. */
async function opened(cwd: string): Promise<readonly number[]> {
  const close = vi.spyOn(DatabaseSync.prototype, 'close');
  onTestFinished(() => close.mockRestore());
  const counts: number[] = [];
  for (let call = 0; call < 2; call += 1) {
    const before = close.mock.calls.length;
    const { items, exit } = await due([], { cwd, environment: 'local', env: { HANDBILL_API_KEY: 'k' } });
    expect([exit, items.filter(({ action }) => action !== 'none')]).toEqual([0, []]);
    counts.push(close.mock.calls.length - before);
  }
  return counts;
}

test('the ledger is opened as often for many campaigns as for one', async () => {
  const one = await opened(project(1));
  expect(one[1]).toBeGreaterThan(0);
  expect(await opened(project(7))).toEqual(one);
});

import { expect, it } from 'vitest';
import { freshDatabase } from '../helpers/postgres.ts';
import { startKillsApi } from './api.ts';
import type { Kind } from './campaign.ts';
import { killAtRandom } from './random-kills.ts';

const FULL = process.env['HANDBILL_FULL'] === '1';
const KINDS: readonly Kind[] = FULL ? ['sms', 'fallback', 'shared'] : ['sms'];

// As with a file (kills.test.ts), with less of it: what decides is the same code, but the database is another one.
it.each(KINDS)(
  'a shared ledger, %s: killed at random instants, no recipient is sent to twice or forgotten',
  {
    timeout: 10 * 60_000,
  },
  async (kind) => {
    await using api = await startKillsApi();
    const kills = FULL ? 8 : 6;
    const given = { kind, ...(FULL ? {} : { kills: 6, latencyMs: 30 }) };
    const total = await killAtRandom({ kills, seed: 70_000, given }, { ...api, freshLedger: freshDatabase });
    expect(total.violations).toEqual([]);
    expect(total.kills).toBeGreaterThan(0);
    expect(total.doubts).toBeGreaterThan(0);
  },
);

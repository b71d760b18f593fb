import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import { type PlanOptions, plan } from '../../src/operations/plan.ts';
import { createHasher } from '../../src/suppression/hash.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

const NOW = Date.parse('2026-11-21T09:00:00Z');
const KEY = 'a key of more than sixteen bytes';
const FILES = {
  'handbill.yaml': 'suppressionKey: { env: OUR_KEY }\n',
  'campaign.yaml':
    'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\nsuppressions: gone.csv\n',
  'people.csv': `msisdn\n${['1', '2', '3', '4', '5'].map((n) => `+44770090000${n}\n`).join('')}`,
  'gone.csv': 'msisdn\n+44 7700 900001\n',
};

const planOf = (project: TestProject, options: Partial<PlanOptions> = {}) =>
  plan('campaign.yaml', { cwd: project.root, now: () => NOW, env: { OUR_KEY: KEY }, ...options });

/** Numbers 2 and 3 by address, of which 3 has expired; number 4 as a hash. */
function suppress(path: string): void {
  const ledger = openLedger(path, { mode: 'write', nowMs: NOW - 10_000 });
  try {
    const facts = { reason: 'STOP', source: 'user', nowMs: NOW - 10_000 };
    ledger.suppress('+447700900002', { ...facts, untilMs: null });
    ledger.suppress('+447700900003', { ...facts, untilMs: NOW - 1 });
    const hasher = createHasher(Buffer.from(KEY));
    const entry = { reason: null, untilMs: null, source: 'import', keyId: hasher.keyId };
    ledger.suppressAll([], [{ ...entry, hash: hasher.hash('+447700900004') }], NOW - 5000);
  } finally {
    ledger.close();
  }
}

describe('who is suppressed', () => {
  it('by a file is counted without a ledger, and none is made', async () => {
    using project = createProject(FILES);
    expect((await planOf(project)).estimate).toMatchObject({ rows: 5, send: 4, skipped: { suppressed: 1 } });
    expect(existsSync(project.path('.handbill'))).toBe(false);
  });

  it.each([
    ['by the ledger of the project', '.handbill/ledger.db', {}],
    ['by a ledger that is named', 'other.db', { ledger: 'other.db' }],
  ])('%s is counted too, by address and by hash, at that time', async (_, file, options) => {
    using project = createProject(FILES);
    suppress(project.path(file));
    expect((await planOf(project, options)).estimate).toMatchObject({ rows: 5, send: 2, skipped: { suppressed: 3 } });
  });

  it('cannot be known without the key of the hashes: refused, as send does', async () => {
    using project = createProject(FILES);
    suppress(project.path('.handbill/ledger.db'));
    await expect(planOf(project, { env: {} })).rejects.toThrow(/missing-suppression-key|holds hashes/);
  });
});

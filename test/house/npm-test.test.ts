import { globSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { expect, it } from 'vitest';
import { SAMPLES, WHOLE } from '../settings.ts';

const root = join(import.meta.dirname, '..', '..');
const PROOFS = [...WHOLE, ...SAMPLES];
const HEAVY = /^import \{(?! type\b).*\} from '.*\/helpers\/(?:browser|postgres|postgres-server)\.ts';$/m;

it('npm test starts neither a browser nor PostgreSQL', () => {
  const files = globSync('test/**/*.test.ts', { cwd: root });
  const heavy = files.filter((file) => HEAVY.test(readFileSync(join(root, file), 'utf8')));
  expect(heavy.length).toBeGreaterThan(10);
  expect(heavy.filter((file) => !PROOFS.some((glob) => matchesGlob(file, glob)))).toEqual([]);
});

it('each proof has its files', () => {
  expect(PROOFS.filter((glob) => globSync(glob, { cwd: root }).length === 0)).toEqual([]);
});

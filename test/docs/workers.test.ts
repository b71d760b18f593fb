import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import FILE from '../../src/telemetry/metrics.json' with { type: 'json' };
import { checkOptions } from '../helpers/check-options.ts';

const WORKER_METRICS = FILE.workers;

const ROOT = join(import.meta.dirname, '..', '..');
const PAGE = readFileSync(join(ROOT, 'docs/workers.md'), 'utf8');

const BLOCKS = [...PAGE.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, text = '']) => ({ text }));

/** Whatever the page calls handbill with. */
function calls(): readonly (readonly string[])[] {
  const lines = BLOCKS.flatMap(({ text }) => [...text.matchAll(/handbill ((?:worker|send|due)\b[^\n#]*)/g)]);
  return lines.map(([, line = '']) => line.trim().split(/\s+/));
}

it('calls handbill with options that there are', async () => {
  expect(calls().length).toBeGreaterThanOrEqual(2);
  for (const call of calls()) await checkOptions(call);
});

it('explains every figure', () => {
  const rows = [...PAGE.matchAll(/^\| `(handbill_\w+)` \| ([^|]+) \|$/gm)].map(([, name, help]) => [name, help]);
  expect(rows).toEqual(Object.entries(WORKER_METRICS));
});

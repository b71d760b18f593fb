import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { expect, it } from 'vitest';

const MODULE = join(import.meta.dirname, '../../src/util/old-generation.ts');

/** Whatever is in use at two looks through the young generation is old by then: 0.4 MB of it every 10 ms, for 2 s. */
const PROGRAM = `
  const v8 = require('node:v8');
  const { boundOldGeneration } = require(process.argv[1]);
  let collected = 0;
  if (process.argv[2] === 'bounded') boundOldGeneration(() => { collected += 1; globalThis.gc(); });
  const recent = [];
  let most = 0;
  let turns = 0;
  const timer = setInterval(() => {
    recent.push(Array.from({ length: 4_000 }, (_, n) => ({ n, text: 'x' + n })));
    if (recent.length > 20) recent.shift();
    most = Math.max(most, v8.getHeapStatistics().total_heap_size);
    turns += 1;
    if (turns === 200) {
      clearInterval(timer);
      console.log(JSON.stringify({ collected, megabytes: most / 1e6 }));
    }
  }, 10);
`;

function run(how: string): { readonly collected: number; readonly megabytes: number } {
  const flags = ['--expose-gc', '--no-incremental-marking', '--max-semi-space-size=4'];
  const said = execFileSync(process.execPath, [...flags, '-e', PROGRAM, MODULE, how], { encoding: 'utf8' });
  return JSON.parse(said) as { collected: number; megabytes: number };
}

it('keeps the old generation of V8 small while much becomes old, and does not hold up the end of a process', () => {
  const bounded = run('bounded');
  const left = run('left alone');
  expect(bounded.collected).toBeGreaterThanOrEqual(3);
  expect(bounded.megabytes).toBeLessThan(0.7 * left.megabytes);
}, 30_000);

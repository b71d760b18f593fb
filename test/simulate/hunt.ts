import { parseArgs } from 'node:util';
import { coverageTable, createCoverage } from './coverage.ts';
import { createStage } from './scene.ts';
import { simulate } from './simulate.ts';
import { watchSqlite } from './sqlite.ts';

/*
 * npm run hunt:simulate -- [--seeds 100000] [--from 1]
 * npm run hunt:simulate -- --replay SEED
 */

const { values } = parseArgs({
  options: { seeds: { type: 'string' }, from: { type: 'string' }, replay: { type: 'string' } },
});

/** How much of a failing history is printed; `--replay` prints all of it. */
const TAIL_LINES = 30;

using _sqlite = watchSqlite();
using stage = await createStage();
const coverage = createCoverage();

const from = Number(values.replay ?? values.from ?? 1);
const seeds = values.replay === undefined ? Number(values.seeds ?? 100_000) : 1;
const began = performance.now();
const failing: number[] = [];
for (let seed = from; seed < from + seeds; seed++) {
  const result = await simulate(seed, stage, { coverage, recording: values.replay !== undefined });
  if (values.replay !== undefined) process.stdout.write(`${result.log.join('\n')}\n`);
  if (result.violations.length > 0) {
    failing.push(seed);
    const { log } = await simulate(seed, stage, { coverage: createCoverage(), recording: true });
    process.stderr.write(describe(seed, result.violations, log));
  }
  if ((seed - from + 1) % 1000 === 0) {
    const perSecond = Math.round((seed - from + 1) / ((performance.now() - began) / 1000));
    process.stderr.write(`${seed - from + 1} of ${seeds} histories, ${perSecond}/s, ${failing.length} failing\n`);
  }
}

const seconds = (performance.now() - began) / 1000;
process.stdout.write(coverageTable(coverage.counts));
process.stdout.write(`${seeds} histories in ${seconds.toFixed(0)} s, ${failing.length} against the promise\n`);
if (failing.length > 0) {
  process.stdout.write(
    `failing seeds: ${failing.slice(0, 20).join(' ')}\nreplay: npm run hunt:simulate -- --replay ${failing[0]}\n`,
  );
  process.exitCode = 1;
}

function describe(seed: number, violations: readonly string[], log: readonly string[]): string {
  return [
    `seed ${seed}:`,
    ...violations.map((what) => `  ${what}`),
    ...(values.replay === undefined ? log.slice(-TAIL_LINES).map((line) => `    ${line}`) : []),
    `  replay: npm run hunt:simulate -- --replay ${seed}`,
    '',
  ].join('\n');
}

import { parseArgs } from 'node:util';
import { coverageTable, createCoverage, missing } from './coverage.ts';
import { describeFailure } from './sample.ts';
import { createStage } from './scene.ts';
import { simulate } from './simulate.ts';
import { watchSqlite } from './sqlite.ts';

/*
 * npm run hunt:simulate -- [--seeds 100000] [--from 1]
 * npm run hunt:simulate -- --replay SEED
 *
 * A result table on stdout, progress and failing histories on stderr; exit 1 when one speaks against the promise, or
 * when some kind of event never happened.
 */

const { values } = parseArgs({
  options: { seeds: { type: 'string' }, from: { type: 'string' }, replay: { type: 'string' } },
});

/** So many histories hold every kind of event. */
const ENOUGH_FOR_EVERYTHING = 2500;

using _sqlite = watchSqlite();
using stage = await createStage();
if (values.replay === undefined) await hunt(Number(values.from ?? 1), Number(values.seeds ?? 100_000));
else await replay(Number(values.replay));

async function replay(seed: number): Promise<void> {
  const { log, violations } = await simulate(seed, stage, { coverage: createCoverage(), recording: true });
  process.stdout.write(`${log.join('\n')}\n`);
  process.stdout.write(`seed ${seed}: ${violations.length === 0 ? 'the promise is kept' : violations.join('\n')}\n`);
  if (violations.length > 0) process.exitCode = 1;
}

async function hunt(from: number, seeds: number): Promise<void> {
  const coverage = createCoverage();
  const failing: number[] = [];
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  for (let seed = from; seed < from + seeds; seed++) {
    const { violations } = await simulate(seed, stage, { coverage });
    if (violations.length > 0) {
      failing.push(seed);
      process.stderr.write(await describeFailure(seed, violations, stage));
    }
    const done = seed - from + 1;
    if (done % 1000 === 0) {
      process.stderr.write(`${done} of ${seeds}, ${Math.round(done / seconds())}/s, ${failing.length} failing\n`);
    }
  }
  process.stdout.write(coverageTable(coverage.counts));
  const cpu = process.cpuUsage();
  const cpuMs = (cpu.user + cpu.system) / 1000 / seeds;
  process.stdout.write(
    `${seeds} histories in ${seconds().toFixed(0)} s (${cpuMs.toFixed(1)} ms of processor each), ${failing.length} against the promise\n`,
  );
  const never = seeds < ENOUGH_FOR_EVERYTHING ? [] : missing(coverage.counts, 'everything');
  if (never.length > 0) process.stdout.write(`never happened: ${never.join(', ')}\n`);
  if (failing.length > 0) process.stdout.write(`failing seeds: ${failing.slice(0, 50).join(' ')}\n`);
  if (failing.length + never.length > 0) process.exitCode = 1;
}

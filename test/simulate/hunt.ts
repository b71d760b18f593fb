import { parseArgs } from 'node:util';
import { FORM_NAMES } from '../oracle/forms.ts';
import { coverageTable, createCoverage, missing } from './coverage.ts';
import { createDays } from './each/campaigns.ts';
import { describeFailure, type Histories, historiesOf, historiesOfSeveral, historiesOfTimes } from './sample.ts';
import { createStage } from './scene.ts';
import { createCast } from './several/campaigns.ts';
import { watchSqlite } from './sqlite.ts';

/*
 * npm run hunt:simulate -- [--seeds 100000] [--from 1] [--provider twilio]
 * npm run hunt:simulate -- --replay SEED
 * npm run hunt:simulate -- --replay-several SEED
 * npm run hunt:simulate -- --replay-each SEED
 *
 * The seed decides how the API is spoken to, unless a provider is named. Of every tenth seed the history of several
 * campaigns under rules too, which takes as long as ten others, and of every fifth one that of rows with times.
 * A result table on stdout, progress and failing histories on stderr; exit 1 when one speaks against the promise, or
 * when some kind of event never happened.
 */

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    from: { type: 'string' },
    provider: { type: 'string' },
    replay: { type: 'string' },
    'replay-several': { type: 'string' },
    'replay-each': { type: 'string' },
  },
});

/** So many histories hold every kind of event. */
const ENOUGH_FOR_EVERYTHING = 2500;

const SEVERAL_EVERY = 10;
const EACH_EVERY = 5;

using _sqlite = watchSqlite();
using stage = await createStage();
const form = FORM_NAMES.find((name) => name === values.provider);
if (values.provider !== undefined && form === undefined) throw new Error(`--provider takes ${FORM_NAMES.join(', ')}`);
const single = historiesOf(stage, form);
const several = historiesOfSeveral(stage, await createCast(stage));
const times = historiesOfTimes(stage, await createDays(stage));
const { replay: one, 'replay-several': many, 'replay-each': each } = values;
if (one !== undefined) await replay(single, Number(one));
else if (many !== undefined) await replay(several, Number(many));
else if (each !== undefined) await replay(times, Number(each));
else await hunt(Number(values.from ?? 1), Number(values.seeds ?? 100_000));

async function replay({ simulate }: Histories, seed: number): Promise<void> {
  const { log, violations } = await simulate(seed, { coverage: createCoverage(), recording: true });
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
    const kinds = [
      single,
      ...(seed % SEVERAL_EVERY === 0 ? [several] : []),
      ...(seed % EACH_EVERY === 0 ? [times] : []),
    ];
    for (const histories of kinds) {
      const { violations } = await histories.simulate(seed, { coverage });
      if (violations.length === 0) continue;
      failing.push(seed);
      process.stderr.write(await describeFailure(seed, violations, histories));
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
  const never =
    seeds < ENOUGH_FOR_EVERYTHING
      ? []
      : [...missing(coverage.counts, 'everything'), ...missing(coverage.counts, 'all rules')];
  if (never.length > 0) process.stdout.write(`never happened: ${never.join(', ')}\n`);
  if (failing.length > 0) process.stdout.write(`failing seeds: ${failing.slice(0, 50).join(' ')}\n`);
  if (failing.length + never.length > 0) process.exitCode = 1;
}

/**
 * `npm run hunt:rehearse -- [--projects 300] [--from 1] [--days 14]`: what `rehearse` says of random projects, beside
 * what the real `due` then does at the same times. Progress and differences on stderr, what was compared on stdout, exit
 * 1 on a difference. One alone: `--from SEED --projects 1`. With `--forecasts`: what `plan` says of the end of random
 * campaigns, beside what `rehearse` plays.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { inMemory } from '../temporary.ts';
import { compareForecast } from './forecasts.ts';
import { compare, startOracleApi } from './oracle.ts';

const { values } = parseArgs({
  options: {
    projects: { type: 'string', default: '300' },
    from: { type: 'string', default: '1' },
    days: { type: 'string', default: '14' },
    forecasts: { type: 'boolean', default: false },
  },
});
Object.assign(process.env, inMemory(process.env));
const [projects, from, days] = [values.projects, values.from, values.days].map(Number) as [number, number, number];
await using api = await startOracleApi();
const totals = new Map<string, number>();
const failing: number[] = [];
const began = performance.now();
for (let seed = from; seed < from + projects; seed++) {
  try {
    const { differences, counts, shown, files } = values.forecasts ? await forecastOf(seed) : await projectOf(seed);
    for (const [kind, count] of counts) totals.set(kind, (totals.get(kind) ?? 0) + count);
    if (differences.length > 0) {
      failing.push(seed);
      process.stderr.write(`seed ${seed} (${shown}):\n`);
      for (const line of differences.slice(0, 12)) process.stderr.write(`  ${line}\n`);
      if (projects === 1) for (const [path, text] of Object.entries(files)) process.stderr.write(`${path}\n${text}\n`);
    }
  } catch (error) {
    failing.push(seed);
    process.stderr.write(`seed ${seed}: ${error instanceof Error ? error.stack : error}\n`);
  }
  const done = seed - from + 1;
  const seconds = (performance.now() - began) / 1000;
  // A project with short intervals between calls takes minutes: what was compared is known when the hunt is stopped.
  if (!values.forecasts || done % 10 === 0)
    process.stderr.write(
      `${done} of ${projects}, to seed ${seed}, in ${seconds.toFixed(0)} s, ${failing.length} differ\n`,
    );
}
for (const [kind, count] of [...totals].sort()) process.stdout.write(`${String(count).padStart(8)}  ${kind}\n`);
process.stdout.write(
  `${projects} projects, ${failing.length} differ${failing.length === 0 ? '' : `: ${failing.join(' ')}`}\n`,
);
process.exitCode = failing.length === 0 ? 0 : 1;

async function projectOf(seed: number) {
  const { differences, counts, drawn } = await compare(seed, api, days);
  const shown = `${drawn.days} days, every ${drawn.everyMs / 60_000} min`;
  return { differences, counts, shown, files: drawn.files };
}

async function forecastOf(seed: number) {
  const { differences, campaign, kind } = await compareForecast(seed);
  return { differences, counts: new Map([[kind, 1]]), shown: kind, files: { 'campaign.yaml': campaign } };
}

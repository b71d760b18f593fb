/**
 * `npm run bench`: what handbill costs, measured on real processes. Sizes: `--rows` (validate, preview, deliveries) and
 * `--messages` (send), or HANDBILL_BENCH_ROWS and HANDBILL_BENCH_MESSAGES; `--seconds` for `rate`. `--only` names some of
 * the measurements, `--json FILE` keeps the figures (with `--merge` beside those of other measurements that the file
 * has), `--cpu-prof FOLDER` takes a profile of `send`.
 *
 * CPU time is the sturdy figure: client and server share the cores, so that time on the clock says little.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { createBench, type Measurement, type Settings } from './bench.ts';
import { type Figures, jsonOf, type Kept, mergeFigures, readFigures, tableOf } from './figures.ts';
import { type Options, readOptions, UsageError } from './options.ts';

/**
 * Every measurement by its name, in the order in which they are taken and shown in tables. Each is a file of its own
 * that is loaded when its turn comes: a browser is needed for one of them alone, other programs for another.
 */
const MEASUREMENTS: Readonly<Record<string, () => Promise<Measurement>>> = {
  send: async () => (await import('./send.ts')).measureSend,
  peers: async () => (await import('./peers.ts')).measurePeers,
  rate: async () => (await import('./rate.ts')).measureRate,
  'slow-api': async () => (await import('./slow-api.ts')).measureSlowApi,
  validate: async () => (await import('./validate.ts')).measureValidate,
  preview: async () => (await import('./preview.ts')).measurePreview,
  rules: async () => (await import('./rules.ts')).measureRules,
  memory: async () => (await import('./memory.ts')).measureMemory,
  starts: async () => (await import('./starts.ts')).measureStarts,
  growth: async () => (await import('./growth.ts')).measureGrowth,
  help: async () => (await import('./help.ts')).measureHelp,
  pages: async () => (await import('./pages.ts')).measurePages,
  listen: async () => (await import('./listen.ts')).measureListen,
  deliveries: async () => (await import('./deliveries.ts')).measureDeliveries,
  shared: async () => (await import('./shared.ts')).measureShared,
  'shared-pace': async () => (await import('./shared-pace.ts')).measureSharedPace,
  path: async () => (await import('./path.ts')).measurePath,
  pause: async () => (await import('./pause.ts')).measurePause,
};
const NAMES = Object.keys(MEASUREMENTS);

const { wanted, json, merge, ...asked } = optionsOrExit();

const machine = { node: process.versions.node, cores: cpus().length };
// Says now, and not after an hour, that the two do not go together.
merged({ ...machine, figures: [] });

const taken: Figures = { ...machine, figures: await measureAll() };
process.stdout.write(tableOf(taken));

/** After each measurement: what was measured in an hour is not lost to what fails after it. */
function keep(figures: readonly Kept[]): void {
  if (json !== null) writeFileSync(json, jsonOf(merged({ ...machine, figures })));
}

/** With what the file has, where that is to stay. Another run may have written it in the meantime. */
function merged(figures: Figures): Figures {
  const older = json !== null && merge ? readFigures(json) : null;
  return older === null ? figures : mergeFigures(older, figures, NAMES);
}

/** One measurement after the other, each in a folder of its own that is gone when the next begins. */
async function measureAll(): Promise<readonly Kept[]> {
  const figures: Kept[] = [];
  const root = mkdtempSync(join(tmpdir(), 'handbill-bench-'));
  try {
    for (const measurement of NAMES.filter((name) => wanted.includes(name))) {
      const folder = join(root, measurement);
      mkdirSync(folder);
      const measure = await MEASUREMENTS[measurement]?.();
      await measure?.(createBench(folder, settingsOf(measurement, figures)));
      rmSync(folder, { recursive: true, force: true });
      keep(figures);
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  return figures;
}

function settingsOf(measurement: string, figures: Kept[]): Settings {
  const { sizes, seconds, profile } = asked;
  return {
    sizes,
    seconds,
    profileFolder: profile === null ? null : resolve(profile),
    add(figure) {
      figures.push({ measurement, ...figure });
      process.stderr.write(`${figure.what}: ${figure.value.toFixed(2)} ${figure.unit}\n`);
    },
  };
}

function optionsOrExit(): Options {
  try {
    return readOptions(process.argv.slice(2), process.env, NAMES);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}

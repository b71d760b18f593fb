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
import { parseArgs } from 'node:util';
import { createBench, type Measurement, type Settings } from './bench.ts';
import { type Figures, jsonOf, type Kept, mergeFigures, readFigures, tableOf } from './figures.ts';

/**
 * Every measurement by its name, in the order in which they are taken and stand in tables. Each is a file of its own
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
  help: async () => (await import('./help.ts')).measureHelp,
  'preview-page': async () => (await import('./preview-page.ts')).measurePreviewPage,
  listen: async () => (await import('./listen.ts')).measureListen,
  deliveries: async () => (await import('./deliveries.ts')).measureDeliveries,
};
const NAMES = Object.keys(MEASUREMENTS);

const { values: given } = parseArgs({
  options: {
    rows: { type: 'string', default: process.env['HANDBILL_BENCH_ROWS'] ?? '1000000' },
    messages: { type: 'string', default: process.env['HANDBILL_BENCH_MESSAGES'] ?? '200000' },
    seconds: { type: 'string', default: '60' },
    only: { type: 'string', default: NAMES.join(',') },
    json: { type: 'string' },
    merge: { type: 'boolean', default: false },
    'cpu-prof': { type: 'string' },
  },
});

const wanted = given.only.split(',');
const unknown = wanted.filter((name) => !NAMES.includes(name));
if (unknown.length > 0)
  throw new Error(`There is no measurement ${unknown.join(', ')}: there are ${NAMES.join(', ')}.`);

const machine = { node: process.versions.node, cores: cpus().length };
// Says now, and not after an hour, that the two do not go together.
merged({ ...machine, figures: [] });

const taken: Figures = { ...machine, figures: await measureAll() };
process.stdout.write(tableOf(taken));

/** After each measurement: what was measured in an hour is not lost to what fails after it. */
function keep(figures: readonly Kept[]): void {
  if (given.json !== undefined) writeFileSync(given.json, jsonOf(merged({ ...machine, figures })));
}

/** With what the file has, where that is to stay. Another run may have written it in the meantime. */
function merged(figures: Figures): Figures {
  const older = given.json !== undefined && given.merge ? readFigures(given.json) : null;
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
  const profile = given['cpu-prof'];
  return {
    sizes: { rows: wholeNumber(given.rows), messages: wholeNumber(given.messages) },
    seconds: wholeNumber(given.seconds),
    profileFolder: profile === undefined ? null : resolve(profile),
    add(figure) {
      figures.push({ measurement, ...figure });
      process.stderr.write(`${figure.what}: ${figure.value.toFixed(2)} ${figure.unit}\n`);
    },
  };
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`Not a whole number above 0: ${text}`);
  return value;
}

import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { startArrivals } from './arrivals.ts';
import { API_KEY, type Bench, forgetRuns } from './bench.ts';
import { measure } from './measure.ts';
import { writeCampaign, writeProject } from './project.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SOURCES = `${pathToFileURL(join(ROOT, 'src')).href}/`;
const FEW = 300;
const MANY = 1_300;

/** A script of a V8 coverage file: each function with how often it was called. */
export interface Covered {
  readonly url: string;
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
  }[];
}

/** What one row passes. */
export interface RowPath {
  readonly files: readonly string[];
  /** `src/send/deliver.ts deliver`. */
  readonly functions: readonly string[];
  readonly calls: number;
}

/**
 * How much code a row passes from the list to its outcome: what a process of more rows calls more often, for the rows that
 * it has more. The sources are run as they are, by V8's precise coverage, and the API is another process.
 */
export async function measurePath(bench: Bench): Promise<void> {
  const { folder } = bench;
  const server = await startArrivals(folder, 0);
  try {
    await writeProject(folder, server.url);
    const taken: (readonly Covered[])[] = [];
    for (const rows of [FEW, MANY]) {
      const coverage = join(folder, `coverage-${rows}`);
      mkdirSync(coverage);
      forgetRuns(folder);
      const args = ['send', await writeCampaign(folder, rows), '--env', 'local', '--yes'];
      const env = { HANDBILL_API_KEY: API_KEY, NODE_V8_COVERAGE: coverage };
      await measure(join(ROOT, 'src', 'cli.ts'), args, { cwd: folder, env });
      taken.push(readCoverage(coverage));
      rmSync(coverage, { recursive: true });
    }
    const { files, functions, calls } = pathBetween(taken[0] ?? [], taken[1] ?? [], MANY - FEW);
    process.stderr.write(`${files.join('\n')}\n`);
    const what = 'a plain SMS row, from the list to its outcome';
    bench.add({ id: 'path-files', what, value: files.length, unit: 'files', goal: { atMost: 25 } });
    bench.add({ id: 'path-functions', what, value: functions.length, unit: 'functions', goal: { atMost: 120 } });
    bench.add({ id: 'path-calls', what, value: calls, unit: 'calls' });
  } finally {
    server.process.kill('SIGTERM');
    await once(server.process, 'exit');
  }
}

function readCoverage(folder: string): readonly Covered[] {
  return readdirSync(folder).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: readonly Covered[] };
    return result.filter(({ url }) => url.startsWith(SOURCES));
  });
}

/** @param rows - how many rows the second process had more */
export function pathBetween(few: readonly Covered[], many: readonly Covered[], rows: number): RowPath {
  const before = callsIn(few);
  // What is called for every second row at least: what is called for a block of rows, or for a commit, is not.
  const perRow = [...callsIn(many)]
    .map(([name, count]) => ({ name, calls: (count - (before.get(name) ?? 0)) / rows }))
    .filter(({ calls }) => calls >= 0.5);
  const files = new Set(perRow.map(({ name }) => name.split(' ')[0] ?? ''));
  return {
    files: [...files].sort(),
    functions: perRow.map(({ name }) => name),
    calls: perRow.reduce((sum, { calls }) => sum + calls, 0),
  };
}

/** Calls by file, name and place: a file has many functions without a name. */
function callsIn(scripts: readonly Covered[]): ReadonlyMap<string, number> {
  const calls = new Map<string, number>();
  for (const { url, functions } of scripts) {
    for (const { functionName, ranges } of functions) {
      const [{ startOffset, count } = { startOffset: 0, count: 0 }] = ranges;
      const name = `src/${url.slice(SOURCES.length)} ${functionName} ${startOffset}`;
      calls.set(name, (calls.get(name) ?? 0) + count);
    }
  }
  return calls;
}

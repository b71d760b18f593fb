/**
 * `npm run bench:guard`: whether something became slower, within a minute and on a machine that does other things as
 * well. It compares with a yardstick in the same run, and fails where a ratio lies above its record (test/bench/guard.json)
 * by more than a margin. `--record` keeps the ratios of this run as the new record.
 *
 * Where there is valgrind, instructions are counted: they are as many however busy the machine is. Not those of `send`,
 * which are as many as its answers come one by one or together. There, and for everything where there is no valgrind, it
 * is the least CPU time of several repeats in turn, and what is above its limit is measured again before it is called slow.
 * (`perf stat` has no counters on most virtual machines.)
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { startArrivals } from './arrivals.ts';
import { compareRatios, type Recorded, type Verdict } from './guard-compare.ts';
import { countInstructions, GUARDED, type Least, prepare, SEND, type Take, type TakeName } from './guard-takes.ts';
import { canCountInstructions } from './instructions.ts';

/** Rounds that are always taken, and rounds at most. */
const ROUNDS = { least: 2, most: 4 };
const RECORD = join(import.meta.dirname, 'guard.json');

interface Records {
  readonly cpu: Recorded;
  readonly instructions: Recorded;
}

const { values: given } = parseArgs({ options: { record: { type: 'boolean', default: false } } });
const recorded = JSON.parse(readFileSync(RECORD, 'utf8')) as Records;
const isCounted = canCountInstructions();
/** What CPU time is taken for. A record has all of it, for whoever has no valgrind. */
const byCpu = Object.keys(GUARDED).filter((name) => given.record || !isCounted || name === SEND);
const folder = mkdtempSync(join(tmpdir(), 'handbill-guard-'));
const server = await startArrivals(folder, 0);
try {
  const { takes, counted } = await prepare(folder, server.url);
  const [instructions, cpu] = await Promise.all([
    isCounted ? countInstructions(counted) : null,
    takeRatios(takes, given.record ? ROUNDS.most : ROUNDS.least),
  ]);
  if (given.record) writeRecord({ cpu, instructions: instructions ?? recorded.instructions.ratios });
  else judge(cpu, instructions);
} finally {
  server.process.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}

type Ratios = Readonly<Record<string, number>>;

/** One line for each ratio, and the exit status. */
function judge(cpu: Ratios, instructions: Ratios | null): void {
  const verdicts: readonly Verdict[] = [
    ...compareRatios(cpu, cpuRecord()),
    ...(instructions === null ? [] : compareRatios(instructions, recorded.instructions)),
  ];
  process.stdout.write(`${verdicts.map(({ line }) => line).join('\n')}\n`);
  if (instructions === null) process.stdout.write('skip  instructions: there is no valgrind\n');
  if (verdicts.some(({ ok }) => !ok)) process.exitCode = 1;
}

/** The record of what is taken this time. */
function cpuRecord(): Recorded {
  const { margin, ratios } = recorded.cpu;
  return { margin, ratios: Object.fromEntries(Object.entries(ratios).filter(([name]) => byCpu.includes(name))) };
}

/** Takes everything in turn so many times, and then what seems too slow until it does not, or often enough. */
async function takeRatios(takes: Readonly<Record<TakeName, Take>>, leastRounds: number): Promise<Ratios> {
  const taken = new Map<string, number>();
  const takesOf = (names: readonly string[]) => new Set(names.flatMap((name) => GUARDED[name]?.takes ?? []));
  let again = takesOf(byCpu);
  for (let round = 1; round <= ROUNDS.most && again.size > 0; round += 1) {
    for (const name of again) await takeLeast(name, takes[name], taken);
    if (round < leastRounds) continue;
    const slow = compareRatios(ratiosOf(taken), cpuRecord()).filter(({ ok }) => !ok);
    again = takesOf(slow.map(({ name }) => name));
  }
  return ratiosOf(taken);
}

async function takeLeast(name: TakeName, { times, cpuUs }: Take, taken: Map<string, number>): Promise<void> {
  for (let n = 0; n < times; n += 1) taken.set(name, Math.min(taken.get(name) ?? Infinity, await cpuUs()));
}

function ratiosOf(taken: ReadonlyMap<string, number>): Ratios {
  const least = Object.fromEntries(taken) as Least;
  return Object.fromEntries(byCpu.map((name) => [name, GUARDED[name]?.ratio(least) ?? Number.NaN]));
}

function writeRecord(ratios: Readonly<Record<keyof Records, Ratios>>): void {
  const kept = (of: keyof Records): Recorded => ({
    margin: recorded[of].margin,
    ratios: Object.fromEntries(Object.entries(ratios[of]).map(([name, ratio]) => [name, Number(ratio.toFixed(2))])),
  });
  const text = `${JSON.stringify({ cpu: kept('cpu'), instructions: kept('instructions') }, null, 2)}\n`;
  writeFileSync(RECORD, text);
  process.stdout.write(text);
}

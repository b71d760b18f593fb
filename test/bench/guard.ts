/**
 * `npm run bench:guard`: whether something became slower, in a minute or two and on a machine that does other things as
 * well. It fails where a figure lies above its record (test/bench/guard.json) by more than a margin. `--record` measures
 * five times and keeps the middle as the new record.
 *
 * Where there is valgrind, instructions are counted: they are as many however busy the machine is. Not those of `send`,
 * which are as many as its answers come one by one or together. There, and for everything where instructions cannot be
 * counted, it is CPU time against a yardstick of the same run: the least of several repeats in turn.
 * (`perf stat` has no counters on most virtual machines.)
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { startArrivals } from './arrivals.ts';
import { compareFigures, type Figures, middleOf, type Recorded, recordOf, type Verdict } from './guard-compare.ts';
import { type Kind, type Rounds, takeFigures } from './guard-rounds.ts';
import { type Counted, prepare, SEND, type Timed } from './guard-takes.ts';
import { COUNTER, canCountInstructions } from './instructions.ts';

/** What seems too slow is counted once more; CPU time varies more. */
const COUNT_ROUNDS: Rounds = { least: 1, most: 2 };
const TIME_ROUNDS: Rounds = { least: 2, most: 4 };
/** Runs of which a record is the middle. */
const RUNS = 5;
const RECORD = join(import.meta.dirname, 'guard.json');

interface Records {
  readonly cpu: Recorded;
  /** `counter`: what they were counted with. */
  readonly instructions: Recorded & { readonly counter: string };
}

const { values: given } = parseArgs({ options: { record: { type: 'boolean', default: false } } });
const records = JSON.parse(readFileSync(RECORD, 'utf8')) as Records;
const folder = mkdtempSync(join(tmpdir(), 'handbill-guard-'));
const server = await startArrivals(folder, 0);
try {
  const { timed, counted } = await prepare(folder, server.url);
  if (given.record) await record(timed, counted);
  else judge(await guard(timed, counted));
} finally {
  server.process.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}

async function guard(timed: Kind<Timed>, counted: Kind<Counted>): Promise<readonly Verdict[]> {
  const instructions = await countIfPossible(counted);
  if (instructions === null) return compareFigures(await takeFigures(timed, records.cpu, TIME_ROUNDS), records.cpu);
  const sent = {
    ...timed,
    guarded: Object.fromEntries(Object.entries(timed.guarded).filter(([name]) => name === SEND)),
  };
  return [
    ...compareFigures(await takeFigures(sent, records.cpu, TIME_ROUNDS), recordOf(records.cpu, [SEND])),
    ...compareFigures(instructions, records.instructions),
  ];
}

/** Null, and says why, where instructions cannot be counted or compared. */
async function countIfPossible(counted: Kind<Counted>): Promise<Figures | null> {
  const { counter } = records.instructions;
  if (!canCountInstructions()) return noCount('there is no valgrind');
  if (counter !== COUNTER) return noCount(`the record is of ${counter}, and this is ${COUNTER}`);
  try {
    return await takeFigures(counted, records.instructions, COUNT_ROUNDS);
  } catch (error) {
    // A valgrind that does not know this processor or this Node; a broken handbill fails below as well.
    return noCount(String(error));
  }
}

function noCount(why: string): null {
  process.stdout.write(`note  instructions are not counted, CPU time is compared instead: ${why}\n`);
  return null;
}

/** One line for each figure, what to do, and the exit status. */
function judge(verdicts: readonly Verdict[]): void {
  process.stdout.write(`${verdicts.map(({ line }) => line).join('\n')}\n`);
  if (verdicts.every(({ ok }) => ok)) return;
  process.stdout.write(
    'Slower than recorded in test/bench/guard.json. To see where: `npm run bench -- --only send --cpu-prof FOLDER`. Where it\n' +
      'is meant to be: `npm run bench:guard -- --record`, on a machine that does nothing else, and commit the record.\n',
  );
  process.exitCode = 1;
}

async function record(timed: Kind<Timed>, counted: Kind<Counted>): Promise<void> {
  const cpu: Figures[] = [];
  const instructions: Figures[] = [];
  // Counted first, as the guard does: behind the timed takes `preview` counts a sixth more. A ledger makes it 1% more.
  for (let run = 1; run <= RUNS && canCountInstructions(); run += 1) {
    instructions.push(await takeOnce(counted, COUNT_ROUNDS.least));
    process.stderr.write(`counted, ${run} of ${RUNS}: ${JSON.stringify(instructions.at(-1))}\n`);
  }
  for (let run = 1; run <= RUNS; run += 1) {
    cpu.push(await takeOnce(timed, TIME_ROUNDS.least));
    process.stderr.write(`timed, ${run} of ${RUNS}: ${JSON.stringify(cpu.at(-1))}\n`);
  }
  const kept: Records = {
    cpu: { margin: records.cpu.margin, figures: middleOf(cpu) },
    instructions:
      instructions.length === 0
        ? records.instructions
        : { counter: COUNTER, margin: records.instructions.margin, figures: middleOf(instructions) },
  };
  const text = `${JSON.stringify(kept, null, 2)}\n`;
  writeFileSync(RECORD, text);
  process.stdout.write(text);
}

/** Figures that are compared with nothing. */
function takeOnce<Name extends string>(kind: Kind<Name>, rounds: number): Promise<Figures> {
  return takeFigures(kind, { margin: Number.POSITIVE_INFINITY, figures: {} }, { least: rounds, most: rounds });
}

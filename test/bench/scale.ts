/**
 * `node test/bench/scale.ts`: what one shared ledger carries, by simulation, and what it takes to send more than that. Prints
 * the tables of docs/internals/measurements.md; a test compares them.
 *
 * A worker is one thread: it takes what has been answered, works on it, has it committed together with the next claims -
 * and sleeps meanwhile - and posts. The ledger commits one after the other. The times were measured (`npm run bench -- --only
 * shared`, and `commits`, on two cores of 2026 with the database beside it).
 */
import process from 'node:process';

/** Measured times, in ms. */
export interface Times {
  /** Of a worker, for a message: everything but the ledger. */
  readonly work: number;
  /** Of the ledger: for a commit, and for each message in it (its claim, and its outcome). */
  readonly commit: number;
  readonly row: number;
  /** Of the API, until it answers. */
  readonly api: number;
}

export const MEASURED: Times = { work: 0.17, commit: 1.2, row: 0.06, api: 100 };

/** Requests in flight of a worker. */
const LANES = 512;
const SECONDS = 20;
/** As in the group commit: what arrives within this time is committed together. */
const LINGER_MS = 2;

/** Messages a second of so many workers on one ledger, once all of them are at full width. */
export function simulate(workers: number, times: Times, lanes = LANES): number {
  // When each lane's answer is there; sorted, as every answer takes as long as the others.
  const answers = Array.from({ length: workers }, (_, at) =>
    Array.from({ length: lanes }, (_, lane) => at + lane * 0.01),
  );
  const freeAt = answers.map(([first = 0]) => first);
  let ledgerAt = 0;
  let sent = 0;
  const end = SECONDS * 1000;
  const begin = end / 4;
  for (;;) {
    const at = freeAt.indexOf(Math.min(...freeAt));
    const mine = answers[at];
    const now = freeAt[at] ?? 0;
    if (mine === undefined || now >= end) break;
    let count = mine.findIndex((answer) => answer > now + LINGER_MS);
    if (count === -1) count = lanes;
    if (count === 0) {
      freeAt[at] = mine[0] ?? end;
      continue;
    }
    const ready = Math.max(now, mine[count - 1] ?? now) + count * times.work;
    const committed = Math.max(ready, ledgerAt) + times.commit + count * times.row;
    ledgerAt = committed;
    mine.splice(0, count);
    for (let one = 0; one < count; one += 1) mine.push(committed + times.api);
    freeAt[at] = committed;
    if (committed > begin && committed < end) sent += count;
  }
  return sent / ((end - begin) / 1000);
}

/** The planned load of a ledger, as a share of its capacity: the rest is for lists, reports and recovery. */
const SHARE = 0.6;
const RECIPIENTS = 100_000_000;
const WANTED = 50_000;
/** Of a recipient in the ledger, with the index, sent to (measured). */
const BYTES = 330;

function round(value: number, digits = 2): string {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - digits + 1);
  return (Math.round(value / unit) * unit).toLocaleString('en-GB');
}

export function workersTable(times = MEASURED): string {
  const rows = [1, 2, 4, 8, 16, 32].map((workers) => {
    const rate = simulate(workers, times);
    return `| ${workers} | ${round(rate)} | ${round(rate / workers)} |`;
  });
  return ['| workers | messages a second | for each worker |', '|---|---|---|', ...rows].join('\n');
}

export function planTable(times = MEASURED): string {
  const carries = simulate(32, times) * SHARE;
  const ledgers = Math.ceil(WANTED / carries);
  const perWorker = simulate(1, times);
  const workers = Math.ceil(WANTED / perWorker / 0.7);
  const seconds = RECIPIENTS / WANTED;
  const rows: [string, string][] = [
    ['planned load of one ledger, 60% of its capacity', `${round(carries)} messages a second`],
    ['ledgers', String(ledgers)],
    ['workers, each on its own core, 70% busy', String(workers)],
    ['requests in flight, with 100 ms for an answer', round(WANTED * (times.api / 1000))],
    ['time', `${Math.round(seconds / 60)} minutes`],
    [
      'rows on each ledger',
      `${round(RECIPIENTS / ledgers / 1e6)} million, ${round((RECIPIENTS / ledgers / 1e9) * BYTES)} GB`,
    ],
    ['cores of all ledgers, at full rate', String(Math.ceil((WANTED * times.row) / 1000))],
  ];
  return [
    '| 100 million at 50,000 a second | |',
    '|---|---|',
    ...rows.map(([what, value]) => `| ${what} | ${value} |`),
  ].join('\n');
}

if (process.argv[1] === import.meta.filename) process.stdout.write(`${workersTable()}\n\n${planTable()}\n`);

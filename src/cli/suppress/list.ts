import type { Ledger } from '../../ledger/ledger.ts';
import { openExistingLedger } from '../../ledger/open.ts';
import type { SuppressedHash, Suppression } from '../../ledger/records.ts';
import type { CommandContext } from '../../operations/context.ts';
import { projectHere } from '../../operations/project-ledger.ts';
import { asCsv } from '../../operations/suppress-csv.ts';
import { writeHash } from '../../suppression/hash.ts';
import { mask } from '../../util/mask.ts';
import { jsonText, safeLine } from '../../util/safe.ts';
import { type Column, table } from '../../util/table.ts';

export interface ListOptions {
  readonly ledger?: string;
  readonly format: 'text' | 'json' | 'csv';
  readonly full?: true;
}

type Lists = Pick<Ledger, 'suppressions' | 'suppressedHashes'>;

const EMPTY: Lists = { suppressions: () => [], suppressedHashes: () => [] };

/** `handbill suppress list` */
export async function listAll(given: ListOptions, context: CommandContext): Promise<void> {
  const reading = await projectHere(context, given.ledger);
  const ledger = openExistingLedger(reading.project.ledger, { nowMs: context.now() });
  try {
    const lists = ledger ?? EMPTY;
    const text = {
      text: () => asTables(lists, given.full === true, context.tableWidth ?? context.width),
      json: asJson,
      csv: asCsv,
    };
    for (const piece of text[given.format](lists)) await context.out(piece);
  } finally {
    ledger?.close();
  }
}

/** Rows that are aligned with each other: a table of a million is not held in memory. */
const ALIGNED_ROWS = 1000;

function* asTables(lists: Lists, full: boolean, width: number): Generator<string> {
  let columns: readonly Column[] = [
    { title: 'address' },
    { title: 'until' },
    { title: 'from' },
    { title: 'reason', shrink: true },
  ];
  let block: (readonly string[])[] = [];
  let isEmpty = true;
  for (const row of rowsOf(lists, full)) {
    isEmpty = false;
    if (block.push(row) < ALIGNED_ROWS) continue;
    yield table(block, columns, { width });
    columns = columns.map(({ title: _, ...column }) => column);
    block = [];
  }
  if (block.length > 0) yield table(block, columns, { width });
  if (isEmpty) yield 'Nobody is suppressed.\n';
}

function* rowsOf(lists: Lists, full: boolean): Generator<readonly string[]> {
  const row = (shown: string, { untilMs, source, reason }: Omit<Suppression, 'address'>): string[] => [
    shown,
    untilMs === null ? 'for ever' : iso(untilMs),
    safeLine(source),
    reason ?? '',
  ];
  for (const one of lists.suppressions()) yield row(full ? one.address : mask(one.address), one);
  for (const one of lists.suppressedHashes()) yield row(full ? writeHash(one) : shortHash(one), one);
}

/** The key and enough to tell it from others. */
function shortHash(hash: SuppressedHash): string {
  return `${writeHash(hash).slice(0, 21)}…`;
}

function* asJson(lists: Lists): Generator<string> {
  yield '{ "version": 1, "suppressions": [';
  yield* items(lists.suppressions(), ({ address, ...rest }) => ({ address, ...facts(rest) }));
  yield '], "hashes": [';
  yield* items(lists.suppressedHashes(), ({ hash, keyId, ...rest }) => ({
    hash: writeHash({ hash, keyId }),
    ...facts(rest),
  }));
  yield '] }\n';
}

function* items<T>(all: Iterable<T>, show: (one: T) => object): Generator<string> {
  let between = '\n  ';
  for (const one of all) {
    yield between + jsonText(show(one));
    between = ',\n  ';
  }
  if (between !== '\n  ') yield '\n';
}

function facts({ reason, untilMs, source, createdAtMs }: Omit<Suppression, 'address'>): object {
  return { reason, until: untilMs === null ? null : iso(untilMs), source, createdAt: iso(createdAtMs) };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

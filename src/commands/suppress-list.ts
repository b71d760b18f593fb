import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger } from '../ledger/open.ts';
import type { SuppressedHash, Suppression } from '../ledger/records.ts';
import { writeHash } from '../suppression/hash.ts';
import { mask } from '../util/mask.ts';
import { safeLine } from '../util/safe.ts';
import { table } from '../util/table.ts';
import type { CommandContext } from './context.ts';
import { projectHere } from './project-ledger.ts';
import { asCsv } from './suppress-csv.ts';

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
    if (given.format === 'text') await context.out(asTable(lists, given.full === true, context.width));
    else for (const piece of given.format === 'json' ? asJson(lists) : asCsv(lists)) await context.out(piece);
  } finally {
    ledger?.close();
  }
}

function asTable(lists: Lists, full: boolean, width: number): string {
  const row = (shown: string, { untilMs, source, reason }: Omit<Suppression, 'address'>): string[] => [
    shown,
    untilMs === null ? 'for ever' : iso(untilMs),
    safeLine(source),
    reason ?? '',
  ];
  const rows = [
    ...[...lists.suppressions()].map((one) => row(full ? one.address : mask(one.address), one)),
    ...[...lists.suppressedHashes()].map((one) => row(full ? writeHash(one) : shortHash(one), one)),
  ];
  if (rows.length === 0) return 'Nobody is suppressed.\n';
  const columns = [{ title: 'address' }, { title: 'until' }, { title: 'from' }, { title: 'reason', shrink: true }];
  return table(rows, columns, { width });
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
    yield between + JSON.stringify(show(one));
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

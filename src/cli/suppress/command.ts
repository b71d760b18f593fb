import { findSuppressions } from '../../campaign/read-suppressions.ts';
import type { Diagnostic } from '../../errors.ts';
import { openExistingLedger } from '../../ledger/open.ts';
import type { UnreachableAddress } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { formatOption, OPTIONS, type OptionTable, WRITING } from '../../operations/options.ts';
import { projectHere, sayLedger } from '../../operations/project.ts';
import {
  ADD_SUPPRESSIONS,
  addSuppressions,
  importSuppressions,
  REMOVE_SUPPRESSIONS,
  removeSuppressions,
} from '../../operations/suppress-change.ts';
import {
  asCsv,
  EMPTY,
  EXPORT_SUPPRESSIONS,
  exportSuppressions,
  factsOf,
  type Lists,
} from '../../operations/suppress-list.ts';
import { failuresText, unreachableIn } from '../../plan/unreachable.ts';
import { countOf, number } from '../../report/words.ts';
import { writeHash } from '../../suppression/hash.ts';
import { safeLine } from '../../util/escape.ts';
import { jsonItems } from '../../util/list-text.ts';
import { mask } from '../../util/redact.ts';
import { type Column, table } from '../../util/table.ts';
import { complain } from '../shared/complain.ts';
import type { Flags } from '../shared/options.ts';
import { writeResult } from '../shared/output-sink.ts';
import { checkAll } from './check.ts';

const CHANGED = { quiet: OPTIONS.quiet, ledger: OPTIONS.ledger } as const satisfies OptionTable;
const ADD_FLAGS = { ...ADD_SUPPRESSIONS, ...CHANGED } as const satisfies OptionTable;
const REMOVE_FLAGS = { ...REMOVE_SUPPRESSIONS, ...CHANGED } as const satisfies OptionTable;
const LIST_FLAGS = {
  full: { flag: '--full', says: 'show whole addresses in text too' },
  format: formatOption(['text', 'json', 'csv']),
  ledger: OPTIONS.ledger,
} as const satisfies OptionTable;
const EXPORT_FLAGS = {
  ...EXPORT_SUPPRESSIONS,
  ...WRITING,
  ledger: OPTIONS.ledger,
} as const satisfies OptionTable;
const CHECK_FLAGS = { ...CHANGED, format: formatOption(['text', 'json']) } as const satisfies OptionTable;

export const COMMANDS = {
  add: { FLAGS: ADD_FLAGS, run: add },
  remove: { FLAGS: REMOVE_FLAGS, run: remove },
  list: { FLAGS: LIST_FLAGS, run: list },
  import: { FLAGS: CHANGED, run: importFile },
  export: {
    FLAGS: EXPORT_FLAGS,
    run: (context: CommandContext, given: Flags<typeof EXPORT_FLAGS>) =>
      writeResult(exportSuppressions(given), given, context),
  },
  check: { FLAGS: CHECK_FLAGS, run: checkAll },
};

async function add(
  context: CommandContext,
  given: Flags<typeof ADD_FLAGS>,
  addresses: readonly string[],
): Promise<void> {
  const { added, known, warnings } = await addSuppressions(addresses, given);
  const now = (given.reason ?? '') === '' ? '' : `, and ${known === 1 ? 'has' : 'have'} this reason now`;
  const before = known === 0 ? '' : ` ${plural(known)} ${known === 1 ? 'was' : 'were'} suppressed before${now}.`;
  await tell(`${plural(added)} suppressed.${before}`, warnings, given, context);
}

async function remove(
  context: CommandContext,
  given: Flags<typeof REMOVE_FLAGS>,
  addresses: readonly string[],
): Promise<void> {
  const { removed, absent, dismissed = 0, warnings } = await removeSuppressions(addresses, given);
  const said = [
    ...(removed > 0 || dismissed === 0 ? [`${plural(removed)} removed.`] : []),
    ...(dismissed > 0 ? [`The permanent failures of ${plural(dismissed)} no longer count.`] : []),
    ...(absent > 0 ? [`${plural(absent)} ${absent === 1 ? 'was' : 'were'} not on the list.`] : []),
  ];
  await tell(said.join(' '), warnings, given, context);
}

async function importFile(context: CommandContext, given: Flags<typeof CHANGED>, written: string): Promise<void> {
  const { file, entries, added, warnings } = await importSuppressions(written, given);
  const said = `${countOf(entries, 'entry', 'entries')} read from ${safeLine(file)}, ${number(added)} new.`;
  await tell(said, warnings, given, context);
}

async function tell(
  said: string,
  warnings: readonly Diagnostic[] | undefined,
  { quiet, ledger }: Flags<typeof CHANGED>,
  context: CommandContext,
): Promise<void> {
  complain(context, warnings ?? []);
  if (quiet === true) return;
  await context.out(`${said}\n`);
  await sayLedger(context, ledger);
}

const plural = (count: number): string => countOf(count, 'address', 'addresses');

async function list(context: CommandContext, given: Flags<typeof LIST_FLAGS>): Promise<void> {
  const reading = projectHere(given);
  using ledger = openExistingLedger(reading.project.ledger, { nowMs: context.now() });
  const lists = ledger ?? EMPTY;
  const { unreachable: rule } = findSuppressions(null, reading, context.cwd);
  const failing = ledger === null ? [] : unreachableIn(reading.project, rule, ledger, context.now());
  const text = {
    text: () => asTables(lists, failing, given.full === true, context.tableWidth ?? context.width),
    json: () => asJson(lists, failing),
    csv: () => asCsv(lists),
  };
  for (const piece of text[given.format]()) await context.out(piece);
}

/** Rows that are aligned with each other: a table of a million is not held in memory. */
const ALIGNED_ROWS = 1000;

type Failing = readonly UnreachableAddress[];

function* asTables(lists: Lists, failing: Failing, full: boolean, width: number): Generator<string> {
  let columns: readonly Column[] = [
    { title: 'address' },
    { title: 'topic' },
    { title: 'until' },
    { title: 'from' },
    { title: 'reason' },
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
  if (isEmpty) yield 'No addresses are suppressed.\n';
  if (failing.length === 0) return;
  const rows = failing.map(({ address, environment, failures, lastFailure }) => [
    full ? address : mask(address),
    safeLine(environment),
    failuresText(failures, lastFailure),
  ]);
  yield `\n${table(rows, [{ title: 'unreachable' }, { title: 'environment' }, { title: 'why' }], { width })}`;
}

function* rowsOf(lists: Lists, full: boolean): Generator<readonly string[]> {
  const row = (shown: string, one: Parameters<typeof factsOf>[0]): readonly string[] => {
    const { topic, until, source, reason } = factsOf(one);
    return [shown, topic ?? '', until ?? 'without end', safeLine(source), reason ?? ''];
  };
  for (const one of lists.suppressions()) yield row(full ? one.address : mask(one.address), one);
  for (const one of lists.suppressedHashes()) yield row(full ? writeHash(one) : `${writeHash(one).slice(0, 21)}…`, one);
}

function* asJson(lists: Lists, failing: Failing): Generator<string> {
  yield '{ "version": 1, "suppressions": [';
  yield* jsonItems(listed(lists.suppressions(), (one) => ({ address: one.address, ...factsOf(one) })));
  yield '], "hashes": [';
  yield* jsonItems(listed(lists.suppressedHashes(), (one) => ({ hash: writeHash(one), ...factsOf(one) })));
  if (failing.length > 0) {
    yield '], "unreachable": [';
    yield* jsonItems([failing]);
  }
  yield '] }\n';
}

function* listed<T>(all: Iterable<T>, show: (one: T) => object): Generator<readonly object[]> {
  for (const one of all) yield [show(one)];
}

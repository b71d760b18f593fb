import type { Command } from 'commander';
import { findSuppressions } from '../../campaign/read-suppressions.ts';
import type { Diagnostic } from '../../errors.ts';
import { openExistingLedger } from '../../ledger/open.ts';
import type { UnreachableAddress } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { type FlagsOf, formatOption, OPTIONS, type OptionTable, WRITING } from '../../operations/options.ts';
import { optionsHere, projectHere, sayLedger } from '../../operations/project.ts';
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
import { writeHash } from '../../suppression/hash.ts';
import { safeLine } from '../../util/escape.ts';
import { jsonItems } from '../../util/list-text.ts';
import { mask } from '../../util/redact.ts';
import { type Column, table } from '../../util/table.ts';
import { complain } from '../shared/complain.ts';
import { addExamples, addOptions } from '../shared/options.ts';
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

export function configure(command: Command, context: CommandContext): void {
  addExamples(command, [
    ['handbill suppress add +447700900123 --reason "asked by phone"', ''],
    ['handbill suppress add jane@example.com --until 2027-01-31', 'until the end of that day'],
    ['handbill suppress add +447700900123 --topic offers', 'only in campaigns with this topic'],
    ['handbill suppress remove +447700900123', ''],
    ['handbill suppress list --format csv', ''],
    ['handbill suppress import optouts.csv', 'a column msisdn, email, contact or hash'],
    ['handbill suppress export --hashed -o shared.csv', 'keyed hashes instead of addresses'],
    ['handbill suppress check', 'is the key of the hashes there?'],
    ['handbill suppress check +447700900123', 'suppressed or not, why, since when, by which list'],
  ]);
  const add = command
    .command('add <address...>')
    .description(
      'Never sends to these numbers, email addresses, contact:IDs or hashes again, in any campaign or those of a topic.',
    );
  addOptions(add, ADD_FLAGS, context).action(async (addresses: readonly string[], given: FlagsOf<typeof ADD_FLAGS>) => {
    const options = { ...given, ...optionsHere(context, given.ledger) };
    const { added, known, warnings } = await addSuppressions(addresses, options);
    const now = (given.reason ?? '') === '' ? '' : `, and ${known === 1 ? 'has' : 'have'} this reason now`;
    const before = known === 0 ? '' : ` ${plural(known)} ${known === 1 ? 'was' : 'were'} suppressed before${now}.`;
    await tell(`${plural(added)} suppressed.${before}`, warnings, given, context);
  });
  const remove = command
    .command('remove <address...>')
    .description(
      'Takes them and their hashes off the list. Without --topic, their permanent failures no longer count.',
    );
  addOptions(remove, REMOVE_FLAGS, context).action(
    async (addresses: readonly string[], given: FlagsOf<typeof REMOVE_FLAGS>) => {
      const options = { ...given, ...optionsHere(context, given.ledger) };
      const { removed, absent, dismissed = 0, warnings } = await removeSuppressions(addresses, options);
      const said = [
        ...(removed > 0 || dismissed === 0 ? [`${plural(removed)} removed.`] : []),
        ...(dismissed > 0 ? [`The permanent failures of ${plural(dismissed)} no longer count.`] : []),
        ...(absent > 0 ? [`${plural(absent)} ${absent === 1 ? 'was' : 'were'} not on the list.`] : []),
      ];
      await tell(said.join(' '), warnings, given, context);
    },
  );
  const list = command
    .command('list')
    .description(
      'Shows the list, and in text and json the addresses that are unreachable by the rule of handbill.yaml. Addresses are ' +
        'masked in text, and whole in json and csv.',
    );
  addOptions(list, LIST_FLAGS, context).action((given) => listAll(given, context));
  const imports = command
    .command('import <file>')
    .description('Adds all rows of a CSV file with addresses or hashes; a bad row refuses the file.');
  addOptions(imports, CHANGED, context).action(async (written: string, given: FlagsOf<typeof CHANGED>) => {
    const { file, entries, added, warnings } = await importSuppressions(written, optionsHere(context, given.ledger));
    const said = `${entries} ${entries === 1 ? 'entry' : 'entries'} read from ${safeLine(file)}, ${added} new.`;
    await tell(said, warnings, given, context);
  });
  const exports = command
    .command('export')
    .description('Writes the list as a CSV file that import and `suppressions` read.');
  // The format is not a choice; the output on a terminal depends on it.
  exports.setOptionValue('format', 'csv');
  addOptions(exports, EXPORT_FLAGS, context).action(async (given: FlagsOf<typeof EXPORT_FLAGS>) => {
    const lists = exportSuppressions({ ...given, ...optionsHere(context, given.ledger) });
    await writeResult(lists, given, context);
  });
  const check = command
    .command('check [address...]')
    .description(
      'Says of each number, email address, contact:ID or hash whether it is suppressed, why, since and until when, and by ' +
        'which list. The exit status is 0 whether it is or not, and 2 for what is no address. Without any: what the lists ' +
        'of the project hold, and whether the key of their hashes is there. Exit status 2 where it is not, or a list ' +
        'cannot be read.',
    );
  addOptions(check, CHECK_FLAGS, context).action((addresses: readonly string[], given) =>
    checkAll(addresses, given, context),
  );
}

async function tell(
  said: string,
  warnings: readonly Diagnostic[] | undefined,
  { quiet, ledger }: FlagsOf<typeof CHANGED>,
  context: CommandContext,
): Promise<void> {
  complain(context, warnings ?? []);
  if (quiet === true) return;
  await context.out(`${said}\n`);
  await sayLedger(context, ledger);
}

function plural(count: number): string {
  return `${count} ${count === 1 ? 'address' : 'addresses'}`;
}

async function listAll(given: FlagsOf<typeof LIST_FLAGS>, context: CommandContext): Promise<void> {
  const reading = projectHere(optionsHere(context, given.ledger));
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

import type { Command } from 'commander';
import { type Diagnostic, EXIT, HandbillError, problem, refuse } from '../errors.ts';
import { openExistingLedger, openLedger } from '../ledger/open.ts';
import type { Suppression } from '../ledger/records.ts';
import { createPhoneReader } from '../recipients/phone.ts';
import { csvCell } from '../util/csv-cell.ts';
import { mask } from '../util/mask.ts';
import { safeLine } from '../util/safe.ts';
import { table } from '../util/table.ts';
import { instantMs } from '../util/units.ts';
import type { CommandContext } from './context.ts';
import { addExamples, addFormat, addLedger } from './options.ts';
import { projectHere } from './project-ledger.ts';

export function configure(command: Command, context: CommandContext): void {
  addExamples(command, [
    ['handbill suppress add +447700900123 --reason "asked by phone"', ''],
    ['handbill suppress add +447700900123 --until 2027-01-31', 'until the end of that day (UTC)'],
    ['handbill suppress remove +447700900123', ''],
    ['handbill suppress list --format csv', ''],
  ]);
  const add = command
    .command('add <address...>')
    .description('Never sends to these numbers again, in any campaign of this project.')
    .option('--reason <text>', 'why, for whoever looks at the list')
    .option('--until <date>', 'until the end of a day (2027-01-31, in UTC) or an instant (default: for ever)')
    .option('-q, --quiet', 'print nothing when all is well');
  addLedger(add).action((addresses: readonly string[], given: AddOptions) => addAll(addresses, given, context));
  const remove = command
    .command('remove <address...>')
    .description('Takes numbers off the list.')
    .option('-q, --quiet', 'print nothing when all is well');
  addLedger(remove).action((addresses: readonly string[], given: Given) => removeAll(addresses, given, context));
  const list = command
    .command('list')
    .description('Shows the list: addresses are masked in text, and whole in json and csv.')
    .option('--full', 'show whole addresses in text too');
  addLedger(addFormat(list, ['text', 'json', 'csv'])).action((given: ListOptions) => listAll(given, context));
}

interface Given {
  readonly ledger?: string;
  readonly quiet?: true;
}

interface AddOptions extends Given {
  readonly reason?: string;
  readonly until?: string;
}

interface ListOptions extends Given {
  readonly format: 'text' | 'json' | 'csv';
  readonly full?: true;
}

async function addAll(raw: readonly string[], given: AddOptions, context: CommandContext): Promise<void> {
  const nowMs = context.now();
  const untilMs = given.until === undefined ? null : untilOf(given.until, nowMs);
  const reading = await projectHere(context, given.ledger);
  const addresses = normalised(raw, reading.written.defaults?.recipients?.defaultCountry ?? null);
  const ledger = openLedger(reading.project.ledger, { mode: 'write', nowMs });
  try {
    const reason = given.reason ?? null;
    const entries = addresses.map((address) => ({ address, reason, untilMs, source: 'user' }));
    const added = ledger.suppressMany(entries, nowMs);
    const known = addresses.length - added;
    const before = known === 0 ? '' : ` ${plural(known)} ${known === 1 ? 'was' : 'were'} suppressed before.`;
    if (given.quiet !== true) await context.out(`${plural(added)} suppressed.${before}\n`);
  } finally {
    ledger.close();
  }
}

async function removeAll(raw: readonly string[], given: Given, context: CommandContext): Promise<void> {
  const nowMs = context.now();
  const reading = await projectHere(context, given.ledger);
  const addresses = normalised(raw, reading.written.defaults?.recipients?.defaultCountry ?? null);
  // Opened to read first: taking something off a list that does not exist must not make a ledger.
  const existing = openExistingLedger(reading.project.ledger, { nowMs });
  existing?.close();
  const removed = existing === null ? 0 : removeFrom(reading.project.ledger, addresses, nowMs);
  const absent = addresses.length - removed;
  const rest = absent === 0 ? '' : ` ${plural(absent)} ${absent === 1 ? 'was' : 'were'} not on the list.`;
  if (given.quiet !== true) await context.out(`${plural(removed)} removed.${rest}\n`);
}

function removeFrom(path: string, addresses: readonly string[], nowMs: number): number {
  const ledger = openLedger(path, { mode: 'write', nowMs });
  try {
    return addresses.filter((address) => ledger.unsuppress(address)).length;
  } finally {
    ledger.close();
  }
}

async function listAll(given: ListOptions, context: CommandContext): Promise<void> {
  const nowMs = context.now();
  const reading = await projectHere(context, given.ledger);
  const ledger = openExistingLedger(reading.project.ledger, { nowMs });
  try {
    const entries = ledger?.suppressions() ?? [];
    if (given.format === 'text') await context.out(asTable([...entries], given.full === true, context.width));
    else for (const piece of given.format === 'json' ? asJson(entries) : asCsv(entries)) await context.out(piece);
  } finally {
    ledger?.close();
  }
}

/** Every address in the form in which recipients are compared with it; all that are none are refused at once. */
function normalised(raw: readonly string[], defaultCountry: string | null): readonly string[] {
  const read = createPhoneReader(defaultCountry);
  const wrong: Diagnostic[] = [];
  const addresses = new Set<string>();
  for (const text of raw) {
    const number = read(text);
    if ('e164' in number) addresses.add(number.e164);
    else {
      const hint = number.hint ?? 'Write it with + and the country code, such as +447700900123.';
      wrong.push(problem('invalid-address', `"${text}" is no phone number: it ${number.problem}.`, { hint }));
    }
  }
  if (wrong.length > 0) throw new HandbillError(EXIT.refused, wrong);
  return [...addresses];
}

/** A day counts to its end, because suppressing too long does less harm than too short. */
function untilOf(text: string, nowMs: number): number {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? instantMs(`${text}T00:00:00Z`) : null;
  const ms = day === null ? instantMs(text) : day + DAY_MS;
  const hint = 'Write a day such as 2027-01-31, or an instant such as 2027-01-31T09:00:00Z.';
  if (ms === null) throw refuse(problem('usage', `--until "${text}" is no date.`, { hint }));
  if (ms <= nowMs) throw refuse(problem('usage', `--until ${text} has passed.`, { hint: 'Give a time to come.' }));
  return ms;
}

const DAY_MS = 86_400_000;

function plural(count: number): string {
  return `${count} ${count === 1 ? 'address' : 'addresses'}`;
}

function asTable(entries: readonly Suppression[], full: boolean, width: number): string {
  if (entries.length === 0) return 'Nobody is suppressed.\n';
  const rows = entries.map(({ address, reason, untilMs, source }) => [
    full ? address : mask(address),
    untilMs === null ? 'for ever' : iso(untilMs),
    safeLine(source),
    reason ?? '',
  ]);
  const columns = [{ title: 'address' }, { title: 'until' }, { title: 'from' }, { title: 'reason', shrink: true }];
  return table(rows, columns, { width });
}

function* asJson(entries: Iterable<Suppression>): Generator<string> {
  yield '{ "version": 1, "suppressions": [';
  let between = '\n  ';
  for (const { address, reason, untilMs, source, createdAtMs } of entries) {
    const until = untilMs === null ? null : iso(untilMs);
    yield `${between}${JSON.stringify({ address, reason, until, source, createdAt: iso(createdAtMs) })}`;
    between = ',\n  ';
  }
  yield between === '\n  ' ? '] }\n' : '\n] }\n';
}

/** In the form of a suppression file, so that one project's list can be another's. */
function* asCsv(entries: Iterable<Suppression>): Generator<string> {
  yield 'msisdn,reason,until\r\n';
  for (const { address, reason, untilMs } of entries) {
    yield `${[address, reason, untilMs === null ? null : iso(untilMs)].map(csvCell).join(',')}\r\n`;
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

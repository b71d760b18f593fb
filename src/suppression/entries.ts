import { type Diagnostic, problem } from '../errors.ts';
import { ADDRESS_KINDS, type AddressKind, type Row } from '../model.ts';
import { listedForm } from '../util/address-form.ts';
import { maskText } from '../util/redact.ts';
import { didYouMean } from '../util/suggest.ts';
import { readHash, type WrittenHash } from './hash.ts';
import type { UntilReader } from './until.ts';

/** `explain` makes the sentence for a cell that is no address, masked. */
export interface AddressCell {
  /** `doubt`: why it is probably another number, following on "The number". */
  read(
    cell: string,
  ): { readonly to: string; readonly doubt: string | null } | { readonly problem: string; readonly hint?: string };
  explain(cell: string, found: { readonly problem: string }): string;
}

export interface EntrySink {
  /** @param topic - the entry counts for its campaigns only; '': for all */
  address(form: string, untilMs: number | null, reason: string | null, line: number, topic: string): void;
  hash(written: WrittenHash, untilMs: number | null, reason: string | null, line: number, topic: string): void;
}

/**
 * Reports a row that it does not understand, and never skips it: the person behind it does not want messages.
 * @param file - the list, as the user would name it
 * @param doubted - called for a number that probably has a digit too few or too many
 */
export function createEntryReader(
  file: string,
  columns: SuppressionColumns,
  cells: Readonly<Record<AddressKind, AddressCell>>,
  untilOf: UntilReader,
  sink: EntrySink,
  doubted: (line: number, problem: string) => void,
): (row: Row) => Diagnostic | null {
  return ({ values, line, fault }) => {
    const wrong = (message: string, hint?: string): Diagnostic =>
      problem('invalid-suppression', message, { at: { file, line }, ...(hint === undefined ? {} : { hint }) });
    if (values === null) return wrong(`The row ${fault ?? 'has another number of fields than the header'}.`);
    const untilText = cellAt(values, columns.until);
    const untilMs = untilText === '' ? null : untilOf(untilText);
    if (untilText !== '' && untilMs === null) return wrong('The value in "until" is no date.', UNTIL_HINT);
    const reason = columns.reason === -1 ? '' : (values[columns.reason] ?? '');
    const why = reason === '' ? null : reason;
    const topic = cellAt(values, columns.topic);
    if (topic !== '' && !isTopic(topic)) return wrong('The value in "topic" is no topic.', TOPIC_HINT);
    let named = false;
    for (const { kind, at } of columns.addresses) {
      const cell = cellAt(values, at);
      if (cell === '') continue;
      const found = cells[kind].read(cell);
      if ('problem' in found) {
        const { hint = undefined } = found;
        const message = cells[kind].explain(cell, found);
        return problem('invalid-address', message, { at: { file, line }, ...(hint === undefined ? {} : { hint }) });
      }
      if (found.doubt !== null) doubted(line, found.doubt);
      sink.address(listedForm(found.to), untilMs, why, line, topic);
      named = true;
    }
    const hashed = cellAt(values, columns.hash);
    if (hashed !== '') {
      const written = readHash(hashed);
      if (written === null) return wrong('The value in "hash" is no hash that handbill can compare.', HASH_HINT);
      sink.hash(written, untilMs, why, line, topic);
      named = true;
    }
    return named ? null : wrong('The row has no address.', 'Fill it in, or remove it.');
  };
}

export function isTopic(text: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/.test(text);
}

function cellAt(values: readonly string[], at: number): string {
  return at === -1 ? '' : (values[at] ?? '').trim();
}

const UNTIL_HINT =
  'Write a day such as 2027-01-31, or an instant such as 2027-01-31T09:00:00Z; empty means without end.';
const TOPIC_HINT = 'Write it as the campaigns do, such as appointments; empty means for all campaigns.';
const HASH_HINT =
  'Write hb1: and the id of the key, a colon and 64 hex digits; docs/hashed-suppression.md says how they are made.';

/** By position; others are for the people who maintain the list. */
interface SuppressionColumns {
  readonly addresses: readonly { readonly kind: AddressKind; readonly at: number }[];
  /** -1: there is none. */
  readonly hash: number;
  readonly reason: number;
  readonly until: number;
  readonly topic: number;
}

/** By name, in whatever case. Refuses two of one meaning: one would not be read. */
export function findColumns(columns: readonly string[], file: string, line: number): SuppressionColumns | Diagnostic {
  const names = columns.map((name) => name.toLowerCase());
  const twice = [...NAMES, 'reason', 'until', 'topic'].find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice !== undefined) {
    const message = `${file} has two columns named "${twice}" but for upper and lower case.`;
    return problem('csv-duplicate-header', message, { at: { file, line }, hint: 'Rename or remove one of them.' });
  }
  const addresses = ADDRESS_KINDS.map((kind) => ({ kind, at: names.indexOf(kind) })).filter(({ at }) => at !== -1);
  const hash = names.indexOf('hash');
  if (addresses.length > 0 || hash !== -1) {
    const [reason = -1, until = -1, topic = -1] = ['reason', 'until', 'topic'].map((name) => names.indexOf(name));
    return { addresses, hash, reason, until, topic };
  }
  const meant = names.map((name) => didYouMean(name, NAMES).hint).find((hint) => hint !== undefined);
  const shown = columns.slice(0, 20).map((name) => maskText(name.slice(0, 100)));
  return problem('invalid-suppression', `${file} has no column with addresses.`, {
    at: { file, line },
    hint: meant ?? `Name the column msisdn, email, contact or hash in the first row; it has: ${shown.join(', ')}.`,
  });
}

const NAMES = [...ADDRESS_KINDS, 'hash'];

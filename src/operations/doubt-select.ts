import { type Diagnostic, EXIT, HandbillError, type Position, problem } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { DoubtRow, RunRecord } from '../ledger/records.ts';
import type { LegOutcome, Outcome } from '../model.ts';
import { createReferences } from '../plan/reference.ts';
import type { PhoneReader } from '../recipients/phone.ts';
import { mask } from '../util/mask.ts';

/** Somebody as a person names them: by key, by our reference, or by address. */
export interface Named {
  readonly name: string;
  /** Where the name was read, if in a file. */
  readonly at?: Position;
}

export interface Wanted {
  readonly names: readonly Named[];
  /** First lines of rows. */
  readonly lines: readonly number[];
  readonly all: boolean;
}

/**
 * The recipients in doubt that are wanted, in list order, each once.
 *
 * @throws HandbillError exit 2 (`not-in-doubt`) with everybody who was named and is not in doubt
 */
export function selectDoubts(
  ledger: Pick<Ledger, 'doubts' | 'outcomes'>,
  run: RunRecord,
  wanted: Wanted,
  phone: PhoneReader,
): readonly DoubtRow[] {
  const doubts = [...ledger.doubts(run)].flat();
  if (wanted.all) return doubts;
  const find = finder(doubts, run, phone);
  const byLine = new Map(doubts.map((doubt) => [doubt.line, doubt]));
  const chosen = new Set<DoubtRow>();
  const unknown: Unknown[] = [];
  const twice: Diagnostic[] = [];
  for (const line of wanted.lines) {
    const doubt = byLine.get(line);
    if (doubt === undefined) unknown.push({ line });
    else chosen.add(doubt);
  }
  for (const named of wanted.names) {
    const found = find(named.name);
    if (found.length > 1) twice.push(ambiguous(named, found));
    const [doubt] = found;
    if (doubt === undefined) unknown.push(named);
    else chosen.add(doubt);
  }
  if (unknown.length + twice.length > 0) {
    const shown = unknown.slice(0, EXPLAINED);
    const wrong = [...twice, ...explain(ledger, run, shown, phone)];
    throw new HandbillError(EXIT.refused, wrong, unknown.length + twice.length);
  }
  return doubts.filter((doubt) => chosen.has(doubt));
}

type Unknown = Named | { readonly line: number };

/** How many who are not in doubt are looked up in the whole list to say what they are. */
const EXPLAINED = 1000;

/**
 * Looks somebody up: the key and the reference count first, then the address, a number however it is written. All of
 * them mean the leg that is in doubt.
 */
function finder(
  doubts: readonly DoubtRow[],
  run: RunRecord,
  phone: PhoneReader,
): (name: string) => readonly DoubtRow[] {
  const referenceOf = createReferences(run);
  const exact = new Map<string, DoubtRow[]>();
  const byAddress = new Map<string, DoubtRow[]>();
  for (const doubt of doubts) {
    add(exact, doubt.key, doubt);
    add(exact, referenceOf(doubt.key, doubt.channel, doubt.resend), doubt);
    if (doubt.to !== null) add(byAddress, doubt.to, doubt);
  }
  return (name) => {
    const found = exact.get(name) ?? byAddress.get(name);
    if (found !== undefined) return found;
    const number = phone(name);
    return 'e164' in number ? (exact.get(number.e164) ?? byAddress.get(number.e164) ?? []) : [];
  };
}

function add<T>(map: Map<string, T[]>, name: string, person: T): void {
  const known = map.get(name);
  if (known === undefined) map.set(name, [person]);
  else if (!known.includes(person)) known.push(person);
}

function ambiguous(named: Named, found: readonly DoubtRow[]): Diagnostic {
  const lines = found.map(({ line }) => line).join(', ');
  return problem('not-in-doubt', `${shownName(named.name)} is the address of several recipients (lines ${lines}).`, {
    ...placeOf(named),
    hint: 'Choose with --line, or name their keys or references.',
  });
}

/** What those are who are not in doubt, from the whole list: read once, and never in memory. */
function explain(
  ledger: Pick<Ledger, 'outcomes'>,
  run: RunRecord,
  unknown: readonly Unknown[],
  phone: PhoneReader,
): readonly Diagnostic[] {
  if (unknown.length === 0) return [];
  const referenceOf = createReferences(run);
  const forms = unknown.map((one) => ('line' in one ? [] : formsOf(one.name, phone)));
  const people = new Map<string | number, Person | null>([
    ...forms.flat().map((form) => [form, null] as const),
    ...unknown.flatMap((one) => ('line' in one ? [[one.line, null] as const] : [])),
  ]);
  const note = (form: string | number | null, outcome: Outcome, leg: LegOutcome): void => {
    // The first row of a person counts; later ones are duplicates.
    if (form !== null && people.get(form) === null) people.set(form, { outcome, leg });
  };
  for (const batch of ledger.outcomes(run)) {
    for (const outcome of batch) {
      const { line, key, to } = outcome;
      for (const form of [line, key, to]) note(form, outcome, outcome);
      if (key === null) continue;
      for (const leg of outcome.legs ?? [outcome]) note(referenceOf(key, leg.channel, leg.resend), outcome, leg);
    }
  }
  return unknown.map((one, index) => {
    const names: readonly (string | number)[] = 'line' in one ? [one.line] : (forms[index] ?? []);
    const person = names.map((name) => people.get(name) ?? null).find((found) => found !== null);
    return notInDoubt(one, person ?? null);
  });
}

/** Somebody of the list, and the leg that was named: the last one, or that of a reference. */
interface Person {
  readonly outcome: Outcome;
  readonly leg: LegOutcome;
}

function formsOf(name: string, phone: PhoneReader): readonly string[] {
  const number = phone(name);
  return 'e164' in number && number.e164 !== name ? [name, number.e164] : [name];
}

function notInDoubt(one: Unknown, person: Person | null): Diagnostic {
  const who = 'line' in one ? `Line ${one.line}` : shownName(one.name);
  const line = person === null || 'line' in one ? '' : ` (line ${person.outcome.line})`;
  const what = person === null ? 'is nobody in this run' : `is ${fateOf(person.leg)}, not in doubt`;
  return problem('not-in-doubt', `${who}${line} ${what}.`, {
    ...('line' in one ? {} : placeOf(one)),
    ...hintOf(person),
  });
}

/** A reference is of one leg; another one of the same recipient may be in doubt. */
function hintOf(person: Person | null): { readonly hint?: string } {
  if (person === null || person.outcome.outcome !== 'in-doubt') return {};
  const { line, channel } = person.outcome;
  return { hint: `Its fallback (${channel}) is in doubt: choose it with --line ${line}.` };
}

function fateOf({ outcome, reason }: LegOutcome): string {
  return reason === null ? outcome : `${outcome} (${reason})`;
}

function placeOf({ at }: Named): { readonly at?: Position } {
  return at === undefined ? {} : { at };
}

/** Diagnostics mask addresses; keys and references are shown. */
function shownName(name: string): string {
  return `"${/^[+\d\s().-]{8,}$|@/.test(name) ? mask(name) : name.slice(0, 80)}"`;
}

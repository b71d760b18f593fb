import type { ClaimAnswer, LoadRow, ResultRecord } from '../../src/ledger/records.ts';
import { REPAIRABLE } from '../../src/model.ts';

/*
 * What the ledger should do, in memory and in plain words: written from the rules and not from the SQL.
 */

export interface Person {
  key: string | null;
  /** Of the last step, as the rest. */
  state: string;
  reason: string | null;
  attempts: number;
  /** Pending because a person resolved a doubt with another send, and not claimed since. */
  resend?: boolean;
  /** The doubt that a person last wanted sent again, at this step. */
  doubt?: Pick<Person, 'reason' | 'text'> | undefined;
  /** The steps that fell back; so many came before the last one. */
  fallen: readonly { readonly attempts: number; readonly text: string }[];
  /** What the message of the last claim says; empty: none. */
  text: string;
}

export interface Model {
  /** What messages say now. */
  text: string;
  people: Person[];
  suppressed: Set<string>;
  /** Every doubt that ended: key, step, attempts, what was said. */
  history: string[];
  /** Claims whose process was held for dead; it may still answer. */
  stale: { row: number; step: number; attempts: number }[];
}

export function stepOf(person: Person | undefined): number {
  return person?.fallen.length ?? 0;
}

export function toPeople(rows: readonly LoadRow[]): Person[] {
  return rows.map(({ key, state, reason }) => ({ key, state, reason, attempts: 0, fallen: [], text: '' }));
}

/** A recipient is not sent to. Where a message before may have arrived, that doubt is in force again. */
export function leaveOut(person: Person, reason: string | null, state: 'skipped' | 'rejected' = 'skipped'): void {
  const { doubt } = person;
  if (doubt === undefined) Object.assign(person, { state, reason });
  else Object.assign(person, { state: 'in-doubt', ...doubt, resend: false });
}

/** A claimed row was left behind by a process that died. */
export function recover({ people, stale }: Model): number {
  const claimed = people.filter((p) => p.state === 'claimed');
  for (const p of claimed) {
    stale.push({ row: people.indexOf(p), step: stepOf(p), attempts: p.attempts + 1 });
    Object.assign(p, { state: 'in-doubt', reason: 'crash', attempts: p.attempts + 1 });
  }
  return claimed.length;
}

export function start(model: Model): number {
  const recovered = recover(model);
  for (const p of model.people) {
    if (p.state === 'failed' || p.state === 'deferred') Object.assign(p, { state: 'pending', reason: null });
  }
  return recovered;
}

export function claim({ people, suppressed, text }: Model, row: number, step: number): ClaimAnswer {
  const person = people[row];
  if (person?.state !== 'pending' || stepOf(person) !== step) return 'taken';
  if (person.key !== null && suppressed.has(person.key)) {
    leaveOut(person, 'suppressed');
    return 'suppressed';
  }
  Object.assign(person, { state: 'claimed', resend: false, text });
  return 'claimed';
}

export function record({ people }: Model, { row, state, reason, attempts, next }: ResultRecord): void {
  const person = people[row];
  if (person === undefined) return;
  if (next === undefined) {
    Object.assign(person, { state, reason, attempts });
    if (state === 'rejected') leaveOut(person, reason, state);
  } else {
    const fallen = [...person.fallen, { attempts, text: person.text }];
    Object.assign(person, {
      state: 'pending',
      reason: null,
      attempts: 0,
      resend: false,
      doubt: undefined,
      fallen,
      text: '',
    });
  }
}

/** A late answer speaks about its own attempt only, never against what a person said, and begins no step. */
export function late({ people, history }: Model, { row, step, attempts, state, reason }: ResultRecord): void {
  const person = people[row];
  if (person === undefined || stepOf(person) !== step || person.attempts !== attempts) return;
  const doubtful = person.state === 'in-doubt' && person.reason === 'crash';
  const open = person.state === 'pending' || person.state === 'deferred';
  if (!doubtful && !(open && person.resend === true && state === 'accepted')) return;
  if (state === 'in-doubt') person.reason = reason;
  if (state !== 'accepted' && state !== 'rejected') return;
  history.push(`${person.key} ${step} ${attempts} ${state} late-result`);
  if (state === 'rejected') leaveOut(person, reason, state);
  else Object.assign(person, { state, reason, resend: false, doubt: undefined });
}

const SENT_TO = ['accepted', 'in-doubt', 'rejected'];

export function amend(model: Model, rows: readonly LoadRow[], text: string): void {
  recover(model);
  const oldOf = new Map<string | null, Person>();
  for (const p of model.people) {
    if (p.key === null || p.reason === 'duplicate') continue;
    const other = oldOf.get(p.key);
    if (other === undefined || rank(p) < rank(other)) oldOf.set(p.key, p);
  }
  const next = toPeople(rows);
  const present = next.filter((p) => p.key !== null && p.reason !== 'duplicate');
  const pairs: [Person, Person][] = [];
  for (const p of present) {
    const old = oldOf.get(p.key);
    const isPerson =
      p === sendable(present, p.key) || (p.state !== 'skipped' && old !== undefined && stepOf(old) === 0);
    if (old === undefined || !isPerson) continue;
    pairs.push([p, old]);
  }
  for (const [p, old] of pairs) {
    p.attempts = old.attempts;
    p.fallen = old.fallen;
    p.text = old.text;
    p.doubt = old.doubt;
    const isRepairable = stepOf(old) === 0 && REPAIRABLE.has(old.reason ?? '');
    const isKept = old.state === 'skipped' && old.reason !== 'removed' && !isRepairable;
    const final = SENT_TO.includes(old.state) || isKept;
    if (final) Object.assign(p, { state: old.state, reason: old.reason });
    else if (p.state === 'skipped') leaveOut(p, p.reason);
    else if (old.state === 'pending' || old.state === 'deferred') p.resend = old.resend === true;
  }
  for (const p of model.people) {
    if (oldOf.get(p.key) !== p || present.some(({ key }) => key === p.key)) continue;
    const open = p.state === 'pending' || p.state === 'failed' || p.state === 'deferred';
    const gone = { ...p };
    if (open) leaveOut(gone, 'removed');
    next.push(gone);
  }
  model.people = next;
  model.text = text;
  // Rows are other people's now.
  model.stale = [];
}

function rank(person: Person): number {
  const state = stepOf(person) > 0 ? 'rejected' : person.state;
  if (SENT_TO.includes(state)) return SENT_TO.indexOf(state);
  return SENT_TO.length + (state === 'skipped' ? 1 : 0) + (person.reason === 'excluded' ? 1 : 0);
}

/** Of several rows with one key, the one that would be sent to. */
function sendable(people: readonly Person[], key: string | null): Person | undefined {
  const rows = people.filter((p) => p.key === key);
  return rows.find((p) => p.state !== 'skipped') ?? rows.find((p) => p.reason !== 'excluded') ?? rows[0];
}

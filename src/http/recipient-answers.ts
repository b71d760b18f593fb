import type { Attempt } from '../model.ts';
import { parseExactly } from '../util/json.ts';
import { find } from '../util/pointer.ts';
import { cut, entryRefusal, idIn, type Refusal, readDocument, refusalOf } from './answer.ts';
import { isSomething, listsAt, saidOf } from './answer-entries.ts';
import { type ClassifyContext, classify, type Verdict, verdict, verdictOf } from './classify.ts';
import type { CompiledWire } from './pointers.ts';
import { type Addressee, createDirectory, type Directory, namesSomebody } from './recipient-answers-match.ts';

/** What an answer says of one recipient. `silent`: it speaks of others; `unclear`: whatever it says, nobody can tell. */
type Statement =
  | { readonly said: 'taken'; readonly id: string | null }
  | ({ readonly said: 'refused' } & Refusal)
  | { readonly said: 'unclear' | 'silent' };

/**
 * What becomes of each recipient of one request, in their order: what `classify` says of the request holds for all of
 * them, but for a 2xx, which can take some and refuse others (DOMAIN 1.1). With one recipient this is `classify`.
 *
 * A 2xx without a list speaks of everybody. With one, it speaks of those whom its entries name. Who is not named, or is
 * said to be both taken and refused, is in doubt: not accepted, because nobody said so, and not sent to again, because
 * the API may have taken the request for everybody.
 */
export function classifyMany(
  attempt: Attempt,
  recipients: readonly Addressee[],
  context: ClassifyContext,
): readonly Verdict[] {
  const about: ClassifyContext = { ...context, recipients: recipients.length };
  const same = (one: Verdict): readonly Verdict[] => recipients.map(() => one);
  const { phase, status } = attempt;
  const isSuccess = phase !== 'P1' && status !== null && status >= 200 && status < 300;
  if (recipients.length < 2 || !isSuccess) return same(classify(attempt, about));
  const read = readDocument(attempt, about.wire, parseExactly);
  if (!('document' in read)) return same(verdictOf(read, about));
  const statements = statementsIn(read.document, recipients, about.wire);
  if (statements === null) return same(ofRequest(read.document, attempt, about));
  return ofEach(statements, read.document, attempt, about);
}

/** An answer that names nobody. */
function ofRequest(document: unknown, attempt: Attempt, context: ClassifyContext): Verdict {
  const { wire } = context;
  const messageId = idIn(document, wire.pointers.ofRequest.messageId, wire);
  if (find(document, wire.pointers.ofRequest.failed, isSomething) !== undefined) {
    return verdictOf({ kind: 'refused', messageId, ...refusalOf(document, attempt.body, wire) }, context);
  }
  if (messageId === null && wire.response.messageIdRequired) {
    return verdictOf({ kind: 'unrecognised', error: cut(wire.redact(attempt.body)) }, context);
  }
  return verdictOf({ kind: 'recognised', messageId }, context);
}

function ofEach(
  statements: readonly Statement[],
  document: unknown,
  attempt: Attempt,
  context: ClassifyContext,
): readonly Verdict[] {
  const { wire } = context;
  const { messageId: idPointers, failed } = wire.pointers.ofRequest;
  const requestId = idIn(document, idPointers, wire);
  // Refused as a whole, says the project; then an entry that was taken contradicts it.
  const refused = find(document, failed, isSomething) !== undefined;
  const idOf = (statement: Statement): string | null => (statement.said === 'taken' ? statement.id : null) ?? requestId;
  const isTaken = (statement: Statement): boolean =>
    statement.said === 'taken' && !refused && (idOf(statement) !== null || !wire.response.messageIdRequired);
  // As the first answer of a start, one that is about none of the recipients may be anybody's.
  const strange = !statements.some((statement) => isTaken(statement) || statement.said === 'refused');
  const halt = strange && context.firstAnswer && !context.stopping ? 'not-the-api' : null;
  const doubt = verdict('in-doubt', 'unrecognised', { halt, error: cut(wire.redact(attempt.body)) });
  return statements.map((statement) => {
    if (isTaken(statement)) return verdict('accepted', null, { messageId: idOf(statement) }); // D1
    if (statement.said !== 'refused') return doubt; // D2
    const reason = statement.unsupported ? 'unsupported-channel' : 'refused';
    return verdict('rejected', reason, { error: statement.error });
  });
}

/** What the lists of an answer say of each recipient; null where it has none. */
function statementsIn(
  document: unknown,
  recipients: readonly Addressee[],
  wire: CompiledWire,
): readonly Statement[] | null {
  const lists = listsAt(document, wire.pointers.lists);
  const refusedLists = listsAt(document, wire.pointers.refusedLists).filter((list) => list.length > 0);
  if (lists.length + refusedLists.length === 0) return null;
  const directory = createDirectory(recipients, wire);
  const read = (list: readonly unknown[], say: (entry: unknown) => Statement): readonly Statement[] =>
    readList(
      list.map((entry) => ({ entry, statement: say(entry) })),
      recipients.length,
      directory,
    );
  const named = lists.map((list) => read(list, (entry) => statementOf(entry, wire))).filter(isAboutSomebody);
  const results = named.length > 0 ? named : byPosition(lists, recipients.length, wire);
  const refusals = refusedLists.map((list) => read(list, (entry) => refusalIn(entry, wire)));
  // With no other list, who is not among the refused was taken; unless those are nobody whom we know.
  const others: Statement = refusals.every(isAboutSomebody) ? { said: 'taken', id: null } : UNCLEAR;
  return recipients.map((_, i) => {
    const result =
      lists.length === 0 ? null : (results.map((list) => list[i] ?? SILENT).reduce(bothLists, null) ?? SILENT);
    const refusal = refusals.map((list) => list[i] ?? SILENT).find(({ said }) => said === 'refused');
    if (refusal === undefined) return result ?? others;
    return result === null ? refusal : bothLists(result, refusal);
  });
}

/** What one list says of each recipient. */
function readList(
  entries: readonly { readonly entry: unknown; readonly statement: Statement }[],
  count: number,
  directory: Directory,
): readonly Statement[] {
  const own = Array.from({ length: count }, (): Statement[] => []);
  const shared = Array.from({ length: count }, (): Statement[] => []);
  for (const { entry, statement } of entries) {
    const position = directory.byReference(entry);
    if (position !== null) own[position]?.push(statement);
    else for (const one of directory.byAddress(entry)) shared[one]?.push(statement);
  }
  return own.map((mine, position) => {
    const ours = shared[position] ?? [];
    const holders = directory.sharing(position);
    // Who was named by the reference is not meant by an entry for the address that another one has too; but a refusal of
    // the address may mean everybody who has it.
    const theirs = mine.length > 0 && holders.length > 1 ? ours.filter(isNotTaken) : ours;
    if (mine.length > 0 || theirs.some(isNotTaken)) return [...mine, ...theirs].reduce(sameList);
    // Of two recipients with one address, each has an entry of its own, or the second was dropped as a repetition.
    return theirs[holders.indexOf(position)] ?? SILENT;
  });
}

/** Entries without any address, as many as recipients, are in their order. */
function byPosition(
  lists: readonly (readonly unknown[])[],
  count: number,
  wire: CompiledWire,
): readonly (readonly Statement[])[] {
  return lists
    .filter((list) => list.length > 0)
    .map((list) => {
      const isInOrder = list.length === count && !list.some((entry) => namesSomebody(entry, wire));
      return isInOrder ? list.map((entry) => statementOf(entry, wire)) : [];
    });
}

function statementOf(entry: unknown, wire: CompiledWire): Statement {
  const said = saidOf(entry, wire);
  if (said === 'refused') return refusalIn(entry, wire);
  return said === 'taken' ? { said, id: idIn(entry, wire.pointers.entry.id, wire) } : UNCLEAR;
}

function refusalIn(entry: unknown, wire: CompiledWire): Statement {
  return { said: 'refused', ...entryRefusal(entry, wire) };
}

/** Two entries about one recipient. */
function sameList(a: Statement, b: Statement): Statement {
  return a.said === b.said ? a : UNCLEAR;
}

/** Two lists about one recipient: who was taken is named in both, who was refused may be left out of one. */
function bothLists(a: Statement | null, b: Statement): Statement {
  if (a === null || (a.said === 'silent' && b.said === 'refused')) return b;
  if (a.said === 'taken' && b.said === 'taken') return a.id === null ? b : a;
  return a.said === b.said || (a.said === 'refused' && b.said === 'silent') ? a : UNCLEAR;
}

function isAboutSomebody(statements: readonly Statement[]): boolean {
  return statements.some(({ said }) => said !== 'silent');
}

function isNotTaken({ said }: Statement): boolean {
  return said !== 'taken';
}

const SILENT: Statement = { said: 'silent' };
const UNCLEAR: Statement = { said: 'unclear' };

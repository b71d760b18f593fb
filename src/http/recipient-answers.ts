import type { Attempt } from '../model.ts';
import { find } from '../util/json.ts';
import {
  type Addressee,
  type CompiledWire,
  createDirectory,
  cut,
  type Directory,
  denialOfEntry,
  entryListsOf,
  entryRefusal,
  fieldOf,
  headerIdOf,
  idIn,
  isAboutAccount,
  isSomething,
  listsAt,
  namesRecipient,
  parseAnswer,
  type Refusal,
  readDocument,
  refusalOf,
  statementsOfRequest,
} from './answer.ts';
import { type ClassifyContext, classify, denied, type Verdict, verdict, verdictOf } from './classify.ts';
import { ruled } from './ruled.ts';

/**
 * About one recipient. `denied`: a refusal, perhaps of others. `silent`: about others; `unclear`: not interpretable.
 */
type Statement =
  | { readonly said: 'taken'; readonly id: string | null }
  | ({ readonly said: 'refused' | 'denied'; readonly field: string } & Refusal)
  | { readonly said: 'unclear' | 'silent' };

/**
 * The outcome of each recipient of one request, in order. The verdict of `classify` on the request holds for all of
 * them, except for a 2xx, which can accept some recipients and refuse others. With one recipient this is `classify`.
 * Where a rule (`answers`) fits, it decides instead.
 *
 * A 2xx without a list is about all recipients. With a list, it is about the recipients that its entries name. A
 * recipient that is not named, or that is both accepted and refused, is in doubt: not accepted, because the answer does
 * not say so, and not sent to again, because the API may have accepted the request for all.
 * @param document - the body, as `parseAnswer` reads it
 */
export function classifyMany(
  attempt: Attempt,
  recipients: readonly Addressee[],
  context: ClassifyContext,
  document: unknown = parseAnswer(attempt, recipients),
): readonly Verdict[] {
  if (context.wire.rules.length === 0) return usually(attempt, recipients, context, document);
  const byRule = ruled(attempt, document, recipients, context);
  if (!byRule.includes(null)) return byRule.filter((one) => one !== null);
  const usual = usually(attempt, recipients, context, document);
  return usual.map((one, i) => byRule[i] ?? one);
}

function usually(
  attempt: Attempt,
  recipients: readonly Addressee[],
  context: ClassifyContext,
  document: unknown,
): readonly Verdict[] {
  const same = (one: Verdict): readonly Verdict[] => recipients.map(() => one);
  const { phase, status } = attempt;
  const isSuccess = phase !== 'P1' && status !== null && status >= 200 && status < 300;
  if (!isSuccess || recipients.length < 2) return same(classify(attempt, context, recipients, document));
  const unread = readDocument(attempt, document, context.wire);
  if (unread !== null) return same(verdictOf(unread, context, recipients));
  const statements = statementsIn(document, recipients, context.wire);
  if (statements === null) return same(ofRequest(document, attempt, context, recipients));
  return ofEach(statements, document, attempt, context);
}

function ofRequest(
  document: unknown,
  attempt: Attempt,
  context: ClassifyContext,
  recipients: readonly Addressee[],
): Verdict {
  const { wire } = context;
  const messageId = idIn(document, wire.pointers.ofRequest.messageId, wire) ?? headerIdOf(attempt, wire);
  if (find(document, wire.pointers.ofRequest.failed, isSomething) !== undefined) {
    return verdictOf({ kind: 'refused', messageId, ...refusalOf(document, attempt.body, wire) }, context, recipients);
  }
  const denial = denialOfRequest(document, attempt, context, messageId);
  if (denial !== null) return denial;
  if (messageId === null && wire.response.messageIdRequired) {
    return verdictOf({ kind: 'unrecognised', error: cut(wire.redact(attempt.body)) }, context, recipients);
  }
  return verdictOf({ kind: 'recognised', messageId }, context, recipients);
}

/** The verdict on all recipients where the answer as a whole refuses (failures.md, D1a). */
function denialOfRequest(
  document: unknown,
  attempt: Attempt,
  { wire }: ClassifyContext,
  messageId: string | null,
): Verdict | null {
  // An empty list of entries counts as a denial.
  const lists = [...entryListsOf(document, wire), ...listsAt(document, wire.pointers.refusedLists)];
  const found = statementsOfRequest(
    document,
    wire,
    lists.filter((list) => list.length > 0),
  );
  if (found.denial === null) return null;
  const isAccount = lists.every((list) => list.length === 0) && isAboutAccount(document, found) && messageId === null;
  const { error } = refusalOf(document, attempt.body, wire);
  return denied({ isAccount, messageId: null, error, field: fieldOf(found.denial, wire) });
}

function ofEach(
  statements: readonly Statement[],
  document: unknown,
  attempt: Attempt,
  context: ClassifyContext,
): readonly Verdict[] {
  const { wire } = context;
  const { messageId: idPointers, failed } = wire.pointers.ofRequest;
  const requestId = idIn(document, idPointers, wire) ?? headerIdOf(attempt, wire);
  // A pointer of the project means that all was refused: an accepted entry contradicts it.
  const refused = find(document, failed, isSomething) !== undefined;
  const idOf = (statement: Statement): string | null => (statement.said === 'taken' ? statement.id : null) ?? requestId;
  const isTaken = (statement: Statement): boolean =>
    statement.said === 'taken' && !refused && (idOf(statement) !== null || !wire.response.messageIdRequired);
  // Where entries refuse recipients by name, the answer as a whole refuses because of them.
  const isSummed = statements.some(({ said }) => said === 'refused');
  const whole = isSummed ? null : denialOfRequest(document, attempt, context, requestId);
  // If the first answer of a start is about none of the recipients, another server than the API may have given it.
  const strange = !statements.some((statement) => isTaken(statement) || statement.said === 'refused');
  const halt = strange && context.firstAnswer && !context.stopping ? 'not-the-api' : null;
  const doubt = verdict('in-doubt', 'unrecognised', { halt, error: cut(wire.redact(attempt.body)) });
  return statements.map((statement) => {
    const { said } = statement;
    if (said === 'denied') return denied({ ...statement, isAccount: false, messageId: null }); // D1a
    if (said !== 'refused' && whole !== null) return whole; // D1a
    if (isTaken(statement)) return verdict('accepted', null, { messageId: idOf(statement) }); // D1
    if (said !== 'refused') return doubt; // D2
    const reason = statement.unsupported ? 'unsupported-channel' : 'refused';
    return verdict('rejected', reason, { error: statement.error }); // D1a
  });
}

/** Statements of the lists about each recipient; null without a list. */
function statementsIn(
  document: unknown,
  recipients: readonly Addressee[],
  wire: CompiledWire,
): readonly Statement[] | null {
  const lists = entryListsOf(document, wire);
  const hasId = idIn(document, wire.pointers.ofRequest.messageId, wire) !== null;
  const refusedLists = listsAt(document, wire.pointers.refusedLists).filter((list) => list.length > 0);
  if (lists.length + refusedLists.length === 0) return null;
  const directory = createDirectory(recipients, wire);
  const read = (list: readonly unknown[], say: (entry: unknown) => Statement): readonly Statement[] =>
    readList(
      list.map((entry) => ({ entry, statement: say(entry) })),
      recipients.length,
      directory,
    );
  const named = lists.map((list) => read(list, (entry) => statementOf(entry, wire, hasId))).filter(isAboutRecipients);
  const results = named.length > 0 ? named : byPosition(lists, recipients.length, wire, hasId);
  const refusals = refusedLists.map((list) =>
    read(list, (entry) => ({ ...entryRefusal(entry, wire), said: 'refused', field: 'a list of refused recipients' })),
  );
  // If refusals are the only list and name some of this request, recipients that are not on it were accepted.
  const others: Statement = refusals.every(isAboutRecipients) ? { said: 'taken', id: null } : UNCLEAR;
  return recipients.map((_, i) => {
    const result =
      lists.length === 0 ? null : (results.map((list) => list[i] ?? SILENT).reduce(bothLists, null) ?? SILENT);
    const refusal = refusals.map((list) => list[i] ?? SILENT).find(({ said }) => said === 'refused');
    if (refusal === undefined) return result ?? others;
    return result === null ? refusal : bothLists(result, refusal);
  });
}

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
    // An entry for a shared address is not about a recipient named by reference; a refusal may be about all of them.
    const theirs = mine.length > 0 && holders.length > 1 ? ours.filter(isNotTaken) : ours;
    if (mine.length > 0 || theirs.some(isNotTaken))
      return [...mine, ...theirs].reduce((a, b) => (a.said === b.said ? a : disagreeing(a, b)));
    // If two recipients have one address, each has an entry, or the second was dropped as a repetition.
    return theirs[holders.indexOf(position)] ?? SILENT;
  });
}

/** Entries without any address, as many as recipients, are in their order. That is no proof that one is refused. */
function byPosition(
  lists: readonly (readonly unknown[])[],
  count: number,
  wire: CompiledWire,
  hasId: boolean,
): readonly (readonly Statement[])[] {
  return lists
    .filter((list) => list.length > 0)
    .map((list) => {
      const isInOrder = list.length === count && !list.some((entry) => namesRecipient(entry, wire));
      if (!isInOrder) return [];
      return list
        .map((entry) => statementOf(entry, wire, hasId))
        .map((one) => (one.said === 'refused' ? { ...one, said: 'denied' } : one));
    });
}

/** A number that looks like a status of HTTP proves no refusal: 5xx never means that nothing was done. */
function statementOf(entry: unknown, wire: CompiledWire, hasId: boolean): Statement {
  const id = idIn(entry, wire.pointers.entry.id, wire);
  const denial = denialOfEntry(entry, wire, hasId || id !== null);
  if (denial === null) return { said: 'taken', id };
  const said = denial.kind === 'number' || denial.kind === 'account' ? 'denied' : 'refused';
  return { ...entryRefusal(entry, wire), said, field: fieldOf(denial, wire) };
}

/** Two lists about one recipient: both name an accepted recipient; one of them may omit a refused one. */
function bothLists(a: Statement | null, b: Statement): Statement {
  if (a === null || (a.said === 'silent' && isNo(b))) return b;
  if (a.said === 'taken' && b.said === 'taken') return a.id === null ? b : a;
  return a.said === b.said || (isNo(a) && b.said === 'silent') ? a : disagreeing(a, b);
}

function disagreeing(a: Statement, b: Statement): Statement {
  const no = [a, b].find(isNo);
  return no === undefined ? UNCLEAR : { ...no, said: 'denied' };
}

function isNo(statement: Statement): statement is Extract<Statement, Refusal> {
  return statement.said === 'refused' || statement.said === 'denied';
}

function isAboutRecipients(statements: readonly Statement[]): boolean {
  return statements.some(({ said }) => said !== 'silent');
}

function isNotTaken({ said }: Statement): boolean {
  return said !== 'taken';
}

const SILENT: Statement = { said: 'silent' };
const UNCLEAR: Statement = { said: 'unclear' };

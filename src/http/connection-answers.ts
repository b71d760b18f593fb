import { type Diagnostic, warning } from '../errors.ts';
import type { AnsweringConnection, Attempt } from '../model.ts';
import { follow, parseJson } from '../util/json.ts';
import { type CompiledWire, listsAt } from './answer.ts';
import { type Verdict, verdict } from './classify.ts';
import { type Addressee, isOtherAddress, isSameAddress } from './recipient-answers.ts';

/*
 * An answer to another request proves nothing (failures.md, D2). HTTP/1.1 has no number that says which request an
 * answer belongs to: it is the next one on the connection. An API or a proxy that answers one request twice shifts all
 * later answers of the connection by one. Then a refused recipient is recorded as accepted, and an accepted one as
 * refused. Three signs show it: an answer names another recipient, an answer repeats a message id of its connection, or
 * bytes arrive while no request is in flight.
 */

export interface AnswerCheck {
  /**
   * The verdicts on one answer. If it answers another request, each recipient is in doubt and the connection is closed.
   * @param reader - parses the body; default: `parseJson`
   */
  check(
    attempt: Attempt,
    recipients: readonly Addressee[],
    verdicts: readonly Verdict[],
    reader?: (body: string) => unknown,
  ): readonly Verdict[];
}

/** The newest answers of each connection that are remembered. One that was given twice is the next or soon after. */
const REMEMBERED = 20;

/** The wait on a connection that may hold one more answer, at the end: twice its last latency, at least this. */
const LEAST_LINGER_MS = 25;
const MOST_LINGER_MS = 250;

/**
 * Remembers the answers of each connection in this start.
 * @param onNotice - called when a connection sends data while no request is in flight, after answers that do not prove
 * which request they belong to
 */
export function createAnswerCheck(wire: CompiledWire, onNotice: (notice: Diagnostic) => void): AnswerCheck {
  const histories = new WeakMap<AnsweringConnection, History>();
  const fixed = createFixedAnswers(onNotice);

  const historyOf = (connection: AnsweringConnection): History => {
    const known = histories.get(connection);
    if (known !== undefined) return known;
    const made: History = {
      ids: createNewest(),
      references: createNewest(),
      unprovenIds: 0,
      unprovenRecipients: 0,
    };
    histories.set(connection, made);
    connection.onUnasked = () => {
      if (made.unprovenRecipients > 0) onNotice(unasked(made));
    };
    return made;
  };

  return {
    check(attempt, recipients, verdicts, reader = parseJson) {
      const { connection } = attempt;
      if (connection === undefined || attempt.status === null) return verdicts;
      const history = historyOf(connection);
      const named = namedIn(attempt.body, recipients, history.references, wire, reader);
      const ids = verdicts.flatMap(({ messageId }) => (messageId === null ? [] : [messageId]));
      const isRepeated = ids.some((id) => history.ids.has(id));
      const isFixed = fixed.isFixed(ids, named, isRepeated);
      if (named === 'others' || isRepeated || isFixed) {
        connection.end();
        const error = named === 'others' ? NAMES_OTHERS : REPEATS_AN_ID;
        return verdicts.map(({ halt }) =>
          verdict('in-doubt', 'mismatch', { halt: isFixed ? 'not-the-api' : halt, error }),
        );
      }
      history.ids.add(ids);
      history.references.add(recipients.map(({ reference }) => reference));
      if (named === 'ours') forget(history, connection);
      else keep(history, connection, attempt, recipients.length, ids.length);
      return verdicts;
    },
  };
}

type NamedWhom = 'ours' | 'others' | 'unclear';

/**
 * Recognises an API that answers each request with the same text, as mock servers do: all answers of the start have one
 * message id, or each names another recipient. The second of them shows it. It may also be the answer to the first
 * request, given twice; so the start halts only where it came on another connection.
 */
function createFixedAnswers(onNotice: (notice: Diagnostic) => void) {
  let onlyId: string | null = null;
  let hasSeveral = false;
  let strangers = 0;
  let isOurs = false;
  let isTold = false;
  const tell = (what: string): void => {
    if (isTold) return;
    isTold = true;
    const hint =
      'A mock server with fixed answers does this, and so does an API or a proxy that answers a request twice: no such answer counts. `handbill help mismatch` says what to do.';
    onNotice(warning('mismatch', what, { hint }));
  };
  return {
    /** @param isRepeated - its connection gave one of the ids before */
    isFixed(ids: readonly string[], named: NamedWhom, isRepeated: boolean): boolean {
      const isSame = !hasSeveral && onlyId !== null && ids.length > 0 && ids.every((id) => id === onlyId);
      if (ids.length > 0 && !isSame) {
        hasSeveral = onlyId !== null || new Set(ids).size > 1;
        onlyId ??= ids[0] ?? null;
      }
      if (named === 'ours') isOurs = true;
      if (named === 'others') strangers += 1;
      if (isSame) tell('The API gave two messages the same id.');
      else if (!isOurs && strangers > 1) tell('The API names another recipient than the request in each answer.');
      return (isSame && !isRepeated) || (!isOurs && strangers > 1);
    },
  };
}

interface History {
  readonly ids: Newest;
  readonly references: Newest;
  // Counts since the last answer that named its own recipient.
  unprovenIds: number;
  unprovenRecipients: number;
}

function forget(history: History, connection: AnsweringConnection): void {
  history.unprovenIds = 0;
  history.unprovenRecipients = 0;
  connection.lingerMs = 0;
}

function keep(
  history: History,
  connection: AnsweringConnection,
  { latencyMs }: Attempt,
  recipients: number,
  ids: number,
): void {
  history.unprovenIds += ids;
  history.unprovenRecipients += recipients;
  // An answer with a new id was not given twice.
  if (ids > 0 && connection.lingerMs === 0) return;
  connection.lingerMs = Math.min(MOST_LINGER_MS, Math.max(LEAST_LINGER_MS, 2 * latencyMs));
}

function unasked({ ids, references, unprovenIds, unprovenRecipients: recipients }: History): Diagnostic {
  const list = (name: string, ids: readonly string[]): string =>
    ids.length === 0 ? '' : `, ${name} ${ids.join(', ')}`;
  const whose = recipients === 1 ? 'one recipient' : `${recipients} recipients`;
  const newest = recipients > REMEMBERED ? `; the newest ${REMEMBERED} are named` : '';
  return warning(
    'unasked-answer',
    `The API sent something that no request was waiting for, on a connection that had answered for ${whose}` +
      `${list('message ids', ids.last(Math.min(REMEMBERED, unprovenIds)))}` +
      `${list('references', references.last(Math.min(REMEMBERED, recipients)))}${newest}.`,
    {
      hint:
        'An answer was given twice, or to another request: outcomes of these recipients may be those of others. ' +
        'Compare them with what the provider has before you use --retry rejected.',
    },
  );
}

const NAMES_OTHERS = 'The answer names another recipient than the request.';
const REPEATS_AN_ID = 'The answer has the message id of an earlier answer.';

interface Newest {
  add(texts: readonly string[]): void;
  has(text: string): boolean;
  /** The last `count`, oldest first. */
  last(count: number): readonly string[];
}

function createNewest(): Newest {
  const newest: string[] = [];
  let most = 0;
  return {
    add(texts) {
      most = Math.max(most, REMEMBERED * texts.length);
      newest.push(...texts);
      if (newest.length > most) newest.splice(0, newest.length - most);
    },
    has: (text) => newest.includes(text),
    last: (count) => (count === 0 ? [] : newest.slice(-count)),
  };
}

/** A reference (plan/reference.ts) as a text of JSON: it has no character that JSON escapes. */
const REFERENCE = /"[\w-]{22}"/g;

/** The recipients that an answer names by reference or address: those of its request, others, or none. */
function namedIn(
  body: string,
  recipients: readonly Addressee[],
  before: Newest,
  wire: CompiledWire,
  reader: (body: string) => unknown,
): NamedWhom {
  const references = body.match(REFERENCE)?.map((text) => text.slice(1, -1)) ?? [];
  if (recipients.some(({ reference }) => references.includes(reference))) return 'ours';
  if (references.some((reference) => before.has(reference))) return 'others';
  const document = reader(body);
  if (typeof document !== 'object' || document === null) return 'unclear';
  const lists = body.includes('[') ? [...wire.pointers.lists, ...wire.pointers.refusedLists] : [];
  const addresses = [document, ...listsAt(document, lists).flat()].flatMap((entry) => addressesOf(entry, wire));
  if (addresses.some((text) => recipients.some(({ to }) => isSameAddress(text, to)))) return 'ours';
  return addresses.some((text) => recipients.every(({ to }) => isOtherAddress(text, to))) ? 'others' : 'unclear';
}

function addressesOf(entry: unknown, wire: CompiledWire): readonly string[] {
  const found =
    typeof entry === 'object' ? wire.pointers.entry.address.map((pointer) => follow(entry, pointer)) : [entry];
  return found.filter((value) => typeof value === 'string' || typeof value === 'number').map(String);
}

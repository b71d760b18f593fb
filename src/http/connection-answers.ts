import { type Diagnostic, warning } from '../errors.ts';
import type { AnsweringConnection, Attempt } from '../model.ts';
import { type Addressee, addressesIn, type CompiledWire, isOtherAddress, isSameAddress, listsAt } from './answer.ts';
import { type Verdict, verdict } from './classify.ts';

/*
 * An answer to another request proves nothing (failures.md, D2). HTTP/1.1 has no number that says which request an
 * answer belongs to: it is the next one on the connection. An API or a proxy that answers one request twice shifts all
 * later answers of the connection by one. Then a refused recipient is recorded as accepted, and an accepted one as
 * refused. Three signs show it: an answer names another recipient, an answer repeats a message id of its connection, or
 * bytes arrive while no request is in flight.
 */

export type AnswerCheck = ReturnType<typeof createAnswerCheck>;

/** The newest answers of each connection that are remembered. One that was given twice is the next or soon after. */
const REMEMBERED = 20;

/** The wait on a connection that may hold one more answer, at the end: twice its last latency, at least this. */
const LEAST_LINGER_MS = 25;
const MOST_LINGER_MS = 250;

/** A connection that has answered nothing yet. */
export function createAnswering(end: () => void): AnsweringConnection {
  return { end, onUnasked: null, lingerMs: 0, ids: [], references: [], unprovenIds: 0, unprovenRecipients: 0 };
}

/**
 * @param onNotice - called when a connection sends data while no request is in flight, after answers that do not prove
 * which request they belong to
 */
export function createAnswerCheck(wire: CompiledWire, onNotice: (notice: Diagnostic) => void) {
  const isFixedAnswer = createFixedAnswers(onNotice);
  /**
   * The verdicts on one answer. If it answers another request, each recipient is in doubt and the connection is closed.
   * @param document - the body as JSON
   */
  return (
    attempt: Attempt,
    recipients: readonly Addressee[],
    verdicts: readonly Verdict[],
    document: unknown,
  ): readonly Verdict[] => {
    const { connection } = attempt;
    if (connection === undefined || attempt.status === null) return verdicts;
    connection.onUnasked ??= () => {
      if (connection.unprovenRecipients > 0) onNotice(unasked(connection));
    };
    const named = namedIn(attempt.body, document, recipients, connection.references, wire);
    const ids: string[] = [];
    for (const { messageId } of verdicts) if (messageId !== null) ids.push(messageId);
    const isRepeated = ids.some((id) => connection.ids.includes(id));
    const isFixed = isFixedAnswer(ids, named, isRepeated);
    if (named === 'others' || isRepeated || isFixed) {
      connection.end();
      const error = named === 'others' ? NAMES_OTHERS : REPEATS_AN_ID;
      return verdicts.map(({ halt }) =>
        verdict('in-doubt', 'mismatch', { halt: isFixed ? 'not-the-api' : halt, error }),
      );
    }
    const most = REMEMBERED * recipients.length;
    for (const id of ids) if (connection.ids.push(id) > most) connection.ids.shift();
    for (const { reference } of recipients) {
      if (connection.references.push(reference) > most) connection.references.shift();
    }
    if (named === 'ours') {
      connection.unprovenIds = 0;
      connection.unprovenRecipients = 0;
      connection.lingerMs = 0;
      return verdicts;
    }
    connection.unprovenIds += ids.length;
    connection.unprovenRecipients += recipients.length;
    // An answer with a new id was not given twice.
    if (ids.length === 0 || connection.lingerMs > 0) {
      connection.lingerMs = Math.min(MOST_LINGER_MS, Math.max(LEAST_LINGER_MS, 2 * attempt.latencyMs));
    }
    return verdicts;
  };
}

type NamedWhom = 'ours' | 'others' | 'unclear';

/**
 * Recognises an API that answers each request with the same text, as mock servers do: all answers of the start have one
 * message id, or each names another recipient. The second of them shows it. It may also be the answer to the first
 * request, given twice; so the start halts only where it came on another connection (`isRepeated`: its connection gave
 * one of the ids before).
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
  return (ids: readonly string[], named: NamedWhom, isRepeated: boolean): boolean => {
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
  };
}

function unasked(connection: AnsweringConnection): Diagnostic {
  const { ids, references, unprovenIds, unprovenRecipients: recipients } = connection;
  const list = (name: string, ids: readonly string[]): string =>
    ids.length === 0 ? '' : `, ${name} ${ids.join(', ')}`;
  const whose = recipients === 1 ? 'one recipient' : `${recipients} recipients`;
  const more = recipients > REMEMBERED ? `; the newest ${REMEMBERED} are named` : '';
  return warning(
    'unasked-answer',
    `The API sent something that no request was waiting for, on a connection that had answered for ${whose}` +
      `${list('message ids', newest(ids, unprovenIds))}` +
      `${list('references', newest(references, recipients))}${more}.`,
    {
      hint:
        'An answer was given twice, or to another request: outcomes of these recipients may be those of others. ' +
        'Compare them with what the provider has before you use --retry rejected.',
    },
  );
}

const NAMES_OTHERS = 'The answer names another recipient than the request.';
const REPEATS_AN_ID = 'The answer has the message id of an earlier answer.';

/** The last ones, oldest first. */
function newest(texts: readonly string[], count: number): readonly string[] {
  return count === 0 ? [] : texts.slice(-Math.min(REMEMBERED, count));
}

/** A reference (plan/expand.ts) as a text of JSON: it has no character that JSON escapes. */
const REFERENCE = /"[\w-]{22}"/g;

/**
 * The recipients that an answer names by reference or address: those of its request, others, or none.
 * @param before - references of the requests before on its connection
 */
function namedIn(
  body: string,
  document: unknown,
  recipients: readonly Addressee[],
  before: readonly string[],
  wire: CompiledWire,
): NamedWhom {
  if (recipients.some(({ reference }) => body.includes(`"${reference}"`))) return 'ours';
  if (body.match(REFERENCE)?.some((text) => before.includes(text.slice(1, -1))) === true) return 'others';
  if (typeof document !== 'object' || document === null) return 'unclear';
  const { lists, refusedLists } = wire.pointers;
  const entries = body.includes('[')
    ? [document, ...listsAt(document, [...lists, ...refusedLists]).flat()]
    : [document];
  let named: NamedWhom = 'unclear';
  for (const text of entries.flatMap((one) => addressesIn(one, wire))) {
    if (recipients.some(({ to }) => isSameAddress(text, to))) return 'ours';
    if (recipients.every(({ to }) => isOtherAddress(text, to))) named = 'others';
  }
  return named;
}

import type { Attempt } from '../model.ts';
import { type CompiledRule, type Word, wordOf } from '../providers/rules.ts';
import {
  type Addressee,
  type CompiledWire,
  createDirectory,
  cut,
  entryListsOf,
  entryRefusal,
  looksLikeHtml,
  messageIdIn,
  readDocument,
  refusalOf,
} from './answer.ts';
import { type ClassifyContext, limitedBy, unsupported, type Verdict, verdict, verdictOf } from './classify.ts';

/**
 * Applies the rules of the environment and its provider (`answers`) to each recipient; null: none fits, and the usual
 * reading counts. None applies to an answer that is cut, or that came before the request was complete. The page of a web
 * server says nothing about recipients.
 */
export function ruled(
  attempt: Attempt,
  document: unknown,
  recipients: readonly Addressee[],
  context: ClassifyContext,
): readonly (Verdict | null)[] {
  const { wire } = context;
  const rules = openRules(attempt, document, wire);
  const { status } = attempt;
  if (status === null || rules.length === 0) return recipients.map(() => null);
  const lists = entryListsOf(document, wire);
  const whole = wordOf(status, document, undefined, rules);
  if (recipients.length === 1) {
    const entries = lists.flat();
    const word = entries.length === 0 ? whole : agreed(entries.map((entry) => wordOf(status, document, entry, rules)));
    return [word === null ? null : verdictBy(word, attempt, document, entries[0], recipients, context)];
  }
  const directory = createDirectory(recipients, wire);
  const own = recipients.map((): unknown[] => []);
  for (const entry of lists.flat()) {
    const position = directory.byReference(entry);
    for (const one of position === null ? directory.byAddress(entry) : [position]) own[one]?.push(entry);
  }
  return own.map((entries, i) => {
    const [recipient] = recipients.slice(i);
    if (entries.length === 0 || recipient === undefined) {
      // A good word for the whole answer is none for those that its list leaves out.
      if (whole === null || (whole === 'accepted' && lists.flat().length > 0)) return null;
      return verdictBy(whole, attempt, document, undefined, recipients, context, true);
    }
    const word = agreed(entries.map((entry) => wordOf(status, document, entry, rules)));
    return word === null ? null : verdictBy(word, attempt, document, entries[0], [recipient], context, true);
  });
}

export function openRules(attempt: Attempt, document: unknown, { rules }: CompiledWire): readonly CompiledRule[] {
  if (rules.length === 0 || attempt.status === null || attempt.error !== null || attempt.phase === 'P2') return [];
  const isPage = document === undefined && looksLikeHtml(attempt);
  // A 429 is never about a recipient, unless a rule names it: some APIs have one code for a bad number and for this.
  const isBusy = attempt.status === 429 || attempt.status === 425;
  if (!isPage && !isBusy) return rules;
  const isOpen = ({ word }: CompiledRule): boolean => word === 'retry' || word === 'stop' || word === 'doubt';
  return rules.filter((rule) => isOpen(rule) || (!isPage && rule.statuses !== null));
}

/** Entries of one recipient that disagree leave a doubt: one part of the message may be on its way. */
function agreed(words: readonly (Word | null)[]): Word | null {
  const [first = null, ...rest] = words;
  return rest.every((word) => word === first) ? first : 'doubt';
}

/** @param recipients - those that the word is about: several, where the answer names none of them */
function verdictBy(
  word: Word,
  attempt: Attempt,
  document: unknown,
  entry: unknown,
  recipients: readonly Addressee[],
  context: ClassifyContext,
  isShared = false,
): Verdict {
  const { wire } = context;
  const { error } = entry === undefined ? refusalOf(document, attempt.body, wire) : entryRefusal(entry, wire);
  const messageId = messageIdIn(document, entry, attempt, wire, isShared);
  const isSuccess = attempt.status !== null && attempt.status < 300;
  switch (word) {
    case 'accepted': {
      const unread = isSuccess ? readDocument(attempt, document, wire) : null;
      if (unread !== null) return verdictOf(unread, context, recipients);
      if (messageId !== null || !wire.response.messageIdRequired) return verdict('accepted', null, { messageId });
      return verdictOf({ kind: 'unrecognised', error: cut(wire.redact(attempt.body)) }, context, recipients);
    }
    case 'retry':
      return limitedBy(attempt, context, error);
    case 'stop':
      return verdict('pending', 'not-authorised', { halt: 'not-authorised', error, says: error ?? '' });
    case 'doubt':
      return verdict('in-doubt', 'unrecognised', { messageId, error });
    default: {
      // A refusal that names none of several: a 4xx is sent in parts; a 2xx does not say which recipient it is about.
      if (recipients.length > 1 && isSuccess) return verdict('in-doubt', 'refused', { messageId, error });
      if (word === 'unsupported') return unsupported(recipients, { messageId, error });
      if (recipients.length > 1) return verdict('pending', 'too-large', { split: true, error });
      return verdict('rejected', word, { messageId, error });
    }
  }
}

import { wordTable } from '../util/word-table.ts';
import table from './answer-words.json' with { type: 'json' };

/*
 * By these names and words the body of a 2xx says no (docs/reference/answers.md). Letter case, accents, hyphens, underscores
 * and spaces do not count. `error*` is each word that begins so.
 */

/**
 * Names of fields, by what their values say.
 *
 * - `error`: anything but null, 0, a success word, a word of `noError` or what is empty says no.
 * - `success`: false, 0, a word for false and an empty list say no.
 * - `whenTrue` and `whenFalse`: true, or false, says no. Words of `subject` may come before (`hasBeenRejected`,
 *   `messageAccepted`), and `not` or `un` turns a name of `whenFalse` around.
 * - `status`: a word or a number, see `ANSWER_WORDS`. An object holds them under these names, and those of `inStatus`.
 * - `code`: a number or a word for success; anything else says no, also beside an id.
 * - `type`: only a word for a refusal, `error`, `fail`, `failure`, `fault` or `exception` says no, and only alone.
 * - `count`: 0 says no.
 * - `list`: a list of entries says no when it is empty, and what an entry says counts. `otherList`: an empty one says
 *   nothing.
 * - `envelope`: an object that holds the answer. One that is alone in its object does too, whatever its name.
 * - `text`: a text whose words say no, in an answer that holds nothing but such texts and what `besideText` names.
 */
export const ANSWER_NAMES = wordTable(table.names);

/**
 * Words as values of these fields, in many languages.
 *
 * - `success`: the message was taken, or is on its way. Numbers: 0, 200 to 299, and zeros behind up to three letters
 *   (`ER-00`).
 * - `refused`: the message to this recipient was refused. Alone, they refuse the one recipient of a request.
 * - `error`: they say no, alone or in a longer word (`SEND_ERROR`, `Not enough credits`), but not that it is about the
 *   recipient.
 */
export const ANSWER_WORDS = wordTable(table.words);

/**
 * Codes that say that the recipient cannot receive the channel, in an answer of the API and in a delivery report; and
 * where an answer, or the entry of a recipient in it, has such a code. The order counts.
 */
export const { unsupportedCodes: UNSUPPORTED_CODES, codePlaces: CODE_PLACES } = wordTable({
  unsupportedCodes: table.unsupportedCodes,
  codePlaces: table.codePlaces,
});

import { edit, type Mutant, mutant } from './mutant.ts';
import { server, status } from './proofs.ts';

const CLASSIFY = 'src/http/classify.ts';

/** What an answer means: sections D, F and G of the table of failures. */
export const ANSWERS: readonly Mutant[] = [
  mutant('html-accepted', {
    planted: 'a login page with status 200 is an acceptance',
    file: 'src/http/answer.ts',
    was: `if (looksLikeHtml(attempt)) return { kind: 'html', error: cut(wire.redact(attempt.body)) };`,
    is: `if (looksLikeHtml(attempt)) return { kind: 'recognised', messageId: null };`,
    proof: server('a login page in HTML'),
  }),
  mutant('text-accepted', {
    planted: 'any text with status 2xx is an acceptance',
    ...edit('src/http/answer.ts', `attempt.body.trim() === '' || wire.response.accept === 'any';`, `true;`),
    proof: server('plain text'),
  }),
  mutant('required-id-missing', {
    planted: 'an answer without the id that the project requires is an acceptance',
    file: 'src/http/answer.ts',
    was: 'if (messageId === null && wire.response.messageIdRequired) {',
    is: 'if (messageId === null && wire.response.messageIdRequired && attempt.status === 299) {',
    proof: server('JSON without an id, where the project names its place'),
  }),
  mutant('rejects-408', {
    planted: '408 is a rejection, although the API may have it',
    file: CLASSIFY,
    was: `if (status === 408 || status === 499) return verdict('in-doubt'`,
    is: `if (status === 408 || status === 499) return verdict('rejected'`,
    proof: status(408),
  }),
  mutant('retries-503', {
    planted: '503 is tried again without being told so',
    file: CLASSIFY,
    was: 'if (status === 429 || status === 425) {',
    is: 'if (status === 429 || status === 425 || status === 503) {',
    proof: status(503),
  }),
  mutant('retries-500', {
    planted: '500, 502 and 504 are tried again',
    file: CLASSIFY,
    was: `  return verdict('in-doubt', 'status', { error }); // G1, G5`,
    is: `  return verdict('rejected', 'status', { again: status < 600, error });`,
    proof: status(500),
  }),
  mutant('aborted-is-pending', {
    planted: 'what was in flight when the run was stopped goes back to pending',
    file: CLASSIFY,
    was: `return verdict('in-doubt', 'stopped', { error }); // I2`,
    is: `return verdict('pending', 'stopped', { error });`,
    proof: { in: 'processes/interruption.test.ts', only: 'SIGQUIT: in flight' },
  }),
  mutant('denials-believed', {
    planted: 'a 2xx that says no is an acceptance unless it has a word for a refusal',
    file: 'src/http/answer.ts',
    was: 'if (found.denial !== null) {',
    is: "if (found.denial !== null && found.denial.kind === 'recipient') {",
    proof: server('an error inside a 200'),
  }),
  mutant('denial-goes-on', {
    planted: 'a 2xx that says no does not halt the start',
    ...edit(CLASSIFY, '{ halt, messageId, error, field }', '{ messageId, error, field }'),
    proof: server('an error inside a 200'),
  }),
  mutant('account-despite-an-id', {
    planted: 'a 2xx with the code 401 is sent again although it has the id of a message',
    edits: [
      { file: 'src/http/answer.ts', was: 'taken === null && !mayHoldId(document);', is: 'taken === null;' },
      {
        file: 'src/http/answer.ts',
        was: 'const isAccount = isAboutAccount(document, found) && messageId === null;',
        is: 'const isAccount = isAboutAccount(document, found);',
      },
    ],
    proof: { in: 'http/denied-answers.test.ts', only: 'says no where a part of it does' },
  }),
  mutant('empty-lists-believed', {
    planted: 'an answer whose list of messages is empty is an acceptance',
    file: 'src/http/denial.ts',
    was: "if (names.list || names.field === 'success') note(",
    is: "if (names.field === 'success') note(",
    proof: server('no messages in the list of a 200'),
  }),
  mutant('fixed-answers-believed', {
    planted: 'the same message id counts again on another connection',
    file: 'src/http/connection-answers.ts',
    was: "named === 'others' || isRepeated || isFixed",
    is: "named === 'others' || isRepeated",
    proof: { in: 'http/fixed-answers.test.ts' },
  }),
  mutant('repeated-ids-believed', {
    planted: 'a message id that the connection has given before is taken for the next recipient',
    file: 'src/http/connection-answers.ts',
    was: "named === 'others' || isRepeated || isFixed",
    is: "named === 'others' || (isRepeated && ids.length > 9) || isFixed",
    proof: { in: 'processes/answers-twice.test.ts', only: 'with a message id' },
  }),
  mutant('answers-for-others-believed', {
    planted: 'an answer that names another recipient counts for the one of the request',
    ...edit('src/http/connection-answers.ts', "named === 'others' || isRepeated || isFixed", 'isRepeated'),
    proof: { in: 'processes/answers-twice.test.ts', only: 'that refuses, and names the' },
  }),
  mutant('mixed-up-connection-kept', {
    planted: 'a connection that answered another request is used again',
    ...edit('src/http/connection-answers.ts', '      connection.end();\n', ''),
    proof: { in: 'processes/answers-twice.test.ts', only: 'that refuses, and names the number' },
  }),
  mutant('unasked-answers-unsaid', {
    planted: 'what no request waited for is passed over in silence',
    ...edit('src/http/connection.ts', 'this.answering.onUnasked?.();', 'this.retire();'),
    proof: { in: 'processes/answers-twice.test.ts', only: 'a warning names the ids' },
  }),
  mutant('closed-connections-used-again', {
    planted: 'connections are used again although the API closes each behind its answer',
    ...edit('src/http/connection.ts', '      isAllowed = false;\n', ''),
    proof: { in: 'http/reuse.test.ts' },
  }),
  mutant('ends-unnoticed', {
    planted: 'nothing is learnt from a connection that ends under a request',
    edits: [
      { file: 'src/http/connection.ts', was: 'this.#owner.reuse.closed(performance', is: 'Math.max(performance' },
    ],
    proof: { in: 'processes/closed-unasked.test.ts', only: '3 ms after its answer, concurrency 1:' },
  }),
];

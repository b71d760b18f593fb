import { type Edit, edit, type Mutant, mutant } from './mutant.ts';
import { status } from './proofs.ts';

const CLASSIFY = 'src/http/classify.ts';
const STOP = 'src/send/stop.ts';

const rules = (only: string) => ({ in: 'send/stop.test.ts', only });

function removed(name: string, planted: string, edits: readonly Edit[], proof: Mutant['proof']): Mutant {
  return { name: `goes-on-${name}`, planted: `the stop rule is gone: ${planted}`, edits, proof };
}

/** Each stop rule of FAILURES rule 10 taken away. */
export const STOPS: readonly Mutant[] = [
  removed(
    'after-401',
    '401, 402, 403 and 407 leave the recipient pending and go on to the next',
    [
      {
        file: CLASSIFY,
        was: `return verdict('pending', 'not-authorised', { halt: 'not-authorised', error });`,
        is: `return verdict('pending', 'not-authorised', { error });`,
      },
    ],
    { in: 'e2e/refusals.test.ts', only: '401 stops it' },
  ),
  removed(
    'after-307',
    '307 and 308',
    [
      {
        file: CLASSIFY,
        was: `return verdict('pending', 'wrong-address', { halt: 'wrong-address', error }); // E1`,
        is: `return verdict('pending', 'wrong-address', { error });`,
      },
    ],
    status(307),
  ),
  removed(
    'after-302',
    '300 to 306',
    [
      {
        file: CLASSIFY,
        was: `return verdict('in-doubt', 'redirect', { halt: 'wrong-address', error });`,
        is: `return verdict('in-doubt', 'redirect', { error });`,
      },
    ],
    status(302),
  ),
  removed(
    'after-a-first-404',
    'a first 404, 405 or 410 is about one recipient',
    [
      {
        file: CLASSIFY,
        was: 'if (context.neverAccepted === true && ELSEWHERE',
        is: 'if (context.neverAccepted === true && context.stopping && ELSEWHERE',
      },
    ],
    status(404),
  ),
  removed(
    'after-501',
    '501 and 505',
    [
      {
        file: CLASSIFY,
        was: `return verdict('pending', 'wrong-address', { halt: 'wrong-address', error }); // G3`,
        is: `return verdict('pending', 'wrong-address', { error });`,
      },
    ],
    status(501),
  ),
  removed(
    'after-511',
    '511, a captive portal',
    [
      {
        file: CLASSIFY,
        was: `return verdict('in-doubt', 'status', { halt: 'not-the-api', error });`,
        is: `return verdict('in-doubt', 'status', { error });`,
      },
    ],
    status(511),
  ),
  removed(
    'after-a-login-page',
    'a 2xx that is HTML, or not recognised and the first',
    [
      {
        file: CLASSIFY,
        was: `(answer.kind === 'html' || context.firstAnswer) ? 'not-the-api' : null;`,
        is: `context.wire.answers.length > 99 ? 'not-the-api' : null;`,
      },
    ],
    { in: 'faults/behaviours.test.ts', only: ': a login page in HTML' },
  ),
  removed(
    'without-trust',
    'a certificate that cannot be trusted',
    [
      {
        file: CLASSIFY,
        was: `return verdict('failed', 'tls', { halt: 'tls', error });`,
        is: `return verdict('failed', 'tls', { error });`,
      },
    ],
    { in: 'faults/behaviours.test.ts', only: ': a certificate ' },
  ),
  removed(
    'when-throttled',
    'a wait of more than 15 minutes',
    [{ file: CLASSIFY, was: 'wait !== null && wait > LONGEST_WAIT_MS;', is: 'wait !== null && wait > 1e9;' }],
    { in: 'http/classify.test.ts', only: 'waits' },
  ),
  removed(
    'in-doubt',
    'limits.stopAfter.inDoubt and its default',
    [{ file: STOP, was: 'if (allDoubts >= doubtLimit)', is: 'if (allDoubts >= 10 * doubtLimit)' }],
    rules('doubts'),
  ),
  removed(
    'after-doubts-in-a-row',
    'five doubts in a row',
    [{ file: STOP, was: 'if (doubtsInARow >= DOUBTS_IN_A_ROW)', is: 'if (doubtsInARow > 1000)' }],
    rules('five in a row'),
  ),
  removed(
    'when-the-api-is-down',
    'five failures in a row',
    [{ file: STOP, was: 'if (failuresInARow >= FAILURES_IN_A_ROW) {', is: 'if (failuresInARow > 1000) {' }],
    rules('five recipients in a row'),
  ),
  removed(
    'after-first-refusals',
    'the first 20 answers all rejections',
    [{ file: STOP, was: 'isReached(before.rejected, allRejected)', is: 'isReached(before.rejected, -1)' }],
    rules('first 20'),
  ),
  removed(
    'after-many-refusals',
    'limits.stopAfter.rejected',
    [edit(STOP, 'if (rejectedLimit !== null && allRejected >= rejectedLimit) {', 'if (rejectedLimit === -1) {')],
    rules('stopAfter.rejected'),
  ),
  mutant('refusals-end-no-row', {
    planted: 'a refusal does not end the doubts and failures that are counted in a row',
    ...edit(STOP, "if (outcome === 'accepted' || outcome === 'rejected') {", "if (outcome === 'accepted') {"),
    proof: rules('an answer ends both rows'),
  }),
];

import { type Edit, edit, type Mutant, mutant } from './mutant.ts';

const DELIVER = 'src/send/deliver.ts';
const SHARED_REQUEST = 'src/send/deliver-shared.ts';
const RUN = 'src/send/work.ts';
const FEED = 'src/send/producer.ts';
const DECIDE = 'src/plan/decide.ts';
const STEPS = 'src/ledger/commits.ts';
const ANSWERS = 'src/http/recipient-answers.ts';

const fallbacks = (only: string) => ({ in: 'faults/fallbacks.test.ts', only });
const shared = (only: string) => ({ in: 'faults/shared-requests.test.ts', only });
const winner = (only: string) => ({ in: 'faults/winner.test.ts', only });

/** The statement that claims a later step with what is sent. */
const CLAIM_WITH = `version = ?15
      WHERE list = ?3 AND step = ?4 AND row = ?5 AND `;
/** Leaves a condition out of the trigger that knows the moves. */
const allowed = (was: string, is: string): readonly Edit[] => [{ file: 'src/ledger/moves.ts', was, is }];

/** Fallbacks: who gets a second message, and when. */
const FALLBACKS: readonly Mutant[] = [
  mutant('step-claimed-without-looking', {
    planted: 'a later step is claimed in whatever state it is, and the database lets it',
    edits: [
      { file: STEPS, was: `${CLAIM_WITH}state = 'pending' AND key`, is: `${CLAIM_WITH}key` },
      ...allowed(
        "  { from: 'claimed', to: 'accepted', why:",
        "  { from: 'claimed', to: 'claimed', why: null },\n  { from: 'claimed', to: 'accepted', why:",
      ),
    ],
    proof: fallbacks('J4'),
  }),
  mutant('fallback-after-a-doubt', {
    planted: 'a recipient in doubt on the first step gets the fallback',
    edits: [
      {
        file: DELIVER,
        was: `if (verdict.reason === 'unsupported-channel' && from === 'claimed') {`,
        is: `if ((verdict.reason === 'unsupported-channel' || verdict.outcome === 'in-doubt') && from === 'claimed') {`,
      },
      {
        file: DELIVER,
        was: 'record(task, attempt, from, facts, verdict, verdict.outcome, context, next);',
        is: `record(task, attempt, from, facts, verdict, next === undefined ? verdict.outcome : 'rejected', context, next);`,
      },
    ],
    proof: fallbacks('500 with the code|408 with the code'),
  }),
  mutant('fallback-after-any-refusal', {
    planted: 'a recipient who is refused for any reason gets the fallback',
    file: DELIVER,
    was: `if (verdict.reason === 'unsupported-channel' && from === 'claimed') {`,
    is: `if (verdict.outcome === 'rejected' && from === 'claimed') {`,
    proof: fallbacks('a refusal of another kind'),
  }),
  mutant('fallback-posted-twice', {
    planted: 'the request of a fallback is made twice',
    file: DELIVER,
    was: '      facts = await post(request, context);\n',
    is: `      if (task.step > 0) await context.endpoint.post(request.body, request.reference);
      facts = await post(request, context);
`,
    proof: fallbacks('unsupported, then 2xx'),
  }),
  mutant('fallback-begins-again', {
    planted: 'a start that continues takes a fallback that was begun for a first step',
    file: 'src/send/deliver.ts',
    was: 'const message = step === 0 ? decision : unused(decision, used);',
    is: 'const message = step === 0 || used.length > 0 ? decision : unused(decision, used);',
    proof: fallbacks('the next start sends only the fallback'),
  }),
  mutant('fallback-forgotten', {
    planted: 'a fallback that was begun is not pending for the next start',
    file: 'src/ledger/starts.ts',
    was: `AND (state = 'pending' OR (state = 'rejected' AND reason = 'fell-back')) ORDER BY`,
    is: `AND state = 'pending' AND step = 0 ORDER BY`,
    proof: fallbacks('the next start sends only the fallback'),
  }),
  mutant('fallback-to-the-suppressed', {
    planted: 'suppression of the address of a fallback is not looked up in its claim',
    file: STEPS,
    was: `${CLAIM_WITH}state = 'pending' AND key = ?6
      AND (step > 0 OR attempts > 0 OR address = ?2)
      AND attempts = coalesce(?7, attempts)
      AND NOT EXISTS (SELECT 1 FROM suppressions WHERE suppressions.address = ?2`,
    is: `${CLAIM_WITH}state = 'pending' AND key = ?6
      AND (step > 0 OR attempts > 0 OR address = ?2)
      AND attempts = coalesce(?7, attempts)
      AND NOT EXISTS (SELECT 1 FROM suppressions WHERE suppressions.address = ''`,
    proof: fallbacks('K3'),
  }),
  mutant('late-fallback-stays', {
    planted: 'a fallback that waits for its turn when notAfter passes is not expired',
    file: RUN,
    was: `ledger[decision](run, [{ row, step, reason }], now());`,
    is: `ledger[decision](run, [{ row, step: step * 0, reason }], now());`,
    proof: fallbacks('passes between the steps'),
  }),
  mutant('expired-before-it-fell-back', {
    planted: 'a fallback expires before it is written that the step before fell back, so that no row expires',
    ...edit(DELIVER, '  await context.groupCommit.written();\n', ''),
    proof: fallbacks('passes between the steps'),
  }),
  mutant('retry-rejected-takes-all-steps', {
    planted: '--retry rejected takes steps that fell back too, and the database lets it',
    edits: [
      {
        file: 'src/ledger/starts.ts',
        was: "row <= ? AND state = 'rejected' AND reason IS DISTINCT FROM 'fell-back' AND key IS NOT NULL",
        is: "row <= ? AND state = 'rejected' AND key IS NOT NULL",
      },
      ...allowed(
        "NEW.resolved_by = 'retry-rejected' AND OLD.reason IS DISTINCT FROM 'fell-back'",
        "NEW.resolved_by = 'retry-rejected'",
      ),
    ],
    proof: fallbacks('--retry rejected'),
  }),
  mutant('retry-rejected-past-the-limit', {
    planted: '--retry rejected makes all rejected recipients pending, however few --limit allows',
    file: 'src/ledger/starts.ts',
    was: 'return connection.statement(RETRY)(list, last === undefined ? LAST_ROW : Number(last));',
    is: 'return connection.statement(RETRY)(list, last === undefined ? LAST_ROW : LAST_ROW);',
    proof: fallbacks('--retry rejected'),
  }),
  mutant('fallback-without-the-code', {
    planted: 'a first 404 is taken for a wrong address, although its code says what it means',
    file: 'src/http/classify.ts',
    was: '  if (isAboutRecipient(status) && says) {\n',
    is: '  if (isAboutRecipient(status) && says && !context.firstAnswer) {\n',
    proof: fallbacks('unsupported as the first answer'),
  }),
];

/** Requests for several recipients. */
const SHARED: readonly Mutant[] = [
  mutant('suppressed-in-a-shared-request', {
    planted: 'a recipient that the claim finds suppressed stays in a request with others',
    file: SHARED_REQUEST,
    was: `tasks = tasks.filter((_, i) => answers[i] === 'claimed');`,
    is: `tasks = tasks.filter((_, i) => answers[i] === 'claimed' || answers[i] === 'suppressed');`,
    proof: shared('K3'),
  }),
  mutant('missing-recipient-accepted', {
    planted: 'a recipient that an answer about several does not name is accepted',
    file: ANSWERS,
    was: `    if (said !== 'refused') return doubt; // D2\n`,
    is: `    if (said === 'silent') return verdict('accepted', null, { messageId: idOf(statement) });
    if (said !== 'refused') return doubt;
`,
    proof: shared('fewer results|not at all'),
  }),
  mutant('contradiction-refused', {
    planted: 'a recipient that an answer calls both accepted and refused is refused',
    ...edit(ANSWERS, '(a.said === b.said ? a : disagreeing(a, b))', `(a.said === 'refused' ? a : b)`),
    proof: shared('taken and refused'),
  }),
  mutant('wait-of-the-first-forgotten', {
    planted: 'when an answer asks to wait for one recipient of a request, and not for the next, nothing waits',
    ...edit(SHARED_REQUEST, 'retryAfterMs ??= verdict.retryAfterMs;', 'retryAfterMs = verdict.retryAfterMs;'),
    proof: { in: 'send/deliver.test.ts', only: 'holds back for as long' },
  }),
  mutant('answers-by-position', {
    planted: 'the answers about the recipients of a request are given out from the end',
    file: SHARED_REQUEST,
    was: '    const verdict = verdicts[i];\n',
    is: '    const verdict = verdicts[tasks.length - 1 - i];\n',
    proof: shared('partial acceptance|its own id'),
  }),
  mutant('halves-after-a-partial-answer', {
    planted: 'when a request was refused for some, all of it is sent again in halves',
    file: SHARED_REQUEST,
    was: '    if (verdict.split) {\n',
    is: `    if (verdict.split || verdicts.some(({ outcome }) => outcome === 'rejected')) {\n`,
    proof: shared('partial acceptance'),
  }),
  mutant('halves-after-a-doubt', {
    planted: 'of a request without an answer only the first is in doubt, and the others are sent again',
    file: SHARED_REQUEST,
    was: '    if (verdict.split) {\n',
    is: `    if (verdict.split || (verdict.outcome === 'in-doubt' && i > 0)) {\n`,
    proof: shared('a reset|silence'),
  }),
  mutant('too-large-for-all', {
    planted: '413 for a request refuses all recipients in it',
    file: 'src/http/classify.ts',
    was: `return verdict('pending', 'too-large', { split: true, error }); // F1`,
    is: `return verdict('rejected', 'too-large', { error });`,
    proof: shared('413'),
  }),
  mutant('unsupported-for-all', {
    planted: 'that one of several cannot receive the channel refuses all recipients in the request',
    ...edit('src/http/classify.ts', '  if (recipients.length > 1)\n', '  if (recipients.length > 1000)\n'),
    proof: shared('422'),
  }),
  mutant('rest-of-the-list-forgotten', {
    planted: 'who is left over when the list ends and fills no request is not sent to',
    file: FEED,
    was: 'for (const batch of stopped.aborted ? [] : packer.rest()) await pool.put(batch);',
    is: 'for (const batch of stopped.aborted || left > 0 ? [] : packer.rest()) await pool.put(batch);',
    proof: shared('each request is full'),
  }),
];

/** Variants: who waits, and who gets nothing. */
const WINNERS: readonly Mutant[] = [
  mutant('holdout-sent', {
    planted: 'a recipient in the holdout is sent to',
    ...edit('src/plan/skip-rules.ts', 'split.holdout === 0 ? null :', 'split.holdout >= 0 ? null :'),
    proof: winner('sends only to the test'),
  }),
  mutant('deferred-sent', {
    planted: 'a recipient who waits for the winner gets the first variant',
    file: DECIDE,
    was: `if (assigned.kind === 'undecided') return deferred`,
    is: `if (assigned.kind === 'undecided' && key === '') return deferred`,
    proof: winner('sends only to the test'),
  }),
  mutant('winner-forgotten', {
    planted: 'a winner that a person named counts only for that start',
    edits: [
      { file: FEED, was: 'winner: run.winner,', is: 'winner: plan.campaign.split.winner,' },
      {
        file: 'src/send/prepare.ts',
        was: 'return winner ?? winnerOfRun(plan, run) ?? plan.campaign.split.winner ?? winnerIn(found);',
        is: 'return winner ?? plan.campaign.split.winner ?? winnerIn(found);',
      },
    ],
    proof: winner('every later start'),
  }),
  mutant('variant-of-the-later-winner', {
    planted: 'a fallback is counted for the winner that was named after the first step',
    ...edit(STEPS, 'variant = CASE step WHEN 0 THEN ?8 ELSE variant END', 'variant = ?8'),
    proof: winner('stays with the variant'),
  }),
  mutant('variants-mixed', {
    planted: 'recipients with different variants may share a request',
    ...edit(FEED, 'packer.add(task, task.decision.variant)', 'packer.add(task, null)'),
    proof: winner('in shared requests'),
  }),
];

/** What one recipient is to another, and one step to the next. */
export const SEVERAL: readonly Mutant[] = [...FALLBACKS, ...SHARED, ...WINNERS];

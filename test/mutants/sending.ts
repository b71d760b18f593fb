import { edit, type Mutant, mutant } from './mutant.ts';

const DELIVER = 'src/send/deliver.ts';
const GROUP_COMMIT = 'src/send/group-commit.ts';

const CLAIM = `      const answer = (await context.groupCommit.claim([context.claimOf(task, attempt)]))?.[0];
      if (answer !== 'claimed') release(answer, context);
      if (answer === 'withdrawn') attempt += 1;
      if (isToWait(answer)) continue;
      if (answer !== 'claimed') return;
`;
const POST = `      facts = await post(request, context);
`;
const CONNECT = `    const connection = isReady ? 'open' : await connect(context);
`;

const FROM = `const from = connection === 'open' ? 'claimed' : 'pending';`;

const TEST_TO = { in: 'cli/send-test.test.ts', only: 'only to testers|uses up' };

/** How one start brings recipients to outcomes: FAILURES rules 1, 8 to 11. */
export const SENDING: readonly Mutant[] = [
  mutant('busy-api-rejects', {
    planted: 'a recipient is rejected when the attempts are used up by 429',
    file: 'src/http/classify.ts',
    was: `return verdict('pending', 'rate-limited', {`,
    is: `return verdict('rejected', 'rate-limited', {`,
    proof: { in: 'send/retry-after.test.ts', only: 'refused each time' },
  }),
  mutant('busy-api-asked-at-once', {
    planted: 'a later start does not wait as long as the API asked',
    file: 'src/send/producer.ts',
    was: 'if (isWaiting?.(candidate) === true) return false;',
    is: 'if (isWaiting?.(candidate) === null) return false;',
    proof: { in: 'send/retry-after.test.ts', only: 'waits as long as' },
  }),
  mutant('claim-after-send', {
    planted: 'the row is claimed when the answer is there',
    edits: [
      { file: DELIVER, was: CLAIM, is: '' },
      { file: DELIVER, was: POST, is: POST + CLAIM },
    ],
    proof: { in: 'kills/rows.test.ts', only: 'before the first byte' },
  }),
  mutant('claim-beside-the-send', {
    planted: 'the request goes out while its claim is being written',
    edits: [
      edit(DELIVER, CLAIM, '      const claiming = context.groupCommit.claim([context.claimOf(task, attempt)]);\n'),
      {
        file: DELIVER,
        was: POST,
        is: POST + CLAIM.replace('context.groupCommit.claim([context.claimOf(task, attempt)])', 'claiming'),
      },
    ],
    proof: { in: 'send/suppressed.test.ts' },
  }),
  mutant('claim-answered-before-the-commit', {
    planted: 'the group commit says "claimed" before the transaction is on the disk',
    file: GROUP_COMMIT,
    was: '        waiting.push({ count: requests.length, resolve });\n',
    is: `        waiting.push({ count: requests.length, resolve: () => undefined });
        resolve(requests.map(() => 'claimed'));
`,
    proof: { in: 'kills/rows.test.ts', only: 'before the first byte' },
  }),
  mutant('claim-without-a-connection', {
    planted: 'rows are claimed before a connection is open',
    edits: [
      { file: DELIVER, was: CLAIM, is: '' },
      { file: DELIVER, was: CONNECT, is: CLAIM + CONNECT },
      { file: DELIVER, was: FROM, is: `const from = 'claimed';` },
    ],
    proof: { in: 'processes/interruption.test.ts', only: 'for a connection' },
  }),
  mutant('failed-claim-sent', {
    planted: 'a claim that could not be written is sent all the same',
    file: DELIVER,
    was: 'claim([context.claimOf(task, attempt)]))?.[0];',
    is: "claim([context.claimOf(task, attempt)]))?.[0] ?? 'claimed';",
    proof: { in: 'disk/errors.test.ts' },
  }),
  mutant('suppressed-claim-sent', {
    planted: 'a recipient that the claim finds suppressed is sent to all the same',
    file: DELIVER,
    was: `if (answer !== 'claimed') return;`,
    is: `if (answer !== 'claimed' && answer !== 'suppressed') return;`,
    proof: { in: 'send/suppressed.test.ts' },
  }),
  mutant('retry-keeps-its-claim', {
    planted: 'a recipient that waits for another attempt stays claimed',
    ...edit(DELIVER, `    record(task, attempt, from, facts, verdict, 'pending', context);\n`, ''),
    proof: { in: 'processes/interruption.test.ts', only: 'for a Retry-After' },
  }),
  mutant('one-attempt-too-many', {
    planted: 'send.attempts counts retries and not attempts',
    ...edit(DELIVER, 'attempt < context.attempts)', 'attempt <= context.attempts)'),
    proof: { in: 'send/retry-after.test.ts', only: 'three attempts' },
  }),
  mutant('one-attempt-too-many-later', {
    planted: 'a later start makes one attempt more than send.attempts',
    ...edit(DELIVER, 'attempt < context.attempts)', 'attempt < context.attempts + Number(task.before > 0))'),
    proof: { in: 'simulate/several/several.test.ts', only: 'no rule is broken' },
  }),
  mutant('retry-after-ignored', {
    planted: 'Retry-After is read and not waited for',
    ...edit(DELIVER, 'if (retryAfterMs !== null) context.rateLimiter.hold(retryAfterMs + waitMs);', ''),
    proof: { in: 'send/retry-after.test.ts', only: 'F5' },
  }),
  mutant('retry-after-for-one', {
    planted: 'Retry-After holds back the one recipient and not the run',
    file: DELIVER,
    was: 'if (retryAfterMs !== null) context.rateLimiter.hold(retryAfterMs + waitMs);',
    is: 'if (retryAfterMs !== null) await context.rateLimiter.pause(retryAfterMs);',
    proof: { in: 'send/retry-after.test.ts', only: 'F5' },
  }),
  mutant('wait-of-503-ignored', {
    planted: 'Retry-After of a 503, which is not tried again, is not waited for',
    ...edit(DELIVER, '  if (verdict.retryAfterMs !== null) context.rateLimiter.hold(verdict.retryAfterMs);\n', ''),
    proof: { in: 'send/retry-after.test.ts', only: 'G2' },
  }),
  mutant('outcome-waits-for-a-claim', {
    planted: 'an outcome is written with the next claim only',
    ...edit(GROUP_COMMIT, `        results.push(result);\n        schedule();\n`, `        results.push(result);\n`),
    proof: { in: 'send/group-commit.test.ts' },
  }),
  mutant('no-canary', {
    planted: 'the first requests of a start go out all at once',
    edits: [
      { file: 'src/send/throttle.ts', was: '  let width = 1;\n', is: '  let width = concurrency;\n' },
      { file: 'src/send/throttle.ts', was: 'pLimit(1)', is: 'pLimit(64)' },
    ],
    proof: { in: 'e2e/refusals.test.ts', only: '401 stops it' },
  }),
  mutant('no-slowing-down', {
    planted: 'a 429 does not make the run narrower',
    ...edit('src/send/throttle.ts', 'set(Math.floor(width / 2));', 'set(width);'),
    proof: { in: 'send/pace.test.ts', only: 'slowStart' },
  }),
  mutant('retries-without-bound', {
    planted: 'retries may be more than a tenth of the requests',
    ...edit('src/send/throttle.ts', 'single = retries > ', 'single = retries > 1000 + '),
    proof: { in: 'send/pace.test.ts', only: 'slowStart' },
  }),
  mutant('sent-after-not-after', {
    planted: 'a recipient whose first message was refused is sent the fallback after notAfter',
    edits: [
      { file: 'src/send/work.ts', was: '(now() >= lateAtMs ? EXPIRED : (window?', is: '(false ? EXPIRED : (window?' },
      { file: 'src/send/work.ts', was: 'untilMs: Math.min(lateAtMs, ', is: 'untilMs: Math.min(' },
    ],
    proof: { in: 'faults/fallbacks.test.ts', only: 'passes between the steps' },
  }),
  mutant('sent-after-its-window', {
    planted: 'the window is not checked any more once a recipient was decided about',
    edits: [
      edit('src/send/work.ts', '(window?.closed(recipient) ?? null)', '(window === null ? null : null)'),
      { file: 'src/send/group-commit.ts', was: 'nowMs >= untilMs', is: 'nowMs < 0' },
    ],
    proof: { in: 'send/window.test.ts', only: 'waited for their turn' },
  }),
  mutant('ids-swapped', {
    planted: 'each recipient gets the message id of the one before',
    edits: [
      { file: DELIVER, was: '    messageId: verdict.messageId,\n', is: '    messageId: swapped(verdict.messageId),\n' },
      {
        file: DELIVER,
        was: 'export function record(',
        is: `let held: string | null = null;
function swapped(id: string | null): string | null {
  const last = held;
  held = id;
  return last ?? id;
}

export function record(`,
      },
    ],
    proof: { in: 'processes/concurrency.test.ts', only: 'starts that overlap' },
  }),
  mutant('body-not-as-previewed', {
    planted: 'the body that is posted has one byte more than the one that preview shows',
    ...edit(DELIVER, POST, POST.replace('post(request,', "post({ ...request, body: request.body.concat('\\n') },")),
    proof: { in: 'e2e/campaigns.test.ts', only: 'one-time-password: what preview shows' },
  }),
  mutant('the-reference-of-the-first', {
    planted: 'a message to a corrected address has the reference of the first message',
    file: 'src/plan/expand.ts',
    was: 'referenceOf(decision.key, message.channel, decision.resend)',
    is: 'referenceOf(decision.key, message.channel)',
    proof: { in: 'send/changed-address.test.ts' },
  }),
  mutant('a-test-to-the-list', {
    planted: 'a test goes to the person whose row it shows, and not to the tester',
    ...edit('src/plan/testers.ts', 'return its === kind ? tester : (fitting(its)[0] ?? tester);', 'return value;'),
    proof: TEST_TO,
  }),
  mutant('a-test-that-counts', {
    planted: 'what a tester got counts for the caps and exclusions of other campaigns',
    ...edit('src/ledger/contact-history.ts', 'if (isTest(occurrence)) return [];', ''),
    proof: TEST_TO,
  }),
  mutant('a-test-under-a-real-name', {
    planted: 'a test is recorded as the occurrence of the campaign',
    file: 'src/operations/send-test.ts',
    was: 'occurrence: testOccurrence(at, part), nowMs: at }',
    is: "occurrence: at < 0 ? part : 'once', nowMs: at }",
    proof: TEST_TO,
  }),
  mutant('a-wish-that-stays', {
    planted: 'a second message that did not go out goes to whatever address the amended list has',
    file: 'src/ledger/lists.ts',
    was: '        connection.statement(WITHDRAW_SECOND)(oldList);\n',
    is: '        void WITHDRAW_SECOND;\n',
    proof: { in: 'send/changed-address.test.ts' },
  }),
  mutant('an-order-to-a-former-address', {
    planted: 'a second message goes out although the list has again an address that got the first',
    file: 'src/ledger/lists.ts',
    was: '  connection.statement(WITHDRAW_ORDER)(oldList, newList);\n',
    is: '  void WITHDRAW_ORDER;\n',
    proof: { in: 'send/changed-address.test.ts' },
  }),
  mutant('a-wait-that-forgets-the-first', {
    planted: 'after a 429 a second message goes out, whatever a report says about the first',
    file: 'src/ledger/schema.ts',
    was: "(NEW.state = 'pending' OR NEW.state = 'failed') AND OLD.attempts > 0",
    is: "(NEW.state = 'pending' OR NEW.state = 'failed') AND OLD.attempts < 0",
    proof: { in: 'ledger/evidence.test.ts' },
  }),
];

import type { Mutant } from './mutant.ts';

const DELIVER = 'src/run/deliver.ts';
const DESK = 'src/run/desk.ts';

const CLAIM = '      if (!(await claimed(decision, before + attempt - 1, shift))) return;\n';
const POST = '      facts = await shift.endpoint.post(request.body, request.reference);\n';
const READY = `    const unopened = await shift.endpoint.ready();
`;

/** How one start brings recipients to outcomes: FAILURES rules 1, 8 to 11. */
export const SENDING: readonly Mutant[] = [
  {
    name: 'claim-after-send',
    planted: 'the row is claimed when the answer is there',
    edits: [
      { file: DELIVER, was: CLAIM, is: '' },
      { file: DELIVER, was: POST, is: POST + CLAIM },
    ],
    proof: { in: 'kills/rows.test.ts', only: 'C11: before the first byte' },
  },
  {
    name: 'claim-beside-the-send',
    planted: 'the request goes out while its claim is being written',
    edits: [
      {
        file: DELIVER,
        was: CLAIM,
        is: CLAIM.replace('if (!(await claimed', 'const claim = (claimed').replace('))) return;', '));'),
      },
      { file: DELIVER, was: POST, is: `${POST}      if (!(await claim)) return;\n` },
    ],
    proof: { in: 'run/suppressed.test.ts' },
  },
  {
    name: 'claim-answered-before-the-commit',
    planted: 'the desk says "claimed" before the transaction is on the disk',
    edits: [
      {
        file: DESK,
        was: `        waiting.push({ resolve, reject });
        schedule();
`,
        is: `        waiting.push({ resolve: () => undefined, reject: () => undefined });
        schedule();
        resolve('claimed');
`,
      },
    ],
    proof: { in: 'kills/rows.test.ts', only: 'C11: before the first byte' },
  },
  {
    name: 'claim-without-a-connection',
    planted: 'rows are claimed before a connection stands',
    edits: [
      { file: DELIVER, was: CLAIM, is: '' },
      { file: DELIVER, was: READY, is: CLAIM + READY },
      { file: DELIVER, was: `unopened === null ? 'claimed' : 'pending', facts`, is: `'claimed', facts` },
    ],
    proof: { in: 'processes/interruption.test.ts', only: 'B9: for a connection' },
  },
  {
    name: 'failed-claim-sent',
    planted: 'a claim that could not be written is sent all the same',
    edits: [
      {
        file: DELIVER,
        was: '    // The desk has told the run: nothing more is claimed, and this row is as it was.\n',
        is: '    return true;\n',
      },
    ],
    proof: { in: 'disk/errors.test.ts' },
  },
  {
    name: 'suppressed-claim-sent',
    planted: 'whoever the claim finds suppressed is sent to all the same',
    edits: [
      {
        file: DELIVER,
        was: `if (answer === 'suppressed') shift.progress.settled('skipped');`,
        is: `if (answer === 'suppressed') return true;`,
      },
    ],
    proof: { in: 'run/suppressed.test.ts' },
  },
  {
    name: 'retry-keeps-its-claim',
    planted: 'a recipient that waits for another attempt stays claimed',
    edits: [
      {
        file: DELIVER,
        was: `  const state = again ? 'pending' : verdict.outcome;\n`,
        is: `  const state = again ? 'pending' : verdict.outcome;\n  if (again) return;\n`,
      },
    ],
    proof: { in: 'processes/interruption.test.ts', only: 'for a Retry-After' },
  },
  {
    name: 'one-attempt-too-many',
    planted: 'send.attempts counts retries and not attempts',
    edits: [{ file: DELIVER, was: 'attempt < shift.attempts &&', is: 'attempt <= shift.attempts &&' }],
    proof: { in: 'run/retry-after.test.ts', only: 'three attempts' },
  },
  {
    name: 'retry-after-ignored',
    planted: 'Retry-After is read and not waited for',
    edits: [
      {
        file: DELIVER,
        was: 'if (verdict.retryAfterMs !== null) shift.pace.hold(verdict.retryAfterMs + wait);',
        is: '',
      },
    ],
    proof: { in: 'run/retry-after.test.ts', only: 'F5' },
  },
  {
    name: 'retry-after-for-one',
    planted: 'Retry-After holds back the one recipient and not the run',
    edits: [
      {
        file: DELIVER,
        was: `    if (verdict.retryAfterMs !== null) shift.pace.hold(verdict.retryAfterMs + wait);\n`,
        is: `    if (verdict.retryAfterMs !== null) await shift.pace.pause(verdict.retryAfterMs);\n`,
      },
    ],
    proof: { in: 'run/retry-after.test.ts', only: 'F5' },
  },
  {
    name: 'wait-of-503-ignored',
    planted: 'Retry-After of a 503, which is not tried again, is not waited for',
    edits: [
      {
        file: DELIVER,
        was: '  if (verdict.retryAfterMs !== null) shift.pace.hold(verdict.retryAfterMs);\n',
        is: '',
      },
    ],
    proof: { in: 'run/retry-after.test.ts', only: 'G2' },
  },
  {
    name: 'outcome-waits-for-a-claim',
    planted: 'an outcome is written with the next claim only',
    edits: [
      {
        file: DESK,
        was: `        results.push(result);\n        schedule();\n`,
        is: `        results.push(result);\n`,
      },
    ],
    proof: { in: 'run/desk.test.ts' },
  },
  {
    name: 'no-canary',
    planted: 'the first requests of a start go out all at once',
    edits: [
      { file: 'src/run/ramp.ts', was: '  let width = 1;\n', is: '  let width = concurrency;\n' },
      { file: 'src/run/run.ts', was: 'pLimit(1)', is: 'pLimit(concurrency)' },
    ],
    proof: { in: 'e2e/refusals.test.ts', only: '401 stops it' },
  },
  {
    name: 'no-slowing-down',
    planted: 'a 429 does not make the run narrower',
    edits: [{ file: 'src/run/ramp.ts', was: 'set(Math.floor(width / 2));', is: 'set(width);' }],
    proof: { in: 'run/pace.test.ts', only: 'ramp' },
  },
  {
    name: 'retries-without-bound',
    planted: 'retries may be more than a tenth of the requests',
    edits: [{ file: 'src/run/ramp.ts', was: 'single = retries > ', is: 'single = retries > 1000 + ' }],
    proof: { in: 'run/pace.test.ts', only: 'ramp' },
  },
  {
    name: 'sent-after-not-after',
    planted: 'whoever waits for a turn is sent to after notAfter',
    edits: [{ file: DELIVER, was: 'if (shift.isLate()) return shift.expire(decision.row);', is: '' }],
    proof: { in: 'run/late.test.ts', only: 'waiting for their turn' },
  },
  {
    name: 'late-run-continued',
    planted: 'a run from long ago (a restored backup) is continued without a word',
    edits: [
      { file: 'src/run/prepare.ts', was: 'const LATE_MS = 24 * 3_600_000;', is: 'const LATE_MS = 24 * 3_600_000_000;' },
    ],
    proof: { in: 'run/late.test.ts', only: '24 hours' },
  },
  {
    name: 'ids-swapped',
    planted: 'each recipient gets the message id of the one before',
    edits: [
      { file: DELIVER, was: '    messageId: verdict.messageId,\n', is: '    messageId: swapped(verdict.messageId),\n' },
      {
        file: DELIVER,
        was: '/** True when the claim is on disk.',
        is: `let held: string | null = null;
function swapped(id: string | null): string | null {
  const last = held;
  held = id;
  return last ?? id;
}

/** True when the claim is on disk.`,
      },
    ],
    proof: { in: 'processes/concurrency.test.ts', only: 'starts that overlap' },
  },
  {
    name: 'body-not-as-previewed',
    planted: 'the body that is posted has one byte more than the one that preview shows',
    edits: [
      {
        file: DELIVER,
        was: 'shift.endpoint.post(request.body, request.reference)',
        is: `shift.endpoint.post(request.body + '\\n', request.reference)`,
      },
    ],
    proof: { in: 'e2e/campaigns.test.ts', only: 'one-time-password: what preview shows' },
  },
  {
    name: 'validity-of-each-start',
    planted: 'a validity counts from each start and not from the first',
    edits: [{ file: 'src/run/run.ts', was: 'plan.expander(run.startedAtMs ?? now())', is: 'plan.expander(now())' }],
    proof: { in: 'run/validity.test.ts' },
  },
  {
    name: 'reference-from-content',
    planted: 'the reference is made from the text as well as from the person',
    edits: [
      {
        file: 'src/plan/expand.ts',
        was: `    return (to, key, personal) => {
      const reference = referenceOf(key);
`,
        is: `    return (to, key, personal) => {
      const reference = referenceOf(\`\${key} \${personal.text}\`);
`,
      },
    ],
    proof: { in: 'processes/concurrency.test.ts', only: 'starts that overlap' },
  },
  {
    name: 'reference-without-occurrence',
    planted: 'two occurrences of a campaign use the same references',
    edits: [
      {
        file: 'src/plan/reference.ts',
        was: 'identity.campaign, identity.occurrence, channel',
        is: 'identity.campaign, channel',
      },
    ],
    proof: { in: 'plan/expand.test.ts', only: 'reference' },
  },
  {
    name: 'duplicates-sent',
    planted: 'two rows of one person are two recipients',
    edits: [
      {
        file: 'src/plan/decide.ts',
        was: 'if (view.isNew !== undefined && !view.isNew(key)) return',
        is: "if (view.isNew !== undefined && !view.isNew(key) && key === '') return",
      },
    ],
    proof: { in: 'run/duplicates.test.ts' },
  },
  {
    name: 'changed-input-sent',
    planted: 'a run is continued with whatever the files hold now',
    edits: [
      { file: 'src/run/prepare.ts', was: 'if (changes.length === 0) return', is: 'if (changes.length >= 0) return' },
    ],
    proof: { in: 'processes/inputs.test.ts', only: 'between two starts' },
  },
  {
    name: 'list-not-compared',
    planted: 'the list that is sent from may be another one than was checked',
    edits: [
      {
        file: 'src/run/run.ts',
        was: 'expected: options.list, ',
        is: '',
      },
    ],
    proof: { in: 'processes/inputs.test.ts', only: 'J2: the list is changed while it is being sent' },
  },
  {
    name: 'identity-not-compared',
    planted: 'with --amend even another key is taken, so that everybody looks new',
    edits: [
      {
        file: 'src/run/prepare.ts',
        was: 'if (existing.identityHash !== identityHash(plan.campaign)) throw refuse(identityChanged(plan));',
        is: '',
      },
    ],
    proof: { in: 'e2e/refusals.test.ts', only: 'is refused even with --amend' },
  },
];

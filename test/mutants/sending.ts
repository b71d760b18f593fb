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
    edits: [
      { file: DELIVER, was: 'if (shift.isLate()) return shift.expire(decision.row);', is: '' },
      { file: DELIVER, was: 'shift.isLate() || !shift', is: '!shift' },
    ],
    proof: { in: 'run/late.test.ts', only: 'waiting for their turn' },
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
];

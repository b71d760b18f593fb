import { edit, type Mutant, mutant } from './mutant.ts';

const SIGNALS = 'src/cli/shared/signals.ts';
const DOUBTS = 'src/ledger/doubts.ts';

const doubts = (only: string) => ({ in: 'ledger/doubts.test.ts', only });

/** How a start is ended from outside, and how doubts end: FAILURES section I, and late answers. */
export const ENDINGS: readonly Mutant[] = [
  mutant('signal-passed-over', {
    planted: 'a signal does not end the claiming',
    ...edit('src/send/work.ts', `  start.interrupt.addEventListener('abort', halt, { once: true });\n`, ''),
    proof: { in: 'processes/interruption.test.ts', only: 'SIGTERM: claims stop' },
  }),
  mutant('first-signal-aborts', {
    planted: 'the first signal already breaks off what is in flight',
    ...edit(SIGNALS, 'if (atOnce) second.abort();', 'second.abort();\n    if (atOnce) return;'),
    proof: { in: 'processes/interruption.test.ts', only: 'SIGTERM: claims stop' },
  }),
  mutant('second-signal-passed-over', {
    planted: 'the second signal changes nothing',
    ...edit(SIGNALS, 'const atOnce = status !== null || signal', 'const atOnce = signal'),
    proof: { in: 'processes/interruption.test.ts', only: 'SIGTERM twice: in flight' },
  }),
  mutant('closed-output-stops', {
    planted: 'a reader that has gone ends the run with an error',
    ...edit('src/cli/shared/writer.ts', `new Set(['EPIPE', 'EIO',`, `new Set(['EIO',`),
    proof: { in: 'processes/output.test.ts', only: 'a reader that is gone before', full: true },
  }),
  mutant('waits-by-the-calendar', {
    planted: 'waits are measured with the clock that can be set',
    edits: [
      { file: 'src/send/timers.ts', was: 'monotonicMs: () => performance.now()', is: 'monotonicMs: () => Date.now()' },
      { file: 'src/send/timers.ts', was: "import { performance } from 'node:perf_hooks';\n", is: '' },
    ],
    proof: { in: 'processes/clock.test.ts', only: 'during a Retry-After' },
  }),
  mutant('claim-by-who-knows-less', {
    planted: 'a process that lost its lock claims a row whose attempts another has counted on',
    ...edit('src/ledger/commits.ts', 'AND attempts = coalesce(?6, attempts)', 'AND attempts >= coalesce(?6, attempts)'),
    proof: doubts('J4'),
  }),
  mutant('late-answer-of-another-attempt', {
    planted: 'a late answer is taken for that of the attempt that was made since',
    ...edit(DOUBTS, 'AND row = ?5 AND attempts = ?6\n', 'AND row = ?5 AND attempts >= ?6\n'),
    proof: doubts('says nothing about a doubt of a later attempt|is not taken for the answer'),
  }),
  mutant('some-resolved', {
    planted: 'where some cannot be resolved the others are',
    ...edit(DOUBTS, 'if (missed.length > 0) throw UNDONE;', 'if (missed.length > 1000) throw UNDONE;'),
    proof: doubts('for all who are named or for none'),
  }),
];

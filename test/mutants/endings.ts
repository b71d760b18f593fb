import type { Mutant } from './mutant.ts';

const SIGNALS = 'src/cli/shared/signals.ts';
const DOUBTS = 'src/ledger/doubts.ts';

const doubts = (only: string) => ({ in: 'ledger/doubts.test.ts', only });

/** How a start is ended from outside, and how doubts end: FAILURES section I, and late answers. */
export const ENDINGS: readonly Mutant[] = [
  {
    name: 'signal-passed-over',
    planted: 'a signal does not end the claiming',
    file: 'src/send/work.ts',
    was: `  start.interrupt.addEventListener('abort', halt, { once: true });\n`,
    is: '',
    proof: { in: 'processes/interruption.test.ts', only: 'SIGTERM: claims stop' },
  },
  {
    name: 'first-signal-aborts',
    planted: 'the first signal already breaks off what is in flight',
    file: SIGNALS,
    was: 'if (atOnce) second.abort();',
    is: 'second.abort();\n    if (atOnce) return;',
    proof: { in: 'processes/interruption.test.ts', only: 'SIGTERM: claims stop' },
  },
  {
    name: 'second-signal-passed-over',
    planted: 'the second signal changes nothing',
    file: SIGNALS,
    was: 'const atOnce = status !== null || signal',
    is: 'const atOnce = signal',
    proof: { in: 'processes/interruption.test.ts', only: 'SIGTERM twice: in flight' },
  },
  {
    name: 'closed-output-stops',
    planted: 'a reader that has gone ends the run with an error',
    file: 'src/cli/shared/writer.ts',
    was: `new Set(['EPIPE', 'EIO',`,
    is: `new Set(['EIO',`,
    proof: { in: 'processes/output.test.ts', only: 'a reader that is gone before', full: true },
  },
  {
    name: 'waits-by-the-calendar',
    planted: 'waits are measured with the clock that can be set',
    edits: [
      { file: 'src/send/timers.ts', was: 'monotonicMs: () => performance.now()', is: 'monotonicMs: () => Date.now()' },
      { file: 'src/send/timers.ts', was: "import { performance } from 'node:perf_hooks';\n", is: '' },
    ],
    proof: { in: 'processes/clock.test.ts', only: 'during a Retry-After' },
  },
  {
    name: 'claim-by-who-knows-less',
    planted: 'a process that lost its lock claims a row whose attempts another has counted on',
    file: 'src/ledger/commits.ts',
    was: 'AND attempts = coalesce(?6, attempts)',
    is: 'AND attempts >= coalesce(?6, attempts)',
    proof: doubts('J4'),
  },
  {
    name: 'late-answer-of-another-attempt',
    planted: 'a late answer is taken for that of the attempt that was made since',
    file: DOUBTS,
    was: 'AND row = ?5 AND attempts = ?6\n',
    is: 'AND row = ?5 AND attempts >= ?6\n',
    proof: doubts('says nothing about a doubt of a later attempt|is not taken for the answer'),
  },
  {
    name: 'some-resolved',
    planted: 'where some cannot be resolved the others are',
    file: DOUBTS,
    was: 'if (missed.length > 0) throw UNDONE;',
    is: 'if (missed.length > 1000) throw UNDONE;',
    proof: doubts('for all who are named or for none'),
  },
];

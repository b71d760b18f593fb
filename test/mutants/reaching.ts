import type { Mutant } from './mutant.ts';

const COMMITS = 'src/ledger/commits.ts';
const REACH = 'src/ledger/contact-history.ts';
const ROWS = 'src/ledger/contact-history.ts';

const TWO_AT_ONCE = { in: 'run/frequency-processes.test.ts' };

/** What lets somebody through whom `exclude` or `frequency` keeps out. */
export const REACHING: readonly Mutant[] = [
  {
    name: 'capped-at-plan-time',
    planted: 'whom other campaigns reached is looked up when the list is read, and not in the claim',
    edits: [
      {
        file: COMMITS,
        was: 'const reached = reach === null ? null : reachedBy(reach, request);',
        is: 'const reached = reach !== null ? null : reachedBy(reach as never, request);',
      },
    ],
    proof: TWO_AT_ONCE,
  },
  {
    name: 'reach-never-refreshed',
    planted: 'a claim asks for what was read when the command began, whatever other processes did since',
    edits: [{ file: REACH, was: 'if (now === seenVersion) return;', is: 'if (now !== null) return;' }],
    proof: TWO_AT_ONCE,
  },
  {
    name: 'live-runs-as-they-were',
    planted: 'a run that another process is at is looked at once, and not for each claim',
    edits: [
      {
        file: REACH,
        was: 'known.starts !== run.starts) add(run, true);',
        is: 'known.starts !== run.starts) add(run, false);',
      },
    ],
    proof: { in: 'ledger/reach.test.ts' },
  },
  {
    name: 'reached-by-key-alone',
    planted: 'a person who has another key in another campaign is somebody else',
    edits: [{ file: REACH, was: 'if (to !== key) index.find(to, found);', is: '' }],
    proof: { in: 'ledger/reach.test.ts' },
  },
  {
    name: 'reached-by-a-hash',
    planted: 'whoever the index takes for somebody who was reached is left out, without a look at who that was',
    edits: [{ file: ROWS, was: 'let isThem = false;', is: 'let isThem = true;' }],
    proof: { in: 'ledger/reach.test.ts' },
  },
  {
    name: 'purged-in-mid-run',
    planted: 'a run whose personal data goes while another one asks for it lets everybody through',
    edits: [{ file: ROWS, was: 'isThem ||= itsKey === null || itsKey === key', is: 'isThem ||= itsKey === key' }],
    proof: { in: 'ledger/reach.test.ts' },
  },
];

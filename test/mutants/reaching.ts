import type { Mutant } from './mutant.ts';

const COMMITS = 'src/ledger/commits.ts';
const REACH = 'src/ledger/contact-history.ts';
const ROWS = 'src/ledger/contact-history.ts';

const TWO_AT_ONCE = { in: 'send/frequency-processes.test.ts' };

/** What lets a recipient through that `exclude` or `frequency` keeps out. */
export const REACHING: readonly Mutant[] = [
  {
    name: 'capped-at-plan-time',
    planted: 'the recipients of other campaigns are looked up when the list is read, and not in the claim',
    file: COMMITS,
    was: 'const reached = reachedBy(reach, rules, request, now);',
    is: 'const reached = reachedBy(null, rules, request, now);',
    proof: TWO_AT_ONCE,
  },
  {
    name: 'reach-never-refreshed',
    planted: 'a claim asks for what was read when the command began, whatever other processes did since',
    file: REACH,
    was: 'if (now === seenVersion) return;',
    is: 'if (now !== null) return;',
    proof: TWO_AT_ONCE,
  },
  {
    name: 'live-runs-as-they-were',
    planted: 'a run that another process is at is looked at once, and not for each claim',
    file: REACH,
    was: 'known.starts !== run.starts) add(run, true);',
    is: 'known.starts !== run.starts) add(run, false);',
    proof: { in: 'ledger/reach.test.ts' },
  },
  {
    name: 'reached-by-key-alone',
    planted: 'a person who has another key in another campaign is another recipient',
    file: REACH,
    was: 'if (to !== key) index.find(listedForm(to), found);',
    is: '',
    proof: { in: 'ledger/reach.test.ts' },
  },
  {
    name: 'reached-by-a-hash',
    planted: 'a recipient whose hash the index knows is left out, without a comparison of the address',
    file: ROWS,
    was: 'let isThem = false;',
    is: 'let isThem = true;',
    proof: { in: 'ledger/reach.test.ts' },
  },
  {
    name: 'purged-in-mid-run',
    planted: 'a run whose personal data is purged while another one asks for it lets all recipients through',
    file: ROWS,
    was: 'itsKey === null ||',
    is: 'false ||',
    proof: { in: 'ledger/reach.test.ts' },
  },
];

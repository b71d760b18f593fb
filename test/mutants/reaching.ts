import { edit, type Mutant, mutant } from './mutant.ts';

const COMMITS = 'src/ledger/commits.ts';
const REACH = 'src/ledger/contact-history.ts';
const ROWS = 'src/ledger/contact-history.ts';

const TWO_AT_ONCE = { in: 'send/frequency-processes.test.ts' };

/** What lets a recipient through that `exclude` or `frequency` keeps out. */
export const REACHING: readonly Mutant[] = [
  mutant('capped-at-plan-time', {
    planted: 'the recipients of other campaigns are looked up when the list is read, and not in the claim',
    file: COMMITS,
    was: 'const reached = reachedBy(reach, rules, request, now);',
    is: 'const reached = reachedBy(null, rules, request, now);',
    proof: TWO_AT_ONCE,
  }),
  mutant('reach-never-refreshed', {
    planted: 'a claim asks for what was read when the command began, whatever other processes did since',
    ...edit(REACH, 'if (now === seenVersion) return;', 'if (now !== null) return;'),
    proof: TWO_AT_ONCE,
  }),
  mutant('live-runs-as-they-were', {
    planted: 'a run that another process is at is looked at once, and not for each claim',
    ...edit(REACH, 'known.starts !== run.starts) add(run, true);', 'known.starts !== run.starts) add(run, false);'),
    proof: { in: 'ledger/reach.test.ts' },
  }),
  mutant('reached-by-key-alone', {
    planted: 'a person who has another key in another campaign is another recipient',
    ...edit(REACH, 'if (to !== key) index.find(listedForm(to), found);', ''),
    proof: { in: 'ledger/reach.test.ts' },
  }),
  mutant('reached-by-a-hash', {
    planted: 'a recipient whose hash the index knows is left out, without a comparison of the address',
    ...edit(ROWS, 'let isThem = false;', 'let isThem = true;'),
    proof: { in: 'ledger/reach.test.ts' },
  }),
  mutant('purged-in-mid-run', {
    planted: 'a run whose personal data is purged while another one asks for it lets all recipients through',
    ...edit(ROWS, 'itsKey === null ||', 'false ||'),
    proof: { in: 'ledger/reach.test.ts' },
  }),
];

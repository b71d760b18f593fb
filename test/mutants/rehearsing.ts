import type { Mutant } from './mutant.ts';

const proof = { in: 'rehearse/oracle.test.ts' } as const;

/** A rehearsal is not what `due` then does. */
export const REHEARSING: readonly Mutant[] = [
  {
    name: 'rehearses-follow-ups-at-once',
    planted: 'a follow-up is looked for when the message before it goes out, and not once its wait is over',
    file: 'src/operations/rehearse.ts',
    was: 'wake(follower, Date.parse(report.startedAt) + after.wait.ms);',
    is: 'wake(follower, Date.parse(report.startedAt) + 0 * after.wait.ms);',
    proof,
  },
  {
    name: 'virtual-time-runs-ahead',
    planted: 'of all that is to happen, the latest happens first',
    file: 'src/send/virtual-time.ts',
    was: 'if ((agenda[middle]?.atMs ?? 0) > event.atMs) low = middle + 1;',
    is: 'if ((agenda[middle]?.atMs ?? 0) < event.atMs) low = middle + 1;',
    proof,
  },
];

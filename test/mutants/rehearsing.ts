import type { Mutant } from './mutant.ts';

const proof = { in: 'rehearse/oracle.test.ts' } as const;

/** A rehearsal is not what `due` then does. */
export const REHEARSING: readonly Mutant[] = [
  {
    name: 'rehearses-follow-ups-at-once',
    planted: 'a follow-up is looked for when the message before it goes out, and not once its wait is over',
    file: 'src/operations/rehearse.ts',
    was: 'wake(follower, time.nowMs + after.wait.ms);',
    is: 'wake(follower, time.nowMs + 0 * after.wait.ms);',
    proof,
  },
  {
    name: 'virtual-time-does-not-wait',
    planted: 'what is asked for at a later instant happens at once',
    file: 'src/send/virtual-time.ts',
    was: 'at: (ms, work) => void add(ms, work),',
    is: 'at: (ms, work) => void add(Math.min(ms, nowMs), work),',
    proof,
  },
  {
    name: 'rehearsed-days-without-fallen-messages',
    planted: 'the days of a rehearsal leave out messages that were accepted before a report let them fall back',
    file: 'src/ledger/sent.ts',
    was: "(recipients.state = 'accepted' OR by_report = 1) AND claimed_at",
    is: "recipients.state = 'accepted' AND claimed_at",
    proof: { in: 'rehearse/assume.test.ts', only: 'the days add up' },
  },
];

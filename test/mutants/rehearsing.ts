import { edit, type Mutant, mutant } from './mutant.ts';

const proof = { in: 'rehearse/oracle.test.ts' } as const;

/** A rehearsal is not what `due` then does. */
export const REHEARSING: readonly Mutant[] = [
  mutant('rehearses-follow-ups-at-once', {
    planted: 'a follow-up is looked for when the message before it goes out, and not once its wait is over',
    file: 'src/operations/rehearse.ts',
    was: 'wake(follower, startedMs + after.wait.ms);',
    is: 'wake(follower, startedMs + 0 * after.wait.ms);',
    proof,
  }),
  mutant('rehearsed-call-without-followers', {
    planted: 'a call that has sent a campaign for hours does not come to what follows it',
    file: 'src/operations/rehearse.ts',
    was: 'if (after !== null && called.has(after.id)) called.add(id);',
    is: 'if (after !== null && called.has(after.id) && called.has(id)) called.add(id);',
    proof: { in: 'rehearse/rehearse.test.ts', only: 'a call begins what follows' },
  }),
  mutant('virtual-time-does-not-wait', {
    planted: 'what is asked for at a later instant happens at once',
    file: 'src/send/virtual-time.ts',
    was: 'at: (ms: number, work: () => void) => void add(ms, work),',
    is: 'at: (ms: number, work: () => void) => void add(Math.min(ms, nowMs), work),',
    proof,
  }),
  mutant('rehearsed-days-without-fallen-messages', {
    planted: 'the days of a rehearsal leave out messages that were accepted before a report let them fall back',
    file: 'src/ledger/sent.ts',
    was: "(recipients.state = 'accepted' OR by_report = 1) AND claimed_at",
    is: "recipients.state = 'accepted' AND claimed_at",
    proof: { in: 'rehearse/assume.test.ts', only: 'the days add up' },
  }),
  mutant('diff-plays-one-side-twice', {
    planted: 'the days before a change are played with the files after it',
    ...edit('src/operations/diff-days.ts', 'const was = await play(0, before);', 'const was = await play(0, after);'),
    proof: { in: 'diff/days.test.ts', only: 'say first how many messages more' },
  }),
  mutant('diff-of-days-sends-what-was-due-before', {
    planted: 'in a comparison, the times of files say since when a schedule is known',
    ...edit('src/operations/due.ts', '...(isChange ? [] : [Math.max(...changed)])', '...[Math.max(...changed)]'),
    proof: { in: 'diff/days.test.ts', only: 'begin neither side for an instant before now' },
  }),
  mutant('diff-of-days-without-ages', {
    planted: 'the list of a checkout is as old as the checkout',
    file: 'src/operations/diff-days.ts',
    was: 'if (own !== null && path !== null) await utimes(path, own.atime, own.mtime)',
    is: 'if (own !== null && path !== null) await stat(path)',
    proof: { in: 'diff/days.test.ts', only: 'are as old on both sides as in the work tree' },
  }),
];

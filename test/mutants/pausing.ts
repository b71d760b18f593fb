import { edit, type Mutant, mutant } from './mutant.ts';

/** A person has stopped everything, and something goes on. */
export const PAUSING: readonly Mutant[] = [
  mutant('claims-while-paused', {
    planted: 'a claim does not ask for pauses',
    ...edit('src/ledger/commits.ts', 'if (pauseOf(run) !== null)', 'if (pauseOf(run) === undefined)'),
    proof: { in: 'ledger/pauses.test.ts', only: 'nothing is claimed' },
  }),
  mutant('claims-of-a-paused-campaign', {
    planted: 'a pause of one campaign is not asked for',
    file: 'src/ledger/pauses.ts',
    was: '(one.id === null || one.id === campaign)',
    is: 'one.id === null',
    proof: { in: 'ledger/pauses.test.ts', only: 'the campaign: nothing is claimed' },
  }),
  mutant('claims-while-paused-on-postgres', {
    planted: 'on a shared ledger the claims of a group commit do not ask for pauses',
    file: 'src/ledger/postgres/schema.ts',
    was: 'WHERE p.resumed_at IS NULL AND p.environment = sending.environment',
    is: 'WHERE p.resumed_at IS NULL AND p.environment IS NULL',
    proof: { in: 'ledger/on-postgres-runs.test.ts', only: 'the environment: nothing is claimed' },
  }),
  mutant('begins-while-paused', {
    planted: 'a start loads its run before it finds out that it is paused',
    file: 'src/operations/send-once.ts',
    was: '  refuseWhilePaused(ledger, plan);',
    is: '  if (options.wait === true) refuseWhilePaused(ledger, plan);',
    proof: { in: 'cli/pause.test.ts', only: 'leaves no trace' },
  }),
  mutant('waits-through-a-pause', {
    planted: 'a start that waits does not look for pauses',
    ...edit('src/send/pause.ts', '&& !isClaiming()) look();', '&& isClaiming()) look();'),
    proof: { in: 'cli/pause.test.ts', only: 'for Retry-After' },
  }),
];

import { edit, type Mutant, mutant } from './mutant.ts';

const BUDGETS = 'src/ledger/budgets.ts';
const inLedger = (only: string) => ({ in: 'ledger/budgets.test.ts', only });

/** Campaigns spend more together than their environment may. */
export const OVERSPENDING: readonly Mutant[] = [
  mutant('claims-above-the-budget', {
    planted: 'a claim does not ask whether the budget has room',
    file: 'src/ledger/commits.ts',
    was: "if (spending?.fits(request) === false) return 'over-budget';",
    is: "if (spending?.fits(request) === null) return 'over-budget';",
    proof: inLedger('adds its cost'),
  }),
  mutant('claims-of-one-commit-share-their-room', {
    planted: 'the claims of one transaction do not count against each other',
    file: BUDGETS,
    was: 'return maxMicros - before - (changes.get(nameOf(here))?.spentMicros ?? 0);',
    is: 'return maxMicros - before;',
    proof: inLedger('adds its cost'),
  }),
  mutant('doubt-gives-back', {
    planted: 'a doubt gives its cost back, although the API may charge it',
    edits: [
      { file: BUDGETS, was: "['pending', 'rejected', 'failed']", is: "['pending', 'rejected', 'failed', 'in-doubt']" },
    ],
    proof: inLedger('in doubt: the message costs'),
  }),
  mutant('retry-counts-twice', {
    planted: 'an attempt that is to be repeated gives nothing back',
    ...edit(BUDGETS, "['pending', 'rejected', 'failed']", "['rejected', 'failed']"),
    proof: inLedger('every attempt counts once'),
  }),
  mutant('gives-back-to-this-period', {
    planted: 'a cost is given back to the period of the result, and not to that of the claim',
    ...edit(BUDGETS, 'change(added, -added.spentMicros);', 'change(here, -added.spentMicros);'),
    proof: inLedger('gives back to the period of its claim'),
  }),
  mutant('claims-above-the-budget-on-postgres', {
    planted: 'on a shared ledger the claims of a group commit do not ask whether the budget has room',
    file: 'src/ledger/commits.ts',
    was: 'if (free.length > 0 && spending?.fitsAll(free) === false) return null;',
    is: 'if (free.length > 0 && spending?.fitsAll(free) === null) return null;',
    proof: { in: 'ledger/on-postgres-runs.test.ts', only: 'adds its cost' },
  }),
  mutant('spends-nothing-on-postgres', {
    planted: 'on a shared ledger the claims of a group commit are not counted',
    file: 'src/ledger/commits.ts',
    was: 'if (claimed?.has(claim.row) !== false) spending.claimed(run.list, claim);',
    is: 'if (claimed?.has(claim.row) === true) spending.claimed(run.list, claim);',
    proof: { in: 'ledger/on-postgres-runs.test.ts', only: 'never spend more together' },
  }),
  mutant('sends-above-what-is-left', {
    planted: 'a plan is compared with the whole budget, and not with what is left',
    file: 'src/plan/budget.ts',
    was: 'return Math.max(0, maxMicros - (spentMicros ?? 0));',
    is: 'return Math.max(0, maxMicros - 0 * (spentMicros ?? 0));',
    proof: { in: 'plan/budget.test.ts', only: 'that fits is not refused' },
  }),
  mutant('later-periods-share-what-is-left', {
    planted: 'a later period has what is left of this one, and not the whole budget',
    file: 'src/plan/budget.ts',
    was: 'period: later.name, spentMicros: 0, costMicros: 0 };',
    is: 'period: later.name, costMicros: 0 };',
    proof: { in: 'plan/budget.test.ts', only: 'each later one the whole' },
  }),
  mutant('later-periods-have-no-limit', {
    planted: 'the costs of rows with a time are compared in this period alone',
    ...edit('src/plan/budget.ts', 'return periods.flatMap((one) =>', 'return periods.slice(0, 1).flatMap((one) =>'),
    proof: { in: 'plan/budget.test.ts', only: 'too many in a later period' },
  }),
];

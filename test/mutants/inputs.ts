import type { Mutant } from './mutant.ts';

/** Who is sent what, and whether it is still the same: rows H5, J1 and J2 of the table of failures. */
export const INPUTS: readonly Mutant[] = [
  {
    name: 'late-run-continued',
    planted: 'a run from long ago (a restored backup) is continued without a word',
    edits: [
      { file: 'src/run/prepare.ts', was: 'const LATE_MS = 24 * 3_600_000;', is: 'const LATE_MS = 24 * 3_600_000_000;' },
    ],
    proof: { in: 'run/late.test.ts', only: '24 hours' },
  },
  {
    name: 'validity-of-each-start',
    planted: 'a validity counts from each start and not from the first',
    edits: [
      { file: 'src/run/work.ts', was: 'const startMs = run.startedAtMs ?? now();', is: 'const startMs = now();' },
    ],
    proof: { in: 'run/validity.test.ts' },
  },
  {
    name: 'reference-from-content',
    planted: 'the reference is made from the text as well as from the person',
    edits: [
      {
        file: 'src/plan/expand.ts',
        was: 'const reference = referenceOf(decision.key, message.channel, decision.resend);',
        is: `const reference = referenceOf(\`\${decision.key} \${message.text}\`, message.channel);`,
      },
    ],
    proof: { in: 'processes/concurrency.test.ts', only: 'starts that overlap' },
  },
  {
    name: 'reference-without-occurrence',
    planted: 'two occurrences of a campaign use the same references',
    edits: [
      {
        file: 'src/plan/reference.ts',
        was: 'campaign, occurrence, channel, ...(resend',
        is: 'campaign, channel, ...(resend',
      },
    ],
    proof: { in: 'plan/expand.test.ts', only: 'reference' },
  },
  {
    name: 'duplicates-sent',
    planted: 'two rows of one person are two recipients',
    edits: [
      {
        file: 'src/plan/decide.ts',
        was: 'if (left !== null) return left;',
        is: "if (left !== null && key === '') return left;",
      },
    ],
    proof: { in: 'run/duplicates.test.ts' },
  },
  {
    name: 'changed-input-sent',
    planted: 'a run is continued with whatever the files hold now',
    edits: [
      { file: 'src/run/prepare.ts', was: 'if (changes.length === 0) return', is: 'if (changes.length >= 0) return' },
    ],
    proof: { in: 'processes/inputs.test.ts', only: 'between two starts' },
  },
  {
    name: 'list-not-compared',
    planted: 'the list that is sent from may be another one than was checked',
    edits: [
      {
        file: 'src/run/producer.ts',
        was: 'expected: options.list,',
        is: '',
      },
    ],
    proof: { in: 'processes/inputs.test.ts', only: 'J2: the list is changed while it is being sent' },
  },
  {
    name: 'identity-not-compared',
    planted: 'with --amend even another key is taken, so that everybody looks new',
    edits: [
      {
        file: 'src/run/prepare.ts',
        was: 'if (existing.identityHash !== identityHash(plan.campaign)) throw refuse(identityChanged(plan));',
        is: '',
      },
    ],
    proof: { in: 'e2e/refusals.test.ts', only: 'is refused even with --amend' },
  },
];

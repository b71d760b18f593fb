import type { Edit, Mutant } from './mutant.ts';

const REACH_ROWS = 'src/ledger/contact-history.ts';
const FEED = 'src/run/producer.ts';
const WINDOW = 'src/plan/window.ts';

/** Several campaigns in simulated histories, against rules that are worked out the slow way. */
const SEVERAL = { in: 'simulate/several/several.test.ts', only: 'no rule is broken' };

const LISTS_AGAIN = { in: 'run/lists-again.test.ts' };

/** Says otherwise who was reached by a run that has ended, and by one that goes on. */
const reachedIf = (is: string): readonly Edit[] =>
  ['row > ?3 AND (', 'SELECT ('].map((before) => ({
    file: REACH_ROWS,
    was: `${before}state = 'accepted' OR state = 'in-doubt' OR`,
    is: `${before}${is}`,
  }));

/** Who, when and how much: rules that are asked at the wrong time, of the wrong people, or not at all. */
export const RULES: readonly Mutant[] = [
  {
    name: 'capped-for-a-while',
    planted: 'whoever had enough is put off, and tried again by the next start',
    edits: [
      {
        file: FEED,
        was: "if (decision.decision === 'skip') return skip(pending, decision.reason, aside, context);",
        is: `if (decision.decision === 'skip' && decision.reason === 'frequency-cap') {
    aside.deferred.push({ row, leg, reason: decision.reason });
    return null;
  }
  if (decision.decision === 'skip') return skip(pending, decision.reason, aside, context);`,
      },
    ],
    proof: SEVERAL,
  },
  {
    name: 'excluded-without-a-message',
    planted: 'whoever was left out of another campaign counts as reached by it',
    edits: reachedIf("state = 'skipped' OR state = 'accepted' OR state = 'in-doubt' OR"),
    proof: SEVERAL,
  },
  {
    name: 'reached-without-doubts',
    planted: 'whoever is in doubt in another campaign is sent to as if nothing had been sent',
    edits: reachedIf("state = 'accepted' OR"),
    proof: SEVERAL,
  },
  {
    name: 'lists-as-they-were',
    planted: 'suppression lists are what they were when the command began, however long it waited since',
    edits: [{ file: 'src/run/producer.ts', was: 'current = await readAll();', is: 'await readAll();' }],
    proof: LISTS_AGAIN,
  },
  {
    name: 'claims-by-the-first-lists',
    planted: 'lists are read again behind a pause, but claims ask the ones that were read first',
    edits: [
      {
        file: 'src/run/work.ts',
        was: 'const { rules } = lists.current;',
        is: 'const { rules } = options.suppressions;',
      },
    ],
    proof: LISTS_AGAIN,
  },
  {
    name: 'one-zone-of-several',
    planted: 'of the zones that a number may be in, the first one decides',
    edits: [
      {
        file: WINDOW,
        was: '(zone === null ? zones : [zone]).map',
        is: '(zone === null ? zones.slice(0, 1) : [zone]).map',
      },
    ],
    proof: SEVERAL,
  },
  {
    name: 'day-of-the-latest-zone',
    planted: 'of the zones that a number may be in, the one whose day began last decides about the cap',
    edits: [{ file: 'src/plan/contact-history.ts', was: 'if (beginMs < sinceMs)', is: 'if (beginMs > sinceMs)' }],
    proof: { in: 'run/frequency.test.ts' },
  },
  {
    name: 'gate-without-judgement',
    planted: 'the gate of a canary is passed whatever became of the step',
    edits: [
      {
        file: 'src/run/canary.ts',
        was: 'const shut = steps.judge();',
        is: 'const shut = steps.judge() === null ? null : (null as string | null);',
      },
    ],
    proof: SEVERAL,
  },
  {
    name: 'canary-from-zero',
    planted: 'each start of a canary begins with its first step',
    edits: [{ file: 'src/run/canary.ts', was: 'let put = triedBefore;', is: 'let put = 0;' }],
    proof: SEVERAL,
  },
  {
    name: 'limit-without-those-who-wait',
    planted: 'whoever waits for a window does not count towards limits.maxRecipients',
    edits: [
      {
        file: 'src/plan/limits.ts',
        was: 'reduce((sum, count) => sum + count, estimate.send);',
        is: 'reduce((sum) => sum, estimate.send);',
      },
    ],
    proof: SEVERAL,
  },
  {
    name: 'purged-run-continued',
    planted: 'a run whose recipients are not known any more is continued',
    edits: [{ file: 'src/run/prepare.ts', was: '  refusePurged(existing);\n', is: '' }],
    proof: { in: 'commands/purge.test.ts' },
  },
  {
    name: 'repeated-hour-fires-twice',
    planted: 'a schedule fires at both 01:30 of the night on which the clock goes back',
    edits: [
      {
        file: 'src/util/cron.ts',
        was: 'const isRepeat = everyHour ?',
        is: 'const isRepeat = everyHour || fields.length > 0 ?',
      },
    ],
    proof: { in: 'schedule/cron.test.ts' },
  },
  {
    name: 'planner-approves',
    planted: 'whoever planned is enough to approve it',
    edits: [
      {
        file: 'src/approval/judge.ts',
        was: 'counted.length > rule.approvals;',
        is: 'counted.length >= rule.approvals;',
      },
    ],
    proof: { in: 'approval/judge.test.ts', only: 'an attack' },
  },
];

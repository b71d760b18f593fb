import { edit, type Mutant, mutant } from './mutant.ts';

/** Approvals of a campaign for every occurrence until a day. */
export const STANDING: readonly Mutant[] = [
  mutant('standing-without-end', {
    planted: 'a standing approval counts after its last day',
    ...edit('src/plan/standing-inputs.ts', 'if (nowMs >= lastMs + DAY_MS) {', 'if (nowMs >= lastMs + 9 * DAY_MS) {'),
    proof: { in: 'approval/standing.test.ts', only: 'ends with its last day' },
  }),
  mutant('standing-longer-than-allowed', {
    planted: 'a standing approval that was signed lasts as long as it says, whatever the project allows by now',
    file: 'src/plan/standing-inputs.ts',
    was: 'Date.parse(plannedAt)) <= rule.longestMs)',
    is: 'Date.parse(plannedAt)) <= 366 * DAY_MS)',
    proof: { in: 'approval/standing.test.ts', only: 'shortens or takes back' },
  }),
  mutant('standing-dated-ahead', {
    planted: 'a standing approval lasts longer if its plan claims to be made later',
    ...edit('src/plan/standing-inputs.ts', 'Math.min(nowMs, Date.parse(plannedAt))', 'Date.parse(plannedAt)'),
    proof: { in: 'approval/standing.test.ts', only: 'made later' },
  }),
  mutant('standing-of-another-text', {
    planted: 'a standing approval that is found counts for templates that changed since',
    file: 'src/send/standing.ts',
    was: "changedInputs(plan.inputs, sealed, 'it was approved')",
    is: "changedInputs(sealed, sealed, 'it was approved')",
    proof: { in: 'approval/standing.test.ts', only: 'a change of a template' },
  }),
  mutant('standing-without-guards', {
    planted: 'the limits that a project sets for its campaigns are not sealed',
    file: 'src/plan/standing-inputs.ts',
    was: 'return [...kept, boundsInput(campaign, environment), suppressionsInput(campaign)];',
    is: 'return [...kept, suppressionsInput(campaign), ...(kept.length > 0 ? [] : [boundsInput(campaign, environment)])];',
    proof: { in: 'approval/standing.test.ts', only: 'a default of its guards' },
  }),
  mutant('standing-takes-any-list', {
    planted: 'a guard of the list is passed over under a standing approval',
    ...edit('src/send/standing.ts', 'if (given.length === 0) return;', 'if (given.length < 2) return;'),
    proof: { in: 'approval/standing.test.ts', only: 'does not cover --allow list-too-old,too-late' },
  }),
  mutant('standing-in-the-first-format', {
    planted: 'a plan of one occurrence may say that it is for every one',
    ...edit('src/plan/plan-file-shape.json', '        "standing": false,\n', '        "standing": true,\n'),
    proof: { in: 'approval/standing.test.ts', only: 'with a last day is none' },
  }),
];

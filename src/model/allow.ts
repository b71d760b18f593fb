import type { Code } from '../errors.ts';

/** Each code that `--allow CODE` takes, with what handbill does then. No other code can be allowed. */
export const ALLOWABLE = {
  'input-changed':
    '--allow input-changed continues the run with what changed: final outcomes stay, all other recipients get the new content.',
  'too-late': '--allow too-late sends what is left, however old it is.',
  'reports-stale': '--allow reports-stale begins without the reports and replies that were not fetched.',
  'list-too-old': '--allow list-too-old sends to this list once, however old it is.',
  'list-too-short': '--allow list-too-short sends to this list once, however short it is.',
  'list-size-changed': '--allow list-size-changed sends to this list once, whatever its size.',
  'would-expire': '--allow would-expire sends to as many as there is time for: the others expire.',
  'invalid-rows': '--allow invalid-rows skips these rows and sends to the others.',
  'sent-elsewhere':
    'send --allow sent-elsewhere sends this occurrence from this environment as well: recipients who have it get it again.',
  'other-provider':
    'send --allow other-provider goes on with this run from this environment; later starts from it are not asked about.',
  'ledger-missing': 'send --allow ledger-missing begins an empty ledger, which knows no recipient of earlier runs.',
  'second-ledger': 'send --allow second-ledger sends with this ledger, which knows no recipient of the other one.',
  'ledger-taken-over':
    'send --allow ledger-taken-over trusts this server: recipients whose message it does not know are sent to again.',
} as const satisfies Partial<Record<Code, string>>;

export type Allowable = keyof typeof ALLOWABLE;

export const ALLOWABLE_CODES = Object.keys(ALLOWABLE) as readonly Allowable[];
/** Refusals for the size and age of a list. */
export const LIST_CODES: readonly Allowable[] = ['list-too-old', 'list-too-short', 'list-size-changed'];
/** Refusals for the ledger, which differs from machine to machine. */
export const LEDGER_CODES: readonly Allowable[] = ['ledger-missing', 'second-ledger', 'ledger-taken-over'];

/** Refusals for what is sent: a plan records which of them it allows, and a start with the plan can add none. */
export const PLAN_CODES: readonly Allowable[] = [
  ...LIST_CODES,
  'would-expire',
  'invalid-rows',
  'sent-elsewhere',
  'other-provider',
];

/** Refusals that a scheduled start may override: those of a list, of its time, and of reports that are missing. */
export const DUE_CODES: readonly Allowable[] = [...LIST_CODES, 'would-expire', 'reports-stale'];

/** Codes that people ask to allow and that cannot be, each with the reason. */
export const NEVER_ALLOWED = {
  'identity-changed': 'Recipients of earlier messages would look new, and get a second one.',
  'not-approved': 'Approvers decide what is sent, and not the person who sends it.',
  'commit-refused': '`git` in handbill.yaml decides which commits are sent.',
  clock: 'With a wrong clock, windows, caps and deadlines are wrong.',
  fence: 'A fence is there so that no other address is ever sent to: change `only` or `redirect` in handbill.yaml.',
  paused: 'A person ordered the pause: `handbill resume` ends it.',
  'over-budget': 'A `budget` is raised in handbill.yaml, where reviewers see it.',
  'former-name':
    'An `id` in the campaign file says whether it is the same campaign: write it there, where reviewers see it.',
  'too-many-recipients': 'A limit is raised in the campaign (`limits.maxRecipients`), where reviewers see it.',
  'too-many-parts': 'A limit is raised in the campaign (`limits.maxParts`), where reviewers see it.',
  'too-expensive': 'A limit is raised in the campaign (`limits.maxCost`), where reviewers see it.',
  'no-price': 'What has no price cannot be compared with a limit: add the price to the price list.',
} as const satisfies Partial<Record<Code, string>>;

/** `skipped`: rows skipped for a repairable fault. `corrected`: a second message, to the corrected address. */
export const RETRIES = ['rejected', 'skipped', 'corrected'] as const;

export type Retry = (typeof RETRIES)[number];

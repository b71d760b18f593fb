import { isDeepStrictEqual } from 'node:util';
import { problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Variant, WinnerState } from '../model.ts';
import { createAssigner } from '../plan/assign.ts';
import type { Plan } from '../plan/plan.ts';
import { bestOf, sampleOf } from '../report/variants.ts';
import { didYouMean } from '../util/suggest.ts';
import { countReturned, joinReplies, NOTHING_RETURNED, resolveByReports } from './deliveries.ts';

/** The variants that the test compares: not those with a condition. */
function drawn({ variants }: Plan['campaign']): readonly Variant[] {
  return variants.filter(({ where }) => where === null);
}

/** @throws HandbillError exit 2: the campaign has no test, or not this variant */
export function checkWinner({ campaign }: Pick<Plan, 'campaign'>, winner: string): void {
  const names = drawn(campaign).map(({ name }) => name);
  const at = { file: campaign.file };
  if (names.length === 0 || campaign.split.test === null) {
    const hint = 'The winner goes to all recipients outside the test: see `variants` and `test`.';
    throw refuse(problem('usage', `The campaign "${campaign.name}" tests no variants.`, { at, hint }));
  }
  if (names.includes(winner)) return;
  const hint = didYouMean(winner, names).hint ?? `Variants: ${names.join(', ')}.`;
  throw refuse(problem('usage', `There is no variant "${winner}".`, { at, hint }));
}

/**
 * The winner that a run remembers. An amended campaign may lack that variant: then only the user can decide what the
 * waiting recipients get.
 * @throws HandbillError exit 2
 */
export function winnerOfRun({ campaign }: Pick<Plan, 'campaign'>, run: { readonly winner: string | null } | null) {
  const winner = run?.winner ?? null;
  const names = drawn(campaign).map(({ name }) => name);
  if (winner === null || names.length === 0 || names.includes(winner)) return winner;
  const message = `This run has the winner "${winner}", and the campaign has no such variant any more.`;
  const hint = `Name another one with --winner: ${names.join(', ')}.`;
  throw refuse(problem('usage', message, { at: { file: campaign.file }, hint }));
}

const NONE: WinnerState = { kind: 'none' };

/**
 * Finds the winner of a test by its delivery reports and replies, from the ledger only: `preview` shows the winner that
 * the next start would take, and a kill changes nothing. Scans the list, once the test was sent long enough ago.
 */
export function findWinner(
  ledger: Ledger,
  { campaign }: Pick<Plan, 'campaign'>,
  run: RunRecord | null,
  nowMs: number,
): WinnerState {
  const { split } = campaign;
  const variants = drawn(campaign);
  const rule = split.decides;
  if (rule === null || run === null || run.winner !== null || run.startedAtMs === null) return NONE;
  const assign = createAssigner(variants, { ...split, winner: null });
  const isInTest = (key: string | null): boolean => key !== null && assign(key).kind === 'variant';
  const sentMs = ledger.lastClaimMs(run);
  if (sentMs === null || isTesting(ledger, run, isInTest, new Set(variants.map(({ name }) => name))))
    return { kind: 'testing' };
  const untilMs = sentMs + rule.waitMs;
  if (nowMs < untilMs) return { kind: 'waits', untilMs };
  const counts = countReturned(ledger, run, ({ key, variant }) => (isInTest(key) ? variant : null), TRIED);
  const shares = variants.map(({ name }) => {
    const returned = counts.get(name) ?? NOTHING_RETURNED;
    return { name, ...sampleOf(rule.by, { ...returned, delivered: returned.arrived }) };
  });
  const small = shares.some(({ whole }) => whole < rule.minimum);
  const best = bestOf(shares, rule.by);
  const why = small ? 'sample' : best.length > 1 ? 'tie' : null;
  const hasWon = why === null || (why === 'tie' && rule.tie === 'first');
  const [first] = best;
  return {
    kind: 'decided',
    decision: { variant: hasWon ? (first?.name ?? null) : null, by: rule.by, why, minimum: rule.minimum, shares },
  };
}

/** `findWinner` before a start: joins new evidence to the messages first, and the run remembers the winner. */
export function chooseWinner(
  ledger: Ledger,
  plan: Pick<Plan, 'campaign'>,
  run: RunRecord,
  now: () => number,
): { readonly run: RunRecord; readonly state: WinnerState } {
  if (plan.campaign.split.decides === null || run.winner !== null) return { run, state: NONE };
  joinEvidence(ledger, plan, now);
  const state = findWinner(ledger, plan, run, now());
  const name = winnerIn(state);
  return { run: name === null ? run : rememberWinner(ledger, run, state), state };
}

/** Joins new reports and replies to their messages, as far as a winner depends on them. */
export function joinEvidence(ledger: Ledger, { campaign }: Pick<Plan, 'campaign'>, now: () => number): void {
  resolveByReports(ledger, now());
  joinReplies(ledger, { ...campaign.project.webhook.replies, now });
}

/** Null where none has won. */
export function winnerIn(state: WinnerState): string | null {
  return state.kind === 'decided' ? state.decision.variant : null;
}

/** Enters the winner in the run, with its figures, which are on disk when the start ends. */
export function rememberWinner(ledger: Ledger, run: RunRecord, state: WinnerState): RunRecord {
  if (state.kind !== 'decided' || state.decision.variant === null) return run;
  const decided = ledger.setWinner(run, state.decision.variant);
  return { ...decided, figures: withDecision(decided.figures, state) };
}

/** Keeps why no variant won, for the report: only this says why recipients wait. */
export function noteUndecided(ledger: Ledger, run: RunRecord, state: WinnerState, nowMs: number): RunRecord {
  const isEnded = run.state !== 'running' && run.state !== 'loading';
  if (!isEnded || state.kind !== 'decided' || state.decision.variant !== null) return run;
  return ledger.finish(run, { state: run.state, halt: run.halt, figures: withDecision(run.figures, state), nowMs });
}

/** Whether a start would find what the run has noted: no variant has won, by the same figures. */
export function isStillUndecided(ledger: Ledger, run: RunRecord, campaign: Plan['campaign'], nowMs: number): boolean {
  const noted = run.figures?.['winner'] ?? null;
  if (noted === null || campaign.split.decides === null || ledger.events.hasUnjoined()) return false;
  const state = findWinner(ledger, { campaign }, run, nowMs);
  return state.kind === 'decided' && isDeepStrictEqual(withDecision(null, state).winner, noted);
}

function withDecision(figures: RunRecord['figures'], { decision }: WinnerState & { readonly kind: 'decided' }) {
  return { ...figures, winner: { ...decision, shares: decision.shares.map((share) => ({ ...share })) } };
}

const TRIED = ['accepted', 'rejected'] as const;

/** A reachable recipient of the test is still pending; the test does not wait for one without a time zone. */
function isTesting(
  ledger: Ledger,
  run: RunRecord,
  isInTest: (key: string | null) => boolean,
  tested: ReadonlySet<string>,
): boolean {
  // Recipients who get a variant by a condition are in no test.
  const isTested = ({ variant }: { readonly variant: string | null }): boolean =>
    variant === null || tested.has(variant);
  const isOpen = ({ outcome, reason }: { readonly outcome: string; readonly reason: string | null }): boolean =>
    outcome === 'pending' || (outcome === 'deferred' && reason !== 'winner-undecided' && reason !== 'zone-unknown');
  if (!ledger.counts(run).some(isOpen)) return false;
  for (const batch of ledger.outcomes(run, { outcomes: ['pending', 'deferred'] })) {
    if (batch.some((outcome) => isOpen(outcome) && isTested(outcome) && isInTest(outcome.key))) return true;
  }
  return false;
}

import type { PriceList } from '../content/price.ts';
import { type Diagnostic, problem, warning } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ClaimBudget } from '../ledger/records.ts';
import type { Budget, Campaign, Environment, Project } from '../model.ts';
import { type Formats, PLAIN } from '../report/locale.ts';
import { iso } from '../util/time.ts';
import { unitsOf } from '../util/units.ts';
import { type CostByTime, type Estimate, sumOf, type WorstRows } from './estimate.ts';
import { exactly, hasCost, mostMicros, unknownCosts } from './limits.ts';
import { periodAt } from './period.ts';

type Where = { readonly environment: Pick<Environment, 'identity' | 'budget'> } & {
  readonly campaign: { readonly project: Pick<Project, 'timeZone'> };
};

/** The budget for claims; null: the environment has none. Without a price list no cost is known, and none fits. */
export function claimBudget({ environment, campaign }: Where, prices: PriceList | null): ClaimBudget | null {
  const { budget } = environment;
  if (budget === null) return null;
  const { timeZone } = campaign.project;
  let last: ReturnType<typeof periodAt> | null = null;
  return {
    currency: prices?.currency ?? UNNAMED,
    maxMicros: budget.maxMicros,
    periodOf(ms) {
      if (last === null || ms < last.beginsMs || ms >= last.endsMs) last = periodAt(budget.per, ms, timeZone);
      return last.name;
    },
  };
}

/** Price lists need not name their currency. */
const UNNAMED = '';

export type BudgetState = Readonly<NonNullable<ReturnType<typeof budgetState>>>;

/** @param ledger - null: nothing was sent yet; absent: it is not asked */
export function budgetState(
  { environment, campaign }: Where,
  prices: Pick<PriceList, 'currency'> | null,
  nowMs: number,
  ledger?: Pick<Ledger, 'spent'> | null,
) {
  const { identity: name, budget } = environment;
  if (budget === null) return null;
  const { timeZone } = campaign.project;
  const currency = prices === null ? null : (prices.currency ?? UNNAMED);
  const { name: period, next, endsMs } = periodAt(budget.per, nowMs, timeZone);
  const asked =
    ledger === undefined || currency === null ? null : (ledger?.spent({ environment: name, period, currency }) ?? 0);
  return {
    ...budget,
    environment: name,
    period,
    /** The first day of the next one, and its first moment. */
    next,
    endsMs,
    timeZone,
    /** Null: there is no price list. */
    currency,
    /** Null: there is no ledger to ask. */
    spentMicros: asked,
    /** The cost of recipients who are not sent to: in a run that is amended, those sent to before. */
    ownMicros: 0,
  };
}

export function budgetsNow(
  project: Pick<Project, 'environments' | 'timeZone'>,
  ledger: Pick<Ledger, 'spentIn'>,
  nowMs: number,
): readonly BudgetState[] {
  return [...project.environments.values()].flatMap((environment) => {
    const state = budgetState({ environment, campaign: { project } }, null, nowMs);
    // A stand-in spends from the budget of its original.
    if (state === null || environment.name !== environment.identity) return [];
    const counters = ledger.spentIn(environment.name, state.period);
    return counters.map(({ currency, spentMicros }) => ({ ...state, currency, spentMicros }));
  });
}

export function budgetRecord({ environment, period, currency, maxMicros, spentMicros, endsMs }: BudgetState) {
  return {
    environment,
    period,
    currency,
    max: unitsOf(maxMicros),
    spent: unitsOf(spentMicros ?? 0),
    until: iso(endsMs),
  };
}

/** Empty: the plan fits into the rest of the budget, or there is no budget. */
export function checkBudget(
  campaign: Campaign,
  estimate: Estimate,
  worst: WorstRows,
  state: BudgetState | null,
): readonly Diagnostic[] {
  if (state === null || !hasCost(estimate)) return [];
  const unknown = unknownCosts(campaign, estimate, worst, limitOf(state));
  const costMicros = mostMicros(estimate);
  if (costMicros === null) return unknown;
  const nowMicros = costMicros - sumOf(worst.later) - state.ownMicros;
  return [...unknown, ...overspent(campaign, new Map([[0, nowMicros], ...worst.later]), state)];
}

/** For a run that continues: `costs` are those of its open recipients. */
export function checkOpen(campaign: Campaign, costs: CostByTime, state: BudgetState): readonly Diagnostic[] {
  if (state.currency === null)
    return unknownCosts(campaign, { costMicros: null, unpriced: 0 }, { unpriced: null }, limitOf(state));
  // A window may move messages to an earlier period than the times of their rows say.
  const counted = [...costs].filter(([ms]) => campaign.send.window === null || ms < state.endsMs);
  return overspent(campaign, new Map(counted), state);
}

/** Compares this period with what is left of the budget, and each later one with the whole of it. */
function overspent(campaign: Campaign, costs: CostByTime, state: BudgetState): readonly Diagnostic[] {
  let last = { ...state, costMicros: 0 };
  const periods = [last];
  for (const [ms, costMicros] of [...costs].sort(([a], [b]) => a - b)) {
    if (ms >= last.endsMs) {
      const later = periodAt(state.per, ms, state.timeZone);
      last = { ...state, ...later, period: later.name, spentMicros: 0, costMicros: 0 };
      periods.push(last);
    }
    last.costMicros += costMicros;
  }
  return periods.flatMap((one) => tooMuch(campaign, one.costMicros, one));
}

function limitOf({ environment }: BudgetState) {
  return { limit: `the budget of ${environment}`, key: `environments.${environment}.budget` };
}

function tooMuch({ file, recipients: { each } }: Campaign, costMicros: number, state: BudgetState) {
  const { environment, period, maxMicros, spentMicros, per } = state;
  const leftMicros = leftOf(state);
  if (costMicros <= leftMicros) return [];
  const isEver = costMicros > maxMicros;
  const allowed =
    spentMicros === null || isEver
      ? `the budget of ${environment} allows ${exactly(maxMicros, state)} ${EACH[per]}`
      : `the budget of ${environment} has ${exactly(leftMicros, state)} left in ${period} (${spentText(state)})`;
  const message = `The plan may cost ${exactly(costMicros, state)}${each === null ? '' : ` in ${period}`}; ${allowed}.`;
  const other = `send to fewer recipients, or raise environments.${environment}.budget.max in handbill.yaml`;
  const untimed = isEver ? 'It fits into no period:' : `Send it from ${nextText(state)} on,`;
  return [problem('over-budget', message, { at: { file }, hint: `${each ? `For ${period}:` : untimed} ${other}.` })];
}

/** A warning once four fifths of the budget are spent, before that a note; empty without a budget. */
export function budgetNotice(state: BudgetState | null): readonly Diagnostic[] {
  if (state === null || state.currency === null || state.spentMicros === null) return [];
  const severity = leftOf(state) * LITTLE <= state.maxMicros ? 'warning' : 'note';
  return [
    {
      ...warning(
        'budget',
        `${budgetText(state)} What is left: ${PLAIN.money(unitsOf(leftOf(state)), state.currency)}.`,
      ),
      severity,
    },
  ];
}

/** A fifth of the budget. */
const LITTLE = 5;

/** `production: 120.00 of 500.00 EUR spent in 2026-11, until 2026-12-01 00:00 (Europe/London).` */
export function budgetText(state: BudgetState, formats: Formats = PLAIN): string {
  return `${state.environment}: ${spentText(state, formats)} in ${state.period}, until ${nextText(state)}.`;
}

/** The words of a start that the budget halts (failures.md, A7); `unpriced`: because of a message without a price. */
export function overBudget(state: BudgetState, unpriced: boolean): { readonly message: string; readonly next: string } {
  const raise = `raise environments.${state.environment}.budget.max in handbill.yaml, then send again`;
  if (unpriced) {
    return {
      message: `A message has no price, so that the budget of ${state.environment} cannot be kept.`,
      next: 'Add its destination to the price list, then send again: the rest is pending.',
    };
  }
  return {
    message: `The budget of ${state.environment} has no room for the next message: ${spentText(state)} in ${state.period}.`,
    next: `Send again from ${nextText(state)} on: the rest is pending. Or ${raise}.`,
  };
}

const EACH: Readonly<Record<Budget['per'], string>> = { day: 'a day', week: 'a week', month: 'a month' };

function leftOf({ maxMicros, spentMicros }: BudgetState): number {
  return Math.max(0, maxMicros - (spentMicros ?? 0));
}

function spentText({ spentMicros, maxMicros, currency }: BudgetState, { money }: Formats = PLAIN): string {
  // A code behind the amounts is needed once, a sign in front of each.
  const spent = money(unitsOf(spentMicros ?? 0), currency).replace(` ${currency}`, '');
  return `${spent} of ${money(unitsOf(maxMicros), currency)} spent`;
}

function nextText({ next, timeZone }: BudgetState): string {
  return `${next} 00:00 (${timeZone})`;
}

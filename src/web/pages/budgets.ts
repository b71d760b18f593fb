import { type BudgetState, budgetText } from '../../plan/budget.ts';
import { type Html, html } from '../../util/escape.ts';

/** What is spent of the budgets, one line each. */
export function budgetLines(budgets: readonly BudgetState[]): Html {
  return html`${budgets.map((budget) => html`<p>Budget of ${budgetText(budget)}</p>\n`)}`;
}

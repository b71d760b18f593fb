import { onDemand } from './on-demand.ts';

const AND = onDemand(() => new Intl.ListFormat('en-GB'));
const OR = onDemand(() => new Intl.ListFormat('en-GB', { type: 'disjunction' }));

/** "a, b and c" */
export function listWithAnd(items: readonly string[]): string {
  return AND().format(items);
}

/** "a, b or c" */
export function listWithOr(items: readonly string[]): string {
  return OR().format(items);
}

import { compared, holdsNothing } from '../../util/cell.ts';
import { type Parameter, type Signature, takes, text } from './signature.ts';

const CONDITION: Parameter = { name: 'condition', accepts: 'condition' };

const condition = (example: string, ...positional: readonly Parameter[]): Signature => ({
  ...takes(example, ...positional),
  gives: 'condition',
});
const same = (name: string): Signature =>
  condition(`{{#if (${name} plan "gold")}}`, text('value'), text('other value'));
const several = (name: string): Signature => ({
  ...condition(`{{#if (${name} vip (eq plan "gold"))}}`, CONDITION, CONDITION),
  rest: CONDITION,
});

export const COMPARE_SIGNATURES: Readonly<Record<string, Signature>> = {
  eq: same('eq'),
  ne: same('ne'),
  and: several('and'),
  or: several('or'),
  not: condition('{{#if (not vip)}}', CONDITION),
};

type Condition = string | boolean;

/** A text that says something, or a comparison that holds. `0`, `no`, `false` are texts; `NULL`, `#N/A` are not. */
function holds(condition: Condition): boolean {
  return typeof condition === 'string' ? !holdsNothing(condition) : condition;
}

/** As `recipients.where` compares texts. */
export function eq(a: string, b: string): boolean {
  return a === b || compared(a) === compared(b);
}

export function ne(a: string, b: string): boolean {
  return !eq(a, b);
}

// The last argument is Handlebars' own.
export function and(...conditions: readonly Condition[]): boolean {
  return conditions.slice(0, -1).every(holds);
}

export function or(...conditions: readonly Condition[]): boolean {
  return conditions.slice(0, -1).some(holds);
}

export function not(condition: Condition): boolean {
  return !holds(condition);
}

type Branches = { readonly fn: (context: unknown) => string; readonly inverse: (context: unknown) => string };

export function ifBlock(this: unknown, condition: Condition, branches: Branches): string {
  return holds(condition) ? branches.fn(this) : branches.inverse(this);
}

export function unlessBlock(this: unknown, condition: Condition, branches: Branches): string {
  return holds(condition) ? branches.inverse(this) : branches.fn(this);
}

/** Indents each line of a partial that is alone on an indented line, as Handlebars does. */
export function indentBlock(this: unknown, prefix: string, branches: Branches): string {
  const lines = branches.fn(this).split('\n');
  return lines.map((line, i) => (line === '' && i === lines.length - 1 ? line : prefix + line)).join('\n');
}

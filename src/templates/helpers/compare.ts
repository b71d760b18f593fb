import { compared, holdsNothing } from '../../util/cell.ts';
import { NO_NAMES, type Parameter, type Signature, text } from './signature.ts';

const CONDITION: Parameter = { name: 'condition', accepts: 'condition' };

function same(name: string): Signature {
  return {
    example: `{{#if (${name} plan "gold")}}`,
    gives: 'condition',
    positional: [text('value'), text('other value')],
    atLeast: 2,
    named: NO_NAMES,
    arrange: ({ positional }) => positional,
  };
}

function several(name: string): Signature {
  return {
    example: `{{#if (${name} vip (eq plan "gold"))}}`,
    gives: 'condition',
    positional: [CONDITION, CONDITION],
    atLeast: 2,
    rest: CONDITION,
    named: NO_NAMES,
    arrange: ({ positional }) => positional,
  };
}

export const COMPARE_SIGNATURES: Readonly<Record<string, Signature>> = {
  eq: same('eq'),
  ne: same('ne'),
  and: several('and'),
  or: several('or'),
  not: {
    example: '{{#if (not vip)}}',
    gives: 'condition',
    positional: [CONDITION],
    atLeast: 1,
    named: NO_NAMES,
    arrange: ({ positional }) => positional,
  },
};

type Condition = string | boolean;

/**
 * The conditions that are true for `{{#if}}`: a text that says something, or a comparison that holds. `0`, `no`, `false`
 * are texts; `NULL` and `#N/A` say nothing.
 */
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

interface Branches {
  readonly fn: (context: unknown) => string;
  readonly inverse: (context: unknown) => string;
}

export function ifBlock(this: unknown, condition: Condition, branches: Branches): string {
  return holds(condition) ? branches.fn(this) : branches.inverse(this);
}

export function unlessBlock(this: unknown, condition: Condition, branches: Branches): string {
  return holds(condition) ? branches.inverse(this) : branches.fn(this);
}

/** A partial on an indented line of its own: each of its lines is indented, as Handlebars does. */
export function indentBlock(this: unknown, prefix: string, branches: Branches): string {
  const lines = branches.fn(this).split('\n');
  return lines.map((line, i) => (line === '' && i === lines.length - 1 ? line : prefix + line)).join('\n');
}

import type { Diagnostic } from '../errors.ts';

/*
 * Handlebars' tree (`Statement`, `Expression`), whose own declarations cannot be narrowed by `type`; and the tree that it
 * compiles (`OutStatement`, `OutExpression`): with names resolved, arguments in order, and partials inserted.
 */

export type Loc = { readonly start: LinePosition; readonly end: LinePosition };

/** As Handlebars counts: lines from 1, columns from 0. */
export type LinePosition = { readonly line: number; readonly column: number };

export interface Program {
  readonly type: 'Program';
  readonly body: readonly Statement[];
  readonly blockParams?: readonly string[];
}

export type Statement =
  | { readonly type: 'ContentStatement'; readonly value: string; readonly loc: Loc }
  | { readonly type: 'CommentStatement'; readonly loc: Loc }
  | MustacheStatement
  | BlockStatement
  | PartialStatement
  | { readonly type: 'PartialBlockStatement' | 'Decorator' | 'DecoratorBlock'; readonly loc: Loc };

export interface Call {
  readonly path: Expression;
  readonly params: readonly Expression[];
  readonly hash?: Hash;
  readonly loc: Loc;
}

export type MustacheStatement = Call & { readonly type: 'MustacheStatement'; readonly escaped: boolean };

export interface BlockStatement extends Call {
  readonly type: 'BlockStatement';
  readonly program?: Program;
  readonly inverse?: Program;
  /** Without `open` in a raw block, `{{{{x}}}}`. */
  readonly openStrip: { readonly open?: boolean };
}

export interface PartialStatement {
  readonly type: 'PartialStatement';
  readonly name: Expression;
  readonly params: readonly Expression[];
  readonly hash?: Hash;
  readonly indent?: string;
  /** `{{~` and `~}}`: white space around it is taken away. */
  readonly strip: { readonly close: boolean };
  readonly loc: Loc;
}

type Hash = { readonly pairs: readonly HashPair[] };

export type HashPair = { readonly key: string; readonly value: Expression; readonly loc: Loc };

export type Expression = PathExpression | SubExpression | Literal;

export interface PathExpression {
  readonly type: 'PathExpression';
  readonly data: boolean;
  readonly depth: number;
  readonly parts: readonly string[];
  readonly original: string;
  readonly loc: Loc;
}

type SubExpression = Call & { readonly type: 'SubExpression' };

export type Literal =
  | { readonly type: 'StringLiteral'; readonly value: string; readonly loc: Loc }
  | { readonly type: 'NumberLiteral'; readonly value: number; readonly loc: Loc }
  | { readonly type: 'BooleanLiteral'; readonly value: boolean; readonly loc: Loc }
  | { readonly type: 'UndefinedLiteral' | 'NullLiteral'; readonly loc: Loc };

// ------------------------------------------------------------------------------------------- the tree to compile

interface OutProgram {
  readonly type: 'Program';
  readonly body: readonly OutStatement[];
  readonly blockParams: readonly string[];
  readonly strip: object;
}

export type OutStatement = OutContent | OutMustache | OutBlock;

type OutContent = { readonly type: 'ContentStatement'; readonly value: string; readonly original: string };

export interface OutMustache {
  readonly type: 'MustacheStatement';
  readonly path: OutPath;
  readonly params: readonly OutExpression[];
  readonly escaped: boolean;
  readonly strip: object;
  readonly where: Pick<Diagnostic, 'at' | 'source'>;
}

interface OutBlock {
  readonly type: 'BlockStatement';
  readonly path: OutPath;
  readonly params: readonly OutExpression[];
  readonly program: OutProgram;
  readonly inverse: OutProgram | undefined;
  readonly openStrip: object;
  readonly inverseStrip: object;
  readonly closeStrip: object;
}

export type OutExpression =
  | OutPath
  | OutCall
  | { readonly type: 'StringLiteral'; readonly value: string }
  | { readonly type: 'NumberLiteral'; readonly value: number }
  | { readonly type: 'NullLiteral' };

interface OutPath {
  readonly type: 'PathExpression';
  readonly data: false;
  readonly depth: 0;
  readonly parts: readonly [string];
  readonly original: string;
}

interface OutCall {
  readonly type: 'SubExpression';
  readonly path: OutPath;
  readonly params: readonly OutExpression[];
}

/** `this` in `original` keeps Handlebars from reading it as a helper (AST.helpers.scopedId). Lookups use `parts`. */
export function columnPath(name: string): OutPath {
  return { type: 'PathExpression', data: false, depth: 0, parts: [name], original: 'this' };
}

function helperPath(name: string): OutPath {
  return { type: 'PathExpression', data: false, depth: 0, parts: [name], original: name };
}

export function textLiteral(value: string): OutExpression {
  return { type: 'StringLiteral', value };
}

export const NOTHING: OutExpression = { type: 'NullLiteral' };

export function callOf(name: string, params: readonly OutExpression[]): OutCall {
  return { type: 'SubExpression', path: helperPath(name), params };
}

export function content(value: string): OutContent {
  return { type: 'ContentStatement', value, original: value };
}

export function mustache(expression: OutPath | OutCall, escaped: boolean, where: OutMustache['where']): OutMustache {
  const { path, params } = expression.type === 'PathExpression' ? { path: expression, params: [] } : expression;
  return { type: 'MustacheStatement', path, params, escaped, strip: {}, where };
}

export function block(
  name: string,
  param: OutExpression,
  body: readonly OutStatement[],
  inverse: readonly OutStatement[] | null,
): OutBlock {
  return {
    type: 'BlockStatement',
    path: helperPath(name),
    params: [param],
    program: program(body),
    inverse: inverse === null ? undefined : program(inverse),
    openStrip: {},
    inverseStrip: {},
    closeStrip: {},
  };
}

export function program(body: readonly OutStatement[]): OutProgram {
  return { type: 'Program', body, blockParams: [], strip: {} };
}

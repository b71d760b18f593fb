import type { OutExpression } from './ast.ts';
import { OWN_HELPERS } from './helpers/helpers.ts';

/** Columns that an expression reads, in the order in which they stand there. */
export function columnsIn(expression: OutExpression): readonly string[] {
  if (expression.type === 'PathExpression') return expression.parts;
  return expression.type === 'SubExpression' ? expression.params.flatMap(columnsIn) : [];
}

/** Columns that must not be empty for an expression to say something: none where a `default` steps in. */
export function needs(expression: OutExpression): readonly string[] {
  if (expression.type === 'PathExpression') return expression.parts;
  if (expression.type !== 'SubExpression') return [];
  const [name] = expression.path.parts;
  return name === 'default' || name === OWN_HELPERS.defaultOrRefuse ? [] : expression.params.flatMap(needs);
}

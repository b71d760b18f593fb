import { type Diagnostic, problem } from '../errors.ts';
import type { Loc } from './ast.ts';
import { at, type Located } from './position.ts';

/**
 * How large a template may be. All of it is known before the first render, because a render cannot be interrupted:
 * 3,000 nested `{{#if}}` take 1.6 s to parse, 15,000 nested parentheses 99 s (Handlebars 4.7.10).
 */
export const TEMPLATE_LIMITS = {
  /** UTF-8 bytes of a template, and of a template with all its partials put in place. */
  bytes: 64 * 1024,
  /** Blocks, parentheses and partials inside each other; each `{{else if}}` counts as one more. */
  depth: 32,
  /** Tags, texts, names and values, partials put in place. */
  nodes: 10_000,
  /** UTF-8 bytes of one rendered text, where the caller sets no other limit. */
  outputBytes: 64 * 1024,
} as const;

export function tooDeeplyNested(located: Located, loc: Loc): Diagnostic {
  return problem('template-too-large', `The template is nested more than ${TEMPLATE_LIMITS.depth} levels deep.`, {
    ...at(located, loc),
    hint: 'Blocks, parentheses and partials count as levels, and each {{else if}} as one more.',
  });
}

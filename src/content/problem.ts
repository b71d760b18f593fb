import type { Code } from '../errors.ts';
import type { JsonObject } from '../model.ts';

/** One thing that is wrong with rich content, or worth knowing about it. */
export interface ContentProblem {
  readonly code: Code;
  readonly severity: 'error' | 'warning';
  /** JSON pointer into the content; `/text` is the text of the message. */
  readonly pointer: string;
  /** What is wrong, in one sentence without its place. */
  readonly message: string;
  /** What to do next. */
  readonly hint?: string;
}

/**
 * Looks at rich content against the limits of its channel. Texts that are not known yet, because they still hold
 * expressions, are null; everything else has the shape that the schema lets through.
 *
 * @param content - without `text`
 * @param text - null: not known here (it holds expressions, or the provider has it); undefined: there is none
 */
export type ContentCheck = (content: JsonObject, text: string | null | undefined) => readonly ContentProblem[];

import { type Diagnostic, problem } from '../errors.ts';
import type { SourceText } from '../model.ts';
import type { Program } from './ast.ts';
import { Handlebars } from './engine.ts';
import { TEMPLATE_LIMITS, tooDeeplyNested } from './limits.ts';
import { type Located, locate } from './position.ts';
import { syntaxProblem } from './syntax-error.ts';
import { findTooDeep } from './tokens.ts';

export interface Parsed {
  readonly located: Located;
  readonly program: Program;
  readonly bytes: number;
}

/**
 * Parses one template, or says why not. Size and nesting are looked at before the parser, which needs minutes for what
 * fits into 64 KiB when it is nested deeply enough.
 */
export function parseTemplate(source: SourceText, mostBytes: number = TEMPLATE_LIMITS.bytes): Parsed | Diagnostic {
  // A tree in place of text would be compiled to code as it stands; YAML and callers without types can hold one.
  if (typeof source.text !== 'string') {
    return problem('template-syntax', 'A template must be text.', { at: { file: source.file, line: source.line } });
  }
  const located = locate(source);
  const bytes = Buffer.byteLength(source.text);
  if (bytes > mostBytes) {
    const most = `${mostBytes / 1024} KiB`;
    return problem('template-too-large', `The template is ${bytes} bytes long; at most ${most} are allowed.`, {
      at: { file: source.file, line: source.line, column: source.column },
    });
  }
  const tooDeep = findTooDeep(source.text, TEMPLATE_LIMITS.depth);
  if (tooDeep !== null) return tooDeeplyNested(located, tooDeep);
  try {
    return { located, program: Handlebars.parse(source.text) as Program, bytes };
  } catch (error) {
    return syntaxProblem(located, error);
  }
}

import type { Diagnostic, Position } from '../errors.ts';
import { hideKeys } from './hide-keys.ts';

/** Where a diagnostic points, with the line as it may be shown: spread it into a diagnostic. */
export type Where = { readonly at: Position } & Pick<Diagnostic, 'source'>;

/** The text of a file with its lines. */
export interface FileText {
  readonly file: string;
  readonly raw: string;
  /** The place of an offset in UTF-16 units; the mark ends with the line. */
  at(offset: number, length?: number): Where;
  /** Line and column, both from 1. */
  position(offset: number): { readonly line: number; readonly column: number };
}

export function createText(raw: string, file: string): FileText {
  const starts = [0];
  for (let i = raw.indexOf('\n'); i !== -1; i = raw.indexOf('\n', i + 1)) starts.push(i + 1);
  const position = (offset: number) => {
    const index = lineOf(starts, offset);
    return { line: index + 1, column: offset - (starts[index] ?? 0) + 1 };
  };
  let shown: string | null = null;
  return {
    file,
    raw,
    position,
    at(offset, length = 1) {
      const bounded = Math.min(Math.max(0, offset), raw.length);
      const { line, column } = position(bounded);
      // No line is shown without keys being hidden; keys take up as many characters as before, so places still hold.
      shown ??= hideKeys(raw);
      const end = starts[line] === undefined ? raw.length : starts[line] - 1;
      const source = shown.slice(starts[line - 1] ?? 0, end).replace(/\r$/, '');
      const rest = Math.max(1, source.length - column + 1);
      return { at: { file, line, column, length: Math.max(1, Math.min(length, rest)) }, source };
    },
  };
}

/** The last line that begins at or before the offset. */
function lineOf(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

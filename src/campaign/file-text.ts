import type { Diagnostic, Position } from '../errors.ts';
import { dots, hideKeys } from './hide-keys.ts';

/** Where a diagnostic points, with the line as it may be shown: spread it into a diagnostic. */
export type Where = { readonly at: Position } & Pick<Diagnostic, 'source'>;

/** The text of a file with its lines. */
export interface FileText {
  readonly file: string;
  readonly raw: string;
  /** The place of an offset in UTF-16 units; the mark ends with the line. */
  at(offset: number, length?: number): Where;
  /** Never shows what is there: offsets in UTF-16 units, end exclusive. For what has not been shown yet. */
  hide(start: number, end: number): void;
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
  const hidden: [start: number, end: number][] = [];
  let shown: string | null = null;
  return {
    file,
    raw,
    position,
    hide(start, end) {
      hidden.push([start, end]);
      shown = null;
    },
    at(offset, length = 1) {
      const bounded = Math.min(Math.max(0, offset), raw.length);
      const { line, column } = position(bounded);
      // No line is shown without keys being hidden; keys take up as many characters as before, so places still hold.
      shown ??= hideRanges(hideKeys(raw), hidden);
      const end = starts[line] === undefined ? raw.length : starts[line] - 1;
      const source = shown.slice(starts[line - 1] ?? 0, end).replace(/\r$/, '');
      const rest = Math.max(1, source.length - column + 1);
      return { at: { file, line, column, length: Math.max(1, Math.min(length, rest)) }, source };
    },
  };
}

function hideRanges(text: string, ranges: readonly (readonly [start: number, end: number])[]): string {
  const parts: string[] = [];
  let done = 0;
  for (const [start, end] of [...ranges].sort(([a], [b]) => a - b)) {
    parts.push(text.slice(done, start), dots(text.slice(Math.max(done, start), end)));
    done = Math.max(done, end);
  }
  return parts.join('') + text.slice(done);
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

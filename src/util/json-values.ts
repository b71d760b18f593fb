import { parseJson } from './json.ts';

/** A value of a file as written, or the position of a fault. */
export type JsonPiece =
  | { readonly text: string; readonly line: number }
  | { readonly fault: JsonFault; readonly line: number };

/** `unfinished`: the file ends in the middle of a value. `too-large`: a value longer than is read. `stray`: a bracket. */
export type JsonFault = 'unfinished' | 'too-large' | 'stray';

/**
 * Splits a file of JSON into values, in constant memory: JSON lines, values one after the other, or the entries of an
 * array. The caller checks whether a value is well-formed.
 *
 * In JSON lines each line is a value, also a broken one, so that those after it are found. In every other form nothing
 * is read after a value without an end.
 *
 * @param pieces text with LF at the end of lines, without a byte order mark
 * @param maxCharacters longest value, in UTF-16 units
 */
export async function* jsonValues(
  pieces: AsyncIterable<string>,
  maxCharacters: number,
): AsyncGenerator<readonly JsonPiece[]> {
  let head = '';
  let scan: Scan | null = null;
  for await (const piece of pieces) {
    if (scan !== null) {
      yield scan.push(piece);
      if (scan.isOver()) return;
      continue;
    }
    head += piece;
    if (!head.trimStart().includes('\n') && head.length <= maxCharacters) continue;
    scan = scanOf(head, maxCharacters);
    yield scan.push(head);
    if (scan.isOver()) return;
  }
  if (scan !== null) yield scan.end();
  else {
    scan = scanOf(head, maxCharacters);
    yield [...scan.push(head), ...scan.end()];
  }
}

interface Scan {
  push(text: string): readonly JsonPiece[];
  end(): readonly JsonPiece[];
  isOver(): boolean;
}

function scanOf(head: string, maxCharacters: number): Scan {
  const first = head.trimStart().split('\n', 1)[0] ?? '';
  return first.startsWith('{') && parseJson(first) !== undefined ? scanLines(maxCharacters) : scanValues(maxCharacters);
}

function scanLines(maxCharacters: number): Scan {
  let held = '';
  let line = 0;
  const pieceOf = (text: string): readonly JsonPiece[] => {
    line += 1;
    if (text.length > maxCharacters) return [{ fault: 'too-large', line }];
    const trimmed = text.trim();
    return trimmed === '' ? [] : [{ text: trimmed, line }];
  };
  return {
    push(text) {
      const lines = (held + text).split('\n');
      held = lines.pop() ?? '';
      // What is too long is not kept, only that it is.
      if (held.length > maxCharacters) held = held.slice(0, maxCharacters + 1);
      return lines.flatMap(pieceOf);
    },
    end: () => pieceOf(held),
    isOver: () => false,
  };
}

/** Reads only brackets and quotes. */
function scanValues(maxCharacters: number): Scan {
  let held = '';
  let line = 1;
  let startLine = 1;
  let depth = 0;
  let inValue = false;
  let inString = false;
  let isEscaped = false;
  let inArray = false;
  let isOver = false;

  const push = (text: string): JsonPiece[] => {
    const found: JsonPiece[] = [];
    let start = 0;
    const begin = (at: number): void => {
      inValue = true;
      start = at;
      startLine = line;
    };
    const finish = (end: number): void => {
      found.push({ text: held + text.slice(start, end), line: startLine });
      held = '';
      inValue = false;
    };
    for (let i = 0; i < text.length && !isOver; i++) {
      const unit = text.charCodeAt(i);
      if (unit === LF) line += 1;
      if (inString) {
        if (isEscaped) isEscaped = false;
        else if (unit === BACKSLASH) isEscaped = true;
        else if (unit === QUOTE) {
          inString = false;
          if (depth === 0) finish(i + 1);
        }
        continue;
      }
      if (inValue && depth === 0 && endsWord(unit)) finish(i);
      if (!inValue) {
        if (unit <= SPACE || unit === COMMA) continue;
        if (unit === OPEN_ARRAY && !inArray) inArray = true;
        else if (unit === CLOSE_ARRAY && inArray) inArray = false;
        else if (unit === CLOSE_ARRAY || unit === CLOSE_OBJECT) {
          found.push({ fault: 'stray', line });
          isOver = true;
        } else begin(i);
        if (!inValue) continue;
      }
      if (unit === QUOTE) inString = true;
      else if (unit === OPEN_ARRAY || unit === OPEN_OBJECT) depth += 1;
      else if (unit === CLOSE_ARRAY || unit === CLOSE_OBJECT) {
        depth -= 1;
        if (depth === 0) finish(i + 1);
      }
    }
    if (inValue) held += text.slice(start);
    if (held.length > maxCharacters && !isOver) {
      found.push({ fault: 'too-large', line: startLine });
      isOver = true;
    }
    return found;
  };

  return {
    push,
    end() {
      if (isOver) return [];
      const isWord = inValue && depth === 0 && !inString;
      if (isWord) return [{ text: held, line: startLine }];
      return inValue || inArray ? [{ fault: 'unfinished', line: inValue ? startLine : line }] : [];
    },
    isOver: () => isOver,
  };
}

/** A number or a word ends before it. */
function endsWord(unit: number): boolean {
  return unit <= SPACE || unit === COMMA || ENDS.has(unit);
}

const [LF, SPACE, QUOTE, COMMA, BACKSLASH] = [0x0a, 0x20, 0x22, 0x2c, 0x5c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const ENDS: ReadonlySet<number> = new Set([QUOTE, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT]);

import { createRequire } from 'node:module';

/** Columns of a terminal that the text takes: wide characters and emoji two, combining marks none. */
export function displayWidth(text: string): number {
  return SIMPLE.test(text) ? text.length : stringWidth()(text);
}

/** The text if it fits into so many columns, else its beginning and an ellipsis. No character is cut in two. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width < 1) return '';
  let kept = '';
  for (const { segment } of graphemes().segment(text)) {
    // Not a sum: some characters take those that follow into their own column.
    if (displayWidth(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Lines of at most so many columns, broken at spaces; a longer word gets a line of its own. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && displayWidth(line) + 1 + displayWidth(word) > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/** Columns for sentences: those of the terminal, 80 where no terminal shows them (Infinity). */
export function proseWidth(width: number): number {
  return Number.isFinite(width) ? width : 80;
}

/** Latin letters and the punctuation of prose: one column each, whatever follows. */
const SIMPLE = /^[\x20-\x7e\xa0-\xac\xae-\u02ff\u2010-\u2027]*$/;

let segmenter: Intl.Segmenter | null = null;
function graphemes(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter;
}

/** Loaded when a text needs it: its tables take 40 ms, and the first answer 20 more. */
let loaded: ((text: string) => number) | null = null;
function stringWidth(): (text: string) => number {
  loaded ??= (createRequire(import.meta.url)('string-width') as typeof import('string-width')).default;
  return loaded;
}

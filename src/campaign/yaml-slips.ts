/** A text that YAML misreads, where the parser's message does not help. */
export interface Slip {
  /** Start of the text, and the place that a message points at: offsets in UTF-16 units. */
  readonly start: number;
  readonly offset: number;
  readonly message: string;
  /** How to write it. `written`: the line from `start` on. */
  readonly hint: (written: string) => string;
}

/** The lexer emits it before the text of a plain scalar, or of a block. */
const SCALAR = '\x1f';
/** A bracket is not closed where the lines of the mapping around it continue. */
const FLOW_ERROR = '\x18';
const UNCLOSED: Pick<Slip, 'message' | 'hint'> = {
  message: 'The quote that opens here is not closed.',
  hint: () => 'Close the quote at the end of the text; a text that goes on in further lines is best written after |.',
};
/** Hints do not repeat a longer text. */
const LONGEST = 60;

/**
 * Finds the slips that people make most often: templates without quotes, quotes inside quotes, unclosed quotes, which
 * YAML refuses; and a text that a # cuts, which YAML accepts. The lexer knows texts and comments.
 */
export function createSlipFinder() {
  const slips: Slip[] = [];
  let before = '';
  let depth = 0;
  let braces = 0;
  let quoted: { readonly text: string; readonly start: number } | null = null;
  let plain: PlainText | null = null;
  return {
    slips,
    /** Takes what the lexer gives, in its order. */
    add(lexeme: string, offset: number): void {
      if (lexeme === '{' || lexeme === '[') depth += 1;
      else if (lexeme === '}' || lexeme === ']') depth = Math.max(0, depth - 1);
      else if (lexeme === FLOW_ERROR) depth = 0;
      braces = lexeme === '{' ? braces + 1 : 0;
      if (braces === 2) slips.push(bareTemplate(offset - 1, depth > 2));

      const isQuoted = before !== SCALAR && /^(["']).*\1$/s.test(lexeme) && lexeme.length > 1;
      // After a text in quotes there may be a comment, a comma or the end, but no other text.
      if (quoted !== null && (isQuoted || lexeme === SCALAR)) slips.push(closedEarly(quoted, depth > 0));
      if (!isQuoted && before !== SCALAR && /^["']/.test(lexeme)) slips.push({ ...UNCLOSED, start: offset, offset });
      if (plain !== null && isCut(plain.text, lexeme)) slips.push(cutShort(plain.start ?? offset, offset));
      if (!/^[ \t]+$/.test(lexeme)) {
        quoted = isQuoted ? { text: lexeme, start: offset } : null;
        plain = plainOf(before, lexeme, offset);
      }
      before = lexeme;
    },
  };
}

interface PlainText {
  readonly text: string;
  readonly start: number | null;
}

function plainOf(before: string, lexeme: string, offset: number): PlainText | null {
  if (before === SCALAR) return lexeme.includes('\n') ? null : { text: lexeme, start: offset };
  return lexeme === ':' || lexeme === '-' ? { text: '', start: null } : null;
}

/** A comment has a space after its #, and a template in it belongs to a text that has one too. */
function isCut(text: string, lexeme: string): boolean {
  if (!lexeme.startsWith('#')) return false;
  if (text === '') return lexeme.startsWith('#{{');
  const hasTemplate = [text, lexeme].map((one) => one.includes('{{'));
  return lexeme[1] === ' ' ? hasTemplate.every(Boolean) : hasTemplate.some(Boolean);
}

function cutShort(start: number, offset: number): Slip {
  return {
    start,
    offset,
    message: 'The text ends before this #: what follows is read as a comment.',
    hint(written) {
      const text = written.trimEnd();
      const shown = text.length > LONGEST ? '.' : `: ${inQuotes(text)}`;
      return `Put the whole text in quotes${shown}`;
    },
  };
}

/** @param isInside - brackets: then the start and end of the text are unknown */
function bareTemplate(start: number, isInside: boolean): Slip {
  if (isInside) {
    const hint = 'Put the whole value in quotes, or write it on a separate line.';
    return { start, offset: start, message: 'Inside brackets, a text with {{ needs quotes.', hint: () => hint };
  }
  return {
    start,
    offset: start,
    message: 'A text that begins with {{ is read as a mapping.',
    hint(written) {
      const text = withoutComment(written);
      const template = /^\{\{\{.*?\}\}\}|^\{\{.*?\}\}/.exec(text)?.[0] ?? '{{name}}';
      return `Put the whole text in quotes: ${inQuotes(text.length > LONGEST ? template : text)}`;
    },
  };
}

function closedEarly({ text, start }: { readonly text: string; readonly start: number }, isInside: boolean): Slip {
  if (text.includes('\n')) {
    const message = 'The text that begins here ends at a quote in a later line.';
    return { start, offset: start, message, hint: () => 'Is the closing quote missing in this line?' };
  }
  const quote = text.charAt(0);
  return {
    start,
    offset: start + text.length - 1,
    message: 'The text ends at this quote, but the line goes on.',
    hint(written) {
      const all = withoutComment(written);
      // In `"Say "hi" to us"` the quote belongs to the next word, in `"Hi" to "us"` to the word before.
      const isAround = all.endsWith(quote) && !/\s/.test(all.charAt(text.length));
      const inner = isAround ? all.slice(1, -1) : all;
      const other = quote === '"' ? "'" : '"';
      const isShown = !isInside && inner.length <= LONGEST && !/\\/.test(inner) && !inner.includes(other);
      const example = isShown ? `: ${other}${inner}${other}` : quote === '"' ? " (write ' as '')" : ' (write " as \\")';
      const kind = quote === '"' ? 'single' : 'double';
      return `Use ${kind} quotes around the whole text${example}; or write | and the text in the next line, indented.`;
    },
  };
}

function withoutComment(written: string): string {
  return written.replace(/\s+#.*$/, '').trimEnd();
}

function inQuotes(text: string): string {
  return /["\\]/.test(text) ? `'${text.replaceAll("'", "''")}'` : `"${text}"`;
}

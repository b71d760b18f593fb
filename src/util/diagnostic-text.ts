import { type Diagnostic, SUMMARY_CODE } from '../errors.ts';
import { safe, safeLine } from './escape.ts';
import { displayWidth, graphemes } from './table.ts';
import { countOf, number } from './words.ts';

export interface DiagnosticTextOptions {
  readonly colour: boolean;
  /** How many diagnostics are shown; the rest is counted. Default: all. */
  readonly limit?: number;
  /** How many diagnostics there are, when the list was cut short before it came here. */
  readonly total?: number;
  /** A line below it: how many others are like it. Empty: none. */
  readonly below?: (diagnostic: Diagnostic) => string;
  /** Names the command that explains the codes; for people, who may not know that there is one. */
  readonly explain?: boolean;
  /** Columns of the terminal, to which a line of a file is cropped. */
  readonly width?: number;
}

/**
 * Diagnostics for eyes: message, place, the line with a caret, what to do next; a last line with the counts. Everything
 * that a terminal would obey is shown instead (`safe`). Ends with a newline; an empty list is an empty text.
 */
export function formatDiagnostics(diagnostics: readonly Diagnostic[], options: DiagnosticTextOptions): string {
  if (diagnostics.length === 0) return '';
  const limit = options.limit ?? diagnostics.length;
  const shown = diagnostics.filter(({ code }, at) => at < limit || code === SUMMARY_CODE);
  const blocks = shown.map((diagnostic) => formatDiagnostic(diagnostic, options));
  // A slip that the hint corrects needs no page.
  const open = shown.filter(({ code, hint = '' }) => code !== 'usage' && !hint.startsWith('Did you mean'));
  const pages = [...new Set(open.map(({ code }) => `handbill help ${code}`))].slice(0, EXPLAINED);
  const explained = options.explain === true && pages.length > 0 ? `More: ${pages.join(', ')}\n` : '';
  const counted = counts(diagnostics, shown, options.total);
  return [blocks.join('\n'), ...(counted + explained === '' ? [] : [`${counted}${explained}`])].join('\n');
}

const EXPLAINED = 3;

/** Without a final blank line. */
function formatDiagnostic(diagnostic: Diagnostic, { colour, below, width }: DiagnosticTextOptions): string {
  const paint = painter(colour, COLOURS[diagnostic.severity]);
  const { code, severity, message, at, hint, source } = diagnostic;
  const lines = [`${paint.strong(`${severity}[${code}]`)}: ${paint.bold(indented(message))}`];
  const [line, column] = [at?.line ?? '', at?.line === undefined ? '' : (at.column ?? '')];
  const place = [safeLine(at?.file ?? ''), line, column].filter((part) => part !== '').join(':');
  if (at !== undefined) lines.push(`  ${paint.dim(place)}`);
  if (source !== undefined && at?.line !== undefined)
    lines.push(...excerpt(source, { ...at, line: at.line }, paint, width));
  if (hint !== undefined) lines.push(`  ${paint.help('help:')} ${indented(hint)}`);
  const more = below?.(diagnostic) ?? '';
  if (more !== '') lines.push(`  ${paint.dim(safe(more))}`);
  return `${lines.join('\n')}\n`;
}

function indented(text: string): string {
  return safe(text).replaceAll('\n', '\n    ');
}

function counts(given: readonly Diagnostic[], shown: readonly Diagnostic[], total?: number): string {
  const isOne = ({ code }: Diagnostic): boolean => code !== SUMMARY_CODE;
  const all = given.filter(isOne);
  const errors = all.filter((d) => d.severity === 'error').length;
  const warnings = all.filter((d) => d.severity === 'warning').length;
  // Those that were cut off earlier were errors: warnings never stop a run.
  const hidden = Math.max(0, (total ?? 0) - all.length);
  // One speaks for itself.
  if (all.length + hidden === 1) return '';
  const parts: string[] = [];
  if (errors + hidden > 0) parts.push(countOf(errors + hidden, 'error'));
  if (warnings > 0) parts.push(countOf(warnings, 'warning'));
  const rest = all.length + hidden - shown.filter(isOne).length;
  return `${parts.join(', ')}${rest > 0 ? ` (${number(rest)} not shown)` : ''}\n`;
}

// ------------------------------------------------------------------------------------------------- line with a caret

function excerpt(
  source: string,
  { line, column = 1, length = 1 }: { readonly line: number; readonly column?: number; readonly length?: number },
  paint: ReturnType<typeof painter>,
  width = WIDTH + FRAME,
): readonly string[] {
  const number = String(line);
  const room = Math.max(LEAST, Math.min(WIDTH, width - FRAME - number.length));
  const { text, before, marked } = cutAround(source, column - 1, Math.max(1, length), room);
  const gutter = ' '.repeat(number.length);
  const caret = `${' '.repeat(before)}${paint.strong('^'.repeat(marked))}`;
  return [`  ${paint.dim(`${number} |`)} ${text}`.trimEnd(), `  ${paint.dim(`${gutter} |`)} ${caret}`];
}

/** One character as a reader sees it, with the columns that it takes on a terminal. */
interface Cell {
  readonly text: string;
  readonly width: number;
  /** Where it begins and ends in the window, in UTF-16 units of the line as it is in the file. */
  readonly index: number;
  readonly end: number;
}

/** The text, the columns before the caret and the columns that the caret marks. */
function cutAround(source: string, start: number, length: number, room: number) {
  // Only this much is read, so that a line of a megabyte costs nothing.
  const from = Math.max(0, Math.min(start, source.length) - WIDTH * 4);
  const cells = [...graphemes().segment(source.slice(from, from + WIDTH * 12))].map(({ segment, index }) => {
    const shown = segment === '\t' ? TAB : safeLine(segment);
    return { text: shown, width: displayWidth(shown), index, end: index + segment.length };
  });
  const first = cells.findIndex((cell) => cell.end > start - from);
  const at = first === -1 ? cells.length : first;
  const whole = from === 0 && source.length <= WIDTH * 12 && widthOf(cells) <= room;
  const left = whole ? 0 : leftEdge(cells, at, room);
  const right = whole ? cells.length : rightEdge(cells, left, room);
  const visible = cells.slice(left, right);
  const cutLeft = from > 0 || left > 0 ? '…' : '';
  const cutRight = right < cells.length || from + WIDTH * 12 < source.length ? '…' : '';
  const after = cells.findIndex((cell) => cell.index >= start - from + length);
  const marked = widthOf(cells.slice(at, Math.min(after === -1 ? cells.length : after, right)));
  return {
    text: (cutLeft + visible.map((cell) => cell.text).join('') + cutRight).trimEnd(),
    before: cutLeft.length + widthOf(cells.slice(left, at)),
    marked: Math.max(1, marked),
  };
}

/** The first cell to show, so that the caret is within the first two thirds of the width. */
function leftEdge(cells: readonly Cell[], at: number, room: number): number {
  let left = at;
  let width = 0;
  while (left > 0 && width + (cells[left - 1]?.width ?? 0) <= (room * 2) / 3) {
    left -= 1;
    width += cells[left]?.width ?? 0;
  }
  return left;
}

function rightEdge(cells: readonly Cell[], left: number, room: number): number {
  let right = left;
  let width = 0;
  while (right < cells.length && width + (cells[right]?.width ?? 0) <= room) {
    width += cells[right]?.width ?? 0;
    right += 1;
  }
  return right;
}

function widthOf(cells: readonly Cell[]): number {
  return cells.reduce((sum, cell) => sum + cell.width, 0);
}

const WIDTH = 100;
/** The least of a line that is worth showing. */
const LEAST = 20;
/** Two blanks, ` | ` behind the number, and an ellipsis at each end. */
const FRAME = 7;
const TAB = '    ';

// ----------------------------------------------------------------------------------------------------------- colour

function painter(colour: boolean, severity: string) {
  const paint = (style: string) => (text: string) => (colour ? `\u001b[${style}m${text}\u001b[0m` : text);
  return { strong: paint(`1;${severity}`), bold: paint('1'), dim: paint('2'), help: paint('1;36') };
}

const RED = '31';
const COLOURS: Readonly<Record<Diagnostic['severity'], string>> = { error: RED, warning: '33', note: '36' };

/** A diagnostic as machine formats have it: flat, with every field. */
export function diagnosticRecord({ code, severity, message, at, hint }: Diagnostic): object {
  return {
    code,
    severity,
    message,
    file: at?.file ?? null,
    line: at?.line ?? null,
    column: at?.column ?? null,
    hint: hint ?? null,
  };
}

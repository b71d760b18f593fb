import { type Diagnostic, problem, type SourceText, warning } from '../errors.ts';
import {
  findFlaw,
  findPreview,
  flattenValues,
  hideExpressions,
  isExpression,
  leftOutAttributes,
  pieceAt,
  type Shown,
  showExpressions,
  splitOutside,
} from './mjml-markup.ts';

/** UTF-8 bytes of a file with HTML. 0.5 MB of MJML sections takes 80 ms and becomes 3.5 MB of HTML (mrml 1.6.1). */
export const MAX_MJML_BYTES = 256 * 1024;

/**
 * Before Handlebars sees the text: expressions pass through. Reports one that would be lost (as in a width, which the compiler
 * computes), unclosed markup and a second preheader.
 */
export async function compileMjml(source: SourceText, hasPreheader = false) {
  const refuse = (offset: number | null, message: string, hint?: string, length?: number) => ({
    problem: problemAt(source, offset, message, hint, length),
  });
  if (Buffer.byteLength(source.text) > MAX_MJML_BYTES) {
    const message = `The MJML file is larger than ${MAX_MJML_BYTES / 1024} KB.`;
    return { problem: problem('file-too-large', message, { at: { file: source.file } }) };
  }
  const hidden = hideExpressions(source.text);
  if (hidden === null) {
    return refuse(null, 'The file holds all brackets that handbill needs for itself.', 'Leave out U+27E6 and U+27E7.');
  }
  const flaw = findFlaw(hidden.text);
  if (flaw !== null) return refuse(hidden.toSource(flaw.at), flaw.message, flaw.hint, flaw.length);
  const preview = hasPreheader ? findPreview(hidden.text) : null;
  if (preview !== null) {
    const message = 'The email has two preheaders: this one and content.preheader.';
    return refuse(hidden.toSource(preview), message, 'Remove one of them.', '<mj-preview'.length);
  }

  const { before, core, after } = splitOutside(hidden);
  const { mjmlToHtml } = await import('./mjml-engine.ts');
  const compiled = mjmlToHtml(flattenValues(core, hidden.marks.quote), (at) => {
    const piece = pieceAt(hidden, at + before.length);
    return piece !== undefined && isExpression(piece);
  });
  if (!('html' in compiled)) {
    const offset = compiled.at === null ? null : hidden.toSource(compiled.at + before.length);
    return refuse(offset, compiled.message, compiled.hint);
  }
  const shown = showExpressions(before + compiled.html + after, hidden);
  const kept = new Set(shown.copies.map(({ piece }) => piece));
  // Expressions in comments may be lost.
  const lost = hidden.pieces.find((piece) => isExpression(piece) && !kept.has(piece) && !/^\{\{~?!/.test(piece.text));
  if (lost !== undefined) {
    const hint =
      'MJML computes the layout before there are recipients, and leaves out attributes that it does not know.';
    return refuse(lost.start, `${lost.text} does not reach the email from here.`, hint, lost.text.length);
  }
  const warnings = leftOutAttributes(hidden.text).map(({ at, length, message, hint }) =>
    warning('content-advice', message, {
      ...placeIn(source, hidden.toSource(at), length),
      hint,
    }),
  );
  return {
    html: shown.text,
    warnings,
    relocate: (diagnostics: readonly Diagnostic[]) => relocate(diagnostics, source, shown),
  };
}

function relocate(diagnostics: readonly Diagnostic[], source: SourceText, shown: Shown): readonly Diagnostic[] {
  const starts = lineStarts(shown.text);
  const relocated = new Map<string, Diagnostic>();
  for (const diagnostic of diagnostics) {
    const moved = relocateOne(diagnostic, source, shown, starts);
    relocated.set(JSON.stringify([moved.code, moved.message, moved.at]), moved);
  }
  return [...relocated.values()];
}

/** Text before the first expression comes from the compiler: then only the file is named. */
function relocateOne(
  diagnostic: Diagnostic,
  source: SourceText,
  { copies }: Shown,
  starts: readonly number[],
): Diagnostic {
  const { at, source: _line, ...rest } = diagnostic;
  if (at?.file !== source.file || at.line === undefined) return diagnostic;
  const offset = (starts[at.line - 1] ?? 0) + (at.column ?? 1) - 1;
  const copy = copies.findLast(({ start }) => start <= offset);
  if (copy === undefined) return { ...rest, at: { file: at.file } };
  const { start, text } = copy.piece;
  return { ...rest, ...placeIn(source, start + Math.min(offset - copy.start, text.length - 1), at.length ?? 1) };
}

function problemAt(
  source: SourceText,
  offset: number | null,
  message: string,
  hint: string | undefined,
  length = 1,
): Diagnostic {
  const where = offset === null ? { at: { file: source.file } } : placeIn(source, offset, length);
  return problem('content-invalid', message, { ...where, hint });
}

function placeIn(source: SourceText, offset: number, length: number): Pick<Diagnostic, 'at' | 'source'> {
  const starts = lineStarts(source.text);
  const index = starts.findLastIndex((start) => start <= offset);
  const start = starts[index] ?? 0;
  const text = source.text.slice(start, starts[index + 1] ?? source.text.length).replace(/[\r\n]+$/, '');
  const column = offset - start + 1;
  const at = { file: source.file, line: source.line + index, column: source.column - 1 + column };
  return { at: { ...at, length: Math.max(1, Math.min(length, text.length - column + 1)) }, source: text };
}

function lineStarts(text: string): readonly number[] {
  return [0, ...Array.from(text.matchAll(/\r\n?|\n/g), (end) => end.index + end[0].length)];
}

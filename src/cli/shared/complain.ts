import type { Diagnostic } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { type DiagnosticTextOptions, formatDiagnostics } from '../../util/diagnostic-text.ts';

/** Prints diagnostics, if there are any, on stderr. */
export function complain(
  { err, colour, width }: Pick<CommandContext, 'err' | 'colour'> & Partial<Pick<CommandContext, 'width'>>,
  diagnostics: readonly Diagnostic[],
  options: Partial<DiagnosticTextOptions> = {},
): void {
  if (diagnostics.length > 0)
    err(formatDiagnostics(diagnostics, { colour: colour.err, ...(width === undefined ? {} : { width }), ...options }));
}

import type { Diagnostic } from '../errors.ts';

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

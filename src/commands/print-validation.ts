import type { Code, Diagnostic } from '../errors.ts';
import type { Estimate } from '../plan/estimate.ts';
import { countOf, number } from '../report/words.ts';
import { formatDiagnostics } from '../util/diagnostic-text.ts';
import { safeLine } from '../util/safe.ts';
import type { CheckedFile, ValidateOptions, Validation } from './check-campaigns.ts';
import { countKey } from './collector.ts';
import type { CommandContext } from './context.ts';

type Run = (more: Partial<ValidateOptions>) => Promise<Validation>;

/** Errors that are shown; the rest is counted. */
const SHOWN = 20;

/** Warnings that a list may have in every row: one line stands for all of them. */
const PER_ROW: readonly Code[] = ['unassigned-number', 'unicode-message', 'transliterated', 'duplicate-address'];

/** Diagnostics on stderr, then a line for each campaign on stdout. */
export async function printText(run: Run, context: CommandContext, quiet: boolean): Promise<Validation> {
  const validation = await run({});
  if (quiet && validation.errors === 0) return validation;
  const errors = validation.diagnostics.filter((one) => one.severity === 'error').slice(0, SHOWN);
  const warnings = summedUp(validation);
  const all = [...errors, ...warnings];
  context.err(formatDiagnostics(all, { colour: context.colour.err, total: validation.errors + warnings.length }));
  await context.out(validation.files.map(fileLine).join(''));
  return validation;
}

/** One document, written while the lists are read, so that a million faults need no memory. */
export async function printJson(run: Run, context: CommandContext, quiet: boolean): Promise<Validation> {
  let begun = false;
  // With --quiet nothing may be printed before it is known that there is an error: warnings are few kinds, and wait.
  const held: Diagnostic[] = [];
  let speaking = !quiet;
  let block = '';
  const write = (diagnostic: Diagnostic) => {
    block += `${begun ? ',\n  ' : '{ "diagnostics": [\n  '}${JSON.stringify(record(diagnostic))}`;
    begun = true;
    if (block.length < BLOCK) return;
    const full = block;
    block = '';
    return context.out(full);
  };
  const validation = await run({
    keep: 0,
    onDiagnostic: (diagnostic) => {
      if (!speaking && diagnostic.severity === 'warning') {
        if (held.length < MAX_HELD) held.push(diagnostic);
        return;
      }
      speaking = true;
      for (const earlier of held.splice(0)) void write(earlier);
      return write(diagnostic);
    },
  });
  if (quiet && validation.errors === 0) return validation;
  await context.out(begun ? `${block}\n] }\n` : '{ "diagnostics": [] }\n');
  return validation;
}

/** Characters per write: a diagnostic is much smaller than a good write. */
const BLOCK = 64 * 1024;

/** Warnings that --quiet keeps back until there is an error. */
const MAX_HELD = 10_000;

function record(diagnostic: Diagnostic): object {
  const { code, severity, message, at, hint } = diagnostic;
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

/** The warnings, with one for all rows of a kind. */
function summedUp({ diagnostics, counts }: Validation): readonly Diagnostic[] {
  const shown = new Set<Code>();
  return diagnostics.flatMap((one) => {
    if (one.severity !== 'warning') return [];
    if (!PER_ROW.includes(one.code)) return [one];
    if (shown.has(one.code)) return [];
    shown.add(one.code);
    const others = (counts.get(countKey(one)) ?? 1) - 1;
    return [
      others === 0 ? one : { ...one, message: `${one.message} The same kind in ${countOf(others, 'more row')}.` },
    ];
  });
}

function fileLine({ file, errors, estimate }: CheckedFile): string {
  const verdict = errors === 0 ? 'ok' : countOf(errors, 'error');
  return `${safeLine(file)}: ${estimate === null ? '' : `${figures(estimate)}: `}${verdict}\n`;
}

function figures({ rows, send, skipped, deferred, invalid, parts, encodings }: Estimate): string {
  const reasons = Object.entries(skipped).map(([reason, count]) => `${number(count)} ${reason}`);
  const deferredRows = Object.values(deferred).reduce((sum, count) => sum + count, 0);
  const skippedRows = Object.values(skipped).reduce((sum, count) => sum + count, 0);
  const texts = [countOf(rows, 'recipient'), `${number(send)} to send`];
  if (deferredRows > 0) texts.push(`${number(deferredRows)} deferred`);
  if (skippedRows > 0) texts.push(`${number(skippedRows)} skipped (${reasons.join(', ')})`);
  if (invalid > 0) texts.push(`${number(invalid)} invalid`);
  // Only an SMS has parts.
  if (Object.keys(encodings).length > 0) texts.push(countOf(parts, 'part'));
  return texts.join(', ');
}

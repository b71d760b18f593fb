import { realpath } from 'node:fs/promises';
import type { Code, Diagnostic } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import type { ValidatedFile, ValidateOptions, Validation } from '../../operations/validate.ts';
import { countKey, figuresOf } from '../../operations/validate.ts';
import { version } from '../../operations/version.ts';
import { countOf } from '../../report/words.ts';
import { diagnosticRecord, formatDiagnostics } from '../../util/diagnostic-text.ts';
import { jsonText, safeLine } from '../../util/safe.ts';
import { withOutput } from '../shared/output-sink.ts';
import type { ValidationDocument } from './findings.ts';
import { createGatherer, PER_ROW, repositoryPaths, sumUp } from './findings.ts';
import { withoutCommands } from './github.ts';

export const VALIDATION_FORMATS = ['text', 'json', 'sarif', 'github', 'junit'] as const;
export type ValidationFormat = (typeof VALIDATION_FORMATS)[number];

type Run = (more: Partial<ValidateOptions>) => Promise<Validation>;

interface Printing {
  readonly context: CommandContext;
  /** Takes the results. */
  readonly out: CommandContext['out'];
  /** Nothing is printed if there are no errors. */
  readonly quiet: boolean;
  /** Results go to a file, which is written even on an error: its reader expects one. */
  readonly toFile: boolean;
}

type Print = (run: Run, printing: Printing) => Promise<Validation>;

/** Errors that are shown; the rest is counted. */
const SHOWN = 20;

/**
 * Runs the validation and prints it, to stdout or to a file. Beside a file the diagnostics are shown on stderr as in
 * `text`, so that the log of a CI system has them too.
 *
 * @param output - file to write, relative to the working directory
 */
export async function printValidation(
  format: ValidationFormat,
  run: Run,
  context: CommandContext,
  { quiet, output }: { readonly quiet: boolean; readonly output: string | undefined },
): Promise<Validation> {
  const toFile = output !== undefined;
  const validation = await withOutput({ output, quiet }, context, (out) =>
    PRINTERS[format](run, { context, out, quiet, toFile }),
  );
  if (toFile && format !== 'text' && !isSilent(quiet, validation)) complain(validation, context);
  return validation;
}

function isSilent(quiet: boolean, { errors }: Validation): boolean {
  return quiet && errors === 0;
}

/** Diagnostics on stderr, then a line for each campaign on stdout. */
const printText: Print = async (run, { context, out, quiet, toFile }) => {
  const validation = await run({});
  const silent = isSilent(quiet, validation);
  if (!silent) complain(validation, context);
  if (!silent || toFile) await out(validation.files.map(fileLine).join(''));
  return validation;
};

/** The first errors, and each kind of warning, on stderr. */
function complain(validation: Validation, context: CommandContext): void {
  const errors = validation.diagnostics.filter((one) => one.severity === 'error').slice(0, SHOWN);
  const warnings = summedUp(validation);
  const all = [...errors, ...warnings];
  const text = formatDiagnostics(all, { colour: context.colour.err, total: validation.errors + warnings.length });
  context.err(context.env['GITHUB_ACTIONS'] === 'true' ? withoutCommands(text) : text);
}

/** One document, written while the lists are read, so that a million faults need no memory. */
const printJson: Print = async (run, { out, quiet, toFile }) => {
  let begun = false;
  // With --quiet nothing may be printed before it is known that there is an error: warnings are few kinds, and wait.
  const held: Diagnostic[] = [];
  let speaking = !quiet || toFile;
  let block = '';
  const write = (diagnostic: Diagnostic) => {
    block += `${begun ? ',\n  ' : '{ "diagnostics": [\n  '}${jsonText(diagnosticRecord(diagnostic))}`;
    begun = true;
    if (block.length < BLOCK) return;
    const full = block;
    block = '';
    return out(full);
  };
  const validation = await run({
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
  if (!toFile && isSilent(quiet, validation)) return validation;
  await out(begun ? `${block}\n] }\n` : '{ "diagnostics": [] }\n');
  return validation;
};

/** A document with all findings, within bounds. */
function printDocument(load: () => Promise<(document: ValidationDocument) => string>): Print {
  return async (run, { context, out, quiet, toFile }) => {
    const gatherer = createGatherer();
    const validation = await run({ onDiagnostic: gatherer.add });
    if (!toFile && isSilent(quiet, validation)) return validation;
    const pathOf = await repositoryPaths(await realpath(context.cwd));
    const format = await load();
    await out(format({ validation, kinds: gatherer.kinds(), pathOf, version: version() }));
    return validation;
  };
}

/** A new format is a file and a line here, loaded when it is asked for. */
const PRINTERS: Readonly<Record<ValidationFormat, Print>> = {
  text: printText,
  json: printJson,
  sarif: printDocument(async () => (await import('./sarif.ts')).formatSarif),
  github: printDocument(async () => (await import('./github.ts')).formatGithub),
  junit: printDocument(async () => (await import('./junit.ts')).formatJunit),
};

/** Characters per write: a diagnostic is much smaller than a good write. */
const BLOCK = 64 * 1024;

/** Warnings that --quiet keeps back until there is an error. */
const MAX_HELD = 10_000;

/** The warnings, with one for all rows of a kind; those of rows behind the others, the most important kind first. */
function summedUp({ diagnostics, counts }: Validation): readonly Diagnostic[] {
  const shown = new Set<Code>();
  const warnings = diagnostics.filter(({ severity }) => severity === 'warning');
  const rank = ({ code }: Diagnostic): number => PER_ROW.indexOf(code);
  return warnings
    .toSorted((a, b) => rank(a) - rank(b))
    .flatMap((one) => {
      if (!PER_ROW.includes(one.code)) return [one];
      if (shown.has(one.code)) return [];
      shown.add(one.code);
      return [{ ...one, message: sumUp(one.message, counts.get(countKey(one)) ?? 1) }];
    });
}

function fileLine({ file, errors, estimate }: ValidatedFile): string {
  const verdict = errors === 0 ? 'ok' : countOf(errors, 'error');
  return `${safeLine(file)}: ${estimate === null ? '' : `${figuresOf(estimate)}: `}${verdict}\n`;
}

import { realpath } from 'node:fs/promises';
import type { Code, Diagnostic } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import {
  countKey,
  figuresOf,
  type ValidatedFile,
  type ValidateOptions,
  type Validation,
} from '../../operations/validate.ts';
import type { Estimate } from '../../plan/estimate.ts';
import { countOf, number } from '../../report/words.ts';
import { diagnosticRecord, formatDiagnostics } from '../../util/diagnostic-text.ts';
import { jsonText, safeLine } from '../../util/escape.ts';
import { table } from '../../util/table.ts';
import { withOutput } from '../shared/output-sink.ts';
import { createGatherer, keyOf, PER_ROW, repositoryPaths, sumUp, type ValidationDocument } from './findings.ts';

export const VALIDATION_FORMATS = ['text', 'json', 'github', 'junit'] as const;
type ValidationFormat = (typeof VALIDATION_FORMATS)[number];

type Run = (more: Partial<ValidateOptions>) => Promise<Validation>;

type Print = (
  run: Run,
  printing: {
    readonly context: CommandContext;
    readonly out: CommandContext['out'];
    /** Prints nothing if there are no errors. */
    readonly quiet: boolean;
    /** Results go to a file, which is written even on an error: its reader expects one. */
    readonly toFile: boolean;
  },
) => Promise<Validation>;

const SHOWN = 20;

/** Prints to stdout or to `output`; beside a file, diagnostics go to stderr as in `text`, for the log of CI. */
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

const printText: Print = async (run, { context, out, quiet, toFile }) => {
  const campaigns = new Map<Code, Set<string | null>>();
  const validation = await run({
    onDiagnostic({ code, severity }, campaign) {
      if (severity !== 'warning') return;
      const known = campaigns.get(code);
      if (known === undefined) campaigns.set(code, new Set([campaign]));
      else known.add(campaign);
    },
  });
  const silent = isSilent(quiet, validation);
  if (!silent) complain(validation, context, campaigns);
  if (!silent || toFile) await out(filesText(validation.files, context));
  if (!silent) context.err(validation.notes.map((note) => `Note: ${safeLine(note)}\n`).join(''));
  return validation;
};

function complain(
  validation: Validation,
  context: CommandContext,
  campaigns: ReadonlyMap<Code, ReadonlySet<string | null>> = new Map(),
): void {
  const { shown, below } = byCause(validation);
  const warnings = uniqueOf(summedUp(validation, campaigns));
  context.err(
    formatDiagnostics([...shown, ...warnings], {
      colour: context.colour.err,
      width: context.width,
      total: validation.errors + warnings.length,
      below: (diagnostic) => below.get(diagnostic) ?? '',
      explain: context.terminal !== undefined,
    }),
  );
}

/**
 * Groups errors by code if a screen cannot hold them: first errors in files, one of which may cause a thousand faults
 * in rows, then the most frequent. `below`: a line after the last example of each code, with how many more there are.
 */
function byCause({ diagnostics, errors, counts }: Validation) {
  const all = uniqueOf(diagnostics.filter((one) => one.severity === 'error'));
  const groups = [...Map.groupBy(all, ({ code }) => code).values()].map((group) => ({
    group,
    count: counts.get(countKey(group[0] as Diagnostic)) ?? group.length,
  }));
  if (errors <= SHOWN && groups.every(({ group }) => group.length < MANY)) return { shown: all, below: new Map() };
  const isOfRows = ({ count }: { readonly count: number }): number => (count > EXAMPLES ? 1 : 0);
  const sorted = groups.toSorted((a, b) => isOfRows(a) - isOfRows(b) || b.count - a.count);
  const below = new Map<Diagnostic, string>();
  const shown = sorted.flatMap(({ group, count }) => {
    const examples = group.slice(0, count > EXAMPLES ? EXAMPLES - 1 : EXAMPLES);
    const last = examples.at(-1);
    if (last !== undefined && count > examples.length) below.set(last, moreOf(group, examples.length, count));
    return examples;
  });
  return { shown, below };
}

/** `1,232 more like it: lines 4, 5, 6, 7, 8 and others` */
function moreOf(group: readonly Diagnostic[], shown: number, count: number): string {
  const file = group[0]?.at?.file;
  const rest = group.slice(shown).filter(({ at }) => at?.line !== undefined && at.file === file);
  const lines = rest.slice(0, NAMED).map(({ at }) => String(at?.line));
  const where = lines.length === 0 ? '' : `: ${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}`;
  const others = lines.length > 0 && count - shown > lines.length ? ' and others' : '';
  return `${number(count - shown)} more like it${where}${others}`;
}

/** Shows shared findings of several campaigns once. */
function uniqueOf(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return [...new Map(diagnostics.map((one) => [keyOf(one), one])).values()];
}

/** From so many errors of one code on, a few are shown, however few errors there are. */
const MANY = 10;
const EXAMPLES = 3;
const NAMED = 8;

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

function printDocument(load: () => Promise<(document: ValidationDocument) => string>): Print {
  return async (run, { context, out, quiet, toFile }) => {
    const gatherer = createGatherer();
    const validation = await run({ onDiagnostic: gatherer.add });
    if (!toFile && isSilent(quiet, validation)) return validation;
    const pathOf = repositoryPaths(await realpath(context.cwd));
    const format = await load();
    await out(format({ validation, kinds: gatherer.kinds(), pathOf }));
    return validation;
  };
}

/** A new format is a file and a line here, loaded when it is asked for. */
const PRINTERS: Readonly<Record<ValidationFormat, Print>> = {
  text: printText,
  json: printJson,
  github: printDocument(async () => (await import('./github.ts')).formatGithub),
  junit: printDocument(async () => (await import('./junit.ts')).formatJunit),
};

const BLOCK = 64 * 1024;
/** Warnings that --quiet keeps back until there is an error. */
const MAX_HELD = 10_000;

/** The warnings, one for all rows of a kind, even of those not kept; those of rows last, the most important first. */
function summedUp({ diagnostics, counts }: Validation, campaigns: ReadonlyMap<Code, ReadonlySet<string | null>>) {
  const shown = new Set<Code>();
  const warnings = diagnostics.filter(({ severity }) => severity === 'warning');
  const rank = ({ code }: Diagnostic): number => PER_ROW.indexOf(code);
  return warnings
    .toSorted((a, b) => rank(a) - rank(b))
    .flatMap((one) => {
      const count = counts.get(countKey(one)) ?? 1;
      if (!PER_ROW.includes(one.code) && count <= SHOWN) return [one];
      if (shown.has(one.code)) return [];
      shown.add(one.code);
      return [{ ...one, message: sumUp(one.message, count, campaigns.get(one.code)?.size) }];
    });
}

/** A sentence for one campaign, a table for several: those with errors last, where they are seen, above the sums. */
function filesText(files: readonly ValidatedFile[], { tableWidth, width }: CommandContext): string {
  const named = files.map((one) => {
    // The file where another campaign has the name.
    const isOnce = files.filter(({ name }) => name === one.name).length === 1;
    const sample = one.sample === null ? '' : ` (sample ${one.sample})`;
    return { ...one, shown: `${isOnce ? (one.name ?? one.file) : one.file}${sample}` };
  });
  if (files.length < 2) {
    const lines = named.map(({ shown, errors, schedule, estimate }) => {
      const verdict = errors === 0 ? 'ok' : countOf(errors, 'error');
      const when = schedule === null ? '' : `  ${safeLine(schedule)}\n`;
      return `${safeLine(shown)}: ${estimate === null ? '' : `${figuresOf(estimate)}: `}${verdict}\n${when}`;
    });
    return lines.join('');
  }
  const sorted = named.toSorted((a, b) => Number(a.errors > 0) - Number(b.errors > 0));
  const rows = sorted.map(({ shown, errors, schedule, estimate }) => [
    shown,
    estimate === null ? '' : number(estimate.rows),
    estimate === null ? '' : number(estimate.send),
    estimate === null || Object.keys(estimate.encodings).length === 0 ? '' : number(estimate.parts),
    errors === 0 ? 'ok' : countOf(errors, 'error'),
    schedule ?? '',
    estimate === null ? '' : leftOut(estimate),
  ]);
  const sum = (of: (estimate: Estimate) => number): string =>
    number(files.reduce((total, { estimate }) => total + (estimate === null ? 0 : of(estimate)), 0));
  const failed = files.filter(({ errors }) => errors > 0).length;
  const all = [sum(({ rows }) => rows), sum(({ send }) => send), sum(({ parts }) => parts)];
  const state = failed === 0 ? 'all ok' : `${number(failed)} with errors`;
  const right = { align: 'right' as const };
  return table(
    [...rows, [countOf(files.length, 'campaign'), ...all, state]],
    [
      { title: 'campaign' },
      { title: 'recipients', ...right },
      { title: 'to send', ...right },
      { title: 'parts', ...right, drop: 1 },
      {},
      { title: 'schedule', drop: 3 },
      { title: 'left out', shrink: true, drop: 2 },
    ],
    { width: tableWidth ?? width },
  );
}

/** `6 condition, 1 duplicate, 2 invalid` */
function leftOut({ skipped, deferred, invalid }: Estimate): string {
  const all = [...Object.entries(skipped), ...Object.entries(deferred), ['invalid', invalid] as const];
  return all.flatMap(([reason, count]) => (count > 0 ? [`${number(count)} ${reason}`] : [])).join(', ');
}

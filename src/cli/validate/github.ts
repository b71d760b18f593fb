import type { Code } from '../../errors.ts';
import { countOf, number } from '../../report/words.ts';
import { safe, withoutCommands } from '../../util/escape.ts';
import { type Finding, findingsOf, type Place, placeOf, type ValidationDocument } from './findings.ts';

/** For errors, and as many for warnings: GitHub shows 10 each per step and 50 per job. */
const MOST_ANNOTATIONS = 50;

/** Errors first, then the counts. GitHub shows few: each kind of fault in each file gets one before a second. */
export function formatGithub(document: ValidationDocument): string {
  const findings = findingsOf(document.kinds);
  const chosen = [...firstOf(findings, 'error'), ...firstOf(findings, 'warning')];
  const lines = chosen.map((finding) => annotation(finding, placeOf(finding.diagnostic, document.pathOf)));
  const { errors, warnings, files, total } = document.validation;
  const rest = total - chosen.reduce((sum, { count }) => sum + count, 0);
  const left = rest > 0 ? ` (${number(rest)} not listed; --format json lists all)` : '';
  const counts = `${countOf(errors, 'error')}, ${countOf(warnings, 'warning')}`;
  // Only numbers and our own words: nothing in it can be read as a command.
  const last = `${counts} in ${countOf(files.length, 'campaign')}${left}.`;
  return [...lines, last].map((line) => `${line}\n`).join('');
}

function firstOf(findings: readonly Finding[], severity: 'error' | 'warning'): readonly Finding[] {
  return findings
    .filter(({ diagnostic }) => diagnostic.severity === severity)
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, MOST_ANNOTATIONS);
}

/** Facts about the machine, which has no list: nothing is wrong with a file. */
const NOTICES: ReadonlySet<Code> = new Set<Code>(['list-sampled']);

function annotation({ diagnostic, message }: Finding, { path, line, column, length, shown }: Place): string {
  // The value of a property, which also ends at a comma or a colon.
  const properties = Object.entries({
    file: path,
    line,
    endLine: line,
    col: column,
    endColumn: column === null || length === null ? null : column + length - 1,
    title: `handbill: ${diagnostic.code}`,
  }).flatMap(([key, value]) =>
    value === null ? [] : [`${key}=${data(String(value)).replaceAll(':', '%3A').replaceAll(',', '%2C')}`],
  );
  // The log shows only the message: the place must be in it.
  const text = [shown === '' ? message : `${shown}: ${message}`, diagnostic.hint ?? ''].filter((one) => one !== '');
  const command = NOTICES.has(diagnostic.code) ? 'notice' : diagnostic.severity;
  return `::${command} ${properties.join(',')}::${data(withoutCommands(text.join('\n')))}`;
}

/** The part after the second `::`; escapes as in the toolkit's own `command.ts`. */
function data(text: string): string {
  return safe(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

import { relative, resolve, sep } from 'node:path';
import type { Code, Diagnostic } from '../../errors.ts';
import type { Validation } from '../../operations/validate.ts';
import { number } from '../../report/words.ts';
import { safeLine } from '../../util/escape.ts';
import { repositoryOf } from '../../util/git.ts';
import { isInside } from '../../util/paths.ts';

export interface ValidationDocument {
  readonly validation: Validation;
  readonly kinds: readonly Kind[];
  readonly pathOf: RepositoryPath;
}

/** Diagnostics of one code in one file, found while one campaign was checked. */
export interface Kind {
  /** The campaign as named on the command line; null for findings before the first one. */
  readonly campaign: string | null;
  readonly code: Code;
  readonly severity: Diagnostic['severity'];
  /** The first ones, in the order of their discovery; at least one. */
  readonly kept: readonly Diagnostic[];
  readonly count: number;
}

/** Warnings that a list may have in every row: one line sums up all of a kind. The most important ones first. */
export const PER_ROW: readonly Code[] = [
  'wrong-length-number',
  'special-number',
  'unusual-address',
  'landline-number',
  'duplicate-differs',
  'duplicate-address',
  'value-in-link',
  'link-shortener',
  'insecure-link',
  'no-opt-out',
  'cut-link',
  'odd-blanks',
  'capitals',
  'unicode-message',
  'transliterated',
  'unassigned-number',
];

/** Findings of one kind in one file that any format lists, so that memory stays flat. */
const MOST_OF_A_KIND = 50;

/** Gathers the findings of `validate`, kinds in the order in which the first of each was found. */
export function createGatherer() {
  const kinds = new Map<string, Kind & { kept: Diagnostic[]; count: number }>();
  return {
    add(diagnostic: Diagnostic, campaign: string | null): void {
      const { code, severity, at } = diagnostic;
      const key = `${campaign ?? ''}\0${at?.file ?? ''}\0${severity} ${code}`;
      const kind = kinds.get(key);
      if (kind === undefined) {
        kinds.set(key, { campaign, code, severity, kept: [diagnostic], count: 1 });
        return;
      }
      kind.count += 1;
      if (severity === 'warning' && PER_ROW.includes(code)) return;
      if (kind.kept.length < MOST_OF_A_KIND) kind.kept.push(diagnostic);
    },
    kinds: (): readonly Kind[] => [...kinds.values()],
  };
}

export interface Finding {
  readonly diagnostic: Diagnostic;
  /** The message. If it sums up all rows of its kind, it says how many. */
  readonly message: string;
  readonly count: number;
  /** From 0. */
  readonly rank: number;
}

/** Diagnostics that were kept. What several campaigns share is wrong once: a list, a partial. */
export function findingsOf(kinds: readonly Kind[]): readonly Finding[] {
  const found = kinds.flatMap((kind) =>
    kind.kept.map((diagnostic, rank) => {
      const count = kind.severity === 'warning' && PER_ROW.includes(kind.code) ? kind.count : 1;
      return { diagnostic, message: sumUp(diagnostic.message, count), count, rank };
    }),
  );
  const equal = Map.groupBy(found, ({ diagnostic, message }) => keyOf({ ...diagnostic, message })).values();
  return [...equal].flatMap((same): readonly Finding[] => {
    const [first] = same;
    return first === undefined ? [] : [{ ...first, count: same.reduce((sum, { count }) => sum + count, 0) }];
  });
}

/** The same for what is equal to a reader. */
export function keyOf({ code, severity, message, at }: Diagnostic): string {
  return JSON.stringify([severity, code, message, at?.file, at?.line, at?.column]);
}

/**
 * A row may have several findings of a kind: a fallback is a message too.
 * @param campaigns how many they are of, where that is known
 */
export function sumUp(message: string, count: number, campaigns = 1): string {
  const where = campaigns > 1 ? `, in ${number(campaigns)} campaigns` : '';
  return count === 1 ? message : `${message} ${number(count - 1)} more of the same kind${where}.`;
}

/** Where a diagnostic is shown by a system that knows the files of one repository. */
export interface Place {
  /** Path from the root of the repository; null where the diagnostic has no file in it. */
  readonly path: string | null;
  readonly line: number | null;
  readonly column: number | null;
  /** UTF-16 units; null where the diagnostic does not say. */
  readonly length: number | null;
  /** For people: `file:line:column`, also of a file outside; empty if there is none. */
  readonly shown: string;
}

export function placeOf({ at }: Diagnostic, pathOf: RepositoryPath): Place {
  if (at === undefined) return { path: null, line: null, column: null, length: null, shown: '' };
  const path = pathOf(at.file);
  const line = at.line ?? null;
  const column = line === null ? null : (at.column ?? null);
  const shown = [safeLine(path ?? at.file), line, column].filter((part) => part !== null).join(':');
  // A line of another file would mark the wrong line in the file that is shown instead.
  return path === null
    ? { path, line: null, column: null, length: null, shown }
    : { path, line, column, length: column === null ? null : (at.length ?? null), shown };
}

type RepositoryPath = (file: string) => string | null;

/** CI systems need paths from the root of the repository; outside of one, from `cwd`, a real path. */
export function repositoryPaths(cwd: string): RepositoryPath {
  const root = repositoryOf(cwd) ?? cwd;
  return (file) => {
    const path = resolve(cwd, file);
    return path !== root && isInside(root, path) ? relative(root, path).split(sep).join('/') : null;
  };
}

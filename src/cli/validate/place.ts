import type { Diagnostic } from '../../errors.ts';
import { safeLine } from '../../util/safe.ts';
import type { RepositoryPath } from './repository.ts';

/** Where a diagnostic is shown by a system that knows the files of one repository. */
export interface Place {
  /** Path from the root of the repository; null where the diagnostic has no file in it. */
  readonly path: string | null;
  readonly line: number | null;
  readonly column: number | null;
  /** UTF-16 units; null where the diagnostic does not say. */
  readonly length: number | null;
  /** For people: `file:line:column`, also of a file outside; empty where there is none. */
  readonly shown: string;
}

export function placeOf({ at }: Diagnostic, pathOf: RepositoryPath): Place {
  if (at === undefined) return { path: null, line: null, column: null, length: null, shown: '' };
  const path = pathOf(at.file);
  const line = at.line ?? null;
  const column = line === null ? null : (at.column ?? null);
  const shown = [safeLine(path ?? at.file), line, column].filter((part) => part !== null).join(':');
  // A line of another file would mark something else in whatever is shown in its place.
  return path === null
    ? { path, line: null, column: null, length: null, shown }
    : { path, line, column, length: column === null ? null : (at.length ?? null), shown };
}

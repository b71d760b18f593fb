import type { Diagnostic } from '../errors.ts';

/** Counts diagnostics, and keeps the first ones of each code: memory stays flat however long a list is. */
export interface Collector {
  /** Returns a promise only when whoever listens asks to wait. */
  add(diagnostic: Diagnostic): Promise<void> | undefined;
  /** `total` counts those, too, that were cut off before they came here; they are errors of the last one's code. */
  addAll(diagnostics: readonly Diagnostic[], total?: number): Promise<void> | undefined;
  /** As `addAll`, without those that were added this way before: a project is read once per campaign. */
  addOnce(diagnostics: readonly Diagnostic[]): Promise<void> | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly errors: number;
  /** Errors that were not added because they had been: whatever they were found in is wrong all the same. */
  readonly repeated: number;
  readonly warnings: number;
  readonly counts: ReadonlyMap<string, number>;
}

export function createCollector(
  keep: number,
  onDiagnostic: ((diagnostic: Diagnostic) => Promise<void> | void) | undefined,
): Collector {
  const kept: Diagnostic[] = [];
  const counts = new Map<string, number>();
  const once = new Set<string>();
  let errors = 0;
  let repeated = 0;
  let warnings = 0;

  const count = (diagnostic: Diagnostic, more: number): number => {
    const key = countKey(diagnostic);
    const now = (counts.get(key) ?? 0) + more;
    counts.set(key, now);
    if (diagnostic.severity === 'error') errors += more;
    else warnings += more;
    return now;
  };
  const add = (diagnostic: Diagnostic): Promise<void> | undefined => {
    if (count(diagnostic, 1) <= keep) kept.push(diagnostic);
    return onDiagnostic?.(diagnostic) ?? undefined;
  };
  const addAll = (diagnostics: readonly Diagnostic[], total = diagnostics.length): Promise<void> | undefined => {
    let wait: Promise<void> | undefined;
    for (const diagnostic of diagnostics) {
      // Output keeps its order by itself; only the last one says when to go on.
      wait = add(diagnostic) ?? wait;
    }
    const last = diagnostics.findLast((one) => one.severity === 'error');
    if (last !== undefined && total > diagnostics.length) count(last, total - diagnostics.length);
    return wait;
  };
  return {
    add,
    addAll,
    addOnce: (diagnostics) => {
      const fresh = diagnostics.filter((diagnostic) => {
        const key = JSON.stringify([diagnostic.code, diagnostic.message, diagnostic.at]);
        if (!once.has(key)) return once.add(key);
        if (diagnostic.severity === 'error') repeated += 1;
        return false;
      });
      return addAll(fresh);
    },
    diagnostics: kept,
    get errors() {
      return errors;
    },
    get repeated() {
      return repeated;
    },
    get warnings() {
      return warnings;
    },
    counts,
  };
}

/** Under which diagnostics are counted together. */
export function countKey(diagnostic: Diagnostic): string {
  return `${diagnostic.severity} ${diagnostic.code}`;
}

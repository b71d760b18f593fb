/**
 * Says which requests were refused, and why: nothing of what they held, and never more than a line in ten seconds for
 * each.
 */
export interface RefusalLog {
  refused(status: number, reason: string): void;
  /** Says what was held back. */
  flush(): void;
}

const INTERVAL_MS = 10_000;

/** @param log null: says nothing */
export function createRefusalLog(log: ((line: string) => void) | null, now: () => number): RefusalLog {
  const kinds = new Map<string, { saidMs: number; held: number }>();
  const say = (text: string, count: number): void => log?.(`refused: ${text}${count > 1 ? ` (${count} times)` : ''}`);
  return {
    refused(status, reason) {
      const text = `${status}, ${reason}`;
      const kind = kinds.get(text) ?? { saidMs: Number.NEGATIVE_INFINITY, held: 0 };
      kinds.set(text, kind);
      kind.held++;
      const nowMs = now();
      if (nowMs - kind.saidMs < INTERVAL_MS) return;
      say(text, kind.held);
      kind.saidMs = nowMs;
      kind.held = 0;
    },
    flush() {
      for (const [text, kind] of kinds) {
        if (kind.held > 0) say(text, kind.held);
        kind.held = 0;
      }
    },
  };
}

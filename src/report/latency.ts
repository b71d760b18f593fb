import type { Json, RequestFigures } from '../model.ts';
import { isMapping } from '../util/json.ts';

/** Small enough for one row of the ledger: `[bucket, count]` for each bucket in use. */
type SavedLatency = {
  readonly version: 1;
  readonly minMs: number;
  readonly maxMs: number;
  readonly buckets: readonly (readonly [bucket: number, count: number])[];
};

export type Latency = ReturnType<typeof createLatency>;

/**
 * Latencies of any number of requests in a fixed 5 KiB: a histogram whose buckets grow by 3%, so that the middle of one
 * is at most 1.5% from its values: from 10 us to 24 h, in 775 buckets. The first and the last bucket count values beyond.
 */
export function createLatency(saved: SavedLatency | null = null) {
  const counts = new Float64Array(BUCKETS);
  let count = 0;
  let minMs = Number.POSITIVE_INFINITY;
  let maxMs = 0;

  const merge = (other: SavedLatency): void => {
    for (const [bucket, more] of other.buckets) {
      counts[bucket] = (counts[bucket] ?? 0) + more;
      count += more;
    }
    if (other.buckets.length === 0) return;
    minMs = Math.min(minMs, other.minMs);
    maxMs = Math.max(maxMs, other.maxMs);
  };
  const percentile = (p: number): number => {
    if (count === 0) return 0;
    const rank = Math.max(1, Math.ceil((p / 100) * count));
    let seen = 0;
    let bucket = 0;
    for (; bucket < BUCKETS - 1; bucket++) {
      seen += counts[bucket] ?? 0;
      if (seen >= rank) break;
    }
    return Math.min(maxMs, Math.max(minMs, SMALLEST_MS * Math.exp((bucket + 0.5) * GROWTH)));
  };
  if (saved !== null) merge(saved);
  return {
    /** Ignores values that are negative or not finite. */
    add(ms: number): void {
      if (!(ms >= 0 && ms < Number.POSITIVE_INFINITY)) return;
      const bucket = ms <= SMALLEST_MS ? 0 : Math.min(BUCKETS - 1, Math.floor(Math.log(ms / SMALLEST_MS) / GROWTH));
      counts[bucket] = (counts[bucket] ?? 0) + 1;
      count++;
      if (ms < minMs) minMs = ms;
      if (ms > maxMs) maxMs = ms;
    },
    merge,
    get count(): number {
      return count;
    },
    /** The latency that `p` percent (0 to 100) of the requests did not exceed, within 2%; 0 without any request. */
    percentile,
    /** p50, p95 and p99, rounded to a hundredth of a millisecond. */
    figures(): RequestFigures['latencyMs'] {
      const rounded = (p: number) => Math.round(percentile(p) * 100) / 100;
      return { p50: rounded(50), p95: rounded(95), p99: rounded(99) };
    },
    save(): SavedLatency {
      const buckets: (readonly [number, number])[] = [];
      for (const [bucket, held] of counts.entries()) if (held > 0) buckets.push([bucket, held]);
      return { version: 1, minMs: count === 0 ? 0 : minMs, maxMs, buckets };
    },
  };
}

/** Reads the result of `save` from JSON; null for anything else, as from another version. */
export function readLatency(json: Json | undefined): SavedLatency | null {
  if (!isMapping(json) || json['version'] !== 1) return null;
  const { minMs, maxMs, buckets } = json;
  if (typeof minMs !== 'number' || typeof maxMs !== 'number' || !Array.isArray(buckets)) return null;
  const read: (readonly [number, number])[] = [];
  for (const pair of buckets) {
    const [bucket, count]: readonly unknown[] = Array.isArray(pair) ? pair : [];
    if (typeof bucket !== 'number' || typeof count !== 'number' || !(count > 0)) return null;
    if (!Number.isInteger(bucket) || bucket < 0 || bucket >= BUCKETS) return null;
    read.push([bucket, count]);
  }
  return { version: 1, minMs, maxMs, buckets: read };
}

const SMALLEST_MS = 0.01;
const LARGEST_MS = 24 * 3_600_000;
const GROWTH = Math.log(1.03);
const BUCKETS = Math.ceil(Math.log(LARGEST_MS / SMALLEST_MS) / GROWTH) + 1;

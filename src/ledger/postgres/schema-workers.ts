/** Tables of runs that several workers share (workers.ts). */
export const SHARED_RUNS: readonly string[] = [
  // Ranges of rows of a run that is shared: each is one worker's at a time, and he alone claims in it.
  `CREATE TABLE handbill.shards (
  list BIGINT NOT NULL,
  number BIGINT NOT NULL,
  first_row BIGINT NOT NULL,
  last_row BIGINT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'taken', 'done')),
  worker TEXT COLLATE "C",
  offered_at DOUBLE PRECISION NOT NULL,
  facts TEXT NOT NULL,
  PRIMARY KEY (list, number),
  CHECK ((state = 'taken') = (worker IS NOT NULL))
)`,
  // Who is there, and what each has done in a run since its start. Whoever is not heard of for his lease is taken for dead.
  `CREATE UNLOGGED TABLE handbill.workers (
  id TEXT COLLATE "C" PRIMARY KEY,
  host TEXT NOT NULL,
  pid BIGINT NOT NULL,
  lease_ms BIGINT NOT NULL,
  joined_at DOUBLE PRECISION NOT NULL,
  heard_at DOUBLE PRECISION NOT NULL,
  list BIGINT
)`,
  `CREATE UNLOGGED TABLE handbill.shares (
  list BIGINT NOT NULL,
  worker TEXT COLLATE "C" NOT NULL,
  posted BIGINT NOT NULL DEFAULT 0,
  retried BIGINT NOT NULL DEFAULT 0,
  accepted BIGINT NOT NULL DEFAULT 0,
  rejected BIGINT NOT NULL DEFAULT 0,
  failed BIGINT NOT NULL DEFAULT 0,
  in_doubt BIGINT NOT NULL DEFAULT 0,
  skipped BIGINT NOT NULL DEFAULT 0,
  deferred BIGINT NOT NULL DEFAULT 0,
  first_legs BIGINT NOT NULL DEFAULT 0,
  fell_back BIGINT NOT NULL DEFAULT 0,
  opens_at BIGINT,
  latency TEXT,
  PRIMARY KEY (list, worker)
)`,
];

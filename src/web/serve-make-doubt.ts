import type { RunRecord } from '../ledger/records.ts';
import type { Channel } from '../model.ts';
import { newestFirst, withoutTests } from '../operations/runs.ts';
import { type DoubtLine, type DoubtRun, doubtPage } from '../pages/serve-doubt.ts';
import { createReferences } from '../plan/reference.ts';
import type { OpenLedger } from './serve-ledger.ts';
import { type Asked, type Made, type MakePage, noRun, runOf, type Site, textOf, whole } from './serve-site.ts';

/** Of each run, where all are shown. */
const SHOWN_OF_EACH = 20;
const ROWS_ON_A_PAGE = 100;
const MOST_RUNS = 50;

/** `/doubt`: everybody in doubt, or those of `?run=ID` by pages. */
export const makeDoubt: MakePage = (site, open, asked) => {
  const only = textOf(asked.query, 'run');
  if (only === '') return allRuns(site, open, asked);
  const run = runOf(open, only);
  if (run === null) return noRun(only);
  const after = /^(\d{1,3})\.(\d{1,15})$/.exec(asked.query.get('after') ?? '');
  const cursor = after === null ? null : { leg: Number(after[1]), row: Number(after[2]) };
  const runs = [doubtsOf(site, open, run, cursor, ROWS_ON_A_PAGE)];
  return whole(doubtPage(asked.view, { runs, only: run.id, isFirst: cursor === null }));
};

function allRuns(site: Site, open: OpenLedger, { view }: Asked): Made {
  const inDoubt = new Set(
    open
      .query(LISTS)
      .all()
      .map(([list]) => Number(list)),
  );
  // A run whose process was killed holds claims that nobody answers for: they are in doubt too.
  const isMeant = (run: RunRecord) => inDoubt.has(run.list) || (run.state === 'running' && !site.looks.isHeld(run));
  const runs = newestFirst(withoutTests(open.ledger.runs()))
    .filter((run) => run.purgedAtMs === null && isMeant(run))
    .slice(0, MOST_RUNS)
    .map((run) => doubtsOf(site, open, run, null, SHOWN_OF_EACH));
  return whole(doubtPage(view, { runs, only: null, isFirst: true }));
}

interface Place {
  readonly leg: number;
  readonly row: number;
}

function doubtsOf(site: Site, open: OpenLedger, run: RunRecord, after: Place | null, limit: number): DoubtRun {
  const isHeld = site.looks.isHeld(run);
  const isKilled = run.state === 'running' && !isHeld;
  const [rows, count] = isKilled ? ROWS_OF_KILLED : ROWS_BY_INDEX;
  const { leg, row } = after ?? { leg: 0, row: -1 };
  const found = open.query(rows).all(run.list, leg, row, limit + 1);
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  const total = Number(open.query(count).get(run.list)?.[0] ?? 0);
  const next = last === undefined || found.length <= limit ? null : `${Number(last[0])}.${Number(last[1])}`;
  const { id, campaign, environment, occurrence } = run;
  return {
    run: id,
    campaign,
    environment,
    occurrence,
    isHeld,
    count: total,
    next,
    doubts: shown.map((one) => toLine(one, run)),
  };
}

function toLine(found: readonly unknown[], run: RunRecord): DoubtLine {
  const [, row, line, key, to, written, reason, error, since, status, resend] = found;
  const channel = (written ?? run.channel) as Channel;
  return {
    row: Number(row),
    line: Number(line),
    who: String(to ?? key ?? `line ${String(line)}`),
    channel,
    reference: typeof key === 'string' ? createReferences(run)(key, channel, Number(resend ?? 0)) : null,
    reason: reason as string | null,
    httpStatus: status as number | null,
    error: error as string | null,
    sinceMs: since as number | null,
  };
}

/** The index holds those in doubt, and hardly anybody else. */
const LISTS = `SELECT DISTINCT list FROM recipients INDEXED BY recipients_unsettled
  WHERE (state = 'in-doubt' OR resolved_by = 'resend') AND state = 'in-doubt'`;

const ROWS_BY_INDEX = [
  `SELECT leg, row, line, key, address, channel, reason, error, coalesce(claimed_at, updated_at), http_status, resend
    FROM recipients INDEXED BY recipients_unsettled
    WHERE (state = 'in-doubt' OR resolved_by = 'resend') AND state = 'in-doubt'
      AND list = ? AND (leg, row) > (?, ?) ORDER BY leg, row LIMIT ?`,
  `SELECT count(*) FROM recipients INDEXED BY recipients_unsettled
    WHERE (state = 'in-doubt' OR resolved_by = 'resend') AND state = 'in-doubt' AND list = ?`,
] as const;

/** No index has what is claimed: a pass over the list (0.1 s a million), of a run that waits for its next start. */
const ROWS_OF_KILLED = [
  `SELECT leg, row, line, key, address, channel, CASE state WHEN 'claimed' THEN 'crash' ELSE reason END,
      CASE state WHEN 'claimed' THEN NULL ELSE error END, coalesce(claimed_at, updated_at),
      CASE state WHEN 'claimed' THEN NULL ELSE http_status END, resend
    FROM recipients WHERE (state = 'in-doubt' OR state = 'claimed')
      AND list = ? AND (leg, row) > (?, ?) ORDER BY leg, row LIMIT ?`,
  `SELECT count(*) FROM recipients WHERE (state = 'in-doubt' OR state = 'claimed') AND list = ?`,
] as const;

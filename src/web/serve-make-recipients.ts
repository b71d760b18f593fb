import { mismatchOfRecord } from '../ledger/events.ts';
import type { RunRecord } from '../ledger/records.ts';
import { DELIVERIES, type Delivery, OUTCOMES, type Outcome, type OutcomeState } from '../model.ts';
import { earlierJoiner } from '../operations/report.ts';
import { recipientPage } from '../pages/serve-recipient.ts';
import { type RecipientQuery, recipientsPage } from '../pages/serve-recipients.ts';
import { readPriceList } from '../plan/prices.ts';
import { createReferences } from '../plan/reference.ts';
import { messageOf } from '../run/deliveries.ts';
import type { RunCounts } from './serve-counts.ts';
import type { OpenLedger } from './serve-ledger.ts';
import { type Cursor, type RowFilter, readRow, readRows } from './serve-rows.ts';
import { readSearch } from './serve-search.ts';
import { type Asked, type Made, noRun, notFound, runOf, type Site, textOf, whole, wholeOf } from './serve-site.ts';

const ROWS_ON_A_PAGE = 50;

/** `/runs/ID/recipients`: searched, filtered, a page at a time. */
export async function makeRecipients(site: Site, open: OpenLedger, asked: Asked, id: string): Promise<Made> {
  const run = runOf(open, id);
  if (run === null) return noRun(id);
  const query = queryOf(asked.query);
  const filter = filterOf(site, query);
  const cursor = cursorOf(asked.query);
  const page = await readRows(open, run, site.looks.isHeld(run), filter, cursor, ROWS_ON_A_PAGE);
  // Only for the words of the form and a figure: nobody waits long for them.
  const counts = await site.looks.counts(run, Math.min(asked.patienceMs, 300));
  const detail = await site.looks.detail(run, 0);
  const content = recipientsPage(asked.view, {
    run: run.id,
    campaign: run.campaign,
    query,
    reasons: reasonsOf(counts.value),
    variants: detail.value?.variants.map(({ name }) => name) ?? [],
    rows: page.rows,
    total: totalOf(run, filter, counts.value),
    isFirst: 'after' in cursor && cursor.after < 0,
    hasBefore: page.hasBefore,
    hasAfter: page.hasAfter,
    stoppedAt: page.stoppedAt,
    recipients: run.rows,
  });
  return { content, isOld: counts.isOld };
}

function queryOf(query: URLSearchParams): RecipientQuery {
  const of = (name: string): string => textOf(query, name);
  return { q: of('q'), outcome: of('outcome'), reason: of('reason'), delivery: of('delivery'), variant: of('variant') };
}

/** Words that nobody knows are left out, as if anything was asked for. */
function filterOf(site: Site, { q, outcome, reason, delivery, variant }: RecipientQuery): RowFilter {
  const deliveries: readonly string[] = [...DELIVERIES, 'none'];
  return {
    outcome: OUTCOMES.find((one): one is OutcomeState => one === outcome) ?? null,
    reason: reason === '' ? null : reason,
    delivery: deliveries.includes(delivery) ? (delivery as Delivery | 'none') : null,
    variant: variant === '' ? null : variant,
    search: readSearch(q, site.phone),
  };
}

function cursorOf(query: URLSearchParams): Cursor {
  const before = wholeOf(query, 'before');
  return before === null ? { after: wholeOf(query, 'after') ?? -1 } : { before };
}

function reasonsOf(counts: RunCounts | null): readonly string[] {
  const reasons = counts?.legs.flatMap(({ reason, fellBack }) => (reason === null || fellBack ? [] : [reason])) ?? [];
  return [...new Set(reasons)].sort();
}

/** Known where only outcome and reason are asked for. */
function totalOf(run: RunRecord, filter: RowFilter, counts: RunCounts | null): number | null {
  if (filter.delivery !== null || filter.variant !== null || filter.search !== null) return null;
  if (filter.outcome === null && filter.reason === null) return run.rows;
  if (counts === null) return null;
  const isMeant = ({ outcome, reason, fellBack }: RunCounts['legs'][number]): boolean =>
    !fellBack && (filter.outcome ?? outcome) === outcome && (filter.reason ?? reason) === reason;
  return counts.legs.reduce((sum, leg) => (isMeant(leg) ? sum + leg.count : sum), 0);
}

/** `/runs/ID/recipients/ROW`: one recipient. */
export async function makeRecipient(
  site: Site,
  open: OpenLedger,
  asked: Asked,
  id: string,
  row: number,
): Promise<Made> {
  const run = runOf(open, id);
  if (run === null) return noRun(id);
  const outcome = readRow(open, run, site.looks.isHeld(run), row);
  if (outcome === null) return notFound(`Run ${run.id} has no such recipient.`);
  const { ledger } = open;
  const referenceOf = createReferences(run);
  const legs = (outcome.legs ?? [outcome]).map((leg) => {
    if (outcome.key === null) return { leg, reference: null, reports: [] };
    const message = messageOf(run, referenceOf, outcome.key, leg);
    const reports = ledger.events
      .reportsNaming(message)
      .map((report) => ({ ...report, unmatched: mismatchOfRecord(report, message) }));
    return { leg, reference: message.reference, reports };
  });
  const addresses = [outcome.key, ...legs.map(({ leg }) => leg.to)].filter((one) => one !== null);
  const content = recipientPage(asked.view, {
    run: run.id,
    campaign: run.campaign,
    currency: (await readPriceList(site.reading.project)).prices?.currency ?? null,
    outcome: earlierJoiner(ledger, run)([outcome])[0] ?? outcome,
    legs,
    replies: repliesOf(open, run, row),
    doubts: doubtsOf(open, run, outcome),
    isSuppressed: addresses.some((one) => ledger.isSuppressed(one, asked.view.nowMs)),
  });
  return whole(content);
}

function repliesOf({ query }: OpenLedger, run: RunRecord, row: number) {
  return query(REPLIES)
    .all(run.number, row)
    .map(([id, text, meaning, at]) => ({
      id: Number(id),
      text: String(text),
      meaning: String(meaning),
      atMs: Number(at),
    }));
}

function doubtsOf({ query }: OpenLedger, run: RunRecord, { key }: Outcome) {
  if (key === null) return [];
  return query(DOUBTS)
    .all(run.number, key)
    .map(([verdict, by, note, reason, at]) => ({
      verdict: String(verdict),
      by: String(by),
      note: note as string | null,
      reason: reason as string | null,
      atMs: Number(at),
    }));
}

const REPLIES = `SELECT number, text, coalesce(reviewed_as, meaning), coalesce(happened_at, received_at) FROM replies
  WHERE run = ? AND row = ? AND sender <> '' ORDER BY number LIMIT 100`;

const DOUBTS = `SELECT verdict, coalesce(who, resolved_by), note, reason, resolved_at FROM resolutions
  WHERE run = ? AND key = ? AND resolved_by <> 'resend-changed' ORDER BY number LIMIT 100`;

import { mismatchOfRecord } from '../../ledger/events.ts';
import type { DeliveryRecord } from '../../ledger/ledger.ts';
import type { RunRecord } from '../../ledger/records.ts';
import {
  DELIVERIES,
  type Delivery,
  type EarlierMessage,
  type LegOutcome,
  OUTCOMES,
  type Outcome,
  type OutcomeState,
  type UnmatchedReason,
} from '../../model.ts';
import { earlierJoiner } from '../../operations/report.ts';
import { readPriceList } from '../../plan/prices.ts';
import { createReferences } from '../../plan/reference.ts';
import { reasonWords } from '../../report/reason-words.ts';
import { DELIVERY_WORDS, money, OUTCOME_WORDS, UNMATCHED_WORDS } from '../../report/words.ts';
import { messageOf } from '../../run/deliveries.ts';
import { type Html, html } from '../../util/html.ts';
import type { RunCounts } from '../counts.ts';
import type { OpenLedger } from '../ledger.ts';
import { type Cursor, type RowFilter, readRow, readRows } from '../rows.ts';
import { readSearch } from '../search.ts';
import { type Asked, type Made, noRun, notFound, runOf, type Site, textOf, whole, wholeOf } from '../site.ts';
import { address, type Content, facts, pager, select, table, tone, type View } from './layout.ts';

const ROWS_ON_A_PAGE = 50;

/** `/runs/ID/recipients`: searched, filtered, a page at a time. */
export async function makeRecipients(site: Site, open: OpenLedger, asked: Asked, id: string): Promise<Made> {
  const run = runOf(open, id);
  if (run === null) return noRun(id);
  const query = queryOf(asked.query);
  const filter = filterOf(site, query);
  const cursor = cursorOf(asked.query);
  const page = await readRows(open, run, site.looks.isHeld(run), filter, cursor, ROWS_ON_A_PAGE);
  // Needed only for the form and a figure, so the wait for them is short.
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

/** Unknown values of a filter are ignored. */
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

/** What the form above the list asks for; empty strings for anything. */
interface RecipientQuery {
  readonly q: string;
  readonly outcome: string;
  readonly reason: string;
  readonly delivery: string;
  readonly variant: string;
}

interface RecipientsData {
  readonly run: string;
  readonly campaign: string;
  readonly query: RecipientQuery;
  /** Words that can be chosen. */
  readonly reasons: readonly string[];
  readonly variants: readonly string[];
  readonly rows: readonly Outcome[];
  /** The number of rows that match, if that is known without scanning all recipients. */
  readonly total: number | null;
  readonly isFirst: boolean;
  readonly hasBefore: boolean;
  readonly hasAfter: boolean;
  /** The search got as far as this row. */
  readonly stoppedAt: number | null;
  /** Of the run, for how far a search got. */
  readonly recipients: number;
}

/** The recipients of a run: searched, filtered, a page at a time. */
function recipientsPage(view: View, data: RecipientsData): Content {
  return {
    title: `Recipients of ${data.campaign}`,
    parts: [
      { id: 'head', content: head(data), isLive: false },
      { id: 'filter', content: form(data), isLive: false },
      { id: 'rows', content: list(view, data), isLive: true },
    ],
  };
}

function head({ run, campaign }: RecipientsData): Html {
  return html`<p class="crumbs"><a href="/">Runs</a> / <a href="${address(['runs', run])}">${run}</a> / recipients</p>
<h1>Recipients of ${campaign}</h1>`;
}

function form({ run, query, reasons, variants }: RecipientsData): Html {
  const words = (list: readonly string[], chosen: string): (readonly [string, string])[] =>
    [...new Set([...list, ...(chosen === '' ? [] : [chosen])])].map((word) => [word, word] as const);
  return html`<form class="filters" method="get" action="${address(['runs', run, 'recipients'])}" role="search" aria-label="Recipients">
<p class="field wide"><label for="q">Line, key, address or message id</label><input id="q" name="q" type="search" value="${query.q}" maxlength="300" autocomplete="off" spellcheck="false"></p>
${select('outcome', 'Outcome', words(OUTCOMES, ''), query.outcome)}
${select('reason', 'Reason', words(reasons, query.reason), query.reason)}
${select('delivery', 'Delivery', words([...DELIVERIES, 'none'], ''), query.delivery)}
${variants.length === 0 && query.variant === '' ? null : select('variant', 'Variant', words(variants, query.variant), query.variant)}
<p class="actions"><button class="main">Show</button><a class="button" href="${address(['runs', run, 'recipients'])}">Clear filters</a></p>
</form>`;
}

function list({ formats }: View, data: RecipientsData): Html {
  const { run, rows, query, total, stoppedAt } = data;
  const to = (cursor: Readonly<Record<string, number>>): string =>
    address(['runs', run, 'recipients'], { ...query, ...cursor });
  const far =
    stoppedAt === null
      ? null
      : html`<p>Looked at ${formats.number(stoppedAt + 1)} of ${formats.count(data.recipients, 'recipient')} so far. <a href="${to({ after: stoppedAt })}">Look further</a></p>`;
  if (rows.length === 0) {
    const none = stoppedAt === null ? 'No recipients match' : 'No recipients match yet';
    return html`<div class="empty"><p>${data.isFirst ? none : 'No more recipients match'}.</p>${far}</div>
${pager('Pages of the list', [['First page', data.isFirst ? null : to({})]])}`;
  }
  const [first, last] = [rows[0], rows.at(-1)];
  const count = total === null ? '' : `${formats.count(total, 'recipient')}. `;
  const caption = `${count}Lines ${formats.number(first?.line ?? 0)} to ${formats.number(last?.line ?? 0)} of the list.`;
  return html`${table(
    caption,
    COLUMNS,
    rows.map((row) => ({ cells: cells(formats, run, row) })),
  )}
${far}
${pager('Pages of the list', [
  ['First page', data.isFirst ? null : to({})],
  ['Previous page', data.hasBefore ? to({ before: first?.row ?? 0 }) : null],
  ['Next page', data.hasAfter && stoppedAt === null ? to({ after: last?.row ?? 0 }) : null],
])}`;
}

function cells(formats: View['formats'], run: string, row: Outcome): readonly (Html | string)[] {
  const { line, key, to, outcome, reason, delivery = null, attempts, httpStatus, updatedAt } = row;
  const who = to ?? key;
  return [
    html`<a href="${address(['runs', run, 'recipients', row.row])}">${who ?? `line ${line}`}</a>`,
    formats.number(line),
    key === null || key === to ? '' : html`<span>${key}</span>`,
    html`<span><span class="key ${tone(outcome)}" aria-hidden="true"></span>${outcome}${reason === null ? null : html` <span class="soft">${reason}</span>`}</span>`,
    delivery ?? '',
    row.variant ?? '',
    attempts === 0
      ? ''
      : html`<span>${formats.number(attempts)}${httpStatus === null ? null : html` <span class="soft">(${httpStatus})</span>`}</span>`,
    updatedAt === null ? '' : html`<span>${formats.time(updatedAt)}</span>`,
  ];
}

const COLUMNS = [
  { title: 'Recipient' },
  { title: 'Line', isFigure: true },
  { title: 'Key', isOptional: true },
  { title: 'Outcome' },
  { title: 'Delivery', isOptional: true },
  { title: 'Variant', isOptional: true },
  { title: 'Attempts', isFigure: true, isOptional: true },
  { title: 'Last change', isOptional: true },
];

/** A reply of the recipient, as far as the page shows it. */
interface RecipientReply {
  readonly id: number;
  readonly text: string;
  readonly meaning: string;
  readonly atMs: number;
}

/** A doubt about the recipient that ended. */
interface EndedDoubt {
  readonly verdict: string;
  /** A person, or the evidence. */
  readonly by: string;
  readonly note: string | null;
  readonly reason: string | null;
  readonly atMs: number;
}

/** A report, and why it counts for nothing here; null: it is about the message. */
interface NamingReport extends DeliveryRecord {
  readonly unmatched: UnmatchedReason | null;
}

interface RecipientLeg {
  readonly leg: LegOutcome;
  /** handbill's own id of the message; null if the recipient is not known any more. */
  readonly reference: string | null;
  /** Every report that names the message, also those that are not about it. */
  readonly reports: readonly NamingReport[];
}

interface RecipientData {
  readonly run: string;
  readonly campaign: string;
  readonly currency: string | null;
  readonly outcome: Outcome;
  readonly legs: readonly RecipientLeg[];
  readonly replies: readonly RecipientReply[];
  readonly doubts: readonly EndedDoubt[];
  /** On the list of suppressions now, as an address. */
  readonly isSuppressed: boolean;
}

/** One recipient: every channel step, all attempts, and reports and replies. */
function recipientPage(view: View, data: RecipientData): Content {
  const who = data.outcome.to ?? data.outcome.key ?? `line ${data.outcome.line}`;
  return {
    title: `${who} · ${data.campaign}`,
    parts: [
      { id: 'head', content: recipientHead(view, data, who), isLive: true },
      { id: 'legs', content: html`${data.legs.map((leg, index) => legSection(view, data, leg, index))}`, isLive: true },
      { id: 'history', content: html`${repliesSection(view, data)}${doubtsSection(view, data)}`, isLive: true },
    ],
  };
}

function recipientHead({ formats }: View, { run, outcome, isSuppressed }: RecipientData, who: string): Html {
  const { reason, delivery = null } = outcome;
  return html`<p class="crumbs"><a href="/">Runs</a> / <a href="${address(['runs', run])}">${run}</a> / <a href="${address(['runs', run, 'recipients'])}">recipients</a></p>
<h1>${who}</h1>
${facts([
  [
    'Outcome',
    html`<span class="key ${tone(outcome.outcome)}" aria-hidden="true"></span><strong>${outcome.outcome}</strong> · ${OUTCOME_WORDS[outcome.outcome]}`,
  ],
  ['Reason', reason === null ? null : `${reason}${reasonWords(reason) === '' ? '' : ` · ${reasonWords(reason)}`}`],
  ['Delivery', delivery === null ? null : `${delivery} · ${DELIVERY_WORDS[delivery] ?? ''}`],
  ['Line of the list', formats.number(outcome.line)],
  ['Key', outcome.key],
  [
    'In the list now',
    outcome.listTo === undefined ? null : `${outcome.listTo}; the message was sent to ${outcome.to ?? 'none'}`,
  ],
  ...(outcome.earlier ?? []).map((one) => ['Earlier message', earlierText(formats, one)] as const),
  ['Variant', outcome.variant],
  [
    'Suppressed now',
    isSuppressed
      ? html`yes, see <a href="${address(['suppressions'], { q: outcome.to ?? outcome.key })}">the list</a>`
      : null,
  ],
])}`;
}

/** A message to an address that was corrected since. */
function earlierText(formats: View['formats'], { to, messageId, delivery, sentAt }: EarlierMessage): Html {
  const facts = [
    `sent to ${to ?? 'none'}`,
    ...(messageId === null ? [] : [`message id ${messageId}`]),
    ...(delivery === null ? [] : [delivery]),
  ];
  return html`${facts.join(', ')}${sentAt === null ? null : html`, ${formats.time(sentAt)}`}`;
}

function legSection(view: View, data: RecipientData, { leg, reference, reports }: RecipientLeg, index: number): Html {
  const { formats } = view;
  const several = data.legs.length > 1;
  const title = several ? `${index + 1}. ${leg.channel}` : `Message by ${leg.channel}`;
  return html`<section><h2>${title}</h2>
${facts([
  ['To', leg.to],
  ['Outcome', several ? `${leg.outcome}${leg.reason === null ? '' : ` (${leg.reason})`}` : null],
  ['Attempts', leg.attempts === 0 ? 'none' : formats.number(leg.attempts)],
  ['HTTP status', leg.httpStatus],
  ['Message id', leg.messageId === null ? null : html`<code>${leg.messageId}</code>`],
  ['Reference', reference === null || leg.attempts === 0 ? null : html`<code>${reference}</code>`],
  ['What the API said', leg.error],
  [
    'Parts',
    leg.parts === null ? null : `${formats.number(leg.parts)}${leg.encoding === null ? '' : ` in ${leg.encoding}`}`,
  ],
  ['Cost', leg.cost === null ? null : money(leg.cost, data.currency)],
  ['Last change', leg.updatedAt === null ? null : formats.time(leg.updatedAt)],
])}
${reports.length === 0 ? null : reportsTable(view, reports)}</section>`;
}

function reportsTable({ formats }: View, reports: readonly NamingReport[]): Html {
  const rows = reports.map(({ state, word, cause, error, atMs, receivedAtMs, source, channel, unmatched }) => ({
    cells: [
      html`<span>${state}${word === null || word === state ? null : html` <span class="soft">${word}</span>`}</span>`,
      atMs === null ? '' : html`<span>${formats.time(atMs)}</span>`,
      html`<span>${formats.time(receivedAtMs)}</span>`,
      [unmatched === null ? null : `unmatched: ${UNMATCHED_WORDS[unmatched]}`, cause, error]
        .filter((text) => text !== null)
        .join(' · '),
      [source, channel].filter((text) => text !== null).join(' · '),
    ],
  }));
  return table('Delivery reports, in the order in which they came in.', REPORT_COLUMNS, rows);
}

const REPORT_COLUMNS = [
  { title: 'State' },
  { title: 'Happened' },
  { title: 'Received' },
  { title: 'Why' },
  { title: 'From' },
];

function repliesSection({ formats }: View, { replies }: RecipientData): Html | null {
  if (replies.length === 0) return null;
  const rows = replies.map(({ id, text, meaning, atMs }) => ({
    cells: [
      html`<span>${formats.time(atMs)}</span>`,
      html`<p class="quote">${text}</p>`,
      html`<span>${meaning} <span class="soft">no. ${id}</span></span>`,
    ],
  }));
  return html`<section><h2>Replies</h2>
${table('What this person wrote back to this message.', [{ title: 'When' }, { title: 'Text' }, { title: 'Meaning' }], rows)}</section>`;
}

function doubtsSection({ formats }: View, { doubts }: RecipientData): Html | null {
  if (doubts.length === 0) return null;
  const rows = doubts.map(({ verdict, by, note, reason, atMs }) => ({
    cells: [html`<span>${formats.time(atMs)}</span>`, verdict, by, reason ?? '', note ?? ''],
  }));
  const columns = [
    { title: 'When' },
    { title: 'Recorded as' },
    { title: 'By' },
    { title: 'Was in doubt for' },
    { title: 'Note' },
  ];
  return html`<section><h2>Doubts that ended</h2>
${table('Who said what became of this recipient.', columns, rows)}</section>`;
}

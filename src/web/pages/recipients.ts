import { mismatchOfRecord } from '../../ledger/events.ts';
import type { DeliveryRecord } from '../../ledger/ledger.ts';
import type { RunRecord } from '../../ledger/records.ts';
import {
  DELIVERIES,
  type Delivery,
  type EarlierMessage,
  type Ends,
  OUTCOMES,
  type Outcome,
  type OutcomeState,
  type StepCount,
  type StepOutcome,
  type UnmatchedReason,
} from '../../model.ts';
import { earlierJoiner, referencesOf } from '../../operations/report.ts';
import { readPriceList } from '../../plan/estimate.ts';
import { createReferences } from '../../plan/expand.ts';
import { causeOf } from '../../report/causes.ts';
import { END_WORDS, ENDS, endOf } from '../../report/ends.ts';
import { LOST } from '../../report/fold-delivery.ts';
import { reasonWords } from '../../report/reason-words.ts';
import { inputsText, wasSent } from '../../report/record.ts';
import { DELIVERY_WORDS, OUTCOME_WORDS, UNMATCHED_WORDS } from '../../report/words.ts';
import { messageOf } from '../../send/deliveries.ts';
import { type Html, html } from '../../util/escape.ts';
import { toneClass } from '../charts/chart.ts';
import { judge } from '../judged.ts';
import { address, type Column, copied, crumbs, facts, pager, section, select, swatch, table } from '../kit.ts';
import type { OpenLedger } from '../ledger.ts';
import { type Names, namesOf, personLink, whyNoNames } from '../names.ts';
import { nodeHtml } from '../preview/message-html.ts';
import {
  type Cursor,
  canSort,
  type RowFilter,
  readRow,
  readRows,
  readSorted,
  SORTED_ROWS,
  SORTS,
  type Sort,
} from '../rows.ts';
import { readSearch } from '../search.ts';
import { END_TONES } from '../sections.ts';
import { sentMessages } from '../sent.ts';
import {
  type Asked,
  type Made,
  noRun,
  notFound,
  runOf,
  type SentMessages,
  type Site,
  textOf,
  wholeOf,
} from '../site.ts';
import { type Content, choices, fixed, live, type View } from './layout.ts';

const ROWS_ON_A_PAGE = 50;

/** `/runs/ID/recipients`: searched, filtered, a page at a time. */
export async function makeRecipients(site: Site, open: OpenLedger, asked: Asked, id: string): Promise<Made> {
  const run = runOf(open, id);
  if (run === null) return noRun(id);
  const query = queryOf(asked.query);
  const found = query.q === '' ? null : await namesOf(site, asked, run, true);
  const filter = filterOf(site, query, await found?.find(query.q));
  const cursor = cursorOf(asked.query);
  const isHeld = site.stats.isHeld(run);
  const asOf = sortOf(asked.query);
  const sort = asOf !== null && canSort(run, asOf.by) ? asOf : null;
  const sorted =
    sort === null
      ? null
      : await readSorted(open, run, isHeld, filter, { ...sort, from: sort.page * ROWS_ON_A_PAGE }, ROWS_ON_A_PAGE);
  const page =
    sorted === null || sort === null
      ? await readRows(open, run, isHeld, filter, cursor, ROWS_ON_A_PAGE)
      : {
          rows: sorted.rows,
          hasBefore: sort.page > 0,
          hasAfter: (sort.page + 1) * ROWS_ON_A_PAGE < Math.min(sorted.total, SORTED_ROWS),
          stoppedAt: null,
        };
  // Only the form and a figure need them, so the wait is short.
  const { value, isOld } = await site.stats.of(run, Math.min(asked.patienceMs, 300));
  const counts = value?.steps ?? null;
  const ends = value?.cameBack == null ? undefined : judge(site, open, run, value).report.ends;
  const isFirst = sort === null ? 'after' in cursor && cursor.after < 0 : sort.page === 0;
  const isWhole = isFirst && !page.hasAfter && page.stoppedAt === null;
  // Last, so that reading a long list keeps nothing of the page waiting.
  const names = found ?? (await namesOf(site, asked, run));
  const content = recipientsPage(asked.view, {
    run: run.id,
    campaign: run.name,
    query,
    outcomes: outcomesOf(run, filter, counts),
    reasons: reasonsOf(counts),
    variants: [...new Set(value?.steps.flatMap(({ variant }) => variant ?? []))].sort(),
    causes: value?.cameBack?.causes.flatMap(({ cause }) => cause ?? []) ?? [],
    rows: page.rows,
    total: sorted?.total ?? (isWhole ? page.rows.length : totalOf(run, filter, counts, ends)),
    sort,
    isFirst,
    hasBefore: page.hasBefore,
    hasAfter: page.hasAfter,
    stoppedAt: page.stoppedAt,
    recipients: run.rows,
    names,
  });
  return { content, isOld: isOld || names.why === 'soon' };
}

export function queryOf(query: URLSearchParams): RecipientQuery {
  const of = (name: string): string => textOf(query, name);
  const [q, outcome, reason, delivery] = [of('q'), of('outcome'), of('reason'), of('delivery')];
  return { q, outcome, reason, delivery, variant: of('variant'), cause: of('cause'), end: of('end') };
}

/** Ignores unknown values of a filter. */
export function filterOf(
  site: Site,
  { q, outcome, reason, delivery, variant, cause, end }: RecipientQuery,
  listed?: ReadonlySet<number>,
): RowFilter {
  const deliveries: readonly string[] = [...DELIVERIES, 'none'];
  return {
    outcome: OUTCOMES.find((one): one is OutcomeState => one === outcome) ?? null,
    reason: reason === '' ? null : reason,
    delivery: deliveries.includes(delivery) ? (delivery as Delivery | 'none') : null,
    variant: variant === '' ? null : variant,
    cause: cause === '' ? null : cause,
    end: ENDS.find((one) => one === end) ?? null,
    search: readSearch(q, site.phone, listed),
  };
}

function cursorOf(query: URLSearchParams): Cursor {
  const before = wholeOf(query, 'before');
  return before === null ? { after: wholeOf(query, 'after') ?? -1 } : { before };
}

interface Sorting {
  readonly by: Sort;
  readonly isDown: boolean;
  /** From 0. */
  readonly page: number;
}

/** `?sort=-changed&page=2`; null: list order. */
function sortOf(query: URLSearchParams): Sorting | null {
  const text = textOf(query, 'sort');
  const by = SORTS.find((one) => one === text.replace(/^-/, ''));
  return by === undefined ? null : { by, isDown: text.startsWith('-'), page: wholeOf(query, 'page') ?? 0 };
}

function reasonsOf(counts: readonly StepCount[] | null): readonly string[] {
  const reasons = counts?.flatMap(({ reason, fellBack }) => (reason === null || fellBack ? [] : [reason])) ?? [];
  return [...new Set(reasons)].sort();
}

/** Recipients by outcome; null: not counted yet, or the filters would change the numbers. */
function outcomesOf(
  { rows }: RunRecord,
  { reason, delivery, variant, cause, end, search }: RowFilter,
  counts: readonly StepCount[] | null,
): RecipientsData['outcomes'] {
  if (counts === null || [reason, delivery, variant, cause, end, search].some((one) => one !== null)) return null;
  const of = new Map<OutcomeState | null, number>([[null, rows]]);
  for (const { outcome, fellBack, count } of counts) {
    if (!fellBack) of.set(outcome, (of.get(outcome) ?? 0) + count);
  }
  return of;
}

/** Null: not counted yet, or with other filters than outcome and reason, or the end alone. */
function totalOf(run: RunRecord, filter: RowFilter, counts: readonly StepCount[] | null, ends?: Ends): number | null {
  const { delivery, variant, cause, end, search } = filter;
  if ([delivery, variant, cause, search].some((one) => one !== null)) return null;
  if (end !== null) return filter.outcome === null && filter.reason === null ? (ends?.[end] ?? null) : null;
  if (filter.outcome === null && filter.reason === null) return run.rows;
  if (counts === null) return null;
  const isMeant = ({ outcome, reason, fellBack }: StepCount): boolean =>
    !fellBack && (filter.outcome ?? outcome) === outcome && (filter.reason ?? reason) === reason;
  return counts.reduce((sum, step) => (isMeant(step) ? sum + step.count : sum), 0);
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
  const outcome = readRow(open, run, site.stats.isHeld(run), row);
  if (outcome === null) return notFound(`Run ${run.id} has no such recipient.`);
  const data = await dataOf(site, open, asked, run, outcome);
  return { content: recipientPage(asked.view, data), isOld: data.names.why === 'soon' };
}

/** @param waits for the names, however long their list is */
export async function dataOf(
  site: Site,
  open: OpenLedger,
  asked: Asked,
  run: RunRecord,
  outcome: Outcome,
  waits = false,
): Promise<RecipientData> {
  const { ledger } = open;
  const referenceOf = createReferences(run);
  const shownOf = referencesOf(run, site.reading.project);
  const attempts = attemptsOf(open, run, outcome);
  const steps = (outcome.steps ?? [outcome]).map((step, index) => {
    if (outcome.key === null) return { step, attempts: [], reference: null, reports: [] };
    const message = messageOf(run, referenceOf, outcome.key, step);
    const reports = ledger.events
      .reportsNaming(message)
      .map((report) => ({ ...report, unmatched: mismatchOfRecord(report, message) }));
    const own = attempts.filter((one) => one.step === index && !isShownBy(step, one));
    return { step, attempts: own, reference: shownOf({ ...step, key: outcome.key }), reports };
  });
  const addresses = [outcome.key, ...steps.map(({ step }) => step.to)].filter((one) => one !== null);
  return {
    run: run.id,
    campaign: run.name,
    currency: (await readPriceList(site.reading.project)).prices?.currency ?? null,
    outcome: earlierJoiner(ledger, run, shownOf)([outcome])[0] ?? outcome,
    steps,
    replies: repliesOf(open, run, outcome.row),
    doubts: doubtsOf(open, run, outcome),
    sent: outcome.key === null || !outcome.attempts ? null : await sentMessages(site, run, outcome),
    isSuppressed: addresses.some((one) => ledger.isSuppressed(one, asked.view.nowMs, run.topic)),
    names: await namesOf(site, asked, run, waits),
  };
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

function attemptsOf({ query }: OpenLedger, run: RunRecord, { key }: Outcome): readonly EndedAttempt[] {
  if (key === null) return [];
  return query(ATTEMPTS)
    .all(run.number, key)
    .map(([step, attempt, state, reason, httpStatus, error, claimedAtMs, atMs]) => ({
      step: Number(step),
      attempt: Number(attempt),
      state: state as EndedAttempt['state'],
      reason: reason as string | null,
      httpStatus: httpStatus as number | null,
      error: error as string | null,
      // A killed start did not record when its request ended; the next one did, whenever that was.
      tookMs: claimedAtMs === null || atMs === null || reason === 'crash' ? null : Number(atMs) - Number(claimedAtMs),
      atMs: atMs as number | null,
    }));
}

/** The row of a recipient shows how the last attempt ended, unless something happened to it since. */
function isShownBy(step: StepOutcome, { attempt, state, reason }: EndedAttempt): boolean {
  return attempt === step.attempts && state === step.outcome && reason === step.reason;
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

const ATTEMPTS = `SELECT step, attempt, state, reason, http_status, error, claimed_at, ended_at FROM attempts
  WHERE run = ? AND key = ? ORDER BY step, attempt, number LIMIT 200`;

const DOUBTS = `SELECT verdict, coalesce(who, resolved_by), note, reason, resolved_at FROM resolutions
  WHERE run = ? AND key = ? AND resolved_by <> 'resend-changed' ORDER BY number LIMIT 100`;

interface RecipientQuery {
  readonly q: string;
  readonly outcome: string;
  readonly reason: string;
  readonly delivery: string;
  readonly variant: string;
  readonly cause: string;
  readonly end: string;
}

interface RecipientsData {
  readonly run: string;
  readonly campaign: string;
  readonly query: RecipientQuery;
  /** Recipients by outcome, and under null all; null: unknown. */
  readonly outcomes: ReadonlyMap<OutcomeState | null, number> | null;
  readonly reasons: readonly string[];
  readonly variants: readonly string[];
  readonly causes: readonly string[];
  readonly rows: readonly Outcome[];
  /** Rows that match, if known without scanning all recipients. */
  readonly total: number | null;
  /** Null: in the order of the list. */
  readonly sort: Sorting | null;
  readonly isFirst: boolean;
  readonly hasBefore: boolean;
  readonly hasAfter: boolean;
  /** The row at which the search stopped. */
  readonly stoppedAt: number | null;
  /** All recipients of the run, to show how far a search got. */
  readonly recipients: number;
  readonly names: Names;
}

function recipientsPage(view: View, data: RecipientsData): Content {
  return {
    title: `Recipients of ${data.campaign}`,
    parts: [
      live('head', head(data)),
      fixed('filter', form(data)),
      live('outcomes', outcomes(view, data)),
      live('rows', list(view, data)),
    ],
  };
}

function head({ run, campaign, names }: RecipientsData): Html {
  return html`${crumbs(
    [
      ['Now', '/'],
      [run, address(['runs', run])],
    ],
    'recipients',
  )}
<h1>Recipients of ${campaign}</h1>${whyNoNames(names)}`;
}

function outcomes({ formats }: View, { run, query, outcomes: counts, sort }: RecipientsData): Html {
  const shown = OUTCOMES.filter((one) => counts === null || counts.has(one) || one === query.outcome);
  return choices(
    'Outcome',
    [null, ...shown].map((outcome) => {
      const count = counts === null ? null : (counts.get(outcome) ?? 0);
      const sorted = sort === null ? {} : { sort: sortText(sort) };
      return {
        href: address(['runs', run, 'recipients'], { ...query, outcome, ...sorted }),
        text: html`${outcome === null ? null : html`${swatch(outcome)}`}${outcome ?? 'all'}${count === null ? null : html` <span class="soft">${formats.number(count)}</span>`}`,
        isNow: query.outcome === (outcome ?? ''),
      };
    }),
  );
}

function form({ run, query, reasons, variants, causes, sort }: RecipientsData): Html {
  const words = (list: readonly string[], chosen: string): (readonly [string, string])[] =>
    [...new Set([...list, ...(chosen === '' ? [] : [chosen])])].map((word) => [word, word] as const);
  return html`<form class="filters" method="get" action="${address(['runs', run, 'recipients'])}" role="search" aria-label="Recipients">
<p class="field wide"><label for="q">Name, number, line, key or message id</label><input id="q" name="q" type="search" value="${query.q}" maxlength="300" autocomplete="off" spellcheck="false"></p>
${
  query.outcome === ''
    ? null
    : html`<input type="hidden" name="outcome" value="${query.outcome}">
`
}${select(
  'end',
  'End',
  ENDS.map((end) => [end, END_WORDS[end]] as const),
  query.end,
)}
${select('reason', 'Reason', words(reasons, query.reason), query.reason)}
${select('delivery', 'Delivery', words([...DELIVERIES, 'none'], ''), query.delivery)}
${variants.length === 0 && query.variant === '' ? null : select('variant', 'Variant', words(variants, query.variant), query.variant)}
${causes.length === 0 && query.cause === '' ? null : select('cause', 'Cause', words(causes, query.cause), query.cause)}
${sort === null ? null : html`<input type="hidden" name="sort" value="${sortText(sort)}">`}<p class="actions"><button class="main">Show</button><a class="button" href="${address(['runs', run, 'recipients'])}">Clear filters</a>${query.q === '' ? html`<a class="button" href="${address(['runs', run, 'recipients.csv'], { ...query })}" download>CSV</a>` : null}</p>
</form>`;
}

function list({ formats }: View, data: RecipientsData): Html {
  const { run, rows, query, total, stoppedAt, sort } = data;
  const sorted = sort === null ? {} : { sort: sortText(sort) };
  const to = (cursor: Readonly<Record<string, number>>): string =>
    address(['runs', run, 'recipients'], { ...query, ...sorted, ...cursor });
  const end =
    sort === null || data.hasAfter || total === null || total <= SORTED_ROWS
      ? null
      : html`<p>A sorted list ends after ${formats.count(SORTED_ROWS, 'row')}. Filter it, or sort it the other way round.</p>`;
  const far =
    stoppedAt === null
      ? end
      : html`<p>Looked at ${formats.number(stoppedAt + 1)} of ${formats.count(data.recipients, 'recipient')} so far. <a href="${to({ after: stoppedAt })}">Look further</a></p>`;
  if (rows.length === 0) {
    const none = stoppedAt === null ? 'No recipients match' : 'No recipients match yet';
    return html`<div class="empty"><p>${data.isFirst ? none : 'No more recipients match'}.</p>${far ?? html`<p class="soft">A number may be in any spelling; fewer filters find more.</p>`}</div>
${pager('Pages of the list', [['First page', data.isFirst ? null : to({})]])}`;
  }
  const [first, last] = [rows[0], rows.at(-1)];
  const count = total === null ? '' : `${formats.count(total, 'recipient')}. `;
  const unsortable = canSort({ rows: data.recipients }, 'delivery')
    ? ''
    : ' A list this long cannot be sorted by delivery: that would read the reports of every message. Filter by it.';
  const caption =
    sort !== null
      ? `${count}Sorted by ${SORT_WORDS[sort.by]}.${unsortable}`
      : Object.values(query).some((one) => one !== '')
        ? `${count}In the order of the list.${unsortable}`
        : `${count}Lines ${formats.number(first?.line ?? 0)} to ${formats.number(last?.line ?? 0)} of the list.${unsortable}`;
  return html`${table(
    caption,
    columnsOf(data, (next) => address(['runs', run, 'recipients'], { ...query, sort: next })),
    rows.map((row) => ({ cells: cells(formats, data, row) })),
  )}
${far}
${pager('Pages of the list', [
  ['First page', data.isFirst ? null : to({})],
  ['Previous page', data.hasBefore ? to(sort === null ? { before: first?.row ?? 0 } : { page: sort.page - 1 }) : null],
  [
    'Next page',
    data.hasAfter && stoppedAt === null
      ? to(sort === null ? { after: last?.row ?? 0 } : { page: sort.page + 1 })
      : null,
  ],
])}`;
}

function cells(formats: View['formats'], { run, names }: RecipientsData, row: Outcome): readonly (Html | string)[] {
  const { line, key, to, outcome, reason, delivery = null, attempts, httpStatus, updatedAt } = row;
  const who = to ?? key;
  const why = causeOf(row) ?? reason;
  return [
    personLink(address(['runs', run, 'recipients', row.row]), names.labelOf(row.row, key), who ?? `line ${line}`),
    formats.number(line),
    key === null || key === to ? '' : html`<span>${key}</span>`,
    html`<span>${swatch(END_TONES[endOf(row)])}${END_WORDS[endOf(row)]} <span class="soft">${outcome}${why === null ? '' : `, ${why}`}</span></span>`,
    delivery ?? '',
    row.variant ?? '',
    attempts === 0
      ? ''
      : html`<span>${formats.number(attempts)}${httpStatus === null ? null : html` <span class="soft">(${httpStatus})</span>`}</span>`,
    updatedAt === null ? '' : html`<span>${formats.time(updatedAt)}</span>`,
  ];
}

const COLUMNS: readonly (readonly [sort: Sort | null, column: Column])[] = [
  ['recipient', { title: 'Recipient' }],
  ['line', { title: 'Line', isFigure: true, isLow: true }],
  [null, { title: 'Key', isOptional: true, isLow: true }],
  ['outcome', { title: 'Outcome' }],
  ['delivery', { title: 'Delivery', isOptional: true }],
  ['variant', { title: 'Variant', isOptional: true, isLow: true }],
  ['attempts', { title: 'Attempts', isFigure: true, isOptional: true, isLow: true }],
  ['changed', { title: 'Last change', isOptional: true, isLow: true }],
];

const SORT_WORDS: Readonly<Record<Sort, string>> = {
  line: 'line',
  recipient: 'address',
  outcome: 'outcome, those that need attention first',
  delivery: 'delivery',
  variant: 'variant',
  attempts: 'attempts',
  changed: 'last change',
};

/** Readers look for the newest change and the most attempts. */
const DOWN_FIRST: ReadonlySet<Sort> = new Set(['attempts', 'changed']);

function sortText({ by, isDown }: Pick<Sorting, 'by' | 'isDown'>): string {
  return `${isDown ? '-' : ''}${by}`;
}

function columnsOf({ recipients: rows, sort }: RecipientsData, to: (sort: string) => string) {
  return COLUMNS.map(([by, column]) => {
    if (by === null || !canSort({ rows }, by)) return column;
    const isOptional = column.isOptional === true && sort?.by !== by;
    const isNow = sort === null ? by === 'line' : sort.by === by;
    const isDown = isNow && sort?.isDown === true;
    const next = isNow ? !isDown : DOWN_FIRST.has(by);
    const now = isNow ? (isDown ? ('descending' as const) : ('ascending' as const)) : null;
    return { ...column, isOptional, sort: { href: to(sortText({ by, isDown: next })), now } };
  });
}

interface EndedDoubt {
  readonly verdict: string;
  /** A person, or the evidence. */
  readonly by: string;
  readonly note: string | null;
  readonly reason: string | null;
  readonly atMs: number;
}

interface EndedAttempt {
  readonly step: number;
  /** Counted from 1. */
  readonly attempt: number;
  readonly state: 'pending' | 'failed' | 'rejected' | 'in-doubt';
  readonly reason: string | null;
  readonly httpStatus: number | null;
  readonly error: string | null;
  /** From its claim until its result was recorded; null where there was no claim, or no result. */
  readonly tookMs: number | null;
  readonly atMs: number | null;
}

interface RecipientStep {
  readonly step: StepOutcome;
  /** Those that the row of the recipient no longer shows. */
  readonly attempts: readonly EndedAttempt[];
  /** handbill's id of the message; null if the recipient is no longer known. */
  readonly reference: string | null;
  /** Every report that names the message. `unmatched`: why it does not count here; null: it is about the message. */
  readonly reports: readonly (DeliveryRecord & { readonly unmatched: UnmatchedReason | null })[];
}

export interface RecipientData {
  readonly run: string;
  readonly campaign: string;
  readonly currency: string | null;
  readonly outcome: Outcome;
  readonly steps: readonly RecipientStep[];
  readonly replies: readonly {
    readonly id: number;
    readonly text: string;
    readonly meaning: string;
    readonly atMs: number;
  }[];
  readonly doubts: readonly EndedDoubt[];
  /** Null: nothing was sent, or personal data was removed. */
  readonly sent: SentMessages | null;
  readonly isSuppressed: boolean;
  readonly names: Names;
}

function recipientPage(view: View, data: RecipientData): Content {
  const who = data.outcome.to ?? data.outcome.key ?? `line ${data.outcome.line}`;
  const label = data.names.labelOf(data.outcome.row, data.outcome.key);
  return {
    title: `${label ?? who} · ${data.campaign}`,
    parts: [
      live('head', recipientHead(view, data, who, label)),
      live(
        'steps',
        html`<div class="story">${sentText(data)}${timelineOf(view.formats, momentsOf(view.formats, data))}</div>`,
      ),
      live(
        'history',
        html`${data.steps.map((step, index) => stepSection(view, data, step, index))}${listSection(data)}`,
      ),
    ],
  };
}

function recipientHead(
  { formats }: View,
  { run, outcome, isSuppressed, names }: RecipientData,
  who: string,
  label: string | null,
): Html {
  const { reason, delivery = null } = outcome;
  const above = [
    ['Now', '/'],
    [run, address(['runs', run])],
    ['recipients', address(['runs', run, 'recipients'])],
  ] as const;
  return html`${crumbs(above, `line ${formats.number(outcome.line)}`)}
<h1>${label ?? who}</h1>${whyNoNames(names)}${outcome.key === null ? null : html`<p><a href="${address(['people', run, outcome.row])}">All messages to this person</a></p>`}
${facts([
  ['Address', label === null ? null : who],
  ['Message', html`${swatch(END_TONES[endOf(outcome)])}<strong>${END_WORDS[endOf(outcome)]}</strong>`],
  ['Outcome', `${outcome.outcome} · ${OUTCOME_WORDS[outcome.outcome]}`],
  ['Reason', reason === null ? null : `${reason}${reasonWords(reason) === '' ? '' : ` · ${reasonWords(reason)}`}`],
  ['Delivery', delivery === null ? null : `${delivery} · ${DELIVERY_WORDS[delivery] ?? ''}`],
  ['Inputs', inputsText(outcome)],
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

function earlierText(formats: View['formats'], { to, messageId, inputs, delivery, sentAt }: EarlierMessage): Html {
  const facts = [
    `sent to ${to ?? 'none'}`,
    ...(messageId === null ? [] : [`message id ${messageId}`]),
    ...(inputs === null ? [] : [`inputs ${inputs}`]),
    ...(delivery === null ? [] : [delivery]),
  ];
  return html`${facts.join(', ')}${sentAt === null ? null : html`, ${formats.time(sentAt)}`}`;
}

function stepSection(view: View, data: RecipientData, { step, reference }: RecipientStep, index: number): Html {
  const { formats } = view;
  const several = data.steps.length > 1;
  const title = several ? `${index + 1}. ${step.channel}` : `Message by ${step.channel}`;
  return html`<section><h2>${title}</h2>
${facts([
  ['To', step.to],
  ['Outcome', several ? `${step.outcome}${step.reason === null ? '' : ` (${step.reason})`}` : null],
  ['Attempts', step.attempts === 0 ? 'none' : formats.number(step.attempts)],
  ['HTTP status', step.httpStatus],
  ['Inputs', several ? inputsText(step) : null],
  ['Message id', step.messageId === null ? null : html`<code>${step.messageId}</code>`],
  ['Reference', reference === null || step.attempts === 0 ? null : copied(reference)],
  [step.outcome === 'accepted' ? 'What the delivery report said' : 'What the API said', step.error],
  [
    'Parts',
    step.parts === null ? null : `${formats.number(step.parts)}${step.encoding === null ? '' : ` in ${step.encoding}`}`,
  ],
  // A message that was refused or never sent costs nothing, as in the report.
  ['Cost', step.cost === null || !wasSent(step) ? null : formats.money(step.cost, data.currency)],
  ['Last change', step.updatedAt === null ? null : formats.time(step.updatedAt)],
])}</section>`;
}

/** The row of the list, as it is: only where no byte of it has changed. */
function listSection({ names, outcome: { row, key } }: RecipientData): Html | null {
  const cells = names.cellsOf(row, key);
  return cells.length === 0 ? null : section('In the list', facts(cells));
}

function sentText({ sent, steps, run, campaign, outcome }: RecipientData): Html | null {
  if (sent === null) return null;
  if ('why' in sent) {
    const command = html`<code>handbill preview ${campaign} --line ${outcome.line}</code>`;
    return html`<section class="said-text"><h2>What was sent</h2><p class="soft">${WHY[sent.why]}</p><p class="soft">${command} shows what would be sent now.</p></section>`;
  }
  const shown = steps.flatMap(({ step }) => {
    const node = step.attempts === 0 ? undefined : sent.messages.get(step.channel);
    return node === undefined ? [] : [node];
  });
  if (shown.length === 0) return null;
  return html`<section class="said-text" aria-label="What was sent"><h2>What was sent</h2>
<h3 class="hidden">Messages</h3>
${shown.map((node) => nodeHtml(node, 'Its HTML is on the page of the preview.'))}
<p class="soft">Made again from the files of run ${run}, which have not changed since.</p></section>`;
}

const WHY: Readonly<Record<Extract<SentMessages, { why: string }>['why'], string>> = {
  changed: 'The text cannot be shown: the campaign or its list is not as it was when this was sent.',
  long: 'The text is shown for the first 50,000 rows of a list only.',
  unknown: 'The text cannot be made again from the files of the campaign.',
};

const ENDED_WORDS: Readonly<Record<EndedAttempt['state'], string>> = {
  pending: 'to be tried again',
  failed: 'failed',
  rejected: 'rejected',
  'in-doubt': 'in doubt',
};

export interface Moment {
  /** Null: unknown. */
  readonly atMs: number | null;
  readonly tone: OutcomeState;
  readonly content: Html;
}

export function momentsOf(formats: View['formats'], data: RecipientData): readonly Moment[] {
  return [
    ...data.steps.flatMap((step) => stepMoments(formats, data, step)),
    ...data.replies.map(
      ({ id, text, meaning, atMs }): Moment => ({
        atMs,
        tone: meaning === 'opt-out' ? 'rejected' : 'deferred',
        content: html`<b>Replied: ${meaning}</b> <span class="soft">no. ${id}</span><p class="quote">${text}</p>`,
      }),
    ),
    ...data.doubts.map(
      ({ verdict, by, note, reason, atMs }): Moment => ({
        atMs,
        tone: 'in-doubt',
        content: html`<b>Recorded as ${verdict}</b> by ${by}${reason === null ? null : html` <span class="soft">was in doubt for ${reason}</span>`}${note === null ? null : html`<p class="quote">${note}</p>`}`,
      }),
    ),
  ];
}

export function timelineOf(formats: View['formats'], moments: readonly Moment[]): Html {
  if (moments.length === 0)
    return html`<section><h2>What happened</h2><p class="soft">Nothing was sent to this recipient.</p></section>`;
  const sorted = moments.toSorted(
    (a, b) => (a.atMs ?? Number.POSITIVE_INFINITY) - (b.atMs ?? Number.POSITIVE_INFINITY),
  );
  return html`<section><h2>What happened</h2>
<ol class="timeline">${sorted.map(
    ({
      atMs,
      tone: of,
      content,
    }) => html`<li class="${toneClass(of)}">${content}${atMs === null ? null : formats.time(atMs)}</li>
`,
  )}</ol></section>`;
}

function stepMoments(
  formats: View['formats'],
  { steps }: RecipientData,
  { step, attempts: before, reports }: RecipientStep,
): readonly Moment[] {
  const { channel, outcome, reason, attempts, httpStatus, error, updatedAt } = step;
  const by = steps.length > 1 ? ` by ${channel}` : '';
  const said = [
    attempts > 1 ? `after ${formats.count(attempts, 'attempt')}` : '',
    httpStatus === null ? '' : `HTTP ${httpStatus}`,
    reason ?? '',
    error ?? '',
  ].filter((text) => text !== '');
  const sent: readonly Moment[] =
    attempts === 0 && updatedAt === null
      ? []
      : [
          {
            atMs: updatedAt === null ? null : Date.parse(updatedAt),
            tone: outcome,
            content: html`<b>${outcome}${by}</b> <span class="soft">${said.join(' · ')}</span>`,
          },
        ];
  return [
    ...before.map(({ attempt, state, reason: why, httpStatus: status, error: text, tookMs, atMs }): Moment => {
      const more = [
        status === null ? null : `HTTP ${status}`,
        why,
        text,
        tookMs === null ? null : `took ${formats.number(tookMs)} ms`,
      ].filter((one) => one !== null);
      return {
        atMs,
        tone: state,
        content: html`<b>Attempt ${formats.number(attempt)}${by}: ${ENDED_WORDS[state]}</b> <span class="soft">${more.join(' · ')}</span>`,
      };
    }),
    ...sent,
    ...reports.map(({ state, word, cause, error: why, atMs, receivedAtMs, source, unmatched }): Moment => {
      const more = [
        unmatched === null ? null : `unmatched: ${UNMATCHED_WORDS[unmatched]}`,
        word === state ? null : word,
        cause,
        why,
        `by ${source}`,
      ].filter((text) => text !== null);
      const late = atMs === null ? null : html`<span class="when">received ${formats.time(receivedAtMs)}</span>`;
      return {
        atMs: atMs ?? receivedAtMs,
        tone: unmatched !== null ? 'skipped' : LOST.has(state) ? 'rejected' : 'accepted',
        content: html`<b>${state}</b> <span class="soft">${more.join(' · ')}</span>${Math.abs((atMs ?? 0) - receivedAtMs) < 60_000 ? null : late}`,
      };
    }),
  ];
}

import type { RunRecord } from '../../ledger/records.ts';
import { DELIVERIES, type Ends, OUTCOMES, type Outcome, type OutcomeState, type StepCount } from '../../model.ts';
import { causeOf } from '../../report/causes.ts';
import { END_TABLE, ENDS, endOf } from '../../report/ends.ts';
import { type Html, html } from '../../util/escape.ts';
import { judge } from '../judged.ts';
import { address, type Cells, type Column, crumbs, empty, pager, searchForm, select, swatch, table } from '../kit.ts';
import { type Names, namesOf, personLink, whyNoNames } from '../names.ts';
import { canSort, type RowFilter, type RunList, readRows, readSorted, SORTED_ROWS, SORTS, type Sort } from '../rows.ts';
import { readSearch } from '../search.ts';
import { END_TONES } from '../sections.ts';
import { type MakePage, notFound, ofRun, type Site, textOf, unknownValue, wholeOf } from '../site.ts';
import { choices, fixed, live, type View } from './layout.ts';

const ROWS_ON_A_PAGE = 50;

/** `/runs/ID/recipients`: searched, filtered, a page at a time. */
export const makeRecipients: MakePage = ofRun(async (site, open, run, asked) => {
  const query = queryOf(asked.query);
  const unknown = unknownIn(asked.query);
  if (unknown !== null) return notFound(unknown);
  const found = query.q === '' ? null : await namesOf(site, asked, run, true);
  const filter = filterOf(site, query, await found?.find(query.q));
  const sort = sortOf(asked.query, run);
  const list = { open, run, isHeld: site.stats.isHeld(run) };
  const page = sort === null ? await inListOrder(list, filter, asked.query) : await inOrder(list, filter, sort);
  // Only the form and a figure need them, so the wait is short.
  const { value, isOld } = await site.stats.of(run, Math.min(asked.patienceMs, 300));
  const steps = value?.steps ?? null;
  const ends = value?.cameBack == null ? undefined : judge(site, open, run, value).report.ends;
  // Last, so that reading a long list keeps nothing of the page waiting.
  const names = found ?? (await namesOf(site, asked, run));
  const total = page.total ?? totalOf(run, filter, steps, ends);
  const kept = { ...query, sort: sort?.text ?? null };
  const to: Shown['to'] = (more) => address(['runs', run.id, 'recipients'], { ...kept, ...more });
  const data = { run, query, sort, to };
  const above = [['Now', '/'] as const, [run.id, address(['runs', run.id])] as const];
  const content = {
    title: `Recipients of ${run.name}`,
    parts: [
      live('head', html`${crumbs(above, 'recipients')}\n<h1>Recipients of ${run.name}</h1>${whyNoNames(names)}`),
      fixed('filter', form(data, steps ?? [], value?.cameBack?.causes.flatMap(({ cause }) => cause ?? []) ?? [])),
      live('outcomes', outcomes(asked.view, data, countsOf(run, filter, steps))),
      live('rows', rowsPart(asked.view, data, page, total, names)),
    ],
  };
  return { content, isOld: isOld || names.why === 'soon' };
});

const FIELDS = ['q', 'outcome', 'reason', 'delivery', 'variant', 'cause', 'end'] as const;
/** Texts from the address; empty: not given. */
type Query = Readonly<Record<(typeof FIELDS)[number], string>>;

export function queryOf(query: URLSearchParams): Query {
  return Object.fromEntries(FIELDS.map((name) => [name, textOf(query, name)])) as Query;
}

const KNOWN = {
  outcome: OUTCOMES,
  delivery: [...DELIVERIES, 'none'],
  end: ENDS,
  sort: SORTS.flatMap((one) => [one, `-${one}`]),
};

export function unknownIn(query: URLSearchParams): string | null {
  return unknownValue(query, KNOWN);
}

/** For a query without unknown values. */
export function filterOf(site: Site, { q, ...criteria }: Query, listed?: ReadonlySet<number>): RowFilter {
  const given = Object.entries(criteria).filter(([, text]) => text !== '');
  const search = readSearch(q, site.phone, listed);
  return { ...Object.fromEntries(given), ...(search === null ? {} : { search }) };
}

/** `?sort=-changed&page=2`, the pages from 0; null: list order. */
function sortOf(query: URLSearchParams, run: RunRecord) {
  const text = textOf(query, 'sort');
  const by = SORTS.find((one) => one === text.replace(/^-/, ''));
  if (by === undefined || !canSort(run, by)) return null;
  return { by, text, isDown: text.startsWith('-'), page: wholeOf(query, 'page') ?? 0 };
}

type Sorting = NonNullable<ReturnType<typeof sortOf>>;

type Page = Awaited<ReturnType<typeof inListOrder | typeof inOrder>>;

async function inListOrder(list: RunList, filter: RowFilter, query: URLSearchParams) {
  const [before, after] = [wholeOf(query, 'before'), wholeOf(query, 'after') ?? -1];
  const cursor = before === null ? { after } : { before };
  const { rows, hasBefore, hasAfter, stoppedAt } = await readRows(list, filter, cursor, ROWS_ON_A_PAGE);
  const isFirst = before === null && after < 0;
  return {
    rows,
    /** Rows that match, if known without scanning all recipients. */
    total: isFirst && !hasAfter && stoppedAt === null ? rows.length : null,
    isFirst,
    before: hasBefore ? { before: rows[0]?.row ?? 0 } : null,
    after: hasAfter && stoppedAt === null ? { after: rows.at(-1)?.row ?? 0 } : null,
    /** The row at which the search stopped. */
    stoppedAt,
  };
}

async function inOrder(list: RunList, filter: RowFilter, sort: Sorting) {
  const { page } = sort;
  const from = page * ROWS_ON_A_PAGE;
  const { rows, total } = await readSorted(list, filter, { ...sort, from }, ROWS_ON_A_PAGE);
  const hasAfter = from + ROWS_ON_A_PAGE < Math.min(total, SORTED_ROWS);
  return {
    rows,
    total,
    isFirst: page === 0,
    before: page > 0 ? { page: page - 1 } : null,
    after: hasAfter ? { page: page + 1 } : null,
    stoppedAt: null,
  };
}

function hasOnly(filter: RowFilter, ...names: readonly (keyof RowFilter)[]): boolean {
  return Object.keys(filter).every((name) => names.some((one) => one === name));
}

/** Recipients by outcome, and under null all; null: not counted yet, or the filters would change the numbers. */
function countsOf({ rows }: RunRecord, filter: RowFilter, steps: readonly StepCount[] | null) {
  if (steps === null || !hasOnly(filter, 'outcome')) return null;
  const of = new Map<OutcomeState | null, number>([[null, rows]]);
  for (const { outcome, fellBack, count } of steps) {
    if (!fellBack) of.set(outcome, (of.get(outcome) ?? 0) + count);
  }
  return of;
}

/** Null: not counted yet, or with other filters than outcome and reason, or the end alone. */
function totalOf(run: RunRecord, filter: RowFilter, steps: readonly StepCount[] | null, ends?: Ends): number | null {
  if (hasOnly(filter)) return run.rows;
  if (filter.end !== undefined) return hasOnly(filter, 'end') ? (ends?.[filter.end] ?? null) : null;
  if (!hasOnly(filter, 'outcome', 'reason') || steps === null) return null;
  const isMeant = ({ outcome, reason, fellBack }: StepCount): boolean =>
    !fellBack && (filter.outcome ?? outcome) === outcome && (filter.reason ?? reason) === reason;
  return steps.reduce((sum, step) => (isMeant(step) ? sum + step.count : sum), 0);
}

interface Shown {
  readonly run: RunRecord;
  readonly query: Query;
  /** Null: in the order of the list. */
  readonly sort: Sorting | null;
  /** The address of this list, with other values. */
  readonly to: (more: Readonly<Record<string, string | number | null>>) => string;
}

function outcomes({ formats }: View, { query, to }: Shown, counts: ReturnType<typeof countsOf>): Html {
  const shown = OUTCOMES.filter((one) => counts === null || counts.has(one) || one === query.outcome);
  const links = [null, ...shown].map((outcome) => {
    const count = counts && html` <span class="soft">${formats.number(counts.get(outcome) ?? 0)}</span>`;
    return {
      href: to({ outcome }),
      text: html`${outcome && swatch(outcome)}${outcome ?? 'all'}${count}`,
      isNow: query.outcome === (outcome ?? ''),
    };
  });
  return choices('Outcome', links);
}

function form({ run, query, sort }: Shown, steps: readonly StepCount[], causes: readonly string[]): Html {
  const reasons = steps.flatMap(({ reason, fellBack }) => (fellBack ? [] : (reason ?? [])));
  const variants = steps.flatMap(({ variant }) => variant ?? []);
  const choice = (name: keyof Query, label: string, list: readonly string[]) => {
    const words = [...new Set([...list, query[name]])].filter((word) => word !== '');
    const options = words.map((word) => [word, word] as const);
    return html`${words.length > 0 && select(name, label, options, query[name])}\n`;
  };
  const ends = ENDS.map((end) => [end, END_TABLE[end].words] as const);
  const own = address(['runs', run.id, 'recipients']);
  const csv = html`<a class="button" href="${address(['runs', run.id, 'recipients.csv'], { ...query })}" download>CSV</a>`;
  return searchForm(own, 'Recipients', 'Name, number, line, key or message id', query.q, {
    hidden: { outcome: query.outcome, sort: sort?.text ?? null },
    fields: [
      select('end', 'Message', ends, query.end),
      choice('reason', 'Reason', reasons.sort()),
      choice('delivery', 'Delivery', [...DELIVERIES, 'none']),
      choice('variant', 'Variant', variants.sort()),
      choice('cause', 'Cause', causes),
    ],
    links: html`<a class="button" href="${own}">Clear filters</a>${query.q === '' && csv}`,
  });
}

function rowsPart(view: View, data: Shown, page: Page, total: number | null, names: Names): Html {
  const { run, query, sort, to } = data;
  const { rows, isFirst, stoppedAt } = page;
  const { count, number } = view.formats;
  const isCut = sort !== null && page.after === null && total !== null && total > SORTED_ROWS;
  const end =
    isCut &&
    html`<p>A sorted list ends after ${count(SORTED_ROWS, 'row')}. Filter it, or sort it the other way round.</p>`;
  const far =
    stoppedAt === null
      ? end
      : html`<p>Looked at ${number(stoppedAt + 1)} of ${count(run.rows, 'recipient')} so far. <a href="${to({ after: stoppedAt })}">Look further</a></p>`;
  const links = pager('Pages of the list', [
    ['First page', isFirst ? null : to({})],
    ['Previous page', rows.length > 0 && page.before ? to(page.before) : null],
    ['Next page', rows.length > 0 && page.after ? to(page.after) : null],
  ]);
  if (rows.length === 0) {
    const none = stoppedAt === null ? 'No recipients match.' : 'No recipients match yet.';
    const hint = !far && 'A number may be in any spelling; fewer filters find more.';
    return html`${empty(isFirst ? none : 'No more recipients match.', hint, far)}\n${links}`;
  }
  const [first, last] = [rows[0], rows.at(-1)];
  const isFiltered = Object.values(query).some((one) => one !== '');
  const lines = `Lines ${number(first?.line ?? 0)} to ${number(last?.line ?? 0)} of the list.`;
  const order = isFiltered ? 'In the order of the list.' : lines;
  const caption = [
    total === null ? '' : `${count(total, 'recipient')}. `,
    sort === null ? order : `Sorted by ${COLUMNS.find(({ by }) => by === sort.by)?.words ?? sort.by}.`,
    canSort(run, 'delivery')
      ? ''
      : ' A list this long cannot be sorted by delivery: that would read the reports of every message. Filter by it.',
  ].join('');
  const shown = rows.map((row) => cells(view, run, names, row));
  return html`${table(caption, columnsOf(data), shown)}\n${far}\n${links}`;
}

function cells({ formats, nowMs }: View, run: RunRecord, names: Names, row: Outcome): Cells {
  const { line, key, to, outcome, reason, delivery, variant, attempts, httpStatus, updatedAt } = row;
  const why = causeOf(row) ?? reason;
  const end = endOf(row);
  const href = address(['runs', run.id, 'recipients', row.row]);
  const status = httpStatus !== null && html` <span class="soft">(${httpStatus})</span>`;
  return [
    personLink(href, names.labelOf(row.row, key), to ?? key ?? `line ${line}`),
    formats.number(line),
    key === to ? '' : key,
    html`<span>${swatch(END_TONES[end])}${END_TABLE[end].words} <span class="soft">${outcome}${why !== null && `, ${why}`}</span></span>`,
    delivery,
    variant,
    attempts === 0 ? '' : html`<span>${formats.number(attempts)}${status}</span>`,
    updatedAt && formats.when(updatedAt, nowMs),
  ];
}

/** `down`: readers look for the newest change and the most attempts. */
const COLUMNS: readonly (Column & { readonly by?: Sort; readonly first?: 'down'; readonly words?: string })[] = [
  { by: 'recipient', title: 'Recipient', words: 'address' },
  { by: 'line', title: 'Line', isFigure: true, isLow: true },
  { title: 'Key', isOptional: true, isLow: true },
  { by: 'outcome', title: 'Outcome', isRoomy: true, words: 'outcome, those that need attention first' },
  { by: 'delivery', title: 'Delivery', isOptional: true },
  { by: 'variant', title: 'Variant', isOptional: true, isLow: true },
  { by: 'attempts', first: 'down', title: 'Attempts', isFigure: true, isOptional: true, isLow: true },
  { by: 'changed', first: 'down', title: 'Last change', isOptional: true, isLow: true, words: 'last change' },
];

function columnsOf({ run, sort, to }: Shown): readonly Column[] {
  return COLUMNS.map((column) => {
    const { by, first } = column;
    if (by === undefined || !canSort(run, by)) return column;
    const isNow = (sort?.by ?? 'line') === by;
    const isDown = isNow && sort?.isDown === true;
    const isDownNext = isNow ? !isDown : first === 'down';
    return {
      ...column,
      isOptional: column.isOptional === true && sort?.by !== by,
      sort: {
        href: to({ sort: `${isDownNext ? '-' : ''}${by}` }),
        now: isNow ? (isDown ? 'descending' : 'ascending') : null,
      },
    };
  });
}

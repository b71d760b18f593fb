import { DELIVERIES, OUTCOMES, type Outcome } from '../model.ts';
import { type Html, html } from '../util/html.ts';
import { address, type Content, type View } from './serve-layout.ts';
import { pager, select, table, tone } from './serve-parts.ts';

/** What the form above the list asks for; empty strings for anything. */
export interface RecipientQuery {
  readonly q: string;
  readonly outcome: string;
  readonly reason: string;
  readonly delivery: string;
  readonly variant: string;
}

export interface RecipientsData {
  readonly run: string;
  readonly campaign: string;
  readonly query: RecipientQuery;
  /** Words that can be chosen. */
  readonly reasons: readonly string[];
  readonly variants: readonly string[];
  readonly rows: readonly Outcome[];
  /** All that the filter lets through, where that is known without looking at everybody. */
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
export function recipientsPage(view: View, data: RecipientsData): Content {
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

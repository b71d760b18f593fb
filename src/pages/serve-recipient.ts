import type { DeliveryRecord } from '../ledger/ledger.ts';
import type { EarlierMessage, LegOutcome, Outcome, UnmatchedReason } from '../model.ts';
import { reasonWords } from '../report/reason-words.ts';
import { DELIVERY_WORDS, money, OUTCOME_WORDS, UNMATCHED_WORDS } from '../report/words.ts';
import { type Html, html } from '../util/html.ts';
import { address, type Content, type View } from './serve-layout.ts';
import { facts, table, tone } from './serve-parts.ts';

/** A reply of the recipient, as far as the page shows it. */
export interface RecipientReply {
  readonly id: number;
  readonly text: string;
  readonly meaning: string;
  readonly atMs: number;
}

/** A doubt about the recipient that ended. */
export interface EndedDoubt {
  readonly verdict: string;
  /** Somebody, or the evidence. */
  readonly by: string;
  readonly note: string | null;
  readonly reason: string | null;
  readonly atMs: number;
}

/** A report, and why it counts for nothing here; null: it is about the message. */
export interface NamingReport extends DeliveryRecord {
  readonly unmatched: UnmatchedReason | null;
}

export interface RecipientLeg {
  readonly leg: LegOutcome;
  /** handbill's own id of the message; null where nobody knows the recipient any more. */
  readonly reference: string | null;
  /** Every report that names the message, also those that are not about it. */
  readonly reports: readonly NamingReport[];
}

export interface RecipientData {
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

/** One recipient: every leg, what was tried, and what came back. */
export function recipientPage(view: View, data: RecipientData): Content {
  const who = data.outcome.to ?? data.outcome.key ?? `line ${data.outcome.line}`;
  return {
    title: `${who} · ${data.campaign}`,
    parts: [
      { id: 'head', content: head(view, data, who), isLive: true },
      { id: 'legs', content: html`${data.legs.map((leg, index) => legSection(view, data, leg, index))}`, isLive: true },
      { id: 'history', content: html`${repliesSection(view, data)}${doubtsSection(view, data)}`, isLive: true },
    ],
  };
}

function head({ formats }: View, { run, outcome, isSuppressed }: RecipientData, who: string): Html {
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

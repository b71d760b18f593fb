import { CHANNEL_TABLE } from '../../content/channels.ts';
import { mismatchOfRecord } from '../../ledger/events.ts';
import type { RunRecord } from '../../ledger/records.ts';
import type { EarlierMessage, Outcome, OutcomeState, StepOutcome } from '../../model.ts';
import { earlierJoiner, referencesOf } from '../../operations/report.ts';
import { readPriceList } from '../../plan/estimate.ts';
import { createReferences } from '../../plan/expand.ts';
import { END_TABLE, endOf } from '../../report/ends.ts';
import { LOST } from '../../report/fold-delivery.ts';
import { reasonWords } from '../../report/reason-words.ts';
import { inputsText, wasSent } from '../../report/record.ts';
import { DELIVERY_WORDS, OUTCOME_WORDS, UNMATCHED_WORDS } from '../../report/words.ts';
import { messageOf } from '../../send/deliveries.ts';
import { type Html, html } from '../../util/escape.ts';
import { nextCommand } from '../../util/next-command.ts';
import { toneClass } from '../charts/chart.ts';
import { address, copied, crumbs, facts, section, swatch } from '../kit.ts';
import type { OpenLedger } from '../ledger.ts';
import { namesOf, whyNoNames } from '../names.ts';
import { nodeHtml } from '../preview/message-html.ts';
import { readRow } from '../rows.ts';
import { END_TONES } from '../sections.ts';
import { sentMessages } from '../sent.ts';
import { type Asked, type MakePage, notFound, ofRun, type SentMessages, type Site } from '../site.ts';
import { live, type View } from './layout.ts';

/** `/runs/ID/recipients/ROW`: one recipient. */
export const makeRecipient: MakePage = ofRun(async (site, open, run, asked, row) => {
  const outcome = readRow({ open, run, isHeld: site.stats.isHeld(run) }, row);
  if (outcome === null) return notFound(`Run ${run.id} has no such recipient.`);
  const data = await dataOf(site, open, asked, run, outcome);
  const { formats } = asked.view;
  const who = outcome.to ?? outcome.key ?? `line ${outcome.line}`;
  const label = data.names.labelOf(row, outcome.key);
  const story = html`<div class="story">${sentText(data)}${timelineOf(formats, momentsOf(formats, data))}</div>`;
  const sections = data.steps.map((step, index) => stepSection(asked.view, data, step, index));
  // As it is: only where no byte of the list has changed.
  const cells = data.names.cellsOf(row, outcome.key);
  const content = {
    title: `${label ?? who} · ${run.name}`,
    parts: [
      live('head', recipientHead(asked.view, data, who, label)),
      live('steps', story),
      live('history', html`${sections}${cells.length > 0 && section('In the list', facts(cells))}`),
    ],
  };
  return { content, isOld: data.names.why === 'soon' };
});

export type RecipientData = Awaited<ReturnType<typeof dataOf>>;

/** @param waits for the names, however long their list is */
export async function dataOf(
  site: Site,
  open: OpenLedger,
  asked: Asked,
  run: RunRecord,
  outcome: Outcome,
  waits = false,
) {
  const { ledger } = open;
  const { key } = outcome;
  const referenceOf = createReferences(run);
  const shownOf = referencesOf(run, site.reading.project);
  const attempts = attemptsOf(open, run, outcome);
  const steps = (outcome.steps ?? [outcome]).map((step, index) => {
    const message = key === null ? null : messageOf(run, referenceOf, key, step);
    const reports = message === null ? [] : ledger.events.reportsNaming(message);
    return {
      step,
      /** Those that the row no longer shows: it shows the last one, unless something happened to it since. */
      attempts: attempts.filter((one) => {
        const isShown = one.attempt === step.attempts && one.state === step.outcome && one.reason === step.reason;
        return one.step === index && !isShown;
      }),
      /** handbill's id of the message; null if the recipient is no longer known. */
      reference: key === null ? null : shownOf({ ...step, key }),
      /** Every report that names the message. `unmatched`: why it does not count here; null: it is about the message. */
      reports: reports.map((one) => ({ ...one, unmatched: message && mismatchOfRecord(one, message) })),
    };
  });
  const addresses = [key, ...steps.map(({ step }) => step.to)].filter((one) => one !== null);
  return {
    run,
    currency: readPriceList(site.reading.project).prices?.currency ?? null,
    outcome: earlierJoiner(ledger, run, shownOf)([outcome])[0] ?? outcome,
    steps,
    replies: open.query(REPLIES).all(run.number, outcome.row),
    doubts: key === null ? [] : open.query(DOUBTS).all(run.number, key),
    /** Null: nothing was sent, or personal data was removed. */
    sent: key === null || !outcome.attempts ? null : await sentMessages(site, run, outcome),
    isSuppressed: addresses.some((one) => ledger.isSuppressed(one, asked.view.nowMs, run.topic)),
    names: await namesOf(site, asked, run, waits),
  };
}

function attemptsOf({ query }: OpenLedger, run: RunRecord, { key }: Outcome) {
  const rows = key === null ? [] : query(ATTEMPTS).all(run.number, key);
  return rows.map(([step, attempt, state, reason, httpStatus, error, claimedAtMs, atMs]) => ({
    step: Number(step),
    /** Counted from 1. */
    attempt: Number(attempt),
    state: state as keyof typeof ENDED_WORDS,
    reason: reason as string | null,
    httpStatus: httpStatus as number | null,
    error: error as string | null,
    /**
     * From its claim until its result was recorded; null where there was no claim, or no result. A killed start did not
     * record when its request ended; the next one did, whenever that was.
     */
    tookMs: claimedAtMs === null || atMs === null || reason === 'crash' ? null : Number(atMs) - Number(claimedAtMs),
    atMs: atMs as number | null,
  }));
}

const REPLIES = `SELECT number, text, coalesce(reviewed_as, meaning), coalesce(happened_at, received_at) FROM replies
  WHERE run = ? AND row = ? AND sender <> '' ORDER BY number LIMIT 100`;

const ATTEMPTS = `SELECT step, attempt, state, reason, http_status, error, claimed_at, ended_at FROM attempts
  WHERE run = ? AND key = ? ORDER BY step, attempt, number LIMIT 200`;

const DOUBTS = `SELECT verdict, coalesce(who, resolved_by), note, reason, resolved_at FROM resolutions
  WHERE run = ? AND key = ? AND resolved_by <> 'resend-changed' ORDER BY number LIMIT 100`;

function recipientHead({ formats }: View, data: RecipientData, who: string, label: string | null): Html {
  const { run, outcome, isSuppressed, names } = data;
  const { reason, delivery } = outcome;
  const above = [
    ['Now', '/'],
    [run.id, address(['runs', run.id])],
    ['recipients', address(['runs', run.id, 'recipients'])],
  ] as const;
  const person = address(['people', run.id, outcome.row]);
  const doubt = address(['doubt'], { run: run.id, q: outcome.to ?? outcome.key });
  const suppressed = address(['suppressions'], { q: outcome.to ?? outcome.key });
  return html`${crumbs(above, `line ${formats.number(outcome.line)}`)}
<h1>${label ?? who}</h1>${whyNoNames(names)}${outcome.key !== null && html`<p><a href="${person}">All messages to this person</a>${outcome.outcome === 'in-doubt' && html` · <a href="${doubt}">Record what became of this one</a>`}</p>`}
${facts([
  ['Address', label && who],
  ['Message', html`${swatch(END_TONES[endOf(outcome)])}<strong>${END_TABLE[endOf(outcome)].words}</strong>`],
  ['Outcome', meaning(outcome.outcome, OUTCOME_WORDS[outcome.outcome])],
  ['Reason', reason && meaning(reason, reasonWords(reason))],
  ['Delivery', delivery && meaning(delivery, DELIVERY_WORDS[delivery] ?? '')],
  ['Inputs', inputsText(outcome)],
  ['Line of the list', formats.number(outcome.line)],
  ['Key', outcome.key],
  ['In the list now', outcome.listTo && `${outcome.listTo}; the message was sent to ${outcome.to ?? 'none'}`],
  ...(outcome.earlier ?? []).map((one) => ['Earlier message', earlierText(formats, one)] as const),
  ['Variant', outcome.variant],
  ['Suppressed now', isSuppressed && html`yes, see <a href="${suppressed}">the list</a>`],
])}`;
}

function meaning(word: string, means: string): string {
  return means === '' ? word : `${word} · ${means}`;
}

function earlierText(formats: View['formats'], { to, messageId, inputs, delivery, sentAt }: EarlierMessage): Html {
  const known = [
    `sent to ${to ?? 'none'}`,
    messageId && `message id ${messageId}`,
    inputs && `inputs ${inputs}`,
    delivery,
  ];
  return html`${known.filter(Boolean).join(', ')}${sentAt && html`, ${formats.time(sentAt)}`}`;
}

function stepSection({ formats }: View, data: RecipientData, { step, reference }: RecipientStep, index: number): Html {
  const several = data.steps.length > 1;
  const { outcome, reason, attempts, parts, encoding, cost } = step;
  const title = several
    ? `${index + 1}. ${CHANNEL_TABLE[step.channel].label}`
    : `Message by ${CHANNEL_TABLE[step.channel].label}`;
  return html`<section><h2>${title}</h2>
${facts([
  ['To', step.to],
  ['Outcome', several && `${outcome}${reason === null ? '' : ` (${reason})`}`],
  ['Attempts', attempts === 0 ? 'none' : formats.number(attempts)],
  ['HTTP status', step.httpStatus],
  ['Inputs', several && inputsText(step)],
  ['Message id', step.messageId && html`<code>${step.messageId}</code>`],
  ['Reference', attempts > 0 && reference && copied(reference)],
  [outcome === 'accepted' ? 'What the delivery report said' : 'What the API said', step.error],
  ['Parts', parts === null ? null : `${formats.number(parts)}${encoding === null ? '' : ` in ${encoding}`}`],
  // A message that was refused or never sent costs nothing, as in the report.
  ['Cost', cost === null || !wasSent(step) ? null : formats.money(cost, data.currency)],
  ['Last change', step.updatedAt && formats.time(step.updatedAt)],
])}</section>`;
}

/** Only a browser can show the HTML of an email safely. */
export const OF_AN_EMAIL = 'Its HTML is on the page of the preview.';

function sentText({ sent, steps, run, outcome }: RecipientData): Html | null {
  if (sent === null) return null;
  if ('why' in sent) {
    const command = html`<code>${nextCommand('preview', run.name, '--line', String(outcome.line))}</code>`;
    return html`<section class="said-text"><h2>What was sent</h2><p class="soft">${WHY[sent.why]}</p><p class="soft">${command} shows what would be sent now.</p></section>`;
  }
  const nodes = steps.map(({ step }) => (step.attempts > 0 ? sent.messages.get(step.channel) : undefined));
  const shown = nodes.filter((node) => node !== undefined);
  if (shown.length === 0) return null;
  return html`<section class="said-text" aria-label="What was sent"><h2>What was sent</h2>
<h3 class="hidden">Messages</h3>
${shown.map((node) => nodeHtml(node, OF_AN_EMAIL))}
<p class="soft">Made again from the files of run ${run.id}, which have not changed since.</p></section>`;
}

const WHY: Readonly<Record<Extract<SentMessages, { why: string }>['why'], string>> = {
  changed: 'The text cannot be shown: the campaign or its list is not as it was when this was sent.',
  long: 'The text is shown for the first 50,000 rows of a list only.',
  unknown: 'The text cannot be made again from the files of the campaign.',
};

const ENDED_WORDS = {
  pending: 'to be tried again',
  failed: 'failed',
  rejected: 'rejected',
  'in-doubt': 'in doubt',
} as const;

export interface Moment {
  /** Null: unknown. */
  readonly atMs: number | null;
  readonly tone: OutcomeState;
  readonly content: Html;
}

export function momentsOf(formats: View['formats'], data: RecipientData): readonly Moment[] {
  const by = ({ channel }: StepOutcome) => (data.steps.length > 1 ? ` by ${CHANNEL_TABLE[channel].label}` : '');
  return [
    ...data.steps.flatMap((one) => [
      ...one.attempts.map((attempt) => attemptMoment(formats, attempt, by(one.step))),
      ...stepMoments(formats, one.step, by(one.step)),
      ...one.reports.map((report) => reportMoment(formats, report)),
    ]),
    ...data.replies.map(
      ([id, text, as, at]): Moment => ({
        atMs: Number(at),
        tone: as === 'opt-out' ? 'rejected' : 'deferred',
        content: html`<b>Replied: ${String(as)}</b> <span class="soft">no. ${String(id)}</span><p class="quote">${String(text)}</p>`,
      }),
    ),
    ...data.doubts.map(
      ([verdict, who, note, reason, at]): Moment => ({
        atMs: Number(at),
        tone: 'in-doubt',
        content: html`<b>Recorded as ${String(verdict)}</b> by ${String(who)}${reason !== null && html` <span class="soft">was in doubt for ${String(reason)}</span>`}${note !== null && html`<p class="quote">${String(note)}</p>`}`,
      }),
    ),
  ];
}

export function timelineOf(formats: View['formats'], moments: readonly Moment[]): Html {
  if (moments.length === 0)
    return section('What happened', html`<p class="soft">Nothing was sent to this recipient.</p>`);
  const never = Number.POSITIVE_INFINITY;
  const items = moments
    .toSorted((a, b) => (a.atMs ?? never) - (b.atMs ?? never))
    .map(({ atMs, tone, content }) => {
      return html`<li class="${toneClass(tone)}">${content}${atMs !== null && formats.time(atMs)}</li>\n`;
    });
  return section('What happened', html`<ol class="timeline">${items}</ol>`);
}

/** The facts that are known. */
function softly(...all: readonly (string | null | false)[]): Html {
  return html`<span class="soft">${all.filter((one) => one !== null && one !== false).join(' · ')}</span>`;
}

function stepMoments(formats: View['formats'], step: StepOutcome, by: string): readonly Moment[] {
  const { outcome, reason, attempts, httpStatus, error, updatedAt } = step;
  if (attempts === 0 && updatedAt === null) return [];
  const after = attempts > 1 && `after ${formats.count(attempts, 'attempt')}`;
  const said = softly(after, httpStatus !== null && `HTTP ${httpStatus}`, reason, error);
  const atMs = updatedAt === null ? null : Date.parse(updatedAt);
  return [{ atMs, tone: outcome, content: html`<b>${outcome}${by}</b> ${said}` }];
}

function attemptMoment({ number }: View['formats'], one: ReturnType<typeof attemptsOf>[number], by: string): Moment {
  const { attempt, state, reason, httpStatus, error, tookMs, atMs } = one;
  const took = tookMs !== null && `took ${number(tookMs)} ms`;
  const said = softly(httpStatus !== null && `HTTP ${httpStatus}`, reason, error, took);
  return { atMs, tone: state, content: html`<b>Attempt ${number(attempt)}${by}: ${ENDED_WORDS[state]}</b> ${said}` };
}

type RecipientStep = RecipientData['steps'][number];

function reportMoment({ time }: View['formats'], report: RecipientStep['reports'][number]): Moment {
  const { state, word, cause, error, atMs, receivedAtMs, source, unmatched } = report;
  const why = unmatched && `unmatched: ${UNMATCHED_WORDS[unmatched]}`;
  const said = softly(why, word !== state && word, cause, error, `by ${source}`);
  const isLate = atMs !== null && Math.abs(atMs - receivedAtMs) >= 60_000;
  return {
    atMs: atMs ?? receivedAtMs,
    tone: unmatched !== null ? 'skipped' : LOST.has(state) ? 'rejected' : 'accepted',
    content: html`<b>${state}</b> ${said}${isLate && html`<span class="when">received ${time(receivedAtMs)}</span>`}`,
  };
}

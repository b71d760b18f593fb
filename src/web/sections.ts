import type { Report, ReportedCause } from '../model.ts';
import { returnedOf } from '../report/deliveries.ts';
import { END_TABLE, ENDS, type End, endOf, endsOf, totalsKey } from '../report/ends.ts';
import type { Formats } from '../report/locale.ts';
import { nextSteps, type SentAs } from '../report/next-steps.ts';
import { reasonAdvice, reasonWords } from '../report/reason-words.ts';
import { acceptedBase } from '../report/variants.ts';
import { intervalOf, rateOf, significanceWords, winnerWords } from '../report/variants-text.ts';
import { verdictOf } from '../report/verdict.ts';
import {
  commitFacts,
  deliveryLines,
  inputFacts,
  keptWords,
  OUTCOME_WORDS,
  period,
  repliesText,
  stateWord,
  uncountedWords,
  unmatchedLines,
  versionFacts,
  WORST_FIRST,
} from '../report/words.ts';
import { type Html, html } from '../util/escape.ts';
import { shareBar, shareChart, type Tone } from './charts/chart.ts';
import { stagesTable, variantFunnel } from './charts/funnel.ts';
import { type Cells, coded, copied, facts, figureColumns, section, stateMark, swatch, table } from './kit.ts';
import { overTimeOf, type ReplyCounts, repliesOf, type watchTimes } from './report/returned.ts';

/** A run for people: the page of a run, and its shareable report, which has no links and masks addresses. */

export interface ShownRun {
  readonly report: Report;
  readonly formats: Formats;
  readonly currency: string | null;
  /** As its owner would name it on the command line. */
  readonly campaignFile: SentAs;
  /** Where the environment accepts approved plans only. */
  readonly planPath: string | null;
  /** A link to the recipients that match; null on a page without links. */
  readonly link: ((text: string, query: Readonly<Record<string, string | null>>) => Html) | null;
}

/** The view of a run that goes through all recipients and reports has these too. */
interface WholeRun {
  readonly replies: ReplyCounts | null;
  readonly slots: Parameters<typeof overTimeOf>[0];
  readonly returned: ReturnType<ReturnType<typeof watchTimes>['returned']>;
  readonly recipients: Html | null;
}

/** All that is known, in the order of a reader's questions, each with the id of its part of a page. */
export function runSections(
  shown: ShownRun,
  noDeliveries: Html | null,
  whole: WholeRun | null = null,
): readonly (readonly [id: string, content: Html | null])[] {
  const { report, formats, link } = shown;
  const deliveries = deliveriesSection(shown) ?? noDeliveries;
  const replies = repliesOf(report, whole?.replies ?? null, formats, link !== null);
  return [
    ['totals', endsSection(shown)],
    ['causes', causesSection(shown)],
    ['steps', nextSection(shown)],
    ['why', outcomesSection(shown)],
    ['back', html`<div class="pair">${deliveries}${replies}</div>${unmatchedSection(shown)}`],
    ['time', overTimeOf(whole?.slots ?? [], formats)],
    [
      'variants',
      html`<div class="pair">${variantsSection(shown)}${channelsSection(shown, whole?.returned ?? null)}</div>`,
    ],
    ['people', whole?.recipients ?? null],
    ['figures', section('Figures', figuresOf(shown))],
  ];
}

/**
 * The name of a run, its state and the verdict.
 * @param tools beside the name
 * @param progress below the verdict
 */
export function runHead(shown: ShownRun, tools: Html | null = null, progress: Html | null = null): Html {
  const { report, formats } = shown;
  const { campaign, environment, occurrence, state } = report;
  const when = ISO.test(occurrence)
    ? html`<time datetime="${occurrence}">${formats.instant(occurrence)}</time>`
    : occurrence;
  return html`<div class="head"><h1>${campaign}</h1>${stateMark(state, stateWord(state))}${tools}</div>
<p class="soft">${environment} · ${when}. ${period(report, formats)}</p>
${verdictSection(shown)}${progress}${keptWords(report, formats).map((words) => html`<p>${words}</p>`)}
`;
}

/** A time that is only text from outside stays text. */
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

/** The answer, before any figure. */
function verdictSection({ report, formats, link }: ShownRun): Html {
  const { tone, headline, cause, counts, fall } = verdictOf(report, formats);
  const top = report.causes?.[0];
  const words = cause && top !== undefined ? (link?.(cause, causeQuery(top)) ?? cause) : cause;
  const lines = [headline, words, counts, fall].filter((line) => line !== null);
  return html`<div class="verdict ${tone}">${lines.map((line) => html`<p>${line}</p>`)}</div>\n`;
}

function causeQuery({ outcome, delivery, cause }: ReportedCause) {
  return { ...(delivery === undefined ? { outcome } : { delivery }), cause };
}

export const END_TONES: Readonly<Record<End, Tone>> = {
  delivered: 'accepted',
  sent: 'deferred',
  notDelivered: 'rejected',
  unclear: 'in-doubt',
  notSent: 'skipped',
  waits: 'two',
  notTried: 'pending',
};

function endParts(report: Report, link: ShownRun['link']) {
  const { ends = endsOf(report) } = report;
  return ENDS.map((end) => {
    const meaning = END_TABLE[end].means !== '' && html` <span class="soft">(${END_TABLE[end].means})</span>`;
    const name = link?.(END_TABLE[end].words, { end }) ?? END_TABLE[end].words;
    return { label: END_TABLE[end].words, value: ends[end], tone: END_TONES[end], shown: html`${name}${meaning}` };
  });
}

export function endsBar(report: Report, formats: Formats): Html {
  return shareBar(endParts(report, null), formats);
}

/** How many got the message; then cost and replies in a line. */
function endsSection({ report, formats, currency, link }: ShownRun): Html {
  const { totals, replies, sms } = report;
  if (totals.recipients === 0) return html`<p>The list has no recipients.</p>`;
  const price = sms.cost === null ? null : formats.money(sms.cost, currency);
  const parts = sms.parts > 0 ? ` for ${formats.count(sms.parts, 'part')}` : '';
  const said = replies && `Replies from ${repliesText(replies, formats)}.`;
  const more = [price && `Cost ${price}${parts}.`, said].filter(Boolean);
  const chart = shareChart(formats.count(totals.recipients, 'recipient'), endParts(report, link), formats);
  return html`${chart}${more.length > 0 && html`<p>${more.join(' ')}</p>`}\n`;
}

function nextSection({ report, formats, campaignFile, planPath, link }: ShownRun): Html | null {
  // The page of a run in progress shows its progress itself.
  const isShown = (command: string | null) =>
    (link === null || report.state !== 'running' || !command?.startsWith('handbill report ')) &&
    // A pause refuses every send.
    (report.paused === undefined || !command?.startsWith('handbill send '));
  const left = nextSteps(report, campaignFile, planPath, formats).filter(({ command }) => isShown(command));
  if (left.length === 0) return null;
  const commandOf = (command: string) =>
    link === null ? html`<pre><code>${command}</code></pre>` : copied(command, 'Command');
  const steps = left.map(({ text, command }) => {
    return html`<div class="step"><p>${coded(text)}</p>${command !== null && commandOf(command)}</div>\n`;
  });
  return section('What to do next', steps);
}

const MEANING = { title: 'Meaning', isLow: true };

/** How many, and their share of all recipients. */
function shareOf({ report, formats }: ShownRun, count: number): readonly string[] {
  return [formats.number(count), formats.percent(count, report.totals.recipients)];
}

function outcomesSection(shown: ShownRun): Html {
  const { report, formats, link } = shown;
  const { totals, reasons } = report;
  const rows = WORST_FIRST.flatMap((outcome) => {
    const count = totals[totalsKey(outcome)];
    if (count === 0) return [];
    const name = html`<span class="name">${swatch(outcome)}${link?.(outcome, { outcome }) ?? outcome}</span>`;
    const parts = Object.entries(reasons[totalsKey(outcome)] ?? {}).map(([reason, some]) => {
      const advice = reasonAdvice(reason, outcome);
      const meaning = html`<span>${coded(reasonWords(reason))}${advice !== '' && html`<br><span class="soft">${coded(advice)}</span>`}</span>`;
      return { isPart: true, cells: [link?.(reason, { outcome, reason }) ?? reason, ...shareOf(shown, some), meaning] };
    });
    return [[name, ...shareOf(shown, count), OUTCOME_WORDS[outcome]], ...parts];
  });
  const columns = [{ title: 'Outcome' }, ...figureColumns('Recipients', 'Share'), MEANING];
  const caption = `${formats.count(totals.recipients, 'recipient')}, by outcome and reason.`;
  return section('Outcomes', table(caption, columns, rows));
}

/** At a glance; the rest is folded away. */
const FIRST_CAUSES = 5;
const MOST_SHOWN = 50;

function causesSection(shown: ShownRun): Html | null {
  const { formats, link, report } = shown;
  const { causes: all = [] } = report;
  if (all.length === 0) return null;
  const sum = all.reduce((total, { count }) => total + count, 0);
  const named = all.filter(({ cause }) => cause !== null).slice(0, MOST_SHOWN);
  const rest = named.reduce((left, { count }) => left - count, sum);
  const rows = named.map((one): Cells => {
    const of = endOf(one);
    const name = html`<span>${swatch(END_TONES[of])}${link?.(one.cause ?? '', causeQuery(one)) ?? one.cause}</span>`;
    return [name, html`<span class="nowrap">${END_TABLE[of].words}</span>`, ...shareOf(shown, one.count)];
  });
  if (rest > 0) rows.push(['other causes', '', ...shareOf(shown, rest)]);
  const columns = [{ title: 'Cause' }, { title: 'Message', isLow: true }, ...figureColumns('Recipients', 'Share')];
  const words = `${formats.count(sum, 'recipient')} whose message failed, or may have failed, by what the API or the delivery report says.`;
  const more = rows.slice(FIRST_CAUSES);
  const folded = html`<details><summary>${formats.number(more.length)} more</summary>${table(null, columns, more)}</details>`;
  return section('Failures', [table(words, columns, rows.slice(0, FIRST_CAUSES)), more.length > 0 && folded]);
}

function deliveriesSection({ report, formats, link }: ShownRun): Html | null {
  const lines = deliveryLines(report, formats);
  if (lines.length === 0) return null;
  const rows = lines.map(([word, count, share, meaning]) => {
    const name = word === '-' ? 'nothing' : (link?.(word, { delivery: word }) ?? word);
    return [name, formats.number(count), share, meaning];
  });
  const columns = [{ title: 'State' }, ...figureColumns('Recipients', 'Share of accepted'), MEANING];
  return section('Deliveries', table('The latest delivery report or reply about each message.', columns, rows));
}

function unmatchedSection({ report, formats }: ShownRun): Html | null {
  const rows = unmatchedLines(report).map(([why, count, meaning]) => [why, formats.number(count), meaning]);
  if (rows.length === 0) return null;
  const columns = [{ title: 'Why' }, ...figureColumns('Reports'), MEANING];
  const caption = 'They name ids of messages of this run and are not about them. They count nowhere.';
  return section('Unmatched delivery reports', table(caption, columns, rows));
}

function variantsSection({ report, formats, link }: ShownRun): Html | null {
  const { variants, significance = null } = report;
  if (variants === undefined) return null;
  const words = [significanceWords({ variants, significance }), winnerWords(report, formats)];
  const compared = variants.map((variant) => ({
    name: variant.name,
    funnel: variantFunnel(variant),
    more: [
      ['Rate', rateOf(variant, formats)],
      ['95% interval', intervalOf(variant, formats)],
      ...(link === null ? [] : [['Recipients', link('show', { variant: variant.name })] as const]),
    ] as const,
  }));
  return section('Variants', stagesTable(words.filter((text) => text !== '').join(' '), compared, formats));
}

/**
 * Progress of the messages on each channel, if there are several.
 * @param returned delivery reports and replies by channel; null: not counted by channel
 */
function channelsSection(shown: ShownRun, returned: WholeRun['returned'] | null): Html | null {
  const { report, formats, currency } = shown;
  const { steps } = report;
  if (steps === undefined) return null;
  const counts = [
    ['Rejected', 'rejected'],
    ['In doubt', 'inDoubt'],
    ['Failed', 'failed'],
    ['Fell back', 'fellBack'],
    ['Pending', 'pending'],
  ] as const;
  const used = counts.filter(([, count]) => count === 'fellBack' || steps.some((step) => step[count] > 0));
  const compared = steps.map((step) => {
    const { channel, attempted, accepted, cost } = step;
    const back = returned === null || returned.size === 0 ? null : returnedOf(returned.get(channel) ?? {});
    const base = acceptedBase({ accepted, delivered: back?.delivered ?? 0 });
    return {
      name: channel,
      funnel: { list: null, sent: attempted, accepted, base, returned: back },
      more: [
        ...used.map(([title, count]) => [title, formats.number(step[count])] as const),
        ['Cost', cost === null ? '-' : formats.money(cost, currency)] as const,
      ],
    };
  });
  return section('Channels', stagesTable('How far the messages on each channel came.', compared, formats));
}

function figuresOf({ report, formats, currency }: ShownRun): Html {
  const { requests, sms, replies, winner, opensAt } = report;
  const { number, count, milliseconds } = formats;
  const isPosted = requests.posted > 0;
  const latency = Object.entries(requests.latencyMs).map(([name, ms]) => `${name} ${milliseconds(ms)}`);
  const uncounted = uncountedWords(requests, formats);
  const posted = [
    number(requests.posted),
    count(requests.retried, 'retry', 'retries'),
    `${formats.rate(requests.perSecond)} a second`,
    ...uncounted,
  ];
  const messages = Object.entries(sms.encodings).map(([encoding, some]) => `${count(some, 'message')} in ${encoding}`);
  return facts([
    ['Requests', (isPosted ? posted : uncounted).join(', ')],
    ['Latency', isPosted && latency.join(', ')],
    ['SMS', sms.parts > 0 && [count(sms.parts, 'part'), ...messages].join(', ')],
    ['Cost', sms.cost === null ? null : formats.money(sms.cost, currency)],
    ['Replies', replies && repliesText(replies, formats)],
    ['Opens again', opensAt && formats.instant(opensAt)],
    ['Winner of the test', winner?.variant],
    ...commitFacts(report),
    ...inputFacts(report),
    ...versionFacts(report, formats),
    ['Run', report.run],
  ]);
}

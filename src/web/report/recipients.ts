import type { Outcome, OutcomeState, Report } from '../../model.ts';
import { LOST } from '../../report/fold-delivery.ts';
import type { Formats } from '../../report/locale.ts';
import { type Html, html } from '../../util/escape.ts';
import { mask, maskText } from '../../util/redact.ts';
import { inlineMark } from '../charts/chart.ts';
import { type Column, section, table } from '../kit.ts';

/** Keeps the page small enough for any browser. */
export const LISTED_RECIPIENTS = 1000;
/** Printed rows of the table: the whole report is two pages then. */
const PRINTED = 8;

interface Chosen {
  readonly rows: readonly Outcome[];
  readonly total: number;
  /** Rows with an accepted message that did not arrive, according to reports. */
  readonly lost: number;
}

export function createChoice() {
  const pressing: Outcome[] = [];
  const others: Outcome[] = [];
  let total = 0;
  let lostCount = 0;
  return {
    add(outcome: Outcome): void {
      const { delivery = null } = outcome;
      const lost = outcome.outcome === 'accepted' && delivery !== null && LOST.has(delivery);
      if (outcome.outcome === 'accepted' && !lost) return;
      total++;
      if (lost) lostCount++;
      const kept = lost || PRESSING.has(outcome.outcome) ? pressing : others;
      if (kept.length < LISTED_RECIPIENTS) kept.push(outcome);
    },
    chosen: (): Chosen => ({ rows: [...pressing, ...others].slice(0, LISTED_RECIPIENTS), total, lost: lostCount }),
  };
}

const PRESSING: ReadonlySet<OutcomeState> = new Set(['in-doubt', 'rejected', 'failed']);

/** Recipients without an arrived message; null: none. Addresses are masked: owners of the list have the line. */
export function recipientsOf(
  { rows, total, lost }: Chosen,
  report: Report,
  addresses: 'masked' | 'whole',
  { number, count: countOf }: Formats,
): Html | null {
  if (total === 0) return null;
  const steps = report.steps !== undefined;
  const reported = rows.some(({ delivery = null }) => delivery !== null);
  const asItIs = (text: string) => text;
  const [address, text] = addresses === 'whole' ? [asItIs, asItIs] : [mask, maskText];
  const columns: readonly Column[] = [
    { title: 'Line', isFigure: true },
    { title: 'Recipient' },
    ...(steps ? [{ title: 'Channel' }] : []),
    { title: 'Outcome' },
    { title: 'Reason' },
    { title: 'Status', isFigure: true },
    { title: 'Attempts', isFigure: true },
    ...(reported ? [{ title: 'Delivery' }] : []),
    { title: 'Error' },
  ];
  const shown = rows.map((one) => {
    const who = one.to ?? one.key;
    const cells = [
      one.line,
      who === null ? '-' : address(who),
      ...(steps ? [one.channel] : []),
      html`<span class="nowrap">${inlineMark(one.outcome)}${one.outcome}</span>`,
      one.reason ?? '-',
      one.httpStatus ?? '-',
      one.attempts,
      ...(reported ? [one.delivery ?? '-'] : []),
      one.error === null ? '' : text(one.error),
    ];
    return { cells };
  });
  const heading = `Recipients that were not accepted${lost > 0 ? ', or whose message did not arrive' : ''}`;
  const more = total - rows.length;
  const first =
    more > 0
      ? `; the first ${number(rows.length)} are shown, ${number(more)} more are in handbill report ${report.run} --format csv`
      : '';
  const masked = addresses === 'masked' ? ' Addresses are masked.' : '';
  return section(heading, [
    html`<p class="soft">${countOf(total, 'recipient')}, by line of the list${first}.${masked}</p>
`,
    html`<div class="recipients">${table(null, columns, shown, heading)}</div>`,
    rows.length > PRINTED
      ? html`<p class="soft on-paper">On paper, the first ${number(PRINTED)} of them are shown.</p>
`
      : null,
  ]);
}

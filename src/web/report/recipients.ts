import type { Outcome, Report } from '../../model.ts';
import { causeOf } from '../../report/causes.ts';
import { END_TABLE, endOf } from '../../report/ends.ts';
import type { Formats } from '../../report/locale.ts';
import { reasonWords } from '../../report/reason-words.ts';
import { type Html, html } from '../../util/escape.ts';
import { nextCommand } from '../../util/next-command.ts';
import { mask, maskText } from '../../util/redact.ts';
import { inlineMark } from '../charts/chart.ts';
import { type Cells, type Column, section, table } from '../kit.ts';

/** Keeps the page small enough for any browser. */
export const LISTED_RECIPIENTS = 1000;

/** Those whose message failed, may have failed or was lost: a rule that leaves recipients out is no failure. */
export function createChoice() {
  const rows: Outcome[] = [];
  const counts = { notDelivered: 0, unclear: 0 };
  return {
    add(outcome: Outcome): void {
      const end = endOf(outcome);
      if (end !== 'notDelivered' && end !== 'unclear') return;
      counts[end]++;
      if (rows.length < LISTED_RECIPIENTS) rows.push(outcome);
    },
    chosen: () => ({ rows, ...counts }),
  };
}

/** Recipients whose message did not arrive, or may not have; null: none. Addresses are masked: owners of the list have the line. */
export function recipientsOf(
  { rows, notDelivered, unclear }: ReturnType<ReturnType<typeof createChoice>['chosen']>,
  report: Report,
  addresses: 'masked' | 'whole',
  { number }: Formats,
): Html | null {
  const total = notDelivered + unclear;
  if (total === 0) return null;
  const asItIs = (text: string) => text;
  const [address, text] = addresses === 'whole' ? [asItIs, asItIs] : [mask, maskText];
  const columns: readonly Column[] = [
    { title: 'Line', isFigure: true },
    { title: 'Recipient' },
    { title: 'Channel', isLow: true, isOptional: true },
    { title: 'Message' },
    { title: 'Outcome', isLow: true },
    { title: 'Reason' },
    { title: 'Status', isLow: true },
    { title: 'Attempts', isLow: true },
    { title: 'Delivery', isLow: true, isOptional: true },
    { title: 'Error', isLow: true },
  ];
  const rowOf = (one: Outcome): Cells => {
    const who = one.to ?? one.key;
    return [
      one.line,
      who === null ? '-' : address(who),
      report.steps && one.channel,
      html`<span class="nowrap">${inlineMark(one.outcome)}${END_TABLE[endOf(one)].words}</span>`,
      one.outcome,
      one.reason ?? '-',
      one.httpStatus ?? '-',
      one.attempts,
      one.delivery,
      one.error && text(one.error),
    ];
  };
  const groups = [...Map.groupBy(rows, (one) => causeOf(one) ?? reasonWords(one.reason ?? ''))].toSorted(
    ([, a], [, b]) => b.length - a.length,
  );
  const folded = groups.map(
    ([cause, group]) => html`<details><summary>${text(cause)} <b>${number(group.length)}</b></summary>
${table(null, columns, group.map(rowOf))}</details>\n`,
  );
  const more = total - rows.length;
  const first = `; the first ${number(rows.length)} are shown, ${number(more)} more are in ${nextCommand('report', report.run, '--format', 'csv')}`;
  const counts = [
    ...(notDelivered === 0 ? [] : [`${number(notDelivered)} ${END_TABLE.notDelivered.words}`]),
    ...(unclear === 0 ? [] : [`${number(unclear)} ${END_TABLE.unclear.words} (${END_TABLE.unclear.means})`]),
  ].join(', ');
  const said = html`<p class="soft">${counts}, by cause and by line of the list${more > 0 && first}.${addresses === 'masked' && ' Addresses are masked.'}</p>\n`;
  return html`<div class="recipients">${section('Who did not get it', [said, folded])}</div>`;
}

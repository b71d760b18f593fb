import type { Rehearsal, RehearsedDay, RehearsedOccurrence } from '../model.ts';
import { createFormats, type Formats } from '../report/locale.ts';
import { dayWords, peopleWords, spanWords, verdictOf, whatWords } from '../report/rehearsal-text.ts';
import { type Html, html } from '../util/escape.ts';
import { mask } from '../util/redact.ts';
import { track } from './charts/chart.ts';
import { documentFrame } from './document.ts';
import { coded, section, table } from './kit.ts';

/** The coming days as a single page: no script, nothing loaded, no links. Addresses are masked. */
export function rehearsalPage(rehearsal: Rehearsal): string {
  const formats = createFormats(rehearsal.locale, rehearsal.timeZone);
  const { head, foot } = documentFrame({ title: 'The coming days - handbill' });
  const content = html`<main>
<h1>The coming days</h1>
${rehearsalSections(rehearsal, formats, ({ campaign }) => html`${campaign}`)}</main>
`;
  return head + content.markup + foot;
}

/** @param linkOf - shows the campaign of an occurrence */
export function rehearsalSections(
  rehearsal: Rehearsal,
  formats: Formats,
  linkOf: (one: RehearsedOccurrence) => Html,
): Html {
  const { days, occurrences, most, assumed } = rehearsal;
  const figures = ({ messages, parts, cost }: Omit<RehearsedDay, 'day'>) => [
    messages === 0 ? '' : formats.number(messages),
    parts === 0 ? '' : formats.number(parts),
    cost === null || messages === 0 ? '' : formats.money(cost, rehearsal.currency),
  ];
  const highest = Math.max(1, ...days.map(({ messages }) => messages));
  const dayRows = days.map((day) => {
    return { cells: [dayWords(day.day), track((day.messages / highest) * 100, 'plain'), ...figures(day)] };
  });
  const rows = occurrences.map((one) => {
    const { begins, ends } = spanWords(one, rehearsal);
    return { cells: [begins, ends, linkOf(one), ...figures(one), whatWords(one, rehearsal, formats)] };
  });
  const people = most?.first.map(({ to, messages }) => ({ cells: [mask(to), formats.number(messages)] })) ?? [];
  return html`<p>${verdictOf(rehearsal, formats)}</p>
${days.length === 0 ? null : section('By day', table(null, DAYS, dayRows))}${
  rows.length === 0 ? null : section('Each occurrence', table(null, OCCURRENCES, rows))
}${most === undefined ? null : section(peopleWords(rehearsal, formats), table(null, PEOPLE, people))}<p class="soft">Assumed: ${coded(assumed.join(' '))}</p>
`;
}

const FIGURES = [
  { title: 'Messages', isFigure: true, isOptional: true },
  { title: 'Parts', isFigure: true, isOptional: true, isLow: true },
  { title: 'Cost', isFigure: true, isOptional: true, isLow: true },
];
const DAYS = [{ title: 'Day' }, { title: 'Share', isHidden: true, isRoomy: true }, ...FIGURES];
const OCCURRENCES = [
  { title: 'Begins' },
  { title: 'Ends', isOptional: true },
  { title: 'Campaign' },
  ...FIGURES,
  { title: 'Notes', isOptional: true },
];
const PEOPLE = [{ title: 'Person' }, { title: 'Messages', isFigure: true }];

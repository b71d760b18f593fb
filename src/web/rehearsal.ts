import type { Rehearsal, RehearsedDay } from '../model.ts';
import { createFormats, type Formats } from '../report/locale.ts';
import { dayWords, faultsIn, peopleWords, spanWords, verdictOf, whatWords } from '../report/rehearsal-text.ts';
import { type Html, html } from '../util/escape.ts';
import { mask, maskText } from '../util/redact.ts';
import { track } from './charts/chart.ts';
import { documentFrame } from './document.ts';
import { coded, section, table } from './kit.ts';

/** The coming days as a single page: no script, nothing loaded, no links. Addresses are masked. */
export function rehearsalPage(rehearsal: Rehearsal): string {
  const formats = createFormats(rehearsal.locale, rehearsal.timeZone);
  const heading = `The coming days in ${rehearsal.environment}`;
  const { head, foot } = documentFrame({ title: `${heading} - handbill` });
  const content = html`<main>
<h1>${heading}</h1>
${rehearsalSections(rehearsal, formats, (campaign) => html`${campaign}`)}</main>
`;
  return head + content.markup + foot;
}

export function rehearsalSections(rehearsal: Rehearsal, formats: Formats, linkOf: (campaign: string) => Html): Html {
  const { days, occurrences, most, assumed } = rehearsal;
  const figures = ({ messages, parts, cost }: Omit<RehearsedDay, 'day'>) => [
    messages === 0 ? '' : formats.number(messages),
    parts === 0 ? '' : formats.number(parts),
    cost === null || messages === 0 ? '' : formats.money(cost, rehearsal.currency),
  ];
  const highest = Math.max(1, ...days.map(({ messages }) => messages));
  const dayRows = days.map((day) => {
    return [dayWords(day.day), track((day.messages / highest) * 100, 'plain'), ...figures(day)];
  });
  const rows = occurrences.map((one) => {
    const { begins, ends } = spanWords(one, rehearsal);
    const [from, until] = [begins, ends.replace(/^to /, '')].map(
      (text) => text !== '' && html`<span class="nowrap">${text}</span>`,
    );
    const name = html`<span class="nowrap">${linkOf(one.campaign)}</span>`;
    return [from, until, name, ...figures(one), whatWords(one, rehearsal, formats)];
  });
  const people = most?.first.map(({ to, messages }) => [mask(to), formats.number(messages)]) ?? [];
  const faults = faultsIn(rehearsal).map(({ code, message, hint, at }) => {
    const place = at?.file === undefined ? '' : ` (${at.file}${at.line === undefined ? '' : `:${at.line}`})`;
    return html`<li>${maskText(message)}${place} <code>${code}</code>${hint && html`<br><span class="soft">${coded(maskText(hint))}</span>`}</li>`;
  });
  return html`<p>${verdictOf(rehearsal, formats)}</p>
${faults.length > 0 && section('What is wrong', html`<ul>${faults}</ul>`)}${days.length > 0 && section('By day', table(null, DAYS, dayRows))}${
  rows.length > 0 && section('Each occurrence', table(null, OCCURRENCES, rows))
}${most && section(peopleWords(rehearsal, formats), table(null, PEOPLE, people))}<p class="soft">Played ${formats.instant(rehearsal.at)}. Assumed: ${coded(assumed.join(' '))}</p>
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

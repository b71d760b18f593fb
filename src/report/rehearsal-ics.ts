import type { Rehearsal, RehearsedOccurrence } from '../model.ts';
import { createFormats, type Formats } from './locale.ts';
import { whatWords } from './rehearsal-text.ts';

/** A calendar (RFC 5545) with an event for each occurrence. Its events keep their identity from one call to the next. */
export function rehearsalCalendar(rehearsal: Rehearsal): string {
  const formats = createFormats(rehearsal.locale, rehearsal.timeZone);
  const events = rehearsal.occurrences.flatMap((one) => eventOf(one, rehearsal, formats));
  // A calendar without a component is not valid.
  const components = events.length === 0 ? ZONE : events;
  const lines = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//handbill//rehearse//EN', ...components, 'END:VCALENDAR'];
  return lines.map((line) => `${folded(line)}\r\n`).join('');
}

const ZONE = [
  ...['BEGIN:VTIMEZONE', 'TZID:Etc/UTC', 'BEGIN:STANDARD', 'DTSTART:19700101T000000'],
  ...['TZOFFSETFROM:+0000', 'TZOFFSETTO:+0000', 'END:STANDARD', 'END:VTIMEZONE'],
];

function eventOf(one: RehearsedOccurrence, rehearsal: Rehearsal, formats: Formats): readonly string[] {
  const { id, campaign, occurrence, state, messages, due, begins, ends } = one;
  const from = begins ?? due ?? occurrence;
  if (Number.isNaN(Date.parse(from))) return [];
  const isUnsent = state === 'refused' || state === 'missed';
  const summary = `${campaign}: ${isUnsent ? (state === 'missed' ? 'missed' : 'cannot begin') : formats.count(messages, 'message')}`;
  const words = whatWords(one, rehearsal, formats);
  return [
    'BEGIN:VEVENT',
    `UID:${escaped(`${rehearsal.environment}/${id}/${occurrence}`)}@handbill`,
    `DTSTAMP:${instant(rehearsal.at)}`,
    `DTSTART:${instant(from)}`,
    // An event of no length has no end.
    ...(ends === null || instant(ends) === instant(from) ? [] : [`DTEND:${instant(ends)}`]),
    `SUMMARY:${escaped(summary)}`,
    ...(words === '' ? [] : [`DESCRIPTION:${escaped(words)}`]),
    'END:VEVENT',
  ];
}

/** `20261130T090000Z` */
function instant(iso: string): string {
  return `${new Date(iso).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
}

function escaped(text: string): string {
  return text
    .replaceAll(/[\\;,]/g, (found) => `\\${found}`)
    .replaceAll(/\r\n?|\n/g, '\\n')
    .replaceAll(/\p{Cc}/gu, '');
}

/** Lines of at most 75 bytes: the others begin with a space. */
function folded(line: string): string {
  const lines: string[] = [];
  let last = '';
  for (const character of line) {
    if (Buffer.byteLength(last + character) > 74) {
      lines.push(last);
      last = '';
    }
    last += character;
  }
  return [...lines, last].join('\r\n ');
}

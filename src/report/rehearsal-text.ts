import type { Diagnostic } from '../errors.ts';
import type { Rehearsal, RehearsedDay, RehearsedOccurrence } from '../model.ts';
import { mask } from '../util/redact.ts';
import { indentedLines, table } from '../util/table.ts';
import { createFormats, type Formats } from './locale.ts';
import { reasonCounts } from './words.ts';

/** For a terminal of so many columns. */
export function rehearsalText(rehearsal: Rehearsal, width: number): string {
  const formats = createFormats(rehearsal.locale, rehearsal.timeZone);
  const { days, occurrences, assumed, most } = rehearsal;
  const figures = [{ align: 'right' }, { align: 'right' }, { align: 'right' }] as const;
  const dayRows = days.map((day) => [dayWords(day.day), ...figuresOf(day, rehearsal, formats)]);
  const rows = occurrences.map((one) => {
    const { begins, ends } = spanWords(one, rehearsal);
    return [begins, ends, one.campaign, ...figuresOf(one, rehearsal, formats)];
  });
  const notes = (row: number): string => {
    const one = occurrences[row];
    const words = one === undefined ? '' : whatWords(one, rehearsal, formats);
    return words === '' ? '' : indentedLines(words, width - 6, 6);
  };
  const people = most?.first.map(({ to, messages }) => `  ${mask(to)}  ${formats.number(messages)}\n`) ?? [];
  const more = (most?.people ?? 0) - people.length;
  const blocks = [
    `${verdictOf(rehearsal, formats)}\n`,
    table(dayRows, [{}, ...figures], { width, indent: 2 }),
    table(rows, [{}, {}, {}, ...figures], { width, indent: 2, below: notes }),
    most === undefined
      ? ''
      : `${peopleWords(rehearsal, formats)}${people.length === 0 ? '.' : ':'}\n${people.join('')}${more > 0 ? `  and ${formats.number(more)} more\n` : ''}`,
    `Assumed: ${assumed.join(' ')}\n`,
  ];
  return blocks.filter((block) => block !== '').join('\n');
}

/** The first sentences: how much is sent, what cannot be, who gets the most. */
export function verdictOf(rehearsal: Rehearsal, formats: Formats): string {
  const { occurrences, busiest, currency, environment } = rehearsal;
  const sent = occurrences.filter((one) => one.messages > 0);
  const messages = sent.reduce((sum, one) => sum + one.messages, 0);
  const cost = sent.some((one) => one.cost === null) ? null : sent.reduce((sum, one) => sum + (one.cost ?? 0), 0);
  const campaigns = new Set(sent.map(({ file }) => file)).size;
  const files = new Set(rehearsal.diagnostics.map(({ at }) => at?.file));
  const [from, until] = [rehearsal.from, rehearsal.until].map((instant) => wallOf(instant, rehearsal));
  const price = cost === null || messages === 0 ? '' : `, ${formats.money(cost, currency)}`;
  const found = [
    `${formats.count(messages, 'message')}${price} to ${environment}, from ${from} to ${until} (${rehearsal.timeZone}), in ${formats.count(sent.length, 'occurrence')} of ${formats.count(campaigns, 'campaign')}.`,
    ...(files.size === 0 ? [] : [`${formats.count(files.size, 'file')} with a schedule cannot be used.`]),
    ...COUNTED.flatMap(([words, isIt]) => {
      const count = occurrences.filter(isIt).length;
      return count === 0 ? [] : [`${formats.count(count, 'occurrence')} ${words}.`];
    }),
    ...(busiest > 1 ? [`The person with the most gets ${formats.number(busiest)}.`] : []),
  ];
  return found.join(' ');
}

const COUNTED: readonly (readonly [string, (one: RehearsedOccurrence) => boolean])[] = [
  ['cannot begin', ({ state }) => state === 'refused'],
  ['would halt', ({ state, begins }) => state === 'halted' && begins !== null],
  ['would stay halted', ({ state, begins }) => state === 'halted' && begins === null],
  ['would stop before the last recipient', (one) => stopOf(one) !== null],
  ['would be missed', ({ state }) => state === 'missed'],
  ['would not end before the next one is due', ({ overlaps }) => overlaps !== undefined],
];

/** Errors and warnings of all occurrences: the last of each kind, place and campaign. */
export function faultsIn({ diagnostics, occurrences }: Rehearsal): readonly Diagnostic[] {
  const all = occurrences.flatMap(({ campaign, diagnostics: own }) => own.map((one) => ({ campaign, one })));
  const keyed = all.map(
    ({ campaign, one }) => [`${one.code} ${one.at?.file ?? campaign}:${one.at?.line}`, one] as const,
  );
  return [...diagnostics, ...new Map(keyed).values()].filter(({ severity }) => severity !== 'note');
}

/**
 * The code of what ends a run before its last recipient without a halt, such as a budget, or why `due` leaves it; null:
 * its rest waits, or it ends.
 */
export function stopOf({ state, left, diagnostics }: RehearsedOccurrence): string | null {
  if (state !== 'partial') return null;
  return left ?? diagnostics.find(({ severity }) => severity === 'error')?.code ?? null;
}

/** Why recipients are skipped or wait, and why it cannot begin or halts; empty: all are sent to. */
export function whatWords(one: RehearsedOccurrence, rehearsal: Rehearsal, formats: Formats): string {
  const { state, left, reasons = {}, totals, messages, begins, due, opensAt, overlaps, halt, diagnostics } = one;
  const skipped = reasonCounts({ reasons }, 'skipped', formats);
  const deferred = reasonCounts({ reasons }, 'deferred', formats);
  const before = (totals?.accepted ?? 0) - messages;
  const counted = (count = 0, words: string): readonly string[] =>
    count === 0 ? [] : [`${formats.number(count)} ${words}`];
  // A minute or more after it was due.
  const isLate = due !== null && begins !== null && Date.parse(begins) - Date.parse(due) >= 60_000;
  const error = diagnostics.find(({ severity }) => severity === 'error');
  const why = error ?? diagnostics[0];
  const stop = stopOf(one);
  return [
    ...(state === 'refused' ? [`cannot begin (${why?.code})`] : []),
    ...(stop === null ? [] : [left === undefined ? `stops (${stop})` : LEFT[left]]),
    ...(state === 'missed' ? [why === undefined ? 'missed' : `missed (${why.code})`] : []),
    ...(halt === undefined
      ? []
      : [`${begins === null ? 'is halted' : 'halts'}: ${halt.message.replace(/[.?]+$/, '')}`]),
    ...(isLate
      ? [
          `due ${wallOf(due, rehearsal)}${error === undefined || stop !== null ? '' : `, at first refused (${error.code})`}`,
        ]
      : []),
    ...(before > 0 ? [`${formats.number(before)} were sent before`] : []),
    ...counted(totals?.inDoubt, 'in doubt'),
    ...counted(totals?.rejected, 'rejected'),
    ...(skipped === '' ? [] : [`skipped: ${skipped}`]),
    ...(deferred === ''
      ? []
      : [
          `${left === undefined ? 'wait' : 'not sent to'}${opensAt === undefined || opensAt < rehearsal.until ? '' : ` until ${wallOf(opensAt, rehearsal)}`}: ${deferred}`,
        ]),
    ...counted(totals?.pending, 'not sent to'),
    ...(overlaps === undefined ? [] : [`does not end before ${wallOf(overlaps, rehearsal)}`]),
  ].join('; ');
}

const LEFT: Readonly<Record<NonNullable<RehearsedOccurrence['left']>, string>> = {
  late: 'is left unfinished, because it is too old by then',
  superseded: 'is left unfinished, because a later instant is due',
};

export function peopleWords({ most }: Rehearsal, formats: Formats): string {
  if (most === undefined || most.people === 0)
    return `No person gets more than ${formats.count(most?.limit ?? 0, 'message')}`;
  return `${formats.count(most.people, 'person', 'people')} would get more than ${formats.count(most.limit, 'message')}`;
}

function figuresOf(sum: Omit<RehearsedDay, 'day'>, { currency }: Rehearsal, formats: Formats): readonly string[] {
  const { messages, parts, cost } = sum;
  if (messages === 0) return ['', '', ''];
  return [
    formats.count(messages, 'message'),
    parts === 0 ? '' : formats.count(parts, 'part'),
    cost === null ? '' : formats.money(cost, currency),
  ];
}

/** When an occurrence is sent; one that is not, when it is due. */
export function spanWords(
  { begins, ends, due, occurrence }: Pick<RehearsedOccurrence, 'begins' | 'ends' | 'due' | 'occurrence'>,
  rehearsal: Pick<Rehearsal, 'timeZone'>,
) {
  const from = wallOf(begins ?? due ?? occurrence, rehearsal);
  const until = ends === null ? '' : wallOf(ends, rehearsal);
  const day = from.slice(0, -CLOCK.length);
  return {
    begins: from,
    ends: until === '' || until === from ? '' : `to ${until.startsWith(day) ? until.slice(-CLOCK.length) : until}`,
  };
}

const CLOCK = '09:00';

/** `Mon 30 Nov 09:00`, on a clock of the project's zone; other text is unchanged. */
export function wallOf(instant: string, { timeZone }: Pick<Rehearsal, 'timeZone'>): string {
  const ms = Date.parse(instant);
  if (Number.isNaN(ms)) return instant;
  const part = (options: Intl.DateTimeFormatOptions): string =>
    new Intl.DateTimeFormat('en-GB', { timeZone, ...options }).format(ms);
  const day = part({ weekday: 'short', day: 'numeric', month: 'short' }).replace(',', '');
  return `${day} ${part({ hour: '2-digit', minute: '2-digit' })}`;
}

/** `Mon 30 Nov` */
export function dayWords(day: string): string {
  return wallOf(`${day}T00:00:00Z`, { timeZone: 'UTC' }).slice(0, -' 00:00'.length);
}

import type { CampaignDay, DayFigures, Diff, RehearsalDiff, RehearsedSide } from '../../diff/result.ts';
import { dayWords, spanWords, wallOf } from '../../report/rehearsal-text.ts';
import { countOf, money, number } from '../../report/words.ts';
import { microsOf, unitsOf } from '../../util/units.ts';
import { findingWords, NONE } from './words.ts';

/** The coming days on both sides, in words. Nothing is escaped. */
export interface DaysWords {
  readonly answer: string;
  readonly lines: readonly string[];
  /** The first row has the titles; empty: no day differs. */
  readonly rows: readonly (readonly string[])[];
  readonly foot: string;
}

/** @param sign - between the figures of both sides */
export function daysWords(diff: Diff, days: RehearsalDiff, sign: string): DaysWords {
  const { before, after, timeZone, ledger, assumed } = days;
  const [from, until] = [days.at, days.until].map((instant) => wallOf(instant, days));
  const where = ledger === null ? '' : `, on a copy of the ledger ${ledger}`;
  const unsent = keysOf(before.campaigns, after.campaigns).flatMap((campaign) => {
    const words = unsentWords(before.campaigns[campaign], after.campaigns[campaign], sign);
    return words.map((one) => `${campaign}: ${one}`);
  });
  return {
    answer: answerOf(diff, days),
    lines: [
      ...before.errors.map((one) => `${diff.before.name}: ${findingWords(one)}`),
      ...after.errors.map((one) => `${diff.after.name}: ${findingWords(one)}`),
      ...unsent,
      ...(before.busiest === after.busiest || before.errors.length + after.errors.length > 0
        ? []
        : [`most messages to one person: ${number(before.busiest)} ${sign} ${number(after.busiest)}`]),
    ],
    rows: rowsOf(days, sign),
    foot: `Played from ${from} to ${until} (${timeZone}) in ${diff.environment}${where}. Assumed: ${assumed.join(' ')}`,
  };
}

function answerOf(diff: Diff, { days, before, after, changes }: RehearsalDiff): string {
  const next = `next ${days === 1 ? 'day' : `${days} days`}`;
  const lost = (['before', 'after'] as const).filter((side) => ({ before, after })[side].errors.length > 0);
  if (lost.length > 0)
    return `The ${next} cannot be compared: ${lost.map((side) => diff[side].name).join(' and ')} cannot be played.`;
  const [[was, cost], [is, price]] = [totalOf(before), totalOf(after)];
  if (changes.length === 0) return `In the ${next} nothing differs: ${countOf(is, 'message')}.`;
  const currency = after.currency ?? before.currency;
  const isComparable = cost !== null && price !== null && currency === (before.currency ?? currency);
  const micros = isComparable ? microsOf(price) - microsOf(cost) : 0;
  const change = micros === 0 ? '' : ` (${micros > 0 ? '+' : '-'}${money(unitsOf(Math.abs(micros)), currency)})`;
  if (was === is) return `In the ${next} this change sends as many messages as before${change}: ${number(is)}.`;
  const more = `${countOf(Math.abs(is - was), 'message')} ${is > was ? 'more' : 'fewer'}${change}`;
  return `In the ${next} this change sends ${more}: ${number(is)} instead of ${number(was)}.`;
}

/** The cost is null where some messages have no price. */
function totalOf({ campaigns }: RehearsedSide): readonly [messages: number, cost: number | null] {
  const sent = Object.values(campaigns).filter(({ messages = 0 }) => messages > 0);
  const sum = (name: string): number => sent.reduce((total, figures) => total + (figures[name] ?? 0), 0);
  return [sum('messages'), sent.every(({ cost }) => cost !== undefined) ? sum('cost') : null];
}

function keysOf(...all: readonly object[]): readonly string[] {
  return [...new Set(all.flatMap(Object.keys))].sort();
}

const SUMS: readonly string[] = ['messages', 'parts', 'cost'];

/** Numbers that differ, and occurrences that cannot begin on either side. */
function unsentWords(was: DayFigures = {}, is: DayFigures = {}, sign: string): readonly string[] {
  return keysOf(was, is).flatMap((name) => {
    const [old, now] = [was[name] ?? 0, is[name] ?? 0];
    if (SUMS.includes(name) || (old === now && !name.startsWith('cannot'))) return [];
    return [`${name}: ${old === now ? '' : `${number(old)} ${sign} `}${number(now)}`];
  });
}

/** Days of a campaign with the same figures share a row. There are no empty columns. */
function rowsOf(days: RehearsalDiff, sign: string): DaysWords['rows'] {
  const cellsOf = (day: CampaignDay | null, { currency }: RehearsedSide): readonly string[] => {
    const { messages = 0, parts = 0, cost = 0 } = day?.figures ?? {};
    const sums = [number(messages), number(parts), money(cost, currency)];
    return [...sums.map((text, at) => ([messages, parts, cost][at] === 0 ? '' : text)), spansWords(day, days)];
  };
  const rows = days.changes.map(({ day, campaign, before, after }) => {
    const was = cellsOf(before, days.before);
    const cells = cellsOf(after, days.after).map((is, at) =>
      is === was[at] ? is : `${was[at] || NONE} ${sign} ${is || NONE}`,
    );
    return {
      day: dayWords(day),
      cells: [campaign, ...cells, unsentWords(before?.figures, after?.figures, sign).join(', ')],
    };
  });
  const grouped = [...Map.groupBy(rows, ({ cells }) => cells.join('\n')).values()].map((group) => {
    const [first, last] = [group[0], group.at(-1)];
    const until = group.length === 1 ? '' : ` to ${last?.day}, ${countOf(group.length, 'day')}`;
    return [`${first?.day}${until}`, ...(first?.cells ?? [])];
  });
  const all = grouped.length === 0 ? [] : [['day', 'campaign', ...SUMS, 'sent', 'not sent'], ...grouped];
  return all.map((row) => row.filter((_, at) => grouped.some((cells) => cells[at] !== '')));
}

/** `09:00 to 09:20, 12:00` */
function spansWords(day: CampaignDay | null, days: RehearsalDiff): string {
  const spans = (day?.sent ?? []).map((one) => {
    const { begins, ends } = spanWords({ ...one, due: null, occurrence: '' }, days);
    return `${begins.slice(-'09:00'.length)} ${ends}`.trimEnd();
  });
  return spans.length > 3 ? `${spans.slice(0, 3).join(', ')}, ...` : spans.join(', ');
}

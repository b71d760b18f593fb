import { isDeepStrictEqual } from 'node:util';
import type { CampaignDay, DayFigures, Diff, RehearsalDiff, RehearsedSide } from '../../diff/result.ts';
import { dayWords, spanWords, wallOf } from '../../report/rehearsal-text.ts';
import { countOf, money, number } from '../../report/words.ts';
import { microsOf, unitsOf } from '../../util/units.ts';
import { listWithAnd } from '../../util/words.ts';
import { findingWords, NONE } from './words.ts';

export type DaysWords = ReturnType<typeof daysWords>;

/**
 * The coming days on both sides, in words. Nothing is escaped.
 * @param sign - between the figures of both sides
 */
export function daysWords(diff: Diff, days: RehearsalDiff, sign: string) {
  const { before, after, timeZone, ledger, assumed } = days;
  const [from, until] = [days.at, days.until].map((instant) => wallOf(instant, days));
  const where = ledger === null ? '' : `, on a copy of the ledger ${ledger}`;
  const isLost = before.errors.length + after.errors.length > 0;
  const unsent = keysOf(before.campaigns, after.campaigns).flatMap((campaign) => {
    const words = unsentWords(before.campaigns[campaign], after.campaigns[campaign], sign);
    return words.map((one) => `${campaign}: ${one}`);
  });
  const why = unsent.some((one) => /: (?:cannot|halts|stops|missed)/.test(one)) ? ' `handbill rehearse` says why.' : '';
  return {
    answer: answerOf(diff, days),
    lines: [
      ...before.errors.map((one) => `${diff.before.name}: ${findingWords(one)}`),
      ...after.errors.map((one) => `${diff.after.name}: ${findingWords(one)}`),
      ...(isLost ? [] : unsent),
      ...(before.busiest === after.busiest || isLost
        ? []
        : [`most messages to one person: ${number(before.busiest)} ${sign} ${number(after.busiest)}`]),
    ],
    // Beside a side that cannot be played, all of the other would look added or removed.
    rows: isLost ? [] : rowsOf(days, sign),
    foot: `Played from ${from} to ${until} (${timeZone}) in ${diff.environment}${where}. Assumed: ${assumed.join(' ')}${isLost ? '' : why}`,
  };
}

function answerOf(diff: Diff, { days, before, after, changes }: RehearsalDiff): string {
  const next = `next ${days === 1 ? 'day' : `${days} days`}`;
  const lost = (['before', 'after'] as const).filter((side) => ({ before, after })[side].errors.length > 0);
  if (lost.length > 0) {
    const [kept] = (['before', 'after'] as const).filter((side) => !lost.includes(side));
    const other =
      kept === undefined ? '' : ` ${diff[kept].name} sends ${countOf(totalOf({ before, after }[kept])[0], 'message')}.`;
    return `The ${next} cannot be compared: ${lost.map((side) => diff[side].name).join(' and ')} cannot be played.${other}`;
  }
  const [[was, cost], [is, price]] = [totalOf(before), totalOf(after)];
  const unread = keysOf(before.campaigns, after.campaigns).filter((name) =>
    [before, after].every(({ campaigns }) => Object.keys(campaigns[name] ?? {}).some((key) => key.startsWith(UNREAD))),
  );
  const without = unread.length === 0 ? '' : ` Without ${listWithAnd(unread)}: not readable on either side.`;
  if (changes.length === 0 && isDeepStrictEqual(before.campaigns, after.campaigns))
    return `In the ${next} nothing differs: ${countOf(is, 'message')}.${without}`;
  const currency = after.currency ?? before.currency;
  const isComparable = cost !== null && price !== null && currency === (before.currency ?? currency);
  const micros = isComparable ? microsOf(price) - microsOf(cost) : 0;
  const change =
    micros === 0 ? '' : ` and costs ${money(unitsOf(Math.abs(micros)), currency)} ${micros > 0 ? 'more' : 'less'}`;
  if (was === is)
    return `In the ${next} this change sends as many messages as before${change}: ${number(is)}.${without}`;
  const more = `${countOf(Math.abs(is - was), 'message')} ${is > was ? 'more' : 'fewer'}${change}`;
  return `In the ${next} this change sends ${more}: ${number(is)} instead of ${number(was)}.${without}`;
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

/** Begins the words for a campaign with errors in its files (`compareDays`). */
const UNREAD = 'cannot be read';
const SUMS: readonly string[] = ['messages', 'parts', 'cost'];

/** Numbers that differ, and occurrences that cannot begin on either side. */
function unsentWords(was: DayFigures = {}, is: DayFigures = {}, sign: string): readonly string[] {
  return keysOf(was, is).flatMap((name) => {
    const [old, now] = [was[name] ?? 0, is[name] ?? 0];
    if (SUMS.includes(name) || (old === now && !name.startsWith('cannot'))) return [];
    return [`${name}: ${old === now ? '' : `${number(old)} ${sign} `}${number(now)}`];
  });
}

/** The first row has the titles. Days of a campaign with the same figures share a row. There are no empty columns. */
function rowsOf(days: RehearsalDiff, sign: string): readonly (readonly string[])[] {
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

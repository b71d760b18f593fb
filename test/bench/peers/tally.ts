import type { Receipt } from './receiver.ts';

/** What a row of a list asks for. */
export interface Expected {
  /** In the text, so that a receipt says which row it is for even where its number is wrong. */
  readonly order: string;
  /** The number that reaches the person, as E.164; null where the row does not tell it. */
  readonly to: string | null;
  readonly text: string;
}

/** What came of a list. */
export interface Tally {
  readonly messages: number;
  /** Who can be reached, each counted once however often and in whatever spelling the list has them. */
  readonly people: number;
  /** People who got one message, at their number. */
  readonly once: number;
  /** People who got none at their number. */
  readonly missed: number;
  /** Messages to a recipient who had been sent one already. */
  readonly twice: number;
  /** Messages to anything but the E.164 number of their recipient. */
  readonly wrongNumbers: number;
  /** Messages with another text than the template gives. */
  readonly wrongTexts: number;
}

const ORDER = /order (R-\d+) is ready/;

/** Compares what came with what the list asks for. */
export function tallyOf(expected: readonly Expected[], receipts: readonly Receipt[]): Tally {
  const rows = new Map(expected.map((row) => [row.order, row]));
  const [sent, reached] = [new Map<string, number>(), new Set<string>()];
  let [wrongNumbers, wrongTexts] = [0, 0];
  for (const [to, text] of receipts) {
    const row = rows.get(ORDER.exec(text)?.[1] ?? '');
    if (to !== row?.to) wrongNumbers += 1;
    else reached.add(to);
    if (text !== row?.text) wrongTexts += 1;
    const person = row === undefined ? to : personOf(row);
    sent.set(person, (sent.get(person) ?? 0) + 1);
  }
  const people = [...new Set(expected.map(({ to }) => to))].filter((to) => to !== null);
  return {
    messages: receipts.length,
    people: people.length,
    once: people.filter((to) => reached.has(to) && sent.get(to) === 1).length,
    missed: people.filter((to) => !reached.has(to)).length,
    twice: receipts.length - sent.size,
    wrongNumbers,
    wrongTexts,
  };
}

/** Rows from which no number can be told are a person each. */
function personOf({ to, order }: Expected): string {
  return to ?? order;
}

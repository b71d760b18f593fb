import type { LegTotals } from '../model.ts';
import { formatMoney } from '../util/money.ts';
import { safeLine } from '../util/safe.ts';
import { type Column, proseWidth, table } from '../util/table.ts';
import { number } from './words.ts';

interface Shown {
  /** Columns of the terminal. */
  readonly width: number;
  /** ISO 4217 code of the costs; null: not known. */
  readonly currency: string | null;
}

/**
 * One line for each leg, as wide as the terminal at most: a narrow one does without columns, and columns in which there
 * is nothing are left out. Empty without legs.
 */
export function legsTable(legs: readonly LegTotals[], { width, currency }: Shown): string {
  if (legs.length === 0) return '';
  const columns = COLUMNS.filter(
    ({ least, wanted }) => proseWidth(width) >= least && (wanted === undefined || legs.some(wanted)),
  );
  const rows = legs.map((leg) => columns.map(({ cell }) => cell(leg)));
  const titled = columns.map((column) =>
    column === COST && currency !== null ? { ...column, title: `cost ${safeLine(currency)}` } : column,
  );
  return table(rows, titled, { width, indent: 2 });
}

interface LegColumn extends Column {
  /** Narrower terminals do without. */
  readonly least: number;
  cell(leg: LegTotals): string;
  /** The column is left out when no leg wants it. */
  wanted?(leg: LegTotals): boolean;
}

const COST: LegColumn = {
  title: 'cost',
  align: 'right',
  least: 60,
  cell: ({ cost }) => (cost === null ? '-' : formatMoney(cost)),
  wanted: ({ cost }) => cost !== null,
};

const COLUMNS: readonly LegColumn[] = [
  { title: 'channel', shrink: true, least: 0, cell: ({ channel }) => channel },
  { title: 'attempted', align: 'right', least: 0, cell: ({ attempted }) => number(attempted) },
  { title: 'accepted', align: 'right', least: 0, cell: ({ accepted }) => number(accepted) },
  { title: 'fell back', align: 'right', least: 0, cell: ({ fellBack }) => number(fellBack) },
  { title: 'rejected', align: 'right', least: 70, cell: ({ rejected }) => number(rejected) },
  column('in doubt', 80, ({ inDoubt }) => inDoubt),
  column('failed', 120, ({ failed }) => failed),
  column('pending', 120, ({ pending }) => pending),
  column('parts', 100, ({ parts }) => parts),
  COST,
];

/** A count that is left out where it is 0 in every leg. */
function column(title: string, least: number, of: (leg: LegTotals) => number): LegColumn {
  return { title, align: 'right', least, cell: (leg) => number(of(leg)), wanted: (leg) => of(leg) > 0 };
}

import type { Report, Significance, VariantResult, WinnerDecision, WinnerMetric } from '../model.ts';
import { figures, type ReportColumn, reportTable } from './columns.ts';
import type { VariantDeliveries } from './deliveries.ts';
import { type Formats, PLAIN } from './locale.ts';
import { sampleOf } from './variants.ts';
import WORDS from './words.json' with { type: 'json' };

/**
 * One line for each variant. A narrow terminal loses first the interval, then the others, then the rejected.
 * @param width - columns of the terminal
 */
export function variantsTable(variants: readonly VariantResult[], width: number, formats: Formats = PLAIN): string {
  const came = variants.some(({ delivered }) => delivered !== undefined);
  return reportTable(variants, came ? COLUMNS_WITH_DELIVERIES : COLUMNS, width, formats);
}

type VariantColumn = ReportColumn<VariantResult>;

const COLUMNS: readonly VariantColumn[] = [
  { title: 'variant', shrink: true, least: 0, cell: ({ name }) => name },
  figures('recipients', 0, ({ recipients }) => recipients),
  figures('accepted', 0, ({ accepted }) => accepted),
  figures('rejected', 50, ({ rejected }) => rejected),
  // Skipped, deferred, failed, in doubt or not sent yet.
  figures('other', 64, ({ recipients, accepted, rejected }) => recipients - accepted - rejected),
  { title: 'rate', align: 'right', least: 0, cell: rateOf },
  { title: '95% interval', align: 'right', least: 80, cell: intervalOf },
];

/** Compares delivery reports and replies; shares are of the accepted messages. */
const COLUMNS_WITH_DELIVERIES: readonly VariantColumn[] = [
  ...COLUMNS.map((column) => ({ ...column, least: column.least + (column.least > 0 ? 40 : 0) })),
  shares('delivered', 60, 'delivered'),
  { ...shares('read', 68, 'read'), wanted: ({ read }) => read !== undefined },
  shares('replied', 78, 'replied'),
  shares('opted out', 79, 'optedOut'),
];

/** Shares of the accepted messages with a report; `-`: none is accepted. */
function shares(title: string, least: number, what: keyof VariantDeliveries): VariantColumn {
  const cell: VariantColumn['cell'] = (variant, { percent }) => {
    const { part, whole } = sampleOf(what, variant);
    return whole === 0 ? '-' : percent(part, whole);
  };
  return { title, align: 'right', least, cell };
}

/** Accepted as a share of accepted and refused; `-` while there are none. */
export function rateOf({ accepted, rejected }: VariantResult, { percent }: Formats = PLAIN): string {
  return accepted + rejected === 0 ? '-' : percent(accepted, accepted + rejected);
}

/** `88.0% to 91.7%`, or `-`. */
export function intervalOf({ low, high }: VariantResult, formats: Formats = PLAIN): string {
  if (low === null || high === null) return '-';
  return `${formats.percent(low, 1)} to ${formats.percent(high, 1)}`;
}

/** The comparison in a sentence; empty where there is nothing to compare. */
export function significanceWords({ variants = [], significance }: Pick<Report, 'variants' | 'significance'>): string {
  if (significance === undefined || significance === null) return '';
  const { by, p, test, best } = significance;
  const { few, what, verb, more, most } = COMPARED[by];
  if (p === null || test === null) return `Too few ${few} to compare the variants.`;
  // `0.43`, `0.012`. Truncated below 0.05, so that it is never shown as 0.05.
  const shown = p < CHANCE ? Math.floor(p * 1000 + 1e-9) / 1000 : Math.round(p * 100) / 100;
  const figure = `p ${p < 0.001 ? '< 0.001' : `= ${shown}`} (${TESTS[test]})`;
  if (p >= CHANCE) return `Too early to tell a difference in ${what}: ${figure}.`;
  return variants.length === 2
    ? `"${best ?? ''}" ${verb} ${more}, which is hardly chance: ${figure}.`
    : `The variants differ by more than chance would make them, "${best ?? ''}" ${verb} ${most}: ${figure}.`;
}

/** `whole` and `part` are of a share: `8 of 198 accepted messages replied to`. */
const COMPARED = WORDS.compared satisfies Readonly<Record<WinnerMetric, object>>;

/** The usual level of significance: one time in twenty, equal variants look that different. */
const CHANCE = 0.05;
const TESTS: Readonly<Record<Exclude<Significance['test'], null>, string>> = {
  'chi-square': 'chi-square test',
  fisher: "Fisher's exact test",
};

/** The winner of a test and its metric; empty without a winner, or while the test goes on. */
export function winnerWords({ winner }: Pick<Report, 'winner'>, formats: Formats = PLAIN): string {
  if (winner === undefined) return '';
  const { variant, by, why, minimum } = winner;
  if (variant !== null && by === null) return `"${variant}" won the test: chosen by hand.`;
  const figures = sharesOf(winner, formats);
  if (variant === null && why === 'tie') return `No variant won the test: the best are equal: ${figures}.`;
  if (variant === null) {
    const asked = minimum === 1 ? '1 is' : `${formats.number(minimum)} are`;
    return `No variant won the test: ${asked} asked for of each variant, and there were too few: ${figures}.`;
  }
  return why === 'tie'
    ? `"${variant}" won the test as the first of equals: ${figures}.`
    : `"${variant}" won the test: ${figures}.`;
}

/** `"A" 8 of 198 delivered messages replied to (4.0%), "B" ...`, in the order of the campaign. */
function sharesOf({ by, shares }: WinnerDecision, { number, percent }: Formats): string {
  const { whole, part } = COMPARED[by ?? 'accepted'];
  return shares
    .map((share, i) => {
      const of = `${number(share.part)} of ${number(share.whole)}${i === 0 ? ` ${whole}` : ''}`;
      return `"${share.name}" ${of}${i === 0 ? ` ${part}` : ''} (${percent(share.part, share.whole)})`;
    })
    .join(', ');
}

/* Read on both sides, so that nothing of either is imported here. */

/**
 * What rows are filtered by. Few combinations occur in a list, so that a row holds the number of its own, and a filter
 * is asked once for each combination.
 */
export interface Facets {
  readonly decision: string;
  /** Why it is not sent; empty where it is. */
  readonly reason: string;
  readonly variant: string;
  readonly channel: string;
  readonly country: string;
  readonly encoding: string;
  /** Of an SMS; 0 for all others. */
  readonly parts: number;
  /** Codes of what is worth knowing, each once. */
  readonly warnings: readonly string[];
}

/** What the script reads about the page, beside the rows. */
export interface About {
  readonly columns: readonly string[];
  /** Columns that say who it is: all but the address, the key and the time zone. */
  readonly naming: readonly number[];
  /** The column with the address, for rows whose address is not valid; -1: none. */
  readonly address: number;
  readonly url: string;
  /** How figures are written. */
  readonly locale: string;
  /** Names of the variants, in the campaign's order. */
  readonly variants: readonly string[];
  /** Lines of the row with the most parts, and of the one whose message may cost the most; null: not known. */
  readonly longest: number | null;
  readonly mostExpensive: number | null;
  readonly facets: readonly Facets[];
}

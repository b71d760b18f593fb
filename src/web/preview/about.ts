/** Both the server and the browser load this file, so it imports nothing of either. */

/** A list has few combinations of these: a row holds the number of its one, and a filter checks each once. */
export interface Facets {
  readonly decision: string;
  /** Why it is not sent; empty where it is. */
  readonly reason: string;
  readonly variant: string;
  readonly channel: string;
  readonly country: string;
  readonly encoding: string;
  /** For an SMS; else 0. */
  readonly parts: number;
  /** Codes of warnings, each once. */
  readonly warnings: readonly string[];
}

export interface About {
  readonly columns: readonly string[];
  /** Columns that tell of the recipient: all but the address, the key, the time zone and those of the label. */
  readonly naming: readonly number[];
  /** The column with the address, for rows whose address is not valid; -1: none. */
  readonly address: number;
  /** Lines above the bodies of requests. */
  readonly heads: readonly string[];
  readonly locale: string;
  readonly variants: readonly string[];
  /** Lines of the row with the most parts, and of the one whose message may cost the most; null: not known. */
  readonly longest: number | null;
  readonly mostExpensive: number | null;
  readonly facets: readonly Facets[];
}

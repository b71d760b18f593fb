import type { AddressKind } from './campaign.ts';

/** One row of the list, read but not yet judged. */
export interface Row {
  /** Position among the data rows, from 0: the row's identity in the ledger while the list is unchanged. */
  readonly row: number;
  /** First line of the row in its file. */
  readonly line: number;
  /** One value per column, exactly as written. Null when the row is ragged; `fault` says how. */
  readonly values: readonly string[] | null;
  readonly fault: string | null;
}

export interface Recipient {
  readonly row: number;
  readonly line: number;
  /** Identifies the person: the key column, else the normalised address. */
  readonly key: string;
  /** Normalised address: an E.164 number with `+`, an email address, or the id of a contact. */
  readonly to: string;
  readonly kind: AddressKind;
  /** ISO 3166-1 alpha-2 of the number, null where there is none (satellite, international networks, email). */
  readonly country: string | null;
  /** The numbering plan uses the number; false where it is only possible (numbers reserved for documentation). */
  readonly assigned: boolean;
  /** Cells of a column with a `format` are in ISO 8601, unlike in `Row.values`; a time of day has no zone. */
  readonly values: readonly string[];
  /** The time of its row, in ms since 1970, to the second; absent without `send.each`. */
  readonly atMs?: number;
}

/** When messages may go out, in wall time. */
export interface SendWindow {
  /** The campaign's own hours; null: only those of the countries. */
  readonly hours: WindowHours | null;
  /** Days on which none opens, `YYYY-MM-DD`; days of the zone. */
  readonly holidays: readonly string[];
  /** IANA name; `recipient`: that of each recipient. */
  readonly timeZone: string;
  /** IANA name of the zone for recipients without a known one; null: they wait. */
  readonly unknown: string | null;
  /** The hours of the country of the number hold as well. */
  readonly countries: boolean;
}

export interface WindowHours {
  /** Minutes since midnight, 0 to 1439 and 1 to 1440, exclusive. Where `to` <= `from`, they end on the next day. */
  readonly fromMinute: number;
  readonly toMinute: number;
  /** Days on which they begin, 1 (Monday) to 7 (Sunday). */
  readonly days: readonly number[];
}

export interface WindowRule {
  readonly hours: readonly WindowHours[];
  readonly holidays: readonly string[];
}

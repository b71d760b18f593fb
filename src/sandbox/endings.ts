import { STATUS_CODES } from 'node:http';
import table from './endings.json' with { type: 'json' };

/** The less final ones first. */
export const REPORT_WORDS = [
  'queued',
  'sent',
  'expired',
  'failed',
  'undeliverable',
  'rejected',
  'delivered',
  'read',
] as const;
export type ReportWord = (typeof REPORT_WORDS)[number];

/** An absent key is as for any other address. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The same request is accepted when it comes again. */
  readonly once?: true;
  /** Milliseconds before the answer. */
  readonly delayMs?: number;
  /** The connection is reset, closed or kept open without an answer, or reset in the middle of its body. */
  readonly cut?: 'reset' | 'close' | 'silence' | 'half';
  /** In place of the usual body. */
  readonly body?: { readonly type: string; readonly text: string };
}

export interface Ending {
  readonly digits: string;
  readonly answers: string;
  /** The outcome in handbill, as a rule. */
  readonly becomes: string;
  readonly answer?: Answer;
  /** The delivery reports, in their order, in place of those by chance. */
  readonly reports?: readonly ReportWord[];
  readonly error?: string;
  readonly replies?: readonly string[];
  /** The replies come from the number without `+`. */
  readonly repliesBare?: true;
  /** Only on channels that a phone may not support. On the others: sent and delivered. */
  readonly richOnly?: true;
}

/** Node.js has none of 499, 520 and 999. */
export function statusTitle(code: number): string {
  return STATUS_CODES[code] ?? 'Unknown Status';
}

/** Whatever the order; undefined without any. */
export function endOf(reports: readonly ReportWord[]): ReportWord | undefined {
  return REPORT_WORDS.findLast((word) => reports.includes(word));
}

/** In the order of its digits. docs/sandbox.md shows this table, and a test compares the two. */
export const ENDINGS = table.endings as readonly Ending[];
const BY_DIGITS: ReadonlyMap<string, Ending> = new Map(ENDINGS.map((ending) => [ending.digits, ending]));

/** Addresses that choose by their ending: those reserved for documentation, all, or none. */
export type ScriptedNumbers = 'reserved' | 'all' | 'none';

/** The last three digits of a number, or the tag of an email address or contact (`zoe+404@example.com`). */
const DIGITS = /^(?:(?:\+|00)?\d+(?<number>\d{3})|[^+]+\+(?<tag>\d{3})(?:@[^@]*)?)$/;
/** Ofcom and RFC 2606 reserve these for documentation. A real list would stop at a 401: 7% of numbers end like one. */
const RESERVED = /^(?:(?:\+|00)?447700900\d{3}|[^@]*@example\.(?:com|net|org)|sandbox[^@]*)$/;

export function byEnding<T>(table: ReadonlyMap<string, T>, address: string, whose: ScriptedNumbers): T | undefined {
  if (whose === 'none') return undefined;
  const { number, tag } = DIGITS.exec(address)?.groups ?? {};
  const found = table.get(number ?? tag ?? '');
  return found !== undefined && (whose === 'all' || RESERVED.test(address)) ? found : undefined;
}

/** Undefined: the message is accepted, and chance decides about its reports. */
export function endingOf(address: string, whose: ScriptedNumbers): Ending | undefined {
  return byEnding(BY_DIGITS, address, whose);
}

/** Without `+` or `00`, from any spelling. */
export function bareNumber(address: string): string {
  return address.replace(/^(?:\+|00)/, '');
}

import { bareNumber } from './message.ts';

/** How an address is written in a reply: as the message had it, or as networks, people and programs write it too. */
export type Spelling = 'as-sent' | 'digits' | 'double-zero' | 'spaces' | 'national';

/** The spellings that contain the country, so that a reader need not know it. */
export const SPELLINGS = ['digits', 'double-zero', 'spaces'] as const;

/** An email address that is not as it was sent has its domain in capitals. */
export function respell(address: string, spelling: Spelling): string {
  if (spelling === 'as-sent') return address;
  const at = address.lastIndexOf('@');
  if (at >= 0) return address.slice(0, at) + address.slice(at).toUpperCase();
  const digits = bareNumber(address);
  if (!/^\d+$/.test(digits)) return address;
  switch (spelling) {
    case 'digits':
      return digits;
    case 'double-zero':
      return `00${digits}`;
    case 'spaces':
      return `+${digits.replace(/(\d{2})(\d{4})(?=\d)/, '$1 $2 ')}`;
    case 'national':
      return digits.replace(COUNTRIES_WITH_ZERO, '0');
  }
}

/** Countries whose national numbers begin with a zero instead of the country code, among those of the samples. */
const COUNTRIES_WITH_ZERO = /^(?:31|32|33|353|41|43|44|46|49|61)(?=\d)/;

/** The states that a report of the sandbox can have; `unheard-of` is any undocumented one. */
export type ReportWord =
  | 'queued'
  | 'sent'
  | 'delivered'
  | 'read'
  | 'expired'
  | 'failed'
  | 'undeliverable'
  | 'rejected'
  | 'unheard-of';

/** Why a message did not arrive. */
export interface ReportError {
  /** In small letters and hyphens; dialects have their own forms of it. */
  readonly code: string;
  readonly detail: string;
  /** Nothing will change by itself. */
  readonly isPermanent: boolean;
}

/** One thing that comes back. */
export type Beat =
  | { readonly kind: 'report'; readonly word: ReportWord; readonly error: ReportError | null }
  | { readonly kind: 'reply'; readonly text: string; readonly spelling: Spelling };

/** The reports and replies about one message, in the order of the events; they may be posted in another order. */
export interface Story {
  readonly beats: readonly Beat[];
  /** Every event is posted twice. */
  readonly isDoubled: boolean;
  /** The last report is posted first. */
  readonly isReordered: boolean;
  /** The first report of how it ended is posted before the request is answered. */
  readonly isEarly: boolean;
  /** That report is posted late. */
  readonly isLate: boolean;
  /** The request is never answered. */
  readonly losesAnswer: boolean;
}

const PLAIN = { isDoubled: false, isReordered: false, isEarly: false, isLate: false, losesAnswer: false } as const;

/** A story with the usual posting, except for the given settings. */
export function storyOf(beats: readonly Beat[], posted: Partial<Omit<Story, 'beats'>> = {}): Story {
  return { beats, ...PLAIN, ...posted };
}

export function report(word: ReportWord, error: ReportError | null = null): Beat {
  return { kind: 'report', word, error };
}

export function reply(text: string, spelling: Spelling = 'as-sent'): Beat {
  return { kind: 'reply', text, spelling };
}

export const ERRORS = {
  absent: { code: 'absent-subscriber', detail: 'The handset could not be reached in time.', isPermanent: false },
  network: { code: 'network-error', detail: 'The network could not carry the message.', isPermanent: false },
  blocked: { code: 'blocked', detail: 'The network refused the message.', isPermanent: true },
  gone: { code: 'unknown-subscriber', detail: 'The number is not in use.', isPermanent: true },
  optedOut: { code: 'opted-out', detail: 'The recipient has opted out.', isPermanent: true },
} as const satisfies Record<string, ReportError>;

/** The channel cannot reach this person: a fallback may. */
export function unsupportedOn(channel: string): ReportError {
  const detail = `The recipient cannot receive ${channel}: channel not supported.`;
  return { code: 'channel-not-supported', detail, isPermanent: true };
}

/** Whether every phone supports the channel, by its name in the API. */
export function isForEveryPhone(channel: string): boolean {
  return /^(?:sms|voice|email)$/i.test(channel);
}

/** One recipient's message, as far as events speak of it. */
export interface Subject {
  /** The API's own. */
  readonly messageId: string;
  /** As the message had it. */
  readonly to: string;
  /** Our sender; empty where the message has none. */
  readonly sender: string;
  readonly channel: string;
  /** What a report gives back of the message, under the names that it has in every dialect. */
  readonly echo: Readonly<Record<string, unknown>>;
}

/** Something that happened to a message, ready to be posted in the form of a dialect. */
export interface SandboxEvent {
  readonly subject: Subject;
  readonly beat: Beat;
  /** When it happened, in ms since 1970. */
  readonly atMs: number;
}

/** The words of a dialect, with one of its own for an undocumented state. */
export type Words = Readonly<Record<ReportWord, string>>;

/** `2026-11-21T09:00:00.412Z` */
export function isoOf(atMs: number): string {
  return new Date(atMs).toISOString();
}

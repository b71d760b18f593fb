import { STATUS_CODES } from 'node:http';

/**
 * The scripted answers, chosen by the last three digits of a number. If the digits are an HTTP status, that status is
 * the answer; 429 to 434 are ways to ask the client to wait; 901 to 914 are faults of the connection or of the answer's
 * body. docs/reference/sandbox-answers.md shows this table, and a test compares the two.
 */
export interface Scenario {
  /** The number's last three digits. */
  readonly digits: string;
  /** What the sandbox does, in a sentence. */
  readonly answers: string;
  /** What handbill makes of it, as a rule. */
  readonly becomes: string;
  readonly play: Play;
}

type Play =
  /** The status, every time. 2xx with a body carries an id. */
  | { readonly kind: 'status'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  /** 429; with `once`, the same request is accepted when it comes again. */
  | { readonly kind: 'throttle'; readonly once: boolean; readonly retryAfter: RetryAfter }
  | { readonly kind: 'fault'; readonly fault: Fault };

/** Seconds, the same as an HTTP date, or no such header. */
export type RetryAfter = { readonly seconds: number; readonly form: 'seconds' | 'date' } | null;

export type Fault =
  | 'reset'
  | 'silence'
  | 'slow'
  | 'html'
  | 'empty'
  | 'half'
  | 'close'
  | 'no-id'
  | 'plain-text'
  | 'not-http'
  | 'interim'
  | 'large'
  | 'compressed'
  | 'drip';

/** Whose numbers play a script: those reserved for documentation, every number, or none. */
export type ScriptedNumbers = 'reserved' | 'all' | 'none';

/**
 * Ofcom reserves the thousand numbers +447700900000 to +447700900999 for drama and documentation, so they belong to no
 * person. They play scripts; other numbers do not: seven in a hundred real numbers end like a status, and a rehearsal
 * with a real list would stop at the first 401.
 */
const RESERVED = /^(?:\+|00)?447700900\d{3}$/;

export function isReserved(msisdn: string): boolean {
  return RESERVED.test(msisdn);
}

/** The scenario that a number plays, or null: then the message is accepted. */
export function scenarioFor(msisdn: string, whose: ScriptedNumbers): Scenario | null {
  const ending = endingOf(msisdn, whose);
  return ending === null ? null : scenarioByDigits(ending);
}

/** The last three digits of a number that plays, or null. */
export function endingOf(msisdn: string, whose: ScriptedNumbers): string | null {
  if (whose === 'none') return null;
  return whose === 'all' || isReserved(msisdn) ? msisdn.slice(-3) : null;
}

export function scenarioByDigits(digits: string): Scenario | null {
  return BY_DIGITS.get(digits) ?? null;
}

/**
 * Refusals that are about the request or the sender, not about one recipient of several: the key, credit, the rate, the
 * size, and a client that gave up.
 */
const ABOUT_THE_REQUEST: ReadonlySet<number> = new Set([401, 402, 403, 407, 408, 413, 425, 429, 499]);

/** The status by which a scenario refuses only this recipient; null if it is about the whole request. */
export function ownRefusal({ play }: Scenario): number | null {
  if (play.kind !== 'status' || play.status < 400 || play.status > 499) return null;
  return ABOUT_THE_REQUEST.has(play.status) ? null : play.status;
}

const EXTRA_TITLES: Readonly<Record<number, string>> = {
  499: 'Client Closed Request',
  520: 'Web Server Returned an Unknown Error',
};

const REJECTED = 'rejected';
const DOUBT = 'in doubt';
const STOPS = 'pending; the run stops';
const DOUBT_STOPS = 'in doubt; the run stops';
const FIRST_STOPS = 'rejected; before anything was accepted at this address: pending, the run stops';
const DOUBT_FIRST_STOPS = 'in doubt; as the first answer of a start the run stops too';
const ELSEWHERE = { Location: 'http://elsewhere.invalid/v2/messages' };

const STATUSES: readonly (readonly [status: number, becomes: string, headers?: Readonly<Record<string, string>>])[] = [
  [200, 'accepted'],
  [201, 'accepted'],
  [204, 'accepted, without an id'],
  [300, DOUBT_STOPS, ELSEWHERE],
  [301, DOUBT_STOPS, ELSEWHERE],
  [302, DOUBT_STOPS, ELSEWHERE],
  [303, DOUBT_STOPS, ELSEWHERE],
  [307, STOPS, ELSEWHERE],
  [308, STOPS, ELSEWHERE],
  [400, REJECTED],
  [401, STOPS],
  [402, STOPS],
  [403, STOPS],
  [404, FIRST_STOPS],
  [405, FIRST_STOPS, { Allow: 'GET' }],
  [406, REJECTED],
  [407, STOPS],
  [408, DOUBT, { Connection: 'close' }],
  [409, REJECTED],
  [410, FIRST_STOPS],
  [411, REJECTED],
  [412, REJECTED],
  [413, REJECTED],
  [414, REJECTED],
  [415, REJECTED],
  [416, REJECTED],
  [417, REJECTED],
  [421, REJECTED],
  [422, REJECTED],
  [423, REJECTED],
  [424, REJECTED],
  [425, 'tried again, then pending'],
  [426, REJECTED],
  [428, REJECTED],
  [431, REJECTED],
  [451, REJECTED],
  [499, DOUBT],
  [500, DOUBT],
  [501, STOPS],
  [502, DOUBT],
  [503, DOUBT, { 'Retry-After': '1' }],
  [504, DOUBT],
  [505, STOPS],
  [507, DOUBT],
  [508, DOUBT],
  [511, DOUBT_STOPS],
  [520, DOUBT],
  [999, DOUBT],
];

const THROTTLES: readonly Scenario[] = [
  throttle('429', true, 1, 'seconds', 'accepted at the second attempt'),
  throttle('430', false, 1, 'seconds', 'tried again, then pending'),
  throttle('432', true, 2, 'date', 'accepted at the second attempt'),
  throttle('433', true, null, 'seconds', 'accepted at the second attempt'),
  throttle('434', false, 3600, 'seconds', 'pending; the run stops'),
];

const FAULTS: readonly Scenario[] = [
  fault('901', 'reset', 'takes the request, then resets the connection', DOUBT),
  fault('902', 'silence', 'takes the request, then never answers', DOUBT),
  fault('903', 'slow', '202 after 3 seconds', 'accepted'),
  fault('904', 'html', '200 with an HTML page', DOUBT_STOPS),
  fault('905', 'empty', '202 without a body', 'accepted, without an id'),
  fault('906', 'half', '202, half of the body, then a reset', DOUBT_FIRST_STOPS),
  fault('907', 'close', 'takes the request, then closes the connection', DOUBT),
  fault('908', 'no-id', '202 with a JSON object that holds no id', 'accepted, without an id'),
  fault('909', 'plain-text', '202 with plain text', DOUBT_FIRST_STOPS),
  fault('910', 'not-http', 'something that is not HTTP', DOUBT),
  fault('911', 'interim', 'three interim answers (102), then 202', 'accepted'),
  fault('912', 'large', '202 with a body of 1 MiB', DOUBT_FIRST_STOPS),
  fault('913', 'compressed', '202 with a body compressed by gzip, unrequested', DOUBT_FIRST_STOPS),
  fault('914', 'drip', '202 with a body that comes byte by byte and never ends', DOUBT_FIRST_STOPS),
];

/** Every scenario, in the order of its digits. */
export const SCENARIOS: readonly Scenario[] = [...STATUSES.map(status), ...THROTTLES, ...FAULTS].toSorted((a, b) =>
  a.digits.localeCompare(b.digits),
);

const BY_DIGITS: ReadonlyMap<string, Scenario> = new Map(SCENARIOS.map((scenario) => [scenario.digits, scenario]));

/** A status in words, also where Node.js has none. */
export function statusTitle(code: number): string {
  return STATUS_CODES[code] ?? EXTRA_TITLES[code] ?? 'Unknown Status';
}

function status([code, becomes, headers = {}]: (typeof STATUSES)[number]): Scenario {
  const retry = headers['Retry-After'];
  const answers = `${code} ${statusTitle(code)}${retry === undefined ? '' : `, \`Retry-After: ${retry}\``}`;
  return { digits: String(code), answers, becomes, play: { kind: 'status', status: code, headers } };
}

function throttle(
  digits: string,
  once: boolean,
  seconds: number | null,
  form: 'seconds' | 'date',
  becomes: string,
): Scenario {
  const wait =
    seconds === null
      ? 'without `Retry-After`'
      : form === 'date'
        ? `with \`Retry-After\` as a date ${seconds} seconds away`
        : `with \`Retry-After: ${seconds}\``;
  const answers = once ? `429 ${wait}; the same request again: 202` : `429 ${wait}, every time`;
  const retryAfter = seconds === null ? null : { seconds, form };
  return { digits, answers, becomes, play: { kind: 'throttle', once, retryAfter } };
}

function fault(digits: string, kind: Fault, answers: string, becomes: string): Scenario {
  return { digits, answers, becomes, play: { kind: 'fault', fault: kind } };
}

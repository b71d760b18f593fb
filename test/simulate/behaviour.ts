import { type Asked, type Entry, FORMS, type FormName } from '../oracle/forms.ts';
import type { Said } from '../oracle/receipts.ts';
import type { Random } from './random.ts';

/** What becomes of one request, decided when it is made. */
export interface Behaviour {
  readonly kind: Kind;
  /** How far it comes: never started, started but never received, received without an answer, answered. */
  readonly reach: 'unstarted' | 'unreceived' | 'silent' | 'answered';
  /** Until the server has it, in ms. */
  readonly arriveMs: number;
  /** From then until the client knows. */
  readonly answerMs: number;
  /** The error that ends it, unless the whole answer came. */
  readonly code: string | null;
  readonly status: number | null;
  readonly body: string;
  readonly id: string | null;
  readonly contentType: string | null;
  readonly retryAfter: string | null;
  /** What the answer says of each recipient; null: what the status says. */
  readonly each: readonly Entry[] | null;
}

/** What an acceptance may turn out to be where a campaign has fallbacks or shared requests. */
export const SPECIAL_KINDS = ['unsupported', 'unsupported-2xx', 'partial', 'too-large'] as const;

/** Answers of an API whose file has rules for them, each with a word for a recipient, whatever the status. */
const RULED_KINDS = ['says-refused', 'says-unclear', 'says-account', 'says-busy', 'says-opted-out'] as const;

export const KINDS = [
  'accepted',
  'accepted-empty',
  'unrecognised',
  'refused-2xx',
  'denied-2xx',
  'account-2xx',
  'html',
  'cut-2xx',
  'refused',
  'wrong-address',
  'doubtful-4xx',
  'not-authorised',
  'throttled',
  'throttled-long',
  'early',
  'unavailable',
  'broken',
  'cannot',
  'captive',
  'moved',
  'redirected',
  'strange-status',
  'silent',
  'never-answers',
  'half-answer',
  'unreceived',
  'unstarted',
] as const;
export type Kind = (typeof KINDS)[number] | (typeof SPECIAL_KINDS)[number] | (typeof RULED_KINDS)[number];

export const CONNECT_KINDS = ['ok', 'slow', 'dns', 'refused', 'timeout', 'tls', 'proxy', 'invalid'] as const;
export type ConnectKind = (typeof CONNECT_KINDS)[number];

/** How a server behaves for one start. */
export interface Profile {
  readonly name: string;
  readonly posts: Partial<Record<Kind, number>>;
  readonly connects: Partial<Record<ConnectKind, number>>;
  /** Usual latency in ms. */
  readonly latencyMs: number;
}

const RARELY_ANYTHING = Object.fromEntries(KINDS.map((kind) => [kind, 0.4])) as Partial<Record<Kind, number>>;
const SELDOM_SLOW: Profile['connects'] = { ok: 30, slow: 1 };

/** Every kind of server that FAILURES speaks of, and a good one. */
export const PROFILES = {
  good: { name: 'good', posts: { accepted: 1 }, connects: { ok: 1 }, latencyMs: 10 },
  usual: {
    name: 'usual',
    posts: { accepted: 90, refused: 4, throttled: 2, silent: 1 },
    connects: { ok: 1 },
    latencyMs: 20,
  },
  mixed: {
    name: 'mixed',
    posts: { ...RARELY_ANYTHING, accepted: 40, refused: 3 },
    connects: { ok: 40, slow: 4, dns: 1, refused: 2, timeout: 1, proxy: 1 },
    latencyMs: 30,
  },
  throttling: {
    name: 'throttling',
    posts: { accepted: 30, throttled: 25, early: 5, unavailable: 1 },
    connects: SELDOM_SLOW,
    latencyMs: 15,
  },
  doubtful: {
    name: 'doubtful',
    posts: { accepted: 50, silent: 4, 'never-answers': 2, 'half-answer': 2, broken: 3, 'cut-2xx': 2, unreceived: 3 },
    connects: SELDOM_SLOW,
    latencyMs: 40,
  },
  refusing: {
    name: 'refusing',
    posts: { accepted: 4, refused: 20, 'refused-2xx': 4, 'doubtful-4xx': 1 },
    connects: { ok: 1 },
    latencyMs: 10,
  },
  unreachable: {
    name: 'unreachable',
    posts: { accepted: 20, unstarted: 6 },
    connects: { ok: 5, slow: 2, dns: 1, refused: 3, timeout: 1, tls: 0.1, proxy: 1, invalid: 0.1 },
    latencyMs: 10,
  },
  down: { name: 'down', posts: { unstarted: 1 }, connects: { ok: 1, refused: 8, dns: 2 }, latencyMs: 5 },
  wrong: {
    name: 'wrong',
    posts: {
      accepted: 4,
      'wrong-address': 3,
      'not-authorised': 3,
      'account-2xx': 2,
      'denied-2xx': 1,
      html: 2,
      unrecognised: 2,
      moved: 1,
      redirected: 1,
      cannot: 1,
      captive: 1,
      'throttled-long': 2,
    },
    connects: { ok: 20, tls: 1, invalid: 1 },
    latencyMs: 10,
  },
} as const satisfies Record<string, Profile>;

/** How a post is answered. `onlyOwn` leaves out answers whose meaning depends on which was the first of a start. */
export function drawBehaviour(
  random: Random,
  profile: Profile,
  asked: Asked,
  { number, onlyOwn, form }: { readonly number: number; readonly onlyOwn: boolean; readonly form: FormName },
): Behaviour {
  let kind: Kind = random.weighted(profile.posts);
  if (onlyOwn && kind === 'wrong-address') kind = 'refused';
  const isRuled = form !== 'messages-v2';
  if (isRuled) kind = inWords(random, kind, form);
  if (kind === 'accepted') kind = drawSpecial(random, profile, asked);
  const base: Behaviour = {
    kind,
    reach: 'answered',
    arriveMs: latency(random, profile.latencyMs / 4),
    answerMs: latency(random, profile.latencyMs),
    code: null,
    status: null,
    body: '',
    id: null,
    contentType: 'application/json',
    retryAfter: null,
    each: null,
  };
  const word = WORDS[kind];
  if (word === undefined || (!isRuled && !kind.startsWith('says-'))) {
    // An API that always gives an id has not said yes without one.
    const isUnclear = isRuled && kind === 'accepted-empty';
    const each = isUnclear ? asked.references.map((): Entry => ({ said: 'unclear', id: null })) : null;
    return { ...base, each, ...DRAW[kind](random, number, asked) };
  }
  const said = asked.references.map((_, at) => (kind === 'partial' && at > 0 ? random.pick(PARTS) : word));
  return {
    ...base,
    ...FORMS[form].say(said, asked, (at) => `m-${number}${at === 0 ? '' : `-${at}`}`, random.whole(0, 1e6)),
  };
}

/** What the answer of a provider with rules says of the first recipient, and of all but in `partial`. */
const WORDS: Readonly<Partial<Record<Kind, Said>>> = {
  accepted: 'taken',
  unsupported: 'unsupported',
  'unsupported-2xx': 'unsupported',
  partial: 'taken',
  'says-refused': 'refused',
  'says-unclear': 'unclear',
  'says-account': 'account',
  'says-busy': 'busy',
  'says-opted-out': 'opted-out',
};
const PARTS: readonly [Said, ...Said[]] = ['taken', 'taken', 'taken', 'refused', 'refused', 'unclear', 'account'];

/** What a provider with rules says in the place of answers that only an API without them gives. */
function inWords(random: Random, kind: Kind, form: FormName): Kind {
  switch (kind) {
    case 'refused-2xx':
      return form === 'twilio' && random.chance(0.4) ? 'says-opted-out' : 'says-refused';
    case 'refused':
      if (form === 'twilio' && random.chance(0.2)) return 'says-opted-out';
      return random.chance(0.5) ? 'says-refused' : kind;
    case 'cut-2xx':
    case 'unrecognised':
      return random.chance(0.5) ? 'says-unclear' : kind;
    case 'denied-2xx':
      return 'says-unclear';
    case 'account-2xx':
      return 'says-account';
    case 'throttled':
      return random.chance(0.3) ? 'says-busy' : kind;
    default:
      return kind;
  }
}

/** Only some can receive RCS; and of those who share a request some are another matter. */
function drawSpecial(random: Random, profile: Profile, { channel, references }: Asked): Kind {
  const several = references.length > 1;
  if (several && random.chance(0.12)) return 'too-large';
  if (several && profile.name !== 'good' && random.chance(0.3)) return 'partial';
  if (channel !== 'rcs' || !random.chance(several ? 0.15 : 0.3)) return 'accepted';
  return random.pick(['unsupported', 'unsupported-2xx']);
}

type Draw = (random: Random, number: number, asked: Asked) => Partial<Behaviour>;

const RESETS = ['ECONNRESET', 'UND_ERR_SOCKET', 'EPIPE', 'UND_ERR_HEADERS_TIMEOUT', 'AbortError'] as const;
const BEFORE_ANY_BYTE = [
  'ECONNREFUSED',
  'ECONNRESET',
  'UND_ERR_SOCKET',
  'EHOSTUNREACH',
  'EMFILE',
  'UND_ERR_DESTROYED',
] as const;
const REFUSED = [
  400, 406, 409, 411, 413, 414, 415, 416, 417, 421, 422, 423, 424, 426, 428, 431, 451, 418, 460,
] as const;
const PROBLEM = { body: '{"error":"not like this"}' };

const UNSUPPORTED = '{"code":"channel-not-supported"}';

/** A 2xx with an entry for each recipient, in any order; none for those that are unclear. */
function inList(random: Random, number: number, { addresses }: Asked, sayOf: (at: number) => Said): Partial<Behaviour> {
  const each = addresses.map((_, at) => {
    const said = sayOf(at);
    return { said, id: said === 'taken' ? `m-${number}-${at}` : null };
  });
  const entries = each.flatMap(({ said, id }, at): object[] => {
    const to = addresses[at];
    if (said === 'unclear') return [];
    if (said === 'taken') return [{ to, id }];
    return [{ to, error: { code: said === 'refused' ? 'no' : 'channel-not-supported' } }];
  });
  const messages = random.chance(0.5) ? entries : entries.toReversed();
  return { status: 202, body: JSON.stringify({ messages }), each };
}

function neverDrawn(): never {
  throw new Error('the form of the API says it');
}

const DRAW: Readonly<Record<Kind, Draw>> = {
  accepted: (random, number, asked) => {
    if (asked.references.length > 1) return inList(random, number, asked, () => 'taken');
    const id = random.chance(0.9) ? `m-${number}` : `91${String(number).padStart(17, '0')}`;
    const body = id.startsWith('m') ? JSON.stringify({ messageId: id }) : `{"messageId":${id}}`;
    return { status: random.pick([202, 202, 200, 201]), id, body };
  },
  unsupported: (random, _, { references }) => ({
    status: random.pick([422, 404, 400]),
    body: UNSUPPORTED,
    each: references.map(() => ({ said: 'unsupported', id: null })),
  }),
  'unsupported-2xx': (random, number, asked) =>
    inList(random, number, asked, (at) => (at === 0 || random.chance(0.3) ? 'unsupported' : 'taken')),
  partial: (random, number, asked) =>
    inList(random, number, asked, () => random.weighted({ taken: 6, refused: 2, unsupported: 1, unclear: 0.3 })),
  'too-large': () => ({ status: 413 }),
  'accepted-empty': (random) => ({ status: random.pick([202, 204]), contentType: null }),
  'says-refused': neverDrawn,
  'says-unclear': neverDrawn,
  'says-account': neverDrawn,
  'says-busy': neverDrawn,
  'says-opted-out': neverDrawn,
  // Of several recipients it is not said which one was refused.
  'refused-2xx': (random, number, { references }) => ({
    status: random.pick([200, 202]),
    body: JSON.stringify({ messageId: `m-${number}`, status: random.pick(['REJECTED', 'failed', 'Undeliverable']) }),
    each: references.map(() =>
      references.length > 1 ? { said: 'unclear', id: null } : { said: 'refused', id: `m-${number}` },
    ),
  }),
  'denied-2xx': (random, number, { references }) => {
    const id = random.chance(0.5) ? `m-${number}` : null;
    const says = random.pick(['"success":false', '"error":"no credit"', '"messages":[]', '"status":"ERROR"']);
    return {
      status: 200,
      body: id === null ? `{${says}}` : `{"messageId":"${id}",${says}}`,
      each: references.map(() => ({ said: 'unclear', id })),
    };
  },
  'account-2xx': (random, _, { references }) => ({
    status: 200,
    body: JSON.stringify({ code: random.pick([401, '402', 403]), message: 'no' }),
    each: references.map(() => ({ said: 'account', id: null })),
  }),
  unrecognised: () => ({ status: 200, body: 'it went well', contentType: 'text/plain' }),
  html: (random) => ({
    status: 200,
    body: '<!DOCTYPE html><title>Log in</title>',
    contentType: random.pick(['text/html', 'application/json']),
  }),
  'cut-2xx': (random, number) => ({
    status: 202,
    id: `m-${number}`,
    body: `{"messageId":"m-${number}`,
    code: random.pick([
      'ECONNRESET',
      'UND_ERR_BODY_TIMEOUT',
      'UND_ERR_RES_EXCEEDED_MAX_SIZE',
      'HPE_INVALID_CHUNK_SIZE',
    ]),
  }),
  refused: (random) => ({
    status: random.pick(REFUSED),
    ...PROBLEM,
    code: random.chance(0.1) ? 'ECONNRESET' : null,
  }),
  'wrong-address': (random) => ({ status: random.pick([404, 405, 410]), ...PROBLEM }),
  'doubtful-4xx': (random) => ({ status: random.pick([408, 499]), ...PROBLEM }),
  'not-authorised': (random) => ({ status: random.pick([401, 402, 403, 407]), ...PROBLEM }),
  throttled: (random) => ({
    status: 429,
    ...PROBLEM,
    retryAfter: random.pick([null, '0', '1', '7', '120', '-5', 'soon', '99999999999', 'Sat, 21 Nov 2026 09:00:05 GMT']),
  }),
  'throttled-long': (random) => ({ status: random.pick([429, 503]), ...PROBLEM, retryAfter: '3600' }),
  early: () => ({ status: 425, ...PROBLEM }),
  unavailable: (random) => ({ status: 503, ...PROBLEM, retryAfter: random.pick([null, '2', '30']) }),
  broken: (random) => ({ status: random.pick([500, 502, 504, 507, 508, 520, 599]), ...PROBLEM }),
  cannot: (random) => ({ status: random.pick([501, 505]), ...PROBLEM }),
  captive: () => ({ status: 511, body: '<html>', contentType: 'text/html' }),
  moved: (random) => ({ status: random.pick([307, 308]) }),
  redirected: (random) => ({ status: random.pick([300, 301, 302, 303, 304]) }),
  'strange-status': (random) => ({ status: random.pick([600, 999]) }),
  silent: (random) => ({ reach: 'silent', code: random.pick(RESETS) }),
  'never-answers': () => ({ reach: 'silent', code: 'HANDBILL_TIMEOUT', answerMs: 1e9 }),
  'half-answer': (random) => ({
    reach: 'silent',
    code: random.pick(['HANDBILL_PARTIAL_ANSWER', 'HPE_INVALID_VERSION', 'UND_ERR_HEADERS_OVERFLOW', 'ERR_ASSERTION']),
  }),
  unreceived: (random) => ({ reach: 'unreceived', code: random.pick(RESETS) }),
  unstarted: (random) => ({ reach: 'unstarted', code: random.pick(BEFORE_ANY_BYTE) }),
};

/** How the opening of a connection ends: after how long, and with which error. */
export function drawConnect(random: Random, profile: Profile): { kind: ConnectKind; ms: number; code: string | null } {
  const kind = random.weighted(profile.connects);
  const ms = kind === 'slow' ? random.scale(200, 9000) : kind === 'timeout' ? 10_000 : latency(random, 4);
  const code = {
    ok: null,
    slow: null,
    dns: 'ENOTFOUND',
    refused: 'ECONNREFUSED',
    timeout: 'UND_ERR_CONNECT_TIMEOUT',
    tls: 'CERT_HAS_EXPIRED',
    proxy: 'HANDBILL_PROXY',
    invalid: 'UND_ERR_INVALID_ARG',
  }[kind];
  return { kind, ms, code };
}

/** Often a whole number, so that several things happen at one instant; sometimes much slower than usual. */
function latency(random: Random, usualMs: number): number {
  const ms = random.chance(0.03) ? random.scale(usualMs, usualMs * 1000) : usualMs * (0.2 + 1.6 * random.next());
  return random.chance(0.5) ? Math.ceil(ms) : ms;
}

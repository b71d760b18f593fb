import type { Wire } from '../model.ts';
import wire from './wire-defaults.json' with { type: 'json' };

/** The only place with defaults, for values that neither the campaign nor handbill.yaml sets. */
export const DEFAULTS = {
  /** Requests in flight at once. MEASURED: 16 to 128 connections do not differ on loopback. */
  concurrency: 16,
  /** Requests per recipient in one start (failures.md, rule 11). */
  attempts: 3,
  /** Total time of one request, in milliseconds: 20 seconds (failures.md, I2). */
  timeoutMs: 20_000,
  /** Character set of an SMS: GSM-7 where the text fits into it. */
  characterSet: 'auto',
  /** Typographic characters stay as they are written. */
  transliterate: false,
  /** BCP 47 tag for numbers and dates in templates. */
  locale: 'en-GB',
  /** IANA zone for dates in templates. */
  timeZone: 'UTC',
  /** Column of the list that holds the address: the name that the API's document uses. */
  to: 'msisdn',
  /** The same, for email. */
  toEmail: 'email',
  recipientsPerRequest: 1,
  /** Pause after each step of a canary, in milliseconds: none. */
  canaryPauseMs: 0,
  /** Share of recipients that the API must have accepted before a canary goes on. */
  canaryAccepted: 0.95,
  /** How long final reports are waited for at a gate of a canary, after its pause, in milliseconds: 30 minutes. */
  canaryWaitMs: 30 * 60_000,
  /** Not `read`: machines load pictures, which then count as read; they do not answer. */
  winnerBy: 'replied',
  /** How long after the test its winner is found, in milliseconds: 4 hours. */
  winnerWaitMs: 4 * 3_600_000,
  winnerTie: 'first',
  /** Least messages of each variant. */
  winnerMinimum: 50,
  /** Windows are in the time of each recipient; null where it is not known: such recipients wait. */
  windowTimeZone: 'recipient',
  windowUnknown: null,
  windowCountries: false,
  /** A scheduled instant that was missed is made up for. */
  missed: 'catch-up',
  /** Where events are received, and how a sender proves who it is. */
  webhookPath: '/webhooks',
  webhookScheme: 'standard',
  /** How far the time of a signature may be from the clock: 5 minutes either way. */
  webhookToleranceMs: 5 * 60_000,
  /** A signature over the body alone. */
  webhookMethods: ['POST'],
  webhookProofs: {
    hmac: { algorithm: 'sha256', encoding: 'hex', prefix: '', signed: '{body}' },
    ed25519: { encoding: 'base64', prefix: '', signed: '{body}' },
    'url-form': { algorithm: 'sha256', encoding: 'base64', prefix: '', signed: '{url}{form}' },
    'body-hmac': { algorithm: 'sha256', encoding: 'hex', signed: '{timestamp}{id}' },
    jwt: { header: 'Authorization' },
  },
  /** Ledger, relative to the root of the project. */
  ledger: '.handbill/ledger.db',
} as const;

/** Bounds of `send.timeout`, in milliseconds. Longer, and a run cannot be interrupted within reason. */
export const TIMEOUT_BOUNDS_MS = { min: 1000, max: 600_000 } as const;

/**
 * How the API is spoken to where its document is silent: the usual answers of such APIs. The order of pointers counts.
 * An id of a message comes before one of the request, because an answer can hold both and delivery reports name the
 * message. Errors: problem+json first, the most telling sentence before the general one. Ids of contacts come before
 * `number`, which may be only the place in the list. Each code of `unsupportedChannel` is about the recipient:
 * `unsupported-channel` of an API that means the value of `channel` would be none.
 */
export const DEFAULT_WIRE: Wire = wire as Wire;

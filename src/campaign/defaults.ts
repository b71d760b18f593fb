import { CHANNELS, type Channel, type CharacterSet, type Wire } from '../model.ts';

/** What holds where neither the campaign nor handbill.yaml says otherwise: the only place where defaults stand. */
export const DEFAULTS = {
  /** Requests in flight at once. MEASURED: 16 to 128 connections do not differ on loopback. */
  concurrency: 16,
  /** Requests per recipient in one start (FAILURES rule 11). */
  attempts: 3,
  /** Total time of one request, in milliseconds: 20 seconds (FAILURES I2). */
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
  /** An impossible row refuses the whole run. */
  onInvalid: 'refuse',
  /** Ledger, relative to the root of the project. */
  ledger: '.handbill/ledger.db',
} as const;

/** Bounds of `send.timeout`, in milliseconds. Longer, and a run cannot be interrupted within reason. */
export const TIMEOUT_BOUNDS_MS = { min: 1000, max: 600_000 } as const;

const CHANNEL_VALUES: Readonly<Record<Channel, string>> = {
  sms: 'SMS',
  rcs: 'RCS',
  'messaging-app': 'MessagingApp',
  email: 'Email',
  voice: 'Voice',
};

const CHARACTER_SET_VALUES: Readonly<Record<CharacterSet, string>> = { auto: 'Auto', gsm: 'GSM', unicode: 'Unicode' };

// DOMAIN 1.1: what such APIs answer with. What names one message comes before what names the request: an answer can
// hold both, and delivery reports name the message.
const MESSAGE_IDS = ['id', 'messageId', 'message_id', 'message_uuid'];
const REQUEST_IDS = ['batchId', 'bulkId', 'requestId', 'request_id'];
const LISTS = ['messages', 'recipients', 'results', 'data', 'items', 'data/messages', 'data/recipients'];

const MESSAGE_ID_POINTERS: readonly string[] = [
  ...MESSAGE_IDS.map((key) => `/${key}`),
  ...MESSAGE_IDS.map((key) => `/data/${key}`),
  ...LISTS.flatMap((list) => ['messageId', 'message_id', 'id', 'message/id'].map((key) => `/${list}/0/${key}`)),
  ...REQUEST_IDS.map((key) => `/${key}`),
  ...REQUEST_IDS.map((key) => `/data/${key}`),
];

// DOMAIN 1.2: problem+json first, then the shapes of others; the most telling sentence before the general one.
const ERROR_POINTERS: readonly string[] = [
  '/detail',
  '/message',
  '/description',
  '/error/message',
  '/error/detail',
  '/error/description',
  '/error',
  '/errors/0/detail',
  '/errors/0/message',
  '/errors/0/description',
  '/errors/0/title',
  '/requestError/serviceException/text',
  '/violations/0/violation',
  '/title',
];

/** How the API is spoken to where its document is silent. */
export const DEFAULT_WIRE: Wire = {
  channels: CHANNEL_VALUES,
  characterSets: CHARACTER_SET_VALUES,
  response: {
    messageId: MESSAGE_ID_POINTERS,
    messageIdRequired: false,
    error: ERROR_POINTERS,
    failed: [],
    accept: 'json',
  },
  retryStatuses: [],
  idempotencyHeader: null,
};

/** Every channel has a value on the wire. */
export function wireChannels(written: Partial<Record<Channel, string>> = {}): Readonly<Record<Channel, string>> {
  const pairs = CHANNELS.map((channel) => [channel, written[channel] ?? CHANNEL_VALUES[channel]] as const);
  return Object.fromEntries(pairs) as Record<Channel, string>;
}

import { CHANNEL_TABLE, type Channel, eachChannel } from '../content/channels.ts';
import type { CharacterSet, Wire } from '../model.ts';

/** What holds where neither the campaign nor handbill.yaml says otherwise: the only place with defaults. */
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
  /** One recipient in each request. */
  recipientsPerRequest: 1,
  /** Pause after each step of a canary, in milliseconds: none. */
  canaryPauseMs: 0,
  /** Share of recipients that the API must have accepted before a canary goes on. */
  canaryAccepted: 0.95,
  /** How long final reports are waited for at a gate of a canary, after its pause, in milliseconds: 30 minutes. */
  canaryWaitMs: 30 * 60_000,
  /** What the winner of a test is found by: pictures that are loaded by machines count as read, answers do not. */
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
  /** An impossible row refuses the whole run. */
  onInvalid: 'refuse',
  /** A scheduled instant that was missed is made up for. */
  missed: 'catch-up',
  /** Where events are received, and how a sender proves who it is. */
  webhookPath: '/webhooks',
  webhookScheme: 'standard',
  /** How far the time of a signature may be from the clock: 5 minutes either way. */
  webhookToleranceMs: 5 * 60_000,
  /** A signature over the body alone. */
  webhookHmac: { algorithm: 'sha256', encoding: 'hex', prefix: '', signed: '{body}' },
  /** Ledger, relative to the root of the project. */
  ledger: '.handbill/ledger.db',
} as const;

/** Bounds of `send.timeout`, in milliseconds. Longer, and a run cannot be interrupted within reason. */
export const TIMEOUT_BOUNDS_MS = { min: 1000, max: 600_000 } as const;

const CHARACTER_SET_VALUES: Readonly<Record<CharacterSet, string>> = { auto: 'Auto', gsm: 'GSM', unicode: 'Unicode' };

// The usual answers of such APIs. What names one message comes before what names the request: an answer can
// hold both, and delivery reports name the message.
const MESSAGE_IDS = ['id', 'messageId', 'message_id', 'message_uuid'];
const REQUEST_IDS = ['batchId', 'bulkId', 'requestId', 'request_id'];
const LISTS = ['messages', 'recipients', 'results', 'data', 'items', 'data/messages', 'data/recipients'];

const MESSAGE_ID_POINTERS: readonly string[] = [
  ...MESSAGE_IDS.map((key) => `/${key}`),
  ...MESSAGE_IDS.map((key) => `/data/${key}`),
  ...['', ...LISTS.map((list) => `/${list}`)].flatMap((list) =>
    ['messageId', 'message_id', 'id', 'message/id'].map((key) => `${list}/0/${key}`),
  ),
  ...REQUEST_IDS.map((key) => `/${key}`),
  ...REQUEST_IDS.map((key) => `/data/${key}`),
];

// problem+json first, then the shapes of others; the most telling sentence before the general one.
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
  '/requestError/text',
  '/violations/0/violation',
  '/title',
];

const LIST_POINTERS = [...LISTS, 'recipients/items', 'data/results', 'data/items'].map((list) => `/${list}`);

const REFUSED_LISTS = ['rejected', 'refused', 'failed', 'invalid'].flatMap((word) => [
  `/${word}`,
  ...['Recipients', '_recipients', 'Numbers', '_numbers', '_number'].map((rest) => `/${word}${rest}`),
]);

// Ids of contacts first: a `number` beside one may be no more than its place in the list. `id` is not among them,
// because it is the message's nearly everywhere.
const ADDRESS_POINTERS: readonly string[] = [
  ...['contactId', 'contact_id', 'contact/id', 'contact', 'recipient/id'],
  ...['msisdn', 'to', 'recipient', 'destination', 'phone_number', 'phoneNumber', 'phone', 'mobile', 'email', 'address'],
  ...['to/phoneNumber', 'to/number', 'to/email', 'recipient/msisdn', 'recipient/phoneNumber', 'recipient/email'],
  ...['recipient/address', 'destination/to', 'address/msisdn', 'address/email', 'number'],
].map((key) => `/${key}`);

const ENTRY_ERROR_POINTERS: readonly string[] = [
  '/error/message',
  '/error/detail',
  '/error/description',
  '/error/title',
  '/error',
  '/errors/0/message',
  '/errors/0/detail',
  '/errors/0/description',
  '/errors/0/title',
  '/errors',
  '/status/description',
  '/errorDescription',
  '/errorMessage',
  '/error_message',
  '/detail',
  '/description',
  '/reason',
  '/message',
];

/** How the API is spoken to where its document is silent. */
export const DEFAULT_WIRE: Wire = {
  channels: wireChannels(),
  characterSets: CHARACTER_SET_VALUES,
  messageTypes: {},
  msisdn: 'e164',
  emailField: 'email',
  content: eachChannel(() => '/body/content'),
  contentNames: {},
  referenceName: 'handbill',
  validityDigits: 3,
  response: {
    messageId: MESSAGE_ID_POINTERS,
    messageIdRequired: false,
    error: ERROR_POINTERS,
    failed: [],
    accept: 'json',
    recipients: LIST_POINTERS,
    refusedRecipients: REFUSED_LISTS,
    recipientAddress: ADDRESS_POINTERS,
    recipientId: ['/messageId', '/message_id', '/message_uuid', '/id', '/message/id', '/uuid'],
    recipientFailed: [],
    recipientError: ENTRY_ERROR_POINTERS,
    recipientStatus: { at: [], refused: [], accepted: [] },
  },
  unsupportedChannel: {
    statuses: [],
    // About the recipient, every one: `unsupported-channel` of an API that means the value of `channel` would be none.
    codes: [
      'channel-not-supported',
      'unsupported-channel',
      'channel-unsupported',
      'channel-not-supported-by-recipient',
      'recipient-channel-not-supported',
      'recipient-invalid-channel-identity',
      'recipient-not-reachable-on-channel',
      'no-channels-left',
      'not-rcs-enabled',
      'rcs-not-supported',
      'rcs-not-enabled',
    ],
    codeAt: [
      '/code',
      '/errorCode',
      '/error_code',
      '/reason',
      '/error/code',
      '/error/errorCode',
      '/error/reason',
      '/error/name',
      '/error',
      '/errors/0/code',
      '/errors/0/errorCode',
      '/errors/0/reason',
      '/requestError/code',
      '/requestError/serviceException/messageId',
      '/status/name',
      '/type',
    ],
  },
  tooLargeStatuses: [413],
  retryStatuses: [],
  idempotencyHeader: null,
};

/** Every channel has a value on the wire. */
export function wireChannels(written: Partial<Record<Channel, string>> = {}): Readonly<Record<Channel, string>> {
  return eachChannel((channel) => written[channel] ?? CHANNEL_TABLE[channel].wire);
}

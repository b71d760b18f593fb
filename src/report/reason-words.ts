import { DEFER_WORDS, type OutcomeState, type ReasonWords, SKIP_WORDS } from '../model.ts';

/** Continues a sentence; empty for an unknown word, from a ledger of another version. */
export function reasonWords(reason: string): string {
  return Object.hasOwn(REASON_WORDS, reason) ? (REASON_WORDS[reason]?.means ?? '') : '';
}

/** Advice for recipients with this outcome and reason, in a sentence; empty for an unknown word. */
export function reasonAdvice(reason: string, outcome: OutcomeState): string {
  // Whatever the reason: send nothing again before a person knows whether the message arrived.
  if (outcome === 'in-doubt') return DOUBT;
  return Object.hasOwn(REASON_WORDS, reason) ? (REASON_WORDS[reason]?.advice ?? '') : '';
}

const NOTHING = 'Nothing to do.';
const RUN_AGAIN = 'Run again.';
const NETWORK = 'Look at the network and the address of the API, then run again.';
const DOUBT = 'Find out from the provider, then `handbill doubt resolve`.';

/** Rules have theirs next to their names, in model/decision.ts. */
export const REASON_WORDS: Readonly<Record<string, ReasonWords>> = {
  ...SKIP_WORDS,
  ...DEFER_WORDS,
  // nothing was sent
  dns: { means: 'the name of the API was not found', advice: NETWORK },
  connect: { means: 'no connection to the API', advice: NETWORK },
  'connect-timeout': { means: 'the connection came too slowly', advice: NETWORK },
  tls: {
    means: 'the certificate of the API cannot be trusted',
    advice: 'Look at the address, the certificate and the clock, then run again.',
  },
  proxy: { means: 'the proxy refused', advice: 'Look at the settings of the proxy, then run again.' },
  internal: {
    means: 'handbill could not make the request, or not end it',
    advice: 'Report it, with what `handbill report --format jsonl` says of the row.',
  },
  stopped: { means: 'the run was stopped', advice: RUN_AGAIN },
  // in doubt
  crash: { means: 'handbill was killed while the request was in flight', advice: DOUBT },
  write: { means: 'the connection was lost while writing', advice: DOUBT },
  timeout: { means: 'no answer in time', advice: DOUBT },
  'no-response': { means: 'the connection was closed without an answer', advice: DOUBT },
  'bad-response': { means: 'what came is not a whole HTTP answer', advice: DOUBT },
  unrecognised: { means: '2xx response in an unknown format', advice: DOUBT },
  mismatch: { means: 'the answer belongs to another request', advice: DOUBT },
  redirect: {
    means: 'a redirect, which is never followed',
    advice: 'Correct the address of the API; find out from the provider, then `handbill doubt resolve`.',
  },
  // an answer
  refused: {
    means: 'the answer says no, by its words or its code',
    advice: 'Look at what the API said, correct it, then send with `--retry rejected`.',
  },
  'opted-out': {
    means: 'the person has opted out, says the API',
    advice: 'Nothing to do: the address is on the suppression list, unless the message was a test or was redirected.',
  },
  'not-authorised': {
    means: 'the API refuses the key or the account',
    advice: 'Correct the key or the account, then run again.',
  },
  'wrong-address': {
    means: 'that is not the address of the API',
    advice: 'Correct the address of the API, then run again.',
  },
  'rate-limited': {
    means: 'the API kept asking to wait',
    advice: 'Set a lower `rate`, and run again after the time that the API asked for.',
  },
  'unsupported-channel': {
    means: 'cannot receive this channel',
    advice: 'Add a `fallback`, then send with `--retry rejected --allow input-changed`.',
  },
  'fell-back': { means: 'could not receive this channel: the fallback was begun', advice: NOTHING },
  'too-large': {
    means: 'the request was too large: it is sent in parts',
    advice: 'Run again; a lower `send.recipientsPerRequest` saves the detour.',
  },
  status: {
    means: 'the API answered with an error status',
    advice: 'Look at the status and at what the API said, correct it, then send with `--retry rejected`.',
  },
  // entered by a person
  resolved: {
    means: 'resolved by a report or by hand: `doubt list --resolved`',
    advice: 'Nothing to do: `handbill doubt list --resolved` says who and why.',
  },
  resend: { means: '`doubt resolve --resend` was given', advice: RUN_AGAIN },
};

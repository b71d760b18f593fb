/**
 * What a reason means, in half a sentence that fits every outcome it can stand beside; empty for a word that is not
 * known here, as a ledger of another version may hold.
 */
export function reasonWords(reason: string): string {
  return Object.hasOwn(REASON_WORDS, reason) ? (REASON_WORDS[reason] ?? '') : '';
}

export const REASON_WORDS: Readonly<Record<string, string>> = {
  // skipped
  duplicate: 'somebody above has the same key',
  'invalid-address': 'the address is impossible',
  suppressed: 'on the suppression list',
  excluded: 'left out by `where` or `exclude`',
  'frequency-cap': 'got enough messages lately',
  expired: 'not sent to before `send.notAfter`',
  'window-closed': 'its window did not open again in time',
  holdout: 'held out: gets nothing, to compare with',
  'missing-variable': 'an empty cell where the text needs a value',
  'render-error': 'the text cannot be made for it',
  'bad-row': 'the row cannot be read',
  removed: 'the list or the campaign has it no more',
  // deferred
  'winner-undecided': 'waits for the variant that wins the test',
  'outside-window': 'waits until its window opens',
  'zone-unknown': 'waits: the time zone of the recipient is not known',
  'canary-undecided': 'waits for a gate of the canary',
  // nothing was sent
  dns: 'the name of the API was not found',
  connect: 'no connection to the API',
  'connect-timeout': 'the connection came too slowly',
  tls: 'the certificate of the API cannot be trusted',
  proxy: 'the proxy refused',
  internal: 'handbill could not make the request, or not end it',
  stopped: 'the run was stopped',
  // nobody knows
  crash: 'handbill was killed while the request was in flight',
  write: 'the connection was lost while writing',
  timeout: 'no answer in time',
  'no-response': 'the connection was closed without an answer',
  'bad-response': 'what came is not a whole HTTP answer',
  unrecognised: 'a success that is not one of the API',
  redirect: 'a redirect, which is never followed',
  // an answer
  refused: 'refused inside an answer that says success',
  'not-authorised': 'the API refuses the key or the account',
  'wrong-address': 'that is not the address of the API',
  'rate-limited': 'the API kept asking to wait',
  'unsupported-channel': 'cannot receive this channel',
  'fell-back': 'could not receive this channel: the fallback was begun',
  'too-large': 'the request was too large: it is sent in parts',
  status: 'the API answered with an error status',
  // what somebody said
  resolved: 'somebody looked it up: `doubt list --resolved`',
  resend: 'somebody asked to send once more',
};

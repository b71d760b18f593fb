/**
 * What a reason means, in half a sentence that fits every outcome with this reason; empty for a word that is not
 * known here, as a ledger of another version may hold.
 */
export function reasonWords(reason: string): string {
  return Object.hasOwn(REASON_WORDS, reason) ? (REASON_WORDS[reason] ?? '') : '';
}

export const REASON_WORDS: Readonly<Record<string, string>> = {
  // skipped
  duplicate: 'duplicate of an earlier line',
  'invalid-address': 'not a valid address',
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
  // in doubt
  crash: 'handbill was killed while the request was in flight',
  write: 'the connection was lost while writing',
  timeout: 'no answer in time',
  'no-response': 'the connection was closed without an answer',
  'bad-response': 'what came is not a whole HTTP answer',
  unrecognised: '2xx response in an unknown format',
  mismatch: 'the answer belongs to another request',
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
  // entered by a person
  resolved: 'resolved by a report or by hand: `doubt list --resolved`',
  resend: '`doubt resolve --resend` was given',
};

/**
 * What to do about a reason, in a sentence; empty where the word is not known here. docs/report.md says
 * the same at more length.
 */
export function reasonAdvice(reason: string): string {
  return Object.hasOwn(REASON_ADVICE, reason) ? (REASON_ADVICE[reason] ?? '') : '';
}

const NOTHING = 'Nothing to do.';
const WAIT = 'Run again later, or once with `--wait`.';
const RUN_AGAIN = 'Run again.';
const NETWORK = 'Look at the network and the address of the API, then run again.';
const DOUBT = 'Find out from the provider, then `handbill doubt resolve`.';

export const REASON_ADVICE: Readonly<Record<string, string>> = {
  // skipped
  duplicate: 'Nothing to do: the first row counts.',
  'invalid-address': 'Correct the address in the list.',
  suppressed: 'Nothing to do, unless it is there by mistake: `handbill suppress list`.',
  excluded: 'Nothing to do: `handbill preview` says which condition or campaign it was.',
  'frequency-cap': NOTHING,
  expired: 'Nothing to do: stale is worse than never.',
  'window-closed': 'Nothing to do: stale is worse than never.',
  holdout: NOTHING,
  'missing-variable': 'Fill the cell, or give the template a `default`.',
  'render-error': 'Correct the row or the template: `handbill validate` names both.',
  'bad-row': 'Correct the row in the list.',
  removed: NOTHING,
  // deferred
  'winner-undecided': 'Name the winner with `--winner`, or run again once the test is over.',
  'outside-window': WAIT,
  'zone-unknown': 'Add a column with the zone (`recipients.timeZone`), or set `send.window.unknown`.',
  'canary-undecided': WAIT,
  // nothing was sent
  dns: NETWORK,
  connect: NETWORK,
  'connect-timeout': NETWORK,
  tls: 'Look at the address, the certificate and the clock, then run again.',
  proxy: 'Look at the settings of the proxy, then run again.',
  internal: 'Report it, with what `handbill report --format jsonl` says of the row.',
  stopped: RUN_AGAIN,
  // in doubt
  crash: DOUBT,
  write: DOUBT,
  timeout: DOUBT,
  'no-response': DOUBT,
  'bad-response': DOUBT,
  unrecognised: DOUBT,
  mismatch: DOUBT,
  redirect: 'Correct the address of the API; find out from the provider, then `handbill doubt resolve`.',
  // an answer
  refused: 'Look at what the API said, correct it, then send with `--retry-rejected`.',
  'not-authorised': 'Correct the key or the account, then run again.',
  'wrong-address': 'Correct the address of the API, then run again.',
  'rate-limited': 'Set a lower `send.rate`, then send with `--retry-rejected`.',
  'unsupported-channel': 'Add a `fallback`, then send with `--retry-rejected` and `--amend`.',
  'fell-back': NOTHING,
  'too-large': 'Run again; a lower `send.recipientsPerRequest` saves the detour.',
  status: 'Look at the status and at what the API said, correct it, then send with `--retry-rejected`.',
  // entered by a person
  resolved: 'Nothing to do: `handbill doubt list --resolved` says who and why.',
  resend: RUN_AGAIN,
};

/** How often each kind of event happened. */
export interface Coverage {
  count(kind: string, times?: number): void;
  readonly counts: ReadonlyMap<string, number>;
}

export function createCoverage(): Coverage {
  const counts = new Map<string, number>();
  return {
    count: (kind, times = 1) => counts.set(kind, (counts.get(kind) ?? 0) + times),
    counts,
  };
}

/** As a table with one kind per line. */
export function coverageTable(counts: ReadonlyMap<string, number>): string {
  const rows = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  return rows.map(([kind, count]) => `${String(count).padStart(10)}  ${kind}\n`).join('');
}

/**
 * Kinds that never happened, of those that some 150 histories hold, of those that some thousand hold, or of those that
 * some histories of several campaigns hold.
 */
export function missing(
  counts: ReadonlyMap<string, number>,
  of: 'the usual' | 'everything' | 'rules' | 'all rules',
): string[] {
  const wanted = {
    'the usual': USUAL,
    everything: [...USUAL, ...SELDOM],
    rules: RULES,
    'all rules': [...RULES, ...SELDOM_RULES],
  }[of];
  return wanted.filter((kind) => !counts.has(kind));
}

/** What is between commas; a line may end after one. */
function kinds(text: string): readonly string[] {
  return text.trim().split(/,\s+/);
}

const USUAL = kinds(`
  Retry-After, clock set between starts, clock set while sending, commit:amend, commit:beginLoad, commit:commit,
  commit:defer, commit:discardLoad, commit:finish, commit:load, commit:open, commit:pause, commit:reopenRejected,
  commit:finishLoad, commit:setWinner, commit:skip, commit:start, commit:suppress, connect:dns, connect:ok,
  connect:proxy, connect:refused, connect:slow, connect:timeout, doubt resolved, ended:finished, ended:halted,
  ended:interrupted, ended:partial, ending:killed, ending:nothing-to-do, ending:refused 2 clock,
  ending:refused 2 list-too-short, ending:refused 2 not-confirmed, ending:refused 2 other-provider,
  ending:refused 7 ledger-write, ending:sent, fault in:commit, fault:busy begin, fault:full commit,
  fell back by report, halt:doubt, halt:ledger, halt:paused, halt:wrong-address, history, interrupt,
  interrupt:second, list accepted, kill:after commit, kill:after start, kill:answered, kill:any moment,
  kill:before commit, kill:before start, kill:between claim and post, kill:ready, kill:received, step begun,
  step claimed, move:accepted>rejected, move:claimed>accepted, move:claimed>failed, move:claimed>in-doubt,
  move:claimed>pending, move:claimed>rejected, move:deferred>pending, move:failed>pending, move:in-doubt>accepted,
  move:pending>claimed, move:pending>deferred, move:pending>failed, move:pending>skipped, move:rejected>pending,
  one id of two providers, one lane after too many retries, ordered again, post:accepted, post:broken, post:early,
  post:half-answer, post:partial, post:refused, post:silent, post:throttled, post:timed-out, post:too-large,
  post:unavailable, post:unreceived, post:unstarted, post:unsupported, post:unsupported-2xx, post:says-busy,
  post:says-refused, posted, posted to several, provider:infobip, provider:messages-v2, provider:twilio,
  received:record, received:resolve, renamed:with-id, renamed:without-id, receiver killed:after commit,
  receiver killed:before commit, receiver killed:before settling, replayed in another order, retry, scene:fallback,
  scene:plain, scene:shared, scene:tested, server:doubtful, server:down, server:good, server:mixed, server:refusing,
  server:throttling, server:unreachable, server:usual, server:wrong, several commits, start,
  suppressed while sending, taken back, taken over, told again, told:START, told:STOP, told:delivery, told:yes,
  two at a time, winner named`);

const SELDOM = kinds(`
  commit:resolve, connect:invalid, connect:tls, ending:refused 2 input-changed, ending:refused 2 invalid-address,
  ending:refused 2 too-late, ending:refused 7 ledger-unusable, fault in:amend, fault in:beginLoad, fault in:finish,
  fault in:load, fault in:finishLoad, fault in:start, fault:corrupt commit, fault:full begin, fault:io-fsync begin,
  fault:io-fsync commit, fault:io-fsync sync, fault:io-write begin, fault:io-write commit, fault:readonly commit,
  halt:api-down, halt:invalid-request, halt:not-authorised, halt:not-the-api, halt:refusals, halt:throttled,
  halt:tls, kill:after amend, kill:after beginLoad, kill:after finish, kill:after load, kill:after open,
  kill:after reopenRejected, kill:after finishLoad, kill:before amend, kill:before beginLoad,
  kill:before discardLoad, kill:before finish, kill:before load, kill:before open, kill:before reopenRejected,
  kill:before finishLoad, move:in-doubt>accepted, move:in-doubt>rejected, ordered:pending>in-doubt,
  post:accepted-empty, post:cannot, post:captive, post:cut-2xx, post:doubtful-4xx, post:html, post:moved,
  post:not-authorised, opted out by an answer, post:redirected, post:says-account, post:says-opted-out,
  post:says-unclear, post:strange-status, post:throttled-long, post:unrecognised, post:wrong-address,
  received after a kill`);

const RULES = kinds(`
  canary step passed, commit:amend, ending:killed, ending:refused 2 over-budget,
  ending:refused 2 too-many-recipients, halt:canary, halt:over-budget, history of several campaigns, interrupt,
  kill:any moment, move:claimed>accepted, move:claimed>in-doubt, move:pending>skipped, opted out:hash,
  opted out:other, opted out:own, over:canary, over:finished, over:partial, receiver killed:after commit,
  follow-up claimed, rule:canary-undecided, rule:excluded, rule:expired, rule:follow-up-later, rule:fenced,
  rule:frequency-cap, rule:no-follow-up, rule:outside-window, rule:suppressed, rule:unreachable, rule:window-closed,
  rule:zone-unknown, ruled post, sent from a stand-in, several at a time, spent of a budget,
  suppressed while sending, told again, told:START, told:STOP, told:delivery`);

const SELDOM_RULES = kinds(`
  posted about another topic, doubt resolved, fell back by report, move:accepted>rejected, purged`);

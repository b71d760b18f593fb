import { edit, type Mutant, mutant } from './mutant.ts';

const MATCH = 'src/ledger/events.ts';
const ANSWERED = 'src/ledger/replies.ts';
const EVENTS = 'src/ledger/events.ts';
const EVIDENCE = 'src/ledger/evidence.ts';
const SETTLE = 'src/send/deliveries.ts';
const UNREACHED = 'src/send/deliveries.ts';
const COMMITS = 'src/ledger/commits.ts';
const OPT_OUTS = 'src/ledger/replies.ts';
const PREPARE = 'src/send/prepare.ts';

const held = (only: string) => ({ in: 'ledger/events.test.ts', only });
const about = (only: string) => ({ in: 'ledger/topics.test.ts', only });
const resolved = (only: string) => ({ in: 'ledger/evidence.test.ts', only });

/** Histories with a server that reports and people who write back. */
const HISTORIES = { in: 'simulate/simulate.test.ts' };

const DOUBTFUL = `(recipients.state = 'in-doubt'
    OR ((recipients.state = 'pending' OR recipients.state = 'deferred') AND resolved_by = 'resend'))`;

const MONEY = { in: 'send/reported-money.test.ts' };

/** Events: reports that are stored twice, are about another recipient, or have an effect that they must not have. */
export const CAME_BACK: readonly Mutant[] = [
  mutant('fallback-of-no-variant', {
    planted: 'a fallback that a report begins has no variant',
    ...edit('src/ledger/schema.ts', "'pending', NEW.variant)", "'pending', NULL)"),
    proof: MONEY,
  }),
  mutant('accepted-before-the-fallback-for-nothing', {
    planted: 'a message that a report lets fall back costs nothing, although the API accepted it',
    ...edit('src/report/record.ts', ' || byReport === true;', " || (byReport === true && outcome !== 'rejected');"),
    proof: MONEY,
  }),
  mutant('event-held-twice', {
    planted: 'an event that is sent again is another event',
    ...edit(EVENTS, 'JSON.stringify(identityOf(event))', 'JSON.stringify([performance.now(), ...identityOf(event)])'),
    proof: held('are held once'),
  }),
  mutant('event-remembered-for-one-environment', {
    planted: 'a signed request that is posted to another environment is another event',
    ...edit(EVENTS, 'if (alsoIn.length > 0 && ', 'if (alsoIn.length < 0 && '),
    proof: held('are held once for the environments'),
  }),
  mutant('request-ids-of-each-environment', {
    planted: 'the id of a request is remembered for the environment that it came to alone',
    ...edit('src/webhook/receive.ts', '    bySecret.set(secret, ids);\n', ''),
    proof: { in: 'cli/environments.test.ts', only: 'an id that came with another body' },
  }),
  mutant('fold-of-the-last-event', {
    planted: 'the state of a message is what was said of it last',
    ...edit('src/report/fold-delivery.ts', 'if (best === null || isAbove(fact, best)) best = fact;', 'best = fact;'),
    proof: { in: 'report/fold-delivery.test.ts' },
  }),
  mutant('stop-is-kept-for-reading', {
    planted: 'a reply that opts out is stored, and its sender is sent to all the same',
    ...edit(EVENTS, "if (meaning === 'opt-out') optOut(event.from, 'reply');", "if (meaning === 'opt-out') continue;"),
    proof: HISTORIES,
  }),
  mutant('start-always-lifts', {
    planted: 'a reply that opts in takes back an opt-out, whatever the project says',
    ...edit(EVENTS, 'else if (startLifts && lift(event.from,', 'else if (lift(event.from,'),
    proof: HISTORIES,
  }),
  mutant('start-lifts-complaints', {
    planted: 'a reply that opts in lifts an entry that a person put on the list',
    ...edit(OPT_OUTS, "WHERE address = ?1 AND source = 'reply'", 'WHERE address = ?1'),
    proof: held('is not lifted by START where a person'),
  }),
  mutant('stop-about-the-newest-only', {
    planted: 'as soon as one STOP is known to be about a topic, another one that is not yet joined counts for nothing',
    file: OPT_OUTS,
    was: "sender = ?1 AND run IS NULL AND coalesce(reviewed_as, meaning) = 'opt-out')",
    is: "sender = ?1 AND sender = '')",
    proof: about('does not take back what another STOP'),
  }),
  mutant('start-lifts-other-topics', {
    planted: 'a START about one topic takes back a STOP about another',
    file: OPT_OUTS,
    was: " OR topic = '' OR topic = ?2)`;",
    is: ' OR ?2 IS NOT NULL)`;',
    proof: about('is taken back by a START about the same topic'),
  }),
  mutant('stop-before-its-message-is-known', {
    planted: 'a STOP counts for nothing until the message that it answers is found',
    ...edit('src/ledger/suppressions.ts', "AND (topic = '' OR topic = '?' OR", "AND (topic = '' OR"),
    proof: about('is about everything until it is known'),
  }),
  mutant('essential-whatever-the-entry', {
    planted: 'what is essential goes to people whose entry another person made, too',
    file: 'src/ledger/suppressions.ts',
    was: "AND (:topic <> 'essential' OR source <> 'reply')",
    is: "AND :topic <> 'essential'",
    proof: about('of a reply does not keep anyone'),
  }),
  mutant('cap-of-every-topic', {
    planted: 'a cap within a topic counts the messages about all others',
    file: 'src/ledger/contact-history.ts',
    was: 'topic === undefined || source.topic === topic',
    is: 'topic !== undefined || source.topic !== topic',
    proof: about('counts the messages of campaigns with the same topic'),
  }),
  mutant('reply-hides-a-complaint', {
    planted:
      'a reply that came first decides whether an opt-out can be taken back, not what the provider reports since',
    ...edit(OPT_OUTS, " OR (suppressions.source = 'reply' AND excluded.source <> 'reply')", ''),
    proof: HISTORIES,
  }),
  mutant('resolved-without-looking', {
    planted: 'a doubt that a person resolved meanwhile is resolved again',
    ...edit(EVIDENCE, ` AND attempts = ?8 AND ${DOUBTFUL}`, ' AND attempts = ?8'),
    proof: resolved('is taken by one of two'),
  }),
  mutant('resolved-whatever-the-attempt', {
    planted: 'a doubt of another attempt than the one that was looked at is resolved',
    ...edit(EVIDENCE, ' AND key = ?7 AND attempts = ?8', ' AND key = ?7 AND ?8 > 0'),
    proof: resolved('is of that attempt'),
  }),
  mutant('resolved-by-another-environment', {
    planted: 'references do not say which environment they are of',
    ...edit('src/plan/expand.ts', '[environment, campaign, occurrence, channel,', '[campaign, occurrence, channel,'),
    proof: resolved('another environment'),
  }),
  mutant('resend-not-spared', {
    planted: 'a recipient who is to be sent to again is, although a report says that they have it',
    ...edit(EVIDENCE, DOUBTFUL, "recipients.state = 'in-doubt'"),
    proof: resolved('spares a recipient'),
  }),
  mutant('quoted-text-of-another', {
    planted: 'a report that quotes a text ends a doubt although another message with that text was sent',
    ...edit(SETTLE, 'return events.hasOther(row,', 'return row.row < 0 && events.hasOther(row,'),
    proof: resolved('another message to the same address'),
  }),
  mutant('report-of-a-whole-request', {
    planted: 'a report about one recipient is taken for one about all that share an id of the API',
    ...edit(MATCH, "reference !== message.reference) return 'reference';", "reference === '') return null;"),
    proof: resolved('is about one recipient'),
  }),
  mutant('report-of-another-account', {
    planted: 'a report of another environment, whose messages have the same ids, counts',
    ...edit(MATCH, "if (environment !== message.environment) return 'environment';\n", ''),
    proof: resolved('for another environment'),
  }),
  mutant('report-about-another-recipient', {
    planted: 'a report that names another address than that of the message counts',
    ...edit(MATCH, 'isAnother(address, message.to)) return', 'isAnother(address, address)) return'),
    proof: resolved('that names another recipient'),
  }),
  mutant('report-from-before', {
    planted: 'a report that is older than the message counts',
    ...edit(MATCH, 'saidAtMs < message.claimedAtMs - SKEW_MS', 'saidAtMs < SKEW_MS'),
    proof: resolved('an hour before the message'),
  }),
  mutant('report-forgotten-with-another', {
    planted: 'a purge takes away reports of another environment whose messages have the same ids',
    ...edit('src/ledger/purge.ts', 'message_id = ? AND environment = ?', 'message_id = ? AND ? IS NOT NULL'),
    proof: resolved('a purge of one leaves the other'),
  }),
  mutant('reply-to-another-account', {
    planted: 'a reply of another environment is taken for an answer to a message of this one',
    file: ANSWERED,
    was: 'environment === found.environment ? [own, any] : [any]',
    is: "environment === '?' ? [any] : [own, any]",
    proof: { in: 'ledger/replies.test.ts', only: 'of the environment that it came in for' },
  }),
  mutant('contact-not-opted-out', {
    planted: 'an opt-out for an unnamed environment spares the contact whose number it came from',
    ...edit(ANSWERED, 'bestOf(reply.any)', 'bestOf(reply.own)'),
    proof: { in: 'ledger/replies.test.ts', only: 'to opt out suppresses the contact too' },
  }),
  mutant('in-doubt-after-a-kill', {
    planted: 'reports that were held when the receiver was killed resolve nothing until the next one comes',
    file: PREPARE,
    was: '  resolveByReports(ledger, nowMs);\n  const found = findWinnerOf(options, run);',
    is: '  const found = findWinnerOf(options, run);',
    proof: { in: 'send/left-in-doubt.test.ts', only: 'K2' },
  }),
  mutant('fallback-for-delivered', {
    planted: 'a recipient who has the message all the same gets the fallback too',
    file: UNREACHED,
    was: "some(({ state, cause }) => hasArrived(state) || cause === 'opted-out')) return false;",
    is: "some(({ cause }) => cause === 'opted-out')) return false;",
    proof: { in: 'send/reported.test.ts', only: 'it arrived all the same' },
  }),
  mutant('fallback-for-any-failure', {
    planted: 'a recipient who could not be delivered to for any reason gets the fallback',
    file: UNREACHED,
    was: "reports.at(-1)?.some(({ state, cause }) => state === 'undeliverable' ||",
    is: "reports.at(-1)?.some(({ state, cause }) => state === 'undeliverable' || state === 'failed' ||",
    proof: HISTORIES,
  }),
  mutant('fallback-without-a-claim', {
    planted: 'a message falls back for a report, and the next step is posted without being claimed',
    ...edit(COMMITS, '? steps.claim(run, list, request, now)', '? byReport || steps.claim(run, list, request, now)'),
    proof: { in: 'send/reported.test.ts', only: 'makes the fallback due' },
  }),
  mutant('fell-back-and-left-out', {
    planted: 'a recipient who opted out when the fallback is claimed loses the message that was accepted',
    file: COMMITS,
    was: "if (listed || suppressed.get(to, now, run.topic ?? '') !== undefined) return 'suppressed';",
    is: "if (listed) return 'suppressed';",
    proof: resolved('leaves it as it was'),
  }),
];

import type { Mutant } from './mutant.ts';

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
  {
    name: 'fallback-of-no-variant',
    planted: 'a fallback that a report begins has no variant',
    file: 'src/ledger/schema.ts',
    was: "'pending', NEW.variant)",
    is: "'pending', NULL)",
    proof: MONEY,
  },
  {
    name: 'accepted-before-the-fallback-for-nothing',
    planted: 'a message that a report lets fall back costs nothing, although the API accepted it',
    file: 'src/report/record.ts',
    was: ' || byReport === true;',
    is: " || (byReport === true && outcome !== 'rejected');",
    proof: MONEY,
  },
  {
    name: 'event-held-twice',
    planted: 'an event that is sent again is another event',
    file: EVENTS,
    was: 'JSON.stringify(identityOf(event))',
    is: 'JSON.stringify([performance.now(), ...identityOf(event)])',
    proof: held('are held once'),
  },
  {
    name: 'event-remembered-for-one-environment',
    planted: 'a signed request that is posted to another environment is another event',
    file: EVENTS,
    was: 'if (alsoIn.length > 0 && ',
    is: 'if (alsoIn.length < 0 && ',
    proof: held('are held once for the environments'),
  },
  {
    name: 'request-ids-of-each-environment',
    planted: 'the id of a request is remembered for the environment that it came to alone',
    file: 'src/webhook/receive.ts',
    was: '    bySecret.set(secret, ids);\n',
    is: '',
    proof: { in: 'cli/environments.test.ts', only: 'an id that came with another body' },
  },
  {
    name: 'fold-of-the-last-event',
    planted: 'the state of a message is what was said of it last',
    file: 'src/report/fold-delivery.ts',
    was: 'if (best === null || isAbove(fact, best)) best = fact;',
    is: 'best = fact;',
    proof: { in: 'report/fold-delivery.test.ts' },
  },
  {
    name: 'stop-is-kept-for-reading',
    planted: 'a reply that opts out is stored, and its sender is sent to all the same',
    file: EVENTS,
    was: "if (meaning === 'opt-out') optOut(event.from, 'reply');",
    is: "if (meaning === 'opt-out') continue;",
    proof: HISTORIES,
  },
  {
    name: 'start-always-lifts',
    planted: 'a reply that opts in takes back an opt-out, whatever the project says',
    file: EVENTS,
    was: 'else if (startLifts && lift(event.from,',
    is: 'else if (lift(event.from,',
    proof: HISTORIES,
  },
  {
    name: 'start-lifts-complaints',
    planted: 'a reply that opts in lifts an entry that a person put on the list',
    file: OPT_OUTS,
    was: "WHERE address = ?1 AND source = 'reply'",
    is: 'WHERE address = ?1',
    proof: held('is not lifted by START where a person'),
  },
  {
    name: 'stop-about-the-newest-only',
    planted: 'as soon as one STOP is known to be about a topic, another one that is not yet joined counts for nothing',
    file: OPT_OUTS,
    was: "sender = ?1 AND run IS NULL AND coalesce(reviewed_as, meaning) = 'opt-out')",
    is: "sender = ?1 AND sender = '')",
    proof: about('does not take back what another STOP'),
  },
  {
    name: 'start-lifts-other-topics',
    planted: 'a START about one topic takes back a STOP about another',
    file: OPT_OUTS,
    was: " OR topic = '' OR topic = ?2)`;",
    is: ' OR ?2 IS NOT NULL)`;',
    proof: about('is taken back by a START about the same topic'),
  },
  {
    name: 'stop-before-its-message-is-known',
    planted: 'a STOP counts for nothing until the message that it answers is found',
    file: 'src/ledger/suppressions.ts',
    was: "AND (topic = '' OR topic = '?' OR",
    is: "AND (topic = '' OR",
    proof: about('is about everything until it is known'),
  },
  {
    name: 'essential-whatever-the-entry',
    planted: 'what is essential goes to people whose entry another person made, too',
    file: 'src/ledger/suppressions.ts',
    was: "AND (:topic <> 'essential' OR source <> 'reply')",
    is: "AND :topic <> 'essential'",
    proof: about('of a reply does not keep anyone'),
  },
  {
    name: 'cap-of-every-topic',
    planted: 'a cap within a topic counts the messages about all others',
    file: 'src/ledger/contact-history.ts',
    was: 'topic === undefined || source.topic === topic',
    is: 'topic !== undefined || source.topic !== topic',
    proof: about('counts the messages of campaigns with the same topic'),
  },
  {
    name: 'reply-hides-a-complaint',
    planted:
      'a reply that came first decides whether an opt-out can be taken back, not what the provider reports since',
    file: OPT_OUTS,
    was: " OR (suppressions.source = 'reply' AND excluded.source <> 'reply')",
    is: '',
    proof: HISTORIES,
  },
  {
    name: 'resolved-without-looking',
    planted: 'a doubt that a person resolved meanwhile is resolved again',
    file: EVIDENCE,
    was: ` AND attempts = ?8 AND ${DOUBTFUL}`,
    is: ' AND attempts = ?8',
    proof: resolved('is taken by one of two'),
  },
  {
    name: 'resolved-whatever-the-attempt',
    planted: 'a doubt of another attempt than the one that was looked at is resolved',
    file: EVIDENCE,
    was: ' AND key = ?7 AND attempts = ?8',
    is: ' AND key = ?7 AND ?8 > 0',
    proof: resolved('is of that attempt'),
  },
  {
    name: 'resolved-by-another-environment',
    planted: 'references do not say which environment they are of',
    file: 'src/plan/expand.ts',
    was: '[environment, campaign, occurrence, channel,',
    is: '[campaign, occurrence, channel,',
    proof: resolved('another environment'),
  },
  {
    name: 'resend-not-spared',
    planted: 'a recipient who is to be sent to again is, although a report says that they have it',
    file: EVIDENCE,
    was: DOUBTFUL,
    is: "recipients.state = 'in-doubt'",
    proof: resolved('spares a recipient'),
  },
  {
    name: 'quoted-text-of-another',
    planted: 'a report that quotes a text ends a doubt although another message with that text was sent',
    file: SETTLE,
    was: 'return events.hasOther(row,',
    is: 'return row.row < 0 && events.hasOther(row,',
    proof: resolved('another message to the same address'),
  },
  {
    name: 'report-of-a-whole-request',
    planted: 'a report about one recipient is taken for one about all that share an id of the API',
    file: MATCH,
    was: "reference !== message.reference) return 'reference';",
    is: "reference === '') return null;",
    proof: resolved('is about one recipient'),
  },
  {
    name: 'report-of-another-account',
    planted: 'a report of another environment, whose messages have the same ids, counts',
    file: MATCH,
    was: "if (environment !== message.environment) return 'environment';\n",
    is: '',
    proof: resolved('for another environment'),
  },
  {
    name: 'report-about-another-recipient',
    planted: 'a report that names another address than that of the message counts',
    file: MATCH,
    was: 'isAnother(address, message.to)) return',
    is: 'isAnother(address, address)) return',
    proof: resolved('that names another recipient'),
  },
  {
    name: 'report-from-before',
    planted: 'a report that is older than the message counts',
    file: MATCH,
    was: 'saidAtMs < message.claimedAtMs - SKEW_MS',
    is: 'saidAtMs < SKEW_MS',
    proof: resolved('an hour before the message'),
  },
  {
    name: 'report-forgotten-with-another',
    planted: 'a purge takes away reports of another environment whose messages have the same ids',
    file: 'src/ledger/purge.ts',
    was: 'message_id = ? AND environment = ?',
    is: 'message_id = ? AND ? IS NOT NULL',
    proof: resolved('a purge of one leaves the other'),
  },
  {
    name: 'reply-to-another-account',
    planted: 'a reply of another environment is taken for an answer to a message of this one',
    file: ANSWERED,
    was: 'environment === found.environment ? [own, any] : [any]',
    is: "environment === '?' ? [any] : [own, any]",
    proof: { in: 'ledger/replies.test.ts', only: 'of the environment that it came in for' },
  },
  {
    name: 'contact-not-opted-out',
    planted: 'an opt-out for an unnamed environment spares the contact whose number it came from',
    file: ANSWERED,
    was: 'bestOf(reply.any)',
    is: 'bestOf(reply.own)',
    proof: { in: 'ledger/replies.test.ts', only: 'to opt out suppresses the contact too' },
  },
  {
    name: 'in-doubt-after-a-kill',
    planted: 'reports that were held when the receiver was killed resolve nothing until the next one comes',
    file: PREPARE,
    was: '  resolveByReports(ledger, nowMs);\n  const found = findWinnerOf(options, run);',
    is: '  const found = findWinnerOf(options, run);',
    proof: { in: 'send/left-in-doubt.test.ts', only: 'K2' },
  },
  {
    name: 'fallback-for-delivered',
    planted: 'a recipient who has the message all the same gets the fallback too',
    file: UNREACHED,
    was: 'if (standing === null || hasArrived(standing.state)) return false;',
    is: 'if (standing === null) return false;',
    proof: { in: 'send/reported.test.ts', only: 'it arrived all the same' },
  },
  {
    name: 'fallback-for-any-failure',
    planted: 'a recipient who could not be delivered to for any reason gets the fallback',
    file: UNREACHED,
    was: "return reports.some(({ state, cause }) => state === 'undeliverable' ||",
    is: "return reports.some(({ state, cause }) => state === 'undeliverable' || state === 'failed' ||",
    proof: HISTORIES,
  },
  {
    name: 'fallback-without-a-claim',
    planted: 'a message falls back for a report, and the next step is posted without being claimed',
    file: COMMITS,
    was: '? steps.claim(run, list, request, now)',
    is: '? byReport || steps.claim(run, list, request, now)',
    proof: { in: 'send/reported.test.ts', only: 'makes the fallback due' },
  },
  {
    name: 'fell-back-and-left-out',
    planted: 'a recipient who opted out when the fallback is claimed loses the message that was accepted',
    file: COMMITS,
    was: "if (listed || suppressed.get(to, now, topicOf(run)) !== undefined) return 'suppressed';",
    is: "if (listed) return 'suppressed';",
    proof: resolved('leaves it as it was'),
  },
];

import type { Mutant } from './mutant.ts';

const MATCH = 'src/ledger/events.ts';
const ANSWERED = 'src/ledger/replies.ts';
const EVENTS = 'src/ledger/events.ts';
const EVIDENCE = 'src/ledger/evidence.ts';
const SETTLE = 'src/run/evidence.ts';
const UNREACHED = 'src/run/deliveries.ts';
const COMMITS = 'src/ledger/commits.ts';
const OPT_OUTS = 'src/ledger/replies.ts';
const PREPARE = 'src/run/prepare.ts';

const held = (only: string) => ({ in: 'ledger/events.test.ts', only });
const settled = (only: string) => ({ in: 'ledger/evidence.test.ts', only });

/** Histories with a server that reports and people who write back. */
const HISTORIES = { in: 'simulate/simulate.test.ts' };

const DOUBTFUL = `(recipients.state = 'in-doubt'
    OR ((recipients.state = 'pending' OR recipients.state = 'deferred') AND resolved_by = 'resend'))`;

/** What came back: reports that are held twice, are about somebody else, or have an effect that they must not have. */
export const CAME_BACK: readonly Mutant[] = [
  {
    name: 'event-held-twice',
    planted: 'an event that is sent again is another event',
    edits: [
      {
        file: EVENTS,
        was: 'JSON.stringify(identityOf(event))',
        is: 'JSON.stringify([performance.now(), ...identityOf(event)])',
      },
    ],
    proof: held('are held once'),
  },
  {
    name: 'fold-of-the-last-event',
    planted: 'the state of a message is what was said of it last',
    edits: [
      {
        file: 'src/report/fold-delivery.ts',
        was: 'if (best === null || isAbove(fact, best)) best = fact;',
        is: 'best = fact;',
      },
    ],
    proof: { in: 'delivery/fold.test.ts' },
  },
  {
    name: 'stop-is-kept-for-reading',
    planted: 'a reply that opts out is held, and whoever wrote it is sent to all the same',
    edits: [
      {
        file: EVENTS,
        was: "if (meaning === 'opt-out') optOut(event.from, 'reply');",
        is: "if (meaning === 'opt-out') continue;",
      },
    ],
    proof: HISTORIES,
  },
  {
    name: 'start-always-lifts',
    planted: 'a reply that opts in takes back an opt-out, whatever the project says',
    edits: [{ file: EVENTS, was: 'else if (startLifts && lift(event.from))', is: 'else if (lift(event.from))' }],
    proof: HISTORIES,
  },
  {
    name: 'start-lifts-complaints',
    planted: 'a reply that opts in takes back what somebody else put on the list',
    edits: [{ file: OPT_OUTS, was: "WHERE address = ? AND source = 'reply'`;", is: 'WHERE address = ?`;' }],
    proof: held('is not lifted by START where somebody'),
  },
  {
    name: 'reply-hides-a-complaint',
    planted:
      'a reply that came first decides whether an opt-out can be taken back, not what the provider reports since',
    edits: [{ file: OPT_OUTS, was: " OR (suppressions.source = 'reply' AND excluded.source = 'report')", is: '' }],
    proof: HISTORIES,
  },
  {
    name: 'settled-without-looking',
    planted: 'a doubt that somebody resolved meanwhile is settled all the same',
    edits: [{ file: EVIDENCE, was: ` AND attempts = ?8 AND ${DOUBTFUL}`, is: ' AND attempts = ?8' }],
    proof: settled('is taken by one of two'),
  },
  {
    name: 'settled-whatever-the-attempt',
    planted: 'a doubt of another attempt than the one that was looked at is settled',
    edits: [{ file: EVIDENCE, was: ' AND key = ?7 AND attempts = ?8', is: ' AND key = ?7 AND ?8 > 0' }],
    proof: settled('is of that attempt'),
  },
  {
    name: 'settled-by-another-environment',
    planted: 'references do not say which environment they are of',
    edits: [
      {
        file: 'src/plan/reference.ts',
        was: '[environment, campaign, occurrence, channel,',
        is: '[campaign, occurrence, channel,',
      },
    ],
    proof: settled('another environment'),
  },
  {
    name: 'resend-not-spared',
    planted: 'whoever is to be sent to again is, although a report says that they have it',
    edits: [{ file: EVIDENCE, was: DOUBTFUL, is: "recipients.state = 'in-doubt'" }],
    proof: settled('spares whoever'),
  },
  {
    name: 'quoted-text-of-another',
    planted: 'a report that quotes a text ends a doubt although another message with that text was sent',
    edits: [{ file: SETTLE, was: 'return events.hasOther(row,', is: 'return row.row < 0 && events.hasOther(row,' }],
    proof: settled('another message to the same address'),
  },
  {
    name: 'report-of-a-whole-request',
    planted: 'a report about one recipient is taken for one about all to whom the API gave one id',
    edits: [
      {
        file: MATCH,
        was: "reference !== message.reference) return 'reference';",
        is: "reference === '') return null;",
      },
    ],
    proof: settled('is about one recipient'),
  },
  {
    name: 'report-of-another-account',
    planted: 'a report of another environment, whose messages have the same ids, counts',
    edits: [
      { file: MATCH, was: "if (environment !== message.environment && !isProven) return 'environment';\n", is: '' },
    ],
    proof: settled('for another environment'),
  },
  {
    name: 'report-about-somebody-else',
    planted: 'a report that names another address than that of the message counts',
    edits: [{ file: MATCH, was: 'isAnother(address, message.to)) return', is: 'isAnother(address, address)) return' }],
    proof: settled('that names somebody else'),
  },
  {
    name: 'report-from-before',
    planted: 'a report that is older than the message counts',
    edits: [{ file: MATCH, was: 'saidAtMs < message.claimedAtMs - SKEW_MS', is: 'saidAtMs < SKEW_MS' }],
    proof: settled('an hour before the message'),
  },
  {
    name: 'report-forgotten-with-another',
    planted: 'a purge takes away reports of another environment whose messages have the same ids',
    edits: [
      {
        file: 'src/ledger/purge.ts',
        was: 'message_id = ? AND environment = ?',
        is: 'message_id = ? AND ? IS NOT NULL',
      },
    ],
    proof: settled('a purge of one leaves the other'),
  },
  {
    name: 'reply-to-another-account',
    planted: 'a reply of another environment is taken for an answer to a message of this one',
    edits: [
      {
        file: ANSWERED,
        was: 'environment === found.environment ? [own, any] : [any]',
        is: "environment === '?' ? [any] : [own, any]",
      },
    ],
    proof: { in: 'ledger/replies.test.ts', only: 'of the environment that it came in for' },
  },
  {
    name: 'contact-not-opted-out',
    planted: 'an opt-out for an environment that nobody names spares the contact whose number it came from',
    edits: [{ file: ANSWERED, was: 'bestOf(reply.any)', is: 'bestOf(reply.own)' }],
    proof: { in: 'ledger/replies.test.ts', only: 'to opt out suppresses the contact too' },
  },
  {
    name: 'unsettled-after-a-kill',
    planted: 'reports that were held when the receiver was killed settle nothing until the next one comes',
    edits: [
      { file: PREPARE, was: '  settleByReports(ledger, nowMs);\n  const { notAfterMs }', is: '  const { notAfterMs }' },
    ],
    proof: { in: 'run/left-in-doubt.test.ts', only: 'K2' },
  },
  {
    name: 'fallback-for-delivered',
    planted: 'whoever has the message all the same gets the fallback too',
    edits: [
      {
        file: UNREACHED,
        was: 'if (standing === null || hasArrived(standing.state)) return false;',
        is: 'if (standing === null) return false;',
      },
    ],
    proof: { in: 'run/reported.test.ts', only: 'it arrived all the same' },
  },
  {
    name: 'fallback-for-any-failure',
    planted: 'whoever could not be delivered to for any reason gets the fallback',
    edits: [
      {
        file: UNREACHED,
        was: "return reports.some(({ state, cause }) => state === 'undeliverable' ||",
        is: "return reports.some(({ state, cause }) => state === 'undeliverable' || state === 'failed' ||",
      },
    ],
    proof: HISTORIES,
  },
  {
    name: 'fallback-without-a-claim',
    planted: 'a message falls back for a report, and the next leg is posted without being claimed',
    edits: [
      {
        file: COMMITS,
        was: '? legs.claim(run, list, request, now)',
        is: '? byReport || legs.claim(run, list, request, now)',
      },
    ],
    proof: { in: 'run/reported.test.ts', only: 'makes the fallback due' },
  },
  {
    name: 'fell-back-and-left-out',
    planted: 'whoever opted out when the fallback is claimed loses the message that was accepted',
    edits: [
      {
        file: COMMITS,
        was: "if (listed || suppressed.get(to, now) !== undefined) return 'suppressed';",
        is: "if (listed) return 'suppressed';",
      },
    ],
    proof: settled('K3: leaves it as it was'),
  },
];

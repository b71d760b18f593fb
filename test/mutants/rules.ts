import type { Edit, Mutant } from './mutant.ts';

const REACH_ROWS = 'src/ledger/contact-history.ts';
const FOLLOW_UP = 'src/plan/follow-up.ts';
const FEED = 'src/send/producer.ts';
const WINDOW = 'src/plan/window.ts';

/** Several campaigns in simulated histories, against rules that are worked out the slow way. */
const SEVERAL = { in: 'simulate/several/several.test.ts', only: 'no rule is broken' };

const LISTS_AGAIN = { in: 'send/lists-again.test.ts' };

/** Says otherwise who was reached by a run that has ended, and by one that goes on. */
const reachedIf = (is: string): readonly Edit[] =>
  ['row > ?3 AND (', 'SELECT ('].map((before) => ({
    file: REACH_ROWS,
    was: `${before}state = 'accepted' OR state = 'in-doubt' OR`,
    is: `${before}${is}`,
  }));

/** Who, when and how much: rules that are asked at the wrong time, of the wrong people, or not at all. */
export const RULES: readonly Mutant[] = [
  {
    name: 'follow-up-too-soon',
    planted: 'a follow-up goes to all recipients as soon as the first message is old enough',
    edits: [
      {
        file: FOLLOW_UP,
        was: 'return atMs > nowMs ? later(atMs) : null;',
        is: 'return atMs < 0 ? later(atMs) : null;',
      },
    ],
    proof: { in: 'send/follow-up.test.ts', only: 'too young' },
  },
  {
    name: 'follow-up-given-up-after-a-failure',
    planted: 'a message before that failed is never waited for, although its run will send it',
    edits: [{ file: FOLLOW_UP, was: "'deferred', 'failed']);", is: "'deferred']);" }],
    proof: { in: 'send/follow-up.test.ts', only: 'whose message failed' },
  },
  {
    name: 'follow-up-at-once-in-the-simulation',
    planted: 'a follow-up waits for the message before, and no longer',
    edits: [
      {
        file: FOLLOW_UP,
        was: '(OPEN.has(sent.state) ? nowMs : sent.claimedAtMs) + wait.ms;',
        is: 'OPEN.has(sent.state) ? nowMs + wait.ms : sent.claimedAtMs;',
      },
    ],
    proof: SEVERAL,
  },
  {
    name: 'follow-up-despite-a-late-reply',
    planted: 'a reply that comes while the follow-up goes out is not seen',
    edits: [
      {
        file: 'src/ledger/commits.ts',
        was: 'if (followUp !== null) return followUp;',
        is: "if (followUp !== null && key === '') return followUp;",
      },
    ],
    proof: { in: 'send/follow-up.test.ts', only: 'while the follow-up is going out' },
  },
  {
    name: 'follow-up-beside-the-message-again',
    planted: 'a follow-up is claimed although the message before has just gone out again',
    edits: [
      {
        file: FOLLOW_UP,
        was: "dueMs(sent, nowMs) > nowMs ? 'follow-up-later' : null;",
        is: "dueMs(sent, nowMs) < 0 ? 'follow-up-later' : null;",
      },
    ],
    proof: { in: 'send/follow-up.test.ts', only: 'goes out again' },
  },
  {
    name: 'follow-up-to-last-year',
    planted: 'a new follow-up follows runs from before it was there',
    edits: [
      {
        file: 'src/schedule/choose.ts',
        was: 'if (createdAtMs < seenMs || firstMs',
        is: 'if (createdAtMs < 0 * seenMs || firstMs',
      },
    ],
    proof: { in: 'send/follow-up.test.ts', only: 'first seen' },
  },
  {
    name: 'follow-up-to-the-refused',
    planted: 'a follow-up goes to people that the message before did not reach',
    edits: [
      {
        file: FOLLOW_UP,
        was: 'return state !== null && hasEnded(state)',
        is: "return state === 'read' && hasEnded(state)",
      },
    ],
    proof: { in: 'send/follow-up.test.ts', only: 'not reached' },
  },
  {
    name: 'capped-for-a-while',
    planted: 'a recipient at the cap is deferred, and tried again by the next start',
    edits: [
      {
        file: FEED,
        was: "if (decision.decision === 'skip') return skip(pending, decision.reason, aside, context);",
        is: `if (decision.decision === 'skip' && decision.reason === 'frequency-cap') {
    aside.deferred.push({ row, step, reason: decision.reason });
    return null;
  }
  if (decision.decision === 'skip') return skip(pending, decision.reason, aside, context);`,
      },
    ],
    proof: SEVERAL,
  },
  {
    name: 'excluded-without-a-message',
    planted: 'a recipient who was left out of another campaign counts as reached by it',
    edits: reachedIf("state = 'skipped' OR state = 'accepted' OR state = 'in-doubt' OR"),
    proof: SEVERAL,
  },
  {
    name: 'reached-without-doubts',
    planted: 'a recipient in doubt in another campaign is sent to as if nothing had been sent',
    edits: reachedIf("state = 'accepted' OR"),
    proof: SEVERAL,
  },
  {
    name: 'lists-as-they-were',
    planted: 'suppression lists are what they were when the command began, however long it waited since',
    edits: [{ file: 'src/send/start.ts', was: 'current = await readAll();', is: 'await readAll();' }],
    proof: LISTS_AGAIN,
  },
  {
    name: 'claims-by-the-first-lists',
    planted: 'lists are read again behind a pause, but claims ask the ones that were read first',
    edits: [
      {
        file: 'src/send/work.ts',
        was: '=> lists.current.rules.isListed(',
        is: '=> start.suppressions.rules.isListed(',
      },
    ],
    proof: LISTS_AGAIN,
  },
  {
    name: 'one-zone-of-several',
    planted: 'of the zones that a number may be in, the first one decides',
    edits: [
      {
        file: WINDOW,
        was: '(zone === null ? zones : [zone]).map',
        is: '(zone === null ? zones.slice(0, 1) : [zone]).map',
      },
    ],
    proof: SEVERAL,
  },
  {
    name: 'day-of-the-latest-zone',
    planted: 'of the zones that a number may be in, the one whose day began last decides about the cap',
    edits: [{ file: 'src/plan/contact-history.ts', was: 'if (beginMs < sinceMs)', is: 'if (beginMs > sinceMs)' }],
    proof: { in: 'send/frequency.test.ts' },
  },
  {
    name: 'gate-without-judgement',
    planted: 'the gate of a canary is passed whatever became of the step',
    edits: [
      {
        file: 'src/send/canary.ts',
        was: 'const shut = steps.judge();',
        is: 'const shut = steps.judge() === null ? null : (null as string | null);',
      },
    ],
    proof: SEVERAL,
  },
  {
    name: 'canary-from-zero',
    planted: 'each start of a canary begins with its first step',
    edits: [{ file: 'src/send/canary.ts', was: 'let put = triedBefore;', is: 'let put = 0;' }],
    proof: SEVERAL,
  },
  {
    name: 'limit-without-those-who-wait',
    planted: 'a recipient who waits for a window does not count towards limits.maxRecipients',
    edits: [
      {
        file: 'src/plan/limits.ts',
        was: 'reduce((sum, count) => sum + count, estimate.send);',
        is: 'reduce((sum) => sum, estimate.send);',
      },
    ],
    proof: SEVERAL,
  },
  {
    name: 'sent-elsewhere-by-yes',
    planted: '--yes sends an occurrence to recipients who have it from another environment',
    edits: [
      {
        file: 'src/operations/send.ts',
        was: 'async ({ allows }) => allows.length === 0',
        is: 'async () => true',
      },
    ],
    proof: { in: 'send/elsewhere.test.ts', only: 'a warning of preview' },
  },
  {
    name: 'sent-elsewhere-not-asked-of-the-rest',
    planted: 'a run that continues does not ask which of the rest have the occurrence from another environment',
    edits: [
      {
        file: 'src/send/prepare.ts',
        was: "elsewhere.add({ decision: 'send', to, key });",
        is: 'void [to, key, elsewhere];',
      },
    ],
    proof: { in: 'send/elsewhere.test.ts', only: 'where that is allowed' },
  },
  {
    name: 'sent-elsewhere-looked-once',
    planted: 'another environment that begins the occurrence while the question waits is not noticed',
    edits: [
      {
        file: 'src/send/prepare.ts',
        was: 'if (begun !== null) throw refuse(begun);',
        is: 'void begun;',
      },
    ],
    proof: { in: 'send/elsewhere.test.ts', only: 'while the question waits' },
  },
  {
    name: 'stand-in-of-its-own',
    planted:
      'an environment that stands in for another one has runs of its own: recipients get the occurrence from both',
    edits: [
      {
        file: 'src/send/prepare.ts',
        was: 'return { environment: plan.environment.identity, campaign',
        is: 'return { environment: plan.environment.name, campaign',
      },
    ],
    proof: { in: 'ledger/stand-in.test.ts', only: 'each recipient once' },
  },
  {
    name: 'stand-in-unasked',
    planted: 'a run is taken over from the environment that an environment stands in for, and no question is asked',
    edits: [
      {
        file: 'src/plan/elsewhere.ts',
        was: 'if (run.starts === 0 || run.postedFrom === standInOf(environment)) return null;',
        is: 'if (run.starts >= 0) return null;',
      },
    ],
    proof: { in: 'ledger/stand-in.test.ts', only: 'each recipient once' },
  },
  {
    name: 'stand-in-not-in-the-row',
    planted:
      'a claim does not keep which environment posts the message: reports of another provider are joined to it by its id',
    edits: [
      {
        file: 'src/ledger/commits.ts',
        was: 'to, attempts ?? null, topicOf(run), run.postedFrom, run.version) === 1);',
        is: 'to, attempts ?? null, topicOf(run), null, run.version) === 1);',
      },
    ],
    proof: { in: 'ledger/stand-in.test.ts', only: 'a report is joined' },
  },
  {
    name: 'erased-in-doubt',
    planted: 'a person is erased while it is in doubt whether they have the message, which could then be sent again',
    edits: [
      {
        file: 'src/operations/erase.ts',
        was: "outcomes.some(({ outcome }) => outcome === 'in-doubt')",
        is: "outcomes.some(({ outcome }) => outcome === 'deferred')",
      },
    ],
    proof: { in: 'cli/person-erase.test.ts', only: 'is in doubt' },
  },
  {
    name: 'erased-and-sent-to-again',
    planted: 'a person who was erased is not suppressed',
    edits: [
      {
        file: 'src/ledger/erase.ts',
        was: "statement(KEEP_HASH)(hashed, '', keyId, null, 'user', now);",
        is: "if (now < 0) statement(KEEP_HASH)(hashed, '', keyId, null, 'user', now);",
      },
    ],
    proof: { in: 'cli/person-erase.test.ts', only: 'is not sent to again' },
  },
  {
    name: 'erased-but-for-the-other-address',
    planted: 'of a person with a corrected address, only the address that was named is suppressed',
    edits: [
      {
        file: 'src/operations/erase.ts',
        was: '[...new Set([address, ...outcomes.flatMap(addressesOf)])]',
        is: '[...new Set([address, ...outcomes.slice(0, 0).flatMap(addressesOf)])]',
      },
    ],
    proof: { in: 'cli/person-erase.test.ts', only: 'takes the other addresses' },
  },
  {
    name: 'attempts-outlive-an-erasure',
    planted: 'what the API said about a person who was erased stays with the attempts',
    edits: [
      {
        file: 'src/ledger/erase.ts',
        was: '    statement(FORGET_ATTEMPTS)(run.number, JSON.stringify(keys));\n',
        is: '',
      },
    ],
    proof: { in: 'ledger/erase.test.ts' },
  },
  {
    name: 'attempts-outlive-a-purge',
    planted: 'what the API said about recipients stays with the attempts of a run that was purged',
    edits: [{ file: 'src/ledger/purge.ts', was: ', connection.statement(FORGET_ATTEMPTS)];', is: '];' }],
    proof: { in: 'ledger/purge.test.ts' },
  },
  {
    name: 'purged-run-continued',
    planted: 'a run whose recipients are not known any more is continued',
    edits: [{ file: 'src/send/prepare.ts', was: '  refusePurged(existing);\n', is: '' }],
    proof: { in: 'cli/purge.test.ts' },
  },
  {
    name: 'repeated-hour-fires-twice',
    planted: 'a schedule fires at both 01:30 of the night on which the clock goes back',
    edits: [
      {
        file: 'src/util/cron.ts',
        was: 'const isRepeat = everyHour ?',
        is: 'const isRepeat = everyHour || fields.length > 0 ?',
      },
    ],
    proof: { in: 'schedule/cron.test.ts' },
  },
  {
    name: 'planner-approves',
    planted: 'the planner is enough to approve a plan',
    edits: [
      {
        file: 'src/approval/judge.ts',
        was: 'counted.length > rule.approvals;',
        is: 'counted.length >= rule.approvals;',
      },
    ],
    proof: { in: 'approval/judge.test.ts', only: 'an attack' },
  },
  {
    name: 'fallback-to-any-country',
    planted: 'a fallback goes to a number of a country that the environment does not send to',
    edits: [
      {
        file: 'src/plan/decide.ts',
        was: 'within(countries === null ? rest : rest.filter((one) => otherCountry(countries, one) === null))',
        is: 'within(rest)',
      },
    ],
    proof: { in: 'cli/countries.test.ts', only: 'no fallback' },
  },
  {
    name: 'no-country-is-any-country',
    planted: 'numbers that belong to no country are sent to where only some countries are',
    edits: [
      {
        file: 'src/plan/skip-rules.ts',
        was: '(country !== null && countries.includes(country))',
        is: '(country === null || countries.includes(country))',
      },
    ],
    proof: { in: 'cli/countries.test.ts', only: 'of no country' },
  },
  {
    name: 'fence-is-not-a-rule',
    planted: 'recipients outside of `only` are decided about as all others, and first noticed at the claim',
    edits: [
      {
        file: 'src/plan/skip-rules.ts',
        was: '(fence.reaches(to) ? null : ',
        is: "(fence.reaches(to) || to !== '' ? null : ",
      },
    ],
    proof: { in: 'cli/fences.test.ts', only: 'is said by preview' },
  },
  {
    name: 'claim-does-not-ask-the-fence',
    planted: 'a claim does not ask whether an address is within `only`',
    edits: [
      {
        file: 'src/ledger/commits.ts',
        was: "if (rules?.isFenced?.(to) === true) return 'fenced';",
        is: "if (rules?.isFenced?.(to) === undefined && to === '') return 'fenced';",
      },
    ],
    proof: { in: 'ledger/commits.test.ts', only: 'a fence of the environment' },
  },
  {
    name: 'fallback-outside-the-fence',
    planted: 'the address of a fallback is not asked about',
    edits: [
      {
        file: 'src/plan/decide.ts',
        was: 'fence === null ? messages :',
        is: 'fence !== null ? messages :',
      },
      {
        file: 'src/plan/decide.ts',
        was: 'messages.filter(({ to }) => fence.reaches(to))',
        is: "messages.filter(({ to }) => to !== '')",
      },
    ],
    proof: { in: 'cli/fences.test.ts', only: 'no fallback goes outside' },
  },
  {
    name: 'empty-fence-lets-all-through',
    planted: 'a list of the only addresses that has none is no error',
    edits: [
      {
        file: 'src/plan/fence.ts',
        was: 'if (faults.length > 0) throw',
        is: 'if (addresses.size === 0) return null;\n  if (faults.length > 0) throw',
      },
    ],
    proof: { in: 'cli/fences.test.ts', only: 'a file without rows' },
  },
  {
    name: 'no-last-look',
    planted: 'the bytes of a request are not compared with `only`',
    edits: [
      {
        file: 'src/send/deliver.ts',
        was: 'if (fence === null || fence.holds(request)) return false;',
        is: "if (fence === null || request.body !== '') return false;",
      },
    ],
    proof: { in: 'cli/fences.test.ts', only: 'where every rule before it failed' },
  },
  {
    name: 'condition-by-chance',
    planted: 'recipients who meet the condition of a variant are divided like all others',
    edits: [
      {
        file: 'src/plan/decide.ts',
        was: "branches.find(({ segment: own }) => own.judge(recipient.values) === 'in')?.index ?? null;",
        is: "branches.find(({ segment: own }) => own.judge(recipient.values) === 'unreadable')?.index ?? null;",
      },
    ],
    proof: { in: 'plan/variants-where.test.ts', only: 'the first that holds' },
  },
  {
    name: 'conditional-variant-drawn',
    planted: 'a variant with a condition is given to others by chance',
    edits: [
      {
        file: 'src/plan/assign.ts',
        was: '(where === null ? [index] : [])',
        is: '(where === undefined ? [] : [index])',
      },
      { file: 'src/plan/assign.ts', was: 'variants.filter(({ where = null }) => where === null)', is: 'variants' },
    ],
    proof: { in: 'plan/variants-where.test.ts', only: 'the first that holds' },
  },
  {
    name: 'not-redirected',
    planted: 'requests go to their recipients although the environment redirects them',
    edits: [
      {
        file: 'src/plan/expand.ts',
        was: 'found = { form, to: redirect?.get(address) };',
        is: "found = { form, to: address === 'msisdn' ? undefined : redirect?.get(address) };",
      },
    ],
    proof: { in: 'cli/fences.test.ts', only: 'sends to the one address' },
  },
  {
    name: 'stop-of-a-tester-for-the-recipient',
    planted: 'a STOP in reply to a redirected message suppresses the person that it was meant for',
    edits: [
      {
        file: 'src/ledger/replies.ts',
        was: "role === 'redirect' && sha256",
        is: "role === 'template' && sha256",
      },
    ],
    proof: { in: 'cli/fences.test.ts', only: 'a STOP of the tester' },
  },
];

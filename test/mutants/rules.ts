import { type Edit, edit, type Mutant, mutant } from './mutant.ts';

const REACH_ROWS = 'src/ledger/contact-history.ts';
const FOLLOW_UP = 'src/plan/follow-up.ts';
const FEED = 'src/send/producer.ts';
const WINDOW = 'src/plan/window.ts';

/** Several campaigns in simulated histories, against rules that are worked out the slow way. */
const SEVERAL = { in: 'simulate/several/several.test.ts', only: 'no rule is broken' };

const LISTS_AGAIN = { in: 'send/lists-again.test.ts' };

/** Says otherwise who was reached. */
const reachedIf = (is: string): Edit => edit(REACH_ROWS, "(state = 'accepted' OR state = 'in-doubt' OR", `(${is}`);

/** Who, when and how much: rules that are asked at the wrong time, of the wrong people, or not at all. */
export const RULES: readonly Mutant[] = [
  mutant('follow-up-too-soon', {
    planted: 'a follow-up goes to all recipients as soon as the first message is old enough',
    ...edit(FOLLOW_UP, 'return atMs > nowMs ? later(atMs) : null;', 'return atMs < 0 ? later(atMs) : null;'),
    proof: { in: 'send/follow-up.test.ts', only: 'too young' },
  }),
  mutant('follow-up-given-up-after-a-failure', {
    planted: 'a message before that failed is never waited for, although its run will send it',
    ...edit(FOLLOW_UP, "'deferred', 'failed']);", "'deferred']);"),
    proof: { in: 'send/follow-up.test.ts', only: 'whose message failed' },
  }),
  mutant('follow-up-at-once-in-the-simulation', {
    planted: 'a follow-up waits for the message before, and no longer',
    ...edit(FOLLOW_UP, ': sent.claimedAtMs + wait.ms;', ': sent.claimedAtMs;'),
    proof: SEVERAL,
  }),
  mutant('follow-up-before-its-message', {
    planted: 'with no wait, a follow-up goes out although the message before is still to go out',
    ...edit(FOLLOW_UP, 'nowMs + Math.max(wait.ms, LEAST_MS)', 'nowMs + wait.ms'),
    proof: { in: 'send/follow-up.test.ts', only: 'with no wait either' },
  }),
  mutant('follow-up-despite-a-late-reply', {
    planted: 'a reply that comes while the follow-up goes out is not seen',
    file: 'src/ledger/commits.ts',
    was: 'if (followUp !== null) return followUp;',
    is: "if (followUp !== null && key === '') return followUp;",
    proof: { in: 'send/follow-up.test.ts', only: 'while the follow-up is going out' },
  }),
  mutant('follow-up-beside-the-message-again', {
    planted: 'a follow-up is claimed although the message before has just gone out again',
    file: FOLLOW_UP,
    was: "dueMs(sent, nowMs) > nowMs ? 'follow-up-later' : null;",
    is: "dueMs(sent, nowMs) < 0 ? 'follow-up-later' : null;",
    proof: { in: 'send/follow-up.test.ts', only: 'goes out again' },
  }),
  mutant('follow-up-to-last-year', {
    planted: 'a new follow-up follows runs from before it was there',
    ...edit('src/schedule/choose.ts', 'if (createdAtMs < seenMs || firstMs', 'if (createdAtMs < 0 * seenMs || firstMs'),
    proof: { in: 'send/follow-up.test.ts', only: 'first seen' },
  }),
  mutant('follow-up-to-the-refused', {
    planted: 'a follow-up goes to people that the message before did not reach',
    ...edit(FOLLOW_UP, 'return state !== null && hasEnded(state)', "return state === 'read' && hasEnded(state)"),
    proof: { in: 'send/follow-up.test.ts', only: 'not reached' },
  }),
  mutant('unreachable-at-plan-time', {
    planted: 'how often an address failed is asked when the list is read, and not in the claim',
    file: 'src/ledger/commits.ts',
    was: 'if (reach?.unreachable?.has(to) === true)',
    is: "if (reach?.unreachable?.has('') === true)",
    proof: { in: 'send/unreachable.test.ts', only: 'again in the claim' },
  }),
  mutant('unreachable-never-asked', {
    planted: 'an address that failed for good is sent to, whatever the rule says',
    file: 'src/plan/unreachable.ts',
    was: 'const rule = asked === null ?',
    is: 'const rule = asked === null || asked.after > 0 ?',
    proof: SEVERAL,
  }),
  mutant('unreachable-despite-a-delivery', {
    planted: 'an address that failed for good is left out, although a message arrived there since',
    file: 'src/ledger/unreachable.ts',
    was: 'AND NOT EXISTS (SELECT 1 FROM delivery_reports AS arrived',
    is: 'AND 0 = (SELECT 0 * count(*) FROM delivery_reports AS arrived',
    proof: SEVERAL,
  }),
  mutant('unreachable-after-one-failure', {
    planted: 'an address is left out after its first failure, however many the rule allows',
    ...edit('src/ledger/unreachable.ts', ') >= ?3', ') >= 0 * ?3 + 1'),
    proof: SEVERAL,
  }),
  {
    name: 'capped-for-a-while',
    planted: 'a recipient at the cap is deferred, and tried again by the next start',
    file: FEED,
    was: "if (decision.decision === 'skip') return skip(pending, decision.reason, aside, context);",
    is: `if (decision.decision === 'skip' && decision.reason === 'frequency-cap') {
    aside.deferred.push({ row, step, reason: decision.reason });
    return null;
  }
  if (decision.decision === 'skip') return skip(pending, decision.reason, aside, context);`,
    proof: SEVERAL,
  },
  mutant('excluded-without-a-message', {
    planted: 'a recipient who was left out of another campaign counts as reached by it',
    ...reachedIf("state = 'skipped' OR state = 'accepted' OR state = 'in-doubt' OR"),
    proof: SEVERAL,
  }),
  mutant('reached-without-doubts', {
    planted: 'a recipient in doubt in another campaign is sent to as if nothing had been sent',
    ...reachedIf("state = 'accepted' OR"),
    proof: SEVERAL,
  }),
  mutant('not-reached-while-a-second-message-waits', {
    planted: 'a recipient who waits for a second message counts as one who had none',
    ...edit(REACH_ROWS, "OR resolved_by = 'resend-changed')`;", 'AND list < 0)`;'),
    proof: { in: 'ledger/reach.test.ts' },
  }),
  mutant('lists-as-they-were', {
    planted: 'suppression lists are what they were when the command began, however long it waited since',
    ...edit('src/send/start.ts', 'current = await readAll();', 'await readAll();'),
    proof: LISTS_AGAIN,
  }),
  mutant('claims-by-the-first-lists', {
    planted: 'lists are read again behind a pause, but claims ask the ones that were read first',
    ...edit('src/send/work.ts', '=> lists.current.rules.isListed(', '=> start.suppressions.rules.isListed('),
    proof: LISTS_AGAIN,
  }),
  mutant('one-zone-of-several', {
    planted: 'of the zones that a number may be in, the first one decides',
    ...edit(WINDOW, '(zone === null ? zones : [zone]).map', '(zone === null ? zones.slice(0, 1) : [zone]).map'),
    proof: SEVERAL,
  }),
  mutant('day-of-the-latest-zone', {
    planted: 'of the zones that a number may be in, the one whose day began last decides about the cap',
    ...edit('src/plan/contact-history.ts', 'if (there.beginsMs < sinceMs)', 'if (there.beginsMs > sinceMs)'),
    proof: { in: 'send/frequency.test.ts' },
  }),
  mutant('gate-without-judgement', {
    planted: 'the gate of a canary is passed whatever became of the step',
    file: 'src/send/canary.ts',
    was: 'const shut = steps.judge();',
    is: 'const shut = steps.judge() === null ? null : (null as string | null);',
    proof: SEVERAL,
  }),
  mutant('canary-from-zero', {
    planted: 'each start of a canary begins with its first step',
    ...edit('src/send/canary.ts', 'let put = triedBefore;', 'let put = 0;'),
    proof: SEVERAL,
  }),
  mutant('limit-without-those-who-wait', {
    planted: 'a recipient who waits for a window does not count towards limits.maxRecipients',
    file: 'src/plan/limits.ts',
    was: 'reduce((sum, count) => sum + count, estimate.send);',
    is: 'reduce((sum) => sum, estimate.send);',
    proof: SEVERAL,
  }),
  mutant('sent-elsewhere-by-yes', {
    planted: '--yes sends an occurrence to recipients who have it from another environment',
    ...edit('src/operations/send.ts', 'async ({ allows }) => allows.length === 0', 'async () => true'),
    proof: { in: 'send/elsewhere.test.ts', only: 'a warning of preview' },
  }),
  mutant('sent-elsewhere-not-asked-of-the-rest', {
    planted: 'a run that continues does not ask which of the rest have the occurrence from another environment',
    ...edit('src/send/prepare.ts', "elsewhere.add({ decision: 'send', to, key });", 'void [to, key, elsewhere];'),
    proof: { in: 'send/elsewhere.test.ts', only: 'where that is allowed' },
  }),
  mutant('sent-elsewhere-looked-once', {
    planted: 'another environment that begins the occurrence while the question waits is not noticed',
    ...edit('src/send/prepare.ts', 'if (begun !== null) throw refuse(begun);', 'void begun;'),
    proof: { in: 'send/elsewhere.test.ts', only: 'while the question waits' },
  }),
  mutant('stand-in-of-its-own', {
    planted:
      'an environment that stands in for another one has runs of its own: recipients get the occurrence from both',
    file: 'src/send/prepare.ts',
    was: 'return { environment: plan.environment.identity, campaign',
    is: 'return { environment: plan.environment.name, campaign',
    proof: { in: 'ledger/stand-in.test.ts', only: 'each recipient once' },
  }),
  mutant('stand-in-unasked', {
    planted: 'a run is taken over from the environment that an environment stands in for, and no question is asked',
    file: 'src/plan/elsewhere.ts',
    was: 'if (run.starts === 0 || run.postedFrom === standInOf(environment)) return null;',
    is: 'if (run.starts >= 0) return null;',
    proof: { in: 'ledger/stand-in.test.ts', only: 'each recipient once' },
  }),
  mutant('stand-in-not-in-the-row', {
    planted:
      'a claim does not keep which environment posts the message: reports of another provider are joined to it by its id',
    file: 'src/ledger/commits.ts',
    was: "to, attempts ?? null, run.topic ?? '', run.postedFrom, run.version) === 1);",
    is: "to, attempts ?? null, run.topic ?? '', null, run.version) === 1);",
    proof: { in: 'ledger/stand-in.test.ts', only: 'a report is joined' },
  }),
  mutant('erased-in-doubt', {
    planted: 'a person is erased while it is in doubt whether they have the message, which could then be sent again',
    file: 'src/operations/erase.ts',
    was: "outcomes.some(({ outcome }) => outcome === 'in-doubt')",
    is: "outcomes.some(({ outcome }) => outcome === 'deferred')",
    proof: { in: 'cli/person-erase.test.ts', only: 'is in doubt' },
  }),
  mutant('erased-and-sent-to-again', {
    planted: 'a person who was erased is not suppressed',
    file: 'src/ledger/erase.ts',
    was: "statement(KEEP_HASH)(hashed, '', keyId, null, 'user', now);",
    is: "if (now < 0) statement(KEEP_HASH)(hashed, '', keyId, null, 'user', now);",
    proof: { in: 'cli/person-erase.test.ts', only: 'is not sent to again' },
  }),
  mutant('erased-but-for-the-other-address', {
    planted: 'of a person with a corrected address, only the address that was named is suppressed',
    file: 'src/operations/erase.ts',
    was: '[...new Set([address, ...outcomes.flatMap(addressesOf)])]',
    is: '[...new Set([address, ...outcomes.slice(0, 0).flatMap(addressesOf)])]',
    proof: { in: 'cli/person-erase.test.ts', only: 'takes the other addresses' },
  }),
  mutant('attempts-outlive-an-erasure', {
    planted: 'what the API said about a person who was erased stays with the attempts',
    ...edit('src/ledger/erase.ts', '    statement(FORGET_ATTEMPTS)(run.number, JSON.stringify(keys));\n', ''),
    proof: { in: 'ledger/erase.test.ts' },
  }),
  mutant('attempts-outlive-a-purge', {
    planted: 'what the API said about recipients stays with the attempts of a run that was purged',
    ...edit('src/ledger/purge.ts', ', connection.statement(FORGET_ATTEMPTS)];', '];'),
    proof: { in: 'ledger/purge.test.ts' },
  }),
  mutant('purged-run-continued', {
    planted: 'a run whose recipients are not known any more is continued',
    ...edit('src/send/prepare.ts', '  refusePurged(existing);\n', ''),
    proof: { in: 'cli/purge.test.ts' },
  }),
  mutant('repeated-hour-fires-twice', {
    planted: 'a schedule fires at both 01:30 of the night on which the clock goes back',
    ...edit('src/util/cron.ts', 'const isRepeat = everyHour ?', 'const isRepeat = everyHour || fields.length > 0 ?'),
    proof: { in: 'schedule/cron.test.ts' },
  }),
  mutant('planner-approves', {
    planted: 'the planner is enough to approve a plan',
    ...edit('src/approval/judge.ts', 'counted.length > rule.approvals;', 'counted.length >= rule.approvals;'),
    proof: { in: 'approval/judge.test.ts', only: 'an attack' },
  }),
  mutant('fallback-to-any-country', {
    planted: 'a fallback goes to a number of a country that the environment does not send to',
    file: 'src/plan/decide.ts',
    was: 'within(countries === null ? rest : rest.filter((one) => otherCountry(countries, one) === null))',
    is: 'within(rest)',
    proof: { in: 'cli/countries.test.ts', only: 'no fallback' },
  }),
  mutant('no-country-is-any-country', {
    planted: 'numbers that belong to no country are sent to where only some countries are',
    file: 'src/plan/skip-rules.ts',
    was: '(country !== null && countries.includes(country))',
    is: '(country === null || countries.includes(country))',
    proof: { in: 'cli/countries.test.ts', only: 'of no country' },
  }),
  mutant('fence-is-not-a-rule', {
    planted: 'recipients outside of `only` are decided about as all others, and first noticed at the claim',
    ...edit('src/plan/skip-rules.ts', '(fence.reaches(to) ? null : ', "(fence.reaches(to) || to !== '' ? null : "),
    proof: { in: 'cli/fences.test.ts', only: 'is said by preview' },
  }),
  mutant('claim-does-not-ask-the-fence', {
    planted: 'a claim does not ask whether an address is within `only`',
    file: 'src/ledger/commits.ts',
    was: "if (rules?.isFenced?.(to) === true) return 'fenced';",
    is: "if (rules?.isFenced?.(to) === undefined && to === '') return 'fenced';",
    proof: { in: 'ledger/commits.test.ts', only: 'a fence of the environment' },
  }),
  mutant('fallback-outside-the-fence', {
    planted: 'the address of a fallback is not asked about',
    edits: [
      edit('src/plan/decide.ts', 'fence === null ? messages :', 'fence !== null ? messages :'),
      {
        file: 'src/plan/decide.ts',
        was: 'messages.filter(({ to }) => fence.reaches(to))',
        is: "messages.filter(({ to }) => to !== '')",
      },
    ],
    proof: { in: 'cli/fences.test.ts', only: 'no fallback goes outside' },
  }),
  mutant('empty-fence-lets-all-through', {
    planted: 'a list of the only addresses that has none is no error',
    file: 'src/plan/fence.ts',
    was: 'if (faults.length > 0) throw',
    is: 'if (addresses.size === 0) return null;\n  if (faults.length > 0) throw',
    proof: { in: 'cli/fences.test.ts', only: 'a file without rows' },
  }),
  mutant('no-last-look', {
    planted: 'the bytes of a request are not compared with `only`',
    file: 'src/send/deliver.ts',
    was: 'if (fence === null || fence.holds(request)) return false;',
    is: "if (fence === null || request.body !== '') return false;",
    proof: { in: 'cli/fences.test.ts', only: 'where every rule before it failed' },
  }),
  mutant('condition-by-chance', {
    planted: 'recipients who meet the condition of a variant are divided like all others',
    file: 'src/plan/decide.ts',
    was: "branches.find(({ segment: own }) => own.judge(recipient.values) === 'in')?.index ?? null",
    is: "branches.find(({ segment: own }) => own.judge(recipient.values) === 'unreadable')?.index ?? null",
    proof: { in: 'plan/variants-where.test.ts', only: 'the first that holds' },
  }),
  mutant('conditional-variant-drawn', {
    planted: 'a variant with a condition is given to others by chance',
    edits: [
      edit('src/plan/assign.ts', '(where === null ? [index] : [])', '(where === undefined ? [] : [index])'),
      { file: 'src/plan/assign.ts', was: 'variants.filter(({ where = null }) => where === null)', is: 'variants' },
    ],
    proof: { in: 'plan/variants-where.test.ts', only: 'the first that holds' },
  }),
  mutant('fallback-of-the-campaign', {
    planted: 'recipients with a variant get the fallback of the campaign',
    file: 'src/plan/compile.ts',
    was: 'fallbacks: fallbacks.flatMap((fallback) => later.get(fallback) ?? []),',
    is: 'fallbacks: campaign.fallbacks.flatMap((fallback, i) => later.get(fallback) ?? later.get(fallbacks[i] ?? fallback) ?? []),',
    proof: { in: 'simulate/simulate.test.ts' },
  }),
  mutant('fallback-of-the-later-winner', {
    planted: 'a fallback that was begun is that of the variant which won since',
    file: 'src/plan/decide.ts',
    was: 'hasOwnFallbacks ? view.variantOf?.(row.row, key)',
    is: 'hasOwnFallbacks && row.row < 0 ? view.variantOf?.(row.row, key)',
    proof: { in: 'faults/winner.test.ts', only: 'stays with the variant' },
  }),
  mutant('one-locale-for-all', {
    planted: 'numbers and dates in the text of a variant are in the locale of the campaign',
    ...edit('src/plan/compile.ts', 'locale: step.locale };', 'locale: ofCampaign.campaign.locale };'),
    proof: { in: 'plan/two-languages.test.ts', only: 'own locale' },
  }),
  mutant('locale-of-the-text-alone', {
    planted:
      'numbers and dates in the content of a variant, such as the subject of an email, are in the locale of the campaign',
    file: 'src/plan/compile.ts',
    was: 'compileContent(step.content, context, required)',
    is: 'compileContent(step.content, ofCampaign, required)',
    proof: { in: 'plan/two-languages.test.ts', only: 'also in its' },
  }),
  mutant('languages-of-all', {
    planted: 'recipients who have a variant count as those of a language without one',
    file: 'src/plan/languages.ts',
    was: '|| conditional.has(first.variant)) return;',
    is: '|| conditional.size === 0) return;',
    proof: { in: 'plan/languages.test.ts', only: 'all but one' },
  }),
  mutant('languages-in-the-order-of-the-list', {
    planted: 'of many languages without a variant, the warning names those that the list has first',
    ...edit('src/plan/languages.ts', '.sort(([, a], [, b]) => b - a)', ''),
    proof: { in: 'plan/languages.test.ts', only: 'most recipients first' },
  }),
  mutant('not-redirected', {
    planted: 'requests go to their recipients although the environment redirects them',
    file: 'src/plan/expand.ts',
    was: 'found = { form, to: redirect?.get(address) };',
    is: "found = { form, to: address === 'msisdn' ? undefined : redirect?.get(address) };",
    proof: { in: 'cli/fences.test.ts', only: 'sends to the one address' },
  }),
  mutant('stop-of-a-tester-for-the-recipient', {
    planted: 'a STOP in reply to a redirected message suppresses the person that it was meant for',
    ...edit('src/ledger/replies.ts', "role === 'redirect' && sha256", "role === 'template' && sha256"),
    proof: { in: 'cli/fences.test.ts', only: 'a STOP of the tester' },
  }),
];

import type { Mutant } from './mutant.ts';

const CARRIERS = 'src/plan/carriers.ts';
const VERDICT = 'src/report/verdict.ts';
const FORECAST = 'src/plan/forecast.ts';

const texts = { in: 'plan/carriers.test.ts' } as const;
const lastTime = { in: 'report/run-before.test.ts' } as const;
const forecasts = { in: 'rehearse/forecasts.test.ts' } as const;

/** Advice and forecasts that are wrong, or that nothing gives. */
export const AHEAD: readonly Mutant[] = [
  {
    name: 'shortener-in-a-longer-name',
    planted: 'a domain that ends as that of a public shortener is taken for it',
    file: 'src/plan/link.ts',
    was: '(?<![\\p{Ll}\\p{Lu}\\p{N}_.@&/-])(?:[a-z0-9-]',
    is: '(?:[a-z0-9-]',
    proof: texts,
  },
  {
    name: 'insecure-link-in-a-query',
    planted: 'an address in the query of another link is taken for a link that a person opens',
    file: CARRIERS,
    was: '/^http:/i.test(link)',
    is: '/http:/i.test(link)',
    proof: texts,
  },
  {
    name: 'indented-lines-are-odd',
    planted: 'blanks that indent a line are warned about',
    file: CARRIERS,
    was: '/[^\\n \\u00a0][ \\u00a0]{2}/',
    is: '/. ?  /s',
    proof: texts,
  },
  {
    name: 'cut-link-but-the-first',
    planted: 'a link that the end of the first part cuts is passed over',
    file: CARRIERS,
    was: 'if (cut !== -1)',
    is: 'if (cut > 0)',
    proof: texts,
  },
  {
    name: 'abbreviations-shout',
    planted: 'abbreviations count as words in capitals',
    file: CARRIERS,
    was: 'length > 3).length < 2',
    is: 'length > 3).length < 0',
    proof: texts,
  },
  {
    name: 'opt-out-in-the-text-alone',
    planted: 'a button that ends a marketing message is no way to opt out',
    file: 'src/plan/opt-out.ts',
    was: '[...texts, ...buttons]',
    is: 'texts',
    proof: { in: 'plan/opt-out.test.ts' },
  },
  {
    name: 'fall-by-chance',
    planted: 'a few refusals more than in the run before are news, however likely they are',
    file: VERDICT,
    was: '.p ?? 1) > LEAST_CHANCE',
    is: '.p ?? 1) > 2 * LEAST_CHANCE ** 0',
    proof: lastTime,
  },
  {
    name: 'rise-is-a-fall',
    planted: 'a run that accepted more than the one before is compared too, the other way round',
    file: VERDICT,
    was: 'then.part / then.whole - now.part / now.whole < LEAST_FALL',
    is: 'now.part / now.whole - then.part / then.whole < LEAST_FALL',
    proof: lastTime,
  },
  {
    name: 'forecast-opens-again-at-once',
    planted: 'the forecast lets a start follow before the one that runs has ended',
    file: FORECAST,
    was: 'const endedMs = turnMs();',
    is: 'const endedMs = beganMs + 0 * turnMs();',
    proof: forecasts,
  },
  {
    name: 'forecast-without-an-end',
    planted: 'the forecast sends to the last of a list after it is too late for them',
    file: FORECAST,
    was: '(Math.min(changesAtMs, lastMs) - beganMs)',
    is: '(Math.min(changesAtMs, lastMs + HORIZON_MS) - beganMs)',
    proof: forecasts,
  },
  {
    name: 'sent-after-its-validity',
    planted: 'a message that waited for its turn goes out when it is no longer valid',
    file: 'src/plan/gate.ts',
    was: ' : startMs + validity.ms);',
    is: ' : startMs + 9 * validity.ms);',
    proof: { in: 'send/late.test.ts', only: 'expires' },
  },
  {
    name: 'fallback-advised-after-its-end',
    planted: 'a fallback stays due when it is too late for it',
    file: 'src/send/deliveries.ts',
    was: 'nowMs < lateAt(key) && fallbacks',
    is: 'nowMs > 0 && fallbacks',
    proof: { in: 'send/reported.test.ts', only: 'nothing advises to send it' },
  },
  {
    name: 'doubt-sent-again-after-its-end',
    planted: 'a doubt is ordered to be sent again when it is too late for a message',
    file: 'src/operations/doubt.ts',
    was: '=> nowMs >= lateAt(key));',
    is: '=> nowMs < 0 * lateAt(key));',
    proof: { in: 'cli/doubt-late.test.ts', only: 'a second message is refused' },
  },
];

import { edit, type Mutant, mutant } from './mutant.ts';

const CARRIERS = 'src/plan/carriers.ts';
const VERDICT = 'src/report/verdict.ts';
const FORECAST = 'src/plan/forecast.ts';

const texts = { in: 'plan/carriers.test.ts' } as const;
const lastTime = { in: 'report/run-before.test.ts' } as const;
const forecasts = { in: 'rehearse/forecasts.test.ts' } as const;

/** Advice and forecasts that are wrong, or that nothing gives. */
export const AHEAD: readonly Mutant[] = [
  mutant('shortener-in-a-longer-name', {
    planted: 'a domain that ends as that of a public shortener is taken for it',
    ...edit('src/plan/link.ts', '(?<![\\p{Ll}\\p{Lu}\\p{N}_.@&/-])(?:[a-z0-9-]', '(?:[a-z0-9-]'),
    proof: texts,
  }),
  mutant('shortener-in-the-first-link', {
    planted: 'a public shortener is found only where it is in the first link of the message',
    ...edit(CARRIERS, ".replace(/^www\\./, ''))) continue;", ".replace(/^www\\./, ''))) return null;"),
    proof: texts,
  }),
  mutant('insecure-link-in-a-query', {
    planted: 'an address in the query of another link is taken for a link that a person opens',
    ...edit(CARRIERS, '/^http:/i.test(link)', '/http:/i.test(link)'),
    proof: texts,
  }),
  mutant('insecure-link-of-the-last', {
    planted: 'of several links that begin with http: the place of the last is named',
    ...edit(CARRIERS, 'links.find(({ link }) => /^http:', 'links.findLast(({ link }) => /^http:'),
    proof: texts,
  }),
  mutant('indented-lines-are-odd', {
    planted: 'blanks that indent a line are warned about',
    ...edit(CARRIERS, '/[^\\n \\u00a0][ \\u00a0]{2}/', '/. ?  /s'),
    proof: texts,
  }),
  mutant('blanks-before-the-last', {
    planted: 'the place of several blanks at the end is that of the last',
    ...edit(CARRIERS, 'text.trimEnd().length', 'text.length - 1'),
    proof: texts,
  }),
  mutant('cut-link-but-the-first', {
    planted: 'a link that the end of the first part cuts is passed over',
    ...edit(CARRIERS, 'if (cut !== -1)', 'if (cut > 0)'),
    proof: texts,
  }),
  mutant('cut-link-that-begins-a-part', {
    planted: 'a link that begins right after the end of a part counts as cut',
    ...edit(CARRIERS, 'at > index &&', 'at >= index &&'),
    proof: texts,
  }),
  mutant('abbreviations-shout', {
    planted: 'abbreviations count as words in capitals',
    ...edit(CARRIERS, 'length > 3).length < 2', 'length > 3).length < 0'),
    proof: texts,
  }),
  mutant('half-in-capitals', {
    planted: 'half of the words in capitals are warned about, not only more than half',
    ...edit(CARRIERS, 'shouted.length * 2 <= cased.length', 'shouted.length * 2 < cased.length'),
    proof: texts,
  }),
  mutant('opt-out-in-the-text-alone', {
    planted: 'a button that ends a marketing message is no way to opt out',
    ...edit('src/plan/opt-out.ts', '[...texts, ...buttons]', 'texts'),
    proof: { in: 'plan/opt-out.test.ts' },
  }),
  mutant('marketing-by-topic-first', {
    planted: 'a type that means marketing says nothing beside a topic of another name',
    file: CARRIERS,
    was: "[topic, messageType].some((words) => MARKETING.test(words ?? ''))",
    is: "MARKETING.test(topic ?? messageType ?? '')",
    proof: texts,
  }),
  mutant('fall-by-chance', {
    planted: 'a few refusals more than in the run before are news, however likely they are',
    ...edit(VERDICT, '.p ?? 1) > LEAST_CHANCE', '.p ?? 1) > 2 * LEAST_CHANCE ** 0'),
    proof: lastTime,
  }),
  mutant('rise-is-a-fall', {
    planted: 'a run that accepted more than the one before is compared too, the other way round',
    file: VERDICT,
    was: 'then.part / then.whole - now.part / now.whole < LEAST_FALL',
    is: 'now.part / now.whole - then.part / then.whole < LEAST_FALL',
    proof: lastTime,
  }),
  mutant('forecast-opens-again-at-once', {
    planted: 'the forecast lets a start follow before the one that runs has ended',
    ...edit(FORECAST, 'const endedMs = turnMs();', 'const endedMs = beganMs + 0 * turnMs();'),
    proof: forecasts,
  }),
  mutant('forecast-without-an-end', {
    planted: 'the forecast sends to the last of a list after it is too late for them',
    file: FORECAST,
    was: '(Math.min(changesAtMs, lastMs) - beganMs)',
    is: '(Math.min(changesAtMs, lastMs + HORIZON_MS) - beganMs)',
    proof: forecasts,
  }),
  mutant('sent-after-its-validity', {
    planted: 'a message that waited for its turn goes out when it is no longer valid',
    ...edit('src/plan/gate.ts', ' : startMs + validity.ms);', ' : startMs + 9 * validity.ms);'),
    proof: { in: 'send/late.test.ts', only: 'expires' },
  }),
  mutant('fallback-advised-after-its-end', {
    planted: 'a fallback stays due when it is too late for it',
    ...edit('src/send/deliveries.ts', 'nowMs < lateAt(key) &&', 'nowMs > 0 &&'),
    proof: { in: 'send/reported.test.ts', only: 'nothing advises to send it' },
  }),
  mutant('doubt-sent-again-after-its-end', {
    planted: 'a doubt is ordered to be sent again when it is too late for a message',
    ...edit('src/operations/doubt.ts', '=> nowMs >= lateAt(key));', '=> nowMs < 0 * lateAt(key));'),
    proof: { in: 'cli/doubt-late.test.ts', only: 'a second message is refused' },
  }),
];

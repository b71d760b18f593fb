import {
  type Commit,
  type Delivery,
  OUTCOMES,
  type OutcomeState,
  type ReplyTotals,
  type Report,
  type RequestFigures,
  type RunState,
  UNMATCHED_REASONS,
  type UnmatchedReason,
} from '../model.ts';
import { capital, countOf } from '../util/words.ts';
import { returnedOf } from './deliveries.ts';
import { totalsKey } from './ends.ts';
import { type Formats, PLAIN } from './locale.ts';
import WORDS from './words.json' with { type: 'json' };

export { countOf, number } from '../util/words.ts';
export { duration, instant, milliseconds, money, percent } from './locale.ts';

export function changedText(sentTo: string, listTo: string | null): string {
  return `sent to ${sentTo}; the list now says ${listTo ?? 'none'}`;
}

type Period = Pick<Report, 'startedAt' | 'finishedAt' | 'activeMs' | 'requests'>;

/** How long a run was sent, in ms, without the time between its starts; null: it goes on, or that is not known. */
export function tookMs({ startedAt, finishedAt, activeMs, requests }: Period): number | null {
  if (finishedAt === null) return null;
  const ms = activeMs ?? Date.parse(finishedAt) - Date.parse(startedAt);
  return ms >= 0 && (activeMs !== undefined || requests.uncountedStarts === undefined) ? ms : null;
}

/** `Started at 9, took 2 min`; of several starts when the last ended, and how long they sent together. */
export function period(report: Period, say: Formats = PLAIN): string {
  const { startedAt, finishedAt, activeMs, requests } = report;
  const ms = tookMs(report);
  const isOne = finishedAt === null || (activeMs === undefined && requests.uncountedStarts === undefined);
  const ended = isOne ? '' : `, ended ${say.instant(finishedAt)}`;
  const took = ms === null ? '' : `, ${isOne ? 'took' : 'sending for'} ${say.duration(ms)}`;
  return `Started ${say.instant(startedAt)}${ended}${took}.`;
}

/** A purge, and guards of the list that a person allowed. */
export function keptWords({ purgedAt, acceptedList }: Report, say: Formats = PLAIN): readonly string[] {
  return [
    ...(purgedAt === undefined ? [] : [`Personal data purged on ${say.instant(purgedAt)}.`]),
    ...(acceptedList === undefined ? [] : [`Accepted with --allow: ${acceptedList.join(' ')}`]),
  ];
}

/** `1a2b3c4d5e6f on main, with changes that are not committed`. */
export function commitWords({ commit, branch, clean }: Commit): string {
  const where = branch === null ? '' : ` on ${branch}`;
  return `${commit.slice(0, SHORT_HASH)}${where}${clean ? '' : ', with changes that are not committed'}`;
}

const SHORT_HASH = 12;

/** The commits of a run; empty where git knew none. */
export function commitFacts({ commits = [] }: Pick<Report, 'commits'>): readonly (readonly [string, string])[] {
  return commits.map((one) => ['Commit', commitWords(one)] as const);
}

/** The files of a run with short hashes; JSON has the whole ones. */
export function inputFacts({ inputs = [] }: Pick<Report, 'inputs'>): readonly (readonly [string, string])[] {
  return inputs.map(({ role, file, sha256 }) => {
    return [capital(role), `${file}, SHA-256 ${sha256.slice(0, SHORT_HASH)}`] as const;
  });
}

/** For a run with several versions of its inputs: messages and start of each, and files that differ from the first. */
export function versionFacts({ versions = [] }: Pick<Report, 'versions'>, say: Formats = PLAIN) {
  const first = versions[0]?.inputs ?? [];
  return versions.map((one) => {
    const counted = OUTCOMES.filter((outcome) => one.totals[totalsKey(outcome)] > 0);
    const counts = counted.map((outcome) => `${say.number(one.totals[totalsKey(outcome)])} ${outcome}`);
    const other = one.inputs.filter(
      (input) => !first.some((was) => was.file === input.file && was.sha256 === input.sha256),
    );
    // The settings are those in force, so that a change of one of these files changes them too.
    const isOfFile = other.some(({ role }) => role === 'campaign' || role === 'provider');
    const files = other.flatMap(({ role, file }) => (role === 'settings' && isOfFile ? [] : [file]));
    const facts = [
      counts.length === 0 ? 'no message' : counts.join(', '),
      `since ${say.instant(one.since)}`,
      ...(files.length === 0 ? [] : [`other than v1: ${[...new Set(files)].join(', ')}`]),
      ...one.commits.map((commit) => `commit ${commitWords(commit)}`),
    ];
    return [`Inputs ${one.name}`, facts.join('; ')] as const;
  });
}

/** `halted`, `not finished` */
export function stateWord(state: RunState): string {
  return STATE_WORDS[state].replace(/^(?:is|was) /, '');
}

/** Continues "The run ...". */
export const STATE_WORDS: Readonly<Record<RunState, string>> = WORDS.states;

/** By need of attention: failures before skips. */
export const OUTCOME_WORDS: Readonly<Record<OutcomeState, string>> = WORDS.outcomes;

export const WORST_FIRST = Object.keys(OUTCOME_WORDS) as readonly OutcomeState[];

/** `4 suppressed, 1 country`, the most frequent first; empty without reasons. */
export function reasonCounts(
  { reasons }: Pick<Report, 'reasons'>,
  outcome: OutcomeState,
  { number }: Formats = PLAIN,
  wanted: (reason: string) => boolean = () => true,
): string {
  const all = Object.entries(reasons[totalsKey(outcome)] ?? {}).toSorted(([, a], [, b]) => b - a);
  return all
    .filter(([reason]) => wanted(reason))
    .map(([reason, count]) => `${number(count)} ${reason}`)
    .join(', ');
}

export const DELIVERY_WORDS: Readonly<Record<Delivery, string>> = WORDS.deliveries;

type DeliveryLine = readonly [word: string, count: number, share: string, meaning: string];

/** Beyond delivery: `150 read or answered`, `12 replied`. Who answers has read the message. */
export function returnedWords({ deliveries }: Pick<Report, 'deliveries'>, say: Formats = PLAIN): readonly string[] {
  const { read, replied, optedOut } = returnedOf(deliveries);
  const further = [
    ['read or answered', read ?? 0],
    ['replied', replied],
    ['opted out', optedOut],
  ] as const;
  return further.flatMap(([word, count]) => (count === 0 ? [] : [`${say.number(count)} ${word}`]));
}

/** The most frequent causes, `821 HTTP 422: Sender name not registered`, and the number of others. */
export function causeLines(causes: NonNullable<Report['causes']>, most: number, say: Formats = PLAIN) {
  const named = causes.filter(({ cause }) => cause !== null);
  // Others follow after a semicolon or a comma.
  const lines = named.slice(0, most).map(({ cause, count }) => `${say.number(count)} ${cause?.replace(/\.$/, '')}`);
  const left = causes.length - lines.length;
  return left === 0 ? lines : [...lines, `... ${say.number(left)} more`];
}

/**
 * Shares are of the accepted messages, as `winner` and the gate of a canary count them. A message whose response was
 * lost may have arrived: then more messages have reports than were accepted.
 */
export function deliveryLines(
  { deliveries, totals }: Pick<Report, 'deliveries' | 'totals'>,
  say: Formats = PLAIN,
): readonly DeliveryLine[] {
  const counts = Object.entries(deliveries);
  const known = counts.reduce((sum, [, count]) => sum + count, 0);
  if (known === 0) return [];
  const all = Math.max(totals.accepted, known);
  const lines = counts.map(([word, count]): DeliveryLine => {
    const meaning = Object.hasOwn(DELIVERY_WORDS, word) ? DELIVERY_WORDS[word as Delivery] : '';
    return [word, count, say.percent(count, all), meaning];
  });
  return all === known ? lines : [...lines, ['-', all - known, say.percent(all - known, all), 'nothing came back yet']];
}

/** `2 delivery reports`, `1 reply`; without what there is none of. `unread`: the words for one and for several others. */
export function eventWords(
  { reports, replies, unread }: Readonly<Record<'reports' | 'replies' | 'unread', number>>,
  others: readonly [one: string, several: string],
): readonly string[] {
  const kinds = [
    [reports, 'delivery report'],
    [replies, 'reply', 'replies'],
    [unread, ...others],
  ] as const;
  return kinds.flatMap(([count, one, several]) => (count === 0 ? [] : [countOf(count, one, several)]));
}

export function postedWords(posted: number, { number }: Formats): string {
  return `${number(posted)} posted in this start`;
}

export function uncountedWords(
  { posted, uncountedStarts = 0 }: Pick<RequestFigures, 'posted' | 'uncountedStarts'>,
  say: Formats = PLAIN,
): readonly string[] {
  if (uncountedStarts === 0) return [];
  const starts = say.count(uncountedStarts, 'start');
  return [posted === 0 ? `not known: ${starts} broke off` : `without those of ${starts} that broke off`];
}

/** Why a delivery report with the id of a message is not about it, in half a sentence. */
export const UNMATCHED_WORDS: Readonly<Record<UnmatchedReason, string>> = WORDS.unmatched;

export function unmatchedLines({ unmatchedReports = {} }: Pick<Report, 'unmatchedReports'>) {
  return UNMATCHED_REASONS.flatMap((why) => {
    const count = unmatchedReports[why] ?? 0;
    return count === 0 ? [] : [[why, count, UNMATCHED_WORDS[why]] as const];
  });
}

/** `12 recipients, 3 replies wait for review`. */
export function repliesText({ recipients, review }: ReplyTotals, say: Formats = PLAIN): string {
  const waiting = `${say.count(review, 'reply', 'replies')} ${review === 1 ? 'waits' : 'wait'} for review`;
  return [say.count(recipients, 'recipient'), ...(review === 0 ? [] : [waiting])].join(', ');
}

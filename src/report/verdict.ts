import type { HaltRule, Report, Totals } from '../model.ts';
import { END_TABLE, endsOf, endsText } from './ends.ts';
import { type Formats, PLAIN } from './locale.ts';
import { pauseText } from './pause-words.ts';
import { type Sample, significanceOf } from './variants.ts';
import { reasonCounts } from './words.ts';

export interface Verdict {
  /** Colour and urgency: `bad` needs a person, `open` goes on by itself or by another start. */
  readonly tone: 'good' | 'going' | 'open' | 'bad';
  /** State and why: `Halted: 1,003 recipients were refused in this start (limits.stopAfter.rejected).` */
  readonly headline: string;
  /** The most frequent cause in the words of the API or of the report, and how many it is of; null: none is more frequent. */
  readonly cause: string | null;
  /** `9,073 of 20,000 delivered, 177 sent, 1,458 not delivered.` */
  readonly counts: string;
  /** The API accepted fewer messages than in the run before, or none, and hardly by chance; null: not so, or not known. */
  readonly fall: string | null;
}

type Judged = Omit<Report, 'verdict' | 'version'>;

/** The answer to "what became of it?": pages, terminal, JSON and reports say the same. */
export function verdictOf(report: Judged, say: Formats = PLAIN): Verdict {
  const { totals, ends = endsOf(report) } = report;
  const { state, paused, closedAt } = report;
  const isEmpty = totals.recipients > 0 && ends.notSent === totals.recipients;
  const isBad = state === 'halted' || paused !== undefined || totals.inDoubt > 0;
  const ended = state === 'finished' || closedAt !== undefined ? 'good' : 'open';
  return {
    tone: state === 'running' ? 'going' : isBad ? 'bad' : ended,
    headline: headlineOf(report, say),
    cause: causeText(report, say),
    counts: `${isEmpty ? 'Nothing was sent: ' : ''}${endsText(ends, totals.recipients, say, reasonCounts(report, 'skipped', say))}.`,
    fall: fallText(report, say),
  };
}

/** Messages that wait, or are in doubt, say nothing yet and are not part of the whole. */
function acceptedShare({ accepted, rejected, failed }: Pick<Totals, 'accepted' | 'rejected' | 'failed'>): Sample {
  return { part: accepted, whole: accepted + rejected + failed };
}

/** Less is seen in the ups and downs of every day. */
const LEAST_FALL = 0.05;
const LEAST_CHANCE = 0.01;

function fallText({ state, totals, before }: Judged, say: Formats): string | null {
  if (before === undefined) return null;
  // Where rules left all out, there is no share of messages: then it is that of the list.
  const isEmpty = state !== 'running' && totals.skipped === totals.recipients;
  const shareOf = (one: Parameters<typeof acceptedShare>[0] & Pick<Totals, 'skipped'>): Sample => {
    const { part, whole } = acceptedShare(one);
    return { part, whole: whole + (isEmpty ? one.skipped : 0) };
  };
  const [now, then] = [shareOf(totals), shareOf(before)];
  if (now.whole === 0 || then.whole === 0) return null;
  if (then.part / then.whole - now.part / now.whole < LEAST_FALL) return null;
  if ((significanceOf([now, then]).p ?? 1) > LEAST_CHANCE) return null;
  const [took, last] = [now, then].map(({ part, whole }) => `${say.number(part)} of ${say.number(whole)}`);
  return isEmpty
    ? `The API took messages for ${took} recipients, and for ${last} in the run before.`
    : `The API took ${took} messages, and ${last} in the run before.`;
}

/** Halts by answers that are refusals, or reports of a loss. Any other halt has its cause in its message. */
const BY_REFUSALS: ReadonlySet<HaltRule> = new Set(['refusals', 'canary']);

function causeText({ causes = [], state, halt }: Judged, say: Formats): string | null {
  const [top, next] = causes;
  if (top?.cause == null || (next !== undefined && top.count === 1)) return null;
  const isOther = state === 'halted' && halt !== null && !BY_REFUSALS.has(halt.rule);
  if (isOther && (top.outcome === 'rejected' || top.outcome === 'accepted')) {
    const word = top.outcome === 'rejected' ? 'refused' : END_TABLE.notDelivered.words;
    return `Also ${word} (${say.number(top.count)}): ${ended(top.cause)}`;
  }
  const which =
    next === undefined ? 'Cause' : top.count > next.count ? 'Most frequent cause' : `One of ${causes.length} causes`;
  return `${which} (${say.number(top.count)}): ${ended(top.cause)}`;
}

export function verdictText(report: Judged, say: Formats = PLAIN): string {
  const { headline, cause, counts, fall } = verdictOf(report, say);
  const { part, whole } = acceptedShare(report.totals);
  const took = whole === 0 ? null : `The API took ${say.number(part)} of ${say.count(whole, 'message')}.`;
  // Without delivery reports, nothing is known of what was delivered.
  return [headline, report.ends === undefined ? took : counts, fall, cause].filter((one) => one !== null).join(' ');
}

function headlineOf(report: Judged, say: Formats): string {
  const { state, halt, paused, closedAt } = report;
  if (closedAt !== undefined) return `Closed on ${say.instant(closedAt)}: it sends nothing more.`;
  if (state === 'running') return `Sending: ${say.percent(...progressOf(report))} done.`;
  const pause = paused === undefined ? '' : pauseText(paused, say);
  // The halt of a pause says the same.
  if (state === 'halted' && halt?.rule === 'paused' && pause !== '') return pause;
  const ended = {
    finished: 'Finished.',
    partial: 'Not finished.',
    interrupted: 'Interrupted: no process sends it now.',
    halted: halt === null ? 'Halted.' : `Halted: ${halt.message}`,
  };
  return `${ended[state]} ${pause}`.trim();
}

/** Recipients that a rule leaves out are no progress. */
export function progressOf({ totals }: Pick<Report, 'totals'>): readonly [done: number, of: number] {
  const of = totals.recipients - totals.skipped;
  return [of - totals.pending - totals.deferred, of];
}

/** Ms until a run in progress will be done at this pace; null: not known. */
export function leftOf(report: Pick<Report, 'totals'>, perSecond: number): number | null {
  const [done, of] = progressOf(report);
  return perSecond > 0 && of > done ? ((of - done) * 1000) / perSecond : null;
}

/** @param tried - messages of the last minute */
export function paceOf(tried: number, lastStartAtMs: number | null, nowMs: number): number {
  return (tried * 1000) / Math.min(60_000, Math.max(1000, nowMs - (lastStartAtMs ?? nowMs)));
}

function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

import type { Chance } from './chance.ts';
import type { Beat, Story } from './story.ts';
import type { Delays, Shares } from './webhook-options.ts';

/** A beat with its times, in milliseconds since the message was taken. */
export interface TimedBeat {
  readonly beat: Beat;
  /** When it happened, which is what the event says. */
  readonly happenedMs: number;
  /** When it is posted; null: before the request is answered. */
  readonly postedMs: number | null;
}

/**
 * When everything of a story happens and when it is posted, which differs where posts overtake each other or come late.
 */
export function timeStory(story: Story, delaysMs: Delays, doubled: Shares['doubled'], chance: Chance): TimedBeat[] {
  const { beats } = story;
  const happened = happeningsOf(beats, delaysMs, chance);
  const posted: (number | null)[] = story.isReordered ? reordered(beats, happened) : [...happened];
  const end = beats.findIndex(isEnd);
  if (story.isLate && end >= 0) posted[end] = (happened[end] ?? 0) + delaysMs.late;
  if (story.isEarly && end >= 0) {
    posted[end] = null;
    // Whatever was posted before the answer had happened by then.
    for (let i = 0; i <= end; i += 1) happened[i] = 0;
  }
  const timed = beats.map((beat, i) => ({ beat, happenedMs: happened[i] ?? 0, postedMs: posted[i] ?? null }));
  const again = timed.flatMap((one) => {
    if (!story.isDoubled && chance() >= doubled) return [];
    return [{ ...one, postedMs: (one.postedMs ?? one.happenedMs) + delaysMs.delivered * chance() }];
  });
  return [...timed, ...again];
}

function isEnd(beat: Beat): boolean {
  return beat.kind === 'report' && beat.word !== 'queued' && beat.word !== 'sent';
}

function happeningsOf(beats: readonly Beat[], delaysMs: Delays, chance: Chance): number[] {
  let atMs = 0;
  return beats.map((beat) => {
    atMs += delayOf(beat, delaysMs) * (0.5 + chance());
    return Math.round(atMs);
  });
}

function delayOf(beat: Beat, delaysMs: Delays): number {
  if (beat.kind === 'reply') return delaysMs.reply;
  switch (beat.word) {
    case 'queued':
      return 0;
    case 'sent':
      return delaysMs.sent;
    case 'read':
      return delaysMs.read;
    default:
      return delaysMs.delivered;
  }
}

/** Reports in the reverse order, at the times of one another; replies stay. */
function reordered(beats: readonly Beat[], happened: readonly number[]): number[] {
  const reports = [...beats.keys()].filter((i) => beats[i]?.kind === 'report');
  const times = reports.map((i) => happened[i] ?? 0).reverse();
  return happened.map((atMs, i) => times[reports.indexOf(i)] ?? atMs);
}

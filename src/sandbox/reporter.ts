import { chanceFor } from './chance.ts';
import { type Dialect, NOBODY } from './dialect.ts';
import { drawStory } from './draw-story.ts';
import { EVENT_FORMS } from './event-forms.ts';
import { type PostCounts, Postman } from './postman.ts';
import type { Reply, Taken } from './reply.ts';
import type { Subject } from './sandbox-event.ts';
import type { ScriptedNumbers } from './scenarios.ts';
import { scriptedStory } from './scripted-stories.ts';
import type { ReportWord, Story } from './story.ts';
import { type Followed, subjectsOf } from './subjects.ts';
import { type TimedBeat, timeStory } from './time-story.ts';
import type { WebhookSettings } from './webhook-settings.ts';
import { signerOf } from './webhook-sign.ts';

/** What `GET /sandbox/reports` says. */
export interface ReportCounts extends PostCounts {
  /** Where events are posted, without a secret; null where none are. */
  readonly webhook: string | null;
  /**
   * Reports and replies that were or will be posted, doubled ones twice: the sum of pending, acknowledged, given up.
   */
  readonly events: number;
  /** Events that are never posted, because too many waited. */
  readonly dropped: number;
  /** How messages end, when all of their events have come: how many of each. `none` has no report at all. */
  readonly ends: Readonly<Record<string, number>>;
  /** Replies, doubled ones once. */
  readonly replies: number;
}

/** One request whose messages are followed. */
export interface Followers {
  /** The reply to give instead, where a story loses the answer. */
  readonly reply: Reply;
  /** Begins to post. What it returns is to be waited for before the answer; null: nothing is. */
  begin(): Promise<unknown> | null;
}

/** Plays the other side: what comes back of the messages that were taken. */
export interface Reporter {
  /** Null where nothing was taken. Posts nothing yet. */
  follow(reply: Reply): Followers | null;
  counts(): ReportCounts;
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface ReporterNeeds {
  readonly dialect: Dialect;
  readonly scripts: ScriptedNumbers;
  /** Milliseconds that the sandbox waits before each answer: stories begin with the answer. */
  readonly latencyMs: number;
  readonly nextId: () => string;
  readonly now: () => number;
  readonly log: ((line: string) => void) | null;
}

export function createReporter(settings: WebhookSettings, needs: ReporterNeeds): Reporter {
  const postman = new Postman(settings, {
    form: EVENT_FORMS[needs.dialect.name],
    sign: signerOf(settings),
    nextId: needs.nextId,
    now: needs.now,
    log: needs.log,
  });
  const ends = new Map<string, number>();
  const count = { events: 0, dropped: 0, replies: 0 };

  function plan(followed: Followed): Planned {
    const { subject, isContact, about } = followed;
    const chance = chanceFor(settings.seed, about);
    const story =
      scriptedStory(subject.to, isContact, needs.scripts, subject.channel) ??
      drawStory(settings.shares, subject.channel, chance);
    return { subject, story, timed: timeStory(story, settings.delaysMs, settings.shares.doubled, chance) };
  }

  /** Posts, or drops where too much waits; what comes before the answer is returned. */
  function start({ subject, story, timed }: Planned): Promise<void>[] {
    if (postman.pending + timed.length > settings.maxWaiting) {
      count.dropped += timed.length;
      return [];
    }
    const end = endOf(story);
    ends.set(end, (ends.get(end) ?? 0) + 1);
    count.events += timed.length;
    count.replies += story.beats.filter(({ kind }) => kind === 'reply').length;
    const nowMs = needs.now();
    return timed.flatMap(({ beat, happenedMs, postedMs }) => {
      const event = { subject, beat, atMs: nowMs + happenedMs };
      if (postedMs === null) return [postman.postNow(event)];
      postman.post(event, needs.latencyMs + postedMs);
      return [];
    });
  }

  return {
    follow(reply) {
      if (reply.taken === null) return null;
      const planned = subjectsOf(needs.dialect, reply.taken, settings.echo).map(plan);
      return {
        reply: planned.some(({ story }) => story.losesAnswer) ? withoutAnswer(reply, reply.taken) : reply,
        begin() {
          const early = planned.flatMap(start);
          return early.length === 0 ? null : Promise.all(early);
        },
      };
    },
    counts: () => ({ webhook: settings.shownUrl, ...count, ends: sorted(ends), ...postman.counts() }),
    settled: () => postman.settled(),
    close: () => postman.close(),
  };
}

interface Planned {
  readonly subject: Subject;
  readonly story: Story;
  readonly timed: readonly TimedBeat[];
}

/** The API took the message, and the client never learns of it. */
function withoutAnswer(reply: Reply, taken: Taken): Reply {
  return {
    ...reply,
    status: null,
    digits: null,
    id: null,
    refusals: NOBODY,
    taken,
    write: (outgoing) => outgoing.socket?.resetAndDestroy(),
  };
}

/** Later words of this list say more than earlier ones. */
const RISING: readonly ReportWord[] = [
  'queued',
  'sent',
  'expired',
  'failed',
  'undeliverable',
  'rejected',
  'delivered',
  'read',
];

function endOf({ beats }: Story): string {
  const said = beats.flatMap((beat) => (beat.kind === 'report' ? [beat.word] : []));
  return RISING.findLast((word) => said.includes(word)) ?? 'none';
}

function sorted(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].toSorted(([a], [b]) => a.localeCompare(b)));
}

import { problem, refuse } from '../errors.ts';
import type { ReplyRecord } from '../ledger/event-records.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger } from '../ledger/open.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Channel, ReplyMeaning } from '../model.ts';
import { maskText } from '../util/mask.ts';
import { durationMs, instantMs } from '../util/units.ts';
import type { CommandContext } from './context.ts';
import { runsNamed } from './doubt-list.ts';
import { joinRepliesOf } from './join-replies.ts';
import { projectHere } from './project-ledger.ts';

/** A reply: the fields of `jsonl` and of the schema, the columns of `csv`. Texts and addresses are from outside. */
export interface ReceivedReply {
  /** As `handbill replies review` takes it. */
  readonly id: number;
  readonly from: string;
  /** Our sender; null where the event does not say. */
  readonly to: string | null;
  readonly channel: Channel | null;
  readonly text: string;
  /** What counts: as somebody reviewed it, else as its words say. */
  readonly meaning: ReplyMeaning;
  /** When it was written, ISO 8601 in UTC; null where the event does not say. */
  readonly at: string | null;
  readonly receivedAt: string;
  /** `webhook`, or the file that was read. */
  readonly source: string;
  /** Of the message that it answers; null, as what follows: not known. */
  readonly run: string | null;
  readonly campaign: string | null;
  readonly environment: string | null;
  readonly occurrence: string | null;
  /** Of the row in the list. */
  readonly line: number | null;
  readonly key: string | null;
  readonly variant: string | null;
  /** Who read it, and when; null: nobody did. */
  readonly reviewedBy: string | null;
  readonly reviewedAt: string | null;
}

export const REPLY_FIELDS = [
  'id',
  'from',
  'to',
  'channel',
  'text',
  'meaning',
  'at',
  'receivedAt',
  'source',
  'run',
  'campaign',
  'environment',
  'occurrence',
  'line',
  'key',
  'variant',
  'reviewedBy',
  'reviewedAt',
] as const satisfies readonly (keyof ReceivedReply)[];

export interface ReplyListOptions extends Pick<CommandContext, 'cwd' | 'env' | 'now'> {
  readonly ledger?: string;
  /** Name of a campaign, or id of a run: only replies to its messages. */
  readonly campaign?: string;
  readonly meanings?: readonly ReplyMeaning[];
  /** Ms since 1970: what was written before is left out. */
  readonly sinceMs?: number;
}

/**
 * Replies, newest first. What they answer is looked for before.
 *
 * @throws HandbillError exit 2 (`run-not-found`: no such campaign; a project file that is wrong), 7 (ledger)
 */
export async function listReplies(options: ReplyListOptions): Promise<readonly ReceivedReply[]> {
  return await readReplies(options, async (replies) => [...replies].flat());
}

/** As `listReplies`, in batches, while the ledger is open; `warn` is told why messages could not be looked for. */
export async function readReplies<T>(
  options: ReplyListOptions,
  use: (replies: Iterable<readonly ReceivedReply[]>) => Promise<T>,
  warn: (problem: string) => void = () => undefined,
): Promise<T> {
  const reading = await projectHere(options, options.ledger);
  const { problem: why } = await joinRepliesOf(reading, options);
  if (why !== null) warn(why);
  const ledger = openExistingLedger(reading.project.ledger, { nowMs: options.now() });
  if (ledger === null) return await use([]);
  try {
    return await use(repliesIn(ledger, options));
  } finally {
    ledger.close();
  }
}

/** Replies of an open ledger, in batches. */
export function* repliesIn(
  ledger: Pick<Ledger, 'events' | 'runs' | 'runById'>,
  { campaign, meanings, sinceMs }: Pick<ReplyListOptions, 'campaign' | 'meanings' | 'sinceMs'>,
): Generator<readonly ReceivedReply[]> {
  const runs = campaign === undefined ? ledger.runs() : runsNamed(ledger, campaign);
  const byNumber = new Map(runs.map((run) => [run.number, run]));
  const batches = ledger.events.replies({
    ...(campaign === undefined ? {} : { runs: [...byNumber.keys()] }),
    ...(meanings === undefined ? {} : { meanings }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
  });
  for (const batch of batches) {
    yield batch.map((reply) => toReceived(reply, byNumber.get(reply.answers?.run ?? -1) ?? null));
  }
}

function toReceived(reply: ReplyRecord, run: RunRecord | null): ReceivedReply {
  const { number, from, to, channel, text, meaning, atMs, receivedAtMs, source, answers, review } = reply;
  return {
    id: number,
    from,
    to,
    channel,
    text,
    meaning: review?.meaning ?? meaning,
    at: isoOrNull(atMs),
    receivedAt: new Date(receivedAtMs).toISOString(),
    source,
    run: run?.id ?? null,
    campaign: run?.campaign ?? null,
    environment: run?.environment ?? null,
    occurrence: run?.occurrence ?? null,
    line: answers?.line ?? null,
    key: answers?.key ?? null,
    variant: answers?.variant ?? null,
    reviewedBy: review?.who ?? null,
    reviewedAt: isoOrNull(review?.atMs ?? null),
  };
}

/** A time that a provider writes may be one that no calendar has. */
function isoOrNull(ms: number | null): string | null {
  return ms === null || Math.abs(ms) > 8.64e15 ? null : new Date(ms).toISOString();
}

/**
 * `--since`: a day in UTC, an instant, or how long ago.
 *
 * @throws HandbillError exit 2
 */
export function readSince(text: string, nowMs: number): number {
  const agoMs = durationMs(text);
  const ms = agoMs === null ? instantMs(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text) : nowMs - agoMs;
  if (ms !== null) return ms;
  const hint = 'For example: --since 7d, --since 2026-11-21 (from its beginning in UTC), --since 2026-11-21T09:00:00Z';
  throw refuse(problem('usage', `--since ${JSON.stringify(maskText(text.slice(0, 40)))} is no time.`, { hint }));
}

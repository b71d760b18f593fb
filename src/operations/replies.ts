import { type Diagnostic, HandbillError, problem, refuse } from '../errors.ts';
import type { Ledger, ReplyRecord } from '../ledger/ledger.ts';
import { openExistingLedger, openLedger } from '../ledger/open.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { RepliesReply as ReceivedReply } from '../model/result-types.ts';
import { type Campaign, REPLY_MEANINGS, type ReplyMeaning, type ReplyRules } from '../model.ts';
import { openList } from '../recipients/read.ts';
import { createRecipientReader } from '../recipients/recipient.ts';
import { csvCell } from '../util/csv.ts';
import { jsonText } from '../util/escape.ts';
import { nextCommand } from '../util/next-command.ts';
import { maskText } from '../util/redact.ts';
import { instantMs, iso } from '../util/time.ts';
import { durationMs } from '../util/units.ts';
import { runsNamed } from './doubt.ts';
import { INSTANT, type OptionsOf, type OptionTable, type ProjectOptions, present, withDefaults } from './options.ts';
import { joinRepliesOf, projectHere, withLedger } from './project.ts';
import { readSent } from './report.ts';

export const REPLIES = {
  meanings: {
    flag: '--meaning <meaning...>',
    says: 'only replies that mean this',
    choices: REPLY_MEANINGS,
    without: 'all',
  },
  campaign: {
    flag: '--campaign <name>',
    says: 'only replies to this campaign, or to the run of this id',
    without: 'all',
  },
  questions: { flag: '--questions', says: 'only replies with a question mark: ? ؟ ？' },
} as const satisfies OptionTable;

/** Filters of replies, all of which must match. */
export interface RepliesOptions extends ProjectOptions, OptionsOf<typeof REPLIES> {
  /** Leaves out replies from before this time, in ms since 1970. Default: none. */
  readonly sinceMs?: number;
}

export type { ReceivedReply };

/** The fields of `jsonl` and of the schema, the columns of `csv`. */
export const REPLY_FIELDS = [
  'id',
  'from',
  'to',
  'channel',
  'text',
  'meaning',
  'optsOutOf',
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

/**
 * `handbill replies`: what people replied, newest first. Replies are first joined to the messages that they answer.
 *
 * @throws HandbillError exit 2 (`run-not-found`: no such campaign; a project file that is wrong), 7 (ledger)
 */
export async function listReplies(options: RepliesOptions = {}): Promise<readonly ReceivedReply[]> {
  return await readReplies(options, async (replies) => [...replies].flat());
}

/** As `listReplies`, in batches; `warn` is called with the reason if replies could not be joined to messages. */
export async function readReplies<T>(
  given: RepliesOptions,
  use: (replies: Iterable<readonly ReceivedReply[]>) => Promise<T>,
  warn: (problem: string) => void = () => undefined,
): Promise<T> {
  const options = withDefaults(given, { sinceMs: { range: INSTANT } });
  const reading = projectHere(options);
  const { problem: why } = await joinRepliesOf(reading, options);
  if (why !== null) warn(why);
  using ledger = openExistingLedger(reading.project.ledger, { nowMs: options.now() });
  if (ledger === null) return await use([]);
  return await use(repliesIn(ledger, options, reading.project.webhook.replies));
}

function* repliesIn(
  ledger: Ledger,
  { campaign, meanings, sinceMs, questions = false }: RepliesOptions,
  rules: Pick<ReplyRules, 'stopEnds'>,
): Generator<readonly ReceivedReply[]> {
  const runs = campaign === undefined ? ledger.runs() : runsNamed(ledger, campaign);
  const byNumber = new Map(runs.map((run) => [run.number, run]));
  const only = campaign === undefined ? undefined : [...byNumber.keys()];
  const batches = ledger.events.replies({ questions, ...present({ runs: only, meanings, sinceMs }) });
  for (const batch of batches) {
    yield batch.map((reply) => toReceived(reply, byNumber.get(reply.answers?.run ?? -1) ?? null, rules));
  }
}

function toReceived(
  reply: ReplyRecord,
  run: RunRecord | null,
  { stopEnds }: Pick<ReplyRules, 'stopEnds'>,
): ReceivedReply {
  const { number, from, to, channel, text, meaning, atMs, receivedAtMs, source, answers, review } = reply;
  return {
    id: number,
    from,
    to,
    channel,
    text,
    meaning: review?.meaning ?? meaning,
    optsOutOf: (review?.meaning ?? meaning) === 'opt-out' ? stoppedBy(run?.topic ?? null, stopEnds) : null,
    at: isoOrNull(atMs),
    receivedAt: iso(receivedAtMs),
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

/** The scope of a STOP: `everything`, or a topic. `topic` is null where the message is unknown or has none. */
export function stoppedBy(topic: string | null, stopEnds: ReplyRules['stopEnds']): string {
  return stopEnds === 'topic' && topic !== null && topic !== 'essential' ? topic : 'everything';
}

/** A time that a provider writes may be one that no calendar has. */
function isoOrNull(ms: number | null): string | null {
  return ms === null || Math.abs(ms) > 8.64e15 ? null : iso(ms);
}

/** `--since`: a day in UTC, an instant, or how long ago. Throws exit 2. */
export function readSince(text: string, nowMs: number): number {
  const agoMs = durationMs(text);
  const ms = agoMs === null ? instantMs(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text) : nowMs - agoMs;
  if (ms !== null) return ms;
  const hint = 'For example: --since 7d, --since 2026-11-21 (from its beginning in UTC), --since 2026-11-21T09:00:00Z';
  throw refuse(problem('usage', `--since ${JSON.stringify(maskText(text.slice(0, 40)))} is no time.`, { hint }));
}

/** The meaning of replies, and the person who reviewed them. */
export interface ReviewRepliesOptions extends ProjectOptions {
  readonly as: Exclude<ReplyMeaning, 'review'>;
  /** The person who reviewed them, such as `ann@ops-1`. */
  readonly by: string;
  /** Enters nothing if one of them was reviewed before, which `earlier` tells. Default: replaces what was entered. */
  readonly onlyUnread?: boolean;
}

export interface ReviewRepliesResult {
  readonly reviewed: number;
  readonly suppressed: readonly string[];
  /** Addresses whose opt-out was withdrawn. */
  readonly lifted: readonly string[];
  /** Senders of opt-outs that are no address, and whose message is not known: nothing is suppressed. */
  readonly unassigned: readonly string[];
  /** Reviews from before. */
  readonly earlier: readonly { readonly id: number; readonly meaning: ReplyMeaning; readonly reviewedBy: string }[];
}

/**
 * `handbill replies review`: enters what replies mean, of all that are named or of none. An address that opts out by it is
 * suppressed.
 *
 * @param ids - of replies, as `listReplies` has them
 * @throws HandbillError exit 2 (no such reply), 7 (ledger)
 */
export async function reviewReplies(
  ids: readonly number[],
  options: ReviewRepliesOptions,
): Promise<ReviewRepliesResult> {
  const { as, by, onlyUnread = false } = options;
  const resolved = withDefaults(options);
  const { now } = resolved;
  if (by.trim() === '' || by.length > LONGEST_NAME) {
    throw refuse(problem('usage', `--by is ${by.trim() === '' ? 'empty' : 'too long'}.`));
  }
  const { project } = projectHere(resolved);
  const numbers = [...new Set(ids)];
  const read = openExistingLedger(project.ledger, { nowMs: now() });
  if (read === null) throw unknown(numbers);
  read.close();
  using ledger = openLedger(project.ledger, { mode: 'write', nowMs: now() });
  // An opt-in word lifts an opt-out only if `webhook.replies.startLifts` is set.
  const { startLifts, stopEnds } = project.webhook.replies;
  const review = { meaning: as, who: by, atMs: now() };
  const facts = { startLifts, stopEnds, onlyUnread };
  const { missed, earlier, ...done } = ledger.events.reviewReplies(numbers, review, facts);
  if (missed.length > 0) throw unknown(missed);
  return { ...done, earlier: earlier.map(({ number, meaning, who }) => ({ id: number, meaning, reviewedBy: who })) };
}

/** Empty: no review from before. Else whose it was, and what became of the new one. */
export function earlierText({ reviewed, earlier }: Pick<ReviewRepliesResult, 'reviewed' | 'earlier'>): string {
  if (earlier.length === 0) return '';
  const all = earlier.map(({ id, meaning, reviewedBy }) => {
    return `${reviewedBy} entered ${earlier.length === 1 ? 'it' : `reply ${id}`} as ${meaning}`;
  });
  const some = `${all.slice(0, 5).join(', ')}${all.length > 5 ? ' ...' : ''}`;
  return reviewed === 0 ? `${some} meanwhile; nothing was changed.` : `${some} before; this replaces it.`;
}

const LONGEST_NAME = 200;

function unknown(ids: readonly number[]) {
  const which = `${ids.slice(0, 20).join(', ')}${ids.length > 20 ? ' ...' : ''}`;
  const hint = `Nothing was entered. \`${nextCommand('replies')}\` shows the ids.`;
  return refuse(problem('usage', `The ledger holds no ${ids.length === 1 ? 'reply' : 'replies'} ${which}.`, { hint }));
}

export const EXPORT_REPLIES = {
  recipients: {
    flag: '--recipients <file>',
    says: 'a list to look in, instead of that of the campaign',
    more: 'A path is relative to `cwd`.',
    without: "the campaign's",
  },
} as const satisfies OptionTable;

/** Filters of replies, and the list that is joined with them. */
export interface ExportRepliesOptions extends Omit<RepliesOptions, 'campaign'>, OptionsOf<typeof EXPORT_REPLIES> {}

/** Replies to a campaign, oldest first, each with the row of its recipient as the list has it now. */
export interface ReplyExport {
  /** Columns of the list; empty where it cannot be read. */
  readonly columns: readonly string[];
  readonly replies: readonly ExportedReply[];
  /** Why columns are missing. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface ExportedReply
  extends Pick<ReceivedReply, 'key' | 'from' | 'text' | 'meaning' | 'variant' | 'environment' | 'occurrence'> {
  /** When it was written, else when it came in; ISO 8601 in UTC. */
  readonly at: string;
  /** By the names of the list's columns; null: the list does not have this recipient any more. */
  readonly row: Readonly<Record<string, string>> | null;
}

/**
 * `handbill replies export`: the answers of people, for a survey. If the list cannot be read any more, its columns are
 * missing and `diagnostics` says why.
 *
 * @param campaign - name of a campaign for all its runs, or id of one
 * @throws HandbillError exit 2 (`run-not-found`: no such campaign; a project file that is wrong), 7 (ledger)
 */
export async function exportReplies(campaign: string, given: ExportRepliesOptions = {}): Promise<ReplyExport> {
  const options = withDefaults(given, { sinceMs: { range: INSTANT } });
  const reading = projectHere(options);
  const joining = await joinRepliesOf(reading, options);
  const { found, run } = await withLedger(options, async (ledger) => ({
    found: [...repliesIn(ledger, { ...options, campaign }, reading.project.webhook.replies)].flat().reverse(),
    run: runsNamed(ledger, campaign)[0] ?? null,
  }));
  const keys = new Set(found.flatMap(({ key }) => (key === null ? [] : [key])));
  const { cwd, env, recipients } = options;
  // Answers are joined with the list as it is now.
  const sent = run && (await readSent(run, reading.project.root, { cwd, env, ...present({ recipients }) }));
  const { columns, byKey, diagnostics } = await rowsOf(sent ?? { campaign: null, diagnostics: [] }, keys);
  const late: readonly Diagnostic[] =
    joining.problem === null ? [] : [{ code: 'ledger-write', severity: 'warning', message: joining.problem }];
  const replies = found.map((reply): ExportedReply => {
    const { key, from, text, meaning, at, receivedAt, variant, environment, occurrence } = reply;
    const values = key === null ? undefined : byKey.get(key);
    const row = values === undefined ? null : Object.fromEntries(columns.map((name, i) => [name, values[i] ?? '']));
    return { key, from, text, meaning, at: at ?? receivedAt, variant, environment, occurrence, row };
  });
  return { columns, replies, diagnostics: [...late, ...diagnostics] };
}

/** For each key the first row, which is the one that was sent to. */
async function rowsOf(
  read: { readonly campaign: Campaign | null; readonly diagnostics: readonly Diagnostic[] },
  keys: ReadonlySet<string>,
) {
  const byKey = new Map<string, readonly string[]>();
  // Replies are worth more than the columns beside them.
  const without = (diagnostics: readonly Diagnostic[]) => {
    return { columns: [], byKey, diagnostics: diagnostics.map((one) => ({ ...one, severity: 'warning' as const })) };
  };
  if (read.campaign === null) return without(read.diagnostics);
  try {
    const list = await openList(read.campaign.recipients);
    try {
      const recipientOf = createRecipientReader(read.campaign.recipients, list.columns);
      for await (const batch of list.rows()) {
        for (const row of batch) {
          const recipient = recipientOf(row);
          if (!('key' in recipient) || !('values' in recipient) || row.values === null) continue;
          if (!keys.has(recipient.key) || byKey.has(recipient.key)) continue;
          // A copy lets go of the block of text that was read.
          const values = row.values.map((text) => Buffer.from(text).toString());
          byKey.set(recipient.key, values);
        }
      }
      return { columns: list.columns, byKey, diagnostics: [] };
    } finally {
      await list.close();
    }
  } catch (error) {
    if (error instanceof HandbillError) return without(error.diagnostics);
    throw error;
  }
}

const FIELDS = ['key', 'from', 'text', 'meaning', 'at', 'variant', 'environment', 'occurrence'] as const;

/** The fields of each reply, then the columns of the list; one that is named as a field is `list.…`. */
export function* exportCsv({ columns, replies }: ReplyExport): Generator<string> {
  const own: ReadonlySet<string> = new Set(FIELDS);
  const named = columns.map((column) => (own.has(column) ? `list.${column}` : column));
  yield `${[...FIELDS, ...named].map(csvCell).join(',')}\r\n`;
  for (const reply of replies) {
    const cells = [...FIELDS.map((field) => reply[field]), ...columns.map((column) => reply.row?.[column] ?? null)];
    yield `${cells.map(csvCell).join(',')}\r\n`;
  }
}

export function* exportJsonl({ replies }: ReplyExport): Generator<string> {
  for (const reply of replies) yield `${jsonText(reply)}\n`;
}

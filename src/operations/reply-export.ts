import { join } from 'node:path';
import { type Diagnostic, HandbillError } from '../errors.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Campaign, ReplyMeaning } from '../model.ts';
import { openList } from '../recipients/read.ts';
import { createRecipientReader } from '../recipients/recipient.ts';
import { csvCell } from '../util/csv-cell.ts';
import { jsonText } from '../util/safe.ts';
import type { CommandContext } from './context.ts';
import { runsNamed } from './doubt-list.ts';
import { joinRepliesOf } from './join-replies.ts';
import { projectHere, withLedger } from './project-ledger.ts';
import { type ReceivedReply, repliesIn } from './reply-list.ts';

export interface ReplyExportOptions extends Pick<CommandContext, 'cwd' | 'env' | 'now'> {
  readonly ledger?: string;
  /** Name of a campaign for all its runs, or id of one. */
  readonly campaign: string;
  readonly meanings?: readonly ReplyMeaning[];
  /** Ms since 1970: what was written before is left out. */
  readonly sinceMs?: number;
  /** A list to look for the recipients in, instead of the campaign's. */
  readonly recipients?: string;
}

/** Replies to a campaign, oldest first, each with the row of its recipient as the list has it now. */
export interface ReplyExport {
  /** Of the list; empty where it cannot be read. */
  readonly columns: readonly string[];
  readonly replies: readonly ExportedReply[];
  /** Why columns are missing. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface ExportedReply {
  readonly key: string | null;
  readonly from: string;
  readonly text: string;
  readonly meaning: ReplyMeaning;
  /** When it was written, else when it came in; ISO 8601 in UTC. */
  readonly at: string;
  readonly variant: string | null;
  readonly environment: string | null;
  readonly occurrence: string | null;
  /** By the names of the list's columns; null: the list does not have this recipient any more. */
  readonly row: Readonly<Record<string, string>> | null;
}

/**
 * What people answered, for a survey: one entry for each reply. A list that cannot be read any more leaves its columns
 * away, and `diagnostics` says why.
 *
 * @throws HandbillError exit 2 (`run-not-found`: no such campaign; a project file that is wrong), 7 (ledger)
 */
export async function exportReplies(options: ReplyExportOptions): Promise<ReplyExport> {
  const reading = await projectHere(options, options.ledger);
  const joining = await joinRepliesOf(reading, options);
  const { found, run } = await withLedger(reading, options, async (ledger) => ({
    found: [...repliesIn(ledger, options)].flat().reverse(),
    run: runsNamed(ledger, options.campaign)[0] ?? null,
  }));
  const keys = new Set(found.flatMap(({ key }) => (key === null ? [] : [key])));
  const list = await rowsOf(await campaignOf(run, reading.project.root, options), keys);
  const late: readonly Diagnostic[] =
    joining.problem === null ? [] : [{ code: 'ledger-write', severity: 'warning', message: joining.problem }];
  return {
    columns: list.columns,
    replies: found.map((reply) => toExported(reply, list)),
    diagnostics: [...late, ...list.diagnostics],
  };
}

interface Rows {
  readonly columns: readonly string[];
  readonly byKey: ReadonlyMap<string, readonly string[]>;
  readonly diagnostics: readonly Diagnostic[];
}

function toExported(reply: ReceivedReply, { columns, byKey }: Rows): ExportedReply {
  const { key, from, text, meaning, at, receivedAt, variant, environment, occurrence } = reply;
  const values = key === null ? undefined : byKey.get(key);
  const row = values === undefined ? null : Object.fromEntries(columns.map((name, i) => [name, values[i] ?? '']));
  return { key, from, text, meaning, at: at ?? receivedAt, variant, environment, occurrence, row };
}

type Read = { readonly campaign: Campaign } | { readonly campaign: null; readonly diagnostics: readonly Diagnostic[] };

/** The campaign as it is now: what its list says of people today is what they are joined with. */
async function campaignOf(run: RunRecord | null, root: string, options: ReplyExportOptions): Promise<Read> {
  const written = run?.inputs.find(({ role }) => role === 'campaign')?.file;
  if (run === null || written === undefined) return { campaign: null, diagnostics: [] };
  const { readCampaign } = await import('../campaign/load.ts');
  const { cwd, recipients } = options;
  const list = recipients === undefined ? {} : { recipients };
  const { campaign, diagnostics } = await readCampaign(join(root, written), { cwd, now: run.createdAtMs, ...list });
  return campaign === null ? { campaign, diagnostics } : { campaign };
}

/** The rows of those who are asked for: the first of each, which is the one that was sent to. */
async function rowsOf(read: Read, keys: ReadonlySet<string>): Promise<Rows> {
  const byKey = new Map<string, readonly string[]>();
  const without = (diagnostics: readonly Diagnostic[]): Rows => ({
    columns: [],
    byKey,
    diagnostics: diagnostics.map(mild),
  });
  if (read.campaign === null) return without(read.diagnostics);
  try {
    const list = await openList(read.campaign.recipients);
    try {
      const recipientOf = createRecipientReader(read.campaign.recipients, list.columns);
      for await (const batch of list.rows()) {
        for (const row of batch) {
          const recipient = recipientOf(row);
          if (!('key' in recipient) || !('values' in recipient) || row.values === null) continue;
          // Copied, so that the piece of text that was read is let go.
          if (keys.has(recipient.key) && !byKey.has(recipient.key)) byKey.set(recipient.key, row.values.map(copied));
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

function copied(text: string): string {
  return Buffer.from(text).toString();
}

/** Replies are worth more than the columns beside them. */
function mild(diagnostic: Diagnostic): Diagnostic {
  return { ...diagnostic, severity: 'warning' };
}

const FIELDS = ['key', 'from', 'text', 'meaning', 'at', 'variant', 'environment', 'occurrence'] as const;

/**
 * As CSV: the fields of each reply, then the columns of the list, of which one that is called like a field is `list.…`.
 */
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

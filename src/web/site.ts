import type { ProjectReading } from '../campaign/project.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { CommandContext } from '../operations/context.ts';
import type { ListFacts } from '../plan/list-guard.ts';
import type { PhoneReader } from '../recipients/phone.ts';
import type { RunStats } from './counts.ts';
import type { LedgerKeeper, OpenLedger } from './ledger.ts';
import { type Content, messagePage, type View } from './pages/layout.ts';
import type { PreviewNode } from './preview/nodes.ts';

/** What pages are made from. */
export interface Site {
  readonly context: Pick<CommandContext, 'cwd' | 'env' | 'now'>;
  readonly reading: ProjectReading;
  /** As `--ledger` or HANDBILL_LEDGER says; absent where the project does. */
  readonly ledger?: string;
  readonly keeper: LedgerKeeper;
  readonly stats: RunStats;
  /** Lists as their guards saw them last, by path: a long one is read again only when its file was written again. */
  readonly lists: Map<string, { readonly stamp: string; readonly facts: ListFacts }>;
  /** Messages that were made again for the pages of recipients, by run and row: the newest of them. */
  readonly sent: Map<string, SentMessages>;
  /** Campaign files, folders or names that are shown; empty for all of the project. */
  readonly campaigns: readonly string[];
  readonly phone: PhoneReader;
}

/** The messages of a recipient by channel, or why they cannot be shown. */
export type SentMessages =
  | { readonly messages: ReadonlyMap<string, PreviewNode> }
  | { readonly why: 'changed' | 'long' | 'unknown' };

/** A page as it is now. */
export interface Made {
  readonly content: Content;
  /** Something in it is being looked at: asked again soon, the page says more. */
  readonly isOld: boolean;
}

/** The request for a page. */
export interface Asked {
  readonly view: View;
  readonly query: URLSearchParams;
  /** How long scans of lists may take: a reader waits, a listener gets the result later. */
  readonly patienceMs: number;
}

/** A page of a ledger that is there. */
export type MakePage = (site: Site, open: OpenLedger, asked: Asked) => Promise<Made> | Made;

export function whole(content: Content): Made {
  return { content, isOld: false };
}

export function notFound(what: string): Made {
  return whole(messagePage(404, 'Not found', [what]));
}

/** The run of an id: never the newest of a campaign, which would be another one tomorrow. */
export function runOf(open: OpenLedger, id: string): RunRecord | null {
  return open.ledger.runById(id).find((run) => run.id === id) ?? null;
}

export function noRun(id: string): Made {
  return notFound(`The ledger holds no run "${id.slice(0, 100)}".`);
}

/** A whole number from a query; null for anything else. */
export function wholeOf(query: URLSearchParams, name: string): number | null {
  const text = query.get(name) ?? '';
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : null;
}

/** A text from a query, cut at a length that no real search has. */
export function textOf(query: URLSearchParams, name: string): string {
  return (query.get(name) ?? '').trim().slice(0, 300);
}

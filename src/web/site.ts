import type { ProjectReading } from '../campaign/project.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Rehearsal } from '../model.ts';
import type { CommandContext } from '../operations/context.ts';
import type { PeopleOf } from '../operations/run-people.ts';
import type { ScheduleResult } from '../operations/schedule.ts';
import type { ListFacts } from '../plan/list-guard.ts';
import type { AddressReader } from '../recipients/phone.ts';
import { listWithOr } from '../util/words.ts';
import type { RunStats } from './counts.ts';
import type { LedgerKeeper, OpenLedger } from './ledger.ts';
import { type Content, messagePage, type View } from './pages/layout.ts';
import type { PreviewNode } from './preview/nodes.ts';

/** How far the first page says what goes out by schedule. */
export const DAYS_AHEAD = 14;
/** For each campaign. */
export const MOST_COMING = 1000;

export interface Site {
  readonly context: Pick<CommandContext, 'cwd' | 'env' | 'now'>;
  readonly reading: ProjectReading;
  /** From `--ledger` or HANDBILL_LEDGER; absent: the project's. */
  readonly ledger?: string;
  readonly keeper: LedgerKeeper;
  readonly stats: RunStats;
  /** Cached facts for list guards, by path: a long list is read again only after its file changes. */
  readonly lists: Map<string, { readonly stamp: string; readonly facts: ListFacts }>;
  /** Messages rendered again for the pages of recipients, by run and row: the newest ones. */
  readonly sent: Map<string, SentMessages>;
  /** Campaign files, folders or names to show; empty: the whole project. */
  readonly campaigns: readonly string[];
  readonly phone: AddressReader;
  readonly people: PeopleOf;
  /** The schedules, from files that were read at most half a minute ago. */
  readonly coming: () => Promise<ScheduleResult>;
  /** The coming days of an environment, played at most a minute ago. */
  readonly ahead: (environment: string) => Promise<Rehearsal>;
}

/** The messages of a recipient by channel, or why they cannot be shown. */
export type SentMessages =
  | { readonly messages: ReadonlyMap<string, PreviewNode> }
  | { readonly why: 'changed' | 'long' | 'unknown' };

export interface Made {
  readonly content: Content;
  /** A part is being counted: the page has more soon. */
  readonly isOld: boolean;
}

export interface Asked {
  readonly view: View;
  readonly query: URLSearchParams;
  /** How long scans of lists may take: a reader waits, a listener gets the result later. */
  readonly patienceMs: number;
}

/** Makes a page. Gets the steps of its address that are not its name, and null while there is no ledger. */
export type MakePage = (
  site: Site,
  open: OpenLedger | null,
  asked: Asked,
  ...steps: readonly string[]
) => Promise<Made>;

/** Makes a page about a run, or about a row of it. */
export function ofRun(
  make: (site: Site, open: OpenLedger, run: RunRecord, asked: Asked, row: number) => Promise<Made>,
): MakePage {
  return async (site, open, asked, id = '', row = '') => {
    if (open === null) return notFound('There is no ledger yet, and so no run.');
    const run = runOf(open, id);
    return run === null ? noRun(id) : await make(site, open, run, asked, Number(row));
  };
}

export function whole(content: Content): Made {
  return { content, isOld: false };
}

export function notFound(what: string): Made {
  return whole(messagePage(404, 'Not found', [what]));
}

/** By id, and never the newest of a campaign, which would be another one tomorrow. */
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

/**
 * A value of a query that its list lacks, in a sentence; null: there is none.
 * @param known - the values by name; the empty text is always known
 */
export function unknownValue(query: URLSearchParams, known: Readonly<Record<string, readonly string[]>>) {
  for (const [name, values] of Object.entries(known)) {
    const text = textOf(query, name);
    if (text !== '' && !values.includes(text))
      return `There is no ${name} "${text.slice(0, 100)}": it can be ${listWithOr(values)}.`;
  }
  return null;
}

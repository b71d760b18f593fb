import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:http';
import { expect } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import type { RunRecord } from '../../src/ledger/records.ts';
import type { DeliveryReport, InputFile, OutcomeState, Reply } from '../../src/model.ts';
import type { ServeOptions } from '../../src/web/options.ts';
import { serve } from '../../src/web/serve.ts';
import type { Serving } from '../../src/web/start.ts';
import type { Watched } from '../helpers/browser.ts';

export const NOW = Date.UTC(2026, 10, 21, 9);

/** A row of a list that was sent: what became of it. */
export interface SentRow {
  readonly key?: string;
  readonly to?: string;
  readonly state?: Exclude<OutcomeState, 'pending' | 'deferred'> | 'pending';
  readonly reason?: string | null;
  /** Else 202 where accepted and 400 where rejected. */
  readonly httpStatus?: number;
  readonly messageId?: string | null;
  readonly error?: string | null;
  readonly variant?: string | null;
}

export interface SentRun {
  readonly campaign: string;
  readonly environment?: string;
  readonly occurrence?: string;
  /** Left as if the process was killed: neither ended nor held. */
  readonly isKilled?: boolean;
  readonly atMs?: number;
  /** Those of the run; else none. */
  readonly inputs?: readonly InputFile[];
}

/** Number of the nth person, of the numbers that are reserved for films. */
export function numberOf(n: number): string {
  return `+447700${String(900_000 + n).padStart(6, '0')}`;
}

/** Puts a run into a ledger by the moves of a real one. */
export function recordRun(ledger: Ledger, facts: SentRun, rows: readonly SentRow[]): RunRecord {
  const { campaign, environment = 'sandbox', occurrence = 'once', isKilled = false, atMs = NOW, inputs = [] } = facts;
  const who = (row: number) => ({ key: rows[row]?.key ?? numberOf(row), to: rows[row]?.to ?? numberOf(row) });
  const draft = ledger.beginLoad({ environment, campaign, occurrence }, { channel: 'sms', nowMs: atMs });
  for (let from = 0; from < rows.length; from += 5_000) {
    const some = rows.slice(from, from + 5_000);
    ledger.load(
      draft,
      some.map(({ state = 'accepted', reason = null, variant = null }, i) => ({
        ...who(from + i),
        row: from + i,
        line: from + i + 2,
        state: state === 'skipped' ? 'skipped' : 'pending',
        reason: state === 'skipped' ? reason : null,
        parts: 1,
        encoding: 'GSM-7',
        costMicros: 40_000,
        variant,
      })),
    );
  }
  const { run } = ledger.start(ledger.finishLoad(draft, { inputs, identityHash: 'x', nowMs: atMs }), atMs);
  for (let from = 0; from < rows.length; from += 5_000) {
    const tried = rows
      .slice(from, from + 5_000)
      .flatMap((row, i) => (row.state === 'skipped' || row.state === 'pending' ? [] : [{ ...row, row: from + i }]));
    ledger.commit(
      run,
      [],
      tried.map(({ row }) => ({ ...who(row), row, step: 0 })),
      atMs + from,
    );
    const results = tried.map(
      ({ row, state = 'accepted', reason = null, messageId = `m-${row}`, error = null, httpStatus }) => ({
        row,
        step: 0,
        from: 'claimed' as const,
        state: state as 'accepted' | 'rejected' | 'failed' | 'in-doubt',
        reason,
        attempts: 1,
        httpStatus: httpStatus ?? (state === 'accepted' ? 202 : state === 'rejected' ? 400 : null),
        messageId: state === 'accepted' ? messageId : null,
        error,
      }),
    );
    ledger.commit(run, results, [], atMs + from + 1_000);
  }
  if (isKilled) return run;
  const state = rows.some((row) => row.state === 'pending') ? 'partial' : 'finished';
  return ledger.finish(run, { state, halt: null, figures: null, nowMs: atMs + rows.length + 2_000 });
}

/** Does something with a ledger that is made where there is none. */
export function withLedger<T>(path: string, use: (ledger: Ledger) => T): T {
  const ledger = openLedger(path, { mode: 'write', nowMs: NOW });
  try {
    return use(ledger);
  } finally {
    ledger.close();
  }
}

export function reportOf(messageId: string, state: DeliveryReport['state']): DeliveryReport {
  const unsaid = { reference: null, address: null, channel: null, word: null, cause: null, error: null };
  return { kind: 'delivery', ...unsaid, textHash: null, messageId, state, atMs: NOW, eventId: null };
}

export function replyOf(from: string, text: string, meaning: Reply['meaning']): Reply {
  const unsaid = { reference: null, messageId: null, to: null, channel: null };
  return { kind: 'reply', ...unsaid, replyId: `${from} ${text}`, from, text, meaning, atMs: NOW };
}

/** Open pages of a project on a free port, closed at the end of `await using`. */
export async function servePages(
  cwd: string,
  options: Partial<ServeOptions> = {},
): Promise<Serving & AsyncDisposable & { readonly base: string }> {
  const serving = await serve({
    cwd,
    env: {},
    port: 0,
    now: () => NOW + 60_000,
    timeZone: 'Europe/London',
    open: options.allowRemote === undefined && options.host === undefined,
    ...options,
  });
  return { ...serving, base: serving.url.slice(0, -1), [Symbol.asyncDispose]: () => serving.close() };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One request as it is given: any Host, any path. */
export function ask(port: number, path: string, { method = 'GET', headers = {}, body }: Asking = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asking = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text }));
    });
    asking.on('error', reject);
    asking.end(body);
  });
}

/** A stream of events, and what it has brought so far. */
export interface Stream {
  readonly text: () => string;
  /** Resolves when the other side ends it. */
  readonly ended: Promise<void>;
  close(): void;
}

export function openStream(
  port: number,
  page: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const path = `/events?page=${encodeURIComponent(page)}`;
    const asking = request({ host: '127.0.0.1', port, path, headers, agent: false }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      const ended = new Promise<void>((done) => incoming.on('close', () => done()));
      incoming.on('error', () => undefined);
      if (incoming.statusCode !== 200) reject(new Error(`status ${incoming.statusCode}`));
      else resolve({ text: () => text, ended, close: () => asking.destroy() });
    });
    asking.on('error', reject);
    asking.end();
  });
}

/** Signs in as the printed address does, and gives the cookie and the token of forms. */
export async function signIn({
  port,
  signInUrl,
}: Pick<Serving, 'port' | 'signInUrl'>): Promise<{ cookie: string; csrf: string }> {
  const login = await ask(port, new URL(signInUrl ?? '').pathname + new URL(signInUrl ?? '').search);
  const cookie = (login.headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '';
  const page = await ask(port, '/suppressions', { headers: { cookie } });
  return { cookie, csrf: /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '' };
}

/** A run with all that its pages can show. @returns its id */
export function recordAll(path: string): string {
  return withLedger(path, (ledger) => {
    const rows = [
      ...Array.from({ length: 60 }, (_, i) => ({ variant: i % 2 === 0 ? 'a' : 'b' })),
      { state: 'in-doubt', reason: 'timeout' },
      { state: 'in-doubt', reason: 'no-response', error: 'gone' },
      { state: 'rejected', reason: 'status', error: 'no such number' },
      { state: 'skipped', reason: 'duplicate' },
    ] as const;
    const run = recordRun(ledger, { campaign: 'past' }, rows);
    const reports = [reportOf('m-0', 'delivered'), reportOf('m-1', 'undeliverable')];
    const replies = [replyOf(numberOf(0), 'no more, please', 'review'), replyOf(numberOf(1), 'thanks', 'answer')];
    ledger.events.record([...reports, ...replies], { nowMs: NOW + 9_000, source: 'webhook', environment: 'sandbox' });
    ledger.suppress(numberOf(5), { reason: 'by phone', untilMs: null, source: 'user', nowMs: NOW });
    return run.id;
  });
}

/** Nothing was asked of another server, and nothing went wrong. */
export function expectQuiet({ logged, dialogs, requests }: Watched, base: string): void {
  expect(logged).toEqual([]);
  expect(dialogs).toEqual([]);
  expect(requests.filter((url) => !url.startsWith(`${base}/`))).toEqual([]);
}

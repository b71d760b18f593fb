import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import type { Ledger, LedgerOptions } from '../../src/ledger/ledger.ts';
import { acquireRunLock, isRunHeld, type RunLock } from '../../src/ledger/lock.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { type Bridge, openBridge } from '../../src/ledger/postgres/bridge.ts';
import type { ClaimRequest, LoadRow, ResultRecord, RunIdentity, RunRecord } from '../../src/ledger/records.ts';
import { shownLedger } from '../../src/util/ledger-address.ts';
import { until } from '../helpers/cli.ts';
import { HELLO, NOON } from './values.ts';

/** A folder that is removed after the test. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'handbill-ledger-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Where a project would have its ledger; the folder `.handbill` is not there yet. */
export function scratchPath(): string {
  return join(scratchFolder(), '.handbill', 'ledger.db');
}

/** Where the ledgers of tests are: in files, or each in a database of its own on this server. */
let server: string | null = null;
const databases = new Map<string, string>();

/** From here on `open` opens shared ledgers; null: files again. */
export function shareLedgers(address: string | null): void {
  server = address;
}

/** Whether the tests that are read right now are for shared ledgers: what is about files has no place among them. */
export function areShared(): boolean {
  return server !== null;
}

/** What a process is told to open where a test opens this file. */
export function placeOf(path: string): string {
  return server === null ? path : databaseFor(path, server);
}

/** Takes the lock of a run as another process would. */
export function lockRun(path: string, run: RunIdentity): RunLock | null {
  return server === null ? acquireRunLock(path, run) : open(path).lock(run);
}

export function isHeld(path: string, run: RunIdentity): boolean {
  return server === null ? isRunHeld(path, run) : open(path).isHeld(run);
}

/** What a query finds in the ledger, past handbill. */
export function lookInto(path: string, sql: string): readonly (readonly unknown[])[] {
  if (server === null) {
    const db = new DatabaseSync(path, { readOnly: true });
    try {
      return db
        .prepare(sql)
        .all()
        .map((row) => Object.values(row));
    } finally {
      db.close();
    }
  }
  const bridge = openBridge(databaseFor(path, server));
  bridge.ask({ text: 'SET search_path = handbill', values: [] }, 60_000);
  const said = bridge.ask({ text: sql, values: [] }, 60_000);
  bridge.close();
  if (said === null || 'error' in said) throw new Error(said?.error.message ?? 'no answer');
  return said.rows;
}

/**
 * The address of the shared ledger that is used for this file: a copy of an empty one, which takes a fifth of the time. A
 * ledger calls itself by its address without the password, and is found by that as well.
 */
function databaseFor(path: string, at: string): string {
  const known = databases.get(path);
  if (known !== undefined) return known;
  admin ??= openBridge(at);
  template ??= emptyLedger(admin, at);
  const address = freshDatabase(admin, at, template);
  databases.set(path, address);
  databases.set(shownLedger(address), address);
  return address;
}

let admin: Bridge | null = null;
let template: string | null = null;

function emptyLedger(by: Bridge, at: string): string {
  const address = freshDatabase(by, at, 'template0');
  openLedger(address, { mode: 'write', nowMs: 0 }).close();
  return new URL(address).pathname.slice(1);
}

function freshDatabase(by: Bridge, at: string, like: string): string {
  const address = new URL(at);
  address.pathname = `/handbill_test_${randomBytes(6).toString('hex')}`;
  const text = `CREATE DATABASE ${address.pathname.slice(1)} TEMPLATE ${like} STRATEGY file_copy`;
  // A client that was connected to the one that is copied may be about to leave.
  for (let tries = 0; ; tries += 1) {
    const said = by.ask({ text, values: [] }, 60_000);
    if (said !== null && !('error' in said)) return address.href;
    if (tries === 50) throw new Error(`no database: ${said?.error.message ?? 'no answer'}`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  }
}

/** Every file of the ledger's folder, as one string of bytes; of a shared one what a look into its tables finds. */
export function bytesOf(path: string): string {
  if (areShared()) {
    const tables = lookInto(path, "SELECT tablename FROM pg_tables WHERE schemaname = 'handbill'").flat();
    const rows = tables.map((table) => `SELECT t::text FROM ${String(table)} AS t`).join(' UNION ALL ');
    return JSON.stringify(lookInto(path, rows));
  }
  const folder = dirname(path);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

/** Opens a ledger that is closed after the test. */
export function open(path: string, options: Partial<LedgerOptions> = {}): Ledger {
  const ledger = openLedger(placeOf(path), { mode: 'write', nowMs: NOON, ...options });
  onTestFinished(() => ledger.close());
  return ledger;
}

/** A run whose list is loaded, and that is started unless told otherwise. */
export function givenRun(ledger: Ledger, list: readonly LoadRow[], options: { start?: boolean } = {}): RunRecord {
  const draft = ledger.beginLoad(HELLO, { channel: 'sms', nowMs: NOON });
  ledger.load(draft, list);
  const run = ledger.finishLoad(draft, { inputs: [], identityHash: 'identity', nowMs: NOON });
  return options.start === false ? run : ledger.start(run, NOON).run;
}

/** Claims at noon. */
export function claimAll(ledger: Ledger, run: RunRecord, claims: readonly ClaimRequest[]): readonly string[] {
  return ledger.commit(run, [], claims, NOON);
}

/** Records results at noon. */
export function recordAll(ledger: Ledger, run: RunRecord, results: readonly ResultRecord[]): void {
  ledger.commit(run, results, [], NOON);
}

/** `outcome` or `outcome(reason)` of every row, in list order. */
export function fates(ledger: Ledger, run: RunRecord): string[] {
  return [...ledger.outcomes(run)].flat().map((o) => (o.reason === null ? o.outcome : `${o.outcome}(${o.reason})`));
}

/** Runs a script of `children/` with the sources as they are. */
export function child(script: string, args: readonly string[], prefix: readonly string[] = []): ChildProcess {
  const file = fileURLToPath(new URL(`children/${script}`, import.meta.url));
  const [command = '', ...rest] = [...prefix, process.execPath, file, ...args];
  const started = spawn(command, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => {
    started.kill('SIGKILL');
  });
  return started;
}

/** The first line that a child prints. */
export function firstLine(started: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    started.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    started.on('exit', (status) => reject(new Error(`The child ended with ${status}: ${text}`)));
  });
}

/** Everything that a child prints, when it has ended. */
export function whole(started: ChildProcess): Promise<{ text: string; status: number | null }> {
  return new Promise((resolve) => {
    let text = '';
    started.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    started.on('close', (status) => resolve({ text, status }));
  });
}

/**
 * Kills a process. Where it holds the run of a ledger, waits as well until the ledger knows: a file lets go of a lock with
 * the process, a server once it has read the end of the connection.
 */
export async function killed(started: ChildProcess, holding?: string): Promise<void> {
  await new Promise<void>((resolve) => {
    started.on('exit', () => resolve());
    started.kill('SIGKILL');
  });
  if (holding === undefined || !areShared()) return;
  const ledger = open(holding);
  await until('the server has let go of the run', () => !ledger.isHeld(HELLO), 10_000);
}

/** Code, exit status and kind of what `work` throws. */
export function thrown(work: () => unknown): Record<string, unknown> {
  try {
    work();
  } catch (error) {
    const { code, exit, kind, recorded, message } = error as Record<string, unknown>;
    return { code, exit, ...(kind === undefined ? {} : { kind, recorded }), message };
  }
  return expect.fail('Nothing was thrown.');
}

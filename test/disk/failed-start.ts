import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { HandbillError } from '../../src/errors.ts';
import { send } from '../../src/operations/send.ts';
import type { CliOptions, CliResult } from '../helpers/cli.ts';
import type { Evidence } from '../oracle/oracle.ts';
import { readReceipts } from '../oracle/receipts.ts';
import { CANARY_KEY, createScene, type Scene } from '../oracle/scene.ts';
import type { Api } from '../processes/api.ts';
import type { FaultName } from './sqlite-faults.ts';

export const CONCURRENCY = 2;
export const ROWS = 6;

/** One line of what preload/failing-ledger.ts writes down. */
export interface LogLine {
  /** Counts the calls to SQLite from 1, over all handles. */
  readonly call?: number;
  readonly handle?: number;
  readonly file?: string;
  readonly how?: 'exec' | 'run' | 'get' | 'all' | 'iterate';
  readonly sql?: string;
  readonly values?: readonly unknown[];
  readonly fails?: true;
  /** The handle whose transaction is on the disk, and what SQLite says of its syncs. */
  readonly committed?: number;
  readonly synchronous?: number;
  readonly closed?: number;
  /** The number that a request, whose headers are just being written, goes to. */
  readonly post?: string;
}

export interface Fault {
  readonly at: number;
  readonly fault: FaultName;
}

export interface FailedStart extends CliResult {
  readonly log: readonly LogLine[];
}

const PRELOAD = pathToFileURL(join(import.meta.dirname, 'preload', 'failing-ledger.ts')).href;

/** A project of its own, with a ledger that was not opened yet. */
export function sceneOf(api: Api, rows = ROWS): Scene {
  return createScene({ rows, baseUrl: api.url, receipts: api.receipts });
}

/** Sends with the command line while SQLite fails as told, if at all. */
export async function sendWatched(
  scene: Scene,
  order: Partial<Fault> & { readonly only?: string; readonly waitMs?: number } = {},
  args: readonly string[] = [],
  more: Partial<CliOptions> = {},
): Promise<FailedStart> {
  const folder = mkdtempSync(join(tmpdir(), 'handbill-sqlite-'));
  try {
    const log = join(folder, 'log');
    const env = { NODE_OPTIONS: `--import=${PRELOAD}`, HANDBILL_TEST_SQLITE: JSON.stringify({ ...order, log }) };
    const result = await scene.send(['--concurrency', String(CONCURRENCY), ...args], { ...more, env });
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    return { ...result, log: lines.map((line) => JSON.parse(line) as LogLine) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Starts again as a user would once the disk is well, and asks the oracle; says in words what is wrong. It is done in
 * this process, which costs a tenth of another one.
 */
export async function startAgain(scene: Scene, api: Api, more: Partial<Evidence> = {}): Promise<string[]> {
  const before = readReceipts(api.receipts).length;
  try {
    const { exit } = await send('campaign.yaml', {
      cwd: scene.root,
      env: { HANDBILL_API_KEY: CANARY_KEY },
      now: Date.now,
      environment: 'test',
      concurrency: CONCURRENCY,
      allow: ['input-changed'],
      confirm: () => Promise.resolve(true),
    });
    const said = exit === 0 || exit === 4 ? [] : [`started again, it ends with exit status ${exit}`];
    return [...said, ...scene.violations({ starts: [0, before], mostCrashes: CONCURRENCY, ...more })];
  } catch (error) {
    const status = error instanceof HandbillError ? `exit status ${error.exit}` : 'a bug';
    return [`started again, it ends with ${status}: ${error instanceof Error ? error.message : String(error)}`];
  }
}

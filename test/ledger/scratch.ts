import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import type { Ledger, LedgerOptions } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import type { LoadRow, RunRecord } from '../../src/ledger/records.ts';
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

/** Opens a ledger that is closed after the test. */
export function open(path: string, options: Partial<LedgerOptions> = {}): Ledger {
  const ledger = openLedger(path, { mode: 'write', nowMs: NOON, ...options });
  onTestFinished(() => ledger.close());
  return ledger;
}

/** A run whose list is sealed, and that is started unless told otherwise. */
export function givenRun(ledger: Ledger, list: readonly LoadRow[], options: { start?: boolean } = {}): RunRecord {
  const draft = ledger.beginLoad(HELLO, { channel: 'sms', nowMs: NOON });
  ledger.load(draft, list);
  const run = ledger.sealLoad(draft, { inputs: [], identityHash: 'identity', nowMs: NOON });
  return options.start === false ? run : ledger.start(run, NOON).run;
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

export function killed(started: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    started.on('exit', () => resolve());
    started.kill('SIGKILL');
  });
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

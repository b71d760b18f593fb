import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isPostgres } from '../../src/util/ledger-address.ts';
import type { CliResult } from '../helpers/cli.ts';
import { commandRunner } from '../helpers/here.ts';
import { FORMS } from '../oracle/forms.ts';
import type { Ending } from '../oracle/oracle.ts';
import type { Receipt } from '../oracle/receipts.ts';
import { CANARY_KEY, type Scene } from '../oracle/scene.ts';

/** What a start may end with here: nothing bad, rejected, in doubt, halted by a stop rule. */
const DOCUMENTED = [0, 3, 4, 5];

/** A frame of a stack, as V8 prints it. */
const FRAME = /^\s+at .*:\d+:\d+\)?$/m;

/** What is wrong with the way in which a start ended; one that was killed says nothing, or what it got to say. */
export function* badEnd({ status, signal, stdout, stderr }: CliResult): Generator<string> {
  if (signal !== 'SIGKILL' && !DOCUMENTED.includes(status ?? -1)) yield `exit status ${status}: ${stderr}`;
  if (FRAME.test(stderr) || FRAME.test(stdout)) yield `a stack trace: ${stderr}${stdout}`;
  if (stderr.includes('a bug')) yield `a bug: ${stderr}`;
  if (stderr.includes(CANARY_KEY) || stdout.includes(CANARY_KEY)) yield 'the API key was printed';
}

/** Of a file; a database server looks after itself. */
export function* damage(ledger: string): Generator<string> {
  if (isPostgres(ledger)) return;
  const db = new DatabaseSync(ledger, { readOnly: true });
  try {
    const found = db.prepare('PRAGMA integrity_check').get()?.['integrity_check'];
    if (found !== 'ok') yield `integrity_check: ${String(found)}`;
  } finally {
    db.close();
  }
}

/** Files of the project that hold the API key. */
export function* keysOnDisk(scene: Scene): Generator<string> {
  for (const [file, bytes] of scene.contents()) if (bytes.includes(CANARY_KEY)) yield `the API key stands in ${file}`;
}

/** Bodies by reference, as `preview` shows them for the start of the run; the bytes, not what they mean. */
export async function previewedBodies(scene: Scene, startedAt: string): Promise<ReadonlyMap<string, string>> {
  const form = FORMS[scene.form];
  // The run itself is done, so it is looked at without its ledger: in a copy of the project.
  const copy = mkdtempSync(join(tmpdir(), 'handbill-previewed-'));
  cpSync(scene.root, copy, { recursive: true, filter: (path) => basename(path) !== '.handbill' });
  const args = ['preview', 'campaign.yaml', '--env', 'test', '--format', 'jsonl', '--at', startedAt];
  const { status, stdout, stderr } = await commandRunner()(args, {
    cwd: copy,
    env: { HANDBILL_API_KEY: CANARY_KEY },
  });
  rmSync(copy, { recursive: true, force: true });
  if (status !== 0) throw new Error(`preview ended with ${status}: ${stderr}`);
  const bodies = stdout.split('\n').flatMap((line) =>
    // Of a row with fallbacks there are several.
    line
      .split(BODY)
      .slice(1)
      .map((rest): [string, string] => {
        const shown = rest.slice(0, endOfValue(rest));
        const body = shown.startsWith('"') ? String(JSON.parse(shown)) : shown;
        return [form.read(body).references[0] ?? '?', form.timeless(body)];
      }),
  );
  return new Map(bodies);
}

const BODY = /"headers":\{"content-type":"[^"]+"\},"body":/;

/** Where the JSON object or text ends with which a text begins. */
function endOfValue(text: string): number {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === '{') depth += 1;
    if (token === '}') depth -= 1;
    if (depth === 0) return index + token.length;
  }
  throw new Error(`no object: ${text}`);
}

/** Rows that a kill left in doubt. */
export function crashed(endings: readonly Ending[]): Ending[] {
  return endings.filter(({ outcome, reason }) => outcome === 'in-doubt' && reason === 'crash');
}

/** How many of them the server received all the same. */
export function receivedOf(doubts: readonly Ending[], receipts: readonly Receipt[]): number {
  const received = new Set(receipts.map(({ reference }) => reference));
  return doubts.filter(({ reference }) => received.has(reference)).length;
}

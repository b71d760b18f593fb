import process from 'node:process';
import { expect, it } from 'vitest';
import { startApi } from '../processes/api.ts';
import { type FailedStart, type Fault, type LogLine, sceneOf, sendWatched, startAgain } from './failed-start.ts';
import { inPairs } from './in-pairs.ts';
import { FAULTS, type FaultName, WRITES } from './sqlite-faults.ts';

/*
 * The k-th call to SQLite fails, for every k: what a start does then, and what the next one finds. The sample takes some
 * calls of each phase, the full set every call: three faults where something is written, one elsewhere.
 */

const FULL = process.env['HANDBILL_FULL'] === '1';
const NAMES = Object.keys(FAULTS) as FaultName[];
const OF_WRITES = NAMES.filter((name) => name !== 'full');
const OF_READS: readonly FaultName[] = ['I/O error on write', 'corrupt', 'busy'];

const CLAIMS = /SET state = 'claimed'/;
const LEAVING = /^(BEGIN IMMEDIATE|DELETE FROM holders|COMMIT)/;
/** Faults after which the handle cannot be trusted any more: nothing is written through it, and it is not closed. */
const UNTRUSTED: readonly FaultName[] = ['I/O error on write', 'I/O error on sync', 'corrupt'];

it('the k-th call to the ledger fails, whichever it is (H1, A5)', { timeout: 600_000 }, async () => {
  const cases = casesOf(await wholeLog());
  const found: string[] = [];
  await inPairs(cases, async (fault) => {
    await using api = await startApi();
    using scene = sceneOf(api);
    const failed = await sendWatched(scene, fault);
    const wrong = [...judge(failed, fault), ...(await startAgain(scene, api))];
    found.push(...wrong.map((what) => `${fault.fault} at call ${fault.at} (${sqlOf(failed)}): ${what}`));
  });
  expect(found.join('\n\n')).toBe('');
  expect(cases.length).toBeGreaterThanOrEqual(FULL ? 150 : 10);
});

/** What a start calls when nothing fails. */
async function wholeLog(): Promise<readonly LogLine[]> {
  await using api = await startApi();
  using scene = sceneOf(api);
  const { status, stderr, log } = await sendWatched(scene);
  expect(status, stderr).toBe(0);
  return log.filter(({ call }) => call !== undefined);
}

function casesOf(calls: readonly LogLine[]): Fault[] {
  const all = calls.flatMap(({ call: at = 0, sql = '', file }) => {
    const opening = at < (calls.find((one) => one.file !== file)?.call ?? 0);
    const other = OF_WRITES[at % OF_WRITES.length] ?? 'corrupt';
    if (!WRITES.test(sql)) return [{ at, fault: OF_READS[at % OF_READS.length] ?? 'corrupt' }];
    if (opening) return [{ at, fault: at % 2 === 0 ? other : 'full' } as const];
    const disk = at % 2 === 0 ? 'I/O error on write' : 'I/O error on sync';
    return [...new Set<FaultName>(['full', disk, other])].map((fault) => ({ at, fault }));
  });
  // A step that has no factor in common with the three faults of a call, so that all of them have their turn.
  return FULL ? all : all.filter((_, at) => at % Math.floor(all.length / 12) === 5);
}

function* judge({ status, stderr, log }: FailedStart, { fault }: Fault): Generator<string> {
  if (/\n\s+at |a bug/.test(stderr)) yield `a stack trace, or a bug: ${stderr}`;
  const at = log.findIndex(({ fails }) => fails === true);
  const failing = log[at];
  if (failing === undefined) return yield* status === 0 ? [] : [`not reached, and exit status ${status}`];
  const after = log.slice(at + 1);
  const mine = after.filter(({ handle }) => handle === failing.handle).map(({ sql = '' }) => sql);
  const exits = isOver(log.slice(0, at)) && LEAVING.test(failing.sql ?? '') ? [0] : [7];
  // Another connection that asks the same at the same moment looks the same to SQLite.
  if (fault === 'busy' && /journal_mode|BEGIN EXCLUSIVE/.test(failing.sql ?? '')) exits.push(0, 6);
  const onlyReads = isLastLook(log, at);
  // There, what another process or a full disk prevents is no damage.
  if (onlyReads && !UNTRUSTED.includes(fault)) exits.push(0);
  if (fault === 'busy' && looksAgain(log, at)) {
    exits.push(0);
    const next = after.findIndex(({ sql }) => sql === 'BEGIN IMMEDIATE');
    if (after.slice(0, next).some(({ post }) => post !== undefined)) yield 'posted without having looked';
  }
  if (status === null || !exits.includes(status)) yield `exit status ${status}: ${stderr}`;
  if (status === 7 && stderr.trim() === '') yield 'nothing was said';
  const posts = after.filter(({ post }) => post !== undefined).length;
  if (status === 7 && posts > 0) yield `${posts} requests after it`;
  if (status === 7 && mine.some((sql) => CLAIMS.test(sql))) yield 'claims after it';
  if (failing.file !== 'ledger.db' || onlyReads || !UNTRUSTED.includes(fault)) return;
  for (const sql of mine.filter((one) => WRITES.test(one))) yield `written all the same: ${sql}`;
  if (after.some(({ closed }) => closed === failing.handle)) yield 'closed all the same';
}

/**
 * K3: the look for opt-outs after a disk has claims. Who cannot be looked up is not sent to; they are claimed again, so
 * that one busy moment ends nothing.
 */
function looksAgain(log: readonly LogLine[], at: number): boolean {
  const { handle, sql = '' } = log[at] ?? {};
  const last = log.slice(0, at).findLast((line) => line.handle === handle && /^(BEGIN|COMMIT)/.test(line.sql ?? ''));
  return /^SELECT (1|EXISTS \(SELECT 1) FROM suppressions/.test(sql) && last?.sql === 'COMMIT';
}

/** The outcome of the run is on the disk. What is left to do is to unlock it. */
function isOver(log: readonly LogLine[]): boolean {
  const finish = log.findIndex(({ sql = '' }) => sql.startsWith('UPDATE runs SET state = ?, halt = ?'));
  return finish >= 0 && log.slice(finish).some(({ committed }) => committed !== undefined);
}

/** A connection that was opened when the outcome of the run was on the disk, to read what the next process will. */
function isLastLook(log: readonly LogLine[], at: number): boolean {
  const opened = log.findIndex(({ handle }) => handle === log[at]?.handle);
  return isOver(log.slice(0, opened));
}

function sqlOf({ log }: FailedStart): string {
  return (
    log
      .find(({ fails }) => fails === true)
      ?.sql?.slice(0, 60)
      .replaceAll(/\s+/g, ' ') ?? 'not reached'
  );
}

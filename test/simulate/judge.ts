import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openLedger } from '../../src/ledger/open.ts';
import type { RunIdentity } from '../../src/ledger/records.ts';
import type { Channel, Commit, Outcome } from '../../src/model.ts';
import { misbooked } from '../oracle/accounts.ts';
import { endingsOf } from '../oracle/endings.ts';
import { violations } from '../oracle/oracle.ts';
import type { Heard } from './heard.ts';
import { judgeEvents } from './judge-events.ts';
import type { Start } from './process.ts';
import { type Edition, IDENTITY } from './scene.ts';
import type { Server, ServerReceipt } from './server.ts';
import { RENAMED } from './surroundings.ts';
import type { LedgerView } from './watch.ts';
import type { World } from './world.ts';

/** A start ends in one of the documented ways. */
export function judgeEnding(world: World, { name, ending, rules }: Start): void {
  if (ending === null) return;
  world.cover(`ending:${ending.kind}${ending.kind === 'refused' ? ` ${ending.exit} ${ending.code}` : ''}`);
  if (ending.kind === 'sent' && ending.halt !== null) world.cover(`halt:${ending.halt}`);
  if (ending.kind === 'bug') world.object(`${name} ended with ${ending.message}`);
  if (ending.kind !== 'refused') return;
  if (ending.exit !== 2 && ending.exit !== 7) world.object(`${name} ended with exit status ${ending.exit}`);
  if (ending.exit === 2 && rules.posts > 0) world.object(`${name} was refused after ${rules.posts} requests`);
}

/** What is left at the end of a history, and what was seen of one run. */
export interface Remains {
  readonly folder: string;
  readonly identity: RunIdentity;
  readonly server: Server;
  readonly view: LedgerView;
  readonly starts: readonly number[];
  /** What its starts were made from; default: nothing is known. */
  readonly commits?: readonly Commit[];
  readonly planFile: readonly Edition[];
  readonly retryStatuses: readonly number[];
  /** No two processes were at it at the same time: else an answer may come too late to begin the next step. */
  readonly alone: boolean;
  /** Says whether a row may wait without end; default: none may. */
  readonly mayWait?: (row: Pick<Outcome, 'outcome' | 'reason'>) => boolean;
  readonly heard: Heard;
  /** Recipients who may still be sent to; default: those on the last list. */
  readonly isOpen?: (outcome: Outcome) => boolean;
}

/** The oracle's judgement of what is in the ledger at the very end, and of the file itself. */
export function judgeLedger(remains: Remains): string[] {
  const { folder, identity, server, view, starts, planFile, retryStatuses, alone, mayWait, heard } = remains;
  const path = join(folder, 'ledger.db');
  const found: string[] = [];
  const last = planFile.at(-1);
  if (last === undefined || !existsSync(path)) return ['nothing was ever sent'];
  const ledger = openLedger(path, { mode: 'read', nowMs: Number.MAX_SAFE_INTEGER });
  try {
    const run = ledger.findRun(identity);
    if (run === null) return ['the run is gone'];
    if (ledger.runs().some(({ campaign }) => campaign === RENAMED))
      found.push('the run was begun again under a new name');
    const commits = [...new Set(remains.commits)];
    if (JSON.stringify(run.commits) !== JSON.stringify(commits))
      found.push(`the run names the commits ${JSON.stringify(run.commits)}, not ${JSON.stringify(commits)}`);
    const outcomes = [...ledger.outcomes(run)].flat();
    for (const { row, outcome, reason } of outcomes) {
      const isOpen = outcome === 'pending' || outcome === 'failed' || outcome === 'deferred';
      if (isOpen && mayWait?.({ outcome, reason }) !== true)
        found.push(`row ${row} is forgotten: ${outcome} ${reason}`);
    }
    if (ledger.runs().some(({ environment }) => environment !== IDENTITY.environment))
      found.push('an environment that stands in for another one has runs of its own');
    const { referenceOf } = last.plan;
    const endings = endingsOf(
      outcomes.map((outcome) => ({ ...outcome, line: outcome.row + 2 })),
      referenceOf,
    );
    const known = new Set(planFile.flatMap(({ keys }) => [...keys]));
    const gone = [...known].filter((key) => !last.keys.has(key)).length;
    const lines = Array.from({ length: last.rows + gone }, (_, row) => row + 2);
    const { receipts } = server;
    found.push(...postedElsewhere(outcomes, receipts, referenceOf), ...otherFallbacks(receipts, last));
    const evidence = { lines, endings, receipts, starts: [0, ...starts], askedAgain: view.askedAgain };
    const steps = alone ? { steps: 1 + last.plan.campaign.fallbacks.length } : {};
    const unreached = new Set(
      receipts.flatMap(({ reference }) => reference ?? []).filter((r) => heard.isUnreached(r, 0)),
    );
    found.push(...violations({ ...evidence, ...steps, retryStatuses, unreached }));
    const isOpen = remains.isOpen ?? (() => true);
    const isDue = (outcome: Outcome): boolean =>
      outcome.key !== null && last.keys.has(outcome.key) && hasNext(last, outcome) && isOpen(outcome);
    found.push(...judgeEvents({ ledger, run, outcomes, heard, referenceOf, isDue, alone }));
    const books = { outcomes, steps: ledger.steps(run), counts: ledger.counts(run), rows: lines.length };
    found.push(...misbooked(books));
  } finally {
    ledger.close();
  }
  const db = new DatabaseSync(path);
  const check = Object.values(db.prepare('PRAGMA integrity_check').get() ?? {})[0];
  db.close();
  if (check !== 'ok') found.push(`integrity_check says ${String(check)}`);
  return found;
}

/** What was answered was posted from the environment whose API answered. */
function* postedElsewhere(
  outcomes: readonly Outcome[],
  receipts: readonly ServerReceipt[],
  referenceOf: (key: string, channel: Channel) => string,
): Generator<string> {
  const answered = new Map(receipts.map(({ reference, environment }) => [reference, environment]));
  for (const { row, key, ...last } of outcomes) {
    if (key === null) continue;
    for (const { outcome, channel, postedFrom = IDENTITY.environment } of last.steps ?? [last]) {
      const environment = answered.get(referenceOf(key, channel));
      const isAnswered = outcome === 'accepted' || outcome === 'rejected';
      if (isAnswered && environment !== undefined && environment !== postedFrom)
        yield `row ${row} is ${outcome} as posted from ${postedFrom}, and ${environment} answered`;
    }
  }
}

/** The words of variant A, in JSON and in a form. */
const OF_A = /\bA(?: |\+|%20)(?:for|instead)/;

/** A fallback is that of the variant whose message went out before it, whichever won the test since. */
function* otherFallbacks(receipts: readonly ServerReceipt[], { plan, keyOf }: Edition): Generator<string> {
  const first = new Map<string, boolean>();
  for (const { reference, text } of receipts) {
    const key = reference === null ? '?' : keyOf(reference);
    if (key === '?' || plan.campaign.channel === 'sms') continue;
    if (reference === plan.referenceOf(key, plan.campaign.channel)) first.set(key, OF_A.test(text));
    else if (first.has(key) && first.get(key) !== OF_A.test(text))
      yield `${reference} has the fallback of another variant than the message before: ${text}`;
  }
}

/** The campaign has a channel that this person was not tried on. */
function hasNext({ plan }: Edition, { steps, channel }: Outcome): boolean {
  const used: readonly Channel[] = steps?.map((step) => step.channel) ?? [channel];
  return plan.campaign.fallbacks.some((next) => !used.includes(next.channel));
}

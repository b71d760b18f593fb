import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import type { RunRecord } from '../../src/ledger/records.ts';
import type { Channel, Delivery, DeliveryReport, Outcome, StepOutcome } from '../../src/model.ts';
import { feedbackOf, openDeliveries, resolveByReports } from '../../src/send/deliveries.ts';
import { type Heard, hasArrived, saysUnreached, stateOf } from './heard.ts';
import type { Told } from './provider.ts';
import type { Random } from './random.ts';
import { IDENTITY } from './scene.ts';

/** What the ledger makes of what it was told, at the very end. */
export interface Accounts {
  readonly ledger: Ledger;
  readonly run: RunRecord;
  readonly outcomes: readonly Outcome[];
  readonly heard: Heard;
  readonly referenceOf: (key: string, channel: Channel) => string;
  /** The recipient is to get the next step, were this one not to reach them; null: not asked. */
  readonly isDue: ((outcome: Outcome) => boolean) | null;
  /** No two processes were at it at the same time: else one may have ended the run while the other had claims. */
  readonly alone: boolean;
}

/** Clocks of two machines differ by so much. */
const CLOCKS_MS = 5 * 60_000;

/** Every event is there once, is joined to its message, and had the effect that it must have. */
export function* judgeEvents({ ledger, run, outcomes, heard, referenceOf, isDue, alone }: Accounts): Generator<string> {
  yield* judgeCounts(ledger, heard);
  const index = indexOf(heard.told);
  const about = (
    key: string | null,
    { channel, messageId, claimedAtMs, to, postedFrom = IDENTITY.environment }: StepOutcome,
  ): readonly DeliveryReport[] => {
    const reference = key === null ? '' : referenceOf(key, channel);
    // The API may give several recipients one id: a report that names the reference or the address of one is
    // about that one alone.
    // Nothing is reported before it was sent, by clocks that may have been set.
    const isOlder = ({ atMs }: DeliveryReport): boolean =>
      atMs !== null && claimedAtMs !== undefined && atMs < claimedAtMs - CLOCKS_MS;
    const isOwn = ({ reference: named, address }: DeliveryReport): boolean =>
      [null, reference].includes(named) && [null, to].includes(address);
    // Two providers may give out one id, each for a message of its own.
    const of = (id: string) => index.get(`${postedFrom} ${id}`) ?? [];
    const byId = of(messageId ?? '').filter(isOwn);
    return [...new Set([...of(reference), ...byId])].filter((report) => !isOlder(report));
  };
  const deliveries = openDeliveries(ledger, run);
  const joined = deliveries === null ? outcomes : deliveries.join(outcomes);
  const counts = new Map<Delivery, number>();
  for (const [at, outcome] of outcomes.entries()) {
    const { key, row } = outcome;
    const shown = joined[at];
    if (isNobody(outcome)) {
      if (shown?.delivery) counts.set(shown.delivery, (counts.get(shown.delivery) ?? 0) + 1);
      continue;
    }
    for (const [step, one] of (outcome.steps ?? [outcome]).entries()) {
      const reports = about(key, one);
      const own = (shown?.steps ?? [shown])[step]?.delivery ?? null;
      const expected = one.outcome === 'skipped' ? own : stateOf(reports);
      const isAnswer = (own === 'replied' || own === 'opted-out') && one.channel === outcome.channel;
      if (isAnswer) {
        if (!heard.hasReplied(outcome.to ?? '', own === 'opted-out')) yield `row ${row} is ${own}, and said nothing`;
      } else if (own !== expected) yield `row ${row}, step ${step}, is shown as ${own}, and reports say ${expected}`;
      const mayStay = !alone && one.reason === 'crash';
      if (one.outcome === 'in-doubt' && !mayStay && reports.length > 0)
        yield `row ${row} is in doubt, and reports are about it`;
    }
    const last = shown?.delivery ?? null;
    if (last !== null) counts.set(last, (counts.get(last) ?? 0) + 1);
    const isSeen = (outcome.steps ?? []).some((one) => hasArrived(stateOf(about(key, one)) ?? 'unknown'));
    const missed = outcome.outcome === 'accepted' && isUnreached(about(key, outcome)) && !isSeen && last !== 'replied';
    if (missed && isDue?.(outcome) === true) yield `row ${row} was not reached, and got no fallback`;
  }
  const shownCounts = new Map<Delivery, number>();
  for (const { delivery, count } of feedbackOf(ledger, run).deliveries) {
    if (delivery !== null) shownCounts.set(delivery, (shownCounts.get(delivery) ?? 0) + count);
  }
  const own = JSON.stringify([...shownCounts].toSorted());
  const expected = JSON.stringify([...counts].toSorted());
  if (own !== expected) yield `deliveries add up to ${own}, and are ${expected}`;
}

/** A duplicate or a bad row: nothing was sent for it. */
function isNobody({ outcome, key }: Outcome): boolean {
  return outcome === 'skipped' || key === null;
}

function* judgeCounts(ledger: Ledger, { told }: Heard): Generator<string> {
  const { reports, replies } = ledger.events.counts();
  const expected = { reports: 0, replies: 0 };
  for (const { event } of told) expected[event.kind === 'reply' ? 'replies' : 'reports'] += 1;
  if (reports !== expected.reports) yield `${reports} reports are held, of ${expected.reports}`;
  if (replies !== expected.replies) yield `${replies} replies are held, of ${expected.replies}`;
}

/** By everything that names a message, with the environment that it came in for. */
function indexOf(told: readonly Told[]): ReadonlyMap<string, readonly DeliveryReport[]> {
  const index = new Map<string, DeliveryReport[]>();
  for (const { event, environment } of told) {
    if (event.kind !== 'delivery') continue;
    for (const id of [event.reference, event.messageId]) {
      const name = `${environment} ${id}`;
      if (id !== null) index.set(name, [...(index.get(name) ?? []), event]);
    }
  }
  return index;
}

function isUnreached(reports: readonly DeliveryReport[]): boolean {
  const state = stateOf(reports);
  return state !== null && state !== 'delivered' && state !== 'read' && reports.some(saysUnreached);
}

interface Replay {
  /** A copy of the ledger for each of the two. */
  readonly folders: readonly [string, string];
  readonly told: readonly Told[];
  readonly random: Random;
  readonly nowMs: number;
  readonly startLifts: boolean;
}

/** Whether the same events come to the same whatever their order, however often they come, and whenever doubts are looked at. */
export function* judgeReplay({ folders, told, random, nowMs, startLifts }: Replay): Generator<string> {
  const facts = { nowMs, source: 'webhook', startLifts };
  const again = told.filter(() => random.chance(0.3));
  const [inOrder, anyhow] = folders;
  const first = replayed(inOrder, nowMs, (ledger) => {
    for (const { events, environment } of inGroups(told, random)) {
      ledger.events.record(events, { ...facts, environment });
      resolveByReports(ledger, nowMs);
    }
  });
  const second = replayed(anyhow, nowMs, (ledger) => {
    for (const { events, environment } of inGroups(shuffled([...told, ...again], random), random))
      ledger.events.record(events, { ...facts, environment });
    resolveByReports(ledger, nowMs);
  });
  for (const [what, one] of Object.entries(first)) {
    const other = second[what] ?? [];
    const odd = [...one.filter((line) => !other.includes(line)), ...other.filter((line) => !one.includes(line))];
    if (odd.length > 0) yield `in another order events come to other ${what}: ${odd.slice(0, 4).join(' | ')}`;
  }
}

const STATES: Readonly<Record<string, string>> = {
  rows: 'SELECT list, step, row, state, reason, message_id FROM recipients ORDER BY list, step, row',
  suppressions: 'SELECT address, source, until_at FROM suppressions ORDER BY address',
  runs: 'SELECT number, state FROM runs ORDER BY number',
};

function replayed(folder: string, nowMs: number, work: (ledger: Ledger) => void): Record<string, string[]> {
  const path = join(folder, 'ledger.db');
  const ledger = openLedger(path, { mode: 'write', nowMs });
  try {
    work(ledger);
  } finally {
    ledger.close();
  }
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const read = (sql: string) =>
      db
        .prepare(sql)
        .all()
        .map((row) => JSON.stringify(Object.values(row)));
    return Object.fromEntries(Object.entries(STATES).map(([what, sql]) => [what, read(sql)]));
  } finally {
    db.close();
  }
}

/** As requests: each is of one provider. */
function inGroups(told: readonly Told[], random: Random) {
  const groups: { readonly environment: string; readonly events: Told['event'][] }[] = [];
  for (const { event, environment } of told) {
    const last = groups.at(-1);
    if (last === undefined || random.chance(0.4) || last.environment !== environment)
      groups.push({ environment, events: [event] });
    else last.events.push(event);
  }
  return groups;
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, by: random.next() }))
    .toSorted((a, b) => a.by - b.by)
    .map(({ item }) => item);
}

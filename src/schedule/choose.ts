import type { DueCampaign } from '../model/result-types.ts';
import type { Campaign, HaltRule, RunState, Schedule } from '../model.ts';
import type { CronClock } from '../util/cron.ts';
import { instantOf, LATE_MS, occurrenceAt } from './occurrence.ts';

/** How late `skip` still sends, and how far back anything counts for a campaign of which nothing is known. */
export const GRACE_MS = 3_600_000;

export interface KnownRun {
  readonly occurrence: string;
  /** `running`: only while some process holds it. */
  readonly state: RunState;
  readonly halt: HaltRule | null;
  readonly createdAtMs: number;
  /** No recipient can be sent to before: all who are left wait for a window, or for a pause. Null: some can. */
  readonly waitsUntilMs: number | null;
  /** The campaign was what it is now: same file, same settings. */
  readonly isSame: boolean;
}

interface DueFacts {
  readonly schedule: Schedule;
  /** Nothing that is scheduled after it goes out; null: no end. */
  readonly notAfterMs: number | null;
  /** Ms beyond a day for which recipients may wait: for their hours, for pauses of a canary; 0 without such. */
  readonly waitsMs: number;
  readonly nowMs: number;
  /** When this look at all campaigns began: others may have taken hours until this one's turn came. */
  readonly lookedMs: number;
  /** When this schedule was first seen: it is not sent for instants before that, unless the campaign asks for it. */
  readonly seenMs: number;
  /** A later run takes over what an earlier one has left: until one has begun, the earlier one goes on. */
  readonly isTakenOver?: boolean;
  /** The ledger said so. Else it may have been sent from another ledger that is gone: then only the last hour counts. */
  readonly isRemembered: boolean;
  readonly runs: readonly KnownRun[];
}

export interface Step extends Pick<DueCampaign, 'why' | 'missed'> {
  readonly occurrence: string;
  readonly action: 'send' | 'continue' | 'leave' | 'miss';
  /** Until when calls begin or continue it, in ms since 1970: then it is too old, or a later instant replaces it. */
  readonly untilMs: number;
}

export type StepReason = NonNullable<DueCampaign['why']>;
export type Missed = NonNullable<DueCampaign['missed']>;

/** Hours of a week come again within it, some days may be holidays. `send` reports what is too late. */
const WINDOW_WAIT_MS = 13 * LATE_MS;

/** A run whose rows have times goes on until the last of them, or until a later run takes it over. */
const EACH_WAIT_MS = 366 * LATE_MS;

export function waitsMs(
  { window, canary }: Pick<Campaign['send'], 'window' | 'canary'>,
  winner: Campaign['split']['decides'] = null,
  each: Campaign['recipients']['each'] = null,
): number {
  if (each !== null) return EACH_WAIT_MS;
  const hoursMs = window === null ? 0 : WINDOW_WAIT_MS;
  return hoursMs + (canary?.steps.length ?? 0) * longestWaitMs(canary) + (winner?.waitMs ?? 0);
}

/** Its pause, and for reports, where it asks for them. */
export function longestWaitMs(canary: Campaign['send']['canary']): number {
  if (canary === null) return 0;
  return canary.pauseMs + (canary.gate.delivered === null ? 0 : canary.gate.waitMs);
}

/** They may have passed by themselves; every other one asks for a person. */
const PASSING: ReadonlySet<HaltRule> = new Set(['api-down', 'throttled', 'paused', 'over-budget', 'ledger']);

/**
 * Oldest first: unfinished runs of the last 24 hours (longer with a window or a canary that pauses), and the latest instant
 * if it has no run. Earlier missed instants stay missed, and those before the schedule was first seen, except with
 * `missed: catch-up`. If the campaign is not as it was, or the ledger does not know it, only the last hour counts.
 */
export function chooseDue(clock: CronClock, facts: DueFacts): readonly Step[] {
  const { notAfterMs, nowMs } = facts;
  const latest = clock.latest(Math.min(nowMs, notAfterMs ?? nowMs));
  const steps = facts.runs.flatMap((run) => unfinished(clock, run, latest, facts));
  const started = latest !== null && facts.runs.some((run) => run.occurrence === occurrenceAt(latest));
  if (latest !== null && !started) steps.push(...begin(clock, latest, facts));
  return steps.sort((a, b) => (a.occurrence < b.occurrence ? -1 : 1));
}

/** In ms since 1970. Runs of earlier instants are not continued. */
export function firstInstantMs(nowMs: number, waitsMs: number): number {
  return nowMs - LATE_MS - waitsMs;
}

/** For so long `due` finds a run that became too old, and says so once. */
const SAID_MS = 7 * LATE_MS;

function unfinished(clock: CronClock, run: KnownRun, latest: number | null, facts: DueFacts): Step[] {
  const { schedule, nowMs } = facts;
  const instant = instantOf(run.occurrence);
  if (run.state === 'finished' || instant === null || instant > nowMs) return [];
  const isReplaced = schedule.missed === 'skip' && facts.isTakenOver !== true;
  const lastMs = instant + LATE_MS + facts.waitsMs;
  const untilMs = isReplaced ? Math.min(lastMs, clock.next(instant) ?? lastMs) : lastMs;
  const step = (action: Step['action'], why: StepReason | null): Step[] => [
    { occurrence: run.occurrence, action, why, missed: null, untilMs },
  ];
  const tooOldMs = nowMs - lastMs;
  if (tooOldMs > 0) return run.state === 'running' || tooOldMs > SAID_MS ? [] : step('leave', 'late');
  const left = leftAlone(run, nowMs, isReplaced && latest !== null && instant < latest);
  return step(left === null ? 'continue' : 'leave', left);
}

/** Null: it is continued. */
function leftAlone(run: KnownRun, nowMs: number, isSuperseded: boolean): StepReason | null {
  if (run.state === 'running') return 'running';
  if (run.state === 'halted' && run.halt !== null && !PASSING.has(run.halt)) return 'halted';
  if (isSuperseded) return 'superseded';
  // Checking a whole long list every few minutes would keep the ledger busy for nothing.
  return run.waitsUntilMs !== null && run.waitsUntilMs > nowMs ? 'waiting' : null;
}

export interface FollowedRun {
  readonly occurrence: string;
  readonly createdAtMs: number;
  /** When its first and its last message so far went out, in ms since 1970. */
  readonly firstMs: number;
  readonly lastMs: number;
}

interface FollowUpFacts extends Pick<DueFacts, 'nowMs' | 'seenMs' | 'waitsMs' | 'runs'> {
  /** How long after a message its follow-up goes out. */
  readonly afterMs: number;
  readonly followed: readonly FollowedRun[];
}

/** A run whose last message went out before this instant needs no follow-up, and is not reported as late. */
export function firstFollowedMs(nowMs: number, afterMs: number, waitsMs: number): number {
  return firstInstantMs(nowMs, waitsMs) - LATE_MS - afterMs;
}

/**
 * One run for each run of the campaign before, as soon as its first message is old enough; each recipient has a separate
 * time. Not for runs before the follow-up was first seen, or more than 24 hours late for the last recipient.
 */
export function chooseFollowUps(facts: FollowUpFacts): readonly Step[] {
  const { followed, runs, nowMs, seenMs, afterMs, waitsMs } = facts;
  return followed.flatMap(({ occurrence, createdAtMs, firstMs, lastMs }): Step[] => {
    const run = runs.find((one) => one.occurrence === occurrence);
    const untilMs = lastMs + afterMs + waitsMs + LATE_MS;
    const lateMs = nowMs - untilMs;
    const step = (action: Step['action'], why: StepReason | null): Step[] => [
      { occurrence, action, why, missed: null, untilMs },
    ];
    if (run === undefined) {
      if (createdAtMs < seenMs || firstMs + afterMs > nowMs || lateMs > LATE_MS) return [];
      return lateMs > 0 ? step('miss', 'late') : step('send', null);
    }
    if (run.state === 'finished' || lateMs > SAID_MS) return [];
    if (lateMs > 0) return run.state === 'running' ? [] : step('leave', 'late');
    const left = leftAlone(run, nowMs, false);
    return step(left === null ? 'continue' : 'leave', left);
  });
}

function begin(clock: CronClock, latest: number, facts: DueFacts): Step[] {
  const { schedule, runs, nowMs, lookedMs, seenMs, isRemembered } = facts;
  const isNew = latest < seenMs;
  const isKnown =
    !isNew && (runs.length === 0 ? isRemembered : runs.some((run) => run.isSame && run.createdAtMs <= latest));
  const occurrence = occurrenceAt(latest);
  // Its time may come long after a scan, without being missed.
  const ageMs = Math.min(lookedMs, nowMs) - latest;
  const allowedMs = isKnown && schedule.missed === 'catch-up' ? LATE_MS : GRACE_MS;
  const isAllowed = ageMs <= allowedMs && nowMs - latest <= LATE_MS;
  // The next call knows a campaign that this one has seen first.
  const laterMs = schedule.missed === 'catch-up' && !isNew && runs.length === 0 ? LATE_MS : allowedMs;
  const untilMs = Math.min(latest + laterMs, clock.next(latest) ?? Number.POSITIVE_INFINITY);
  if (isAllowed && (!isNew || schedule.asksCatchUp)) {
    const missed = isKnown ? missedBefore(clock, latest, facts) : null;
    return [{ occurrence, action: 'send', why: null, missed, untilMs }];
  }
  // For a campaign that the ledger does not know, an instant older than a day does not count.
  if (!isKnown && ageMs > LATE_MS) return [];
  return [{ occurrence, action: 'miss', why: isKnown ? 'late' : 'new', missed: null, untilMs }];
}

const MOST = 1440;

/** Those of a week, and not more than a day has minutes. */
function missedBefore(clock: CronClock, latest: number, { runs, seenMs }: DueFacts): Missed | null {
  const ran = runs.map((run) => instantOf(run.occurrence) ?? 0).filter((ms) => ms < latest);
  const since = Math.max(latest - SAID_MS, seenMs - 1, ...ran);
  let count = 0;
  let first = latest;
  let last = latest;
  for (let at = clock.latest(latest - 1); at !== null && at > since && count < MOST; at = clock.latest(at - 1)) {
    if (count === 0) last = at;
    first = at;
    count += 1;
  }
  return count === 0 ? null : { count, first: occurrenceAt(first), last: occurrenceAt(last) };
}

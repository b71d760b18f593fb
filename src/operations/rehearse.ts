import { join } from 'node:path';
import { type Diagnostic, EXIT, HandbillError, problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { copyLedger, openExistingLedger, openLedger } from '../ledger/open.ts';
import type { DoubtRow, RunRecord } from '../ledger/records.ts';
import {
  type AssumedFeedback,
  type Campaign,
  type ComparedSide,
  DUE_CODES,
  type Environment,
  type Project,
  type Rehearsal,
  type RehearsedDay,
  type RehearsedOccurrence,
} from '../model.ts';
import { loadPrices } from '../plan/estimate.ts';
import { periodAt } from '../plan/period.ts';
import { environmentOf } from '../plan/plan.ts';
import { stopOf } from '../report/rehearsal-text.ts';
import { instantOf, ONCE, occurrenceAt } from '../schedule/occurrence.ts';
import { createFeedback } from '../send/assumed.ts';
import { joinReplies } from '../send/deliveries.ts';
import { openAccepting, type RehearsedWorld } from '../send/rehearsal.ts';
import { summarise } from '../send/summary.ts';
import { createVirtualTime, type VirtualTime } from '../send/virtual-time.ts';
import { makeTemporaryFolder } from '../util/files.ts';
import { placeOfLedger } from '../util/ledger-address.ts';
import type { Meter } from '../util/long-work.ts';
import { nextCommand } from '../util/next-command.ts';
import { addDays, createDayOf, createInstantOf, DAY_MS, dayMs, dayText, iso } from '../util/time.ts';
import { durationText, unitsOf } from '../util/units.ts';
import { type DueEvent, type DueItem, due, failure, leftFor, NOTHING } from './due.ts';
import {
  allowOption,
  checkAllow,
  OPTIONS,
  type OptionsOf,
  type OptionTable,
  type ProjectOptions,
  type ResolvedOptions,
  withDefaults,
} from './options.ts';
import {
  type Automatic,
  minutesBetweenCalls,
  nothingScheduled,
  readScheduled,
  type Scheduled,
  severalProjects,
  spanIn,
} from './schedule.ts';
import { send } from './send.ts';
import { needsReports } from './send-once.ts';

export const REHEARSE = {
  environment: OPTIONS.environment,
  days: { ...OPTIONS.days, preset: 14 },
  from: {
    flag: '--from <day>',
    says: 'show what happens from then on; all that comes before it is played too',
    inHelp: ', for example 2026-12-01, 2026-12-01T09:00:00Z or +7d',
    more: 'In ms since 1970, or a day of the project such as `2026-12-01`.',
    without: 'now',
    kind: 'day',
  },
  everyMs: {
    flag: '--every <duration>',
    says: 'how often `handbill due` is called (default: as often as `handbill schedule` has it called)',
    more: 'In ms.',
    kind: 'duration',
    range: [60_000, DAY_MS],
  },
  most: {
    flag: '--most <n>',
    says: 'name the people with more than N messages',
    without: 'only how many the busiest has',
    range: [1, 1000, 'whole'],
  },
  assume: {
    flag: '--assume <shares>',
    says: 'delivery reports and replies that come: shares of the accepted messages',
    inHelp: ', such as delivered=95%,replied=3%,opted-out=0.5%; the rest is not delivered',
    more: 'Each from 0 to 1; `delivered` is 1 where it is left out, the others 0. The rest is not delivered.',
    kind: 'shares',
    without: 'none come',
  },
  seed: {
    flag: '--seed <n>',
    says: 'with --assume: another number draws other people',
    range: [0, 2 ** 31, 'whole'],
    without: '1',
  },
  allow: allowOption(DUE_CODES),
} as const satisfies OptionTable;

/** The environment, and the days to play. */
export interface RehearseOptions extends ProjectOptions, OptionsOf<typeof REHEARSE> {
  /** Ends it; the promise rejects (exit 130). Default: no signal. */
  readonly signal?: AbortSignal;
  /** @internal How far it is, in hours of virtual time. */
  readonly meter?: Meter;
  /** @internal Default: it is the project itself, with days in its zone. */
  readonly side?: ComparedSide;
  /** @internal For tests: gets the ledger that was played on, before it is deleted. */
  readonly onPlayed?: (ledger: Ledger) => void;
}

const HOUR_MS = 3_600_000;

/**
 * `handbill rehearse`: plays the coming days in virtual time. `due` and `send` decide and claim as they would, on a
 * private copy of the ledger, which is deleted at the end; nothing is sent and no connection to the API is made.
 *
 * @param paths - campaign files, folders or names; empty: every `campaigns/**\/campaign.yaml` below `cwd`
 * @throws HandbillError exit 2 (a path names no campaign, several projects), 7 (ledger), 130 (`signal`)
 */
export async function rehearse(paths: readonly string[] = [], given: RehearseOptions = {}): Promise<Rehearsal> {
  checkAllow(given, DUE_CODES);
  const options = withDefaults(given, REHEARSE);
  const assume = assumedOf(given);
  const { cwd, env, ledger, side, environment = 'sandbox' } = options;
  const startMs = options.now();
  const asked = { cwd, env, ledger, side };
  const found = await withFollowUps(await readScheduled(paths, { ...asked, byHand: side === undefined }), asked);
  const all = [...found.byHand, ...found.campaigns, ...found.followUps];
  const unread = found.refused.flatMap(({ diagnostics }) => diagnostics);
  const refused = lastOfEach(unread, ({ code, message, at }) => JSON.stringify([code, message, at]));
  const project = projectOf(all, refused);
  const timeZone = side?.timeZone ?? project.timeZone;
  // A moment of today means now: the rest of the day is to come.
  const askedMs = typeof options.from === 'string' ? dayBegins(options.from, timeZone) : (options.from ?? startMs);
  const fromMs = Math.max(askedMs, startMs);
  if (askedMs < midnightAfter(startMs, 0, timeZone)) {
    const hint = `Write an instant to come, such as ${iso(startMs + DAY_MS)}.`;
    throw refuse(problem('usage', 'What has been cannot be rehearsed: "from" is before today.', { hint }));
  }
  const folder = await makeTemporaryFolder('handbill-rehearse-');
  try {
    const copy = join(folder.root, 'ledger.db');
    const hasLedger = copyToPlay(project.ledger, copy, startMs);
    const everyMs = options.everyMs ?? minutesBetweenCalls(found.campaigns, startMs) * 60_000;
    const untilMs = midnightAfter(fromMs, options.days ?? REHEARSE.days.preset, timeZone);
    const time = createVirtualTime(startMs);
    const stage: Stage = { all, options, environment, everyMs, assume, copy, startMs, fromMs, untilMs, time };
    const items = await play(stage);
    using played = openLedger(copy, { mode: 'write', nowMs: stage.time.nowMs, isCopy: true });
    options.onPlayed?.(played);
    const missing = hasLedger || side !== undefined ? null : placeOfLedger(project.ledger, project.root);
    return await resultOf({ ...stage, timeZone, items, played, refused, missing });
  } finally {
    await folder.remove();
  }
}

/**
 * Copies a ledger as `copyLedger` does. What other processes have in flight is in doubt in a copy, where no answer comes:
 * here the API has accepted it.
 * @returns whether there is a ledger
 */
export function copyToPlay(ledger: string, path: string, nowMs: number): boolean {
  const doubtsIn = (from: Ledger, run: RunRecord): readonly DoubtRow[] => [...from.doubts(run)].flat();
  const original = openExistingLedger(ledger, { nowMs });
  const running = original?.runs().filter((run) => run.state === 'running' && original.isHeld(run)) ?? [];
  const before = running.map((run) => ({ run, doubts: original === null ? [] : doubtsIn(original, run) }));
  original?.close();
  const hasLedger = copyLedger(ledger, path, nowMs);
  if (running.length === 0) return hasLedger;
  using copy = openLedger(path, { mode: 'write', nowMs, isCopy: true });
  for (const { run, doubts } of before) {
    const inFlight = doubtsIn(copy, run).filter(
      (one) => !doubts.some(({ row, step }) => row === one.row && step === one.step),
    );
    const order = { verdict: 'accepted', messageId: null, who: 'rehearse', note: null, nowMs } as const;
    if (inFlight.length > 0) copy.resolve(run, inFlight, order);
  }
  return hasLedger;
}

/** Follow-ups go with what they follow: also with a campaign that is sent by hand, without being named. */
async function withFollowUps(found: Found, asked: Parameters<typeof readScheduled>[1]): Promise<Found> {
  const roots = new Set(found.byHand.map(({ campaign }) => campaign.project.root));
  if (roots.size === 0) return found;
  const { followUps, refused } = await readScheduled([...roots], asked);
  const ids = new Set([...found.byHand, ...found.followUps].map(({ campaign }) => campaign.id));
  const added = new Map(found.followUps.map((one) => [one.path, one]));
  for (let size = -1; size < ids.size; ) {
    size = ids.size;
    for (const one of followUps) if (ids.has(one.after.id)) added.set(one.path, one);
    for (const { campaign } of added.values()) ids.add(campaign.id);
  }
  return { ...found, followUps: [...added.values()], refused: [...found.refused, ...refused] };
}

type Found = Awaited<ReturnType<typeof readScheduled>>;

/** With a clock, where it has a schedule. */
type Sent = Automatic & Partial<Pick<Scheduled, 'clock'>>;

interface Stage {
  readonly all: readonly Sent[];
  readonly options: RehearseOptions & ResolvedOptions;
  readonly environment: string;
  readonly everyMs: number;
  /** Null: no reports and replies come. */
  readonly assume: AssumedFeedback | null;
  /** The ledger that is played on. */
  readonly copy: string;
  readonly startMs: number;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly time: VirtualTime;
}

/** An item of `due`, and when it came, in ms since 1970. */
interface Said {
  readonly item: DueItem;
  readonly atMs: number;
}

interface Part {
  readonly one: Sent;
  /** When a call can do anything for it, in ms since 1970. */
  readonly wakes: Set<number>;
  /** How many occurrences calls of `due` have still to come to; 1 for a call that has not come to the campaign. */
  queued: number;
}

/**
 * Calls `due` whenever a call of the real one, at each `--every`, would find anything to do: at the instants of
 * schedules, when windows open, when a follow-up is due, when a budget begins again; and each hour while a run is open.
 */
async function play(stage: Stage): Promise<readonly Said[]> {
  const { all, options, environment, everyMs, assume, copy, startMs, fromMs, untilMs, time } = stage;
  const { cwd, env, allow = [], meter, side } = options;
  const signal = options.signal ?? new AbortController().signal;
  const said: Said[] = [];
  if (meter !== undefined) meter.total = Math.ceil((untilMs - startMs) / HOUR_MS);
  const world = {
    cwd,
    env,
    environment,
    ledger: copy,
    now: () => time.nowMs,
    allow: [...allow, 'reports-stale' as const],
    confirm: true,
    signal,
    random: () => 0.5,
    rehearsal: {
      timers: time.timers,
      side,
      pauseLookMs: DAY_MS,
      open: (plan) => openAccepting(plan, time.pass()),
    } satisfies RehearsedWorld,
  };
  const parts = all.filter((one) => !isByHand(one)).map((one): Part => ({ one, wakes: new Set(), queued: 0 }));
  const asked = new Set<number>();
  let failed: unknown = null;
  using ledger = assume === null ? null : openLedger(copy, { mode: 'write', nowMs: startMs, isCopy: true });
  const follow =
    assume === null || ledger === null
      ? () => () => undefined
      : createFeedback({
          assume,
          time,
          isAsked: (campaign) => dependsOnFeedback(campaign, all),
          store(some, { id, fallbacks, project: { webhook } }) {
            const facts = { nowMs: time.nowMs, source: 'rehearsal', environment, ...webhook.replies };
            ledger.events.record(some, facts);
            // A STOP is about everything until its message is found.
            if (facts.stopEnds === 'topic') joinReplies(ledger, { ...webhook.replies, now: () => time.nowMs });
            // A start waits at a gate for longer than reports need; a fallback needs another start.
            const part = parts.find(({ one }) => one.campaign.id === id);
            if (part !== undefined && fallbacks.length > 0) wake(part, time.nowMs);
          },
        });

  const wake = (part: Part, ms: number): void => {
    if (ms >= untilMs) return;
    part.wakes.add(ms);
    askAt(Math.ceil((ms < time.nowMs ? time.nowMs + 1 : ms) / everyMs) * everyMs);
  };
  const askAt = (tickMs: number): void => {
    if (asked.has(tickMs)) return;
    asked.add(tickMs);
    time.at(tickMs, call);
  };
  const isDue = ({ wakes }: Part): boolean => [...wakes].some((ms) => ms <= time.nowMs);
  const call = (): void => {
    const nowMs = time.nowMs;
    asked.delete(nowMs);
    if (meter !== undefined) meter.done = Math.floor((nowMs - startMs) / HOUR_MS);
    const due = withFollowers(parts.filter((part) => part.queued > 0 || isDue(part)));
    if (due.length === 0 || nowMs >= untilMs || signal.aborted || failed !== null) return;
    // The next call takes what this one has not come to by then. It ends at once where that is nothing.
    askAt(nowMs + everyMs);
    time
      .hold(() => callDue(due))
      .catch((error: unknown) => {
        failed ??= error;
      });
  };
  const callDue = async (chosen: readonly Part[]): Promise<void> => {
    let current: Part | null = null;
    let sends: Extract<DueEvent, { readonly kind: 'campaign' }>['sends'] = [];
    /** How many more of the campaign this call goes on to. */
    let later = 0;
    const leave = (count: number): void => {
      if (current !== null) current.queued += count - later;
      later = count;
    };
    for (const part of chosen) {
      for (const ms of part.wakes) if (ms <= time.nowMs) part.wakes.delete(ms);
      part.queued += 1;
      const next = part.one.clock?.next(time.nowMs) ?? null;
      if (next !== null) wake(part, next);
    }
    const left = new Set(chosen);
    const heard = follow();
    try {
      await due(
        chosen.map(({ one }) => one.path),
        {
          ...world,
          onEvent(event) {
            if (event.kind === 'campaign') {
              leave(0);
              sends = event.sends;
              current = chosen.find(({ one }) => one.campaign.file === event.campaign.file) ?? null;
              if (current !== null && left.delete(current)) current.queued -= 1;
              leave(Math.max(0, sends.length - 1));
            }
            if (event.kind === 'started' && current !== null)
              wakeFollowers(current.one, event.run.startedAtMs ?? time.nowMs);
            if (event.kind === 'planned' || event.kind === 'started' || event.kind === 'committed') heard(event);
            if (event.kind !== 'item') return;
            said.push({ item: event.item, atMs: time.nowMs });
            const step = sends.find(({ occurrence }) => occurrence === event.item.occurrence);
            if (later > 0 && step !== undefined) leave(later - 1);
            if (current === null) return;
            plan(current, event.item, step?.untilMs ?? untilMs);
          },
        },
      );
    } finally {
      leave(0);
      for (const part of left) part.queued -= 1;
    }
  };
  const sendByHand = async ({ path, campaign }: Automatic): Promise<void> => {
    const { name, file } = campaign;
    const item = { ...NOTHING, campaign: name, file, occurrence: ONCE, diagnostics: [] };
    const heard = follow();
    try {
      const result = await send(path, {
        ...world,
        onEvent(event) {
          if (event.kind === 'started') wakeFollowers({ campaign }, event.run.startedAtMs ?? time.nowMs);
          if (event.kind === 'planned' || event.kind === 'started' || event.kind === 'committed') heard(event);
        },
      });
      const { exit, diagnostics } = result;
      said.push({ item: { ...item, action: 'send', exit, result, diagnostics }, atMs: time.nowMs });
    } catch (error) {
      said.push({ item: { ...item, ...failure(error) }, atMs: time.nowMs });
    }
  };
  const wakeFollowers = (one: Pick<Automatic, 'campaign'>, startedMs: number): void => {
    for (const follower of parts) {
      const { after } = follower.one.campaign;
      if (after?.id === one.campaign.id) wake(follower, startedMs + after.wait.ms);
    }
  };
  /** A call that has sent a campaign, perhaps for hours, then comes to what follows it. Follow-ups come last in `parts`. */
  const withFollowers = (due: readonly Part[]): readonly Part[] => {
    const called = new Set(due.map(({ one }) => one.campaign.id));
    return parts.filter((part) => {
      const { id, after } = part.one.campaign;
      if (after !== null && called.has(after.id)) called.add(id);
      return called.has(id);
    });
  };
  const passed = new Set<string>();
  /** When a call can do more for the run of a campaign. */
  const plan = (part: Part, { action, why, result }: DueItem, lastMs: number): void => {
    const report = result?.report;
    // The call after that says that the run is left unfinished. Until then, a schedule only begins its run.
    const isContinued = action === 'continue' || part.one.campaign.after !== null;
    if (report?.state === 'partial' && isContinued) wake(part, lastMs + 1);
    for (const opens of [report?.opensAt, report?.winnerAt]) {
      if (opens === undefined) continue;
      const ms = Date.parse(opens);
      // This call came too early, so the next one does it. If that one cannot either, a call each hour is enough.
      const again = `${report?.run} ${opens}`;
      const waitMs = passed.has(again) ? HOUR_MS : 1;
      if (ms <= time.nowMs) passed.add(again);
      wake(part, Math.max(ms, time.nowMs + waitMs));
    }
    const isOpen = report !== undefined && report.state !== 'finished' && report.opensAt === undefined;
    if (isOpen || (action === 'leave' && why === 'waiting')) wake(part, time.nowMs + HOUR_MS);
    const { budget } = environmentOf(part.one.campaign, environment);
    const isOver = why === 'over-budget' || report?.halt?.rule === 'over-budget';
    const { timeZone } = part.one.campaign.project;
    if (budget !== null && isOver) wake(part, periodAt(budget.per, time.nowMs, timeZone).endsMs);
  };

  for (const one of all.filter(isByHand)) {
    time.at(fromMs, () => void time.hold(() => sendByHand(one)));
  }
  for (const part of parts) {
    for (const ms of [startMs, ...waitsBefore(part.one, stage)]) wake(part, ms);
  }
  await time.play(untilMs, signal);
  if (failed !== null) throw failed;
  if (signal.aborted)
    throw new HandbillError(EXIT.interrupted, [
      problem('interrupted', 'The rehearsal was told to stop before it was over.'),
    ]);
  return said;
}

/** A person sends it: once, as the days that are shown begin. */
function isByHand({ campaign: { schedule, after } }: Automatic): boolean {
  return schedule === null && after === null;
}

/** A gate, a winner, a fallback or a follow-up can need them. */
function dependsOnFeedback(campaign: Campaign, all: Stage['all']): boolean {
  const isFollowed = all.some(({ campaign: { after } }) => after?.id === campaign.id && after.unless.length > 0);
  return isFollowed || campaign.fallbacks.length > 0 || needsReports(campaign);
}

/** @throws HandbillError exit 2: they are no shares, or are more than there are messages */
function assumedOf({ assume, seed }: RehearseOptions): AssumedFeedback | null {
  if (assume === undefined && seed === undefined) return null;
  if (assume === undefined)
    throw refuse(problem('usage', 'A seed is for the reports that are assumed.', { hint: 'Add --assume.' }));
  const { delivered = 1, replied = 0, optedOut = 0 } = assume;
  if ([delivered, replied, optedOut].some((part) => !(part >= 0 && part <= 1))) {
    throw refuse(problem('usage', 'A share in "assume" is not a number from 0 to 1.'));
  }
  if (replied + optedOut <= delivered + ROUNDING) return { delivered, replied, optedOut, seed: seed ?? 1 };
  const message = `More people would answer (${percent(replied + optedOut)}) than have the message (${percent(delivered)}).`;
  throw refuse(problem('usage', message, { hint: 'Raise the share that is delivered, or lower the others.' }));
}

/** Shares are no exact doubles. */
const ROUNDING = 1e-9;

function percent(part: number): string {
  return `${Number((part * 100).toPrecision(12))}%`;
}

/** When runs that began before these days go on, and follow-ups of them are due, in ms since 1970. */
function waitsBefore({ campaign }: Automatic, { copy, environment, startMs }: Stage): readonly number[] {
  using ledger = openExistingLedger(copy, { nowMs: startMs });
  if (ledger === null) return [];
  const place = { environment: environmentOf(campaign, environment).identity, campaign: campaign.id };
  const { after } = campaign;
  const opening = ledger.runsOf(place).map(({ figures }) => figures?.['opensAtMs']);
  const followed = after === null ? [] : ledger.runsOf({ ...place, campaign: after.id });
  const begins = followed.map(({ startedAtMs }) => startedAtMs !== null && startedAtMs + (after?.wait.ms ?? 0));
  return [...opening, ...begins].filter((ms) => typeof ms === 'number' && ms >= startMs).map(Number);
}

interface Played extends Stage {
  readonly timeZone: string;
  readonly items: readonly Said[];
  readonly played: Ledger;
  /** Where a ledger would be; null: there is one, or `side` says so. */
  readonly missing: string | null;
  /** Why campaigns cannot be read. */
  readonly refused: readonly Diagnostic[];
}

async function resultOf(stage: Played): Promise<Rehearsal> {
  const { all, options, environment, timeZone, everyMs, assume, startMs, fromMs, untilMs, played, refused } = stage;
  const { most } = options;
  const [first] = all;
  if (first === undefined) throw new Error('a rehearsal has a campaign');
  const { project } = first.campaign;
  const prices = loadPrices(project);
  const { identity } = environmentOf(first.campaign, environment);
  const dayOf = createDayOf(timeZone);
  const days = new Map<number, Sum>();
  const ofRun = new Map<number, RunSums>();
  for (const quarter of played.sentSince(identity, fromMs)) {
    const day = dayOf(quarter.firstMs);
    const run = ofRun.get(quarter.run) ?? { days: new Map(), firstMs: quarter.firstMs, lastMs: quarter.lastMs };
    ofRun.set(quarter.run, { ...run, lastMs: Math.max(run.lastMs, quarter.lastMs) });
    for (const sums of [days, run.days]) sums.set(day, plus(sums.get(day) ?? NO_SUM, quarter));
  }
  const shown = (sums: ReadonlyMap<number, Sum>): readonly RehearsedDay[] =>
    [...sums].sort(([a], [b]) => a - b).map(([day, sum]) => ({ day: dayText(day), ...costed(sum, prices !== null) }));
  const occurrences = occurrencesOf(stage, { identity, ofRun, isPriced: prices !== null, shown });
  const limit = most ?? Number.MAX_SAFE_INTEGER;
  const busy = played.busiestSince(identity, fromMs, limit);
  const isFaulty =
    refused.length > 0 ||
    occurrences.some((one) => one.state === 'refused' || one.state === 'halted' || stopOf(one) !== null);
  return {
    version: 1,
    environment,
    at: iso(startMs),
    from: iso(fromMs),
    until: iso(untilMs),
    timeZone,
    currency: prices?.currency ?? null,
    locale: project.locale,
    everyMs,
    assumed: assumptionsOf(stage, identity),
    ...(assume === null ? {} : { assume }),
    days: shown(days),
    occurrences,
    busiest: busy.people[0]?.messages ?? 0,
    ...(most === undefined
      ? {}
      : { most: { limit, people: busy.over, first: busy.people.filter(({ messages }) => messages > limit) } }),
    diagnostics: refused,
    exit: isFaulty ? EXIT.refused : EXIT.done,
  };
}

interface Sum {
  readonly messages: number;
  readonly parts: number;
  readonly costMicros: number;
}

interface RunSums {
  readonly days: Map<number, Sum>;
  readonly firstMs: number;
  readonly lastMs: number;
}

const NO_SUM: Sum = { messages: 0, parts: 0, costMicros: 0 };

function plus(a: Sum, b: Sum): Sum {
  return { messages: a.messages + b.messages, parts: a.parts + b.parts, costMicros: a.costMicros + b.costMicros };
}

function costed({ messages, parts, costMicros }: Sum, isPriced: boolean) {
  return { messages, parts, cost: isPriced ? unitsOf(costMicros) : null };
}

/** In the order in which they begin, or are due. */
function occurrencesOf(
  { all, items, fromMs, untilMs, played }: Played,
  {
    identity,
    ofRun,
    isPriced,
    shown,
  }: {
    readonly identity: string;
    readonly ofRun: ReadonlyMap<number, RunSums>;
    readonly isPriced: boolean;
    readonly shown: (sums: ReadonlyMap<number, Sum>) => readonly RehearsedDay[];
  },
): readonly RehearsedOccurrence[] {
  const shownItems = items.filter(({ item: { action, occurrence }, atMs }) => {
    // An instant may have been missed before these days.
    const isOlder = action === 'miss' && (instantOf(occurrence ?? '') ?? fromMs) < fromMs;
    return occurrence !== null && atMs >= fromMs && !isOlder;
  });
  const groups = Map.groupBy(shownItems, ({ item }) => `${item.file}\n${item.occurrence}`);
  const found = [...groups.values()].flatMap((said): RehearsedOccurrence[] => {
    const item = said.at(-1)?.item;
    const one = all.find(({ campaign }) => campaign.file === item?.file);
    if (item === undefined || one === undefined || item.occurrence === null) return [];
    const { campaign } = one;
    const { occurrence } = item;
    const run = played.findRun({ environment: identity, campaign: campaign.id, occurrence });
    const sums = run === null ? undefined : ofRun.get(run.number);
    const report = run === null ? null : summarise(played, run, null, campaign);
    const isRefused = item.action === 'refuse' || item.why === 'paused' || item.why === 'over-budget';
    const state = report?.state ?? (item.action === 'miss' ? 'missed' : isRefused ? 'refused' : null);
    if (state === null) return [];
    const followed =
      campaign.after === null
        ? null
        : played.findRun({ environment: identity, campaign: campaign.after.id, occurrence });
    // The instant of a schedule; of a follow-up, the end of its wait. Null: it was never begun by either.
    const startedMs = followed?.startedAtMs ?? null;
    const waitedMs = startedMs === null ? null : startedMs + (campaign.after?.wait.ms ?? 0);
    const dueMs = campaign.after === null ? instantOf(occurrence) : waitedMs;
    const next = one.clock?.next(dueMs ?? fromMs) ?? null;
    const endsMs = state === 'finished' ? (sums?.lastMs ?? 0) : Number.POSITIVE_INFINITY;
    // With `send.each` the next one takes over what is left.
    const left = state === 'partial' ? leftFor(item) : null;
    const isLate =
      campaign.recipients.each === null && report !== null && next !== null && next < untilMs && endsMs >= next;
    return [
      {
        campaign: campaign.name,
        id: campaign.id,
        file: campaign.file,
        occurrence,
        due: iso(dueMs),
        begins: sums === undefined ? null : iso(sums.firstMs),
        ends: sums === undefined ? null : iso(sums.lastMs),
        state,
        ...costed([...(sums?.days.values() ?? [])].reduce(plus, NO_SUM), isPriced),
        ...(report === null ? {} : { totals: report.totals, reasons: report.reasons }),
        ...(report === null || report.halt === null ? {} : { halt: report.halt }),
        ...(left === null ? {} : { left }),
        ...(report?.opensAt === undefined || left !== null ? {} : { opensAt: report.opensAt }),
        ...(isLate ? { overlaps: occurrenceAt(next) } : {}),
        days: sums === undefined ? [] : shown(sums.days),
        // Calls repeat what they say with other sums: the last one counts.
        diagnostics: lastOfEach(
          said.flatMap((one) => one.item.diagnostics),
          ({ code, at }) => `${code} ${at?.file}:${at?.line}`,
        ),
      },
    ];
  });
  const orderOf = ({ begins, due, occurrence }: RehearsedOccurrence): number => Date.parse(begins ?? due ?? occurrence);
  return found.toSorted((a, b) => orderOf(a) - orderOf(b));
}

/** Sentences for all that the files do not say. */
function assumptionsOf(
  { all, environment, everyMs, assume, played, missing }: Played,
  identity: string,
): readonly string[] {
  const where = all.map(({ campaign }) => environmentOf(campaign, environment));
  const isUnbounded = all.some(
    ({ campaign }, i) => (campaign.send.ratePerSecond ?? where[i]?.ratePerSecond ?? null) === null,
  );
  return [
    ...(missing === null ? [] : [`Nothing was sent before: there is no ledger at ${missing}.`]),
    `\`handbill due\` is called every ${durationText(everyMs)}.`,
    ...all.flatMap(({ campaign }) => {
      const ms = spanIn(campaign) ?? everyMs;
      return ms >= everyMs ? [] : [`That is too rare for ${campaign.name}: it has ${durationText(ms)} for each row.`];
    }),
    'Files and lists stay as they are now.',
    'The API accepts every message.',
    ...feedbackWords(assume, all, where),
    ...(played.pauses().some((pause) => pause.environment === identity) ? ['A pause stays in force.'] : []),
    ...absentWords(all),
    ...all.filter(isByHand).map(({ campaign }) => `${campaign.name} is sent by hand, once, as these days begin.`),
    ...(isUnbounded ? ['Where no rate is set, it takes them all at once.'] : []),
    ...(where.some(({ approval }) => approval !== null) ? ['An approval that is missing is given in time.'] : []),
    ...(where.some(({ git }) => git !== null) ? ['The commit is one that `git` in handbill.yaml allows.'] : []),
  ];
}

function feedbackWords(
  assume: AssumedFeedback | null,
  all: Stage['all'],
  where: readonly Environment[],
): readonly string[] {
  const isRedirected = where.every(({ redirect }) => redirect !== null);
  if (assume === null || isRedirected) {
    const isMissed = assume !== null || all.some(({ campaign }) => dependsOnFeedback(campaign, all));
    const why = isRedirected ? 'messages are redirected.' : '`handbill rehearse --assume` lets them.';
    return isMissed ? [`No delivery reports and no replies come: ${why}`] : [];
  }
  const { delivered, replied, optedOut, seed } = assume;
  const answers = [
    ...(replied === 0 ? [] : [`${percent(replied)} answer`]),
    ...(optedOut === 0 ? [] : [`${percent(optedOut)} write STOP`]),
  ];
  const later = answers.length === 0 ? '' : `; ${answers.join(' and ')} within 6 h after that`;
  return [
    `${percent(delivered)} of the messages are reported as delivered within 5 min${later} (seed ${seed}).`,
    ...(all.some(({ campaign }) => campaign.unreachable !== null) ? ['No address fails for good.'] : []),
  ];
}

/** A follow-up goes with the runs of its campaign, and that may not be among those that are played. */
function absentWords(all: Stage['all']): readonly string[] {
  const ids = new Set(all.map(({ campaign }) => campaign.id));
  const absent = all.flatMap(({ campaign: { after } }) =>
    after === null || ids.has(after.id) ? [] : [after.campaign],
  );
  return [...new Set(absent)].map(
    (name) =>
      `${name} is not sent in these days, because it has no schedule or was not named: \`${nextCommand('rehearse', name)}\` plays it.`,
  );
}

function lastOfEach(diagnostics: readonly Diagnostic[], keyOf: (one: Diagnostic) => string): readonly Diagnostic[] {
  return [...new Map(diagnostics.map((one) => [keyOf(one), one])).values()];
}

function projectOf(all: readonly Sent[], refused: readonly Diagnostic[]): Project {
  const [first, ...rest] = all.map(({ campaign }) => campaign);
  if (first === undefined) throw refused.length > 0 ? refuse(...refused) : nothingScheduled();
  const stranger = rest.find(({ project }) => project.root !== first.project.root);
  if (stranger !== undefined) throw severalProjects(first, stranger);
  const fault = all.find(({ ledgerFault }) => ledgerFault !== null)?.ledgerFault ?? null;
  if (fault !== null) throw refuse(fault);
  return first.project;
}

/** @throws HandbillError exit 2: no day of the calendar */
function dayBegins(day: string, timeZone: string): number {
  const ms = dayMs(day);
  if (ms === null) throw refuse(problem('usage', `"${day}" is no day. Write it as 2026-12-01.`));
  return createInstantOf(timeZone)(ms);
}

/** @returns in ms since 1970, as `fromMs` */
export function midnightAfter(fromMs: number, days: number, timeZone: string): number {
  const day = addDays(createDayOf(timeZone)(fromMs), { months: 0, days });
  return createInstantOf(timeZone)(day);
}

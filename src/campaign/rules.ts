import { problem } from '../errors.ts';
import type {
  Campaign,
  Canary,
  EachTime,
  Excluded,
  FollowUp,
  Frequency,
  Schedule,
  SendWindow,
  Threshold,
  WindowHours,
  WinnerRule,
} from '../model.ts';
import { compared } from '../util/cell.ts';
import { isList } from '../util/json.ts';
import { readOccurrence } from '../util/occurrence-name.ts';
import { didYouMean } from '../util/suggest.ts';
import { share } from '../util/units.ts';
import { zoneOfDays } from './channel-steps.ts';
import { checked, checkTime, checkTimeZone, type Report, YEAR_MS } from './check-values.ts';
import { DEFAULTS } from './defaults.ts';
import type { NamedCampaign } from './find.ts';
import type { Merged } from './merge.ts';
import { holidaysOf, hoursOf } from './window-hours.ts';
import type { CampaignFile, Mapping, WindowFile } from './written.ts';

/**
 * `exclude`: other campaigns, or occurrences of them. A name without a campaign in the project may be that of a deleted
 * one: code with the ledger decides whether it is a slip, which would let people through.
 * @param names - of all campaigns of the project
 * @param timeZone - of the campaign, for an occurrence that has a time without a zone
 */
export function readExclude(
  merged: Merged,
  {
    others,
    timeZone,
    report,
  }: {
    readonly others: readonly Pick<NamedCampaign, 'name' | 'id'>[];
    readonly timeZone: string;
    readonly report: Report;
  },
): readonly Excluded[] {
  const { exclude: written = [], name: own } = merged.file;
  const all = own === undefined ? others : [...others, { name: own, id: merged.file.id ?? own }];
  const known = all.map(({ name }) => name);
  return [written].flat().map((text, i) => {
    const at = text.indexOf('@');
    const campaign = at === -1 ? text : text.slice(0, at);
    const pointer = typeof written === 'string' ? '/exclude' : `/exclude/${i}`;
    const place = merged.where(pointer) ?? {};
    const read = at === -1 ? null : readOccurrence(text.slice(at + 1), { timeZone, scheduled: false });
    if (read !== null && 'message' in read) report(pointer, 'invalid-value', read.message, read.hint);
    const occurrence = read !== null && 'occurrence' in read ? read.occurrence : null;
    const named = all.find(({ name }) => name === campaign);
    if (named !== undefined) return { campaign, id: named.id, occurrence, place, unknown: null };
    const hint = didYouMean(campaign, known).hint ?? 'Correct the name, or take it out.';
    const message = `"exclude" names a campaign "${campaign}", which is neither in the project nor in the ledger.`;
    return {
      campaign,
      id: null,
      occurrence,
      place,
      unknown: problem('campaign-not-found', message, { ...place, hint }),
    };
  });
}

/** `after`: the campaign that this one follows, which must be another one of the project. */
export function readFollowUp(
  merged: Merged,
  others: readonly Pick<NamedCampaign, 'name' | 'id'>[],
  report: Report,
): FollowUp | null {
  const { after, schedule, name: own } = merged.file;
  // The schema has reported missing ones.
  if (after?.campaign === undefined || after.wait === undefined) return null;
  const { campaign, wait, unless = [] } = after;
  const before = others.find(({ name }) => name === campaign);
  if (campaign === own) {
    report('/after/campaign', 'invalid-value', 'A campaign cannot follow itself.', 'Name the campaign before it.');
  } else if (before === undefined) {
    const names = others.map(({ name }) => name);
    const hint = didYouMean(campaign, names).hint ?? 'Correct the name: it is that of another campaign of the project.';
    report(
      '/after/campaign',
      'campaign-not-found',
      `"after" names a campaign "${campaign}", which is not there.`,
      hint,
    );
  }
  if (schedule !== undefined) {
    report('/schedule', 'invalid-value', '"after" and "schedule" both say when it goes out.', 'Keep one of them.');
  }
  const ms = checked(wait, '/after/wait', checkTime(0, YEAR_MS), report);
  return {
    campaign,
    id: before?.id ?? campaign,
    wait: { written: wait, ms: ms ?? 0 },
    unless: [unless].flat(),
    place: merged.where('/after') ?? {},
  };
}

/** `frequency`: the caps of this campaign, and whether its messages count towards those of others. */
export function readFrequency(merged: Merged, report: Report): Pick<Campaign, 'frequency' | 'isCounted'> {
  const { frequency: written = 'none' } = merged.file;
  if (typeof written === 'string') return { frequency: [], isCounted: written !== 'exempt' };
  const frequency = [written].flat().flatMap(({ max, per, of = 'all' }, i): Frequency[] => {
    if (per === undefined || max === undefined) return [];
    if (per === 'day' || per === 'week' || per === 'month') return [{ max, per: { kind: 'calendar', unit: per }, of }];
    const pointer = 'max' in written ? '/frequency/per' : `/frequency/${i}/per`;
    const ms = checked(per, pointer, checkTime(1000, YEAR_MS), (at, code, message) => report(at, code, message, HINT));
    return ms === null ? [] : [{ max, per: { kind: 'rolling', ms }, of }];
  });
  return { frequency, isCounted: true };
}

const HINT = 'Write day, week or month for those of the calendar, or a time such as 24h or 7d.';

/** `send.each`; null: the rows have no times. */
export function readEach(merged: Merged, report: Report): EachTime | null {
  const { send: { each: { column, before } = {} } = {}, after } = merged.file;
  // The schema has reported missing ones.
  if (column === undefined || before === undefined) return null;
  // At its own time a row has expired, and cron calls `due` once a minute at most.
  const ms = checked(before, '/send/each/before', checkTime(60_000, YEAR_MS), report);
  if (after !== undefined) {
    report('/send/each', 'invalid-value', '"after" and "send.each" both say when it goes out.', 'Keep one of them.');
  }
  return { column: compared(column), before: { written: before, ms: ms ?? 0 }, timeZone: zoneOfDays(merged) };
}

const EXAMPLE = 'For example: window: { from: "09:00", to: "20:00" }';

/** `send.window`; null: messages go at any hour. */
export function readWindow(merged: Merged, report: Report): SendWindow | null {
  const written = merged.file.send?.window;
  if (written === undefined || typeof written === 'string') return null;
  const { timeZone = DEFAULTS.windowTimeZone, unknown = HOLD, countries = DEFAULTS.windowCountries } = written;
  const zone = (key: string, name: string): string =>
    checked(name, `/send/window/${key}`, checkTimeZone, report) ?? name;
  return {
    hours: ownHours(written, countries, merged, report),
    holidays: holidaysOf(written, '/send/window', report),
    timeZone: timeZone === RECIPIENT ? RECIPIENT : zone('timeZone', timeZone),
    unknown: unknown === HOLD ? DEFAULTS.windowUnknown : zone('unknown', unknown),
    countries,
  };
}

const RECIPIENT = 'recipient';
const HOLD = 'hold';

/** The campaign's hours, optional where those of countries apply. */
function ownHours(written: WindowFile, countries: boolean, merged: Merged, report: Report): WindowHours | null {
  const { from, to } = written;
  if (from === undefined && to === undefined && countries) {
    if (written.days === undefined) return null;
    report('/send/window/days', 'missing-key', 'Days need hours: "send.window" has no "from" and "to".', EXAMPLE);
    return null;
  }
  for (const [key, value] of Object.entries({ from, to })) {
    if (value !== undefined || merged.isWritten(`/send/window/${key}`)) continue;
    report('/send/window', 'missing-key', `"send.window.${key}" is missing.`, EXAMPLE);
  }
  if (from === undefined || to === undefined) return null;
  return checked({ ...written, from, to }, '/send/window/to', hoursOf, report);
}

/** A week: for a longer pause, use another occurrence. Reports and replies that come later are not about the message. */
const checkWait = checkTime(0, 7 * 24 * 3_600_000);

/** `send.canary`: one step, a list of steps, or a mapping with pause and gate; null without one. */
export function readCanary(merged: Merged, report: Report): Canary | null {
  const written = merged.file.send?.canary;
  if (written === undefined || written === 'none') return null;
  const file: Mapping<typeof written> = typeof written === 'object' && !isList(written) ? written : { steps: written };
  const at = file === written ? '/send/canary/steps' : '/send/canary';
  // The schema has reported missing and wrong steps.
  const steps = [file.steps ?? []].flat();
  const read = steps.map((step, i) => stepOf(step, steps.length === 1 ? at : `${at}/${i}`, report));
  const good = read.filter((step) => step !== null);
  checkOrder(good, at, report);
  return {
    steps: good,
    pauseMs: checked(file.pause, '/send/canary/pause', checkWait, report) ?? DEFAULTS.canaryPauseMs,
    gate: {
      accepted: gateOf('accepted', file.gate?.accepted, report) ?? DEFAULTS.canaryAccepted,
      delivered: gateOf('delivered', file.gate?.delivered, report),
      optedOut: gateOf('optedOut', file.gate?.optedOut, report),
      waitMs: checked(file.gate?.wait, '/send/canary/gate/wait', checkWait, report) ?? DEFAULTS.canaryWaitMs,
    },
  };
}

function stepOf(written: number | string, pointer: string, report: Report): Threshold | null {
  if (typeof written === 'number') return { count: written };
  const part = share(written);
  if (part !== null && part > 0 && part < 1) return { share: part };
  report(pointer, 'invalid-value', `"${written}" is not a step: write a count, or a share above 0% and below 100%.`);
  return null;
}

/** A count and a share can only be compared once the list is known; two of a kind can be now. */
function checkOrder(steps: readonly Threshold[], pointer: string, report: Report): void {
  const counts = steps.flatMap((step) => ('count' in step ? [step.count] : []));
  const shares = steps.flatMap((step) => ('share' in step ? [step.share] : []));
  for (const values of [counts, shares]) {
    if (values.every((value, i) => i === 0 || value > (values[i - 1] ?? 0))) continue;
    const message = 'The steps of a canary grow: each says how many have been sent to in all.';
    report(pointer, 'invalid-value', message, 'For example: [100, 1%, 10%]');
    return;
  }
}

function gateOf(key: 'accepted' | 'delivered' | 'optedOut', written: string | undefined, report: Report) {
  if (written === undefined) return null;
  const part = share(written);
  if (part === null) report(`/send/canary/gate/${key}`, 'invalid-value', `"${written}" is not a share up to 100%.`);
  return part;
}

/** The rule of `winner`; null: a person names the winner. */
export function readWinnerRule({ test, winner }: Partial<CampaignFile>, report: Report): WinnerRule | null {
  if (typeof winner !== 'object') return null;
  const { by, variant, wait, tie, minimum } = winner;
  const asked = (['wait', 'tie', 'minimum'] as const).find((key) => winner[key] !== undefined);
  if (by === 'manual' || (by === undefined && asked === undefined)) {
    if (asked === undefined) return null;
    const message = `"winner.${asked}" says how the winner is found, and with "by: manual" you name it.`;
    report(`/winner/${asked}`, 'invalid-value', message, 'Remove one of the two.');
    return null;
  }
  if (variant !== undefined) {
    const message = '"winner.variant" names the winner, so that nothing is left to be found.';
    report('/winner/variant', 'invalid-value', message, 'Remove it, or what else "winner" says.');
  }
  if (typeof test === 'object' && test.by === 'manual') {
    const message = '"test.by: manual" says that you name the winner, and "winner" says how it is found.';
    report('/test/by', 'invalid-value', message, 'Remove one of the two.');
  }
  if (test === undefined) {
    const hint = 'Add "test" with the share that gets the variants first, or remove "winner".';
    report('/winner', 'invalid-value', 'No recipients are outside the test, so none would get the winner.', hint);
  }
  return {
    by: by ?? DEFAULTS.winnerBy,
    waitMs: checked(wait, '/winner/wait', checkWait, report) ?? DEFAULTS.winnerWaitMs,
    tie: tie ?? DEFAULTS.winnerTie,
    minimum: minimum ?? DEFAULTS.winnerMinimum,
  };
}

/** The schedule; null: none. Loads the reader of cron expressions only for campaigns that have one. */
export async function readSchedule(merged: Merged, report: Report): Promise<Schedule | null> {
  const written = merged.file.schedule;
  if (written === undefined) return null;
  const wrong = (pointer: string, message: string, hint?: string): void =>
    report(pointer, 'invalid-value', message, hint);
  // The zone of the campaign is checked where it is read; here it only has to be valid.
  const zone = checkTimeZone(written.timeZone ?? merged.file.timeZone ?? DEFAULTS.timeZone);
  if (!('value' in zone) && written.timeZone !== undefined) wrong('/schedule/timeZone', zone.message, zone.hint);
  const timeZone = 'value' in zone ? zone.value : DEFAULTS.timeZone;
  const { cron = null } = written;
  if (cron !== null && written.at !== undefined) {
    wrong('/schedule/at', '"schedule.at" and "schedule.cron" both say when it goes out.', 'Keep one of them.');
  } else if (cron !== null) {
    const { readCron } = await import('../util/cron.ts');
    const reading = readCron(cron, timeZone);
    if ('message' in reading) wrong('/schedule/cron', reading.message, reading.hint);
  }
  let at: Schedule['at'] = null;
  if (written.at !== undefined) {
    const { instantIn } = await import('../util/wall-time.ts');
    const ms = instantIn(written.at, timeZone);
    if (ms === null) wrong('/schedule/at', `"${written.at}" is not a date with a time of day.`, AT_HINT);
    else at = { written: written.at, ms };
  } else if (cron === null) report('/schedule', 'missing-key', '"schedule" does not say when.', WHEN_HINT);
  const missed = written.missed ?? DEFAULTS.missed;
  return { cron, at, timeZone, missed, asksCatchUp: written.missed === 'catch-up' };
}

const AT_HINT =
  'Write a time in the zone of the schedule, such as 2026-12-24T09:00, or with an offset: 2026-12-24T09:00Z.';
const WHEN_HINT = 'Write cron: 0 9 * * 1-5 for times that repeat, or at: 2026-12-24T09:00 for one.';

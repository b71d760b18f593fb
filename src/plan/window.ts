import type { Recipient, SendWindow, WindowRule } from '../model.ts';
import { instantMs } from '../util/time.ts';
import type { Calendar } from './calendar.ts';
import { type Closed, type GateBounds, type WindowGate, whyLate } from './gate.ts';
import type { Plan } from './plan.ts';

/** The state of one recipient holds for all of them, until it changes. */
interface Group {
  readonly calendars: readonly Calendar[];
  readonly zone: string;
  readonly zones: number;
  fromMs: number;
  toMs: number;
  closed: Closed | null;
}

/** As `createHoursGate`; with `send.each` each row has its time as well. */
export async function createWindowGate(plan: Plan, bounds: GateBounds): Promise<WindowGate | null> {
  const { each } = plan.campaign.recipients;
  const hours = await createHoursGate(plan, bounds);
  if (each === null) return hours;
  return (await import('./each.ts')).createEachGate(plan, each, hours, bounds);
}

/** Null without a window. Loading costs some 40 ms, and half a millisecond for each zone. */
async function createHoursGate(plan: Plan, { now, lateAtMs }: GateBounds): Promise<WindowGate | null> {
  const { window } = plan.campaign.send;
  if (window === null) return null;
  const [{ createCalendar, openingOf, rulesFor, wallText }, { createZoneReader }] = await Promise.all([
    import('./calendar.ts'),
    import('../recipients/zone.ts'),
  ]);
  const { recipients, project } = plan.campaign;
  const calendars = new Map<string, Calendar>();
  const calendarOf = (country: string | null, index: number, zone: string): Calendar => {
    const id = `${index} ${country ?? ''} ${zone}`;
    const found = calendars.get(id) ?? createCalendar(rulesOf(country)[index]?.rule ?? NO_RULE, zone);
    calendars.set(id, found);
    return found;
  };
  const rulesOf = (country: string | null) => rulesFor(window, project.windows, country);

  const groupOf = (zones: readonly string[], country: string | null): Group => {
    const all = rulesOf(country).flatMap(({ zone }, index) =>
      (zone === null ? zones : [zone]).map((one) => calendarOf(country, index, one)),
    );
    const zone = (isFixed(window) ? window.timeZone : zones[0]) ?? 'UTC';
    const known = { calendars: all, zone, zones: zones.length };
    return { ...known, fromMs: Number.POSITIVE_INFINITY, toMs: Number.NEGATIVE_INFINITY, closed: null };
  };
  /** Asked when the clock leaves what is known of a group; a few times a day. */
  const renew = (group: Group, nowMs: number): void => {
    const { open, changesAtMs } = openingOf(group.calendars, nowMs);
    group.fromMs = nowMs;
    group.toMs = changesAtMs;
    group.closed = open ? null : closedUntil(group, changesAtMs);
  };
  const closedUntil = ({ zone, zones }: Group, opensAtMs: number): Closed => {
    if (opensAtMs === Number.POSITIVE_INFINITY) {
      const detail = zones > 1 ? `no hour is inside the window in all ${zones} zones of the number` : 'it never opens';
      return { decision: 'defer', reason: zones > 1 ? 'zone-unknown' : 'outside-window', detail, opensAtMs: null };
    }
    const where = zones > 1 && !isFixed(window) ? `, in all ${zones} zones of the number` : '';
    const detail = `opens ${wallText(opensAtMs, zone)} in ${zone}${where}`;
    if (opensAtMs >= lateAtMs) {
      const late = `${detail}, ${whyLate(plan.campaign.send, opensAtMs)}`;
      return { decision: 'skip', reason: 'window-closed', detail: late };
    }
    return { decision: 'defer', reason: 'outside-window', detail, opensAtMs };
  };

  const reader = isFixed(window) && !window.countries ? null : createZoneReader(recipients, plan.columns);
  const what = { msisdn: 'the number', email: 'an email address', contact: 'the id of a contact' }[recipients.kind];
  const why = `${what} tells no time zone: name a column with it (recipients.timeZone), or a zone (send.window.unknown)`;
  const unknown: Closed = { decision: 'defer', reason: 'zone-unknown', detail: why, opensAtMs: null };
  const fallback = window.unknown === null ? null : [window.unknown];
  const groups = createGroups((id, country) => {
    const zones = reader === null ? [] : id === -1 ? fallback : reader.names(id);
    return zones === null ? null : groupOf(zones, country);
  }, window.countries);
  const of = (recipient: Recipient) => groups(reader === null ? -1 : reader.of(recipient), recipient.country);
  const find = (recipient: Recipient): Group | null => {
    const group = of(recipient);
    if (group === null) return null;
    const nowMs = now();
    if (nowMs >= group.toMs || nowMs < group.fromMs) renew(group, nowMs);
    return group;
  };
  return {
    closed(recipient) {
      const group = find(recipient);
      return group === null ? unknown : group.closed;
    },
    closesAtMs(recipient) {
      const group = find(recipient);
      return group === null || group.closed !== null ? 0 : group.toMs;
    },
    calendars: (recipient) => of(recipient)?.calendars ?? null,
  };
}

const NO_RULE = { hours: [], holidays: [] };

function isFixed(window: SendWindow): boolean {
  return window.timeZone !== 'recipient';
}

function createGroups(
  make: (id: number, country: string | null) => Group | null,
  byCountry: boolean,
): (id: number, country: string | null) => Group | null {
  const countries = new Map<string | null, (Group | null | undefined)[]>();
  const everywhere: (Group | null | undefined)[] = [];
  const listOf = (country: string | null) => {
    const found = countries.get(country) ?? [];
    countries.set(country, found);
    return found;
  };
  return (id, country) => {
    const groups = byCountry ? listOf(country) : everywhere;
    const found = groups[id + 1];
    if (found !== undefined) return found;
    // Without holes, which would make every look-up slow.
    while (groups.length <= id + 1) groups.push(undefined);
    const made = make(id, byCountry ? country : null);
    groups[id + 1] = made;
    return made;
  };
}

/** When a run that has not begun will begin: at its instant, where that is later. */
export function beginOf({ occurrence }: Pick<Plan, 'occurrence'>, nowMs: number): number {
  return Math.max(nowMs, instantMs(occurrence) ?? nowMs);
}

/**
 * The last opening, by any rule and zone, of those deferred at this instant or since; null without a window. Rules that do
 * not meet within a week in some zone, or as many weeks later as there are holidays, have none there: they would meet only
 * after the clocks change.
 */
export async function lastOpeningAfter({ campaign }: Pick<Plan, 'campaign'>, sinceMs: number): Promise<number | null> {
  const { window } = campaign.send;
  if (window === null) return null;
  const { createCalendar, openingOf, allRules } = await import('./calendar.ts');
  let last = sinceMs;
  // In any zone, this day is not over yet.
  const today = new Date(sinceMs - DAY_MS).toISOString().slice(0, '2026-11-20'.length);
  const known = new Map<string, Calendar>();
  const calendarOf = (rule: WindowRule, zone: string): Calendar => {
    const id = JSON.stringify([rule, zone]);
    const found = known.get(id) ?? createCalendar(rule, zone);
    known.set(id, found);
    return found;
  };
  for (const rules of allRules(window, campaign.project.windows)) {
    const holidays = new Set(rules.flatMap(({ rule }) => rule.holidays.filter((day) => day >= today)));
    const horizonMs = (7 * (holidays.size + 1) + 1) * DAY_MS;
    // From west to east, the first question is about the earliest time: a calendar never has to begin again.
    for (let hours = -12; hours <= 14; hours++) {
      const calendars = rules.map(({ rule, zone }) =>
        zone === null ? eastOfUtc(calendarOf(rule, 'UTC'), hours) : calendarOf(rule, zone),
      );
      const { open, changesAtMs } = openingOf(calendars, sinceMs, horizonMs);
      // A recipient without a turn before it closed waits for the next one.
      const opensAtMs =
        open && Number.isFinite(changesAtMs) ? openingOf(calendars, changesAtMs, horizonMs).changesAtMs : changesAtMs;
      if (Number.isFinite(opensAtMs)) last = Math.max(last, opensAtMs);
    }
  }
  return last;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** A calendar of UTC, in a zone whose clocks are so many hours ahead of it and never change. */
function eastOfUtc(calendar: Calendar, hours: number): Calendar {
  const aheadMs = hours * HOUR_MS;
  return {
    at(ms) {
      const { open, changesAtMs } = calendar.at(ms + aheadMs);
      return { open, changesAtMs: changesAtMs - aheadMs };
    },
  };
}

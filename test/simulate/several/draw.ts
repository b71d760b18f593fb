import type { Budget, Canary, Frequency, SendWindow } from '../../../src/model.ts';
import { drawStart, type StartPlan } from '../plan.ts';
import type { Random } from '../random.ts';
import type { Cast } from './campaigns.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The rules of a campaign, as its file would say them. */
export interface RuleSet {
  readonly exclude: readonly string[];
  /** How long after the message of `alpha` this one goes out, to those who did not answer; null: it follows on no other. */
  readonly followsMs: number | null;
  readonly frequency: readonly Frequency[];
  readonly isCounted: boolean;
  /** Who failed for good so often, and was not delivered to since, gets nothing; null: it does not count. */
  readonly unreachable: { readonly after: number; readonly withinMs: number } | null;
  /** The environment sends to some people only. */
  readonly isFenced: boolean;
  readonly window: SendWindow | null;
  readonly canary: Canary | null;
  readonly maxRecipients: number | null;
  readonly notAfterMs: number | null;
}

/** One campaign in a history: its rules before and after they are changed. */
export interface CampaignPlan {
  readonly before: RuleSet;
  readonly after: RuleSet;
  readonly attempts: number;
}

export interface OneStart {
  readonly campaign: number;
  /** No two at once: which of them reads its list first would be up to the real machine. */
  readonly afterMs: number;
  readonly plan: StartPlan;
  readonly wait: boolean;
}

/** A recipient opts out. */
export interface OptOut {
  readonly afterMs: number;
  readonly person: number;
  /** By the process that sends, or by another one: as an address, or as a hash. */
  readonly how: 'own' | 'other' | 'hash';
  /** Null: permanent. */
  readonly forMs: number | null;
}

/** Some time passes, then campaigns are sent at the same time. */
export interface Turn {
  readonly passMs: number;
  /** Passes until shortly before the next half hour, when windows open and close. */
  readonly toTheHalfHour: boolean;
  /** Which list a start finds. */
  readonly list: number;
  /** Whose personal data is purged before. */
  readonly purge: number | null;
  readonly starts: readonly OneStart[];
  readonly optOuts: readonly OptOut[];
  readonly clockStep: { readonly afterMs: number; readonly byMs: number } | null;
}

export interface SeveralPlan {
  readonly startMs: number;
  readonly campaigns: readonly CampaignPlan[];
  /** What all of them may spend together; null: as much as they cost. */
  readonly budget: Budget | null;
  /** Only the claims ask: others spend after the check. */
  readonly uncheckedBudget: boolean;
  readonly turns: readonly Turn[];
}

/** A usual Monday, and evenings before clocks change: in New York and in Europe, forwards and back. */
const BEGINNINGS = [
  '2026-11-23T06:00:00Z',
  '2027-03-13T18:00:00Z',
  '2027-03-27T18:00:00Z',
  '2027-10-30T18:00:00Z',
  '2027-11-06T18:00:00Z',
] as const;

export function drawSeveral(random: Random, cast: Cast): SeveralPlan {
  const startMs = Date.parse(random.pick(BEGINNINGS)) + Math.round(random.next() * 6 * HOUR);
  const campaigns = cast.campaigns.map(({ name }): CampaignPlan => {
    const names = cast.campaigns.map((other) => other.name);
    const before = drawRules(random, names, startMs, name);
    const after = random.chance(0.5) ? before : drawRules(random, names, startMs, name);
    return { before, after, attempts: random.pick([1, 2, 3]) };
  });
  const edited = campaigns.map(() => false);
  const begun = campaigns.map(() => false);
  const turns = Array.from({ length: random.whole(2, 5) }, (_, at) =>
    drawTurn(random, cast, { at, campaigns, edited, begun }),
  );
  // Of the instant of the beginning, as other rules are: all else is drawn as without it.
  const per = PERIODS[Math.floor(startMs / 10) % PERIODS.length] ?? 'day';
  const budget = startMs % 3 === 1 ? { maxMicros: PRICE * (18 + (Math.floor(startMs / 1000) % 16)), per } : null;
  return { startMs, campaigns, budget, uncheckedBudget: Math.floor(startMs / 100) % 2 === 0, turns };
}

const PERIODS = ['day', 'day', 'week', 'month'] as const;

/** Of a message on any channel, in micro-units. */
export const PRICE = 40_000;

function drawRules(random: Random, names: readonly string[], startMs: number, own: string): RuleSet {
  return {
    exclude: names.filter((name) => random.chance(name === own ? 0.15 : 0.25)),
    // Of the instant of the beginning and not of `random`, so that all else is drawn as without it.
    followsMs: own === 'gamma' && startMs % 3 === 0 ? (WAITS[startMs % WAITS.length] ?? HOUR) : null,
    isFenced: startMs % 4 === 1,
    unreachable:
      startMs % 3 > 0
        ? { after: Math.floor(startMs / 3) % 4 === 0 ? 2 : 1, withinMs: HOUR * (2 + (startMs % 40)) }
        : null,
    frequency: random.chance(0.6) ? Array.from({ length: random.pick([1, 1, 2]) }, () => drawCap(random)) : [],
    isCounted: random.chance(0.85),
    window: random.chance(0.6) ? drawWindow(random, startMs) : null,
    canary: random.chance(0.4) ? drawCanary(random) : null,
    maxRecipients: random.chance(0.08) ? random.whole(3, 20) : null,
    notAfterMs: random.chance(0.12) ? startMs + Math.round(random.scale(HOUR, 90 * HOUR)) : null,
  };
}

const WAITS = [20 * MINUTE, 2 * HOUR, 12 * HOUR, 0] as const;

function drawCap(random: Random): Frequency {
  const unit = random.pick(['day', 'day', 'week', 'month'] as const);
  const per: Frequency['per'] = random.chance(0.6)
    ? { kind: 'calendar', unit }
    : { kind: 'rolling', ms: Math.round(random.scale(10 * MINUTE, 72 * HOUR)) };
  return { max: random.pick([1, 1, 2]), per, of: random.pick(['all', 'topic']) };
}

const HOURS = [
  [9 * 60, 20 * 60],
  [9 * 60, 17 * 60],
  [21 * 60, 6 * 60],
  [150, 12 * 60],
  [90, 210],
  [22 * 60 + 30, 90],
  [0, 1440],
  // In Lisbon and on the Azores at no time at once.
  [8 * 60, 8 * 60 + 30],
] as const;

function drawWindow(random: Random, startMs: number): SendWindow {
  const [fromMinute, toMinute] = random.pick(HOURS);
  const holiday = new Date(startMs + random.whole(0, 2) * 24 * HOUR).toISOString().slice(0, 10);
  return {
    hours: { fromMinute, toMinute, days: random.chance(0.7) ? [1, 2, 3, 4, 5, 6, 7] : [1, 2, 3, 4, 5] },
    holidays: random.chance(0.2) ? [holiday] : [],
    timeZone: random.chance(0.8) ? 'recipient' : 'Europe/London',
    unknown: random.chance(0.5) ? 'Europe/Paris' : null,
    countries: false,
  };
}

function drawCanary(random: Random): Canary {
  const first = random.whole(1, 6);
  const steps = [{ count: first }, ...(random.chance(0.5) ? [{ count: first + random.whole(1, 8) }] : [])];
  return {
    steps,
    pauseMs: random.pick([0, 5 * MINUTE, 15 * MINUTE, 2 * HOUR]),
    gate: { accepted: random.pick([0.5, 0.8, 0.95, 1, null]), delivered: null, optedOut: null, waitMs: 0 },
  };
}

interface SoFar {
  readonly at: number;
  readonly campaigns: readonly CampaignPlan[];
  readonly edited: boolean[];
  readonly begun: boolean[];
}

function drawTurn(random: Random, cast: Cast, { at, campaigns, edited, begun }: SoFar): Turn {
  const list = random.chance(0.4) ? 0 : random.whole(0, cast.lists.length - 1);
  const who = campaigns.map((_, n) => n).filter(() => random.chance(0.6));
  if (who.length === 0) who.push(random.whole(0, campaigns.length - 1));
  const starts = who.map((campaign, nth): OneStart => {
    if (begun[campaign] && random.chance(0.25)) edited[campaign] = true;
    const isEdited = edited[campaign] === true;
    const rules = campaigns[campaign]?.[isEdited ? 'after' : 'before'];
    const common = {
      attempts: campaigns[campaign]?.attempts ?? 1,
      notAfterMs: rules?.notAfterMs ?? null,
      retryStatuses: [],
      edited: isEdited,
      first: begun[campaign] !== true,
      kind: cast.campaigns[campaign]?.before.kind ?? 'plain',
      lock: 'none',
      onlyOwn: false,
    } as const;
    const drawn = drawStart(random, common);
    begun[campaign] = true;
    const wait = random.chance(0.05);
    const plan: StartPlan = {
      ...drawn,
      allow: [...drawn.allow, 'too-late'],
      clockStepMs: 0,
      clockStepAfter: null,
      suppressAfter: null,
      // A failing disk is the failure of all who use it, and that is another history.
      fault: who.length > 1 || wait ? null : drawn.fault,
      killAfterMs: wait && random.chance(0.4) ? random.scale(10, 14 * HOUR) : drawn.killAfterMs,
      interruptAfterMs: wait ? random.scale(MINUTE, 14 * HOUR) : drawn.interruptAfterMs,
    };
    return { campaign, afterMs: nth === 0 ? 0 : random.scale(0.01, 2000), plan, wait };
  });
  const optOuts = Array.from({ length: random.chance(0.6) ? random.whole(1, 4) : 0 }, (): OptOut => {
    const person = random.whole(0, cast.people.length - 1);
    const forMs = random.chance(0.2) ? Math.round(random.scale(1000, 8 * HOUR)) : null;
    return { afterMs: random.scale(0.5, 2000), person, how: random.pick(['own', 'other', 'hash']), forMs };
  });
  return {
    passMs: at === 0 ? 0 : Math.round(random.scale(MINUTE, 30 * HOUR)),
    toTheHalfHour: random.chance(0.4),
    list,
    purge: at > 0 && random.chance(0.05) ? random.whole(0, campaigns.length - 1) : null,
    starts,
    optOuts,
    clockStep: random.chance(0.2)
      ? { afterMs: random.scale(1, 1000), byMs: Math.round(random.scale(MINUTE, 4 * HOUR)) }
      : null,
  };
}

import { plan } from '../../src/operations/plan.ts';
import { rehearse } from '../../src/operations/rehearse.ts';
import { createProject } from '../helpers/project.ts';
import { createRandom, type Random } from '../simulate/random.ts';

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

/** In these days clocks change in Europe and America. */
const FIRST_DAY = Date.parse('2040-03-05T00:00:00Z');
const DAYS = 5;
const ZONES = ['Europe/London', 'America/New_York', 'Asia/Kolkata', 'Australia/Adelaide', 'Asia/Tokyo'] as const;

export interface ForecastCompared {
  readonly campaign: string;
  /** Absent where the forecast is what was played. */
  readonly differences: readonly string[];
  readonly kind: 'finishes' | 'expires' | 'is not over' | 'takes no time';
}

interface Ended {
  /** The last message, in ms since 1970; null: some are left, or expire. */
  readonly finishedMs: number | null;
  readonly expire: number;
}

/** Draws a campaign that is due once, asks `plan` for its forecast, and plays it with `due` called each minute. */
export async function compareForecast(seed: number): Promise<ForecastCompared> {
  const random = createRandom(seed);
  const { whole, chance, pick } = random;
  const startMs = FIRST_DAY + whole(0, 27) * DAY + whole(0, 1439) * MINUTE;
  // The run begins at once, or later.
  const dueMs = startMs + (chance(0.6) ? 0 : whole(1, 600) * MINUTE);
  const rows = Array.from({ length: whole(1, 60) }, (_, n) => `+4474001${String(n).padStart(5, '0')},${pick(ZONES)}`);
  if (chance(0.4)) rows.sort((a, b) => a.slice(13).localeCompare(b.slice(13)));
  // The last row of a file is decided after the others have been sent.
  rows.push(...rows.slice(0, 1));
  const campaign = JSON.stringify({
    name: 'hello',
    channel: 'sms',
    from: 'Riverside',
    template: { text: 'Hi' },
    recipients: { csv: 'people.csv', timeZone: 'time_zone', duplicates: 'skip' },
    schedule: { at: new Date(dueMs).toISOString().slice(0, 16), timeZone: 'UTC' },
    ...(chance(0.25) ? { validity: pick<unknown>([`${soon(random)}m`, instant(dueMs + soon(random) * MINUTE)]) } : {}),
    send: sendOf(random, dueMs),
  });
  using project = createProject({
    'handbill.yaml': JSON.stringify({
      environments: {
        test: {
          baseUrl: 'http://127.0.0.1:9',
          apiKey: { env: 'KEY' },
          ...(chance(0.3) ? { rate: rateOf(random) } : {}),
        },
      },
    }),
    'campaigns/hello/campaign.yaml': campaign,
    'campaigns/hello/people.csv': `msisdn,time_zone\n${rows.join('\n')}\n`,
  });
  const given = { cwd: project.root, env: { KEY: 'key-for-tests-only' }, environment: 'test', now: () => startMs };
  const allow = ['would-expire'] as const;
  const { estimate } = await plan('hello', { ...given, occurrence: occurrenceOf(dueMs), allow });
  let played: Ended = { finishedMs: null, expire: 0 };
  const { until } = await rehearse([], {
    ...given,
    days: DAYS,
    everyMs: MINUTE,
    allow,
    onPlayed(ledger) {
      const [run] = ledger.runs();
      if (run === undefined) throw new Error('nothing was played');
      const outcomes = [...ledger.outcomes(run)].flat();
      const times = outcomes.flatMap(({ outcome, claimedAtMs }) => (outcome === 'accepted' ? [claimedAtMs ?? 0] : []));
      const isOver = outcomes.every(({ outcome }) => outcome === 'accepted' || outcome === 'skipped');
      const expire = outcomes.filter(({ outcome }) => outcome === 'skipped').length - skippedIn(estimate);
      played = { finishedMs: isOver && expire === 0 ? Math.max(dueMs, ...times) : null, expire };
    },
  });
  const { forecast } = estimate;
  const finishesMs = forecast === undefined ? dueMs : Date.parse(forecast.finishesAt ?? 'never');
  const isOver = finishesMs < Date.parse(until);
  const said: Ended = { finishedMs: isOver ? finishesMs : null, expire: forecast?.expire ?? 0 };
  const kind =
    said.expire > 0 ? 'expires' : !isOver ? 'is not over' : forecast === undefined ? 'takes no time' : 'finishes';
  return {
    campaign,
    kind,
    differences: isSame(said, played) ? [] : [`plan ${words(said)}`, `rehearse ${words(played)}`],
  };
}

/** A forecast is the next whole minute; none, that the run takes less than one. */
function isSame(said: Ended, played: Ended): boolean {
  if (said.expire !== played.expire) return false;
  if (said.finishedMs === null || played.finishedMs === null) return said.finishedMs === played.finishedMs;
  return Math.abs(said.finishedMs - played.finishedMs) < MINUTE;
}

function words({ finishedMs, expire }: Ended): string {
  return `${finishedMs === null ? 'does not finish' : `finishes ${instant(finishedMs)}`}, ${expire} expire`;
}

function skippedIn({ skipped }: { readonly skipped: Readonly<Record<string, number>> }): number {
  return Object.values(skipped).reduce((sum, count) => sum + count, 0);
}

function sendOf(random: Random, dueMs: number): Record<string, unknown> {
  const { whole, chance, pick } = random;
  const hour = whole(6, 18);
  const clock = (of: number): string => `${String(of % 24).padStart(2, '0')}:${pick(['00', '00', '30', '17'])}`;
  const window = {
    from: clock(hour),
    to: clock(hour + whole(1, 12)),
    timeZone: pick(['recipient', 'recipient', 'UTC', 'America/New_York']),
    ...(chance(0.3) ? { days: pick<unknown>(['weekdays', ['sat', 'sun'], ['mon', 'wed', 'fri']]) } : {}),
  };
  return {
    concurrency: pick([1, 1, 4]),
    ...(chance(0.3) ? { recipientsPerRequest: whole(2, 9) } : {}),
    ...(chance(0.75) ? { rate: rateOf(random) } : {}),
    ...(chance(0.75) ? { window } : {}),
    ...(chance(0.6) ? { notAfter: instant(dueMs + soon(random) * MINUTE) } : {}),
  };
}

function rateOf({ pick, whole }: Random): string {
  return pick([`${whole(1, 60)}/min`, `${whole(1, 60)}/h`, `${whole(1, 3)}/s`]);
}

/** In minutes, up to a day. */
function soon({ scale }: Random): number {
  return Math.round(scale(2, 1500));
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}

function occurrenceOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

import { readFileSync } from 'node:fs';
import type { DeliveryReport } from '../../src/model.ts';
import { createRandom, type Random } from '../simulate/random.ts';

/** A project that follows from a seed, what happens in it before the rehearsal, and what is rehearsed. */
export interface Drawn {
  /** Text of files, by path. */
  readonly files: Readonly<Record<string, string>>;
  /** Age of the lists at the start, by path, in ms. */
  readonly agesMs: Readonly<Record<string, number>>;
  /** When `due` is called before the rehearsal begins, in ms since 1970, and what the API says then to each request. */
  readonly history: readonly { readonly atMs: number; readonly status: (request: number) => number }[];
  readonly suppressed: readonly { readonly address: string; readonly until?: string; readonly topic?: string }[];
  /** Delivery reports about earlier messages, recorded before the rehearsal: some say that a number is out of use. */
  readonly reports: readonly DeliveryReport[];
  /** A campaign that is paused before the rehearsal; '' for the environment; null: nothing is. */
  readonly paused: string | null;
  readonly startMs: number;
  readonly everyMs: number;
  readonly days: number;
  /** A rate holds messages back, so that the days are sent in virtual time too. */
  readonly isPaced: boolean;
}

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Years ahead of any clock that runs these: files must be older than the days that are played. Clocks change in them. */
const FIRST_DAY = Date.parse('2040-03-05T00:00:00Z');

const NUMBERS: readonly [(n: number) => string, ...((n: number) => string)[]] = [
  (n) => `+44207946${1000 + n}`,
  (n) => `+1212555${1000 + n}`,
  (n) => `+8131234${1000 + n}`,
  (n) => `+35191234${5000 + n}`,
  (n) => `+1800555${1000 + n}`,
];
const ZONES = ['', '', 'Europe/London', 'America/New_York', 'Asia/Kolkata', 'Australia/Adelaide'] as const;
const TOPICS = ['news', 'visits'] as const;

/** @param days - to rehearse at most */
export function drawProject(seed: number, url: string, days: number): Drawn {
  const random = createRandom(seed);
  const { whole, chance, pick } = random;
  // Other numbers, so that projects are those of before where they have none of it.
  const more = createRandom(seed + 1_000_000);
  const isPaced = more.chance(0.4);
  const everyMs = pick([HOUR, HOUR, HOUR, 30 * MINUTE, 20 * MINUTE]);
  const startMs = FIRST_DAY + whole(0, 60) * DAY + whole(0, 24 * 60 - 1) * MINUTE + (chance(0.5) ? 0 : 12_345);
  const people = Array.from({ length: whole(3, 15) }, (_, n) => ({
    msisdn: pick(NUMBERS)(n),
    name: `N${n}${chance(0.2) ? ' with a name that takes the text far beyond what fits into one part. '.repeat(3) : ''}`,
    time_zone: pick(ZONES),
    visit: new Date(startMs + whole(-2, days + 2) * DAY).toISOString().slice(0, 10),
    lang: pick(['en', 'de']),
    at: new Date(startMs + more.whole(-24, (days + 1) * 24) * HOUR).toISOString().slice(0, 16).replace('T', ' '),
  }));
  // The same for those without a rule for numbers that fail for good.
  const gone = createRandom(seed + 2_000_000);
  const isRuled = gone.chance(0.4);
  const zone = pick(['UTC', 'Europe/London', 'America/New_York', 'Asia/Kolkata']);
  const isPriced = chance(0.4);
  const files: Record<string, string> = {};
  const agesMs: Record<string, number> = {};
  const names: string[] = [];
  const topics = new Set<string>();
  for (let at = 0; at < whole(1, 4); at++) {
    const name = `c${at}`;
    const folder = `campaigns/${name}`;
    const topic = chance(0.4) ? pick(TOPICS) : null;
    if (topic !== null) topics.add(topic);
    const list = people.filter(() => chance(0.8));
    if (list.length > 0 && chance(0.1)) list.push(...list.slice(0, 1));
    const rows = list.map((one) => Object.values(one).join(','));
    files[`${folder}/people.csv`] = `msisdn,name,time_zone,visit,lang,at\n${rows.join('\n')}\n`;
    agesMs[`${folder}/people.csv`] = whole(0, 72) * HOUR;
    const campaign = {
      name,
      channel: 'sms',
      from: 'Riverside',
      ...(topic === null ? {} : { topic }),
      template: { text: 'Hello {{name}}' },
      recipients: recipientsOf(random),
      ...occasionOf(random, { names, startMs, days, zone }),
      ...rulesOf(random, { names, name, startMs, days, isPriced }),
    };
    files[`${folder}/campaign.yaml`] = JSON.stringify(withMore(campaign, more, isPaced));
    names.push(name);
  }
  if (chance(0.3)) {
    const lines = people.filter(() => chance(0.3)).map(({ msisdn }) => `${msisdn},${untilOf(random, startMs, days)}`);
    files['optouts.csv'] = `msisdn,until\n${lines.join('\n')}\n`;
  }
  const budget = { max: whole(1, 40) * 0.04, per: pick(['day', 'week', 'day', 'month']) };
  if (isPriced) files['prices.csv'] = 'channel,country,price,currency\nsms,*,0.04,GBP\nrcs,*,0.1,GBP\n';
  const lists = 'optouts.csv' in files ? 'optouts.csv' : null;
  const unreachable = { after: gone.whole(1, 2), within: `${gone.whole(2, 6)}d` };
  if (isRuled) files['providers/own.yaml'] = `${MESSAGES_V2}reports: { permanent: [30005] }\n`;
  const key = { env: 'HANDBILL_TEST_KEY' };
  files['handbill.yaml'] = JSON.stringify({
    timeZone: zone,
    ...(isPriced ? { prices: 'prices.csv' } : {}),
    ...(isRuled ? { suppressions: { ...(lists === null ? {} : { files: [lists] }), unreachable } } : {}),
    ...(!isRuled && lists !== null ? { suppressions: lists } : {}),
    ...(chance(0.2) ? { defaults: { frequency: { max: whole(1, 3), per: pick(['day', 'week', '36h']) } } } : {}),
    environments: {
      test: {
        baseUrl: url,
        ...(isRuled ? { provider: './providers/own.yaml', secrets: { apiKey: key } } : { apiKey: key }),
        ...(isPriced && chance(0.7) ? { budget } : {}),
        ...(isPaced && more.chance(0.4) ? { rate: rateOf(more) } : {}),
      },
    },
  });
  const share = pick([0, 0, 0.1, 0.5, 1]);
  const history: Drawn['history'] = Array.from({ length: Math.floor((2 * DAY) / everyMs) }, (_, i) => i)
    .map((i) => Math.floor((startMs - 2 * DAY) / everyMs + 1 + i) * everyMs)
    // The call that first sees a schedule is always one of them: what it passes over, the next call may make up for.
    .filter((atMs) => atMs < startMs && (chance(share) || atMs >= startMs - everyMs))
    .map((atMs) => ({ atMs, status: answersOf(random) }));
  const suppressed = people
    .filter(() => chance(0.1))
    .map(({ msisdn }) => {
      const until = untilOf(random, startMs, days);
      const topic = pick([...TOPICS]);
      return {
        address: msisdn,
        ...(until === '' ? {} : { until }),
        ...(topics.has(topic) && chance(0.5) ? { topic } : {}),
      };
    });
  const reports = isRuled ? reportsOf(gone, people, startMs) : [];
  const paused = chance(0.08) ? pick(['', 'c0']) : null;
  return { files, agesMs, history, suppressed, reports, paused, startMs, everyMs, days: whole(1, days), isPaced };
}

const MESSAGES_V2 = readFileSync(new URL('../../src/providers/messages-v2.yaml', import.meta.url), 'utf8');

/** Of the week before: failures for good, some of which leave the time that counts while days are played, and arrivals. */
function reportsOf({ chance, whole, pick }: Random, people: readonly { readonly msisdn: string }[], startMs: number) {
  return people.flatMap(({ msisdn: address }, person): readonly DeliveryReport[] =>
    Array.from({ length: chance(0.5) ? whole(1, 3) : 0 }, (_, n) => {
      const state = pick(['undeliverable', 'undeliverable', 'failed', 'delivered'] as const);
      const isGone = state !== 'delivered';
      return {
        kind: 'delivery',
        reference: null,
        messageId: `before-${person}-${n}`,
        address,
        channel: null,
        state,
        word: null,
        cause: isGone ? 'gone' : null,
        error: isGone ? '30005' : null,
        textHash: null,
        atMs: startMs - whole(1, 7 * 24 * 60) * MINUTE,
        eventId: null,
      };
    }),
  );
}

type Written = Record<string, unknown> & { readonly send: Record<string, unknown> };

/** A rate, requests for several, a time for each row, and a variant in another language. */
function withMore(campaign: Written, random: Random, isPaced: boolean): Written {
  const { chance, pick, whole } = random;
  const hasTimes = chance(0.15) && !('after' in campaign) && !('fallback' in campaign) && !('test' in campaign);
  const send = {
    ...campaign.send,
    ...(isPaced && chance(0.7) ? { rate: rateOf(random) } : {}),
    ...(chance(0.15) ? { recipientsPerRequest: whole(2, 5) } : {}),
    ...(hasTimes ? { each: { column: 'at', before: pick(['2h', '30m', '1d']) } } : {}),
  };
  const german = { name: 'german', where: { lang: 'de' }, locale: 'de', template: { text: 'Guten Tag {{name}}' } };
  const own = { fallback: { channel: 'sms', template: { text: 'Kurz' } } };
  const languages = chance(0.3) && !('variants' in campaign);
  return {
    ...campaign,
    ...(languages ? { variants: [{ ...german, ...('fallback' in campaign ? own : {}) }] } : {}),
    send,
  };
}

/** From a run that is over in moments to one that takes hours. */
function rateOf({ pick, whole }: Random): string {
  return pick([`${whole(1, 20)}/h`, `${whole(1, 9)}/min`, '2/s']);
}

function untilOf({ chance, whole }: Random, startMs: number, days: number): string {
  const at = startMs + whole(2 * 24 * 60, (days + 2) * 24 * 60) * MINUTE;
  return chance(0.3) ? '' : new Date(at).toISOString().slice(0, chance(0.5) ? 10 : 25);
}

function answersOf({ chance, whole, pick }: Random): (request: number) => number {
  if (chance(0.75)) return () => 202;
  const first = whole(1, 6);
  const status = pick([400, 500, 401, 400, 402]);
  return (request) => (request < first ? 202 : status);
}

function recipientsOf({ chance, pick, whole }: Random): Record<string, unknown> {
  return {
    csv: 'people.csv',
    ...(chance(0.7) ? { timeZone: 'time_zone' } : {}),
    ...(chance(0.15) ? { maxAge: `${whole(12, 120)}h` } : {}),
    ...(chance(0.15) ? { where: { visit: { $on: pick(['today', 'tomorrow']) } } } : {}),
    ...(chance(0.1) ? { duplicates: pick(['skip', 'refuse']) } : {}),
  };
}

interface Occasion {
  readonly names: readonly string[];
  readonly startMs: number;
  readonly days: number;
  readonly zone: string;
}

function occasionOf({ chance, whole, pick }: Random, { names, startMs, days, zone }: Occasion) {
  const last = names.at(-1);
  if (last !== undefined && chance(0.4)) {
    const wait = `${pick([0.5, 1, 3, 20, 24, 30, 48].map((hours) => hours * 60) as [number, ...number[]])}m`;
    return { after: { campaign: pick([last, ...names]), wait, unless: pick([[], ['replied', 'opted-out']]) } };
  }
  const minute = pick([0, 0, 30, 7, 55]);
  const cron = pick([
    `${minute} ${whole(0, 23)} * * *`,
    `${minute} ${whole(0, 23)} * * *`,
    `${minute} ${whole(0, 23)} * * 1-5`,
    `${minute} ${pick([2, 4, 6])}-23/${pick([3, 5, 7])} * * *`,
    `${minute} * * * *`,
    `${minute} ${whole(0, 23)} * * ${whole(0, 6)}`,
    '30 1 * * *',
  ]);
  const at = new Date(startMs + whole(-12, days * 24) * HOUR).toISOString().slice(0, 16);
  const timeZone = pick([zone, 'UTC', 'Europe/London', 'America/New_York', 'Australia/Adelaide']);
  const missed = chance(0.5) ? {} : { missed: pick(['skip', 'catch-up']) };
  return { schedule: { ...(chance(0.2) ? { at } : { cron }), timeZone, ...missed } };
}

interface Setting {
  readonly names: readonly string[];
  readonly name: string;
  readonly startMs: number;
  readonly days: number;
  readonly isPriced: boolean;
}

function rulesOf({ chance, whole, pick }: Random, { names, name, startMs, days, isPriced }: Setting) {
  const hour = whole(6, 20);
  const clock = (of: number): string => `${String(of % 24).padStart(2, '0')}:${pick(['00', '00', '30'])}`;
  // Hours that never meet those of a country cost a search of a year in each call.
  const isOfCountries = chance(0.2);
  const ofCountries = { from: '10:00', to: '18:00', timeZone: 'recipient', countries: true };
  const window = {
    from: clock(hour),
    to: clock(hour + whole(1, 12)),
    timeZone: pick(['recipient', 'recipient', 'UTC', 'America/New_York']),
    ...(chance(0.3) ? { unknown: pick(['Europe/London', 'hold']) } : {}),
    ...(chance(0.3) ? { days: pick<unknown>(['weekdays', ['sat', 'sun'], ['mon', 'wed', 'fri']]) } : {}),
    ...(isOfCountries ? ofCountries : {}),
  };
  // Whole hours: a start waits for less than 15 minutes, or for reports, in real time, which does not pass here.
  const canary = pick([
    { steps: [whole(1, 3)], pause: `${whole(1, 4)}h` },
    { steps: [1, '50%'], pause: '1h' },
    { steps: [2], pause: '6h', gate: { accepted: '50%' } },
    { steps: [2], pause: '0s' },
  ]);
  const cap = () => ({
    max: whole(1, 3),
    per: pick(['day', 'week', '30h', '3d', 'month']),
    ...(chance(0.3) ? { of: 'topic' } : {}),
  });
  const variants = [
    { name: 'A', template: { text: 'Hi {{name}}' } },
    { name: 'B', weight: 2, template: { text: 'Good day, {{name}}' } },
  ];
  const test = {
    test: `${whole(10, 60)}%`,
    winner: { by: 'accepted', wait: `${whole(1, 30)}h`, minimum: pick([1, 50]) },
  };
  const limits = {
    ...(chance(0.5) ? { minRecipients: whole(1, 9) } : {}),
    ...(chance(0.3) ? { maxRecipients: whole(4, 15) } : {}),
    ...(chance(0.3) ? { change: '10%' } : {}),
    ...(chance(0.3) && isPriced ? { maxCost: whole(1, 12) * 0.1 } : {}),
    ...(chance(0.3) ? { maxParts: whole(1, 3) } : {}),
  };
  return {
    send: {
      concurrency: pick([1, 1, 4]),
      ...(chance(0.45) ? { window } : {}),
      ...(chance(0.15) ? { canary } : {}),
      ...(chance(0.1)
        ? { notAfter: `${new Date(startMs + whole(-1, days * 24) * HOUR).toISOString().slice(0, 19)}Z` }
        : {}),
    },
    ...(chance(0.3) ? { frequency: chance(0.8) ? cap() : pick<unknown>([[cap(), cap()], 'exempt']) } : {}),
    ...(chance(0.2) ? { exclude: [pick([name, ...names])] } : {}),
    ...(chance(0.2) ? { limits } : {}),
    ...(chance(0.2) ? { variants, ...(chance(0.5) ? test : {}) } : {}),
    ...(chance(0.15) ? { holdout: '20%' } : {}),
    ...(chance(0.1) ? { validity: '24h' } : {}),
    ...(chance(0.15) ? { channel: 'rcs', fallback: { channel: 'sms', template: { text: 'Short' } } } : {}),
  };
}

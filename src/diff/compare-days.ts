import { isDeepStrictEqual } from 'node:util';
import type { Rehearsal, RehearsedOccurrence } from '../model.ts';
import { stopOf } from '../report/rehearsal-text.ts';
import { createDayOf, dayText } from '../util/time.ts';
import { microsOf, unitsOf } from '../util/units.ts';
import type { CampaignDay, DayFigures, Finding, RehearsedSide } from './result.ts';

export interface PlayedSide {
  /** Null: nothing is scheduled, or it cannot be played. */
  readonly rehearsal: Rehearsal | null;
  readonly errors: readonly Finding[];
  /** The name of a campaign by its file: on the new side, where it is there. */
  readonly nameOf: (file: string) => string | null;
}

export function compareDays(before: PlayedSide, after: PlayedSide, timeZone: string) {
  const [was, is] = [gather(before, timeZone), gather(after, timeZone)];
  const changes = [...new Set([...was.days.keys(), ...is.days.keys()])].sort().flatMap((key) => {
    const [day = '', campaign = ''] = key.split('\n');
    const [old, now] = [was.days.get(key) ?? null, is.days.get(key) ?? null];
    return isDeepStrictEqual(old, now) ? [] : [{ day, campaign, before: old, after: now }];
  });
  return { before: was.side, after: is.side, changes };
}

function gather({ rehearsal, errors, nameOf }: PlayedSide, timeZone: string) {
  const days = new Map<string, CampaignDay>();
  const campaigns = new Map<string, DayFigures>();
  const { occurrences = [], diagnostics = [], at = '', currency = null, busiest = 0 } = rehearsal ?? {};
  const dayOf = createDayOf(timeZone);
  const sum = (campaign: string, more: DayFigures): void => {
    campaigns.set(campaign, plus(campaigns.get(campaign) ?? {}, more));
  };
  const add = (day: string, campaign: string, more: DayFigures, sent: CampaignDay['sent'] = []): void => {
    const known = days.get(`${day}\n${campaign}`) ?? { figures: {}, sent: [] };
    days.set(`${day}\n${campaign}`, { figures: plus(known.figures, more), sent: [...known.sent, ...sent] });
    sum(campaign, more);
  };
  for (const one of occurrences) {
    const { begins, ends, due, occurrence } = one;
    const campaign = nameOf(one.file) ?? one.campaign;
    for (const { day, cost, ...sums } of one.days) add(day, campaign, { ...sums, ...(cost === null ? {} : { cost }) });
    // The occurrence of a follow-up may be any name.
    const firstMs = Date.parse(begins ?? due ?? occurrence) || Date.parse(at);
    add(dayText(dayOf(firstMs)), campaign, unsentOf(one), begins === null ? [] : [{ begins, ends }]);
  }
  const faults = diagnostics.filter(({ severity }) => severity === 'error').toReversed();
  for (const [file, code] of new Map(faults.map((one) => [one.at?.file ?? '', one.code])))
    sum(nameOf(file) ?? file, { [`cannot be read (${code})`]: 1 });
  const side: RehearsedSide = { campaigns: Object.fromEntries(campaigns), currency, busiest, errors };
  return { days, side };
}

function plus(a: DayFigures, b: DayFigures): DayFigures {
  const sums = Object.entries(b).map(([name, more]) => [name, unitsOf(microsOf(a[name] ?? 0) + microsOf(more))]);
  return { ...a, ...Object.fromEntries(sums) };
}

/** Recipients without a message, by reason, and each fault of the occurrence. */
function unsentOf(one: RehearsedOccurrence): DayFigures {
  const { state, halt, overlaps, diagnostics, reasons = {} } = one;
  const recipients = (['skipped', 'deferred'] as const).flatMap((outcome) =>
    Object.entries(reasons[outcome] ?? {}).map(([reason, count]) => [`${outcome}: ${reason}`, count] as const),
  );
  const { code } = diagnostics.find(({ severity }) => severity === 'error') ?? diagnostics[0] ?? {};
  const stop = stopOf(one);
  const why = state === 'halted' ? halt?.rule : (stop ?? code);
  const words = state === 'partial' && stop === null ? undefined : UNSENT[state];
  return {
    ...Object.fromEntries(recipients),
    ...(words === undefined ? {} : { [why === undefined ? words : `${words} (${why})`]: 1 }),
    ...(overlaps === undefined ? {} : { 'does not end before the next one': 1 }),
  };
}

const UNSENT: Partial<Record<RehearsedOccurrence['state'], string>> = {
  refused: 'cannot begin',
  missed: 'missed',
  halted: 'halts',
  partial: 'stops',
};

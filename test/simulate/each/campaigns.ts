import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadCampaign } from '../../../src/campaign/load.ts';
import type { SendWindow } from '../../../src/model.ts';
import { createWindowGate } from '../../../src/plan/window.ts';
import { createRandom } from '../random.ts';
import { type Edition, editionOf, environmentsYaml, type FormsOf, type Stage } from '../scene.ts';

const HOUR = 3_600_000;
/** A Monday. */
export const FIRST_DAY = Date.parse('2026-11-23T00:00:00Z');
export const BEFORE_MS = 2 * HOUR;
export const NAME = 'visits';

/** One reading of the list: a run for each. */
export interface Day {
  readonly occurrence: string;
  readonly edition: Edition;
  /** The time of each recipient of the list, by key. */
  readonly times: ReadonlyMap<string, number>;
}

export type Days = readonly [Day, ...Day[]];

const DAYS = 4;
/** A list is read so often. */
const EVERY_HOURS = 5;
const PEOPLE = 9;
const FORMS: FormsOf = { test: 'messages-v2', backup: 'messages-v2', spare: 'messages-v2' };

export const WINDOW: SendWindow = {
  hours: { fromMinute: 8 * 60, toMinute: 20 * 60, days: [1, 2, 3, 4, 5, 6, 7] },
  holidays: [],
  timeZone: 'Europe/London',
  unknown: null,
  countries: false,
};

/** Four readings of a list. Each has what is still to come, but for visits that were cancelled, moved, or are new. */
export async function createDays(stage: Stage): Promise<Days> {
  const root = join(stage.root, 'each');
  const folder = join(root, 'campaigns', NAME);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(root, 'handbill.yaml'), environmentsYaml(FORMS));
  const lines = [
    `name: ${NAME}`,
    'channel: sms',
    'from: Riverside',
    'template: { text: "{{visit}}" }',
    'recipients: { csv: list.csv, key: id }',
    'send: { each: { column: visit, before: 2h } }',
  ];
  writeFileSync(join(folder, 'campaign.yaml'), `${lines.join('\n')}\n`);
  writeFileSync(join(folder, 'list.csv'), 'msisdn,id,visit\n');
  const random = createRandom(11);
  /** Of a person, the hours after the first midnight. */
  let visits: readonly (readonly [person: number, hour: number])[] = [];
  const days: Day[] = [];
  for (let day = 0; day < DAYS; day++) {
    const kept = visits.filter(() => !random.chance(0.12));
    const moved = kept.map(
      ([person, hour]) => [person, random.chance(0.15) ? hour + random.whole(1, 4) : hour] as const,
    );
    const added = Array.from(
      { length: PEOPLE },
      (_, n) => [n, EVERY_HOURS * day + 9 + 3 * random.whole(0, 6)] as const,
    );
    // Some stay in the list although their time has passed, and none is there twice.
    const all = new Map([...moved, ...added].map((visit) => [visit.join(' '), visit]));
    visits = [...all.values()].filter(([, hour]) => hour > EVERY_HOURS * day + 3);
    const times = new Map<string, number>();
    const rows = visits.map(([person, hour]) => {
      const atMs = FIRST_DAY + hour * HOUR;
      const time = new Date(atMs).toISOString().replace('.000', '');
      times.set(`c${person}|${time}`, atMs);
      return `+44740012345${person},c${person},${time}`;
    });
    const recipients = join(folder, `day-${day}.csv`);
    writeFileSync(recipients, `msisdn,id,visit\n${rows.join('\n')}\n`);
    const { campaign } = await loadCampaign(join(folder, 'campaign.yaml'), { cwd: root, recipients });
    const occurrence = `day-${day}`;
    days.push({ occurrence, times, edition: await editionOf(campaign, FORMS, 'plain', rows.length, { occurrence }) });
  }
  const [first, ...rest] = days;
  if (first === undefined) throw new Error('there is a first day');
  // What is loaded where a rule needs it is there from here on: how long that takes is no part of a history.
  const { plan } = first.edition;
  const { send } = plan.campaign;
  const windowed = { ...plan, campaign: { ...plan.campaign, send: { ...send, window: WINDOW } } };
  await createWindowGate(windowed, { now: () => FIRST_DAY, lateAtMs: Number.POSITIVE_INFINITY });
  return [first, ...rest];
}

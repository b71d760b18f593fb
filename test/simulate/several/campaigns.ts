import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadCampaign } from '../../../src/campaign/load.ts';
import type { Campaign } from '../../../src/model.ts';
import { createCaps } from '../../../src/plan/contact-history.ts';
import { type Fence, openFence } from '../../../src/plan/fence.ts';
import { loadSuppressions, type Suppressions } from '../../../src/plan/suppression.ts';
import { createWindowGate } from '../../../src/plan/window.ts';
import { createHasher, type Hasher, writeHash } from '../../../src/suppression/hash.ts';
import { createRandom, type Random } from '../random.ts';
import {
  BEGINNING,
  editionOf,
  environmentsYaml,
  type FormsOf,
  type Scene,
  type SceneKind,
  type Stage,
} from '../scene.ts';

/** A campaign that shares its people with others. */
export interface CampaignScene extends Scene {
  readonly name: string;
}

/** The lists that a start may find, each with the people that it names. */
export interface ListVersion {
  readonly suppressions: Suppressions;
  readonly addresses: ReadonlySet<string>;
}

/** What all histories of several campaigns share. */
export interface Cast {
  readonly campaigns: readonly CampaignScene[];
  readonly people: readonly Person[];
  /** Each names more people than the one before; the first is empty. */
  readonly lists: readonly [ListVersion, ...ListVersion[]];
  readonly hasher: Hasher;
  /** The people who can be reached where there is one. */
  readonly fence: { readonly fence: Fence; readonly addresses: ReadonlySet<string> };
}

export interface Person {
  readonly address: string;
  /** Zones that they may be in; null: unknown. */
  readonly zones: readonly string[] | null;
}

/** Where numbers are at home, as their operators say. */
const NUMBERS: readonly { readonly of: (n: number) => string; readonly zones: readonly string[] | null }[] = [
  { of: (n) => `+44207946${1000 + n}`, zones: ['Europe/London'] },
  { of: (n) => `+1212555${1000 + n}`, zones: ['America/New_York'] },
  { of: (n) => `+8131234${1000 + n}`, zones: ['Asia/Tokyo'] },
  { of: (n) => `+35191234${5000 + n}`, zones: ['Europe/Lisbon', 'Atlantic/Azores'] },
  { of: (n) => `+1800555${1000 + n}`, zones: null },
];
/** What the column says of those whose number says something else. */
const CELL = 'Europe/Paris';
const PEOPLE = 26;

const FALLBACK = 'fallback: { channel: sms, from: Riverside, template: { text: "Hello everybody" } }';
/** The first two say the same to the same people: a report that quotes the text may mean either. */
const CAMPAIGNS: readonly {
  name: string;
  kind: SceneKind;
  key: string;
  topic?: string;
  message: readonly string[];
}[] = [
  {
    name: 'alpha',
    kind: 'plain',
    key: '',
    topic: 'offers',
    message: ['channel: sms', 'template: { text: "Hi {{name}}" }'],
  },
  {
    name: 'beta',
    kind: 'plain',
    key: 'key: id, ',
    topic: 'news',
    message: ['channel: sms', 'template: { text: "Hi {{name}}" }'],
  },
  {
    name: 'gamma',
    kind: 'shared',
    key: '',
    message: ['channel: rcs', 'template: { text: "Hi everybody" }', FALLBACK, 'send: { recipientsPerRequest: 4 }'],
  },
];

/** The oracle of these histories does not know opt-outs that an answer reports, and this API reports none. */
const FORMS_HERE: FormsOf = { test: 'messages-v2', backup: 'messages-v2', spare: 'messages-v2' };

const KEY = { HANDBILL_SUPPRESSION_KEY: 'a key of more than sixteen bytes' };

export async function createCast(stage: Stage): Promise<Cast> {
  const root = join(stage.root, 'several');
  mkdirSync(root);
  const key = 'suppressionKey: { env: HANDBILL_SUPPRESSION_KEY }\n';
  writeFileSync(join(root, 'handbill.yaml'), `${key}${environmentsYaml(FORMS_HERE)}`);
  const random = createRandom(7);
  const people = Array.from({ length: PEOPLE }, (_, n) => personOf(n, random));
  const campaigns: CampaignScene[] = [];
  let first: Campaign | null = null;
  for (const { name, kind, key: keyColumn, topic, message } of CAMPAIGNS) {
    const folder = join(root, 'campaigns', name);
    mkdirSync(folder, { recursive: true });
    const recipients = `recipients: { csv: list.csv, ${keyColumn}timeZone: zone }`;
    writeFileSync(
      join(folder, 'campaign.yaml'),
      `${[`name: ${name}`, ...(topic === undefined ? [] : [`topic: ${topic}`]), 'from: Riverside', recipients, ...message].join('\n')}\n`,
    );
    writeFileSync(join(folder, 'list.csv'), `${HEADER}\n`);
    const edition = async (file: string, rows: readonly string[]) => {
      const recipients = join(folder, file);
      writeFileSync(recipients, `${[HEADER, ...rows].join('\n')}\n`);
      const target = join(folder, 'campaign.yaml');
      const { campaign } = await loadCampaign(target, { cwd: root, recipients });
      first ??= campaign;
      return await editionOf(campaign, FORMS_HERE, kind, rows.length);
    };
    const before = await edition('before.csv', rowsOf(people, 'Name', random));
    const after = await edition('after.csv', rowsOf(people, 'Friend', random));
    campaigns.push({ name, before, after });
  }
  if (first === null) throw new Error('there is a campaign');
  await loadLibraries(campaigns);
  const hasher = createHasher(Buffer.from(KEY.HANDBILL_SUPPRESSION_KEY));
  const versions = [0, 2, 6].map((count) => people.slice(0, count * 2).filter((_, n) => n % 2 === 1));
  const [none, ...more] = await Promise.all(versions.map((named, n) => listOf(root, n, first as never, named, hasher)));
  if (none === undefined) throw new Error('there is a list');
  const addresses = new Set(people.filter((_, n) => n % 3 !== 2).map(({ address }) => address));
  return {
    campaigns,
    people,
    lists: [none, ...more],
    hasher,
    fence: { fence: await fenceOf(campaigns, addresses), addresses },
  };
}

async function fenceOf([first]: readonly CampaignScene[], addresses: ReadonlySet<string>): Promise<Fence> {
  if (first === undefined) throw new Error('there is a campaign');
  const { environment, campaign } = first.before.plan;
  const only = [...addresses].map((text) => ({ text, path: null, where: {} }));
  const fence = await openFence({ ...environment, only }, campaign.project);
  if (fence === null) throw new Error('there is a fence');
  return fence;
}

/** What is loaded where a rule needs it is there from here on: how long that takes is no part of a history. */
async function loadLibraries(campaigns: readonly CampaignScene[]): Promise<void> {
  const window = { hours: null, holidays: [], timeZone: 'recipient', unknown: null, countries: false };
  for (const { before } of campaigns) {
    const { campaign } = before.plan;
    const frequency: Campaign['frequency'] = [{ max: 1, per: { kind: 'calendar', unit: 'day' }, of: 'all' }];
    const plan = { ...before.plan, campaign: { ...campaign, frequency, send: { ...campaign.send, window } } };
    await createWindowGate(plan, { now: () => BEGINNING, lateAtMs: Number.POSITIVE_INFINITY });
    await createCaps(plan);
  }
}

const HEADER = 'msisdn,id,name,zone';

function personOf(n: number, random: Random): Person & { readonly cell: string } {
  const number = NUMBERS[n % NUMBERS.length];
  if (number === undefined) throw new Error('there are numbers');
  const cell = random.chance(0.15) ? CELL : '';
  return { address: number.of(n), zones: cell === '' ? number.zones : [cell], cell };
}

/** Most of the people in any order, some of them twice, and a bad row now and then. */
function rowsOf(people: readonly (Person & { cell?: string })[], word: string, random: Random): string[] {
  const rows: string[] = [];
  for (const [n, { address, cell = '' }] of people.entries()) {
    const row = `${address},c${n},${word} ${n},${cell}`;
    if (random.chance(0.75)) rows.splice(random.whole(0, rows.length), 0, row);
    if (random.chance(0.05)) rows.push(row);
    if (random.chance(0.04)) rows.push(`12,x${n},Nobody,`);
  }
  return rows;
}

/** Half of them by address, in a spelling of its own, half of them by hash. */
async function listOf(
  root: string,
  version: number,
  campaign: Campaign,
  people: readonly Person[],
  hasher: Hasher,
): Promise<ListVersion> {
  const file = `suppressed-${version}.csv`;
  const rows = people.map(({ address }, n) =>
    n % 2 === 0 ? `00${address.slice(1)},` : `,${writeHash({ keyId: hasher.keyId, hash: hasher.hash(address) })}`,
  );
  writeFileSync(join(root, file), `msisdn,hash\n${rows.join('\n')}\n`);
  const files = people.length === 0 ? [] : [{ path: join(root, file), file, namedBy: 'project' as const }];
  const suppressions = await loadSuppressions({ ...campaign, suppressions: files }, KEY);
  return { suppressions, addresses: new Set(people.map(({ address }) => address)) };
}

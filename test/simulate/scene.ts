import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCampaign } from '../../src/campaign/load.ts';
import { openLedger } from '../../src/ledger/open.ts';
import type { RunIdentity } from '../../src/ledger/records.ts';
import type { Campaign } from '../../src/model.ts';
import { type Decisions, decisions, duplicatesIn } from '../../src/plan/decide.ts';
import { createPlan, type Plan } from '../../src/plan/plan.ts';
import { FORM_NAMES, FORMS, type FormName } from '../oracle/forms.ts';
import { numberOf } from '../oracle/scene.ts';
import { createRandom } from './random.ts';

/** When every history begins. */
export const BEGINNING = Date.parse('2026-11-21T09:00:00Z');
export const IDENTITY: RunIdentity = { environment: 'test', campaign: 'proof', occurrence: 'once' };

/** The environment of the runs and those that stand in for it: the rate that each writes, and the lower one that holds. */
export const ENVIRONMENTS = {
  test: { rate: 20, lower: 20 },
  backup: { rate: 50, lower: 20 },
  spare: { rate: 8, lower: 8 },
} as const;
export type EnvironmentName = keyof typeof ENVIRONMENTS;
export const ENVIRONMENT_NAMES: readonly EnvironmentName[] = ['test', 'backup', 'spare'];

/** How the API of each environment is spoken to. */
export type FormsOf = Readonly<Record<EnvironmentName, FormName>>;

/**
 * The forms of a project by that of its first environment: the same API three times, or three of which each has the channels of
 * the campaign.
 */
function formsOf(form: FormName, kind: SceneKind): FormsOf {
  if (form === 'messages-v2') return { test: form, backup: form, spare: form };
  if (form === 'infobip') return { test: form, backup: 'messages-v2', spare: 'twilio' };
  return { test: form, backup: 'messages-v2', spare: kind === 'plain' ? 'infobip' : form };
}

/** As handbill.yaml says it. */
export function environmentsYaml(forms: FormsOf): string {
  const environments = ENVIRONMENT_NAMES.flatMap((name, at) => [
    `  ${name}:`,
    `    baseUrl: http://127.0.0.1:${9 + at}`,
    `    rate: ${ENVIRONMENTS[name].rate}/s`,
    ...FORMS[forms[name]].environment.map((line) => line.replaceAll('webhooks/test', `webhooks/${name}`)),
    ...(name === IDENTITY.environment ? [] : [`    standsInFor: ${IDENTITY.environment}`]),
  ]);
  return ['environments:', ...environments, ''].join('\n');
}

/**
 * `plain`: an SMS for each by name. `fallback`: RCS, and an SMS for who cannot receive it; both are other texts for a few
 * people. `shared`: the same text for all, for four in one request, with a fallback. `tested`: two variants, of which one
 * has its own fallback, for half of the list until a winner is named; a few get nothing.
 */
export const SCENE_KINDS = ['plain', 'fallback', 'shared', 'tested'] as const;
export type SceneKind = (typeof SCENE_KINDS)[number];

/** One version of a list with everything that the real code makes of it, and what should come of it. */
export interface Edition {
  readonly plan: Plan;
  /** How the API of its environment is spoken to. */
  readonly form: FormName;
  /** The same, sent from this environment. */
  readonly from: (environment: EnvironmentName) => Edition;
  readonly rows: number;
  readonly kind: SceneKind;
  /** Keys of rows that are recipients: not bad, not the second of their kind. */
  readonly keys: ReadonlySet<string>;
  /** Reference to body of each step, as preview would show it while this variant is the winner. */
  readonly bodies: (winner: string | null) => ReadonlyMap<string, string>;
  /** Whose a reference is. */
  readonly keyOf: (reference: string) => string;
  /** It is of a later channel step. */
  readonly isFallback: (reference: string) => boolean;
  readonly hasBadRows: boolean;
}

/** A list before and after it was edited. */
export interface Scene {
  readonly before: Edition;
  readonly after: Edition;
}

/** What all histories of one process share, so that each costs only what it is about. */
export interface Stage extends Disposable {
  /** Where it keeps what it needs. */
  readonly root: string;
  scenes(form: FormName, kind: SceneKind): readonly [Scene, ...Scene[]];
  /** A folder for a ledger, with what was in it before: nothing but an empty ledger, or the files of another folder. */
  folder(from?: string): string;
  remove(folder: string): void;
}

const SIZES: Readonly<Record<SceneKind, readonly [number, ...number[]]>> = {
  plain: [4, 12, 25, 45],
  fallback: [4, 12, 25],
  shared: [12, 30],
  tested: [12, 30],
};

const FALLBACK = 'fallback: { channel: sms, from: Riverside, template: { text: "Hello {{name}}" } }';
const RICH: Readonly<Record<SceneKind, readonly string[]>> = {
  plain: ['channel: sms', 'template: { text: "Hi {{name}}" }'],
  fallback: [
    'channel: rcs',
    'template: { text: "Hi {{name}}" }',
    'variants:',
    `  - { name: A, where: { name: { $endsWith: "1" } }, template: { text: "A for {{name}}" }, ${FALLBACK.replace('Hello', 'A instead for')} }`,
    FALLBACK,
  ],
  shared: [
    'channel: rcs',
    'template: { text: "Hi everybody" }',
    FALLBACK.replace('{{name}}', 'everybody'),
    'send: { recipientsPerRequest: 4 }',
  ],
  tested: [
    'channel: rcs',
    'variants:',
    `  - { name: A, template: { text: "A for {{name}}" }, ${FALLBACK.replace('Hello', 'A instead for')} }`,
    '  - { name: B, template: { text: "B for {{name}}" } }',
    'test: 50%',
    'holdout: 10%',
    FALLBACK,
  ],
};
export const WINNERS = ['A', 'B'] as const;

/** Where the API has no RCS, the message itself is an SMS; where it takes one recipient in a request, each has a request. */
function messageOf(form: FormName, kind: SceneKind): readonly string[] {
  const { hasRcs, most } = FORMS[form];
  return RICH[kind]
    .filter((line) => (hasRcs || !line.startsWith('fallback:')) && (most > 1 || !line.startsWith('send:')))
    .map((line) => (hasRcs ? line : line.replace('rcs', 'sms').replace(/, fallback: .* \}(?= \}$)/, '')));
}

export async function createStage(): Promise<Stage> {
  const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const root = realpathSync(mkdtempSync(join(parent, 'handbill-simulate-')));
  const template = join(root, 'template');
  openLedger(join(template, 'ledger.db'), { mode: 'write', nowMs: BEGINNING }).close();
  writeFileSync(join(template, '.ledger.db.marker'), 'simulated');
  // Its size is of no interest here, and writing it anew would cost more than the whole history.
  writeFileSync(join(template, 'ledger.db.reserve'), 'simulated');
  const made = new Map<string, readonly [Scene, ...Scene[]]>();
  for (const form of FORM_NAMES) {
    for (const kind of SCENE_KINDS) {
      const [first, ...rest] = SIZES[kind];
      const others = await Promise.all(rest.map((size) => makeScene(root, form, kind, size)));
      made.set(`${form} ${kind}`, [await makeScene(root, form, kind, first), ...others]);
    }
  }
  let count = 0;
  return {
    root,
    scenes(form, kind) {
      const scenes = made.get(`${form} ${kind}`);
      if (scenes === undefined) throw new Error(`There are no scenes of kind ${kind}.`);
      return scenes;
    },
    folder(from = template) {
      count += 1;
      const folder = join(root, `ledger-${count}`);
      mkdirSync(folder, { mode: 0o700 });
      for (const name of ['ledger.db', 'ledger.db-wal']) {
        if (existsSync(join(from, name))) copyFileSync(join(from, name), join(folder, name));
      }
      for (const name of ['.ledger.db.marker', 'ledger.db.reserve']) {
        if (existsSync(join(from, name))) linkSync(join(from, name), join(folder, name));
      }
      return folder;
    },
    remove: (folder) => rmSync(folder, { recursive: true, force: true }),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

async function makeScene(root: string, form: FormName, kind: SceneKind, size: number): Promise<Scene> {
  const random = createRandom(size);
  const rows: string[] = [];
  for (let row = 0; row < size; row++) {
    const number = row > 0 && random.chance(0.08) ? random.whole(0, row - 1) : row;
    rows.push(random.chance(0.05) ? '12,Nobody' : `${numberOf(number)},Name ${number}`);
  }
  const before = await makeEdition(root, form, kind, `list-${size}.csv`, rows);
  // Some are gone, some are new, some have moved, and every text is another one.
  const kept = rows.filter(() => !random.chance(0.15)).map((row) => row.replace('Name', 'Friend'));
  const added = Array.from({ length: 1 + size / 10 }, (_, i) => `${numberOf(1000 + i)},Late ${i}`);
  const after = await makeEdition(root, form, kind, `list-${size}-edited.csv`, [
    ...added.slice(1),
    ...kept,
    ...added.slice(0, 1),
  ]);
  return { before, after };
}

async function makeEdition(
  root: string,
  form: FormName,
  kind: SceneKind,
  list: string,
  rows: readonly string[],
): Promise<Edition> {
  const folder = join(root, form, kind);
  const forms = formsOf(form, kind);
  mkdirSync(folder, { recursive: true });
  // A project of its own: no two campaigns of one have the same name.
  writeFileSync(join(folder, 'handbill.yaml'), environmentsYaml(forms));
  const campaign = join(folder, 'campaign.yaml');
  writeFileSync(join(folder, list), `msisdn,name\n${rows.join('\n')}\n`);
  const lines = ['name: proof', 'from: Riverside', 'recipients: list.csv', ...messageOf(form, kind)];
  writeFileSync(campaign, `${lines.join('\n')}\n`);
  writeFileSync(join(folder, 'list.csv'), 'msisdn,name\n');
  const loaded = await loadCampaign(campaign, { cwd: folder, recipients: join(folder, list) });
  return await editionOf(loaded.campaign, forms, kind, rows.length);
}

/** What the real code makes of a campaign with its list. */
export async function editionOf(
  campaign: Campaign,
  forms: FormsOf,
  kind: SceneKind,
  rows: number,
  { occurrence }: Pick<RunIdentity, 'occurrence'> = IDENTITY,
): Promise<Edition> {
  const planFrom = async (environment: EnvironmentName): Promise<Plan> =>
    await createPlan(campaign, { environment, occurrence, nowMs: BEGINNING });
  const plans = { test: await planFrom('test'), backup: await planFrom('backup'), spare: await planFrom('spare') };
  const people = new Map<string, string>();
  const keyOf = (reference: string): string => people.get(reference) ?? '?';
  const { keys, hasBadRows } = await look(plans.test, null, people);
  const bodies = new Map<string, ReadonlyMap<string, string>>();
  const winners = kind === 'tested' ? [null, ...WINNERS] : [null];
  for (const name of ENVIRONMENT_NAMES) {
    for (const winner of winners) {
      bodies.set(`${name} ${winner}`, (await look(plans[name], winner, people)).bodies);
    }
  }
  const from = (environment: EnvironmentName): Edition => {
    return {
      ...{ plan: plans[environment], form: forms[environment], from, kind, rows, keys, hasBadRows },
      bodies: (winner) => bodies.get(`${environment} ${winner}`) ?? new Map(),
      keyOf,
      isFallback: (reference) => reference !== plans.test.referenceOf(keyOf(reference), campaign.channel),
    };
  };
  return from('test');
}

interface Look extends Pick<Edition, 'keys' | 'hasBadRows'> {
  readonly bodies: ReadonlyMap<string, string>;
}

/** What the real code makes of a list. */
async function look(plan: Plan, winner: string | null, people: Map<string, string>): Promise<Look> {
  const stream: Decisions = decisions(plan, { duplicates: duplicatesIn(plan), skipsInvalid: false, winner });
  const expand = plan.expander(BEGINNING);
  const keys = new Set<string>();
  const bodies = new Map<string, string>();
  let hasBadRows = false;
  for await (const batch of stream) {
    for (const decision of batch) {
      if (decision.decision === 'invalid') hasBadRows = true;
      else if (decision.key !== null && !(decision.decision === 'skip' && decision.reason === 'duplicate')) {
        keys.add(decision.key);
      }
      if (decision.decision !== 'send') continue;
      for (const message of [decision, ...decision.fallbacks]) {
        const { body } = expand.one(decision, message);
        const reference = plan.referenceOf(decision.key, message.channel);
        people.set(reference, decision.key);
        bodies.set(reference, body);
      }
    }
  }
  return { keys, bodies, hasBadRows };
}

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
import { type Decisions, decisions } from '../../src/plan/decide.ts';
import { createPlan, type Plan } from '../../src/plan/plan.ts';
import { createSeen } from '../../src/recipients/duplicates.ts';
import { numberOf } from '../oracle/scene.ts';
import { createRandom } from './random.ts';

/** When every history begins. */
export const BEGINNING = Date.parse('2026-11-21T09:00:00Z');
export const IDENTITY: RunIdentity = { environment: 'test', campaign: 'proof', occurrence: 'once' };

/** One version of a list with everything that the real code makes of it, and what should come of it. */
export interface Edition {
  readonly plan: Plan;
  readonly rows: number;
  /** Keys of rows that are somebody: not bad, not the second of their kind. */
  readonly keys: ReadonlySet<string>;
  /** Reference to body, as preview would show it. */
  readonly bodies: ReadonlyMap<string, string>;
  readonly hasBadRows: boolean;
}

/** A list before and after it was edited. */
export interface Scene {
  readonly before: Edition;
  readonly after: Edition;
}

/** What all histories of one process share, so that each costs only what it is about. */
export interface Stage extends Disposable {
  readonly scenes: readonly [Scene, ...Scene[]];
  /** A folder for a ledger, with what was in it before: nothing but an empty ledger, or the files of another folder. */
  folder(from?: string): string;
  remove(folder: string): void;
}

export const SIZES = [4, 12, 25, 45] as const;

export async function createStage(): Promise<Stage> {
  const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const root = realpathSync(mkdtempSync(join(parent, 'handbill-simulate-')));
  writeFileSync(
    join(root, 'handbill.yaml'),
    'environments:\n  test:\n    baseUrl: http://127.0.0.1:9\n    apiKey: { env: HANDBILL_API_KEY }\n',
  );
  const template = join(root, 'template');
  openLedger(join(template, 'ledger.db'), { mode: 'write', nowMs: BEGINNING }).close();
  writeFileSync(join(template, 'ledger.db.marker'), 'simulated');
  // Its size is of no interest here, and writing it anew would cost more than the whole history.
  writeFileSync(join(template, 'ledger.db.reserve'), 'simulated');
  const [first, ...rest] = await Promise.all(SIZES.map((size) => makeScene(root, size)));
  if (first === undefined) throw new Error('There are no scenes.');
  let count = 0;
  return {
    scenes: [first, ...rest],
    folder(from = template) {
      count += 1;
      const folder = join(root, `ledger-${count}`);
      mkdirSync(folder, { mode: 0o700 });
      for (const name of ['ledger.db', 'ledger.db-wal']) {
        if (existsSync(join(from, name))) copyFileSync(join(from, name), join(folder, name));
      }
      for (const name of ['ledger.db.marker', 'ledger.db.reserve']) {
        if (existsSync(join(from, name))) linkSync(join(from, name), join(folder, name));
      }
      return folder;
    },
    remove: (folder) => rmSync(folder, { recursive: true, force: true }),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

async function makeScene(root: string, size: number): Promise<Scene> {
  const random = createRandom(size);
  const rows: string[] = [];
  for (let row = 0; row < size; row++) {
    const number = row > 0 && random.chance(0.08) ? random.whole(0, row - 1) : row;
    rows.push(random.chance(0.05) ? '12,Nobody' : `${numberOf(number)},Name ${number}`);
  }
  const before = await makeEdition(root, `list-${size}.csv`, rows);
  // Some are gone, some are new, some have moved, and everybody reads something else.
  const kept = rows.filter(() => !random.chance(0.15)).map((row) => row.replace('Name', 'Friend'));
  const added = Array.from({ length: 1 + size / 10 }, (_, i) => `${numberOf(1000 + i)},Late ${i}`);
  const after = await makeEdition(root, `list-${size}-edited.csv`, [...added.slice(1), ...kept, ...added.slice(0, 1)]);
  return { before, after };
}

async function makeEdition(root: string, list: string, rows: readonly string[]): Promise<Edition> {
  const campaign = join(root, 'campaign.yaml');
  writeFileSync(join(root, list), `msisdn,name\n${rows.join('\n')}\n`);
  writeFileSync(
    campaign,
    'name: proof\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: list.csv\n',
  );
  writeFileSync(join(root, 'list.csv'), 'msisdn,name\n');
  const loaded = await loadCampaign(campaign, { cwd: root, now: BEGINNING, recipients: join(root, list) });
  const plan = await createPlan(loaded.campaign, {
    environment: IDENTITY.environment,
    occurrence: IDENTITY.occurrence,
  });
  const seen = createSeen();
  const stream: Decisions = decisions(plan, { isNew: (key) => seen.add(key), skipInvalid: false });
  const expand = plan.expander(BEGINNING);
  const keys = new Set<string>();
  const bodies = new Map<string, string>();
  let hasBadRows = false;
  for await (const batch of stream) {
    for (const decision of batch) {
      if (decision.decision === 'invalid') hasBadRows = true;
      if (decision.decision !== 'send') continue;
      const { reference, body } = expand.one(decision, decision);
      keys.add(decision.key);
      bodies.set(reference, body);
    }
  }
  return { plan, rows: rows.length, keys, bodies, hasBadRows };
}

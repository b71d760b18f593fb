import { openLedger } from '../../src/ledger/open.ts';
import { send } from '../../src/operations/send.ts';
import type { SendOptions, SendResult } from '../../src/operations/send-options.ts';
import type { Ending, StepEnding } from '../oracle/oracle.ts';
import { readReceipts } from '../oracle/receipts.ts';
import { CANARY_KEY, createScene, type Scene, type SceneOptions } from '../oracle/scene.ts';
import type { MessageApi } from './message-api.ts';

/** Each gets a text of an own, so that a request is for one: RCS, and an SMS for who cannot receive that. */
export const FALLBACK: readonly string[] = [
  'channel: rcs',
  'from: Riverside',
  'template: { text: "Hi {{name}}" }',
  'fallback: { channel: sms, from: Riverside, template: { text: "Hello {{name}}" } }',
];

/** All recipients get the same text, so that a request may be for several. */
export const SHARED: readonly string[] = ['channel: sms', 'from: Riverside', 'template: { text: "Hi everybody" }'];

/** A clock of a later start: those that the API was too busy for wait a quarter of an hour. */
export const LATER = (): number => Date.now() + 20 * 60_000;

/** A scene whose starts go through the library, which is what the command line calls. */
export interface Told extends Scene {
  /** One start; the shortest waits between attempts. */
  begin(options?: Partial<SendOptions>): Promise<SendResult>;
  /** As `handbill suppress add` does, beside the start that is going on. */
  suppress(address: string): void;
  /** What became of each row, in list order: its steps, each with its reason. */
  tale(): string[];
  /** What speaks against the promise, over all starts. */
  objections(more?: Parameters<Scene['violations']>[0]): string[];
}

export function tell(api: MessageApi, options: Omit<SceneOptions, 'baseUrl' | 'receipts'>): Told {
  const scene = createScene({ ...options, baseUrl: api.url, receipts: api.receipts });
  const starts: number[] = [];
  return {
    ...scene,
    async begin(more = {}) {
      starts.push(readReceipts(api.receipts).length);
      return await send('campaign.yaml', {
        cwd: scene.root,
        env: { HANDBILL_API_KEY: CANARY_KEY },
        now: Date.now,
        random: () => 0,
        environment: 'test',
        concurrency: 1,
        confirm: async () => true,
        ...more,
      });
    },
    suppress(address) {
      const ledger = openLedger(scene.ledger, { mode: 'write', nowMs: Date.now() });
      try {
        ledger.suppress(address, { reason: null, untilMs: null, source: 'user', nowMs: Date.now() });
      } finally {
        ledger.close();
      }
    },
    tale: () => scene.endings().map(taleOf),
    objections: (more) => scene.violations({ starts, ...more }),
  };
}

function taleOf(ending: Ending): string {
  return (ending.steps ?? [ending]).map(said).join(' > ');
}

function said({ outcome, reason }: StepEnding): string {
  return reason === null ? outcome : reason === 'fell-back' ? reason : `${outcome}(${reason})`;
}

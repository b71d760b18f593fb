import { createScene, type Scene } from '../oracle/scene.ts';
import type { Address } from './api.ts';

export interface KillsScene {
  readonly address: Address;
  readonly rows: number;
  readonly concurrency: number;
  /** Time limit of a request; what is never answered ends with it. */
  readonly timeout: string;
  /** Lines of campaign.yaml below `limits:`. */
  readonly limits?: string;
}

/** A scene whose bodies depend on the start of the run (`validity`), so that a continued run must remember it. */
export function createKillsScene({ address, rows, concurrency, timeout, limits }: KillsScene): Scene {
  const campaign = [
    'validity: PT1H',
    `send: { concurrency: ${concurrency}, timeout: ${timeout} }`,
    ...(limits === undefined ? [] : [`limits: ${limits}`]),
  ];
  return createScene({ rows, baseUrl: address.baseUrl, receipts: address.receipts, campaign: campaign.join('\n') });
}

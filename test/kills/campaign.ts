import { FORMS } from '../oracle/forms.ts';
import { createScene, type Scene } from '../oracle/scene.ts';
import type { Address } from './api.ts';

export interface KillsScene {
  readonly address: Address;
  readonly rows: number;
  readonly concurrency: number;
  /** Time limit of a request; what is never answered ends with it. */
  readonly timeout: string;
  /** What is sent; default: an SMS for each by name. */
  readonly kind?: Kind;
  /** Lines of campaign.yaml below `limits:`. */
  readonly limits?: string;
  /** The address of a shared ledger. */
  readonly ledger?: string;
}

/** `fallback`: RCS, and an SMS for who cannot receive it. `shared`: the same, of four in one request. */
export type Kind = 'sms' | 'fallback' | 'shared';

const PER_REQUEST: Readonly<Record<Kind, number>> = { sms: 1, fallback: 1, shared: 4 };

/** Rows that one kill may leave in doubt. */
export function mostInFlight(concurrency: number, kind: Kind = 'sms'): number {
  return concurrency * PER_REQUEST[kind];
}

function messageOf(kind: Kind, hasRcs: boolean): readonly string[] {
  const text = kind === 'shared' ? 'Hi everybody' : 'Hi {{name}}';
  const template = `template: { text: "${text}" }`;
  if (kind === 'sms' || !hasRcs) return ['channel: sms', 'from: Riverside', template];
  return ['channel: rcs', 'from: Riverside', template, `fallback: { channel: sms, from: Riverside, ${template} }`];
}

/** A scene whose bodies depend on the start of the run (`validity`), so that a continued run must remember it. */
export function createKillsScene(given: KillsScene): Scene {
  const { address, rows, concurrency, timeout, limits, kind = 'sms', ledger } = given;
  const { baseUrl, receipts, form = 'messages-v2' } = address;
  const { hasRcs, most } = FORMS[form];
  const campaign = [
    'validity: PT1H',
    `send: { concurrency: ${concurrency}, timeout: ${timeout}, recipientsPerRequest: ${Math.min(most, PER_REQUEST[kind])} }`,
    ...(limits === undefined ? [] : [`limits: ${limits}`]),
  ];
  return createScene({
    rows,
    baseUrl,
    receipts,
    form,
    message: messageOf(kind, hasRcs),
    campaign: campaign.join('\n'),
    ...(ledger === undefined ? {} : { ledger }),
  });
}

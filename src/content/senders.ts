import { onDemand } from '../util/on-demand.ts';

/** `refused`: not delivered, or replaced; `registered`: only when it was registered before; `free`: no rule. */
export type SenderRule = 'refused' | 'registered' | 'free';

/** A rule that the user should know. */
type SenderLimit = Exclude<SenderRule, 'free'>;

/**
 * Returns what the networks of a recipient's country do to the sender of an SMS campaign; null if there is no rule.
 * Rules are only about names: a number can be replied to, and a short code (3 to 8 digits without `+`) only works where
 * it was leased. Made once for a campaign; called for each recipient.
 *
 * @param from - null: the account's own sender, which is not known here
 * @param overrides - by ISO 3166-1, over the table that comes with handbill (`Project.senderRules`)
 */
export function createSenderCheck(
  from: string | null,
  overrides: Readonly<Record<string, SenderRule>>,
): (country: string | null) => SenderLimit | null {
  if (from === null || !isAlphanumericSender(from)) return () => null;
  const limits = new Map(Object.entries(SENDER_COUNTRIES));
  for (const [country, rule] of Object.entries(overrides)) {
    if (rule === 'free') limits.delete(country);
    else limits.set(country, rule);
  }
  return (country) => (country === null ? null : (limits.get(country) ?? null));
}

/** Whether a sender is a name. A sender of digits only is a number or a short code. */
export function isAlphanumericSender(from: string): boolean {
  return !/^\s*\+?[0-9][0-9 ()./-]*$/.test(from);
}

/** What to say about a rule, once for each country: the message and the hint of a `sender-country` warning. */
export function senderAdvice(
  from: string,
  country: string,
  rule: SenderLimit,
): { readonly message: string; readonly hint: string } {
  const place = `${countryName(country)} (${country})`;
  const hint = `If you know better, say so in handbill.yaml: senders: { ${country}: free }`;
  if (rule === 'refused') {
    return {
      message: `${place}: networks refuse names as senders, or replace them; "${from}" is a name.`,
      hint: `Use a number or a short code there. ${hint}`,
    };
  }
  return {
    message: `${place}: networks take a name as sender only when it was registered; "${from}" is a name.`,
    hint: `Have it registered by your provider. ${hint}`,
  };
}

function countryName(country: string): string {
  return names().of(country) ?? country;
}

const names = onDemand(() => new Intl.DisplayNames('en', { type: 'region' }));

/**
 * What countries do to alphanumeric senders, by ISO 3166-1. Countries that are not listed take them as they are. The
 * rules change often, and operators of one country differ: `senders` in handbill.yaml comes over this table, and
 * nothing is refused because of it.
 */
export const SENDER_COUNTRIES: Readonly<Record<string, Exclude<SenderRule, 'free'>>> = {
  // Not possible at all, as published by AWS, Telnyx and Bird:
  // https://docs.aws.amazon.com/sms-voice/latest/userguide/sender-id.html
  US: 'refused',
  CA: 'refused',
  PR: 'refused',
  CN: 'refused',

  // Refused or overwritten by some or all operators; commonly known, not published in one place.
  AR: 'refused',
  BE: 'refused',
  BR: 'refused',
  CL: 'refused',
  CO: 'refused',
  CR: 'refused',
  HU: 'refused',
  JP: 'refused',
  KG: 'refused',
  KR: 'refused',
  MX: 'refused',
  MY: 'refused',
  NP: 'refused',
  PE: 'refused',
  TW: 'refused',
  UY: 'refused',
  ZA: 'refused',

  // To be registered before the first message: India (DLT headers) and Singapore as published by AWS.
  IN: 'registered',
  SG: 'registered',

  // To be registered; commonly known, not published in one place. Australia: from 2025/26 on.
  AE: 'registered',
  AU: 'registered',
  EG: 'registered',
  ID: 'registered',
  KE: 'registered',
  LK: 'registered',
  NG: 'registered',
  PH: 'registered',
  RU: 'registered',
  SA: 'registered',
  TR: 'registered',
  VN: 'registered',
};

import type { SenderRule } from '../model.ts';
import { onDemand } from '../util/on-demand.ts';
import { SENDER_COUNTRIES } from './sender-countries.ts';

/** A rule that the user should know of. */
export type SenderLimit = Exclude<SenderRule, 'free'>;

/**
 * Answers, for the country of each recipient of an SMS, what its networks do to the sender of the campaign; null where
 * there is no rule. Rules are about names alone: a number can be replied to, and a short code (3 to 8 digits without
 * `+`) only works where it was leased. Made once for a campaign; asked for each recipient.
 *
 * @param from - null: the account's own sender, of which nothing is known here
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

/** Whether a sender is a name. Anything of digits alone is a number or a short code. */
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

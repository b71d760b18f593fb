import { regionNames } from '../util/words.ts';
import table from './sender-countries.json' with { type: 'json' };

/** `refused`: not delivered, or replaced; `registered`: only when it was registered before; `free`: no rule. */
export type SenderRule = 'refused' | 'registered' | 'free';

type SenderLimit = Exclude<SenderRule, 'free'>;

/**
 * Null: no rule. Rules are only about names, not about numbers and short codes (3 to 8 digits without `+`).
 *
 * @param from - null: the account's own sender, which is not known here
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

/** A sender of digits only is a number or a short code. */
export function isAlphanumericSender(from: string): boolean {
  return !/^\s*\+?[0-9][0-9 ()./-]*$/.test(from);
}

/** Once for each country: the message and the hint of a `sender-country` warning. */
export function senderAdvice(
  from: string,
  country: string,
  rule: SenderLimit,
): { readonly message: string; readonly hint: string } {
  const place = `${regionNames().of(country) ?? country} (${country})`;
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

/** Other countries take alphanumeric senders as they are. Rules change often: handbill.yaml overrides them. */
export const SENDER_COUNTRIES: Readonly<Record<string, SenderLimit>> = Object.fromEntries(
  table.flatMap(({ rule, countries }) => countries.split(' ').map((country) => [country, rule as SenderLimit])),
);

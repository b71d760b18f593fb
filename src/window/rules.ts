import type { SendWindow, WindowRule } from '../model.ts';
import { COUNTRY_WINDOWS, OTHER_COUNTRIES } from './countries.ts';

/** A rule, and whose time it is in. */
export interface ZonedRule {
  readonly rule: WindowRule;
  /** IANA name; null: the recipient's. */
  readonly zone: string | null;
}

/** The rules that hold for recipients in a country, all of them at once. */
export function rulesFor(
  window: SendWindow,
  overrides: Readonly<Record<string, WindowRule>>,
  country: string | null,
): readonly ZonedRule[] {
  const { hours, holidays, timeZone } = window;
  const own = hours === null ? null : { hours: [hours], holidays };
  const rules: ZonedRule[] = own === null ? [] : [{ rule: own, zone: timeZone === 'recipient' ? null : timeZone }];
  if (!window.countries) return rules;
  const found = countryRule(overrides, country) ?? (own === null ? otherRule(overrides) : null);
  // Holidays of the campaign are closed everywhere, also where only the country has hours.
  if (found !== null) rules.push({ rule: { ...found, holidays: [...found.holidays, ...holidays] }, zone: null });
  return rules;
}

/** Every rule that can apply; for a bound on all of them. */
export function allRules(window: SendWindow, overrides: Readonly<Record<string, WindowRule>>): readonly ZonedRule[][] {
  const countries = window.countries ? Object.keys({ ...COUNTRY_WINDOWS, ...overrides }) : [];
  return [null, ...countries].map((country) => [...rulesFor(window, overrides, country)]);
}

function countryRule(overrides: Readonly<Record<string, WindowRule>>, country: string | null): WindowRule | null {
  if (country === null) return null;
  if (Object.hasOwn(overrides, country)) return overrides[country] ?? null;
  return Object.hasOwn(COUNTRY_WINDOWS, country) ? (COUNTRY_WINDOWS[country] ?? null) : null;
}

function otherRule(overrides: Readonly<Record<string, WindowRule>>): WindowRule {
  return overrides['other'] ?? OTHER_COUNTRIES;
}

import { createRequire } from 'node:module';
import type { CountryCode } from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/max/metadata';
import { onDemand } from '../util/on-demand.ts';

/**
 * libphonenumber itself, loaded when the first number asks for it: its 93 modules take 60 ms, and plain digits, which
 * most lists hold, are read by plans that are made from its metadata (plans.ts).
 */
export const phoneLibrary = onDemand(
  () => createRequire(import.meta.url)('libphonenumber-js/max') as typeof import('libphonenumber-js/max'),
);

/** A country with telephone numbers: what `isSupportedCountry` of the library says, from the same table. */
export function isPhoneCountry(country: string): country is CountryCode {
  return Object.hasOwn(metadata.countries, country);
}

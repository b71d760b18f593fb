import type { Code } from '../errors.ts';
import { metadata } from '../util/numbering-plans.ts';
import { durationMs, durationText, ratePerSecond } from '../util/units.ts';
import { regionNames } from '../util/words.ts';
import { zoneFault } from '../util/zone-name.ts';

export type Finding<T> =
  | { readonly value: T }
  | { readonly code: Code; readonly message: string; readonly hint?: string | undefined };

export type Report = (pointer: string, code: Code, message: string, hint?: string) => void;

/** Null for a value that is not written, or that was reported. */
export function checked<Written, Value, Place>(
  written: Written | undefined,
  place: Place,
  check: (written: Written) => Finding<Value>,
  report: (place: Place, ...fault: readonly [code: Code, message: string, hint?: string]) => unknown,
): Value | null {
  if (written === undefined) return null;
  const finding = check(written);
  if ('value' in finding) return finding.value;
  report(place, finding.code, finding.message, finding.hint);
  return null;
}

/** Languages that every Node knows: to ask it first takes 25 ms. */
const USUAL = /^(?:bg|ca|cs|cy|da|de|el|en|es|et|fi|fr|ga|hr|hu|it|lt|lv|nb|nl|no|pl|pt|ro|sk|sl|sv|tr|uk)$/;

/** A BCP 47 tag of a language (and region) that this runtime has data for; returned in canonical form. */
export function checkLocale(text: string): Finding<string> {
  let locale: Intl.Locale;
  try {
    locale = new Intl.Locale(text);
  } catch {
    const hint = text.includes('_') ? `Write it with hyphens: ${text.replaceAll('_', '-')}` : 'For example: en-GB';
    return { code: 'invalid-value', message: `"${text}" is not a BCP 47 language tag.`, hint };
  }
  // For a language without data, the runtime would silently use other locales; a region that does not exist is a slip.
  const known = USUAL.test(locale.language) || Intl.NumberFormat.supportedLocalesOf(text).length > 0;
  const { region: place } = locale;
  const region =
    place === undefined ||
    Object.hasOwn(metadata.countries, place) ||
    /^\d{3}$/.test(place) ||
    regionNames().of(place) !== undefined;
  if (known && region) return { value: locale.toString() };
  const part = known ? `region "${locale.region}"` : `language "${locale.language}"`;
  return {
    code: 'invalid-value',
    message: `The ${part} of the locale "${text}" is not known.`,
    hint: 'For example: en-GB',
  };
}

/** How long a setting may reach back or ahead, in ms: a ledger hardly has older messages and reports. */
export const YEAR_MS = 366 * 86_400_000;

/** A time within bounds, both of them included; in ms. */
export function checkTime(leastMs: number, mostMs = Number.POSITIVE_INFINITY): (text: string) => Finding<number> {
  return (text) => {
    const value = durationMs(text);
    if (value !== null && value >= leastMs && value <= mostMs) return { value };
    const upTo = mostMs === Number.POSITIVE_INFINITY ? null : durationText(mostMs);
    const range =
      leastMs === 0 ? `of at most ${upTo}` : `from ${durationText(leastMs)}${upTo === null ? '' : ` to ${upTo}`}`;
    const hint = 'For example: 30s, 10m, 24h or 7d.';
    return { code: 'invalid-value', message: `"${text}" is not a time ${range}.`, hint };
  };
}

/** Requests per second. */
export function checkRate(text: string): Finding<number> {
  const value = ratePerSecond(text);
  if (value !== null) return { value };
  const hint = 'Write a number per second, minute or hour, for example: 50/s';
  return { code: 'invalid-value', message: `"${text}" is not a rate above zero.`, hint };
}

/** An IANA name. Offsets are refused: they have no summer time. */
export function checkTimeZone(text: string): Finding<string> {
  const fault = zoneFault(text);
  if (fault === null) return { value: text };
  return { code: 'invalid-value', message: `"${text}" ${fault.problem}.`, hint: fault.hint };
}

/** ISO 3166-1 alpha-2, if the country has telephone numbers. */
export function checkCountry(text: string): Finding<string> {
  if (Object.hasOwn(metadata.countries, text)) return { value: text };
  const hint = text === 'UK' ? 'The United Kingdom is GB.' : 'Write the two letters of ISO 3166-1, such as GB.';
  return { code: 'invalid-value', message: `"${text}" is not a country with telephone numbers.`, hint };
}

/** Returns TextDecoder's name of the encoding, such as windows-1252 for latin1. */
export function checkEncoding(label: string): Finding<string> {
  try {
    return { value: new TextDecoder(label).encoding };
  } catch {
    const hint =
      'For example utf-8, windows-1252, windows-1250, windows-1251, koi8-r, macintosh, shift_jis, gbk, big5 or euc-kr.';
    return { code: 'invalid-value', message: `"${label}" is not an encoding that handbill can read.`, hint };
  }
}

/** A number of at most 15 digits, a short code, or at most 11 letters, digits and signs with a letter among them. */
export function checkSender(text: string): Finding<string> {
  if (/^\+?[0-9]+$/.test(text)) {
    const digits = text.replace('+', '');
    if (digits.length > 15) return sender(`"${text}" has ${digits.length} digits; a number has at most 15.`);
    if (digits.length < 3) return sender(`"${text}" is too short for a number or a short code.`);
    if (text.startsWith('+') && !/^[1-9][0-9]{6,}$/.test(digits))
      return sender(`"${text}" is not a number with its country code.`);
    return { value: text };
  }
  if (/^[+0-9][0-9 ()./-]*$/.test(text))
    return sender(`"${text}" is neither a number nor a name.`, 'Write a number without spaces or signs.');
  const foreign = /[^A-Za-z0-9 *$?!"#%&_,.@'+-]/u.exec(text)?.[0];
  if (foreign !== undefined) {
    return sender(
      `"${text}" holds "${foreign}", which networks do not take in a sender.`,
      'Use plain letters, digits and spaces.',
    );
  }
  if (text.trim() !== text) return sender(`"${text}" begins or ends with a space.`);
  if (text.length > 11) return sender(`"${text}" has ${text.length} characters; a name has at most 11.`);
  if (!/[A-Za-z]/.test(text)) return sender(`"${text}" has no letter.`);
  return { value: text };
}

function sender(message: string, hint?: string): Finding<never> {
  return { code: 'sender-format', message, hint };
}

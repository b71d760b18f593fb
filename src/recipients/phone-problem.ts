import type { CountryCode, PhoneNumber } from 'libphonenumber-js/max';
import { phoneLibrary } from './phone-library.ts';

/** Why a cell is not a phone number: `problem` follows on "The number ...". */
export interface PhoneProblem {
  readonly problem: string;
  readonly hint?: string;
}

/** Below this, what is dialled within a country and not in use as a full number is a short code such as 999. */
export const MIN_NATIONAL_DIGITS = 7;

const AS_TEXT = 'Give the column the format "Text" in the spreadsheet, enter the numbers again and save.';

/** E.164 (ITU-T): at most 15 digits with the calling code. libphonenumber lets some German numbers have more. */
export const MAX_DIGITS = 15;

/** What can be seen from the shape alone, before anyone tries to read digits; null when the shape may be a number. */
export function explainShape(text: string): PhoneProblem | null {
  if (text === '') return { problem: 'is empty' };
  if (/^[+-]?\d+(?:[.,]\d+)?e[+-]?\d+$/i.test(text)) {
    return {
      problem: 'is in scientific notation: a spreadsheet turned this number into 4.47701E+11 or the like',
      hint: `Its last digits are lost. ${AS_TEXT}`,
    };
  }
  if (/^\+?\d{7,}[.,]0+$/.test(text)) {
    return { problem: 'is a decimal: a spreadsheet or script turned this number into 447700900123.0', hint: AS_TEXT };
  }
  if (/[?&;]ext=\d/i.test(text)) return { problem: 'has an extension', ...NO_EXTENSION };
  return holdsSeveral(text) ? { problem: 'is more than one number', hint: 'Give each number a row of its own.' } : null;
}

const NO_EXTENSION = { hint: 'A message cannot be sent to an extension: give a number of its own, or remove it.' };

/** `07700 900123; 07700 900124`, `030 1234567/68`, but not `0171/1234567`, where the area code stands before the `/`. */
function holdsSeveral(text: string): boolean {
  const parts = text.split(/[;/|&]|,| or | und | and | ou | y /i).map((part) => part.replace(/\D/g, '').length);
  if (parts.length < 2) return text.indexOf('+', 1) !== -1 && /\d.*\+\d/.test(text);
  const comma = !/[;/|&]/.test(text);
  return (parts[0] ?? 0) >= 7 && parts.slice(1).some((digits) => digits >= (comma ? 7 : 1));
}

/** The library found no number at all. */
export function explainUnparsed(text: string, country: CountryCode | null): PhoneProblem {
  const digits = text.replace(/\D/g, '');
  if (!/^\+?[\d\s()./~-]+$/.test(text) || digits === '') return { problem: 'is not a phone number' };
  if (digits.length > MAX_DIGITS) return tooManyDigits(digits.length);
  if (digits.length < 5) return { problem: 'is too short for a phone number' };
  if (text.startsWith('+')) return { problem: 'does not begin with a country code that is in use' };
  if (country !== null) return { problem: 'is not a phone number' };
  const lost = phoneLibrary().parsePhoneNumberFromString(`+${digits}`, { extract: false });
  if (!text.startsWith('0') && lost?.isValid() === true)
    return { problem: 'has no country code', hint: lostPlus(lost) };
  const hint = 'Write it with "+" and the country code, or set `recipients.defaultCountry`, for example to GB.';
  return { problem: 'has no country code', hint };
}

/** The library found something, but nothing that a message can be sent to. */
export function explainParsed(parsed: PhoneNumber, text: string): PhoneProblem {
  if (parsed.ext !== undefined) return { problem: 'has an extension', ...NO_EXTENSION };
  const where = parsed.country ?? `+${parsed.countryCallingCode}`;
  const digits = parsed.nationalNumber.length;
  if (parsed.number.length - 1 > MAX_DIGITS) return tooManyDigits(parsed.number.length - 1);
  if (!text.startsWith('+') && digits < MIN_NATIONAL_DIGITS) {
    return {
      problem: `is too short: what has ${digits} digits can at most be dialled within ${where}`,
      hint: 'Give the full number with "+" and the country code.',
    };
  }
  const lost = text.startsWith('+')
    ? undefined
    : phoneLibrary().parsePhoneNumberFromString(`+${text}`, { extract: false });
  const hint = lost?.isValid() === true ? lostPlus(lost) : 'Check its digits and its country code.';
  return { problem: `cannot be a number of ${where}: none has ${digits} digits after the country code`, hint };
}

function tooManyDigits(digits: number): PhoneProblem {
  return {
    problem: `has ${digits} digits, and no phone number has more than ${MAX_DIGITS}`,
    hint: 'If the cell holds several numbers, give each a row of its own.',
  };
}

function lostPlus(lost: PhoneNumber): string {
  const where = lost.country ?? `+${lost.countryCallingCode}`;
  return `It would be a number of ${where} with a "+" in front: a spreadsheet may have removed it.`;
}

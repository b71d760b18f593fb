import { bareNumber } from './addresses.ts';

/** How an address is written in a reply: as the message had it, or as networks, people and programs write it too. */
export type Spelling = 'as-sent' | 'digits' | 'double-zero' | 'spaces' | 'national';

/** The spellings that say the country, so that nobody has to know it. */
export const SPELLINGS = ['digits', 'double-zero', 'spaces'] as const;

/** An email address that is not as it was sent has its domain in capitals. */
export function respell(address: string, spelling: Spelling): string {
  if (spelling === 'as-sent') return address;
  const at = address.lastIndexOf('@');
  if (at >= 0) return address.slice(0, at) + address.slice(at).toUpperCase();
  const digits = bareNumber(address);
  if (!/^\d+$/.test(digits)) return address;
  switch (spelling) {
    case 'digits':
      return digits;
    case 'double-zero':
      return `00${digits}`;
    case 'spaces':
      return `+${digits.replace(/(\d{2})(\d{4})(?=\d)/, '$1 $2 ')}`;
    case 'national':
      return digits.replace(COUNTRIES_WITH_ZERO, '0');
  }
}

/** Countries whose national numbers begin with a zero instead of the country code, among those of the samples. */
const COUNTRIES_WITH_ZERO = /^(?:31|32|33|353|41|43|44|46|49|61)(?=\d)/;

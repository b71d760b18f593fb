import { mask } from '../util/redact.ts';

/** From this many digits on, a value may be a phone number and is masked. */
const PERSONAL_DIGITS = 5;
const LONGEST_SHOWN = 40;

/** For a terminal: masked where it may be an address, else cut to 40 characters. */
export function show(cell: string): string {
  const text = cell.trim();
  const digits = text.replace(/[^\p{Nd}]/gu, '').length;
  const masked = text.includes('@') || digits >= PERSONAL_DIGITS ? mask(text) : text;
  return `"${shorten(masked)}"`;
}

export function shorten(text: string): string {
  const characters = [...text];
  return characters.length > LONGEST_SHOWN ? `${characters.slice(0, LONGEST_SHOWN).join('')}…` : text;
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** Characters of a reference: 132 bits, as digits of base64url. */
const CHARACTERS = 22;
/** The same bits as digits of base 36. */
const SPELLED = 26;

/** A reference for APIs that take letters and digits only: other digits of the same number, so that it can be read back. */
export function spelled(reference: string): string {
  const number = [...reference].reduce((sum, digit) => sum * 64n + BigInt(DIGITS.indexOf(digit)), 0n);
  return number.toString(36).padStart(SPELLED, '0');
}

/** The reverse of `spelled`; every other text stays. Letter case does not count. */
export function unspelled(text: string): string {
  if (!/^[0-9a-z]{26}$/i.test(text)) return text;
  let number = [...text.toLowerCase()].reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n);
  let reference = '';
  for (let i = 0; i < CHARACTERS; i += 1) {
    reference = (DIGITS[Number(number % 64n)] ?? '') + reference;
    number /= 64n;
  }
  return number === 0n ? reference : text;
}

import { hideKeys } from '../campaign/hide-keys.ts';
import { mask } from '../util/mask.ts';

/**
 * Masks what could be somebody's address in text of which nobody knows what it is: messages of diagnostics, values of
 * settings, names of columns (a list without a header has a recipient there). Dates and amounts are left alone.
 * Stricter than `maskText`, which leaves national numbers without their zero, and what stands behind a colon: the comment
 * of a pull request is read by many, and an id that is masked does no harm. Bounded, so that long texts cost no more.
 */
export function hideAddresses(text: string): string {
  return text.replace(EMAIL, mask).replace(NUMBER, mask);
}

/** As `hideAddresses`, without what could be a key: for texts from a file of settings. */
export function hidePersonal(text: string): string {
  return hideAddresses(hideKeys(text));
}

const EMAIL = /[^\s"'<>()[\]{},;:@]{1,100}@[^\s"'<>()[\]{},;:@]{1,200}/gu;

/**
 * With `+` or `00` or `0` in front, in groups; or nine digits and more in a row, but for the fraction of a number.
 * A date begins with neither; a time stands behind a colon.
 */
const NUMBER = /(?:(?<![\d.])\+|(?<![\d.:])00?)[\d][\d ().\u00a0-]{5,24}\d|(?<![\d.])\d{9,20}(?!\d)/gu;

/** Names under which a secret may stand; what is there is never shown. */
const SECRET_NAME = /api[-_ ]?key|authorization|secret|token|password|passphrase|credential|suppression[-_ ]?key/i;

export function isSecret(segments: readonly string[]): boolean {
  return segments.some((segment) => SECRET_NAME.test(segment));
}

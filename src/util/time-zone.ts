/**
 * Whether this is an IANA time zone that this runtime knows. Offsets are not, because they have no summer time. A check
 * takes some 30 us: a caller that checks every row must cache the answers.
 */
export function isTimeZone(text: string): boolean {
  // The usual default: the first answer of Intl takes 5 ms.
  if (text === 'UTC') return true;
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{1,63}$/.test(text) || ABBREVIATION.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

/**
 * Abbreviations that ICU accepts as zones and IANA does not: IST is Indian, Irish or Israeli time. Temporal throws for
 * them. EST, MST and HST are not in the list, because IANA has them.
 */
const ABBREVIATION = /^(?:AC|AE|AG|AR|AS|BE|BS|CA|CN|CS|CT|EA|EC|IE|IS|JS|MI|NE|NS|PL|PN|PR|PS|SS|VS)T$/i;

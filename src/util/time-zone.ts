/**
 * Is this an IANA time zone that this runtime knows? Offsets are none, because they know no summer time. Asking costs
 * some 30 us: whoever asks for every row remembers the answers.
 */
export function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{1,63}$/.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

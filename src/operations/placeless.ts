/** A number as it is written inside a country: nobody can tell whose it is. Contacts and emails look otherwise. */
const PLACELESS = /^\(?\d[\d\s()./-]{4,30}$/;

/**
 * What to say where somebody opted out from a number of which the country is not known: it is on the list as it was
 * written, and matches nobody on a list of recipients. Null where every address can be told.
 */
export function placelessOptOut(suppressed: readonly string[]): string | null {
  const count = suppressed.filter((address) => PLACELESS.test(address)).length;
  if (count === 0) return null;
  const who = count === 1 ? 'an opt-out came from a number' : `${count} opt-outs came from numbers`;
  const whose = count === 1 ? 'it' : 'them';
  const next = `set defaultCountry in handbill.yaml, and add ${whose} with handbill suppress add`;
  return `${who} without a country code, which matches nobody: ${next} (handbill replies shows ${whose})`;
}

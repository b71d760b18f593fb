import { type Diagnostic, problem } from '../errors.ts';
import { ADDRESS_KINDS, type AddressKind } from '../model.ts';
import { maskText } from '../util/mask.ts';
import { didYouMean } from '../util/suggest.ts';

/** Positions of the columns that count; others are for the people who maintain the list. */
export interface SuppressionColumns {
  readonly addresses: readonly { readonly kind: AddressKind; readonly at: number }[];
  /** -1: there is none. */
  readonly hash: number;
  readonly reason: number;
  readonly until: number;
}

/** Finds them by their names, in whatever case. Of two that mean the same, one would be read over. */
export function findColumns(columns: readonly string[], file: string, line: number): SuppressionColumns | Diagnostic {
  const names = columns.map((name) => name.toLowerCase());
  const twice = [...NAMES, 'reason', 'until'].find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice !== undefined) {
    const message = `${file} has two columns named "${twice}" but for upper and lower case.`;
    return problem('csv-duplicate-header', message, { at: { file, line }, hint: 'Rename or remove one of them.' });
  }
  const addresses = ADDRESS_KINDS.map((kind) => ({ kind, at: names.indexOf(kind) })).filter(({ at }) => at !== -1);
  const hash = names.indexOf('hash');
  if (addresses.length > 0 || hash !== -1) {
    return { addresses, hash, reason: names.indexOf('reason'), until: names.indexOf('until') };
  }
  const meant = names.map((name) => didYouMean(name, NAMES).hint).find((hint) => hint !== undefined);
  const shown = columns.slice(0, 20).map((name) => maskText(name.slice(0, 100)));
  return problem('invalid-suppression', `${file} has no column with addresses.`, {
    at: { file, line },
    hint: meant ?? `Name the column msisdn, email, contact or hash in the first row; it has: ${shown.join(', ')}.`,
  });
}

const NAMES = [...ADDRESS_KINDS, 'hash'];

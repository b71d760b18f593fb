import { type Diagnostic, problem } from '../errors.ts';
import type { ListSpec } from '../model.ts';
import { maskText } from '../util/mask.ts';
import { didYouMean } from '../util/suggest.ts';
import { ADDRESS_WORDS } from './address.ts';
import { columnName } from './column-types.ts';

/** Positions of the columns that say who a recipient is. */
export interface AddressColumns {
  readonly to: number;
  /** None: the address identifies the recipient. */
  readonly key: readonly number[];
  /** null: only the number tells a time zone. */
  readonly timeZone: number | null;
}

/** More names than fit into a hint. */
const MOST_NAMES = 20;

type Named = Pick<ListSpec, 'file' | 'kind' | 'to' | 'key' | 'timeZone' | 'columns'>;

/**
 * Finds the columns that `recipients.to` (or `contact`), `recipients.key` and `recipients.timeZone` name, and looks for those of
 * `recipients.columns`.
 * @param columns names as the list's header has them
 * @param headerLine line of the header, for the position
 * @returns the positions of those columns, or everything that is wrong
 */
export function resolveColumns(spec: Named, columns: readonly string[], headerLine = 1): AddressColumns | Diagnostic[] {
  const to = find(columns, spec.to);
  const key = spec.key.map((name) => find(columns, name));
  const timeZone = spec.timeZone === null ? null : find(columns, spec.timeZone);
  const problems: Diagnostic[] = [];
  const missing = (setting: string, name: string, extra?: string): void => {
    const message = `The list has no column "${name}" (\`recipients.${setting}\`).`;
    const hint = [didYouMean(name, columns).hint, extra, listed(columns)]
      .filter((part) => part !== undefined)
      .join(' ');
    problems.push(problem('unknown-column', message, { at: { file: spec.file, line: headerLine }, hint }));
  };
  const words = ADDRESS_WORDS[spec.kind];
  const unset = `Set \`recipients.${words.setting}\` to the column with the ${words.many}.`;
  if (to === -1) missing(words.setting, spec.to, spec.to === words.column ? unset : undefined);
  for (const [i, name] of spec.key.entries()) if (key[i] === -1) missing('key', name);
  if (timeZone === -1 && spec.timeZone !== null) missing('timeZone', spec.timeZone);
  for (const name of Object.keys(spec.columns)) if (find(columns, name) === -1) missing('columns', name);
  return problems.length > 0 ? problems : { to, key, timeZone };
}

function find(columns: readonly string[], name: string): number {
  return columns.indexOf(columnName(name));
}

/** The names of a list's columns, for a hint. */
export function listed(columns: readonly string[]): string {
  // A list without a header begins with somebody's address.
  const names = columns.slice(0, MOST_NAMES).map(maskText).join(', ');
  const more = columns.length > MOST_NAMES ? ` and ${columns.length - MOST_NAMES} more` : '';
  return `Its columns: ${names}${more}.`;
}

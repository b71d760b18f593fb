import { type Diagnostic, problem } from '../errors.ts';
import type { ListSpec } from '../model.ts';
import { didYouMean } from '../util/suggest.ts';

/** Positions of the columns that say who a recipient is. */
export interface AddressColumns {
  readonly to: number;
  /** null: the address identifies the recipient. */
  readonly key: number | null;
}

/** What `recipients.to` is when it is not set (normalised elsewhere; named here for the hint). */
const DEFAULT_TO = 'msisdn';

/** More names than fit into a hint. */
const MOST_NAMES = 20;

/**
 * Finds the columns that `recipients.to` and `recipients.key` name.
 * @param columns names as the list's header has them
 * @param headerLine line of the header, for the position
 * @returns their positions, or everything that is wrong
 */
export function resolveColumns(
  spec: Pick<ListSpec, 'file' | 'to' | 'key'>,
  columns: readonly string[],
  headerLine = 1,
): AddressColumns | Diagnostic[] {
  const to = find(columns, spec.to);
  const key = spec.key === null ? null : find(columns, spec.key);
  const problems: Diagnostic[] = [];
  const place = { at: { file: spec.file, line: headerLine } };
  if (to === -1)
    problems.push(problem('unknown-column', missing('to', spec.to), { ...place, ...hintFor(spec, columns) }));
  if (key === -1 && spec.key !== null) {
    const hint = [didYouMean(spec.key, columns).hint, listed(columns)].filter((part) => part !== undefined).join(' ');
    problems.push(problem('unknown-column', missing('key', spec.key), { ...place, hint }));
  }
  return problems.length > 0 ? problems : { to, key };
}

function find(columns: readonly string[], name: string): number {
  return columns.indexOf(name.trim().normalize('NFC'));
}

function missing(setting: 'to' | 'key', name: string): string {
  return `The list has no column "${name}" (\`recipients.${setting}\`).`;
}

function hintFor(spec: Pick<ListSpec, 'to'>, columns: readonly string[]): { hint: string } {
  const suggestion = didYouMean(spec.to, columns).hint;
  const setting = spec.to === DEFAULT_TO ? 'Set `recipients.to` to the column with the phone numbers.' : undefined;
  return { hint: [suggestion, setting, listed(columns)].filter((part) => part !== undefined).join(' ') };
}

function listed(columns: readonly string[]): string {
  const names = columns.slice(0, MOST_NAMES).join(', ');
  const more = columns.length > MOST_NAMES ? ` and ${columns.length - MOST_NAMES} more` : '';
  return `Its columns: ${names}${more}.`;
}

import type { ListSpec, Recipient } from '../model.ts';
import { columnName } from './column-types.ts';
import { createZoneTable } from './zone-table.ts';

/** Says in which time zones somebody may be. */
export interface ZoneReader {
  /** A number that stands for the zones of a recipient, from 0 upwards; -1: not known. */
  of(recipient: Pick<Recipient, 'to' | 'values'>): number;
  /** The zones that a number stands for: IANA names, at least one; any of them may be the recipient's. */
  names(id: number): readonly string[];
}

/**
 * Makes the reader of zones: the cell of the column `recipients.timeZone`, where it is not empty, else what the prefix
 * of a phone number says. The cells were checked with the row (`recipient.ts`).
 * @param columns names of the list's columns
 */
export function createZoneReader(spec: Pick<ListSpec, 'kind' | 'timeZone'>, columns: readonly string[]): ZoneReader {
  const column = spec.timeZone === null ? -1 : columns.indexOf(columnName(spec.timeZone));
  const table = spec.kind === 'msisdn' ? createZoneTable() : null;
  const sets: (readonly string[])[] = [...(table?.sets ?? [])];
  const ids = new Map<string, number>();
  const add = (name: string): number => {
    const known = ids.get(name);
    if (known !== undefined) return known;
    // The cell may be a slice of a large piece of the list, which a copy of its letters does not keep.
    const own = Buffer.from(name, 'latin1').toString('latin1');
    const id = own === '' ? -1 : sets.push([own]) - 1;
    ids.set(own, id);
    return id;
  };
  return {
    of(recipient) {
      const cell = column === -1 ? '' : (recipient.values[column] ?? '');
      const id = cell === '' ? -1 : (ids.get(cell) ?? add(cell.trim()));
      return id === -1 && table !== null ? table.find(recipient.to) : id;
    },
    names: (id) => sets[id] ?? [],
  };
}

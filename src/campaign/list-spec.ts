import { CHANNEL_TABLE } from '../content/channels.ts';
import { type Channel, type ColumnTypes, type InlineList, type ListSpec, PLAIN_LIST_KEYS } from '../model.ts';
import { compared } from '../util/cell.ts';
import { pointerTo } from '../util/json.ts';
import { readDateFormat } from '../util/time.ts';
import { whereAt } from './channel-steps.ts';
import { checkCountry, checkEncoding, checked, type Report } from './check-values.ts';
import { DEFAULTS } from './defaults.ts';
import { dotted } from './explain.ts';
import { type Merged, plainKeys } from './merge.ts';
import { readEach } from './rules.ts';
import type { Sources } from './sources.ts';
import type { RecipientsFile } from './written.ts';

const CONTACT_COLUMN = 'contact';

/**
 * Null: there is no list.
 * @param listIsPassed - the list comes from the command line, whatever the campaign lists itself
 */
export function readList(
  merged: Merged,
  sources: Sources,
  listIsPassed: boolean,
  channel: Channel,
  report: Report,
): ListSpec | null {
  const { to, contact, key, defaultCountry, encoding, columns, contacts, duplicates } = merged.recipients;
  const inline = listIsPassed ? null : readInline(merged, report);
  const contactColumn = contact ?? (contacts !== undefined && !listIsPassed ? CONTACT_COLUMN : undefined);
  if (contact !== undefined && merged.own('/recipients/to') !== undefined) {
    const message = '"recipients.to" and "recipients.contact" both say where the address is.';
    report('/recipients/contact', 'invalid-value', message, 'Keep one of them.');
  }
  if (duplicates === 'keep' && key === undefined) {
    const message =
      '"recipients.duplicates: keep" needs "recipients.key": the address alone cannot tell the rows apart.';
    const hint = 'Name what tells them apart: `key: customer_id`, or several columns: `key: [msisdn, order]`.';
    report('/recipients/duplicates', 'invalid-value', message, hint);
  }
  const country = checked(defaultCountry, '/recipients/defaultCountry', checkCountry, report);
  const kind = contactColumn === undefined ? CHANNEL_TABLE[channel].address : 'contact';
  if (sources.list === null) return null;
  return {
    ...sources.list,
    inline,
    kind,
    to: contactColumn ?? to ?? (kind === 'email' ? DEFAULTS.toEmail : DEFAULTS.to),
    key: [key ?? []].flat(),
    ...plainKeys(PLAIN_LIST_KEYS, merged.recipients),
    defaultCountry: country,
    encoding: checked(encoding, '/recipients/encoding', checkEncoding, report),
    columns: readColumns(columns, report),
    where: whereAt(merged, '/recipients/where', merged.recipients.where),
    each: readEach(merged, report),
    display: merged.recipients.display === undefined ? null : merged.text('/recipients/display'),
  };
}

/** `{ type: number }` is `number`; checks date formats. */
function readColumns(written: RecipientsFile['columns'] = {}, report: Report): ColumnTypes {
  return Object.fromEntries(
    Object.entries(written).map(([name, column]): [string, ColumnTypes[string]] => {
      if (typeof column === 'string') return [name, column];
      const { type = 'string', format, decimal, required = false, values } = column;
      const wrong = (key: string, problem: string, hint: string): void => {
        const keys = ['recipients', 'columns', name, key];
        report(pointerTo(keys), 'invalid-value', `"${dotted(keys)}" ${problem}.`, hint);
      };
      if (values !== undefined && type !== 'string') {
        wrong('values', 'is for text only', 'Leave it out, or the type.');
      }
      if (decimal !== undefined && type !== 'number') {
        wrong('decimal', 'is for numbers only', 'Leave it out, or write type: number.');
      }
      const isDecimal = decimal !== undefined && type === 'number';
      const contract = {
        type,
        ...(isDecimal ? { decimal } : {}),
        ...(required ? { required } : {}),
        ...(values === undefined ? {} : { values }),
      };
      const plain = required || isDecimal || values !== undefined ? contract : type;
      if (format === undefined) return [name, plain];
      if (type !== 'date') {
        wrong('format', 'is for dates only', 'Leave it out, or write type: date.');
        return [name, plain];
      }
      const read = readDateFormat(format);
      if (!('problem' in read)) return [name, { ...contract, format }];
      wrong('format', read.problem, read.hint);
      return [name, plain];
    }),
  );
}

function readInline(merged: Merged, report: Report): InlineList | null {
  const { csv, list, contacts } = merged.recipients;
  const given = Object.entries({ csv, list, contacts }).flatMap(([name, one]) => (one === undefined ? [] : [name]));
  if (given.length > 1) {
    const message = `"recipients" takes only one of ${given.map((name) => `"${name}"`).join(', ')}.`;
    report(`/recipients/${given[1] ?? ''}`, 'invalid-value', message);
  }
  if (contacts !== undefined) {
    const rows = contacts.map((id, i) => ({ line: lineOf(merged, `/recipients/contacts/${i}`), values: [id] }));
    return { columns: [CONTACT_COLUMN], rows };
  }
  if (list === undefined) return null;
  const columns = [...new Set(list.flatMap((row) => Object.keys(row)))];
  const rows = list.map((row, i) => {
    const at = `/recipients/list/${i}`;
    // As written: a number without quotes keeps its plus and its zeros.
    const cell = (name: string): string => {
      const value = row[name];
      if (value === undefined) return '';
      return typeof value === 'string' ? value : (merged.plain(at + pointerTo([name])) ?? String(value));
    };
    return { line: lineOf(merged, at), values: columns.map(cell) };
  });
  return { columns: columns.map(compared), rows };
}

function lineOf(merged: Merged, pointer: string): number {
  return merged.where(pointer)?.at.line ?? 1;
}

import type { ManyRows } from '../connection.ts';
import { LedgerError } from '../ledger-error.ts';
import { ownChannel } from '../lists.ts';
import type { LoadRow, RunRecord } from '../records.ts';
import type { Found, Given } from './bridge.ts';

/** What is asked of the connection: the same transaction again and again, and what it copies in without waiting. */
export interface ManyAsker {
  commit(text: string, values: readonly Given[]): Found;
  copy(text: string, rows: string): void;
}

/**
 * The hot path of a shared ledger: one journey for a whole group commit, with an array for each column. What each of
 * them asks is what the stores ask of one (commits.ts).
 */
export function manyRows(asker: ManyAsker): ManyRows {
  return {
    load: (list, rows, run) => asker.copy(COPY, rows.map((row) => copied(list, row, run)).join('')),
    commit(run, list, results, claims, forms, now, held) {
      const found = orStrange(() =>
        asker.commit(COMMIT, [
          run,
          list,
          now,
          arrayOf(results, ({ row }) => row),
          arrayOf(results, ({ state }) => state),
          arrayOf(results, ({ reason }) => reason),
          arrayOf(results, ({ attempts }) => attempts),
          arrayOf(results, ({ httpStatus }) => httpStatus),
          arrayOf(results, ({ messageId }) => messageId),
          arrayOf(results, ({ error }) => error),
          arrayOf(results, ({ from }) => from),
          arrayOf(claims, ({ row }) => row),
          arrayOf(claims, ({ key }) => key),
          arrayOf(claims, ({ to }) => to),
          arrayOf(claims, ({ attempts }) => attempts ?? null),
          arrayOf(forms.all, ({ row }) => row),
          arrayOf(forms.all, ({ form }) => form),
          arrayOf(forms.all, ({ hash }) => hash),
          forms.hashKey,
          held?.worker ?? null,
          arrayOf(held?.shards ?? [], (shard) => shard),
        ]),
      );
      if (found === null) return null;
      const [recorded, claimed] = found.rows[0] ?? [];
      return { recorded: rowsOf(recorded), claimed: rowsOf(claimed) };
    },
  };
}

/**
 * A column as the database writes an array. One text for each goes to the thread of the connection: to copy arrays of values
 * there took 20 us a message in a profile.
 */
function arrayOf<T>(all: readonly T[], read: (one: T) => string | number | null): string {
  let text = '';
  for (const one of all) {
    const value = read(one);
    if (text !== '') text += ',';
    if (value === null) text += 'NULL';
    else text += typeof value === 'number' ? value : quoted(value);
  }
  return `{${text}}`;
}

/** Of what stands between the quotes these two mean something: https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
function quoted(value: string): string {
  return `"${NEEDS_ESCAPE.test(value) ? value.replaceAll(/["\\]/g, '\\$&') : value}"`;
}

const NEEDS_ESCAPE = /["\\]/;

function rowsOf(found: unknown): ReadonlySet<number> | null {
  return found === null ? null : new Set(Array.isArray(found) ? found.map(Number) : []);
}

/** Null where a row is not the recipient that was to be claimed: everything was undone. */
function orStrange(ask: () => Found): Found | null {
  try {
    return ask();
  } catch (error) {
    const cause = error instanceof LedgerError ? (error.cause as { readonly code?: unknown } | undefined) : undefined;
    if (cause?.code === STRANGE) return null;
    throw error;
  }
}

/** As the schema says it. */
const STRANGE = 'HB001';

const COMMIT = `SELECT recorded, claimed FROM commit_rows($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
  $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`;

const COPY = `COPY recipients (list, row, line, key, address, state, reason, parts, encoding, cost_micros, variant, channel)
  FROM STDIN`;

function copied(list: number, row: LoadRow, run: Pick<RunRecord, 'channel'>): string {
  const { line, key, to, state, reason, parts, encoding, costMicros, variant } = row;
  const own = ownChannel(row.channel ?? null, run);
  const fields = [line, key, to, state, reason, parts, encoding, costMicros, variant, own].map(field);
  return `${list}\t${row.row}\t${fields.join('\t')}\n`;
}

/** As COPY reads it: https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-FILE-FORMATS */
function field(value: string | number | null): string {
  if (value === null) return '\\N';
  if (typeof value === 'number') return String(value);
  return SPECIAL.test(value) ? value.replace(SPECIAL_ALL, (sign) => ESCAPED[sign] ?? sign) : value;
}

const SPECIAL = /[\\\t\n\r\0]/;
const SPECIAL_ALL = /[\\\t\n\r\0]/g;
const ESCAPED: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\u2400',
};

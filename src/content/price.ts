import { createRequire } from 'node:module';
import type { Info } from 'csv-parse/sync';
import { type Code, type Diagnostic, problem, warning } from '../errors.ts';
import { onDemand } from '../util/on-demand.ts';
import { didYouMean } from '../util/suggest.ts';
import { parseMicros } from '../util/units.ts';
import { regionNames } from '../util/words.ts';
import { CHANNELS, type Channel } from './channels.ts';

/** The cost of one part, or of one message where a channel has no parts. */
export interface PriceList {
  /** ISO 4217, or null when the list does not say. */
  readonly currency: string | null;
  /** Micro-units by `COUNTRY/channel`, with `*` for any country and for any channel. */
  readonly micros: ReadonlyMap<string, number>;
}

const COLUMNS = ['country', 'price', 'channel', 'currency'] as const;
type Column = (typeof COLUMNS)[number];

interface PriceRow {
  readonly country: string;
  readonly channel: string;
  readonly currency: string;
  readonly micros: number;
}

type Parsed = { readonly record: readonly string[]; readonly info: Info };

/** A price above this is a slip of the keyboard, and sums stay whole numbers below it. */
const MAX_PRICE_MICROS = 1_000_000 * 1_000_000;

/**
 * CSV with `country` (ISO 3166-1 alpha-2, or `*`) and `price` per part (at most six decimals), optionally `channel` and
 * `currency`; other columns cause a warning. On any error `prices` is null; `file` is the name in `diagnostics`.
 */
export function readPrices(
  text: string,
  file: string,
): { prices: PriceList | null; diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const complain: Complain = (code, message, line, hint) => {
    diagnostics.push(problem(code, message, { at: line === null ? { file } : { file, line }, ...hint }));
  };
  const rows = parseCsv(text, file, diagnostics);
  const header = rows[0];
  if (header === undefined) {
    if (diagnostics.length === 0) complain('csv-no-header', 'The price list is empty.', null, HEADER_HINT);
    return { prices: null, diagnostics };
  }
  const columns = readHeader(header, file, diagnostics);
  if (columns === null) return { prices: null, diagnostics };
  if (rows.length === 1) complain('csv-no-rows', 'The price list has a header but no prices.', null);
  const prices = collect(rows.slice(1), header.record.length, columns, complain);
  return { prices: diagnostics.some((d) => d.severity === 'error') ? null : prices, diagnostics };
}

/**
 * Micro-units for one part; null: no price. The nearest entry counts: this country and channel, this country, this channel
 * anywhere, anywhere. Numbers without a country (satellite) have only the prices of `*`.
 */
export function priceOf(list: PriceList, country: string | null, channel: Channel): number | null {
  const { micros } = list;
  if (country !== null) {
    const own = micros.get(`${country}/${channel}`) ?? micros.get(`${country}/*`);
    if (own !== undefined) return own;
  }
  return micros.get(`*/${channel}`) ?? micros.get('*/*') ?? null;
}

type Complain = (code: Code, message: string, line: number | null, rest?: { hint?: string }) => void;

const HEADER_HINT = { hint: 'The first line names the columns: country,price and, if wanted, channel,currency.' };

function parseCsv(text: string, file: string, diagnostics: Diagnostic[]): readonly Parsed[] {
  const firstLine = /^[^\r\n]*/.exec(text)?.[0] ?? '';
  const delimiter = [',', ';', '\t'].find((candidate) => firstLine.includes(candidate)) ?? ',';
  const { CsvError, parse } = csvParse();
  try {
    // With `info` each element is a record and where it ended; the types of csv-parse know only the plain form.
    return parse(text, {
      delimiter,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as readonly Parsed[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    diagnostics.push(
      problem('csv-syntax', `The price list is not well-formed CSV: ${error.message}`, {
        at: { file, ...(typeof error['lines'] === 'number' && { line: error['lines'] }) },
      }),
    );
    return [];
  }
}

function readHeader(header: Parsed, file: string, diagnostics: Diagnostic[]): ReadonlyMap<Column, number> | null {
  const at = { file, line: header.info.lines };
  const columns = new Map<Column, number>();
  for (const [index, written] of header.record.entries()) {
    const column = COLUMNS.find((known) => known === written.toLowerCase());
    if (column === undefined) {
      const hint = didYouMean(written, COLUMNS);
      diagnostics.push(
        warning('unknown-key', `The price list has a column "${written}", which is not read.`, { at, ...hint }),
      );
    } else if (columns.has(column)) {
      diagnostics.push(problem('csv-duplicate-header', `Duplicate column "${column}".`, { at }));
    } else {
      columns.set(column, index);
    }
  }
  for (const needed of ['country', 'price'] as const) {
    if (columns.has(needed)) continue;
    diagnostics.push(problem('missing-key', `The price list has no column "${needed}".`, { at, ...HEADER_HINT }));
  }
  return diagnostics.some((d) => d.severity === 'error') ? null : columns;
}

function collect(
  rows: readonly Parsed[],
  width: number,
  columns: ReadonlyMap<Column, number>,
  complain: Complain,
): PriceList {
  const micros = new Map<string, number>();
  const lineOf = new Map<string, number>();
  let currency: string | null = null;
  for (const { record, info } of rows) {
    const line = info.lines;
    if (record.length !== width) {
      complain('csv-ragged-row', `The row has ${record.length} fields, the header has ${width}.`, line);
      continue;
    }
    const row = readRow((column) => record[columns.get(column) ?? -1] ?? '', line, complain);
    if (row === null) continue;
    const key = `${row.country}/${row.channel}`;
    const earlier = lineOf.get(key);
    if (earlier !== undefined) {
      const where = row.country === '*' ? 'Every other country' : row.country;
      const by = row.channel === '*' ? '' : ` by ${row.channel}`;
      complain('invalid-value', `${where}${by} has a price in line ${earlier} already.`, line);
    } else if (row.currency !== '' && currency !== null && row.currency !== currency) {
      complain('invalid-value', `The price is in ${row.currency}, those before it in ${currency}.`, line, {
        hint: 'A price list has one currency: convert the prices, or keep two lists.',
      });
    }
    if (row.currency !== '') currency ??= row.currency;
    lineOf.set(key, earlier ?? line);
    micros.set(key, row.micros);
  }
  return { currency, micros };
}

function readRow(cell: (column: Column) => string, line: number, complain: Complain): PriceRow | null {
  const country = cell('country').toUpperCase();
  const channel = cell('channel').toLowerCase() || '*';
  const currency = cell('currency').toUpperCase();
  const price = cell('price');
  const micros = parseMicros(price);
  const countryOk = country === '*' || isCountry(country);
  const channelOk = channel === '*' || CHANNELS.some((known) => known === channel);
  const currencyOk = /^(?:[A-Z]{3})?$/.test(currency);
  if (!countryOk) {
    complain('invalid-value', `"${cell('country')}" is not a country.`, line, {
      hint:
        country === 'UK'
          ? 'The United Kingdom is GB in ISO 3166-1.'
          : 'Two letters of ISO 3166-1, such as GB, or * for every country that is not listed.',
    });
  }
  if (!channelOk) complain('invalid-value', `"${channel}" is not a channel.`, line, didYouMean(channel, CHANNELS));
  if (!currencyOk) {
    complain('invalid-value', `"${cell('currency')}" is not a currency.`, line, {
      hint: 'Three letters of ISO 4217, such as EUR.',
    });
  }
  if (micros === null || micros > MAX_PRICE_MICROS) {
    complain('invalid-value', `"${price}" is not a price.`, line, {
      hint: 'A decimal with a point and at most six decimals, such as 0.0425.',
    });
    return null;
  }
  return countryOk && channelOk && currencyOk ? { country, channel, currency, micros } : null;
}

/** A country's code of today: a price under another one (`UK`, `EU`) would never be found. */
function isCountry(code: string): boolean {
  if (!/^[A-Z]{2}$/.test(code) || GROUPINGS.includes(code)) return false;
  return regionNames().of(code) !== undefined && Intl.getCanonicalLocales(`und-${code}`)[0] === `und-${code}`;
}

/** Codes that Unicode knows beside the countries: unions, the unknown region. */
const GROUPINGS = ['EU', 'EZ', 'QO', 'UN', 'ZZ'];

/** csv-parse, loaded when the first record needs it (6 ms): in most lists none has a quote. */
const csvParse = onDemand(() => createRequire(import.meta.url)('csv-parse/sync') as typeof import('csv-parse/sync'));

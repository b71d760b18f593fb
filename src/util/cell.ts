import lines from './cell-words.json' with { type: 'json' };
import { onDemand } from './on-demand.ts';
import { wordTable } from './word-table.ts';

/* Invisible characters come along when texts are copied and exported. Lists, templates and conditions ignore them. */

/** Shown as part of the character before them, such as an emoji or a flag. */
const SELECTORS = String.raw`\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0000}-\u{e01ef}`;
const UNSEEN = String.raw`[\s\p{Cc}\p{DI}\u2800\ufff9-\ufffc]`;
/** The joiners of Indian and Arabic letters and of emoji are spelling; behind any other character they are nothing. */
const JOINERS = String.raw`(?<![\p{M}\p{sc=Arab}\p{sc=Syrc}\p{ExtPict}])[\u200c\u200d]`;
const HIDDEN = String.raw`(?![\s\u200c\u200d${SELECTORS}])${UNSEEN}|${JOINERS}`;
const onlyBlanks = onDemand(() => new RegExp(`^${UNSEEN}*$`, 'u'));
/* Made with the first such cell: a pattern with classes of Unicode takes 0.1 ms to make. */
const allHidden = onDemand(() => new RegExp(HIDDEN, 'gu'));
const blankBefore = onDemand(() => new RegExp(String.raw`^(?:\s|${HIDDEN})$`, 'u'));
/** The character before is needed to judge a joiner. A non-joiner at the end separates nothing. */
const blankBehind = onDemand(() => new RegExp(String.raw`^[^]?(?:\s|\u200c|${HIDDEN})$`, 'u'));
const PLAIN = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;

/** Nothing but white space and characters that cannot be seen. */
export function isBlank(text: string): boolean {
  // Most cells begin with a printable character.
  const first = text.charCodeAt(0);
  return text === '' || ((first <= 0x20 || first > 0x7e) && onlyBlanks().test(text));
}

export function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlankAt(text, start, blankBefore)) start += 1;
  while (end > start && isBlankAt(text, end - 1, blankBehind)) end -= 1;
  return text.slice(start, end);
}

function isBlankAt(text: string, at: number, blank: () => RegExp): boolean {
  const unit = text.charCodeAt(at);
  if (unit > 0x20 && unit < 0x7f) return false;
  if (blank === blankBefore) return blank().test(text.charAt(at));
  const isPair = /[\udc00-\udfff]/.test(text.charAt(at - 1));
  return blank().test(text.slice(Math.max(0, at - (isPair ? 2 : 1)), at + 1));
}

/** Composed (NFC), white space as one space, without unseen characters. Blanks at the ends stay, for parts of texts. */
export function comparedPart(text: string): string {
  return PLAIN.test(text) ? text : text.replace(allHidden(), '').replace(/\s+/gu, ' ').normalize('NFC');
}

/** As `comparedPart`, without blanks at the ends: keys, names of columns, and cells in conditions are compared by it. */
export function compared(text: string): string {
  return PLAIN.test(text) ? text : trimBlanks(comparedPart(text));
}

export type Damage = 'error-value' | 'no-value' | 'scientific';
/** A cell that a person may have written so: it is a value, with a warning where a message shows it. */
export type Doubt = Damage | 'like-error' | 'encoded' | 'formula';

/** The cell and what it is, for a message: none of these words is personal. */
export function damageText(cell: string, damage: Doubt): string {
  return `"${compared(cell)}", ${DAMAGE_WORDS[damage]}`;
}

export const DAMAGE_WORDS: Readonly<Record<Doubt, string>> = {
  'error-value': 'an error value of a spreadsheet',
  'like-error': 'which may be an error value of a spreadsheet',
  encoded: 'text that is still encoded for a link, an email or a program',
  formula: 'a formula of a spreadsheet and not its result',
  'no-value': 'a word for no value',
  scientific: 'a number in scientific notation whose last digits a spreadsheet dropped',
};

/** Null: none that can be known. */
export function damageOf(cell: string): Damage | null {
  // Most cells: a name or a number. Only a listed word can be wrong.
  if (ALPHANUMERIC.test(cell)) return NO_VALUES.has(cell) ? 'no-value' : null;
  // Longer than every word below, as two of them.
  if (cell.length > LONGEST_WORDS || !MAY_BE_DAMAGED.test(cell)) return null;
  const text = compared(cell);
  if (SCIENTIFIC.test(text)) return 'scientific';
  if (ERROR_VALUE.test(text)) return 'error-value';
  if (!HASHTAG.test(text) && ERROR_WORDS.has(HASHED.exec(text.toUpperCase())?.[1] ?? '')) return 'error-value';
  if (ERROR_NAMES.has(SIGNED.exec(text)?.[1] ?? '')) return 'error-value';
  if (NO_VALUES.has(text) || NO_DATE.test(text) || NO_OBJECT.test(text)) return 'no-value';
  if (EMPTY_WORDS.has(/^[([<{](.+)[)\]>}]$/u.exec(text.toLowerCase())?.[1] ?? '')) return 'no-value';
  // Columns that were joined give `undefined undefined`, and a calculation `$NaN`.
  const all = [text.split(' '), text.match(/[\p{L}\p{N}]+/gu) ?? [text]];
  return all.some((words) => words.every((word) => NO_VALUES.has(word))) ? 'no-value' : null;
}

/** With the part of the cell to show; null: none. */
export function doubtOf(cell: string): { readonly doubt: Doubt; readonly part: string } | null {
  const damage = damageOf(cell);
  if (damage !== null) return { doubt: damage, part: cell };
  if (!/[#%?=\\]/.test(cell)) return null;
  if (FORMULA.test(compared(cell))) return { doubt: 'formula', part: cell };
  if (SIGNED.test(compared(cell))) return { doubt: 'like-error', part: cell };
  const written = ENCODED_WORD.exec(cell)?.[0] ?? ESCAPED.exec(cell)?.[0];
  const part = written ?? (/[/&=@]/.test(cell) ? null : PERCENT_ENCODED.exec(cell)?.[0]);
  return part ? { doubt: 'encoded', part } : null;
}

/** `=?UTF-8?Q?`, before a text of an email header that ends with `?=` (RFC 2047). */
const ENCODED_WORD = /=\?[\w-]+\?[bq]\?(?=[^?\s]*\?=)/i;
/** A letter as JSON or quoted-printable (RFC 2045) encodes it. */
const ESCAPED = /\\u[\dA-Fa-f]{4}|=[CDE][\dA-F]=[89AB][\dA-F]/;
/** A formula whose first operand is a cell, a function or a cell of another sheet. */
const FORMULA =
  /^=\s*[-+(@]?\s*(?:\$?[A-Z]{1,3}\$?\d{1,7}(?![\p{L}\p{N}])|[\p{Lu}][\p{Lu}\d.]+\(|(?:\w+|'[^']+')!\$?[A-Z])/u;
/** Letters that are not ASCII, in UTF-8, and a blank between letters. */
const PERCENT_ENCODED = /%[c-f][\da-f](?:%[89ab][\da-f])+|(?<=\p{L})%20(?=\p{L})/iu;

/** Nothing that a person wrote: blank, an error value, or a word for no value. */
export function holdsNothing(cell: string): boolean {
  if (isBlank(cell)) return true;
  const damage = damageOf(cell);
  return damage === 'error-value' || damage === 'no-value';
}

const ALPHANUMERIC = /^[A-Za-z0-9]+$/;
const LONGEST_WORDS = 60;
/** The first characters of the words below, and digits. */
const MAY_BE_DAMAGED = /^[\s\p{Cc}\p{DI}]*[#\dEINSUnu<([{\\$€£%+-]|\.\.\.$|:5\d\d\s*$/u;
/** Excel, pandas and Java write long numbers so; an id such as `4e10` is something else. */
const SCIENTIFIC = /^[+-]?(?:\d(?:[.,]\d+)?e[+-]\d{2,3}|\d[.,]\d+e\d{1,3})$/i;

/**
 * Words of `cell-words.json`: `noValue` exactly, because people are called Null and Nan; `empty` says in brackets that a
 * cell is empty, as pivot tables and reports write it; `errorNames` are error values of Excel, by language, that count only
 * with a sign at the end, because they may be hashtags; `errorWords` count with and without, in any letter case.
 */
const words = wordTable(lines, ',');
const NO_VALUES: ReadonlySet<string> = new Set(words.noValue);
const EMPTY_WORDS: ReadonlySet<string> = new Set(words.empty);
const ERROR_NAMES: ReadonlySet<string> = new Set(words.errorNames);
const ERROR_WORDS: ReadonlySet<string> = new Set(words.errorWords);

/** Days that are none, or before all calendars: an empty cell that was formatted as a date, and zero of a database. */
const NO_DATE =
  /^(?:0000-00-00|00[./]00[./]0000|0001-01-01|0?1([./-])0?1\1(?:0001)|1900-01-00|0?0([./-])(?:0?1|Jan)\2(?:19)?00|0?1\/0?0\/(?:19)?00|1899-12-3[01][T ].*|3[01]([./])12\3 ?1899|12\/3[01]\/1899)(?:[T ].*)?$/u;
/** Values of programs that were written as a text. */
const NO_OBJECT =
  /^(?:\[object \w+\]|System\.[A-Z_][\w.`[\]]*|\[?L?java\.[\w.;$]+(?:@[\da-f]+)?|%!\w\(.*\)|-?1\.#\w+)$/;

/** In the languages of Excel, Google Sheets and LibreOffice: `#ДЕЛ/0!`, `#Н/Д`, `Err:502`, a column too narrow. */
const ERROR_VALUE =
  /^(?:#[¡¿]?[\p{L}.]+\/0!?|#\p{Lu}{1,2}\/\p{Lu}!?|#N\/A .*|#{3,}|(?:[Ee]rr(?:or|eur|o)?|Fehler|Fejl|Fel|Feil|Fout|Virhe|Chyba|Błąd|Hiba|Hata|Ошибка|Помилка|エラー|错误|錯誤):5\d\d)$/u;

/** `#NV`, `#SAKNAS!`. */
/** `#type`, which people write. */
const HASHTAG = /^#\p{Ll}+$/u;
const HASHED = /^#[¡¿]?(.+?)[!?]?$/u;
/** `#REF!`, `#¿NOMBRE?`, and other words in capitals. */
const SIGNED = /^#[¡¿]?(\p{Lu}[\p{Lu}\p{Lo}\p{M}\d'’_./]+)[!?]$/u;

/** `1.234,50` with a decimal comma, `1,234.50` with a point, as `1234.50`; thousands have one sign. Null: neither. */
export function plainDecimal(text: string, decimal: ',' | '.'): string | null {
  const [, minus = '', whole = '', , fraction] = (decimal === ',' ? COMMA : POINT).exec(text) ?? [];
  if (whole === '') return null;
  return `${minus}${whole.replace(/[^0-9]/g, '')}${fraction === undefined ? '' : `.${fraction}`}`;
}

const COMMA = /^(-?)([0-9]+|[0-9]{1,3}(?:([. '’])[0-9]{3}(?:\3[0-9]{3})*))(?:,([0-9]+))?$/;
const POINT = /^(-?)([0-9]+|[0-9]{1,3}(?:([, '’])[0-9]{3}(?:\3[0-9]{3})*))(?:\.([0-9]+))?$/;

/** The setting for a column whose numbers have a decimal comma, or signs between thousands; null: it has neither. */
export function decimalHint(column: string, cell: string): string | null {
  const text = compared(cell);
  const found = ([',', '.'] as const).filter((decimal) => plainDecimal(text, decimal) !== null);
  if (found.length === 0 || !/[^0-9-]/.test(text)) return null;
  const or = found.length > 1 ? ', or `decimal: "."` if the sign is between thousands' : '';
  return `If the column writes its numbers so, say it: \`recipients.columns: { ${yamlName(column)}: { type: number, decimal: "${found[0]}" } }\`${or}.`;
}

export function yamlName(column: string): string {
  return /^[\p{L}_][\p{L}\p{N}_ -]*$/u.test(column) ? column : JSON.stringify(column);
}

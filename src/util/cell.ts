import { onDemand } from './on-demand.ts';

/* Invisible characters come along when texts are copied and exported. Lists, templates and conditions ignore them. */

/** Shown as part of the character before them, such as an emoji or a flag. */
const SELECTORS = String.raw`\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0000}-\u{e01ef}`;
const UNSEEN = String.raw`[\s\p{Cc}\p{DI}\u2800\ufff9-\ufffb]`;
/** The joiners of Indian and Arabic letters and of emoji are spelling; behind any other character they are nothing. */
const JOINERS = String.raw`(?<![\p{M}\p{sc=Arab}\p{sc=Syrc}\p{ExtPict}])[\u200c\u200d]`;
const HIDDEN = String.raw`(?![\s\u200c\u200d${SELECTORS}])${UNSEEN}|${JOINERS}`;
const onlyBlanks = onDemand(() => new RegExp(`^${UNSEEN}*$`, 'u'));
/* Made with the first such cell: a pattern with classes of Unicode takes 0.1 ms to make. */
const allHidden = onDemand(() => new RegExp(HIDDEN, 'gu'));
const blankBefore = onDemand(() => new RegExp(String.raw`^(?:\s|${HIDDEN})$`, 'u'));
/** The character before is needed to judge a joiner. */
const blankBehind = onDemand(() => new RegExp(String.raw`^[^]?(?:\s|${HIDDEN})$`, 'u'));
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
  return blank().test(blank === blankBefore ? text.charAt(at) : characterBefore(text, at) + text.charAt(at));
}

function characterBefore(text: string, at: number): string {
  const isPair = /[\udc00-\udfff]/.test(text.charAt(at - 1));
  return text.slice(Math.max(0, at - (isPair ? 2 : 1)), at);
}

/** Composed (NFC), white space as one space, without unseen characters. Blanks at the ends stay, for parts of texts. */
export function comparedPart(text: string): string {
  return PLAIN.test(text) ? text : text.replace(allHidden(), '').replace(/\s+/gu, ' ').normalize('NFC');
}

/** As `comparedPart`, without blanks at the ends: keys, names of columns, and cells in conditions are compared by it. */
export function compared(text: string): string {
  return PLAIN.test(text) ? text : comparedPart(text).trim();
}

export type Damage = 'error-value' | 'no-value' | 'scientific';

/** The cell and what it is, for a message: none of these words is personal. */
export function damageText(cell: string, damage: Damage): string {
  return `"${compared(cell)}", ${DAMAGE_WORDS[damage]}`;
}

export const DAMAGE_WORDS: Readonly<Record<Damage, string>> = {
  'error-value': 'an error value of a spreadsheet',
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
  if (ERROR_VALUES.has(text.toUpperCase()) || /^(?:#{3,}|err:5\d\d)$/i.test(text)) return 'error-value';
  // Two columns that were joined give `undefined undefined`.
  return NO_VALUES.has(text) || text.split(' ').every((word) => NO_VALUES.has(word)) ? 'no-value' : null;
}

/** Nothing that a person wrote: blank, an error value, or a word for no value. */
export function holdsNothing(cell: string): boolean {
  if (isBlank(cell)) return true;
  const damage = damageOf(cell);
  return damage === 'error-value' || damage === 'no-value';
}

const ALPHANUMERIC = /^[A-Za-z0-9]+$/;
const LONGEST_WORDS = 48;
/** The first characters of the words below, and digits. */
const MAY_BE_DAMAGED = /^[\s\p{Cc}\p{DI}]*[#\dENnu<([\\+-]/u;
/** Excel and pandas write long numbers so; an id such as `4e10` is something else. */
const SCIENTIFIC = /^[+-]?\d(?:[.,]\d+)?e[+-]\d{2,3}$/i;

/** Exact, because people are called Null and Nan. */
const NO_VALUES: ReadonlySet<string> = new Set([
  ...['NULL', 'null', '(null)', '(NULL)', '<null>', '<NULL>', '[null]', '[NULL]', '\\N', '<nil>', 'None', '<NA>'],
  ...['NaN', 'nan', '-nan', 'NaT', 'undefined', '[object Object]', 'N/A', 'n/a'],
  // Days that are none, or before all calendars: an empty cell that was formatted as a date.
  ...['00/01/1900', '00.01.1900', '0/1/1900', '1/0/1900', '01/00/1900', '1900-01-00', '00-Jan-00', '00-Jan-1900'],
  ...['0000-00-00', '0000-00-00 00:00:00', '01/01/0001 00:00:00', '0001-01-01 00:00:00', '0001-01-01T00:00:00'],
]);

/** The error values of Excel, Google Sheets and LibreOffice, in their languages. */
const ERROR_VALUES: ReadonlySet<string> = new Set(
  `#N/A #N/A! #NA #REF! #VALUE! #NAME? #DIV/0! #NULL! #NUM! #ERROR! #SPILL! #CALC! #FIELD! #BLOCKED! #BUSY! #CONNECT!
  #UNKNOWN! #EXTERNAL! #PYTHON! #TIMEOUT! #DATA! #GETTING_DATA #NV #BEZUG! #WERT! #ZAHL! #ÜBERLAUF! #KALK! #FELD!
  #VALEUR! #NOM? #NOMBRE! #NUL! #PROPAGATION! #¡VALOR! #¡REF! #¿NOMBRE? #¡NUM! #¡NULO! #¡DIV/0! #VALOR! #NOMBRE? #NULO!
  #N/D #N/D! #RIF! #VALORE! #NOME? #NULLO! #NÚM! #NB #N/B #VERW! #WAARDE! #NAAM? #DEEL/0! #GETAL! #LEEG! #SAKNAS!
  #SAKNAS #REFERENS! #VÄRDEFEL! #NAMN? #DIVISION/0! #OGILTIGT! #I/T #REFERENCE! #VÆRDI! #VERDI! #NAVN? #PUUTTUU!
  #PUUTTUU #VIITTAUS! #ARVO! #NIMI? #JAKO/0! #LUKU! #TYHJÄ! #ADR! #ARG! #NAZWA? #DZIEL/0! #LICZBA! #ZERO!
  #NENÍ_K_DISPOZICI #ODKAZ! #HODNOTA! #NÁZEV? #DĚLENÍ_NULOU! #ČÍSLO! #HIÁNYZIK #HIV! #ÉRTÉK! #NÉV? #ZÉRÓOSZTÓ! #SZÁM!
  #NULLA! #Н/Д #ССЫЛКА! #ЗНАЧ! #ИМЯ? #ДЕЛ/0! #ЧИСЛО! #ПУСТО! #YOK #BAŞV! #DEĞER! #AD? #SAYI/0! #SAYI! #BOŞ!`
    .normalize('NFC')
    .split(/\s+/),
);

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

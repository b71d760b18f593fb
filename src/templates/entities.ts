import { warning } from '../errors.ts';
import type { Loc } from './ast.ts';
import { columnTag } from './names.ts';
import { at, locOf, offsetOf, slice } from './position.ts';
import { type Place, report, type State } from './state.ts';

/** Entities that people bring along from HTML, and what they mean. Numbers are read as numbers. */
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  pound: '£',
  euro: '€',
  yen: '¥',
  cent: '¢',
  copy: '©',
  reg: '®',
  trade: '™',
  deg: '°',
  hellip: '…',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  bull: '•',
  middot: '·',
  times: '×',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
  agrave: 'à',
  ccedil: 'ç',
  ntilde: 'ñ',
};

const ENTITY = new RegExp(`&(?:#(\\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(${Object.keys(NAMED).join('|')}));`, 'g');

interface Entity {
  readonly index: number;
  readonly text: string;
  /** What it stands for; null where the number is no character. */
  readonly character: string | null;
}

/** The HTML entities in a text. */
function findEntities(text: string): readonly Entity[] {
  return [...text.matchAll(ENTITY)].map((match) => {
    const [whole, decimal, hex, name] = match;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    const character = name === undefined ? characterOf(code) : (NAMED[name] ?? null);
    return { index: match.index, text: whole, character };
  });
}

function characterOf(code: number): string | null {
  return code >= 32 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : null;
}

/** Warns of what would be sent as it stands, and was hardly meant to be. */
export function warnOfText(loc: Loc, place: Place, state: State): void {
  warnOfEntities(loc, place, state);
  warnOfForeignTags(loc, place, state);
}

/** In a text channel nothing turns an entity into its character. */
function warnOfEntities(loc: Loc, place: Place, state: State): void {
  if (state.escape !== 'none') return;
  for (const { index, text, character } of findEntities(slice(place.located, loc))) {
    const found = locOf(place.located, offsetOf(place.located, loc.start) + index, text.length);
    const hint = character === null ? 'Write the character itself.' : `Write "${character}".`;
    report(
      state,
      warning('html-entity', `"${text}" would be sent as it stands.`, { ...at(place.located, found), hint }),
    );
  }
}

/**
 * A name as other tools write it: `{name}`, `${name}`, `%name%`. Two braces are this tool's own, escaped. A percent sign
 * may end one number and begin a name, so that it is looked behind.
 */
const FOREIGN = /(?<!\{)\$?\{([^{}\r\n]{1,100})\}(?!\})|%(?=([^%\r\n]{1,100})%)/g;

/** Warns of a column in the brackets of another tool; of other words in them nothing is known. */
function warnOfForeignTags(loc: Loc, place: Place, state: State): void {
  for (const { index, 0: first, 1: braced, 2: percent } of slice(place.located, loc).matchAll(FOREIGN)) {
    const column = columnLike(braced?.trim() ?? percent ?? '', place, state);
    if (column === null) continue;
    const written = percent === undefined ? first : `%${percent}%`;
    const found = locOf(place.located, offsetOf(place.located, loc.start) + index, written.length);
    const hint = `Did you mean ${columnTag(column)}?`;
    const message = `"${written}" would be sent as it stands.`;
    report(state, warning('foreign-tag', message, { ...at(place.located, found), hint }));
  }
}

/** The column that a word names, or what a partial was given under it; null: neither. */
function columnLike(word: string, { scope }: Place, { columns }: State): string | null {
  if (columns.has(word) || scope.has(word)) return word;
  const lower = word.toLowerCase();
  return [...columns, ...scope.keys()].find((name) => name.toLowerCase() === lower) ?? null;
}

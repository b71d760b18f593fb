import { warning } from '../errors.ts';
import type { Loc } from './ast.ts';
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

/** Warns of every entity in what stands at a place: in a text channel nothing turns it into its character. */
export function warnOfEntities(loc: Loc, place: Place, state: State): void {
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

import { createRequire } from 'node:module';
import { warning } from '../errors.ts';
import { onDemand } from '../util/on-demand.ts';
import type { Loc } from './ast.ts';
import { columnTag } from './names.ts';
import { at, locOf, offsetOf, slice } from './position.ts';
import { type Place, report } from './state.ts';

/** Its table of 2,200 names is not needed for most templates. */
const decoder = onDemand(() => createRequire(import.meta.url)('entities/decode') as typeof import('entities/decode'));

const ENTITY = /&(?:#\d+|#[xX][\da-fA-F]+|[A-Za-z][A-Za-z\d]*);/g;
/** Characters that a hint cannot show: controls, and the replacement character. */
const INVISIBLE = /[\p{Cc}\ufffd]/u;

export function warnOfText(loc: Loc, place: Place): void {
  warnOfEntities(loc, place);
  warnOfForeignTags(loc, place);
}

function warnOfEntities(loc: Loc, place: Place): void {
  if (place.state.escape !== 'none') return;
  for (const { index, text, hint } of entitiesIn(slice(place.located, loc))) {
    const found = locOf(place.located, offsetOf(place.located, loc.start) + index, text.length);
    report(place, warning('html-entity', `"${text}" would be sent literally.`, { ...at(place.located, found), hint }));
  }
}

type Entity = { readonly index: number; readonly text: string; readonly hint: string };

function* entitiesIn(text: string): Generator<Entity> {
  for (const { index, 0: written } of text.matchAll(ENTITY)) {
    const character = decoder().decodeHTMLStrict(written);
    if (character === written) continue; // A name that HTML does not know.
    const hint = INVISIBLE.test(character) ? 'Write the character itself.' : `Write "${character}".`;
    yield { index, text: written, hint };
  }
}

/** Such as `&ccedil;`; null: there is none. */
export function entityIn(value: string): Entity | null {
  return value.includes('&') ? (entitiesIn(value).next().value ?? null) : null;
}

/** `{name}`, `${name}`, `%name%`. Two braces are handbill's own, escaped. A percent sign may end a number. */
const FOREIGN = /(?<!\{)\$?\{([^{}\r\n]{1,100})\}(?!\})|%(?=([^%\r\n]{1,100})%)/g;

/** Only words that are columns count: nothing is known of others in these brackets. */
function warnOfForeignTags(loc: Loc, place: Place): void {
  for (const { index, 0: first, 1: braced, 2: percent } of slice(place.located, loc).matchAll(FOREIGN)) {
    const column = columnLike(braced?.trim() ?? percent ?? '', place);
    const isOfProvider = /^(?:secret|var)\.\w/.test(braced?.trim() ?? '');
    if (column === null && !isOfProvider) continue;
    const written = percent === undefined ? first : `%${percent}%`;
    const found = locOf(place.located, offsetOf(place.located, loc.start) + index, written.length);
    const hint = column === null ? 'Only provider files have such values.' : `Did you mean ${columnTag(column)}?`;
    const message = `"${written}" would be sent literally.`;
    report(place, warning('foreign-tag', message, { ...at(place.located, found), hint }));
  }
}

/** Null: neither a column nor a given value. */
function columnLike(word: string, { scope, state: { columns } }: Place): string | null {
  if (columns.has(word) || scope.has(word)) return word;
  const lower = word.toLowerCase();
  return [...columns, ...scope.keys()].find((name) => name.toLowerCase() === lower) ?? null;
}

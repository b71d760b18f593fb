import { createRequire } from 'node:module';
import { problem, warning } from '../errors.ts';
import { onDemand } from '../util/on-demand.ts';
import type { Loc } from './ast.ts';
import { columnTag } from './names.ts';
import { at, locOf, offsetOf, slice } from './position.ts';
import { type Place, report } from './state.ts';

/** Its table of 2,200 names is not needed for most templates. */
const decoder = onDemand(() => createRequire(import.meta.url)('entities/decode') as typeof import('entities/decode'));

const ENTITY = /&(?:#\d+|#[xX][\da-fA-F]+|[A-Za-z][A-Za-z\d]*);/g;
/** Tags of HTML that format a text. `<3`, `<name>` and `<b` are none, nor is `<p>` between tags of spoken text (SSML). */
const TAG = /<\/?(?:br|b|i|u|p|a|em|strong|span|div|font|ul|ol|li|h[1-6])(?:\s[^<>]{0,500})?\/?>/gi;
/** Characters that a hint cannot show: controls, and the replacement character. */
const INVISIBLE = /[\p{Cc}\ufffd]/u;

export function warnOfText(loc: Loc, place: Place): void {
  refuseConflicts(loc, place);
  warnOfEntities(loc, place);
  warnOfForeignTags(loc, place);
}

/** Lines that git writes where two branches changed the same text. */
const CONFLICT = /^(?:<{7}|>{7}|\|{7})(?: .*)?$/gm;

function refuseConflicts(loc: Loc, place: Place): void {
  for (const { index, 0: mark } of slice(place.located, loc).matchAll(CONFLICT)) {
    const found = locOf(place.located, offsetOf(place.located, loc.start) + index, mark.length);
    const message = `"${mark.trimEnd()}" is the mark of a merge conflict.`;
    report(
      place,
      problem('template-syntax', message, { ...at(place.located, found), hint: 'Keep one of the two texts.' }),
    );
  }
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
  for (const { index, 0: written } of text.includes('<speak') ? [] : text.matchAll(TAG)) {
    yield { index, text: written, hint: /^<(?:br|\/p)\b/i.test(written) ? 'Write a line end.' : 'Remove the tag.' };
  }
  for (const { index, 0: written } of text.matchAll(ENTITY)) {
    const character = decoder().decodeHTMLStrict(written);
    if (character === written) continue; // A name that HTML does not know.
    const hint = INVISIBLE.test(character) ? 'Write the character itself.' : `Write "${character}".`;
    yield { index, text: written, hint };
  }
}

/** Such as `&ccedil;` or `<br>`; null: there is none. */
export function entityIn(value: string): Entity | null {
  return entitiesIn(value).next().value ?? null;
}

/** Such as `*|FNAME|*` or `{{name}}` in a value, which the program that wrote it did not fill in; null: there is none. */
export function placeholderIn(value: string): string | null {
  return /\{\{[^{}\r\n]{1,100}\}\}/.exec(value)?.[0] ?? value.match(CERTAIN)?.[0] ?? null;
}

/** `{name}`, `${name}`, `%name%`, `[name]`, `«name»`, `#name#`, `$name`, `{name|there}`. Two braces are handbill's own, escaped. */
const FOREIGN = new RegExp(
  [
    // A percent sign may end a number.
    String.raw`(?<!\{)[$#@]?\{\$?(?<braced>[^{}\r\n]{1,100})\}(?!\})|%(?=(?<percent>[^%\r\n]{1,100})%)`,
    String.raw`\[(?<square>[^[\]\r\n]{1,100})\]|«(?<angle>[^«»\r\n]{1,100})»|#(?<hash>[^#\r\n]{1,100})#|\$(?<dollar>[\p{L}_][\p{L}\p{N}_]*)`,
  ].join('|'),
  'gu',
);
const WITH_FALLBACK = /^([^|,;:]+)[|,;]/u;
/** Nothing but a place for a value of another program: `*|FNAME|*`, `<%= name %>`, `{% if x %}`, `%%name%%`, `[[name]]`. */
const CERTAIN = new RegExp(
  [
    String.raw`\*\|(?<merge>[^|\r\n]{1,100})\|\*|<%=?(?<embedded>[^%\r\n]{1,100})%>|\{%(?<logic>[^%\r\n]{1,100})%\}`,
    String.raw`%%(?<percent>\w[\w .-]{0,50})%%|%recipient\.(?<recipient>[\w.]{1,50})%|\[\[(?<square>\w[\w .-]{0,50})\]\]`,
    String.raw`[$#]\{(?<path>[a-z_]\w*(?:\.\w+)+)\}|\uff5b{2,3}(?<wide>[^\uff5b\uff5d\r\n]{1,100})\uff5d{2,3}`,
  ].join('|'),
  'gi',
);

/** Words in the brackets of other programs count if they are columns, or if no text has such brackets. */
function warnOfForeignTags(loc: Loc, place: Place): void {
  const said = (index: number, written: string, column: string | null, other: string): void => {
    const found = locOf(place.located, offsetOf(place.located, loc.start) + index, written.length);
    const hint = column === null ? other : `Did you mean ${columnTag(column)}?`;
    const message = `"${written}" would be sent literally.`;
    report(place, warning('foreign-tag', message, { ...at(place.located, found), hint }));
  };
  const text = slice(place.located, loc);
  for (const { index, 0: written, groups } of text.matchAll(CERTAIN)) {
    said(index, written, columnLike(wordIn(groups), place), 'handbill fills in {{column}} only.');
  }
  const others = text.replace(CERTAIN, (written) => ' '.repeat(written.length));
  for (const { index, 0: first, groups = {} } of others.matchAll(FOREIGN)) {
    const { braced, percent } = groups;
    const word = wordIn(groups);
    const column = columnLike(word, place) ?? columnLike(WITH_FALLBACK.exec(word)?.[1]?.trim() ?? '', place);
    const isOfProvider = /^(?:secret|var)\.\w/.test(braced?.trim() ?? '');
    if (column === null && !isOfProvider) continue;
    said(index, percent === undefined ? first : `%${percent}%`, column, 'Only provider files have such values.');
  }
}

/** Only one of the groups has matched. */
function wordIn(groups: RegExpExecArray['groups'] = {}): string {
  return Object.values(groups).join('').trim();
}

/** Null: neither a column nor a given value. */
function columnLike(word: string, { scope, state: { columns } }: Place): string | null {
  if (columns.has(word) || scope.has(word)) return word;
  const like = [/(?!)/g, /[\s_.-]/g].map((left) => {
    const bare = (name: string): string => name.toLowerCase().replace(left, '');
    return [...columns, ...scope.keys()].find((name) => bare(name) === bare(word));
  });
  return word === '' ? null : (like[0] ?? like[1] ?? null);
}

/** Replacement, then the characters that it stands for; escaped where one cannot see them. */
const GROUPS: readonly (readonly [to: string, from: string])[] = [
  ['"', '«»“”„‟″‶\u02ba\u02ee❝❞〝〞〟'],
  ["'", '‘’‛′‵`´\u02b9\u02bb\u02bc\u02bd\u02c8\u02ca\u02cb❛❜'],
  ['-', '\u2010\u2011‒–—―−⁃•\u23bc\u23bd\ufe58'],
  ['...', '…'],
  ['!!', '‼'],
  ['!', 'ǃ\ufe15'],
  ['1/4', '¼'],
  ['1/2', '½'],
  ['3/4', '¾'],
  ['x', '×'],
  ['/', '÷⁄∕⧸'],
  ['\\', '⧵⧹'],
  ['_', '‗'],
  ['|', '∣⎸⎹⏐⎜⎟'],
  ['<', '‹'],
  ['>', '›'],
  [',', '‚、\ufe10\ufe11､'],
  ['.', '。｡'],
  [':', 'ː\u02f8⦂꞉\ufe13'],
  [';', '⁏\ufe14'],
  ['?', '\ufe16'],
  ['=', '꞊'],
  ['+', '˖'],
  ['(', '❨❪⟮⦅'],
  [')', '❩❫⟯⦆'],
  ['{', '❴'],
  ['}', '❵'],
  ['^', 'ˆ'],
  ['~', '˜˷∼'],
  ['*', '⁎∗⊛✢✣✤✥✱✲✳✺✻✼✽❃❉❊❋⧆'],
  [' ', '\t\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000'],
  ['', '\u00ad\u200b\u200c\u2060\ufeff'],
];

/** Small forms U+FE50 to U+FE6B that have an ASCII character, in the order of their code points. */
const SMALL_FORMS: readonly (readonly [from: number, to: string])[] = [
  [0xfe50, ','],
  [0xfe51, ','],
  [0xfe52, '.'],
  [0xfe54, ';'],
  [0xfe55, ':'],
  [0xfe56, '?'],
  [0xfe57, '!'],
  [0xfe59, '('],
  [0xfe5a, ')'],
  [0xfe5b, '{'],
  [0xfe5c, '}'],
  [0xfe5f, '#'],
  [0xfe60, '&'],
  [0xfe61, '*'],
  [0xfe62, '+'],
  [0xfe63, '-'],
  [0xfe64, '<'],
  [0xfe65, '>'],
  [0xfe66, '='],
  [0xfe68, '\\'],
  [0xfe69, '$'],
  [0xfe6a, '%'],
  [0xfe6b, '@'],
];

/** Letters that were drawn as small capitals: A, B, C ... Z where Unicode has one. */
const SMALL_CAPITALS = 'ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ';
const CAPITALS = 'ABCDEFGHIJKLMNOPRSTUVWYZ';

/** U+FF01 to U+FF5E are ASCII `!` to `~`, shifted by this much. */
const FULL_WIDTH_SHIFT = 0xfee0;

function lookalikes(): Map<string, string> {
  const map = new Map<string, string>();
  for (const [to, from] of GROUPS) for (const character of from) map.set(character, to);
  for (const [from, to] of SMALL_FORMS) map.set(String.fromCodePoint(from), to);
  for (let i = 0; i < CAPITALS.length; i++) map.set(SMALL_CAPITALS.charAt(i), CAPITALS.charAt(i));
  for (let ascii = 0x21; ascii <= 0x7e; ascii++) {
    // The grave accent is not in GSM-7 either.
    const to = ascii === 0x60 ? "'" : String.fromCharCode(ascii);
    map.set(String.fromCharCode(ascii + FULL_WIDTH_SHIFT), to);
  }
  return map;
}

/**
 * What may stand for a character that GSM-7 lacks. The kinds are those of the "smart encoding" that providers offer,
 * with three differences: every space becomes one space (theirs: two; a tab seven), marks that combine with a letter
 * are left alone (theirs become a loose `~` or `,` after it), and the multiplication sign and the minus sign are here.
 */
export const LOOKALIKES: ReadonlyMap<string, string> = lookalikes();

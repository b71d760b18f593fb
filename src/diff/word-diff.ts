/** A run of words that both texts have, or that one of them has. */
export interface Piece {
  readonly kind: 'same' | 'old' | 'new';
  readonly text: string;
}

/** More words than this are compared only at their beginning and end: the rest counts as written anew. */
const MAX_WORDS = 20_000;
/** Insertions and deletions after which two texts count as different altogether; bounds time and memory. */
const MAX_EDITS = 1_000;

/**
 * What changed between two texts, word by word. A Handlebars tag is one word, so that it changes as a whole; so is
 * each sign and each stretch of white space.
 */
export function wordDiff(before: string, after: string): readonly Piece[] {
  const old = wordsOf(before);
  const now = wordsOf(after);
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  const most = Math.min(old.length, now.length) - start;
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const middle = edits(old.slice(start, old.length - end), now.slice(start, now.length - end));
  return tidy([
    { kind: 'same', text: old.slice(0, start).join('') },
    ...middle,
    { kind: 'same', text: old.slice(old.length - end).join('') },
  ]);
}

function wordsOf(text: string): readonly string[] {
  return text.match(/\{\{\{?[^{}]*\}?\}\}|\s+|[\p{L}\p{M}\p{N}_]+|[^\s]/gu) ?? [];
}

/** Myers' O(ND) algorithm, given up where the texts have little in common. */
function edits(old: readonly string[], now: readonly string[]): readonly Piece[] {
  const rewritten: readonly Piece[] = [
    { kind: 'old', text: old.join('') },
    { kind: 'new', text: now.join('') },
  ];
  if (old.length === 0 || now.length === 0 || old.length + now.length > MAX_WORDS) return rewritten;
  const trace = forwards(old, now);
  return trace === null ? rewritten : backwards(old, now, trace);
}

/** How far each diagonal reaches after each number of edits; null where there are too many. */
function forwards(old: readonly string[], now: readonly string[]): readonly Int32Array[] | null {
  const most = Math.min(old.length + now.length, MAX_EDITS);
  const reach = new Int32Array(2 * most + 3);
  const trace: Int32Array[] = [];
  for (let d = 0; d <= most; d += 1) {
    trace.push(reach.slice(most + 1 - d - 1, most + 1 + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const at = most + 1 + k;
      const down = k === -d || (k !== d && (reach[at - 1] ?? 0) < (reach[at + 1] ?? 0));
      let x = down ? (reach[at + 1] ?? 0) : (reach[at - 1] ?? 0) + 1;
      while (x < old.length && x - k < now.length && old[x] === now[x - k]) x += 1;
      reach[at] = x;
      if (x >= old.length && x - k >= now.length) return trace;
    }
  }
  return null;
}

function backwards(old: readonly string[], now: readonly string[], trace: readonly Int32Array[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let x = old.length;
  let y = now.length;
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const reach = trace[d] ?? new Int32Array();
    const of = (k: number): number => reach[k + d + 1] ?? 0;
    const k = x - y;
    const down = k === -d || (k !== d && of(k - 1) < of(k + 1));
    const fromX = d === 0 ? 0 : down ? of(k + 1) : of(k - 1);
    const fromY = d === 0 ? 0 : fromX - (down ? k + 1 : k - 1);
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      pieces.push({ kind: 'same', text: old[x] ?? '' });
    }
    if (d === 0) break;
    if (down) pieces.push({ kind: 'new', text: now[--y] ?? '' });
    else pieces.push({ kind: 'old', text: old[--x] ?? '' });
  }
  return pieces.reverse();
}

/** Joins what belongs together: what is old before what is new, and no blank between two changes that stands alone. */
function tidy(pieces: readonly Piece[]): readonly Piece[] {
  const joined: Piece[] = [];
  let old = '';
  let now = '';
  const flush = (): void => {
    if (old !== '') joined.push({ kind: 'old', text: old });
    if (now !== '') joined.push({ kind: 'new', text: now });
    old = '';
    now = '';
  };
  for (const [index, { kind, text }] of pieces.entries()) {
    if (kind === 'old') old += text;
    else if (kind === 'new') now += text;
    else if (text === '') continue;
    else if (/^[^\S\n]+$/.test(text) && old !== '' && now !== '' && changesAfter(pieces, index)) {
      old += text;
      now += text;
    } else {
      flush();
      const last = joined.at(-1);
      if (last?.kind === 'same') joined[joined.length - 1] = { kind, text: last.text + text };
      else joined.push({ kind, text });
    }
  }
  flush();
  return joined;
}

/** What follows is again something old and something new, so that the two changes read as one. */
function changesAfter(pieces: readonly Piece[], index: number): boolean {
  const kinds = new Set<Piece['kind']>();
  for (const { kind, text } of pieces.slice(index + 1, index + 50)) {
    if (kind === 'same' && text !== '') break;
    kinds.add(kind);
  }
  return kinds.has('old') && kinds.has('new');
}

/** Characters around a change that are shown; the rest of a long text is left out. */
const AROUND = 40;
/** Characters of one change, old or new. */
const MAX_CHANGE = 300;
const MAX_SHAPE = 1_200;

/** The change in one line, as git's `--word-diff` writes it: `[-Hello-]{+Hi+} {{name}}`. */
export function shapeOf(before: string, after: string): string {
  const pieces = wordDiff(before, after);
  const shown = pieces.map(({ kind, text }, index) => {
    if (kind === 'same') return around(text, index === 0, index === pieces.length - 1);
    return kind === 'old' ? `[-${cutAt(text, MAX_CHANGE)}-]` : `{+${cutAt(text, MAX_CHANGE)}+}`;
  });
  return cutAt(shown.join(''), MAX_SHAPE);
}

function around(text: string, first: boolean, last: boolean): string {
  if (text.length <= AROUND * 2) return text;
  const head = first ? '' : wholeCharacters(text.slice(0, AROUND));
  const tail = last ? '' : wholeCharacters(text.slice(-AROUND));
  return `${head}…${tail}`;
}

function cutAt(text: string, most: number): string {
  return text.length <= most ? text : `${wholeCharacters(text.slice(0, most))}…`;
}

/** Without half a character at either end. */
function wholeCharacters(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
}

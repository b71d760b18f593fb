import { type PreviewNode, type RowView, rowNode } from '../preview/nodes.ts';
import { type Rows, readRows } from './preview-data.ts';
import { createFilters, findAll } from './preview-find.ts';
import { createList, elementOf } from './preview-list.ts';

/** Replaces the first rows by all rows: a list to search, and the message of the chosen recipient. */
async function browse(): Promise<void> {
  const parts = partsOf();
  const { query, filterBox, narrow, count, box, detail } = parts;
  parts.first.hidden = true;
  parts.browse.hidden = false;
  count.textContent = 'Reading …';
  const rows = await readRows(document);
  let hits = new Uint32Array();
  let searches = 0;
  let compares = false;
  const { number } = rows;
  const list = createList(rows, box, (place) => choose(place));
  const filters = createFilters(rows, filterBox, () => void search());
  narrow.hidden = filterBox.childElementCount === 0;

  async function search(line: number | null = chosenLine()): Promise<void> {
    searches += 1;
    const own = searches;
    box.setAttribute('aria-busy', 'true');
    const found = await findAll(rows, query.value, filters.accepted(), () => own === searches);
    if (found === null) return;
    hits = found;
    count.textContent = countText(found.length, rows.count, list.most, number);
    list.show(hits);
    choose(line === null ? firstSent(rows, hits) : Math.max(0, placeOf(rows, hits, line)));
    box.setAttribute('aria-busy', 'false');
  }
  function choose(place: number): void {
    const last = Math.min(hits.length, list.most) - 1;
    const at = Math.max(0, Math.min(place, last));
    parts.previous.toggleAttribute('disabled', last < 0 || at === 0);
    parts.next.toggleAttribute('disabled', at >= last);
    parts.place.textContent = last < 0 ? '' : `${number(at + 1)} of ${number(hits.length)}`;
    if (hits.length === 0) {
      detail.replaceChildren(elementOf(['soft', rows.count === 0 ? 'No row.' : 'No match.']));
    } else {
      list.choose(at);
      void show();
    }
    remember();
  }
  async function show(): Promise<void> {
    const row = hits[list.chosen()];
    if (row === undefined) return;
    const isWanted = () => hits[list.chosen()] === row;
    const view = await rows.view(row);
    const beside = compares ? [await compared(rows, row, view)] : undefined;
    const [, , , , ...cells] = rows.fields(row);
    // The user may have chosen another recipient meanwhile.
    if (isWanted()) fill(detail, rowNode(view, view.bodies, rows.about, cells, beside));
  }
  /** Clears a search that excludes the row. */
  async function goTo(line: number): Promise<void> {
    if (placeOf(rows, hits, line) !== -1) return choose(placeOf(rows, hits, line));
    query.value = '';
    filters.choose({});
    await search(line);
  }
  function chosenLine(): number | null {
    const row = hits[list.chosen()];
    return row === undefined ? null : rows.line(row);
  }
  /** The view of the reader, in the fragment of the address. */
  const remember = later(() => {
    const [line, q] = [chosenLine(), query.value];
    const view = {
      ...(q && { q }),
      ...filters.chosen(),
      ...(line && { line: String(line) }),
      ...(compares && { compare: '1' }),
    };
    const hash = new URLSearchParams(view).toString();
    // Adds no history entry: going back leaves the page.
    history.replaceState(null, '', `${location.pathname}${location.search}${hash && `#${hash}`}`);
  });
  async function restore(): Promise<void> {
    const view = new URLSearchParams(location.hash.slice(1));
    const line = Number(view.get('line'));
    query.value = view.get('q') ?? '';
    filters.choose(Object.fromEntries(view));
    if (Object.keys(filters.chosen()).length > 0) narrow.open = true;
    setCompares(view.has('compare') && !parts.compare.hidden);
    await search(Number.isSafeInteger(line) && line > 0 ? line : null);
  }
  function setCompares(on: boolean): void {
    compares = on;
    parts.compare.setAttribute('aria-pressed', String(on));
  }

  query.addEventListener('input', () => void search());
  globalThis.addEventListener('hashchange', () => void restore());
  const move = (step: number) => choose(list.chosen() + step);
  parts.previous.addEventListener('click', () => move(-1));
  parts.next.addEventListener('click', () => move(1));
  for (const [button, line] of [
    [parts.longest, lineIn(rows, rows.about.longest)],
    [parts.mostExpensive, lineIn(rows, rows.about.mostExpensive)],
    [parts.firstWarning, firstWarning(rows)],
  ] as const) {
    button.hidden = line === null;
    if (line !== null) button.addEventListener('click', () => void goTo(line));
  }
  parts.compare.hidden = variantsIn(rows).length < 2;
  parts.compare.addEventListener('click', () => {
    setCompares(!compares);
    void show();
    remember();
  });
  listenToSwipes(detail, move);
  listenToKeys(parts, { move, clear: () => void search(), page: list.page });
  await restore();
  // Prepares the search while the user does not type, a block at a time.
  for (const block of rows.blocks) {
    block.searched();
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

function partsOf() {
  return {
    browse: part('browse', HTMLElement),
    first: part('first', HTMLElement),
    query: part('query', HTMLInputElement),
    filterBox: part('filters', HTMLElement),
    narrow: part('narrow', HTMLDetailsElement),
    count: part('count', HTMLElement),
    box: part('list', HTMLElement),
    detail: part('detail', HTMLElement),
    place: part('place', HTMLElement),
    previous: part('previous', HTMLElement),
    next: part('next', HTMLElement),
    longest: part('longest', HTMLElement),
    mostExpensive: part('most-expensive', HTMLElement),
    firstWarning: part('first-warning', HTMLElement),
    compare: part('compare', HTMLElement),
    help: part('help', HTMLDetailsElement),
  };
}

function part<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`The page has no ${id}.`);
}

function fill(detail: HTMLElement, node: PreviewNode): void {
  const open = [...detail.querySelectorAll('details')].map((fold) => fold.open);
  detail.replaceChildren(elementOf(node));
  detail.scrollTop = 0;
  // A reader who has opened the requests keeps them open for the next recipient.
  for (const [i, fold] of [...detail.querySelectorAll('details')].entries()) fold.open = open[i] ?? false;
}

/** The message of each variant, that of another recipient for all but one. */
async function compared(rows: Rows, row: number, view: RowView): Promise<PreviewNode> {
  const own = rows.about.facets[rows.facets(row)]?.variant ?? '';
  const columns = await Promise.all(
    variantsIn(rows).map(async (variant): Promise<PreviewNode> => {
      const at = variant === own ? row : nearest(rows, row, variant);
      const { shown } = variant === own ? view : await rows.view(at);
      const [to = '', key = ''] = rows.fields(at);
      const who = variant === own ? 'this recipient' : `line ${rows.line(at)}, ${to || key}`;
      return ['column', ['name', variant], ['soft', who], ...shown];
    }),
  );
  return ['compare', ...columns];
}

function variantsIn({ about }: Rows): readonly string[] {
  return about.variants.filter((name) => about.facets.some(({ variant }) => variant === name));
}

function nearest(rows: Rows, from: number, variant: string): number {
  const is = rows.about.facets.map((one) => one.variant === variant);
  const fits = (row: number) => row >= 0 && row < rows.count && is[rows.facets(row)] === true;
  for (let far = 1; far < rows.count; far++) {
    if (fits(from + far)) return from + far;
    if (fits(from - far)) return from - far;
  }
  return from;
}

function firstSent(rows: Rows, hits: Uint32Array): number {
  const is = rows.about.facets.map(({ decision }) => decision === 'send' || decision === 'defer');
  const place = hits.findIndex((row) => is[rows.facets(row)] === true);
  return Math.max(0, place);
}

function firstWarning(rows: Rows): number | null {
  const has = rows.about.facets.map(({ warnings }) => warnings.length > 0);
  if (!has.includes(true)) return null;
  for (let row = 0; row < rows.count; row++) if (has[rows.facets(row)] === true) return rows.line(row);
  return null;
}

function lineIn(rows: Rows, line: number | null): number | null {
  const all = new Uint32Array(rows.count).map((_, row) => row);
  return line === null || placeOf(rows, all, line) === -1 ? null : line;
}

function countText(found: number, all: number, most: number, number: (value: number) => string): string {
  const cut = found > most ? `; the list shows the first ${number(most)}` : '';
  const rows = `${number(all)} ${all === 1 && found === all ? 'row' : 'rows'}`;
  return `${found === all ? '' : `${number(found)} of `}${rows}${cut}`;
}

/** Least distance across, in pixels, which must also exceed the distance down. */
const SWIPE_PX = 56;

/** A swipe to the left shows the next message, as in a book. */
function listenToSwipes(detail: HTMLElement, move: (step: number) => void): void {
  let from: Touch | null = null;
  detail.addEventListener(
    'touchstart',
    ({ touches, target }) => {
      // Elements that scroll sideways keep their swipes.
      const isFree = target instanceof Element && target.closest('.scroll, iframe') === null;
      from = touches.length === 1 && isFree ? (touches[0] ?? null) : null;
    },
    { passive: true },
  );
  detail.addEventListener('touchend', ({ changedTouches }) => {
    const to = changedTouches[0];
    if (from === null || to === undefined) return;
    const [across, down] = [to.clientX - from.clientX, to.clientY - from.clientY];
    from = null;
    if (Math.abs(across) >= SWIPE_PX && Math.abs(across) > 2 * Math.abs(down)) move(across < 0 ? 1 : -1);
  });
}

/** -1: the line is not among them. */
function placeOf(rows: Rows, hits: Uint32Array, line: number): number {
  return hits.findIndex((row) => rows.line(row) === line);
}

/** Browsers refuse to change the address hundreds of times a minute. */
const REMEMBER_MS = 300;

function later(act: () => void): () => void {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, REMEMBER_MS);
  };
}

type Places = ReturnType<typeof partsOf>;

interface Moves {
  readonly move: (rows: number) => void;
  readonly clear: () => void;
  /** Rows of a page. */
  readonly page: () => number;
}

/** Steps through the list. A key with a modifier is the browser's or a screen reader's. */
function listenToKeys(places: Places, moves: Moves): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (act(event, places, moves)) event.preventDefault();
  });
  places.query.form?.addEventListener('submit', (event) => event.preventDefault());
}

function act({ key }: KeyboardEvent, { query, box, detail, help }: Places, { move, clear, page }: Moves): boolean {
  const { activeElement } = document;
  const isTyping = activeElement instanceof HTMLInputElement || activeElement instanceof HTMLSelectElement;
  // Elements that scroll sideways need their arrow keys.
  const isAnywhere = /^[jk]$/.test(key) || (/^Arrow(?:Left|Right)$/.test(key) && !activeElement?.closest('.scroll'));
  const step = STEPS[key] ?? (PAGES[key] ?? 0) * page();
  if (key === 'Escape') {
    if (activeElement === query && query.value !== '') {
      query.value = '';
      clear();
    } else box.focus();
  } else if (activeElement === query) {
    if (key !== 'ArrowDown' && key !== 'Enter') return false;
    box.focus();
  } else if (isTyping) {
    return false;
  } else if (key === '/') {
    query.focus();
    query.select();
  } else if (key === '?') {
    help.open = !help.open;
    help.querySelector('summary')?.focus();
  } else if (step !== 0 && (activeElement === box || isAnywhere)) {
    move(step);
  } else if (key === 'Enter' && activeElement === box) {
    detail.focus();
  } else {
    return false;
  }
  return true;
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  j: 1,
  k: -1,
  ArrowRight: 1,
  ArrowLeft: -1,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};
const PAGES: Readonly<Record<string, number>> = { PageDown: 1, PageUp: -1 };

/** Older browsers show the page as it is without the script. */
if ('DecompressionStream' in globalThis && document.getElementById('browse') !== null) void browse();

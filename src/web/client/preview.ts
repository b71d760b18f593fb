import { columnsNode, type PreviewNode, requestNode } from '../preview/nodes.ts';
import { type Rows, readRows } from './preview-data.ts';
import { createFilters, FILTER_NAMES, findAll } from './preview-find.ts';
import { createList, elementOf } from './preview-list.ts';

/** Replaces the first rows by all rows: a list to search, and the message of the chosen recipient. */
async function browse(): Promise<void> {
  const parts = partsOf();
  if (parts === null) return;
  const { browser, first, query, filterBox, count, box, detail } = parts;
  first.hidden = true;
  browser.hidden = false;
  count.textContent = 'Reading …';
  const rows = await readRows(document);
  let hits = new Uint32Array();
  let searches = 0;
  const list = createList(rows, box, (place) => choose(place));
  const filters = createFilters(rows, filterBox, () => void search());

  async function search(line: number | null = chosenLine()): Promise<void> {
    searches += 1;
    const own = searches;
    box.setAttribute('aria-busy', 'true');
    const found = await findAll(rows, query.value, filters.accepted(), () => own === searches);
    if (found === null) return;
    hits = found;
    count.textContent = countText(found.length, rows.count, list.most);
    list.show(hits);
    const place = line === null ? 0 : Math.max(0, placeOf(rows, hits, line));
    choose(place);
    box.setAttribute('aria-busy', 'false');
  }
  function choose(place: number): void {
    if (hits.length === 0) {
      detail.replaceChildren(elementOf(['soft', rows.count === 0 ? 'No row.' : 'No match.']));
      remember();
      return;
    }
    list.choose(Math.max(0, Math.min(place, hits.length - 1, list.most - 1)));
    void show();
    remember();
  }
  async function show(): Promise<void> {
    const row = hits[list.chosen()];
    if (row === undefined) return;
    const view = await rows.view(row);
    // The user may have chosen another recipient meanwhile.
    if (hits[list.chosen()] === row) fill(detail, rows, row, view);
  }
  function chosenLine(): number | null {
    const row = hits[list.chosen()];
    return row === undefined ? null : rows.line(row);
  }
  const remember = later(() => {
    const state = { query: query.value, filters: filters.chosen(), line: chosenLine() };
    // Without a mark in the history: going back leaves the page.
    history.replaceState(null, '', `${location.pathname}${location.search}${writeState(state)}`);
  });
  async function restore(): Promise<void> {
    const state = readState(location.hash, FILTER_NAMES);
    query.value = state.query;
    filters.choose(state.filters);
    await search(state.line);
  }

  query.addEventListener('input', () => void search());
  globalThis.addEventListener('hashchange', () => void restore());
  listenToKeys(
    { query, box, detail },
    { choose, clear: () => void search(), chosen: list.chosen, page: list.page, count: () => hits.length },
  );
  await restore();
  await foldAhead(rows);
}

interface PageParts {
  readonly browser: HTMLElement;
  readonly first: HTMLElement;
  readonly query: HTMLInputElement;
  readonly filterBox: HTMLElement;
  readonly count: HTMLElement;
  readonly box: HTMLElement;
  readonly detail: HTMLElement;
}

/** The parts of the page that the script needs; null if the page shows no rows. */
function partsOf(): PageParts | null {
  const [browser, first, query, filterBox, count, box, detail] = PARTS.map((id) => document.getElementById(id));
  if (!browser || !first || !(query instanceof HTMLInputElement) || !filterBox || !count || !box || !detail)
    return null;
  return { browser, first, query, filterBox, count, box, detail };
}

const PARTS = ['browse', 'first', 'query', 'filters', 'count', 'list', 'detail'];

function fill(detail: HTMLElement, rows: Rows, row: number, view: Awaited<ReturnType<Rows['view']>>): void {
  const [, , , ...cells] = rows.fields(row);
  const { columns, url } = rows.about;
  const requests = view.requests.map((name, i) => requestNode(name, url, view.bodies[i] ?? ''));
  const more: readonly PreviewNode[] = [...columnsNode(columns, cells), ...requests];
  const open = [...detail.querySelectorAll('details')].map((fold) => fold.open);
  const element = elementOf(view.node);
  if (element instanceof Element) element.append(...more.map(elementOf));
  detail.replaceChildren(element);
  detail.scrollTop = 0;
  // A reader who has opened the requests keeps them open for the next recipient.
  for (const [i, fold] of [...detail.querySelectorAll('details')].entries()) fold.open = open[i] ?? false;
}

function countText(found: number, all: number, most: number): string {
  const [hits, of] = [found.toLocaleString('en-GB'), all.toLocaleString('en-GB')];
  const cut = found > most ? `; the list shows the first ${most.toLocaleString('en-GB')}` : '';
  return found === all ? `${of} ${all === 1 ? 'row' : 'rows'}${cut}` : `${hits} of ${of} rows${cut}`;
}

/** Rows and their lines both rise; -1 where the line is not among them. */
function placeOf(rows: Rows, hits: Uint32Array, line: number): number {
  let [low, high] = [0, hits.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const at = rows.line(hits[middle] ?? 0);
    if (at === line) return middle;
    if (at < line) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
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

/** Prepares the search while the user does not type, a block at a time. */
async function foldAhead(rows: Rows): Promise<void> {
  for (const block of rows.blocks) {
    block.searched();
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

interface Places {
  readonly query: HTMLInputElement;
  readonly box: HTMLElement;
  readonly detail: HTMLElement;
}

interface Moves {
  readonly choose: (place: number) => void;
  /** The search was emptied. */
  readonly clear: () => void;
  readonly chosen: () => number;
  readonly page: () => number;
  readonly count: () => number;
}

/** Steps through the list. A key with a modifier is the browser's or a screen reader's. */
function listenToKeys({ query, box, detail }: Places, moves: Moves): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (act(event, { query, box, detail }, moves)) event.preventDefault();
  });
  query.form?.addEventListener('submit', (event) => event.preventDefault());
}

/** Whether the key had an action. */
function act(event: KeyboardEvent, { query, box, detail }: Places, moves: Moves): boolean {
  const { key } = event;
  const { activeElement } = document;
  const isTyping = activeElement instanceof HTMLInputElement || activeElement instanceof HTMLSelectElement;
  if (key === 'Escape') return stepBack({ query, box, detail }, moves);
  if (activeElement === query) {
    if (key !== 'ArrowDown' && key !== 'Enter') return false;
    box.focus();
    return true;
  }
  if (isTyping) return false;
  if (key === '/') {
    query.focus();
    query.select();
    return true;
  }
  const step = STEPS[key];
  if (step !== undefined && (activeElement === box || key === 'j' || key === 'k')) {
    moves.choose(step(moves));
    return true;
  }
  if (key !== 'Enter' || activeElement !== box) return false;
  detail.focus();
  return true;
}

const STEPS: Readonly<Record<string, (moves: Moves) => number>> = {
  ArrowDown: ({ chosen }) => chosen() + 1,
  ArrowUp: ({ chosen }) => chosen() - 1,
  j: ({ chosen }) => chosen() + 1,
  k: ({ chosen }) => chosen() - 1,
  PageDown: ({ chosen, page }) => chosen() + page(),
  PageUp: ({ chosen, page }) => chosen() - page(),
  Home: () => 0,
  End: ({ count }) => count() - 1,
};

function stepBack({ query, box }: Places, { clear }: Moves): boolean {
  if (document.activeElement === query && query.value === '') {
    box.focus();
    return true;
  }
  if (document.activeElement !== query) {
    box.focus();
    return true;
  }
  query.value = '';
  clear();
  return true;
}

/** What the user is looking at, as the fragment of the address keeps it. */
interface State {
  readonly query: string;
  /** Chosen values, by the name of what is filtered. */
  readonly filters: Readonly<Record<string, string>>;
  /** Line of the chosen row; null: the first one. */
  readonly line: number | null;
}

function readState(hash: string, names: readonly string[]): State {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  const line = Number(given.get('line') ?? '');
  const filters = names.flatMap((name) => {
    const value = given.get(name);
    return value === null || value === '' ? [] : [[name, value] as const];
  });
  return {
    query: given.get('q') ?? '',
    filters: Object.fromEntries(filters),
    line: Number.isSafeInteger(line) && line > 0 ? line : null,
  };
}

function writeState({ query, filters, line }: State): string {
  const given = new URLSearchParams();
  if (query !== '') given.set('q', query);
  for (const [name, value] of Object.entries(filters)) if (value !== '') given.set(name, value);
  if (line !== null) given.set('line', String(line));
  return given.size === 0 ? '' : `#${given.toString()}`;
}

/** Older browsers show the page as it is without the script. */
if ('DecompressionStream' in globalThis) void browse();

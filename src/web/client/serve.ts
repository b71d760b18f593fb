/** The shortest time between two announcements to screen readers, so that the page can also be read. */
const SAY_EVERY_MS = 10_000;

/** Keeps a visible page up to date. A hidden tab closes its connection: a browser allows six for each server. */
function follow(address: string): void {
  const say = createSayer();
  let source: EventSource | null = null;
  const open = (): void => {
    if (source !== null) return;
    source = new EventSource(address);
    source.addEventListener('open', () => show('live', 'Live'));
    source.addEventListener('error', () => show('lost', 'Connecting again'));
    source.addEventListener('trouble', (event) =>
      show('lost', String((JSON.parse(event.data) as { text: string }).text)),
    );
    source.addEventListener('parts', (event) => {
      show('live', 'Live');
      const { parts, said } = JSON.parse(event.data) as { parts: [id: string, markup: string][]; said: string };
      for (const [id, markup] of parts) put(id, markup);
      say(said);
    });
  };
  const close = (): void => {
    source?.close();
    source = null;
  };
  const look = (): void => (document.visibilityState === 'hidden' ? close() : open());
  document.addEventListener('visibilitychange', look);
  // A page in the back-forward cache has no connection: it reconnects when it is shown again.
  addEventListener('pagehide', close);
  addEventListener('pageshow', look);
  look();
}

function put(id: string, markup: string): void {
  const old = document.getElementById(id);
  const fresh = new DOMParser().parseFromString(markup, 'text/html').body.firstElementChild;
  // The address leads to another page by now, such as an error page.
  if (old === null || fresh === null) {
    location.reload();
    return;
  }
  const row = document.activeElement?.closest('tr')?.id;
  morph(old, fresh);
  hideDecided();
  countChosen();
  // A row that has moved is a new element.
  if (row && document.activeElement === document.body) focusOn(document.getElementById(row));
}

function focusOn(row: Element | null | undefined): void {
  row?.querySelector('a')?.focus({ preventScroll: true });
  row?.scrollIntoView({ block: 'nearest' });
}

function show(state: 'live' | 'lost', text: string): void {
  const place = document.getElementById('live');
  if (place === null) return;
  place.hidden = false;
  place.dataset['state'] = state;
  if (place.textContent !== text) place.textContent = text;
}

/** Announces changes politely: the last of several in quick succession. */
function createSayer(): (text: string) => void {
  let saidMs = 0;
  let timer: number | undefined;
  return (text) => {
    const place = document.getElementById('said');
    if (place === null || place.textContent === text) return;
    clearTimeout(timer);
    const wait = Math.max(0, saidMs + SAY_EVERY_MS - performance.now());
    timer = setTimeout(() => {
      saidMs = performance.now();
      place.textContent = text;
    }, wait);
  };
}

/** Turns an element into a new version: unchanged parts keep focus, scroll position and text. Parses no markup. */
function morph(old: Element, fresh: Element): void {
  attributes(old, fresh);
  const rest = [...old.childNodes];
  for (const wanted of [...fresh.childNodes]) {
    const known = rest[0];
    if (known !== undefined && isLike(known, wanted)) {
      rest.shift();
      if (known instanceof Element && wanted instanceof Element) morph(known, wanted);
      else if (known.nodeValue !== wanted.nodeValue && !answering.has(known)) known.nodeValue = wanted.nodeValue;
      continue;
    }
    // New rows push others down: finds them by their links.
    const further = rest.findIndex((node) => node instanceof Element && nameOf(wanted) !== '' && isLike(node, wanted));
    if (further > 0) {
      for (const gone of rest.splice(0, further)) gone.remove();
      const found = rest.shift();
      if (found instanceof Element && wanted instanceof Element) morph(found, wanted);
      continue;
    }
    old.insertBefore(document.importNode(wanted, true), known ?? null);
  }
  for (const gone of rest) gone.remove();
}

/** A person has opened, typed or chosen these. */
const KEPT = new Set(['open', 'value', 'checked']);

function attributes(old: Element, fresh: Element): void {
  const isField = old instanceof HTMLInputElement && old.type !== 'hidden';
  const keeps = (name: string): boolean => KEPT.has(name) && (name === 'open' || isField);
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !keeps(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) {
    if (!keeps(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
}

/** Matches rows of a table by link, fields by label, anything else by kind. */
function isLike(a: Node, b: Node): boolean {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName && nameOf(a) === nameOf(b);
}

function nameOf(node: Node): string {
  if (!(node instanceof Element)) return '';
  const named = node.id || node.getAttribute('aria-labelledby');
  if (named) return named;
  // Matches a checkbox by name and value, so that a choice never moves to another row.
  if (node instanceof HTMLInputElement) return `${node.name}=${node.getAttribute('value') ?? ''}`;
  if (node.nodeName !== 'TR') return '';
  return (
    node.querySelector('a[href]')?.getAttribute('href') ??
    node.querySelector('[data-key]')?.getAttribute('data-key') ??
    ''
  );
}

const main = document.querySelector<HTMLElement>('main[data-events]');
const address = main?.dataset['events'];
if (address !== undefined && 'EventSource' in globalThis) follow(address);

/** Ignores keys while a person types, and keys of the browser. */
function listenToKeys(): void {
  const dialog = document.querySelector<HTMLDialogElement>('#keys');
  const hint = document.querySelector<HTMLElement>('.keys-hint');
  const toggle = (): void => (dialog?.open ? dialog.close() : dialog?.showModal());
  if (hint !== null && dialog !== null) hint.hidden = false;
  document.getElementById('show-keys')?.addEventListener('click', toggle);
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const { activeElement } = document;
    const isTyping = activeElement instanceof HTMLElement && activeElement.matches('input, select, textarea');
    if (isTyping && event.key === 'Escape') activeElement.blur();
    if (isTyping) return;
    if (event.key === '?') toggle();
    else if (dialog?.open) return;
    else if (event.key === '/') search();
    else if (event.key === 'j' || event.key === 'k') step(event.key === 'j' ? 1 : -1);
    else if (!press(event.key)) return;
    event.preventDefault();
  });
}

function search(): void {
  const field = document.querySelector<HTMLInputElement>('main input[type=search]');
  field?.focus();
  field?.select();
}

function step(by: number): void {
  const rows = [...document.querySelectorAll('main tbody tr:not([hidden])')].filter((row) => row.querySelector('a'));
  const now = rows.findIndex((row) => row.contains(document.activeElement));
  focusOn(rows[now === -1 ? (by > 0 ? 0 : rows.length - 1) : now + by]);
}

/** Presses the button of the row with focus, or of the notice, that has this key. */
function press(key: string): boolean {
  const row = document.activeElement?.closest('tr');
  const all = [...document.querySelectorAll<HTMLElement>('[aria-keyshortcuts]:not([hidden])')];
  const button = all.find((one) => one.ariaKeyShortcuts === key && (row?.contains(one) || one.closest('#decided')));
  button?.click();
  return button !== undefined;
}

interface Decision {
  readonly row: string;
  readonly said: string;
  readonly body: URLSearchParams;
  readonly timer: number;
}

/**
 * Decisions about replies that can still be taken back, the newest last. Each is sent after ten seconds, or when the
 * page is left. If an opt-out were recorded at once, no undo would know whether to remove the address from the list: it
 * may have got there by something else since. Until a decision is sent, the reply waits to be read.
 */
const pending: Decision[] = [];
/** Ids of rows that have left. */
const decided = new Set<string>();
const UNDO_MS = 10_000;

function offerDecisions(): void {
  const undo = document.querySelector('#decided button');
  if (undo === null) return;
  if (document.activeElement === document.body) focusOn(document.querySelector('tr:has(button[name=as])'));
  document.addEventListener('submit', (event) => {
    const { target, submitter } = event;
    const row = target instanceof HTMLFormElement && 'decides' in target.dataset ? target.closest('tr') : null;
    if (row === null) return;
    event.preventDefault();
    const form = [...new FormData(target as HTMLFormElement, submitter)];
    const body = new URLSearchParams(form.map(([name, value]) => [name, String(value)]));
    const said = `${submitter?.firstChild?.textContent ?? ''}: ${row.querySelector('a')?.textContent ?? ''}.`;
    const decision = { row: row.id, said, body, timer: setTimeout(() => void record(decision), UNDO_MS) };
    pending.push(decision);
    const rows = [...document.querySelectorAll('main tbody tr:not([hidden])')];
    const now = rows.indexOf(row);
    focusOn(rows[now + 1] ?? rows[now - 1] ?? document.getElementById('tabs'));
    decided.add(row.id);
    hideDecided();
    tell(said);
  });
  undo.addEventListener('click', () => {
    const last = pending.pop();
    clearTimeout(last?.timer);
    if (last !== undefined) bringBack(last, `Undone: ${last.said}`);
  });
  const recordAll = (): void => {
    for (const decision of [...pending]) void record(decision);
  };
  addEventListener('pagehide', recordAll);
  // A phone may close a page that is not seen without another event.
  document.addEventListener('visibilitychange', () => document.visibilityState === 'hidden' && recordAll());
}

async function record(decision: Decision): Promise<void> {
  const { body, timer, said } = decision;
  clearTimeout(timer);
  pending.splice(pending.indexOf(decision), 1);
  // Goes on when the page is left.
  const asked = { method: 'POST', body, headers: { accept: 'application/json' }, keepalive: true };
  const { text, isBad, isDecided } = await fetch('/replies', asked)
    .then(async (response) => (await response.json()) as { text: string; isBad: boolean; isDecided?: boolean })
    .catch(() => ({ text: `Not recorded, reload the page: ${said}`, isBad: true, isDecided: false }));
  if (isDecided) tell(`${said} ${text}`);
  else if (isBad) bringBack(decision, text);
  else if (pending.length === 0) tell(text);
}

function bringBack({ row }: Decision, why: string): void {
  decided.delete(row);
  document.getElementById(row)?.removeAttribute('hidden');
  focusOn(document.getElementById(row));
  tell(why);
}

/** An update of the page shows them until they are recorded. */
function hideDecided(): void {
  for (const id of decided) document.getElementById(id)?.setAttribute('hidden', '');
}

function tell(text: string): void {
  const [notice, words, undo] = document.querySelectorAll<HTMLElement>('#decided, #decided > *');
  if (notice === undefined || words === undefined || undo === undefined) return;
  words.textContent = text;
  undo.hidden = pending.length === 0;
  notice.hidden = false;
}

/** Buttons that copy the text before them. A browser has no clipboard for pages of other machines without TLS. */
function offerCopies(): void {
  if (!('clipboard' in navigator)) return;
  document.documentElement.classList.add('copies');
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('.copied button') : null;
    const text = button?.previousElementSibling?.textContent;
    const label = button?.firstChild;
    if (label == null || text === undefined) return;
    void navigator.clipboard.writeText(text).then(
      () => answer(label, 'Copied'),
      () => answer(label, 'Not allowed'),
    );
  });
}

/** Labels that show the result of a click for a moment; updates of the page skip them. */
const answering = new Set<Node>();

function answer(label: Node, text: string): void {
  answering.add(label);
  label.nodeValue = text;
  const place = document.getElementById('said');
  if (place !== null) place.textContent = text;
  setTimeout(() => {
    answering.delete(label);
    label.nodeValue = 'Copy';
  }, 2000);
}

/** Chooses several of a form at once: by its buttons, or with Shift those between two clicks. */
function offerChoices(): void {
  let last: HTMLInputElement | null = null;
  document.addEventListener('click', (event) => {
    if (!(event.target instanceof Element)) return;
    const { target } = event;
    const boxes = [...(target.closest('form')?.querySelectorAll<HTMLInputElement>(CHOICES) ?? [])];
    const button = target.closest<HTMLButtonElement>('button[name=cause]');
    if (button !== null) {
      event.preventDefault();
      const meant = boxes.filter((box) => button.value === '' || box.dataset['cause'] === button.value);
      const isAll = meant.every(({ checked }) => checked);
      for (const box of meant) box.checked = !isAll;
    } else if (target instanceof HTMLInputElement && target.matches(CHOICES)) {
      const [from, to] = [last, target].map((box) => (box === null ? -1 : boxes.indexOf(box))).sort((a, b) => a - b);
      if (event.shiftKey && from !== undefined && to !== undefined && from >= 0)
        for (const box of boxes.slice(from, to + 1)) box.checked = target.checked;
      last = target;
    }
    countChosen();
  });
}

const CHOICES = 'input[type=checkbox][data-cause]';

function countChosen(): void {
  for (const place of document.querySelectorAll('.chosen output')) {
    const count = place.closest('form')?.querySelectorAll(`${CHOICES}:checked`).length ?? 0;
    place.textContent = count === 0 ? '' : `(${count} chosen)`;
  }
}

listenToKeys();
offerCopies();
offerChoices();
offerDecisions();

import { morph } from './serve-morph.ts';

interface Parts {
  readonly parts: readonly (readonly [id: string, markup: string])[];
  readonly said: string;
}

/** Told at most so often: whoever listens to the page can also read it. */
const SAY_EVERY_MS = 10_000;

/**
 * Keeps the page as the server has it, for as long as somebody sees it. A hidden tab lets its connection go: a browser
 * has six for each server, which as many tabs would use up.
 */
export function follow(address: string): void {
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
      const { parts, said } = JSON.parse(event.data) as Parts;
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
  // A page that the browser keeps for the way back has no connection: it gets another when it is shown again.
  addEventListener('pagehide', close);
  addEventListener('pageshow', look);
  look();
}

function put(id: string, markup: string): void {
  const old = document.getElementById(id);
  const fresh = new DOMParser().parseFromString(markup, 'text/html').body.firstElementChild;
  // Another page than this one lies there by now, such as one that says what is wrong.
  if (old === null || fresh === null) location.reload();
  else morph(old, fresh);
}

function show(state: 'live' | 'lost', text: string): void {
  const place = document.getElementById('live');
  if (place === null) return;
  place.hidden = false;
  place.dataset['state'] = state;
  if (place.textContent !== text) place.textContent = text;
}

/** Says what is new, politely: the last of several that come soon after each other. */
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

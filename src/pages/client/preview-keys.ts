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
export function listenToKeys({ query, box, detail }: Places, moves: Moves): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (act(event, { query, box, detail }, moves)) event.preventDefault();
  });
  query.form?.addEventListener('submit', (event) => event.preventDefault());
}

/** Whether the key meant something. */
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

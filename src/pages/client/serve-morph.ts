/**
 * Makes an element like another one, with as few changes as come by themselves: what stays keeps its focus, its place
 * and what was typed into it. Nothing is written as markup.
 */
export function morph(old: Element, fresh: Element): void {
  attributes(old, fresh);
  const rest = [...old.childNodes];
  for (const wanted of [...fresh.childNodes]) {
    const known = rest[0];
    if (known !== undefined && isLike(known, wanted)) {
      rest.shift();
      if (known instanceof Element && wanted instanceof Element) morph(known, wanted);
      else if (known.nodeValue !== wanted.nodeValue) known.nodeValue = wanted.nodeValue;
      continue;
    }
    // A row that came before others pushes them down: they are found again by their links.
    const further = rest.findIndex((node) => isSameThing(node, wanted));
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

/** What a person has opened, typed or chosen is theirs. */
const KEPT = new Set(['open', 'value', 'checked']);

function attributes(old: Element, fresh: Element): void {
  const isField = old instanceof HTMLInputElement && old.type !== 'hidden';
  const keeps = (name: string): boolean => KEPT.has(name) && (name === 'open' || isField);
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !keeps(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) {
    if (!keeps(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
}

/** Rows of a table are told apart by what they lead to, fields by what they say; anything else by its kind. */
function isLike(a: Node, b: Node): boolean {
  if (a.nodeType !== b.nodeType || a.nodeName !== b.nodeName) return false;
  const [mine, its] = [nameOf(a), nameOf(b)];
  return mine === its;
}

function isSameThing(a: Node, b: Node): boolean {
  return a instanceof Element && nameOf(b) !== '' && isLike(a, b);
}

function nameOf(node: Node): string {
  if (!(node instanceof Element)) return '';
  const named = node.id || node.getAttribute('aria-labelledby');
  if (named) return named;
  // A choice belongs to what it chooses, and must never pass to something else.
  if (node instanceof HTMLInputElement) return `${node.name}=${node.getAttribute('value') ?? ''}`;
  if (node.nodeName !== 'TR') return '';
  return (
    node.querySelector('a[href]')?.getAttribute('href') ??
    node.querySelector('[data-key]')?.getAttribute('data-key') ??
    ''
  );
}

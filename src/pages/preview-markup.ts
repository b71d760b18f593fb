import { Html, html } from '../util/html.ts';
import { KINDS, type PreviewNode } from './preview-nodes.ts';

/**
 * A message as markup, for pages without scripts. The HTML of an email is left out: making it harmless takes a browser,
 * and its text stands beside it.
 */
export function nodeHtml(node: PreviewNode): Html {
  if (typeof node === 'string') return html`${node}`;
  const [kind, ...children] = node;
  if (kind === 'frame') return html`<p class="soft">Shown with JavaScript.</p>`;
  const { tag, style } = KINDS[kind];
  const start = style === '' ? `<${tag}>` : `<${tag} class="${style}">`;
  return new Html(`${start}${children.map((child) => nodeHtml(child).markup).join('')}</${tag}>`);
}

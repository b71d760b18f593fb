import { Html, html } from '../../util/escape.ts';
import { KINDS, type PreviewNode } from './nodes.ts';

/**
 * A message for pages without scripts. Shows an email's text instead of its HTML, which only a browser can sanitize.
 * @param instead - shown in place of the HTML of an email
 */
export function nodeHtml(node: PreviewNode, instead: string): Html {
  if (typeof node === 'string') return html`${node}`;
  const [kind, ...children] = node;
  if (kind === 'frame') return html`<p class="soft">${instead}</p>`;
  const { tag, style } = KINDS[kind];
  const start = style === '' ? `<${tag}>` : `<${tag} class="${style}">`;
  return new Html(`${start}${children.map((child) => nodeHtml(child, instead).markup).join('')}</${tag}>`);
}

import { safe } from '../../util/safe.ts';
import { KINDS, type PreviewNode } from '../preview-nodes.ts';
import { quietEmail } from './preview-quiet.ts';

/** A message as elements. Everything from outside is a text node, or the content of a frame that may do nothing. */
export function elementOf(node: PreviewNode): Node {
  if (typeof node === 'string') return document.createTextNode(safe(node));
  const [kind, ...children] = node;
  if (kind === 'frame') return frameOf(typeof children[0] === 'string' ? children[0] : '');
  const { tag, style } = KINDS[kind];
  const element = document.createElement(tag);
  if (style !== '') element.className = style;
  if (kind === 'badge' && typeof children[0] === 'string') element.dataset['word'] = children[0];
  for (const child of children) element.append(elementOf(child));
  return element;
}

function frameOf(html: string): HTMLIFrameElement {
  const frame = document.createElement('iframe');
  frame.className = KINDS.frame.style;
  frame.title = 'The HTML of the email';
  // Before the content: without any permission it has no scripts, no forms, no origin and nowhere to go.
  frame.setAttribute('sandbox', '');
  frame.referrerPolicy = 'no-referrer';
  frame.srcdoc = quietEmail(html);
  return frame;
}

import {
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core';
import DOMPurify from 'dompurify';
import { safe, safeLine } from '../../util/escape.ts';
import { KINDS, type PreviewNode } from '../preview/nodes.ts';
import type { Rows } from './preview-data.ts';

const ROW_REM = 3.6;
/** Browsers draw elements up to some 17 to 33 million pixels high. */
const MOST_PX = 15_000_000;

/** The list of matching rows: only visible ones are elements, however many there are. */
export function createList(rows: Rows, box: HTMLElement, onPick: (place: number) => void) {
  const rowPx = Math.round(Number.parseFloat(getComputedStyle(document.documentElement).fontSize) * ROW_REM);
  const most = Math.floor(MOST_PX / rowPx);
  const rail = document.createElement('div');
  rail.className = 'rail';
  rail.setAttribute('role', 'presentation');
  box.replaceChildren(rail);
  // A short list has a lower box, which keeps its height during a search, so that nothing jumps.
  box.style.setProperty('--full', `${rows.count * rowPx + 2}px`);
  let hits = new Uint32Array();
  let chosen = 0;
  const shown = new Map<number, HTMLElement>();
  const options = () => ({
    count: Math.min(hits.length, most),
    getScrollElement: () => box,
    estimateSize: () => rowPx,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    overscan: 6,
    // The chosen row is always an element: screen readers find it by its id.
    rangeExtractor: (range: Parameters<typeof defaultRangeExtractor>[0]) => {
      const places = defaultRangeExtractor(range);
      return places.includes(chosen) || chosen >= range.count ? places : [...places, chosen].sort((a, b) => a - b);
    },
    onChange: () => draw(),
  });
  const virtualizer = new Virtualizer<HTMLElement, HTMLElement>(options());
  const draw = (): void => {
    rail.style.height = `${virtualizer.getTotalSize()}px`;
    const wanted = new Set(virtualizer.getVirtualIndexes());
    for (const [place, element] of shown) {
      if (wanted.has(place)) continue;
      element.remove();
      shown.delete(place);
    }
    for (const place of wanted) {
      let element = shown.get(place);
      if (element === undefined) {
        element = hitElement(rows, hits[place] ?? 0, place, hits.length);
        element.style.height = `${rowPx}px`;
        element.style.transform = `translateY(${place * rowPx}px)`;
        shown.set(place, element);
        rail.append(element);
      }
      element.setAttribute('aria-selected', String(place === chosen));
    }
    const id = shown.get(chosen)?.id;
    if (id === undefined) box.removeAttribute('aria-activedescendant');
    else box.setAttribute('aria-activedescendant', id);
  };
  rail.addEventListener('click', (event) => {
    const hit = event.target instanceof Element ? event.target.closest<HTMLElement>('.hit') : null;
    if (hit !== null) onPick(Number(hit.dataset['place']));
  });
  virtualizer._didMount();
  virtualizer._willUpdate();
  return {
    /** Most rows of a list; beyond that the user must search. */
    most,
    chosen: () => chosen,
    /** Visible rows. */
    page: () => Math.max(1, Math.floor(box.clientHeight / rowPx) - 1),
    show(next: Uint32Array<ArrayBuffer>): void {
      hits = next;
      chosen = 0;
      shown.clear();
      rail.replaceChildren();
      virtualizer.setOptions({ ...virtualizer.options, ...options() });
      virtualizer.measure();
      virtualizer._willUpdate();
      draw();
    },
    choose(place: number): void {
      chosen = place;
      // Without measuring all rows again: only which of them are elements can differ.
      virtualizer.setOptions({ ...virtualizer.options, ...options() });
      virtualizer.scrollToIndex(place, { align: 'auto' });
      draw();
    },
  };
}

function hitElement(rows: Rows, row: number, place: number, count: number): HTMLElement {
  const [to = '', key = '', , label = '', ...cells] = rows.fields(row);
  const { about } = rows;
  const of = about.facets[rows.facets(row)];
  const element = document.createElement('div');
  element.className = 'hit';
  element.id = `hit-${row}`;
  element.dataset['place'] = String(place);
  element.setAttribute('role', 'option');
  element.setAttribute('aria-posinset', String(place + 1));
  element.setAttribute('aria-setsize', String(count));
  const who = to || key || cells[about.address] || 'no address';
  const naming = [label === '' ? '' : who, ...about.naming.map((column) => cells[column] ?? '')];
  const names = naming.filter((cell) => cell !== '');
  const parts = of?.parts ? `${of.parts} ${of.parts === 1 ? 'part' : 'parts'}` : '';
  const said = span('', [of?.reason ?? '', of?.variant ?? '', parts].filter((fact) => fact !== '').join(' · '));
  if (of !== undefined && of.warnings.length > 0) said.append(warned());
  const top = div('hit-top', span('hit-to', label || who));
  // Nearly all get a message: marks only the others.
  if (of !== undefined && of.decision !== 'send') {
    const badge = span('badge', of.decision);
    badge.dataset['word'] = of.decision;
    top.append(badge);
  }
  const sub = div('hit-sub', named(names.slice(0, 4), `line ${rows.line(row)}`), said);
  element.append(top, sub);
  return element;
}

/** Isolates each cell: after an Arabic name 2026-12-05 would be shown as 05-12-2026. */
function named(names: readonly string[], otherwise: string): HTMLElement {
  const element = span('', names.length === 0 ? otherwise : '');
  for (const [at, name] of names.entries()) {
    const isolated = document.createElement('bdi');
    isolated.textContent = safeLine(name);
    element.append(at === 0 ? '' : ' · ', isolated);
  }
  return element;
}

function warned(): DocumentFragment {
  const both = document.createDocumentFragment();
  const sign = span('', ' \u26a0');
  sign.setAttribute('aria-hidden', 'true');
  both.append(sign, span('hidden', ', with warnings'));
  return both;
}

function span(name: string, text: string): HTMLElement {
  const element = document.createElement('span');
  if (name !== '') element.className = name;
  element.textContent = safeLine(text);
  return element;
}

function div(name: string, ...children: readonly HTMLElement[]): HTMLElement {
  const element = document.createElement('div');
  element.className = name;
  element.append(...children);
  return element;
}

/** A message as elements. Everything from outside is a text node, or the content of a frame without permissions. */
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
  // Before the content: without any permission it has no scripts, forms, origin or navigation.
  frame.setAttribute('sandbox', '');
  frame.referrerPolicy = 'no-referrer';
  frame.srcdoc = quietEmail(html);
  return frame;
}

/**
 * The HTML of an email without anything that loads or runs: no picture, address or script. The frame and the policy of
 * the page forbid all of that anyway; this avoids their errors on the console, and removes the targets of links.
 * DOMPurify parses the text in a document that is never shown.
 */
function quietEmail(html: string): string {
  // Chromium reports each event handler on the console. Malformed quotes may leave one, which has no effect.
  const root = DOMPurify.sanitize(
    html.replace(TAGS, (tag) => tag.replace(HANDLERS, 'data-')),
    {
      WHOLE_DOCUMENT: true,
      RETURN_DOM: true,
      USE_PROFILES: { html: true },
      // No script of the frame could be led astray by names, and rules of its styles need them.
      SANITIZE_DOM: false,
      ADD_ATTR: ['text', 'link', 'vlink', 'alink', 'hspace', 'vspace', 'marginwidth', 'marginheight'],
      FORBID_TAGS: ['audio', 'video', 'source', 'track'],
      FORBID_ATTR: ['srcset', 'background', 'poster', 'action', 'autofocus', 'cite', 'longdesc', 'usemap'],
    },
  ) as HTMLElement;
  for (const image of root.querySelectorAll('img')) image.replaceWith(placeholder(image));
  for (const element of root.querySelectorAll('[href], [src]')) withoutLink(element);
  for (const element of root.querySelectorAll('[style]')) {
    element.setAttribute('style', withoutAddresses(element.getAttribute('style') ?? ''));
  }
  for (const style of root.querySelectorAll('style')) style.textContent = withoutAddresses(style.textContent ?? '');
  const look = root.ownerDocument.createElement('style');
  look.textContent = LOOK;
  root.querySelector('head')?.prepend(look);
  return `<!doctype html>${root.outerHTML}`;
}

const TAGS = /<[a-z](?:"[^"]*"|'[^']*'|[^>])*>?/gi;
const HANDLERS = /(?<=[\s"'`/])(?=on[a-z]+\s*=)/gi;

/** For placeholders of pictures, and links without a target. */
const LOOK = `:root{color-scheme:light}body{overflow-wrap:anywhere}
.handbill-link{color:#0645ad;text-decoration:underline}
.handbill-picture{display:inline-flex;align-items:center;justify-content:center;box-sizing:border-box;max-width:100%;min-height:2.5em;padding:.4em .6em;border:1px dashed #777;color:#444;background:#f3f3f3;font:13px/1.3 system-ui,sans-serif;text-align:center}`;

function placeholder(image: HTMLImageElement): Element {
  const box = image.ownerDocument.createElement('span');
  box.className = 'handbill-picture';
  const alt = image.getAttribute('alt') ?? '';
  box.textContent = alt === '' ? 'Picture' : `Picture: ${alt}`;
  box.title = image.getAttribute('src') ?? '';
  const width = Number.parseInt(image.getAttribute('width') ?? '', 10);
  if (width > 0) {
    box.style.width = '100%';
    box.style.maxWidth = `${width}px`;
  }
  return box;
}

function withoutLink(element: Element): void {
  if (element.localName === 'a') {
    element.classList.add('handbill-link');
    element.setAttribute('title', element.getAttribute('href') ?? '');
  }
  element.removeAttribute('href');
  element.removeAttribute('src');
}

/** CSS without anything that it would load, which DOMPurify does not remove. Drops all CSS with numeric escapes. */
function withoutAddresses(css: string): string {
  if (css.includes('\\')) return '';
  return css.replace(/@(?:import|font-face|charset|namespace)\b[^;{}]*(?:;|\{[^}]*\})?/gi, '').replace(FETCHES, 'none');
}

const FETCHES =
  /(?:-webkit-)?(?:url|image|image-set|cross-fade|element|src)\s*\((?:[^()"']|"[^"]*"|'[^']*'|\([^()]*\))*\)/gi;

import DOMPurify from 'dompurify';

/**
 * The HTML of an email with nothing left that would ask for something or run: no picture, address or script. The frame
 * and the policy of the page forbid all of it anyway; this is for what they would write to the console, and so that a
 * link leads nowhere. DOMPurify takes out what is not markup of a text, in a document that is never shown.
 */
export function quietEmail(html: string): string {
  const root = DOMPurify.sanitize(withoutHandlers(html), {
    WHOLE_DOCUMENT: true,
    RETURN_DOM: true,
    USE_PROFILES: { html: true },
    // No script of the frame could be led astray by names, and rules of its styles need them.
    SANITIZE_DOM: false,
    ADD_ATTR: ['text', 'link', 'vlink', 'alink', 'hspace', 'vspace', 'marginwidth', 'marginheight'],
    FORBID_TAGS: ['audio', 'video', 'source', 'track'],
    FORBID_ATTR: ['srcset', 'background', 'poster', 'action', 'autofocus', 'cite', 'longdesc', 'usemap'],
  }) as HTMLElement;
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

/**
 * Handlers of events are renamed before anything is parsed: Chromium names each one that it meets on the console. Where
 * quotes are out of order one may be left, which is then named there, and still does nothing.
 */
function withoutHandlers(html: string): string {
  return html.replace(TAGS, (tag) => tag.replace(HANDLERS, 'data-'));
}

const TAGS = /<[a-z](?:"[^"]*"|'[^']*'|[^>])*>?/gi;
const HANDLERS = /(?<=[\s"'`/])(?=on[a-z]+\s*=)/gi;

/** What stands for a picture, and for a link that leads nowhere. */
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

/** CSS without what it would fetch, which DOMPurify lets be. Where letters are written by their numbers, nothing is kept. */
function withoutAddresses(css: string): string {
  if (css.includes('\\')) return '';
  return css.replace(/@(?:import|font-face|charset|namespace)\b[^;{}]*(?:;|\{[^}]*\})?/gi, '').replace(FETCHES, 'none');
}

const FETCHES =
  /(?:-webkit-)?(?:url|image|image-set|cross-fade|element|src)\s*\((?:[^()"']|"[^"]*"|'[^']*'|\([^()]*\))*\)/gi;

/**
 * The HTML of an email with nothing left that would ask for something or run: no picture, address or script. The frame
 * and the policy of the page forbid all of it anyway; this is for what they would write to the console, and so that a
 * link leads nowhere. Parsed into a document that is never shown, and serialised.
 */
export function quietEmail(html: string): string {
  const email = new DOMParser().parseFromString(withoutHandlers(html), 'text/html');
  for (const element of [...email.querySelectorAll(UNWANTED)]) element.remove();
  for (const image of [...email.querySelectorAll('img')]) image.replaceWith(placeholder(email, image));
  for (const element of [...email.querySelectorAll('*')]) quieten(element);
  for (const style of [...email.querySelectorAll('style')])
    style.textContent = withoutAddresses(style.textContent ?? '');
  const look = email.createElement('style');
  look.textContent = LOOK;
  email.head.prepend(look);
  return `<!doctype html>${email.documentElement.outerHTML}`;
}

/**
 * Handlers of events must be gone before anything is parsed: Chromium names each one on the console as it meets it. Where
 * quotes are out of order one may be left, which then is named there, and still does nothing.
 */
function withoutHandlers(html: string): string {
  return html.replace(TAGS, (tag) => tag.replace(HANDLERS, 'data-'));
}

const TAGS = /<[a-z](?:"[^"]*"|'[^']*'|[^>])*>?/gi;
const HANDLERS = /(?<=[\s"'`/])(?=on[a-z]+\s*=)/gi;

/** Drawings and formulas among them: what is inside means something else once it is read a second time. */
const UNWANTED =
  'script, noscript, template, link, meta, base, title, iframe, frame, frameset, object, embed, applet, audio, video, source, track, portal, svg, math, xmp, plaintext, noembed, noframes';

/** What stands for a picture, and for a link that leads nowhere. */
const LOOK = `:root{color-scheme:light}body{overflow-wrap:anywhere}
.handbill-link{color:#0645ad;text-decoration:underline}
.handbill-picture{display:inline-flex;align-items:center;justify-content:center;box-sizing:border-box;max-width:100%;min-height:2.5em;padding:.4em .6em;border:1px dashed #777;color:#444;background:#f3f3f3;font:13px/1.3 system-ui,sans-serif;text-align:center}`;

function placeholder(email: Document, image: Element): Element {
  const box = email.createElement('span');
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

const ADDRESSES: ReadonlySet<string> = new Set(
  'src srcset srcdoc background poster data action formaction xlink:href ping manifest longdesc cite usemap autofocus http-equiv dynsrc lowsrc'.split(
    ' ',
  ),
);

function quieten(element: Element): void {
  for (const { name, value } of [...element.attributes]) {
    if (name === 'href') {
      if (element.localName === 'a') {
        element.classList.add('handbill-link');
        element.setAttribute('title', value);
      }
      element.removeAttribute(name);
    } else if (name.startsWith('on') || ADDRESSES.has(name)) element.removeAttribute(name);
    else if (value.includes('(') || value.includes('\\')) element.setAttribute(name, withoutAddresses(value));
  }
}

/** CSS without what it would fetch. Where letters are written by their numbers, nothing is kept. */
function withoutAddresses(css: string): string {
  if (css.includes('\\')) return '';
  return css.replace(/@(?:import|font-face|charset|namespace)\b[^;{}]*(?:;|\{[^}]*\})?/gi, '').replace(FETCHES, 'none');
}

const FETCHES =
  /(?:-webkit-)?(?:url|image|image-set|cross-fade|element|src)\s*\((?:[^()"']|"[^"]*"|'[^']*'|\([^()]*\))*\)/gi;

import { type Html, type HtmlValue, html } from '../../util/escape.ts';
import type { ClientScript } from '../client-script.ts';
import { contentPolicy, documentFrame } from '../document.ts';
import { type Hidden, hiddenFields } from '../kit.ts';
import type { Formats } from './format.ts';

export interface View {
  readonly formats: Formats;
  /** Since 1970. */
  readonly nowMs: number;
  readonly url: string;
  /** The name of the ledger; null for a reader who is not signed in and may not learn paths of the machine. */
  readonly ledger: string | null;
  /** Changes are impossible, need a sign-in, or are allowed to this reader. */
  readonly actions: 'off' | 'signed-out' | 'on';
  /** The token in each form, for a reader who may change something; else null. */
  readonly csrf: string | null;
  readonly notice: Notice | null;
}

export interface Notice {
  readonly text: string;
  readonly isBad: boolean;
  /** Another person has decided about the reply: it no longer waits. */
  readonly isDecided?: boolean;
}

/** Replaced while the page is open: `id` is that of its element. */
interface Part {
  readonly id: string;
  readonly content: Html;
  readonly isLive: boolean;
  /** The address in the menu whose name it follows; absent: it is in the page itself. */
  readonly menu?: string;
}

export interface Content {
  readonly title: string;
  readonly parts: readonly Part[];
  /** HTTP status; 200 when absent. */
  readonly status?: number;
  /** Announced to screen readers when it changes. */
  readonly said?: string;
}

/** The part of the policy that can be in a page. The header adds that no page may frame it. */
const MORE_POLICY = ["connect-src 'self'", "form-action 'self'", "base-uri 'none'"];
const HEADER_POLICY = [...MORE_POLICY, "frame-ancestors 'none'"];

/** A whole page: works without its script, which only replaces parts during a run. */
export function servePage(view: View, content: Content, script: ClientScript) {
  const title = `${content.title} - handbill`;
  const { head, foot } = documentFrame({ title, script, policy: MORE_POLICY });
  const isLive = content.parts.some((part) => part.isLive);
  const body = html`<a class="skip" href="#content">Skip to the content</a>
<header class="site">
<a class="brand" href="/">handbill</a>
${navigation(view, content.parts)}
<p class="live" id="live" hidden>Live</p>
</header>
<main id="content" tabindex="-1"${isLive && html` data-events="/events?page=${encodeURIComponent(view.url)}"`}>
${view.notice && html`<p class="notice${view.notice.isBad && ' bad'}" role="status">${view.notice.text}</p>`}
${content.parts.filter(({ menu }) => menu === undefined).map(partElement)}
<p id="said" class="hidden" role="status" aria-live="polite">${content.said ?? ''}</p>
</main>
<footer>
${view.ledger !== null && html`<p>Times are in ${view.formats.timeZone}. Ledger: ${view.ledger}</p>`}
<p class="keys-hint" hidden><button type="button" class="quiet" id="show-keys">Keys <kbd>?</kbd></button></p>
${isLive && html`<noscript><p>Without JavaScript this page shows one moment: reload it to see what is new.</p></noscript>`}
</footer>
${KEYS}
`;
  return { text: head + body.markup + foot, policy: contentPolicy(script, HEADER_POLICY) };
}

const KEYS: Html = html`<dialog id="keys" aria-labelledby="keys-title"><form method="dialog"><h2 id="keys-title">Keys</h2>
<dl><dt><kbd>/</kbd></dt><dd>to the search</dd>
<dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous row of the table</dd>
<dt><kbd>Enter</kbd></dt><dd>opens the row</dd>
<dt><kbd>o</kbd> <kbd>a</kbd> <kbd>i</kbd></dt><dd>a reply to read: opt out, answer, opt in</dd>
<dt><kbd>u</kbd></dt><dd>takes that back, for 10 seconds</dd>
<dt><kbd>?</kbd></dt><dd>this list</dd></dl>
<p class="actions"><button>Close</button></p></form></dialog>`;

/** A part that stays unchanged while the page is open. */
export function fixed(id: string, content: Html): Part {
  return { id, content, isLive: false };
}

/** A part that is updated while the page is open. */
export function live(id: string, content: Html): Part {
  return { id, content, isLive: true };
}

/** A form that changes something; null for a reader who may not. */
export function actionForm(view: View, to: string, hidden: Hidden, content: HtmlValue): Html | null {
  if (view.actions !== 'on') return null;
  return html`<form method="post" action="${to}" class="actions">${formFields(view, hidden)}${content}</form>`;
}

/** `csrf` proves that a form came from these pages. */
export function formFields({ csrf }: View, hidden: Hidden = {}): readonly Html[] {
  return hiddenFields({ csrf, ...hidden });
}

interface Question {
  readonly title: string;
  readonly content: HtmlValue;
  readonly to: string;
  readonly hidden: Hidden;
  readonly fields?: HtmlValue;
  readonly button: readonly [name: string, value: string, text: string];
  readonly back?: string;
}

export function questionPage(view: View, { title, content, to, hidden, fields, button, back = to }: Question): Content {
  const [name, value, text] = button;
  const form = html`<form method="post" action="${to}">${formFields(view, hidden)}${fields}
<p class="actions"><button class="main" name="${name}" value="${value}">${text}</button><a class="button" href="${back}">Back</a></p></form>`;
  return { title, parts: [fixed('question', html`<h1>${title}</h1>\n${content}\n${form}`)] };
}

export function partElement({ id, content }: Part): Html {
  return html`<div id="${id}">${content}</div>
`;
}

const PAGES: readonly (readonly [path: string, name: string])[] = [
  ['/', 'Now'],
  ['/doubt', 'In doubt'],
  ['/people', 'People'],
  ['/replies', 'Replies'],
  ['/suppressions', 'Suppressions'],
  ['/campaigns', 'Campaigns'],
];

/** In one line, or on narrow screens behind a button: the browser opens a popover without any script. */
function navigation(view: View, parts: readonly Part[]): Html {
  const { url } = view;
  const path = url.split('?')[0] ?? '/';
  const items = PAGES.map(([to, name]) => {
    const isHere = path === to || path.startsWith(to === '/' ? '/runs/' : `${to}/`);
    return html`<li><a href="${to}"${isHere && html` aria-current="${path === to ? 'page' : 'true'}"`}>${name}${parts.filter(({ menu }) => menu === to).map((part) => html` ${partElement(part)}`)}</a></li>`;
  });
  return html`<nav aria-label="Pages"><button type="button" class="quiet" popovertarget="menu">Menu</button>
<div class="menu" id="menu" popover><ul>${items}</ul>${session(view)}</div></nav>`;
}

function session(view: View): Html | null {
  if (view.actions === 'off') return html`<p class="soft">Read only: started without <code>--allow-actions</code></p>`;
  if (view.actions === 'signed-out')
    return html`<p class="soft">Read only: open the address that the start printed.</p>`;
  return actionForm(view, '/logout', {}, html`<button class="quiet">End actions</button>`);
}

export function choices(
  label: string,
  links: readonly { readonly href: string; readonly text: Html; readonly isNow: boolean }[],
): Html {
  return html`<nav class="choices" aria-label="${label}">${links.map(({ href, text, isNow }) => html`<a href="${href}"${isNow && html` aria-current="true"`}>${text}</a>`)}</nav>`;
}

/** For something missing, or refused. */
export function messagePage(status: number, title: string, sentences: readonly string[]): Content {
  const said = sentences.map((text) => html`<p>${text}</p>\n`);
  return { title, status, parts: [fixed('message', html`<h1>${title}</h1>\n${said}<p><a href="/">Now</a></p>`)] };
}

import { type Html, html } from '../util/html.ts';
import type { ClientScript } from './client-script.ts';
import { contentPolicy, documentFrame } from './document.ts';
import type { Formats } from './serve-format.ts';
import { SERVE_STYLE } from './serve-style.ts';

/** What every page knows of who looks at it. */
export interface View {
  readonly formats: Formats;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** Path and query of the page. */
  readonly url: string;
  /** The ledger, as its owner would name it; null: whoever reads has not signed in, and is told nothing of the machine. */
  readonly ledger: string | null;
  /** Whether something may be changed: never, once this reader has signed in, or by this reader. */
  readonly actions: 'off' | 'signed-out' | 'on';
  /** Stands in each form of a reader who may change something. */
  readonly csrf: string | null;
  /** What the last action came to. */
  readonly notice: Notice | null;
}

export interface Notice {
  readonly text: string;
  readonly isBad: boolean;
}

/** A piece of a page that is replaced by itself while somebody looks: `id` is that of its element. */
export interface Part {
  readonly id: string;
  readonly content: Html;
  readonly isLive: boolean;
}

/** What stands between the head and the foot of every page. */
export interface Content {
  readonly title: string;
  /** Heading and what is above it, where it is another than the title. */
  readonly parts: readonly Part[];
  /** HTTP status; 200 when absent. */
  readonly status?: number;
  /** Said to those who listen to the page, whenever it is another than before. */
  readonly said?: string;
}

export interface Page {
  readonly text: string;
  readonly policy: string;
}

/** The content security policy as it can stand in a page; the header adds that nobody may put the page in a frame. */
const MORE_POLICY = ["connect-src 'self'", "form-action 'self'", "base-uri 'none'"];
const HEADER_POLICY = [...MORE_POLICY, "frame-ancestors 'none'"];

/** A whole page: works without its script, which only replaces parts while something goes on. */
export function servePage(view: View, content: Content, script: ClientScript): Page {
  const title = `${content.title} - handbill`;
  const { head, foot } = documentFrame({ title, style: SERVE_STYLE, script, policy: MORE_POLICY });
  const isLive = content.parts.some((part) => part.isLive);
  const body = html`<a class="skip" href="#content">Skip to the content</a>
<header class="site">
<a class="brand" href="/">handbill</a>
${navigation(view)}
${session(view)}
<p class="live" id="live" hidden>Live</p>
</header>
<main id="content" tabindex="-1"${isLive ? html` data-events="/events?page=${encodeURIComponent(view.url)}"` : null}>
${view.notice === null ? null : html`<p class="notice${view.notice.isBad ? ' bad' : ''}" role="status">${view.notice.text}</p>`}
${content.parts.map(partElement)}
<p id="said" class="hidden" role="status" aria-live="polite">${content.said ?? ''}</p>
</main>
<footer>
${view.ledger === null ? null : html`<p>Times are those of this server: ${view.formats.timeZone}. Ledger: ${view.ledger}</p>`}
${isLive ? html`<noscript><p>Without JavaScript this page shows one moment: reload it to see what is new.</p></noscript>` : null}
</footer>
`;
  return { text: head + body.markup + foot, policy: contentPolicy(script, HEADER_POLICY) };
}

export function partElement({ id, content }: Part): Html {
  return html`<div id="${id}">${content}</div>
`;
}

const PAGES: readonly (readonly [path: string, name: string])[] = [
  ['/', 'Runs'],
  ['/doubt', 'In doubt'],
  ['/replies', 'Replies'],
  ['/suppressions', 'Suppressions'],
  ['/campaigns', 'Campaigns'],
];

function navigation({ url }: View): Html {
  const path = url.split('?')[0] ?? '/';
  const items = PAGES.map(([to, name]) => {
    const isHere = path === to || (to === '/' && path.startsWith('/runs')) || path.startsWith(`${to}/`);
    const current = isHere && !(to === '/' && path !== '/' && !path.startsWith('/runs'));
    return html`<li><a href="${to}"${current ? html` aria-current="${path === to ? 'page' : 'true'}"` : null}>${name}</a></li>`;
  });
  return html`<nav aria-label="Pages"><ul>${items}</ul></nav>`;
}

function session(view: View): Html | null {
  if (view.actions === 'off') return null;
  if (view.actions === 'signed-out')
    return html`<p class="live">Read only: open the address that the start printed.</p>`;
  return html`<form method="post" action="/logout">${csrfField(view)}<button class="quiet">End actions</button></form>`;
}

/** The field that proves that a form came from these pages. */
export function csrfField({ csrf }: View): Html | null {
  return csrf === null ? null : html`<input type="hidden" name="csrf" value="${csrf}">`;
}

/**
 * An address of these pages: each step is one segment, whatever it holds. Only this makes what stands in an `href`.
 */
export function address(
  steps: readonly (string | number)[],
  query: Readonly<Record<string, string | number | null>> = {},
): string {
  const path = `/${steps.map((step) => encodeURIComponent(String(step))).join('/')}`;
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === '' ? [] : [`${name}=${encodeURIComponent(String(value))}`],
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

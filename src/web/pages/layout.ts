import { Html, html } from '../../util/escape.ts';
import type { ClientScript } from '../client-script.ts';
import { contentPolicy, documentFrame } from '../document.ts';
import { MESSAGE_COLOURS, MESSAGE_STYLE } from '../preview/message-html.ts';
import type { Formats } from './format.ts';

/** Facts about the reader, for every page. */
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
  const { head, foot } = documentFrame({ title, style: SERVE_STYLE, script, policy: MORE_POLICY });
  const isLive = content.parts.some((part) => part.isLive);
  const body = html`<a class="skip" href="#content">Skip to the content</a>
<header class="site">
<a class="brand" href="/">handbill</a>
${navigation(view, content.parts)}
<p class="live" id="live" hidden>Live</p>
</header>
<main id="content" tabindex="-1"${isLive ? html` data-events="/events?page=${encodeURIComponent(view.url)}"` : null}>
${view.notice === null ? null : html`<p class="notice${view.notice.isBad ? ' bad' : ''}" role="status">${view.notice.text}</p>`}
${content.parts.filter(({ menu }) => menu === undefined).map(partElement)}
<p id="said" class="hidden" role="status" aria-live="polite">${content.said ?? ''}</p>
</main>
<footer>
${view.ledger === null ? null : html`<p>Times are in ${view.formats.timeZone}. Ledger: ${view.ledger}</p>`}
<p class="keys-hint" hidden><button type="button" class="quiet" id="show-keys">Keys <kbd>?</kbd></button></p>
${isLive ? html`<noscript><p>Without JavaScript this page shows one moment: reload it to see what is new.</p></noscript>` : null}
</footer>
${KEYS}
`;
  return { text: head + body.markup + foot, policy: contentPolicy(script, HEADER_POLICY) };
}

const KEYS: Html = html`<dialog id="keys" aria-labelledby="keys-title"><form method="dialog"><h2 id="keys-title">Keys</h2>
<dl><dt><kbd>/</kbd></dt><dd>to the search</dd>
<dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous row of the table</dd>
<dt><kbd>Enter</kbd></dt><dd>opens the row</dd>
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

export function questionPage(title: string, content: Html): Content {
  return { title, parts: [fixed('question', html`<h1>${title}</h1>\n${content}`)] };
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
    const isHere = path === to || (to === '/' && path.startsWith('/runs')) || path.startsWith(`${to}/`);
    const current = isHere && !(to === '/' && path !== '/' && !path.startsWith('/runs'));
    return html`<li><a href="${to}"${current ? html` aria-current="${path === to ? 'page' : 'true'}"` : null}>${name}${parts.filter(({ menu }) => menu === to).map((part) => html` ${partElement(part)}`)}</a></li>`;
  });
  return html`<nav aria-label="Pages"><button type="button" class="quiet" popovertarget="menu">Menu</button>
<div class="menu" id="menu" popover><ul>${items}</ul>${session(view)}</div></nav>`;
}

function session(view: View): Html | null {
  if (view.actions === 'off') return null;
  if (view.actions === 'signed-out')
    return html`<p class="soft">Read only: open the address that the start printed.</p>`;
  return html`<form method="post" action="/logout">${csrfField(view)}<button class="quiet">End actions</button></form>`;
}

/** Proves that a form came from these pages. */
export function csrfField({ csrf }: View): Html | null {
  return csrf === null ? null : html`<input type="hidden" name="csrf" value="${csrf}">`;
}

export function choices(
  label: string,
  links: readonly { readonly href: string; readonly text: Html; readonly isNow: boolean }[],
): Html {
  return html`<nav class="choices" aria-label="${label}">${links.map(({ href, text, isNow }) => html`<a href="${href}"${isNow ? html` aria-current="true"` : null}>${text}</a>`)}</nav>`;
}

/** For something missing, or refused. */
export function messagePage(status: number, title: string, sentences: readonly string[]): Content {
  const said = sentences.map(
    (text) => html`<p>${text}</p>
`,
  );
  return { title, status, parts: [fixed('message', html`<h1>${title}</h1>\n${said}<p><a href="/">Now</a></p>`)] };
}

const SERVE_STYLE: Html = new Html(`
body{max-width:76rem;padding:0 1.25rem 2rem;font-size:.875rem;line-height:1.45}
:root{--link:#1d5fae;--focus:#1d5fae;--field:#7b8694;--good:#e3f3ea;--bad:#fbe6e4}
@media (prefers-color-scheme:dark){:root{--link:#8ab8f2;--focus:#8ab8f2;--field:#6b7786;--good:#17321f;--bad:#3b1d1d}}
a{color:var(--link);text-decoration:none;text-underline-offset:.15em}
a:hover,p a,dd a,h2 a,.legend a,#attention a{text-decoration:underline}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px;border-radius:.2rem}
.skip{position:absolute;left:-100vw;top:.5rem;padding:.5rem 1rem;background:var(--paper);z-index:2}
.skip:focus{left:.5rem}
.hidden{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
[hidden]{display:none!important}
h1{font-size:1.375rem}
h1+dl{margin-top:.6rem}
h2{margin:1.5rem 0 .4rem;font-size:1rem}
p{margin:.25rem 0}
.site{display:flex;flex-wrap:wrap;align-items:center;gap:.15rem 1.25rem;margin:0 -1.25rem 1rem;padding:.4rem 1.25rem;border-bottom:1px solid var(--line)}
.brand,.site nav a,a.button,.skip{text-decoration:none}
.brand{font-weight:700;letter-spacing:-.01em;color:var(--ink)}
.site nav{flex:1 1 auto}
.site nav>button{display:none}
.menu{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.15rem 1.25rem;position:static;width:auto;margin:0;padding:0;border:0;overflow:visible;background:none;color:inherit}
.menu ul{display:flex;flex-wrap:wrap;gap:.1rem .15rem;margin:0;padding:0;list-style:none}
.site nav a{display:block;padding:.3rem .6rem;border-radius:.4rem;color:var(--soft)}
.site nav a>div{display:inline;font-weight:600}
.site nav a>div:empty{display:none}
.site nav a:hover{background:var(--panel);color:var(--ink)}
.site nav a[aria-current]{background:var(--panel);color:var(--ink);font-weight:600}
.live,.menu p{margin:0;font-size:.8125rem;color:var(--soft);white-space:nowrap}
.live::before{content:"";display:inline-block;width:.55rem;height:.55rem;margin-right:.4rem;border-radius:50%;background:var(--skipped)}
.live[data-state=live]::before{background:var(--accepted)}
.live[data-state=lost]::before{background:var(--in-doubt)}
.site form{margin:0}
.head{display:flex;flex-wrap:wrap;align-items:center;gap:.2rem .75rem}
.head>.actions{margin:0}.head>form.actions{margin-left:auto}
.crumbs{margin:0 0 .25rem;font-size:.8125rem;color:var(--soft)}
.crumbs ol{display:flex;flex-wrap:wrap;margin:0;padding:0;list-style:none}
.crumbs li{overflow-wrap:anywhere}
.crumbs li+li::before{content:"/";margin:0 .4rem;color:var(--soft)}
.notice{margin:0 0 1rem;padding:.5rem .9rem;border-radius:.4rem;border-left:4px solid var(--accepted);background:var(--good)}
.notice.bad{border-color:var(--rejected);background:var(--bad)}
.notice.line{display:flex;flex-wrap:wrap;align-items:center;gap:0 1rem;padding:.15rem .9rem;margin-bottom:.5rem}.notice.line .actions{margin:0}
.state{white-space:nowrap;font-size:.8125rem;padding:0 .6rem}
.shares{height:.5rem;margin:.2rem 0 .15rem;min-width:8rem}
.filters p{margin:0}
.filters{display:flex;flex-wrap:wrap;align-items:end;gap:.5rem .75rem;margin:.6rem 0}
.field{display:flex;flex-direction:column;gap:.1rem;min-width:0}
.field.wide{flex:1 1 16rem}
.field select{max-width:14rem}
.field>label,legend{font-size:.8125rem;color:var(--soft)}
.hint{margin:0;font-size:.8125rem;color:var(--soft)}
input,select,button,.button{font:inherit;color:var(--ink);background:var(--paper);border:1px solid var(--field);border-radius:.35rem;padding:.25rem .6rem;min-height:2rem;max-width:100%}
input[type=checkbox]{min-height:0;width:1.15rem;height:1.15rem;margin:0;vertical-align:-.2rem;accent-color:var(--link)}
button,.button{cursor:pointer;font-weight:600;display:inline-block}
button:hover,.button:hover{border-color:var(--link);text-decoration:none}
button.main,.button.main{background:var(--link);border-color:var(--link);color:var(--paper)}
button.quiet{font-weight:400;padding:.05rem .5rem;min-height:1.75rem;font-size:.8125rem}
.actions{display:flex;flex-wrap:wrap;gap:.4rem;align-items:end;margin:.5rem 0 0}
td .actions{margin:0}
.pausing .actions{margin:.1rem 0}
.choices{display:flex;flex-wrap:wrap;gap:.35rem;margin:.6rem 0}
.choices a{padding:.2rem .7rem;border:1px solid var(--line);border-radius:1rem;color:var(--ink);white-space:nowrap}
.choices a:hover{border-color:var(--link);text-decoration:none}
.choices a[aria-current]{border-color:var(--link);background:var(--panel);font-weight:600}
.copied{display:inline-flex;flex-wrap:wrap;align-items:center;gap:.1rem .5rem;max-width:100%;min-width:0}
.copied pre,.copied code{min-width:0}
.copied button{display:none}
.copies .copied button{display:inline-block;font-family:inherit}
.pager{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;margin:.75rem 0}
progress{width:100%;height:.6rem;accent-color:var(--link)}
.two{display:grid;grid-template-columns:minmax(0,7fr) minmax(0,5fr);gap:0 2rem}
.two th[scope=row]{white-space:nowrap}
.two>*{min-width:0}
.empty{margin-top:.75rem;padding:1rem 1.25rem;background:var(--panel);border-radius:.5rem}
.quote{white-space:pre-wrap;unicode-bidi:plaintext;margin:0;max-height:12rem;overflow:auto}
td.pick,th.pick{width:2rem}
footer{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;align-items:center;margin-top:2rem;padding-top:.5rem;border-top:1px solid var(--line);font-size:.8125rem;color:var(--soft)}
.keys-hint{margin-left:auto}
kbd{padding:0 .35rem;border:1px solid var(--line);border-bottom-width:2px;border-radius:.25rem;background:var(--paper);font:.8125rem/1.4 inherit}
dialog{min-width:min(22rem,90vw);border:1px solid var(--line);border-radius:.6rem;background:var(--paper);color:var(--ink);padding:1rem 1.25rem}
dialog h2{margin-top:0}
dialog::backdrop{background:#0006}
table{font-size:inherit}
caption{padding:.1rem 0 .3rem}
th,td{padding:.3rem .75rem .3rem 0}
th[scope=row]{font-weight:500;min-width:6rem}
.scroll+.chart{margin-top:1rem}
tbody tr:hover{background:var(--panel)}
tbody tr:focus-within{background:var(--panel)}
th .soft,h2 .soft{font-weight:400;font-size:.8125rem}
thead th a{color:inherit}
th[aria-sort=ascending] a::after{content:" ↑"}th[aria-sort=descending] a::after{content:" ↓"}
tr:target{background:var(--panel)}
fieldset{margin:.75rem 0;padding:.5rem .9rem;border:1px solid var(--line);border-radius:.5rem;min-width:0}
fieldset .filters{margin:0}
.choosers{display:none;flex-wrap:wrap;gap:.4rem}.chooses .choosers{display:flex}
@media (min-width:46rem) and (min-height:40rem){.chosen{position:sticky;bottom:0;z-index:1}}
.chosen,.chosen legend{background:var(--paper)}
td input[type=checkbox],th input[type=checkbox]{width:1.15rem;height:1.15rem;vertical-align:-.2em}
.name{font-weight:600}
.name,.nowrap,td time{white-space:nowrap}
td .soft{font-size:.8125rem}
.step{margin:.35rem 0;padding:.4rem .8rem}
.step p{margin:0}
.step pre{margin:0}
.scroll:focus-visible{outline-offset:-2px}
.story{display:grid;grid-template-columns:minmax(0,23rem) minmax(0,1fr);gap:1rem 2rem;align-items:start;margin-top:1rem}
.story:not(:has(.said-text)){grid-template-columns:minmax(0,1fr)}
.story h2{margin-top:0}
.timeline{margin:0;padding:0;list-style:none}
.timeline li{position:relative;padding:0 0 .8rem 1.4rem;border-left:2px solid var(--line)}
.timeline li:last-child{border-color:transparent}
.timeline li::before{content:"";position:absolute;left:-.4rem;top:.35rem;width:.65rem;height:.65rem;border-radius:50%;background:var(--tone,var(--skipped));box-shadow:0 0 0 3px var(--paper)}
.timeline b{font-weight:600}
.timeline time,.timeline .when{display:block;font-size:.8125rem;color:var(--soft)}
.timeline .quote{padding:.4rem .7rem;background:var(--panel);border-radius:.5rem;margin-top:.2rem}
${MESSAGE_COLOURS}
.said-text{${MESSAGE_STYLE}}
.said-text .step:first-of-type{margin-top:0}
@media (max-width:72rem){.two{grid-template-columns:minmax(0,1fr)}}
@media (max-width:46rem){
.story{grid-template-columns:minmax(0,1fr)}
.field:has(select){flex:1 1 9rem}.field select{max-width:100%}
.head>form.actions{margin-left:0;flex:1 1 100%}.head input{width:100%}
}
@media (max-width:54rem){
@supports selector(:popover-open){
.site{flex-wrap:nowrap}
.site nav>button{display:inline-block}
.menu:not(:popover-open){display:none}
.menu{position:absolute;inset:3rem 1.25rem auto auto;flex-direction:column;align-items:stretch;gap:.5rem;min-width:12rem;padding:.5rem;border:1px solid var(--line);border-radius:.6rem;background:var(--paper);box-shadow:0 .5rem 1.5rem #0003}
.menu ul{flex-direction:column}
.menu p,.menu form{padding:.3rem .6rem;white-space:normal;max-width:16rem}
.menu a{padding:.5rem .6rem}
.site nav{flex:0 0 auto;order:1}
.brand{margin-right:auto}
}
}
@media print{.site nav,.filters,.actions,.pager,.choices,.copied button,.live,dialog{display:none}}
`);

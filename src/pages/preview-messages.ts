import { countOf, number } from '../report/words.ts';
import { Html, html } from '../util/html.ts';
import type { About, Facets } from './preview-about.ts';
import type { PreviewSource } from './preview-source.ts';

/** Messages that are in the page as plain markup. */
export const STATIC_ROWS = 20;

/** What the script needs, as JSON in an element that shows nothing. */
export function aboutElement({ plan }: PreviewSource, facets: readonly Facets[]): Html {
  const { columns, environment, campaign } = plan;
  const { to, key, timeZone } = campaign.recipients;
  const others: readonly (string | null)[] = [
    to,
    ...key,
    timeZone,
    ...campaign.fallbacks.map((fallback) => fallback.to),
  ];
  const naming = columns.flatMap((name, i) => (others.includes(name) ? [] : [i]));
  const about: About = { columns, naming, address: columns.indexOf(to), url: environment.url, facets };
  // Nothing in JSON needs to be `<`, with which an end tag begins, but in strings, where it can be written otherwise.
  const json = JSON.stringify(about).replaceAll('<', '\\u003c');
  return html`<script type="application/json" id="about">${new Html(json)}</script>`;
}

interface Shown {
  readonly first: readonly Html[];
  /** Rows in the page. */
  readonly rows: number;
  /** Rows of the list. */
  readonly of: number;
}

/** The frame that the script fills, and what is there without it. */
export function messagesSection({ first, rows, of }: Shown): Html {
  const part =
    rows < of ? html`<p class="soft">This page holds ${number(rows)} of the ${countOf(of, 'row')}.</p>` : null;
  const note = `The first ${number(first.length)} of ${countOf(rows, 'row')}. With JavaScript, in a browser of 2023 or later, all of them are shown here, with search and filters.`;
  return html`<section id="messages" aria-labelledby="messages-title">
<h2 id="messages-title">Messages</h2>
${part}<div id="browse" hidden>
<form id="search" role="search" autocomplete="off">
<label class="field wide" for="query"><span>Search</span><input id="query" type="search" spellcheck="false" maxlength="200" aria-describedby="count" aria-controls="list"></label>
<div id="filters"></div>
</form>
<div class="status"><p id="count" role="status" aria-live="polite"></p>${HELP}</div>
<div class="panes">
<div id="list" role="listbox" tabindex="0" aria-label="Recipients"></div>
<div id="detail" role="region" aria-label="The chosen recipient" tabindex="-1"></div>
</div>
</div>
<div id="first">
<p class="soft">${note}</p>
${first}
</div>
</section>`;
}

const HELP: Html = html`<details class="help"><summary>How to search, and keys</summary>
<dl>
<dt>a name or a word</dt><dd>any column, the address or the key; with or without accents; all words must be there</dd>
<dt>a number</dt><dd>in any spelling: 07700 900123, +44 7700 900123, 0044..., or a part of it</dd>
<dt>line 42</dt><dd>the row that begins at line 42 of the list; 42 alone finds it too</dd>
<dt><kbd>/</kbd></dt><dd>to the search</dd>
<dt><kbd>Esc</kbd></dt><dd>empties the search, then goes to the list</dd>
<dt><kbd>↓</kbd> <kbd>↑</kbd>, <kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous recipient; the arrows also from the search</dd>
<dt><kbd>Page Down</kbd> <kbd>Page Up</kbd></dt><dd>a page further and back</dd>
<dt><kbd>Home</kbd> <kbd>End</kbd></dt><dd>first and last</dd>
<dt><kbd>Enter</kbd></dt><dd>to the message of the chosen one</dd>
</dl>
</details>`;

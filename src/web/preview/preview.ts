import type { Diagnostic } from '../../errors.ts';
import type { SendDecision } from '../../model.ts';
import { type Preview, previewFacts } from '../../operations/preview.ts';
import { countOf, number } from '../../report/words.ts';
import { Html, html } from '../../util/html.ts';
import { clientScript } from '../client-script.ts';
import { documentFrame } from '../document.ts';
import type { About, Facets } from './about.ts';
import { createPacker, openValues, type PackedRow, type Values } from './block.ts';
import { columnsNode, KINDS, type PreviewNode, requestNode } from './nodes.ts';
import { createFacetTable, type FacetTable, rowView } from './row.ts';
import type { PreviewedRow, PreviewSource } from './source.ts';
import { summarySection } from './summary.ts';

export type { PreviewedRow, PreviewSource } from './source.ts';

interface PreviewPageOptions {
  /** Figures of the whole list with their names, in order; asked for once all rows were read. */
  readonly facts: () => readonly (readonly [name: string, value: string])[];
}

/**
 * The page of a dry run, in pieces: one file that loads nothing. It begins with the rows, compressed and in hidden
 * elements: they are written as they are read, so memory does not grow with the list. The visible part follows: the
 * summary, which is known at the end, the first messages for browsers without scripts, and the script that shows all of
 * them.
 *
 * Addresses and texts are in it unmasked: it is for the owner of the list.
 *
 * @throws whatever reading the rows throws; HandbillError if the list changes its form meanwhile
 */
async function* previewPage(source: PreviewSource, options: PreviewPageOptions): AsyncGenerator<string> {
  const { campaign, occurrence } = source.plan;
  const title = `Preview of ${campaign.name} (${occurrence})`;
  const script = clientScript('preview');
  const { head, foot } = documentFrame({ title, style: PREVIEW_STYLE, script });
  yield head;
  const facets = createFacetTable(source);
  const first: Html[] = [];
  const rows = yield* rowElements(source, facets, first);
  const { estimate } = source.result();
  yield html`<main>
${summarySection(source, options.facts())}
${messagesSection({ first, rows, of: estimate.rows })}
</main>
${aboutElement(source, facets.all())}
`.markup;
  yield foot;
}

/** The rows as elements; keeps the first ones as markup, and returns how many there are. */
async function* rowElements(source: PreviewSource, facets: FacetTable, first: Html[]): AsyncGenerator<string, number> {
  const packer = createPacker();
  const values = await openValues(source.plan.campaign.recipients);
  let count = 0;
  try {
    for await (const batch of source.batches) {
      const [from, to] = [batch[0], batch.at(-1)];
      if (from !== undefined && to !== undefined) await values.between(from.decision.row, to.decision.row);
      for (const row of batch) {
        const packed = packedRow(row, values, facets, source, count < STATIC_ROWS ? first : null);
        packer.add(packed);
        count += 1;
      }
      const ready = packer.ready();
      if (ready !== '') yield ready;
    }
    yield packer.rest();
  } finally {
    await values.close();
  }
  return count;
}

const NO_WARNINGS: readonly Diagnostic[] = [];

function packedRow(
  row: PreviewedRow,
  values: Values,
  facets: FacetTable,
  source: PreviewSource,
  first: Html[] | null,
): PackedRow {
  const { decision } = row;
  const send = decision.decision === 'send' ? decision : null;
  const warnings = send === null ? NO_WARNINGS : source.warn(send);
  const cells = send?.recipient.values ?? values.of(decision.row, decision.line);
  const view = rowView(row, warnings, source);
  const bodies = row.body === null ? row.fallbacks : [row.body, ...row.fallbacks];
  const { to, key, line } = decision;
  if (first !== null) {
    const { columns, environment } = source.plan;
    const requests = view.requests.map((name, i) => requestNode(name, environment.url, bodies[i] ?? ''));
    first.push(nodeHtml(withNodes(view.node, [...columnsNode(columns, cells), ...requests])));
  }
  return {
    line,
    facets: facets.numberOf(decision, warnings),
    fields: [to ?? '', key === to ? '' : (key ?? ''), searchedToo(to, cells, send), ...cells],
    // A body is JSON on one line: kept as it is, because its very bytes are what is shown.
    view: [JSON.stringify(view), ...bodies].join('\n'),
    like: send?.variant ?? '',
  };
}

function withNodes(node: PreviewNode, more: readonly PreviewNode[]): PreviewNode {
  return typeof node === 'string' ? node : [...node, ...more];
}

/** Addresses of fallbacks; if a number could not be read, its digits, with any spaces. */
function searchedToo(to: string | null, cells: readonly string[], send: SendDecision | null): string {
  if (send !== null && send.fallbacks.length > 0) {
    return send.fallbacks.flatMap((message) => (message.to === to ? [] : [message.to])).join(' ');
  }
  if (to !== null) return '';
  return cells
    .map((cell) => cell.replace(/\D+/g, ''))
    .filter((digits) => digits.length > 2)
    .join(' ');
}

/** Messages that are in the page as plain markup. */
const STATIC_ROWS = 20;

/** What the script needs, as JSON in an element that shows nothing. */
function aboutElement({ plan }: PreviewSource, facets: readonly Facets[]): Html {
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

/** The frame that the script fills, and its content without the script. */
function messagesSection({ first, rows, of }: Shown): Html {
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

/**
 * A message as markup, for pages without scripts. The HTML of an email is left out, because only a browser can sanitize
 * it; its text is shown.
 */
function nodeHtml(node: PreviewNode): Html {
  if (typeof node === 'string') return html`${node}`;
  const [kind, ...children] = node;
  if (kind === 'frame') return html`<p class="soft">Shown with JavaScript.</p>`;
  const { tag, style } = KINDS[kind];
  const start = style === '' ? `<${tag}>` : `<${tag} class="${style}">`;
  return new Html(`${start}${children.map((child) => nodeHtml(child).markup).join('')}</${tag}>`);
}

/** What a preview looks like, beside what all pages share. */
const PREVIEW_STYLE: Html = new Html(`
:root{--chosen:#dfeafa;--chosen-line:#2f6fb5;--bubble:#e9eef5;--phone:#f5f7fa;--odd:#ffe08a;--odd-ink:#3d2c00;--warn:#8a5a00;--stop:#c9302c}
@media (prefers-color-scheme:dark){:root{--chosen:#1f3350;--chosen-line:#6fa8e8;--bubble:#26313e;--phone:#1a212a;--odd:#6b5310;--odd-ink:#fff3cf;--warn:#e0b040;--stop:#ef6b67}}
body{max-width:80rem}
h3{margin:1.5rem 0 .4rem;font-size:1rem}
[hidden]{display:none!important}
:focus-visible{outline:3px solid var(--chosen-line);outline-offset:2px}
.kicker{margin:0 0 .35rem}
.tiles{display:flex;flex-wrap:wrap;gap:.75rem;margin:0 0 1rem}
.tiles div{display:flex;flex-direction:column;flex:1 1 9rem;padding:.7rem 1rem;border:1px solid var(--line);border-radius:.6rem;background:var(--panel)}
.tiles dd{font-size:1.35rem;font-weight:600;line-height:1.25;font-variant-numeric:tabular-nums}
.small{display:grid;grid-template-columns:1fr;gap:.2rem;margin:0 0 1.75rem}
.small div{display:grid;grid-template-columns:6.5rem 1fr;gap:1rem}
.stop{margin:1.5rem 0;padding:.25rem 1.1rem 1rem;border:1px solid var(--stop);border-left-width:6px;border-radius:.4rem}
.stop h2{margin-top:1rem;color:var(--stop)}
.stop ul,.notes{margin:.5rem 0 0;padding-left:1.2rem}
.stop li,.notes li{margin:.35rem 0;overflow-wrap:anywhere}
.charts{margin-top:1.5rem}
.fold{margin-top:.9rem}
.fold>summary,.help>summary{cursor:pointer;color:var(--soft);width:fit-content}
.field{display:flex;flex-direction:column;gap:.2rem;min-width:0;flex:1 1 9rem}
.field span{font-size:.8125rem;color:var(--soft)}
input,select{font:inherit;color:inherit;background:var(--paper);border:1px solid var(--soft);border-radius:.4rem;padding:.45rem .6rem;width:100%;min-width:0}
#search>.field{max-width:40rem}
#filters .field{max-width:18rem}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
#filters{display:flex;flex-wrap:wrap;gap:.6rem;margin-top:.6rem}
.status{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;align-items:baseline;margin:.6rem 0}
.status p{margin:0;font-variant-numeric:tabular-nums;font-weight:600}
.help[open]{flex-basis:100%}
.help dl{margin-top:.6rem;padding:.8rem 1rem;background:var(--panel);border-radius:.5rem}
kbd{display:inline-block;padding:0 .4rem;border:1px solid var(--line);border-bottom-width:2px;border-radius:.3rem;background:var(--paper);font:.8125rem/1.5 inherit}
.panes{display:grid;grid-template-columns:minmax(16rem,22rem) minmax(0,1fr);gap:1.25rem;align-items:start}
#list{position:relative;height:min(78vh,52rem,var(--full,100rem));min-height:4rem;overflow:auto;border:1px solid var(--line);border-radius:.5rem;contain:strict}
#list .rail{position:relative;width:100%}
#list .none{padding:1rem;color:var(--soft)}
.hit{position:absolute;inset:0 0 auto;padding:.5rem .75rem;border-bottom:1px solid var(--line);border-left:4px solid transparent;cursor:pointer;overflow:hidden}
.hit:hover{background:var(--panel)}
.hit[aria-selected=true]{background:var(--chosen);border-left-color:var(--chosen-line)}
.hit-top{display:flex;gap:.5rem;align-items:baseline;justify-content:space-between}
.hit-to{font-weight:600;white-space:nowrap;overflow:hidden;text-overflow:ellipsis;font-variant-numeric:tabular-nums}
.hit-sub{display:flex;gap:.5rem;justify-content:space-between;font-size:.8125rem;color:var(--soft)}
.hit[aria-selected=true] .hit-sub,.hit[aria-selected=true] .badge{color:var(--ink)}
.hit-sub span{white-space:nowrap;overflow:hidden;text-overflow:ellipsis;flex:0 0 auto}
.hit-sub span:first-child{flex:0 1 auto}
.badge{flex:0 0 auto;padding:0 .5rem;border:1px solid currentColor;border-radius:1rem;font-size:.75rem;line-height:1.5;white-space:nowrap;color:var(--tone,var(--soft))}
.badge[data-word=send]{--tone:var(--accepted)}.badge[data-word=invalid]{--tone:var(--rejected)}.badge[data-word=defer]{--tone:var(--deferred)}
#detail{min-width:0;border:1px solid var(--line);border-radius:.5rem;padding:1rem 1.25rem 1.25rem;min-height:12rem}
#first .row{border:1px solid var(--line);border-radius:.5rem;padding:1rem 1.25rem 1.25rem;margin:1rem 0}
.row-head{display:flex;flex-wrap:wrap;gap:.2rem .8rem;align-items:baseline}
.row-head p{flex-basis:100%;margin:0}
.row-to{margin:0;font-size:1.2rem;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
.row-head .badge{font-size:.875rem}
.warnings{margin:.8rem 0;padding:.6rem .9rem .6rem 2rem;border-left:4px solid var(--warn);background:var(--panel);border-radius:0 .3rem .3rem 0;font-size:.9375rem}
.warnings li{margin:.15rem 0;overflow-wrap:anywhere}
code{overflow-wrap:anywhere}
.warnings code,.notes code,.stop code{font-size:.8125rem;color:var(--soft)}
.leg{margin:1rem 0}
.leg-name{margin:0 0 .5rem;font-size:.875rem;color:var(--soft);font-weight:600}
.phone{max-width:27rem;padding:.9rem;border:1px solid var(--line);border-radius:1.2rem;background:var(--phone)}
.sender{margin:0 0 .5rem;font-size:.8125rem;font-weight:600;color:var(--soft);text-align:center}
.bubble,.card,.sheet{padding:.65rem .85rem;border-radius:1rem;background:var(--bubble);overflow-wrap:anywhere}
.bubble{width:fit-content;max-width:100%;border-bottom-left-radius:.25rem}
.text,.plain{white-space:pre-wrap;overflow-wrap:anywhere}
.text,.plain,.title,.foot,.label{unicode-bidi:plaintext}
.bubble>*+*,.card>*+*{margin-top:.45rem}
.cut{unicode-bidi:isolate;margin:0 .25rem;padding:0 .35rem;border-radius:.3rem;background:var(--paper);color:var(--soft);border:1px solid var(--line);font-size:.6875rem;line-height:1.5;white-space:nowrap;user-select:none;vertical-align:.1em}
.odd{background:var(--odd);color:var(--odd-ink);border-radius:.15rem;box-shadow:0 0 0 1px var(--odd)}
.title{font-weight:600;margin-bottom:0}
.foot{font-size:.8125rem;color:var(--soft);margin-bottom:0}
.media{display:flex;flex-direction:column;gap:.1rem;padding:1rem .8rem;border:1px dashed var(--soft);border-radius:.7rem;text-align:center;font-size:.8125rem}
.media-kind{font-weight:600}
.address{color:var(--soft);overflow-wrap:anywhere;font-size:.75rem}
.buttons{display:flex;flex-wrap:wrap;gap:.4rem;margin:.6rem 0 0;padding:0;list-style:none}
.button{display:flex;flex-direction:column;padding:.3rem .8rem;border:1px solid var(--chosen-line);border-radius:1rem;max-width:100%;text-align:center;flex:0 1 auto}
.card .button{flex:1 1 100%;background:var(--paper)}
.label{font-weight:600;overflow-wrap:anywhere}
.button .label{color:var(--chosen-line)}
.target{font-size:.75rem;color:var(--soft);overflow-wrap:anywhere}
.card .target{color:var(--soft)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,11rem),1fr));gap:.6rem;align-items:stretch}
.phone:has(.card+.card){max-width:none}
.bubble+.cards,.bubble+.sheet,.buttons+.sheet{margin-top:.6rem}
.card{border:1px solid var(--line)}
.sheet-title{margin:.5rem 0 .2rem;font-size:.8125rem;font-weight:600;color:var(--soft)}
.sheet-title:first-child{margin-top:0}
.options{margin:0;padding:0;list-style:none}
.option{display:flex;flex-direction:column;padding:.3rem 0;border-top:1px solid var(--line)}
.option .label{font-weight:400}
.facts{margin:.4rem 0}
.mail{container-type:inline-size;border:1px solid var(--line);border-radius:.6rem;overflow:hidden}
.mail>.facts{margin:0;padding:.8rem 1rem;background:var(--phone)}
.sides{display:grid;grid-template-columns:minmax(0,1fr)}
@container (min-width:38rem){.sides{grid-template-columns:minmax(0,5fr) minmax(0,3fr)}}
.side{min-width:0;padding:.6rem 1rem 1rem;border-top:1px solid var(--line)}
.side .soft{font-size:.8125rem;margin:0 0 .5rem}
.plain{font:.875rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.frame{display:block;width:100%;height:32rem;border:1px solid var(--line);border-radius:.3rem;background:#fff;color-scheme:light;resize:vertical;overflow:auto}
.script{max-width:34rem;padding:.8rem 1.1rem;border-left:4px solid var(--chosen-line);background:var(--phone);border-radius:0 .6rem .6rem 0}
.script .sender{text-align:left}
.script .text{font-size:1.125rem;margin-top:.4rem}
.code{white-space:pre-wrap;overflow-wrap:anywhere;padding:.7rem .9rem;background:var(--panel);border-radius:.4rem;font:.8125rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
@media (max-width:48rem){
#filters .field{max-width:none}
body{padding:1.25rem .9rem 3rem}
.panes{grid-template-columns:minmax(0,1fr)}
#list{height:min(17rem,var(--full,17rem))}
#detail,#first .row{padding:.8rem .9rem 1rem}
dl{gap:.2rem .8rem}
.help dl{grid-template-columns:1fr}.help dd{margin-bottom:.5rem}
.tiles div{flex-basis:7rem;padding:.5rem .75rem}.tiles dd{font-size:1.1rem}
}
@media (forced-colors:active){.hit[aria-selected=true]{outline:2px solid Highlight;outline-offset:-2px}}
@media print{#browse{display:none}#first{display:block!important}}
`);

/** The page of a dry run: every row of its batches, and what all of them come to. */
export function previewHtml(preview: Preview): AsyncGenerator<string> {
  return previewPage(preview, { facts: () => previewFacts(preview) });
}

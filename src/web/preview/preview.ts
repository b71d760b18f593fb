import type { Diagnostic } from '../../errors.ts';
import type { SendDecision } from '../../model.ts';
import { compileDisplay } from '../../plan/display.ts';
import type { Previewed, PreviewRows } from '../../plan/previewed.ts';
import type { Formats } from '../../report/locale.ts';
import { Html, html } from '../../util/escape.ts';
import { clientScript } from '../client-script.ts';
import { documentFrame } from '../document.ts';
import type { About, Facets } from './about.ts';
import { createPacker, openValues, type PackedRow, type Values } from './block.ts';
import { previewFacts } from './facts.ts';
import { MESSAGE_COLOURS, MESSAGE_STYLE, nodeHtml } from './message-html.ts';
import { columnsNode, requestNode, withMore } from './nodes.ts';
import { createFacetTable, createHeads, type FacetTable, type Heads, rowView } from './row.ts';
import { summarySection } from './summary.ts';

/**
 * The page of a dry run, in pieces: one file that loads nothing, with unmasked addresses and texts. It begins with the
 * rows, compressed and in hidden elements, written as they are read, so memory does not grow with the list. The
 * summary, the first messages for browsers without scripts, and the script follow.
 * @throws any error of reading the rows; HandbillError if the list changes its form meanwhile
 */
async function* previewPage(source: PreviewRows, options: { readonly facts: () => ReturnType<typeof previewFacts> }) {
  const { campaign, occurrence } = source.plan;
  const title = `Preview of ${campaign.name} (${occurrence})`;
  const script = clientScript('preview');
  const { head, foot } = documentFrame({ title, style: PREVIEW_STYLE, script });
  yield head;
  const facets = createFacetTable(source);
  const first: Html[] = [];
  const heads = createHeads();
  const { rows, warned } = yield* rowElements(source, facets, heads, first);
  const { estimate } = source.result();
  yield html`<main>
${summarySection(source, options.facts(), rows < estimate.rows ? null : warned)}
${messagesSection({ first, rows, of: estimate.rows }, source.formats)}
</main>
${aboutElement(source, facets.all(), heads.all())}
`.markup;
  yield foot;
}

/** The rows as elements; keeps the first ones as markup, and returns the counts of rows and of rows with warnings. */
async function* rowElements(source: PreviewRows, facets: FacetTable, heads: Heads, first: Html[]) {
  const packer = createPacker();
  const values = await openValues(source.plan.campaign.recipients);
  const labelOf = displayOf(source)?.labelOf ?? (() => null);
  let count = 0;
  let warned = 0;
  try {
    for await (const batch of source.batches) {
      const [from, to] = [batch[0], batch.at(-1)];
      if (from !== undefined && to !== undefined) await values.between(from.decision.row, to.decision.row);
      for (const row of batch) {
        const { decision } = row;
        const isMeant = decision.decision === 'send' || decision.decision === 'defer';
        const warnings = isMeant ? source.warn(decision) : NO_WARNINGS;
        packer.add(
          packedRow(row, { values, labelOf, warnings }, facets, heads, source, count < STATIC_ROWS ? first : null),
        );
        count += 1;
        if (warnings.length > 0) warned += 1;
      }
      const ready = packer.ready();
      if (ready !== '') yield ready;
    }
    yield packer.rest();
  } finally {
    await values.close();
  }
  return { rows: count, warned };
}

const NO_WARNINGS: readonly Diagnostic[] = [];

interface RowFacts {
  readonly values: Values;
  readonly labelOf: (cells: readonly string[]) => string | null;
  readonly warnings: readonly Diagnostic[];
}

function displayOf({ plan }: Pick<PreviewRows, 'plan'>) {
  return compileDisplay(plan.campaign, plan.columns).display;
}

function packedRow(
  row: Previewed,
  { values, labelOf, warnings }: RowFacts,
  facets: FacetTable,
  heads: Heads,
  source: PreviewRows,
  first: Html[] | null,
): PackedRow {
  const { decision } = row;
  const send = decision.decision === 'send' ? decision : null;
  const cells = send?.recipient.values ?? values.of(decision.row, decision.line);
  const label = cells.length === 0 ? null : labelOf(cells);
  const view = rowView(row, { warnings, label }, source, heads);
  const bodies = [...(row.request === null ? [] : [row.request]), ...row.fallbacks].map(({ body }) => body);
  const { to, key, line } = decision;
  if (first !== null) {
    const { columns } = source.plan;
    const requests = view.requests.map(([name, head], i) =>
      requestNode(name, heads.all()[head] ?? '', bodies[i] ?? ''),
    );
    first.push(nodeHtml(withMore(view.node, [...columnsNode(columns, cells), ...requests]), 'Shown with JavaScript.'));
  }
  return {
    line,
    facets: facets.numberOf(decision, warnings),
    fields: [to ?? '', key === to ? '' : (key ?? ''), searchedToo(to, cells, send), label ?? '', ...cells],
    // A body is one line: kept as it is, because its very bytes are what is shown.
    view: [JSON.stringify(view), ...bodies].join('\n'),
    like: send?.variant ?? '',
  };
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

const STATIC_ROWS = 20;

/** Data for the script, as JSON in an invisible element. */
function aboutElement(
  { plan, formats, result }: PreviewRows,
  facets: readonly Facets[],
  heads: readonly string[],
): Html {
  const { estimate, mostExpensive } = result();
  const { columns, campaign } = plan;
  const { to, key, timeZone } = campaign.recipients;
  const others: readonly (string | null)[] = [
    to,
    ...key,
    timeZone,
    ...campaign.fallbacks.map((fallback) => fallback.to),
    ...(displayOf({ plan })?.columns ?? []),
  ];
  const naming = columns.flatMap((name, i) => (others.includes(name) ? [] : [i]));
  const about: About = {
    columns,
    naming,
    address: columns.indexOf(to),
    heads,
    locale: formats.locale,
    variants: campaign.variants.map(({ name }) => name),
    longest: estimate.longest?.line ?? null,
    mostExpensive,
    facets,
  };
  // In JSON, `<`, which begins an end tag, occurs only in strings, where it can be escaped.
  const json = JSON.stringify(about).replaceAll('<', '\\u003c');
  return html`<script type="application/json" id="about">${new Html(json)}</script>`;
}

interface Shown {
  readonly first: readonly Html[];
  readonly rows: number;
  readonly of: number;
}

function messagesSection({ first, rows, of }: Shown, { number, count }: Formats): Html {
  const part = rows < of ? html`<p class="soft">This page holds ${number(rows)} of the ${count(of, 'row')}.</p>` : null;
  const note = `The first ${number(first.length)} of ${count(rows, 'row')}. With JavaScript, in a browser of 2023 or later, all of them are shown here, with search and filters.`;
  return html`<section id="messages" aria-labelledby="messages-title">
<h2 class="unseen" id="messages-title">Messages</h2>
${part}<div id="browse" hidden>
<div class="finder">
<form id="search" role="search" autocomplete="off">
<label class="unseen" for="query">Search</label><input id="query" type="search" spellcheck="false" maxlength="200" placeholder="Search name, number or line" aria-describedby="count" aria-controls="list">
<details id="narrow"><summary>Filters</summary><div id="filters"></div></details>
</form>
<div class="status"><p id="count" role="status" aria-live="polite"></p>${HELP}</div>
<div id="list" role="listbox" tabindex="0" aria-label="Recipients"></div>
</div>
<div class="reader">
<div class="steer" role="toolbar" aria-label="Which message">
<button type="button" id="previous" aria-label="Previous recipient">←</button><button type="button" id="next" aria-label="Next recipient">→</button>
<span id="place" class="soft"></span>
${JUMPS.map(
  ([id, name]) => html`<button type="button" id="${id}" hidden>${name}</button>
`,
)}<button type="button" id="compare" aria-pressed="false" hidden>Compare<span class="wide-only"> variants</span></button>
</div>
<div id="detail" role="region" aria-label="The chosen recipient" tabindex="-1"></div>
</div>
</div>
<div id="first">
<p class="soft">${note}</p>
${first}
</div>
</section>`;
}

const JUMPS = [
  ['longest', 'Longest'],
  ['most-expensive', 'Most expensive'],
  ['first-warning', 'First warning'],
] as const;

const HELP: Html = html`<details class="help" id="help"><summary>Keys</summary>
<dl>
<dt>a name or a word</dt><dd>any column, the address or the key; with or without accents; all words must be there</dd>
<dt>a number</dt><dd>in any spelling: 07700 900123, +44 7700 900123, 0044..., or a part of it</dd>
<dt>line 42</dt><dd>the row that begins at line 42 of the list; 42 alone finds it too</dd>
<dt><kbd>/</kbd></dt><dd>to the search</dd>
<dt><kbd>Esc</kbd></dt><dd>empties the search, then goes to the list</dd>
<dt><kbd>j</kbd> <kbd>k</kbd>, <kbd>→</kbd> <kbd>←</kbd></dt><dd>next and previous recipient; on a phone, swipe the message</dd>
<dt><kbd>↓</kbd> <kbd>↑</kbd></dt><dd>the same in the list, and from the search</dd>
<dt><kbd>Page Down</kbd> <kbd>Page Up</kbd></dt><dd>a page further and back</dd>
<dt><kbd>Home</kbd> <kbd>End</kbd></dt><dd>first and last</dd>
<dt><kbd>Enter</kbd></dt><dd>to the message of the chosen one</dd>
<dt><kbd>?</kbd></dt><dd>this list</dd>
</dl>
</details>`;

const PREVIEW_STYLE: Html = new Html(`
:root{--chosen:#dfeafa;--warn:#8a5a00;--stop:#c9302c}
@media (prefers-color-scheme:dark){:root{--chosen:#1f3350;--warn:#e0b040;--stop:#ef6b67}}
body{max-width:90rem;padding:1rem 1.25rem 3rem;font-size:.9375rem}
h3{margin:1.5rem 0 .4rem;font-size:1rem}
[hidden]{display:none!important}
:focus-visible{outline:3px solid var(--chosen-line);outline-offset:2px}
.top{display:flex;flex-wrap:wrap;gap:0 1rem;align-items:baseline}
.top h1{font-size:1.375rem}
.top p{margin:.2rem 0}
.figures{margin:.5rem 0 .9rem;border:1px solid var(--line);border-radius:.6rem;background:var(--panel)}
.figures>summary{display:flex;flex-wrap:wrap;gap:.15rem 1.5rem;align-items:baseline;padding:.5rem .9rem;list-style:none;color:var(--soft)}
.figures>summary::-webkit-details-marker{display:none}
.figures>summary b{color:var(--ink);font-size:1.0625rem;font-variant-numeric:tabular-nums}
.figures .bad,.figures .bad b{color:var(--stop)}.figures .odd-one,.figures .odd-one b{color:var(--warn)}
.figures .opens{margin-left:auto;color:var(--chosen-line)}
.figures .opens::after{content:" ▾"}.figures[open] .opens::after{content:" ▴"}
.figures[open]>summary{border-bottom:1px solid var(--line)}
.figures>div{padding:.9rem;background:var(--paper);border-radius:0 0 .6rem .6rem}
.small{display:grid;grid-template-columns:1fr;gap:.2rem;margin:0 0 1.5rem}
.small div{display:grid;grid-template-columns:6.5rem 1fr;gap:1rem}
.stop{margin:.75rem 0;padding:.5rem 1.1rem .75rem;border:1px solid var(--stop);border-left-width:6px;border-radius:.4rem}
.stop h2{margin:0;font-size:1rem;color:var(--stop)}
.stop ul,.notes{margin:.35rem 0 0;padding-left:1.2rem}
.stop li,.notes li{margin:.25rem 0;overflow-wrap:anywhere}
.fold{margin-top:.75rem}
.fold>summary,.help>summary,#narrow>summary{cursor:pointer;color:var(--soft);width:fit-content}
input,select,button{font:inherit;color:inherit;background:var(--paper);border:1px solid var(--soft);border-radius:.4rem;padding:.4rem .6rem;min-width:0}
button{cursor:pointer;min-height:2.1rem;border-color:var(--line);font-size:.875rem}
button:hover{border-color:var(--chosen-line)}
button[aria-pressed=true]{background:var(--chosen);border-color:var(--chosen-line)}
button:disabled{color:var(--soft);cursor:default;border-color:var(--line)}
#query{width:100%}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.field{display:flex;flex-direction:column;gap:.1rem;min-width:0}
.field span{font-size:.8125rem;color:var(--soft)}
#narrow{margin-top:.4rem;font-size:.875rem}
#filters{display:grid;grid-template-columns:1fr 1fr;gap:.4rem .6rem;margin-top:.4rem}
.status{display:flex;flex-wrap:wrap;gap:.1rem 1rem;align-items:baseline;justify-content:space-between;margin:.35rem 0;font-size:.875rem}
.status p{margin:0;font-variant-numeric:tabular-nums;font-weight:600}
.help[open]{flex-basis:100%}
.help dl{margin-top:.4rem;padding:.7rem .8rem;background:var(--panel);border-radius:.5rem;grid-template-columns:1fr}
.help dd{margin:0 0 .35rem}
kbd{display:inline-block;padding:0 .4rem;border:1px solid var(--line);border-bottom-width:2px;border-radius:.3rem;background:var(--paper);font:.8125rem/1.5 inherit}
#browse{display:grid;grid-template-columns:minmax(15rem,20rem) minmax(0,1fr);gap:1.25rem;align-items:start}
.finder{position:sticky;top:.75rem;min-width:0}
#list{position:relative;height:min(max(100vh - 17rem,16rem),var(--full,100rem));min-height:4rem;overflow:auto;border:1px solid var(--line);border-radius:.5rem;contain:strict}
#list .rail{position:relative;width:100%}
#list .none{padding:1rem;color:var(--soft)}
.hit{position:absolute;inset:0 0 auto;padding:.4rem .75rem;border-bottom:1px solid var(--line);border-left:4px solid transparent;cursor:pointer;overflow:hidden}
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
.reader{min-width:0}
.steer{display:flex;flex-wrap:wrap;gap:.35rem .5rem;align-items:center;margin:0 0 .75rem}
#place{margin-right:auto;padding:0 .35rem;font-size:.875rem;font-variant-numeric:tabular-nums}
#detail{min-width:0;min-height:12rem;touch-action:pan-y}
#detail:focus-visible{outline-offset:6px;border-radius:.3rem}
#first .row{border-top:1px solid var(--line);padding:1rem 0;margin:1rem 0}
.row{display:grid;grid-template-columns:minmax(0,23rem) minmax(0,1fr);grid-template-rows:auto 1fr;gap:.75rem 1.75rem}
.row>*{grid-column:2}
.row>.shown{grid-column:1;grid-row:1/span 2}
.row:not(:has(>.shown)),.row:has(.mail,.card+.card,.compare){grid-template-columns:minmax(0,1fr)}
.row:not(:has(>.shown))>*,.row:has(.mail,.card+.card,.compare)>*{grid-column:1;grid-row:auto}
.shown{min-width:0}.more{min-width:0;font-size:.9375rem}
.shown>.step:first-child{margin-top:0}
.compare{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,17rem),1fr));gap:1rem 1.25rem;align-items:start}
.column{min-width:0}
.column>.step-name{margin:0 0 .1rem;color:var(--ink);font-size:.9375rem}
.row-head{display:flex;flex-wrap:wrap;gap:.2rem .8rem;align-items:baseline}
.row-head p{flex-basis:100%;margin:0}
.row-to{margin:0;font-size:1.2rem;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
.row-head .badge{font-size:.875rem}
.warnings{margin:0 0 .8rem;padding:.6rem .9rem .6rem 2rem;border-left:4px solid var(--warn);background:var(--panel);border-radius:0 .3rem .3rem 0;font-size:.9375rem}
.warnings li{margin:.15rem 0;overflow-wrap:anywhere}
code{overflow-wrap:anywhere}
.warnings code,.notes code,.stop code{font-size:.8125rem;color:var(--soft)}
${MESSAGE_COLOURS}${MESSAGE_STYLE}.code{white-space:pre-wrap;overflow-wrap:anywhere;padding:.7rem .9rem;background:var(--panel);border-radius:.4rem;font:.8125rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
@media (max-width:70rem){
.row{grid-template-columns:minmax(0,1fr)}
.row>*,.row>.shown{grid-column:1;grid-row:auto}
}
@media (max-width:48rem){
body{padding:.5rem .9rem 3rem}
.top h1{font-size:1.125rem}.top p{font-size:.8125rem;margin:0}.figures{margin:.4rem 0 .6rem;font-size:.875rem}.steer{margin-bottom:.5rem}
#browse{grid-template-columns:minmax(0,1fr)}
.reader{order:-1}
.finder{position:static}
#list{height:min(24rem,var(--full,24rem))}
.steer{gap:.3rem}#place{flex:1 1 72%}.steer button{font-size:.75rem;padding:.3rem .4rem}.wide-only{display:none}
.figures>summary{gap:.05rem 1rem;padding:.4rem .7rem}
.figures>summary b{font-size:inherit}
.shown>.step:first-child .phone{min-height:17rem}
.row{gap:.5rem}
.row-to{font-size:1.0625rem}
.phone{margin-inline:auto}
dl{gap:.2rem .8rem}
}
@media (forced-colors:active){.hit[aria-selected=true]{outline:2px solid Highlight;outline-offset:-2px}}
@media print{#browse{display:none}#first{display:block!important}.figures::details-content{content-visibility:visible;block-size:auto}}
`);

export function previewHtml(preview: PreviewRows): AsyncGenerator<string> {
  return previewPage(preview, { facts: () => previewFacts(preview) });
}

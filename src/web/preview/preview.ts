import type { Diagnostic } from '../../errors.ts';
import type { SendDecision } from '../../model.ts';
import { compileDisplay } from '../../plan/display.ts';
import type { Previewed, PreviewRows } from '../../plan/previewed.ts';
import { openCells } from '../../recipients/cells.ts';
import type { Formats } from '../../report/locale.ts';
import { Html, html } from '../../util/escape.ts';
import { clientScript } from '../client-script.ts';
import { documentFrame } from '../document.ts';
import type { About } from './about.ts';
import { createPacker, type PackedRow } from './block.ts';
import { nodeHtml } from './message-html.ts';
import { rowNode } from './nodes.ts';
import { createFacetTable, createHeads, type FacetTable, type Heads, rowView } from './row.ts';
import { summarySection } from './summary.ts';

/**
 * The page of a dry run, in pieces: one file that loads nothing, with unmasked addresses and texts. It begins with the
 * rows, compressed and in hidden elements, written as they are read, so memory does not grow with the list. The
 * summary, the first messages for browsers without scripts, and the script follow.
 * @throws any error of reading the rows; HandbillError if the list changes its form meanwhile
 */
export async function* previewHtml(source: PreviewRows): AsyncGenerator<string> {
  const { campaign, occurrence } = source.plan;
  const title = `Preview of ${campaign.name} (${occurrence})`;
  const script = clientScript('preview');
  const { head, foot } = documentFrame({ title, script });
  yield head;
  const tables = { facets: createFacetTable(source), heads: createHeads(), first: [] as Html[] };
  const { rows, warned } = yield* rowElements(source, tables);
  const { estimate } = source.result();
  yield html`<main>
${summarySection(source, rows < estimate.rows ? null : warned)}
${messagesSection(tables.first, rows, estimate.rows, source.formats)}
</main>
${aboutElement(source, tables)}
`.markup;
  yield foot;
}

/** Filled while the rows are read; `first`: the markup of the first ones. */
interface Tables {
  readonly facets: FacetTable;
  readonly heads: Heads;
  readonly first: Html[];
}

/** The rows as elements; returns the counts of rows and of rows with warnings. */
async function* rowElements(source: PreviewRows, tables: Tables) {
  const packer = createPacker();
  const list = await openCells(source.plan.campaign.recipients);
  const labelOf = displayOf(source)?.labelOf ?? (() => null);
  let count = 0;
  let warned = 0;
  try {
    for await (const batch of source.batches) {
      const [from, to] = [batch[0], batch.at(-1)];
      if (from !== undefined && to !== undefined) await list.between(from.decision.row, to.decision.row);
      for (const row of batch) {
        const { decision } = row;
        const isMeant = decision.decision === 'send' || decision.decision === 'defer';
        const warnings = isMeant ? source.warn(decision) : NO_WARNINGS;
        const cells =
          decision.decision === 'send' ? decision.recipient.values : (list.of(decision.row, decision.line) ?? NO_CELLS);
        const label = cells.length === 0 ? null : labelOf(cells);
        packer.add(packedRow(row, cells, { warnings, label }, tables, source));
        count += 1;
        if (warnings.length > 0) warned += 1;
      }
      const ready = packer.ready();
      if (ready !== '') yield ready;
    }
    yield packer.ready(true);
  } finally {
    await list.close();
  }
  return { rows: count, warned };
}

const NO_WARNINGS: readonly Diagnostic[] = [];
const NO_CELLS: readonly string[] = [];

function displayOf({ plan }: Pick<PreviewRows, 'plan'>) {
  return compileDisplay(plan.campaign, plan.columns).display;
}

function packedRow(
  row: Previewed,
  cells: readonly string[],
  facts: Parameters<typeof rowView>[1],
  { facets, heads, first }: Tables,
  source: PreviewRows,
): PackedRow {
  const { decision } = row;
  const send = decision.decision === 'send' ? decision : null;
  const view = rowView(row, facts, source, heads);
  const bodies = [...(row.request === null ? [] : [row.request]), ...row.fallbacks].map(({ body }) => body);
  const { to, key, line } = decision;
  if (first.length < STATIC_ROWS) {
    const about = { columns: source.plan.columns, heads: heads.all() };
    first.push(nodeHtml(rowNode(view, bodies, about, cells), 'Shown with JavaScript.'));
  }
  return {
    line,
    facets: facets.numberOf(decision, facts.warnings),
    fields: [to ?? '', key === to ? '' : (key ?? ''), searchedToo(to, cells, send), facts.label ?? '', ...cells],
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
function aboutElement({ plan, formats, result }: PreviewRows, { facets, heads }: Tables): Html {
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
    heads: heads.all(),
    locale: formats.locale,
    variants: campaign.variants.map(({ name }) => name),
    longest: estimate.longest?.line ?? null,
    mostExpensive,
    facets: facets.all(),
  };
  // In JSON, `<`, which begins an end tag, occurs only in strings, where it can be escaped.
  const json = JSON.stringify(about).replaceAll('<', '\\u003c');
  return html`<script type="application/json" id="about">${new Html(json)}</script>`;
}

/** @param of - rows of the list, of which the page may have only a part */
function messagesSection(first: readonly Html[], rows: number, of: number, { number, count }: Formats): Html {
  const part = rows < of && html`<p class="soft">This page holds ${number(rows)} of the ${count(of, 'row')}.</p>`;
  const note = `The first ${number(first.length)} of ${count(rows, 'row')}. With JavaScript, in a browser of 2023 or later, all of them are shown here, with search and filters.`;
  return html`<section id="messages" aria-labelledby="messages-title">
<h2 class="hidden" id="messages-title">Messages</h2>
${part}<div id="browse" hidden>
<div class="finder">
<form id="search" role="search" autocomplete="off">
<label class="hidden" for="query">Search</label><input id="query" type="search" spellcheck="false" maxlength="200" placeholder="Search name, number or line" aria-describedby="count" aria-controls="list">
<details id="narrow"><summary>Filters</summary><div id="filters"></div></details>
</form>
<div class="status"><p id="count" role="status" aria-live="polite"></p>${HELP}</div>
<div id="list" role="listbox" tabindex="0" aria-label="Recipients"></div>
</div>
<div class="reader">
<div class="steer" role="toolbar" aria-label="Which message">
<button type="button" id="previous" aria-label="Previous recipient">←</button><button type="button" id="next" aria-label="Next recipient">→</button>
<span id="place" class="soft"></span>
${JUMPS.map(([id, name]) => html`<button type="button" id="${id}" hidden>${name}</button>\n`)}<button type="button" id="compare" aria-pressed="false" hidden>Compare<span class="wide-only"> variants</span></button>
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

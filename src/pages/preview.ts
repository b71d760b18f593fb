import type { Diagnostic } from '../errors.ts';
import type { SendDecision } from '../model.ts';
import { type Html, html } from '../util/html.ts';
import { clientScript } from './client-script.ts';
import { documentFrame } from './document.ts';
import { createPacker, type PackedRow } from './preview-block.ts';
import { createFacetTable, type FacetTable } from './preview-facets.ts';
import { nodeHtml } from './preview-markup.ts';
import { aboutElement, messagesSection, STATIC_ROWS } from './preview-messages.ts';
import { columnsNode, type PreviewNode, requestNode } from './preview-nodes.ts';
import { rowView } from './preview-row.ts';
import type { PreviewedRow, PreviewSource } from './preview-source.ts';
import { PREVIEW_STYLE } from './preview-style.ts';
import { summarySection } from './preview-summary.ts';
import { openValues, type Values } from './preview-values.ts';

export type { PreviewedRow, PreviewSource } from './preview-source.ts';

export interface PreviewPageOptions {
  /** Figures of the whole list with their names, in order; asked for once all rows were read. */
  readonly facts: () => readonly (readonly [name: string, value: string])[];
}

/**
 * The page of a dry run, in pieces: one file that asks for nothing. It begins with the rows, compressed and in elements
 * that show nothing, because they are written as they are read, in memory that does not grow with the list. What is
 * seen comes after them: the summary, which is known at the end, the first messages for browsers without scripts, and
 * the script that shows all of them.
 *
 * Addresses and texts stand in it as they are: it is for the owner of the list.
 *
 * @throws whatever reading the rows throws; HandbillError where the list changes its form meanwhile
 */
export async function* previewPage(source: PreviewSource, options: PreviewPageOptions): AsyncGenerator<string> {
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

/** Addresses of fallbacks; where a number could not be read, its digits, however they are spaced. */
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

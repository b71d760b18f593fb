import { deflateRawSync } from 'node:zlib';
import { type Base, baseOf, deltaOf, FIELD_END, ROW_END } from './delta.ts';

/** The format of rows in the page: src/web/client/preview-data.ts reads the same names. */

/** Rows of one block of the index, which the browser reads whole and at once. */
const INDEX_ROWS = 4096;
/** Limits of one block of messages, which the browser reads when it shows one of them. */
const VIEW_ROWS = 256;
const VIEW_CHARACTERS = 256 * 1024;
/** Stores longer texts as their difference from the first of their block. */
const LONG = 4096;

export interface PackedRow {
  readonly line: number;
  readonly facets: number;
  /** Shown in the list and searched: address, key (empty where it is the address), other searched text, label, cells. */
  readonly fields: readonly string[];
  /** JSON of a `RowView`, then the bodies of its requests, a line each. */
  readonly view: string;
  /** The same for rows with similar messages, such as those of one variant. */
  readonly like: string;
}

export function createPacker() {
  const blocks = [
    { kind: 'index', block: createIndex(), first: 0 },
    { kind: 'views', block: createViews(), first: 0 },
  ];
  let full = '';
  let rows = 0;
  const flush = (isLast: boolean): void => {
    for (const one of blocks) {
      if (!one.block.isFull() && !(isLast && one.first < rows)) continue;
      // On this thread, although that blocks it for some milliseconds: on other threads the same blocks fragment the
      // memory, and 400,000 rows peaked at 240 MB instead of 165.
      const base64 = deflateRawSync(one.block.take(), { level: 6 }).toString('base64');
      // No browser runs or shows such an element.
      full += `<script type="application/octet-stream" class="${one.kind}" data-first="${one.first}">${base64}</script>\n`;
      one.first = rows;
    }
  };
  return {
    add(row: PackedRow): void {
      for (const { block } of blocks) block.add(row);
      rows += 1;
      flush(false);
    },
    /** Full elements, as markup, and in the end also the last ones; empty if there are none. */
    ready(isLast = false): string {
      flush(isLast);
      const markup = full;
      full = '';
      return markup;
    },
  };
}

/**
 * Holds so many rows as text. Objects that live longer outlive the young generation, whose garbage V8 keeps for long:
 * with text for all rows of a block, 400,000 rows peaked at 245 MB.
 */
const PIECE_ROWS = 128;

function createIndex() {
  let lines: number[] = [];
  let facets: number[] = [];
  let text = '';
  let pieces: Buffer[] = [];
  let before = 0;
  return {
    add(row: PackedRow) {
      if (lines.length > 0) text += ROW_END;
      lines.push(row.line - before);
      before = row.line;
      facets.push(row.facets);
      text += row.fields.map(plainField).join(FIELD_END);
      if (lines.length % PIECE_ROWS !== 0) return;
      pieces.push(Buffer.from(text));
      text = '';
    },
    isFull: () => lines.length >= INDEX_ROWS,
    /** A line of JSON with the numbers, then the fields. */
    take() {
      const head = Buffer.from(`${JSON.stringify({ lines, facets })}\n`);
      const block = Buffer.concat([head, ...pieces, Buffer.from(text)]);
      lines = [];
      facets = [];
      before = 0;
      pieces = [];
      text = '';
      return block;
    },
  };
}

function plainField(text: string): string {
  return SEPARATOR.test(text) ? text.replaceAll(ROW_END, '\u241e').replaceAll(FIELD_END, '\u241f') : text;
}

const SEPARATOR = new RegExp(`[${ROW_END}${FIELD_END}]`);

function createViews() {
  let texts: string[] = [];
  let characters = 0;
  let bases = new Map<string, { readonly at: number; readonly base: Base }>();
  const packed = ({ view, like }: PackedRow): string => {
    if (view.length <= LONG) return view;
    const known = bases.get(like);
    if (known !== undefined) return `=${JSON.stringify([known.at, ...deltaOf(view, known.base)])}`;
    bases.set(like, { at: texts.length, base: baseOf(view) });
    return view;
  };
  return {
    add(row: PackedRow) {
      const text = packed(row);
      // Counts long ones by their stored part.
      characters += text.length;
      texts.push(text);
    },
    isFull: () => texts.length >= VIEW_ROWS || characters >= VIEW_CHARACTERS,
    take() {
      const block = Buffer.from(texts.join(ROW_END));
      texts = [];
      characters = 0;
      bases = new Map();
      return block;
    },
  };
}

import type { DomNode, FormatCallback, HtmlToTextOptions } from 'html-to-text';

/**
 * Limits of the HTML that is read: the parser's time grows with the square of the depth. 20,000 open tags take 70 ms, 100,000
 * take 1.8 s (html-to-text 10.0.1). Emails of 100 KB have some 3,000 tags.
 */
export const HTML_TEXT_LIMITS = {
  /** UTF-16 units. */
  length: 512 * 1024,
  /** Signs `<`. */
  tags: 20_000,
  /** The most elements inside each other; deeper ones do not count. */
  depth: 200,
} as const;

/**
 * Links become `text [address]`, pictures their alternative text, rows of tables lines. Hidden parts are missing, and lines
 * are not broken. Beyond the limits it cuts the text. Never throws.
 */
export async function loadHtmlText(): Promise<(html: string) => string> {
  const { compile } = await import('html-to-text');
  const convert = compile(OPTIONS);
  return (html) => convert(withinLimits(html)).trim();
}

function withinLimits(html: string): string {
  let at = -1;
  for (let tags = 0; tags <= HTML_TEXT_LIMITS.tags; tags++) {
    at = html.indexOf('<', at + 1);
    if (at < 0 || at > HTML_TEXT_LIMITS.length) break;
  }
  const end = at < 0 ? HTML_TEXT_LIMITS.length : Math.min(at, HTML_TEXT_LIMITS.length);
  if (html.length <= end) return html;
  // Half a surrogate pair is not a character, and not valid in JSON for all readers.
  const isPair = /[\ud800-\udbff]/.test(html.charAt(end - 1));
  return html.slice(0, isPair ? end - 1 : end);
}

/** A row's cell: beside the one before it, or on a new line where the table only arranges blocks. */
const cell: FormatCallback = (element, walk, builder) => {
  if (isLayout(element)) {
    builder.openBlock({ leadingLineBreaks: 1 });
    walk(element.children, builder);
    builder.closeBlock({ trailingLineBreaks: 1 });
    return;
  }
  if (followsCell(element)) builder.addInline(' | ');
  walk(element.children, builder);
};

/** Numbers are in digits: the library's lists throw above 3,999 in Roman, and never end for `start="Infinity"`. */
const numbered: FormatCallback = (element, walk, builder) => {
  const items = element.children.filter((child) => child.name === 'li');
  const written = Number(element.attribs?.start ?? 1);
  const start = Number.isInteger(written) && Math.abs(written) < 1_000_000 ? written : 1;
  const prefixes = items.map((_, index) => `${start + index}. `);
  const breaks = element.parent?.name === 'li' ? 1 : 2;
  builder.openList({
    leadingLineBreaks: breaks,
    interRowLineBreaks: 1,
    maxPrefixLength: prefixes.reduce((longest, prefix) => Math.max(longest, prefix.length), 0),
    prefixAlign: 'left',
  });
  for (const [index, item] of items.entries()) {
    builder.openListItem({ prefix: prefixes[index] ?? '' });
    walk([item], builder);
    builder.closeListItem();
  }
  builder.closeList({ trailingLineBreaks: breaks });
};

const alternative: FormatCallback = (element, _walk, builder) => {
  const alt: unknown = element.attribs?.alt;
  if (typeof alt === 'string' && /\S/.test(alt)) builder.addInline(alt);
};

function isLayout(element: DomNode): boolean {
  if (element.children?.some((child) => BLOCKS.has(child.name ?? ''))) return true;
  let table: DomNode | null = element;
  while (table !== null && table.name !== 'table') table = table.parent ?? null;
  const role: unknown = table?.attribs?.role;
  return role === 'presentation' || role === 'none';
}

function followsCell(element: DomNode & Siblings): boolean {
  let before = element.prev ?? null;
  while (before !== null && before.type !== 'tag') before = before.prev ?? null;
  return before !== null;
}

/** Not in the library's declarations: its nodes are those of domhandler. */
type Siblings = { readonly prev?: (DomNode & Siblings) | null };

const BLOCKS: ReadonlySet<string> = new Set(
  'address article blockquote center div dl h1 h2 h3 h4 h5 h6 hr ol p pre section table ul'.split(' '),
);

const heading = { uppercase: false, leadingLineBreaks: 2, trailingLineBreaks: 1 };
const line = { leadingLineBreaks: 1, trailingLineBreaks: 1 };

const OPTIONS: HtmlToTextOptions = {
  // Mail programs break lines where the window ends; a break in an address would make it another one.
  wordwrap: false,
  limits: { maxDepth: HTML_TEXT_LIMITS.depth, ellipsis: '' },
  formatters: { cell, numbered, alternative },
  selectors: [
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
    { selector: 'img', format: 'alternative' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: heading })),
    { selector: 'ul', options: { itemPrefix: '- ' } },
    { selector: 'ol', format: 'numbered' },
    // The library's own data tables make columns of spaces, and one cell with a large `colspan` takes all memory.
    { selector: 'table', format: 'block', options: line },
    { selector: 'tr', format: 'block', options: line },
    { selector: 'td', format: 'cell' },
    { selector: 'th', format: 'cell' },
    ...['head', 'title', 'style', 'script', 'template', 'svg', '[hidden]'].map((selector) => ({
      selector,
      format: 'skip',
    })),
    ...['display:none', 'display: none', 'mso-hide:all'].map((style) => ({
      selector: `[style*="${style}"]`,
      format: 'skip',
    })),
  ],
};

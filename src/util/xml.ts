import { safe } from './safe.ts';

/** What an attribute may be; null leaves it out. */
export type XmlAttributes = Readonly<Record<string, string | number | null>>;

/** Markup that is known to be well-formed: only `element` makes it. */
export interface Xml {
  readonly markup: string;
}

/**
 * An element of XML 1.0 on lines of its own, its children indented by one step; a text stands as it is, because its
 * spaces count. Names are the program's own, never text from outside.
 */
export function element(name: string, attributes: XmlAttributes, children: readonly Xml[] | string = []): Xml {
  const written = Object.entries(attributes).flatMap(([key, value]) =>
    value === null ? [] : [` ${key}="${attribute(String(value))}"`],
  );
  const head = `<${name}${written.join('')}`;
  if (children.length === 0) return { markup: `${head}/>\n` };
  if (typeof children === 'string') return { markup: `${head}>${xmlText(children)}</${name}>\n` };
  return { markup: `${head}>\n${children.map(({ markup }) => markup).join('')}</${name}>\n` };
}

/** A whole document, with its declaration. */
export function xmlDocument(root: Xml): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root.markup}`;
}

/**
 * Text as the content of an element. XML 1.0 has no way at all to write most control characters, halves of surrogate
 * pairs, U+FFFE and U+FFFF (section 2.2), so they are shown by their numbers, as everywhere where people read.
 */
function xmlText(text: string): string {
  return safe(text)
    .replace(NO_CHARACTERS, (c) => `\\u{${c.charCodeAt(0).toString(16)}}`)
    .replace(SPECIAL, (c) => ENTITIES[c] ?? '');
}

/** A line break in an attribute would be read as a space (section 3.3.3). */
function attribute(text: string): string {
  return xmlText(text).replaceAll('\n', '&#10;');
}

const NO_CHARACTERS = /[\ufffe\uffff]/g;
// `>` too: `]]>` must not stand in text (section 2.4).
const SPECIAL = /[&<>"']/g;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** A strict reader for the XML that handbill writes: whatever is not well-formed XML 1.0 is an error. */

export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** The text of the element itself, entities read. */
  readonly text: string;
}

/** @throws where the document is not well-formed, or uses something that handbill never writes (comments, CDATA) */
export function readXml(document: string): XmlElement {
  const illegal = ILLEGAL.exec(document);
  if (illegal !== null) throw new Error(`not a character of XML 1.0: ${illegal[0].codePointAt(0)?.toString(16)}`);
  const declaration = /^<\?xml version="1\.0" encoding="UTF-8"\?>\n/.exec(document)?.[0];
  if (declaration === undefined) throw new Error('no declaration');
  const reader = { text: document, at: declaration.length };
  const root = readElement(reader);
  if (document.slice(reader.at).trim() !== '')
    throw new Error(`something after the root: ${document.slice(reader.at)}`);
  return root;
}

/** Every element of that name, at any depth. */
export function elementsOf(root: XmlElement, name: string): readonly XmlElement[] {
  const below = root.children.flatMap((child) => elementsOf(child, name));
  return root.name === name ? [root, ...below] : below;
}

interface Reader {
  readonly text: string;
  at: number;
}

function take(reader: Reader, pattern: RegExp): RegExpExecArray {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.text);
  if (found === null) {
    throw new Error(`not well-formed at ${JSON.stringify(reader.text.slice(reader.at, reader.at + 80))}`);
  }
  reader.at = pattern.lastIndex;
  return found;
}

function readElement(reader: Reader): XmlElement {
  const [, name = '', written = '', empty = ''] = take(
    reader,
    /<([A-Za-z][\w-]*)((?: [A-Za-z][\w-]*="[^"<]*")*)(\/?)>/y,
  );
  const attributes: Record<string, string> = {};
  for (const [, key = '', value = ''] of written.matchAll(/ ([\w-]+)="([^"]*)"/g)) {
    if (Object.hasOwn(attributes, key)) throw new Error(`attribute ${key} stands twice`);
    // 3.3.3: a line break that is not written as a reference is read as a space.
    attributes[key] = entities(value.replace(/[\t\n\r]/g, ' '));
  }
  const children: XmlElement[] = [];
  let text = '';
  while (empty === '') {
    const chunk = take(reader, /[^<]*/y)[0];
    if (chunk.includes(']]>')) throw new Error(']]> in text');
    text += entities(chunk);
    if (reader.text.startsWith('</', reader.at)) {
      if (take(reader, /<\/([\w-]+)>/y)[1] !== name) throw new Error(`${name} is not closed`);
      break;
    }
    children.push(readElement(reader));
  }
  return { name, attributes, children, text };
}

function entities(text: string): string {
  return text.replace(/&([^;]*;?)/g, (whole, name: string) => {
    const character = ENTITIES[name];
    if (character === undefined) throw new Error(`no entity: ${whole}`);
    return character;
  });
}

const ENTITIES: Readonly<Record<string, string>> = {
  'amp;': '&',
  'lt;': '<',
  'gt;': '>',
  'quot;': '"',
  'apos;': "'",
  '#10;': '\n',
};

// What is not in `Char` of section 2.2.
const ILLEGAL = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;

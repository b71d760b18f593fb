import { SaxesParser } from 'saxes';

export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** The text of the element itself, entities read. */
  readonly text: string;
}

/** Reads a document. @throws where it is not well-formed XML 1.0, or does not begin with a declaration */
export function readXml(document: string): XmlElement {
  interface Open extends XmlElement {
    readonly children: Open[];
    text: string;
  }
  const top: Open = { name: '', attributes: {}, children: [], text: '' };
  const open = [top];
  let isDeclared = false;
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('xmldecl', ({ version, encoding }) => {
    isDeclared = version === '1.0' && encoding === 'UTF-8';
  });
  parser.on('opentag', ({ name, attributes }) => {
    const element: Open = { name, attributes, children: [], text: '' };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('closetag', () => open.pop());
  parser.on('text', (text) => {
    const element = open.at(-1);
    if (element !== undefined) element.text += text;
  });
  parser.write(document).close();
  const [root] = top.children;
  if (root === undefined || !isDeclared) throw new Error('not declared as XML 1.0 in UTF-8');
  return root;
}

/** Every element of that name, at any depth. */
export function elementsOf(root: XmlElement, name: string): readonly XmlElement[] {
  const below = root.children.flatMap((child) => elementsOf(child, name));
  return root.name === name ? [root, ...below] : below;
}

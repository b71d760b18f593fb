/** One start tag of a page. */
export interface Element {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}

const TAG = /<!--[\s\S]*?-->|<!doctype[^>]*>|<\/[a-z][^>]*>|<([a-z][^\s/>]*)((?:"[^"]*"|'[^']*'|[^>"'])*)>/gi;
const ATTRIBUTE = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g;
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&#39;', "'"],
  ['&#96;', '`'],
  ['&amp;', '&'],
  // As Handlebars writes them.
  ['&#x27;', "'"],
  ['&#x60;', '`'],
  ['&#x3D;', '='],
]);

/**
 * Start tags with their attributes, and the text between, as a browser reads them: enough of HTML for pages that a
 * program wrote. What is in `<script>` and `<style>` is neither.
 */
export function elementsOf(page: string): { readonly elements: readonly Element[]; readonly text: string } {
  const elements: Element[] = [];
  let text = '';
  let at = 0;
  TAG.lastIndex = 0;
  for (let tag = TAG.exec(page); tag !== null; tag = TAG.exec(page)) {
    text += page.slice(at, tag.index);
    at = TAG.lastIndex;
    const [, written, rest = ''] = tag;
    if (written === undefined) continue;
    const name = written.toLowerCase();
    const pairs = [...rest.matchAll(ATTRIBUTE)].map(
      ([, key = '', double, single, bare]) => [key.toLowerCase(), decoded(double ?? single ?? bare ?? '')] as const,
    );
    elements.push({ name, attributes: new Map(pairs) });
    if (name !== 'script' && name !== 'style') continue;
    const end = page.toLowerCase().indexOf(`</${name}`, at);
    at = end === -1 ? page.length : end;
    TAG.lastIndex = at;
  }
  return { elements, text: decoded(text + page.slice(at)) };
}

function decoded(text: string): string {
  return text.replace(/&(?:lt|gt|quot|amp|#39|#96|#x27|#x60|#x3D);/g, (entity) => ENTITIES.get(entity) ?? entity);
}

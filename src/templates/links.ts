import type { OutExpression, OutStatement } from './ast.ts';

/** A column whose value becomes a part of a web address as it is. */
export interface LinkPart {
  readonly column: string;
  /** Behind a `?` of the template, where `&`, `=`, `#` and `?` have a meaning. */
  readonly inQuery: boolean;
}

/** The columns that a checked template puts into web addresses, or into `href`, without `url`. */
export function linkPartsIn(body: readonly OutStatement[]): readonly LinkPart[] {
  const found = new Map<string, LinkPart>();
  walk(body, '', (part) => found.set(`${part.inQuery} ${part.column}`, part));
  return [...found.values()];
}

const LINK = /(?:https?:\/\/|\bhref\s*=\s*["']?)[^\s"'<>]*$/i;

/** Characters before a tag that are searched for the beginning of a link: longer links hardly exist. */
const LOOKED_BACK = 2_000;

/** Returns the text that is before whatever follows, with a letter for each tag. */
function walk(body: readonly OutStatement[], before: string, note: (part: LinkPart) => void): string {
  let text = before;
  for (const one of body) {
    if (one.type === 'ContentStatement') text = (text + one.value).slice(-LOOKED_BACK);
    else if (one.type === 'MustacheStatement') {
      const link = LINK.exec(text)?.[0];
      const columns = link === undefined ? [] : columnsIn({ ...one, type: 'SubExpression' });
      for (const column of columns) note({ column, inQuery: link?.includes('?') === true });
      text += 'x';
    } else {
      const [shown, other] = [one.program, one.inverse].map((part) => walk(part?.body ?? [], text, note));
      text = LINK.test(shown ?? '') ? (shown ?? '') : (other ?? '');
    }
  }
  return text;
}

/** Helpers that leave blanks and signs of a value as they are. */
const KEEPING: ReadonlySet<string> = new Set([
  'default',
  'default:refuse',
  'upper',
  'lower',
  'title',
  'trim',
  'oneline',
]);

function columnsIn(expression: OutExpression): readonly string[] {
  if (expression.type === 'PathExpression') return expression.original === 'this' ? [expression.parts[0]] : [];
  if (expression.type !== 'SubExpression') return [];
  const { path, params } = expression;
  // A column alone is a path without values.
  if (path.original === 'this') return [path.parts[0]];
  return KEEPING.has(path.original) ? params.flatMap(columnsIn) : [];
}

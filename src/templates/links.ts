import { type Diagnostic, warning } from '../errors.ts';
import { callOf, mustache, type OutExpression, type OutMustache, type OutStatement, program } from './ast.ts';
import { columnTag } from './names.ts';

export interface LinkPart {
  readonly column: string;
  /** Behind a `?` of the template, where `&`, `=`, `#` and `?` have a meaning. */
  readonly inQuery: boolean;
}

/** Also into `href`; not through `url`. */
export function linkPartsIn(body: readonly OutStatement[]): readonly LinkPart[] {
  const found = new Map<string, LinkPart>();
  walk(body, '', (column, link) => {
    if (link === undefined) return;
    const inQuery = link.includes('?');
    found.set(`${inQuery} ${column}`, { column, inQuery });
  });
  return [...found.values()];
}

/** Warns of what the author of a list decides in HTML: its tags, by `{{{column}}}`, and where a link leads. */
export function trustedIn(body: readonly OutStatement[]): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  walk(body, '', (column, link, { escaped, where }) => {
    const name = columnTag(column);
    if (!escaped) {
      const message = `Tags in the column "${column}" become part of the email: {{{ }}} and {{& }} put a value in as it is.`;
      const hint = `Write ${name}, unless you trust all who write this column.`;
      found.push(warning('value-in-html', message, { ...where, hint }));
    } else if (link !== undefined && WHOLE_HREF.test(link)) {
      const message = `The column "${column}" is the whole address of a link: the list decides where it leads.`;
      const hint = `Begin the address in the template, such as https://example.com/{{url ${name.slice(2, -2)}}}.`;
      found.push(warning('value-in-html', message, { ...where, hint }));
    }
  });
  return found;
}

/** With a scheme, or as phones make one of a name with a path; or in `href`. */
const LINK =
  /(?:[a-z][a-z\d+.-]{1,20}:\/\/|\b(?:mailto:|sms:|www\.)|(?<![\w@.-])(?:[a-z\d-]+\.)+[a-z]{2,}\/|\bhref\s*=\s*["']?)[^\s"'<>]*$/i;
const WHOLE_HREF = /^href\s*=\s*["']?$/i;
/** Characters before a tag that are searched for the beginning of a link: longer links hardly exist. */
const LOOKED_BACK = 2_000;

/** `link` is the beginning of the web address that the column continues. */
type Note = (column: string, link: string | undefined, tag: OutMustache) => void;

function walk(body: readonly OutStatement[], before: string, note: Note): string {
  let text = before;
  let link = LINK.exec(text)?.[0];
  for (const one of body) {
    if (one.type === 'MustacheStatement') {
      for (const column of columnsIn({ ...one, type: 'SubExpression' })) note(column, link, one);
      text = `${text}x`.slice(-LOOKED_BACK);
      // A value continues a link and begins none: 10,000 tags without a text between them are not searched one by one.
      link &&= `${link}x`;
      continue;
    }
    if (one.type === 'ContentStatement') text = (text + one.value).slice(-LOOKED_BACK);
    else {
      const [shown, other] = [one.program, one.inverse].map((part) => walk(part?.body ?? [], text, note));
      text = LINK.test(shown ?? '') ? (shown ?? '') : (other ?? '');
    }
    link = LINK.exec(text)?.[0];
  }
  return text;
}

/** Encodes each value as `url` does: it adds no path or recipient. A first value may be the whole address. */
export function withPartsEncoded(body: readonly OutStatement[], isBegun: boolean): readonly OutStatement[] {
  let begun = isBegun;
  return body.map((one) => {
    const wasBegun = begun;
    begun ||= one.type !== 'ContentStatement' || one.value.trim() !== '';
    if (one.type === 'ContentStatement') return one;
    if (one.type === 'BlockStatement') {
      const [shown, other] = [one.program, one.inverse].map((part) => withPartsEncoded(part?.body ?? [], wasBegun));
      return { ...one, program: program(shown ?? []), inverse: one.inverse && program(other ?? []) };
    }
    if (!wasBegun || one.path.original === 'url') return one;
    const value = one.path.original === 'this' ? one.path : callOf(one.path.original, one.params);
    return mustache(callOf('url', [value]), one.escaped, one.where);
  });
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

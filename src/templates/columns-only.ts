import type { OutStatement } from './ast.ts';
import { Handlebars } from './engine.ts';
import type { TemplateValues } from './values.ts';

/** The text for one row, or its beginning where it is longer than `most`; null where the row lacks a column. */
export type ColumnsRender = (values: TemplateValues) => string | null;

/**
 * What most templates are: text with columns in it, and no helper or block. To put that together takes a tenth of what
 * Handlebars' runtime takes, which is half a microsecond a row and is paid by the check and by the send. Null for others.
 *
 * @param most - UTF-16 units of a text that is too long in any case
 */
export function columnsOnly(body: readonly OutStatement[], mode: 'none' | 'html', most: number): ColumnsRender | null {
  /** Before each column, and behind the last one. */
  const texts: string[] = [''];
  const columns: string[] = [];
  const escaped: boolean[] = [];
  for (const one of body) {
    if (one.type === 'ContentStatement') {
      texts.push(`${texts.pop() ?? ''}${one.value}`);
      continue;
    }
    if (one.type !== 'MustacheStatement' || !isColumn(one)) return null;
    columns.push(one.path.parts[0]);
    escaped.push(mode === 'html' && one.escaped);
    texts.push('');
  }
  const [first = ''] = texts;
  return (values) => {
    let text = first;
    for (let at = 0; at < columns.length && text.length <= most; at++) {
      const value = values[columns[at] ?? ''];
      if (typeof value !== 'string') return null;
      text += escaped[at] === true ? Handlebars.escapeExpression(value) : value;
      text += texts[at + 1] ?? '';
    }
    return text;
  };
}

/** As `columnPath` makes it (ast.ts). */
function isColumn({ path, params }: Extract<OutStatement, { type: 'MustacheStatement' }>): boolean {
  return path.original === 'this' && params.length === 0;
}

import { styleText } from 'node:util';
import { lexer, type Token, type Tokens } from 'marked';
import { safe } from '../../util/escape.ts';
import { table, wrap } from '../../util/table.ts';

interface PageTextOptions {
  readonly width: number;
  readonly colour: boolean;
}

/** Fills paragraphs to the width, aligns tables, drops pictures, and ends links with the command of the page. */
export function pageText(markdown: string, options: PageTextOptions): string {
  const tokens = lexer(safe(markdown));
  const blocks = tokens.map((token) => blockText(token, options)).filter((text) => text !== '');
  const others = [...new Set(linksIn(tokens))];
  const more = others.length === 0 ? [] : [`See also: ${others.map((name) => `handbill help ${name}`).join(', ')}`];
  return `${[...blocks, ...more.flatMap((text) => filled(text, options.width))].join('\n\n')}\n`;
}

function blockText(token: Token, options: PageTextOptions): string {
  const { width, colour } = options;
  switch (token.type) {
    case 'heading':
      return colour ? styleText('bold', plain(token.tokens), { validateStream: false }) : plain(token.tokens);
    case 'code':
      return indented(token['text'] as string, '  ');
    case 'list': {
      const { items, ordered, start } = token as Tokens.List;
      return items.map((item, i) => itemText(item, ordered ? `${Number(start) + i}. ` : '- ', options)).join('\n');
    }
    case 'table':
      return tableText(token as Tokens.Table, width);
    case 'blockquote':
      return indented(
        (token.tokens ?? []).map((one) => blockText(one, { ...options, width: width - 2 })).join('\n\n'),
        '  ',
      );
    case 'paragraph':
    case 'text':
      return filled(plain(token.tokens), width);
    default:
      return '';
  }
}

function itemText({ tokens }: Tokens.ListItem, mark: string, { width, colour }: PageTextOptions): string {
  const blocks = tokens.map((one) => blockText(one, { width: width - mark.length, colour }));
  const text = blocks.filter((block) => block !== '').join('\n');
  return `${mark}${indented(text, ' '.repeat(mark.length)).trimStart()}`;
}

function tableText({ header, rows }: Tokens.Table, width: number): string {
  const cells = rows.map((row) => row.map((cell) => plain(cell.tokens)));
  const titles = header.map((cell) => plain(cell.tokens));
  const isTitled = titles.some((title) => title !== '');
  return table(
    cells,
    titles.map((title) => (isTitled ? { title } : {})),
    { width },
  ).trimEnd();
}

/** The words alone: code keeps its backquotes, because without them `--at` and the like get lost in a sentence. */
function plain(tokens: readonly Token[] | undefined): string {
  const words = (tokens ?? []).map((token) => {
    if (token.type === 'codespan') return `\`${token['text'] as string}\``;
    if (token.type === 'image') return '';
    if (token.type === 'br') return ' ';
    if ('tokens' in token && token.tokens !== undefined) return plain(token.tokens);
    return token.type === 'text' || token.type === 'escape' ? (token['text'] as string) : '';
  });
  return words.join('').replaceAll(/\s+/g, ' ');
}

function linksIn(tokens: readonly Token[]): readonly string[] {
  return tokens.flatMap((token) => {
    const below = childrenOf(token);
    // Codes and commands are topics, as pages are.
    const [, section, name = section] =
      (token.type === 'link' &&
        /^(?:[\w./-]*\/)?(?:(?:diagnostics\.md#|commands\.md#handbill-)([\w-]+)|([\w-]+)\.md(?:#.*)?)$/.exec(
          token['href'] as string,
        )) ||
      [];
    return [...(name === undefined ? [] : [name]), ...linksIn(below)];
  });
}

function childrenOf(token: Token): readonly Token[] {
  if (token.type === 'list') return (token as Tokens.List).items;
  if (token.type !== 'table') return ('tokens' in token ? token.tokens : undefined) ?? [];
  const { header, rows } = token as Tokens.Table;
  return [...header, ...rows.flat()].flatMap((cell) => cell.tokens);
}

function filled(text: string, width: number): string {
  return wrap(text, width).join('\n');
}

function indented(text: string, by: string): string {
  return text.replaceAll(/^(?=.)/gm, by);
}

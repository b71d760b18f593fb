/** Markdown for the pages that are made. */
import { stringify } from 'yaml';

const ORIGIN = '<!-- Made by .scripts/docs.ts: change the source and run `node .scripts/docs.ts`. -->';

/** Pages by their path from the root of the project. */
export type Pages = ReadonlyMap<string, string>;

/** A table of Markdown; a bar in a cell would end it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** A page that says where it comes from. */
export function page(title: string, ...blocks: readonly string[]): string {
  return `${[`# ${title}`, ORIGIN, ...blocks].join('\n\n')}\n`;
}

/** A value as it is written in YAML, on one line. */
export function code(value: unknown): string {
  const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: true });
  return `\`${text.trimEnd().replaceAll('\n', ' ')}\``;
}

/** A fenced block; its text ends with one newline. */
export function block(language: string, text: string): string {
  return `\`\`\`${language}\n${text.replace(/\n*$/, '\n')}\`\`\``;
}

import { readdirSync, readFileSync } from 'node:fs';
import { onDemand } from '../util/on-demand.ts';

export interface Page {
  /** Name of the file without `.md`, or the code. */
  readonly name: string;
  readonly title: string;
  readonly markdown: string;
  readonly file: URL;
}

/** docs/ lies two levels up, seen from `src/cli/` and from `dist/chunks/`. */
const DOCS = new URL('../../docs/', import.meta.url);

/** The pages of docs/, with its recipes and the details of its guides, by name. */
export const guides = onDemand((): readonly Page[] => pagesIn(['', 'recipes/', 'reference/']));

export function providerPages(): readonly Page[] {
  return pagesIn(['providers/']);
}

function pagesIn(folders: readonly string[]): readonly Page[] {
  return folders
    .flatMap((folder) => readdirSync(new URL(folder, DOCS)).map((file) => new URL(`${folder}${file}`, DOCS)))
    .flatMap((file) => {
      const name = /(\w[\w-]*)\.md$/.exec(file.pathname)?.[1] ?? 'README';
      if (name === 'README') return [];
      const markdown = readFileSync(file, 'utf8');
      return [{ name, title: /^# (.*)$/m.exec(markdown)?.[1]?.replaceAll('`', '') ?? '', markdown, file }];
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** A section of a guide: all below its heading. Codes are topics themselves. `name` is the title as a topic is typed. */
interface Section extends Page {
  readonly guide: string;
}

export const sections = onDemand((): readonly Section[] =>
  guides().flatMap(({ name: guide, markdown, file }) => {
    if (guide === 'diagnostics') return [];
    const headings = [...markdown.matchAll(/^(##+) (.+)$/gm)];
    return headings.map(({ 1: level = '', 2: text = '', index }, at) => {
      const next = headings.slice(at + 1).find(([, other = '']) => other.length <= level.length);
      const title = text.replaceAll('`', '');
      return { guide, name: topicOf(title), title, markdown: markdown.slice(index, next?.index), file };
    });
  }),
);

/** Sections of that title, else those that have it in their title, else the guides with the most mentions. */
export function placesOf(topic: string): readonly Section[] {
  const asked = `-${topicOf(topic)}-`;
  const found = sections().filter(({ name }) => `-${name}-`.includes(asked));
  const same = found.filter(({ name }) => `-${name}-` === asked);
  if (found.length > 0) return same.length > 0 ? same : found;
  return guides()
    .map((page) => ({ ...page, guide: page.name, mentions: `-${topicOf(page.markdown)}-`.split(asked).length - 1 }))
    .filter(({ mentions }) => mentions > 0)
    .toSorted((a, b) => b.mentions - a.mentions)
    .slice(0, 12);
}

function topicOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
}

/** The sections of docs/diagnostics.md, one a code. */
export function codePages(): readonly Page[] {
  const file = new URL('diagnostics.md', DOCS);
  const sections = readFileSync(file, 'utf8').split(/^(?=###? )/m);
  return sections.flatMap((text) => {
    const [, name] = /^### ([a-z0-9-]+)\n/.exec(text) ?? [];
    return name === undefined
      ? []
      : [
          {
            name,
            title: name,
            markdown: text.replace('##', '').replaceAll('](#the-examples)', '](diagnostics.md)'),
            file,
          },
        ];
  });
}

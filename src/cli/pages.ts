import { readdirSync, readFileSync } from 'node:fs';

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
export function guides(): readonly Page[] {
  return ['', 'recipes/', 'reference/']
    .flatMap((folder) => readdirSync(new URL(folder, DOCS)).map((file) => new URL(`${folder}${file}`, DOCS)))
    .flatMap((file) => {
      const name = /(\w[\w-]*)\.md$/.exec(file.pathname)?.[1] ?? 'README';
      if (name === 'README') return [];
      const markdown = readFileSync(file, 'utf8');
      return [{ name, title: /^# (.*)$/m.exec(markdown)?.[1]?.replaceAll('`', '') ?? '', markdown, file }];
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
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

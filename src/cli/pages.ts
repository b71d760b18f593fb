import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface Page {
  /** Of its file, without `.md`. */
  readonly name: string;
  readonly title: string;
  readonly file: URL;
}

/** docs/ lies two levels up, seen from `src/cli/` and from `dist/chunks/`. */
const DOCS = new URL('../../docs/', import.meta.url);

/** The pages of docs/, with its recipes and the details of its guides, by name. */
export function guides(): readonly Page[] {
  return [...pagesIn(''), ...pagesIn('recipes/'), ...pagesIn('reference/')]
    .filter(({ name }) => name !== 'README')
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

export function codePages(): readonly Page[] {
  return pagesIn('diagnostics/');
}

export function readPage({ file }: Page): string {
  return readFileSync(file, 'utf8');
}

function pagesIn(folder: string): readonly Page[] {
  const place = new URL(folder, DOCS);
  if (!existsSync(place)) return [];
  return readdirSync(place)
    .filter((file) => file.endsWith('.md'))
    .map((file) => {
      const url = new URL(file, place);
      const title = /^# (.*)$/m.exec(readFileSync(url, 'utf8'))?.[1]?.replaceAll('`', '') ?? '';
      return { name: file.slice(0, -'.md'.length), title, file: url };
    });
}

/**
 * Makes the end of docs/reference/library-*.md from the docstrings of what src/index.ts exports: signatures and options of
 * the functions that each page names. `node .scripts/library.ts` writes it; a test fails while it is stale.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('..', import.meta.url);

/** Where the part begins that is made; everything after it is. It names the functions of the page. */
const MARK = /<!-- What follows is made from the sources by \.scripts\/library\.ts: ([\w, ]+)\. -->\n/;

/** The pages of the library in the order in which their programs are run. */
export const LIBRARY_PAGES: readonly string[] = [
  ...['checking', 'sending', 'outcomes', 'plans', 'suppression', 'replies', 'servers', 'project'],
].map((name) => `docs/reference/library-${name}.md`);

/** A function of the library. */
export interface LibraryFunction {
  readonly name: string;
  /** From its name to its result, in one line. */
  readonly signature: string;
  readonly doc: string;
}

/** The options of a function, or a part of them. */
export interface LibraryOptions {
  readonly name: string;
  readonly doc: string;
  /** What it takes over from other options, as it is written. */
  readonly parents: string | null;
  readonly fields: readonly LibraryField[];
}

export interface LibraryField {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  /** Without its default. */
  readonly doc: string;
  /** As it is said after `Default:`; empty where nothing is. */
  readonly byDefault: string;
}

/** Names that the package exports: values, and types. */
export function exportedNames(): { readonly values: readonly string[]; readonly types: readonly string[] } {
  const text = read('src/index.ts').replaceAll(/\/\*[\s\S]*?\*\//g, '');
  const values: string[] = [];
  const types: string[] = [];
  for (const [, all, body = ''] of text.matchAll(/^export (type )?\{([^}]*)\} from/gm)) {
    for (const entry of body.split(',').map((one) => one.trim())) {
      if (entry === '') continue;
      const name = entry.split(/\s+/).at(-1) ?? '';
      (all !== undefined || entry.startsWith('type ') ? types : values).push(name);
    }
  }
  return { values, types };
}

/** Every function that the package exports. */
export function libraryFunctions(): readonly LibraryFunction[] {
  const { values } = exportedNames();
  const forms =
    /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\nexport (?:async )?function(\*?) (\w+)\(([\s\S]*?)\n?\): ([\s\S]*?) \{\n/g;
  const all = sources().flatMap((text) =>
    [...text.matchAll(forms)].map(([, doc = '', , name = '', parameters = '', result = '']) => ({
      name,
      signature: oneLine(`${name}(${parameters}): ${result}`),
      doc: cleaned(doc),
    })),
  );
  return all.filter(({ name }) => values.includes(name)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Every interface that the package exports and whose name ends in `Options`; and keys to sign with. */
export function libraryOptions(): readonly LibraryOptions[] {
  const { types } = exportedNames();
  const form =
    /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\nexport interface (\w+(?:Options|Key))(?: extends ([^{]+))? \{\n([\s\S]*?)\n?\}\n/g;
  const all = sources().flatMap((text) =>
    [...text.matchAll(form)].map(([, doc = '', name = '', parents, body = '']) => ({
      name,
      doc: cleaned(doc),
      parents: parents === undefined ? null : oneLine(parents),
      fields: fieldsOf(body),
    })),
  );
  return all.filter(({ name }) => types.includes(name)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function fieldsOf(body: string): readonly LibraryField[] {
  const form = /(?: {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)? {2}readonly (\w+)(\??): ([\s\S]*?);(?=\n|$)/g;
  return [...body.matchAll(form)].map(([, doc = '', name = '', optional, type = '']) => {
    const [said = '', byDefault = ''] = cleaned(doc).split(/ ?\bDefault: /);
    return { name, type: oneLine(type), required: optional === '', doc: said, byDefault: byDefault.replace(/\.$/, '') };
  });
}

/** The functions that a page names. */
export function functionsOf(path: string): readonly string[] {
  return MARK.exec(read(path))?.[1]?.split(', ') ?? [];
}

/** Signatures and options of some functions. */
function reference(names: readonly string[], options: readonly LibraryOptions[]): string {
  const all = libraryFunctions();
  const functions = names.flatMap((name) => all.find((one) => one.name === name) ?? []);
  const rows = functions.map(
    ({ name, signature, doc }) => `| \`${name}\` | ${cell(firstSentence(doc))} | \`${cell(signature)}\` |`,
  );
  const sections = options.length === 0 ? '' : `\n## Options\n\n${options.map(optionsSection).join('\n')}`;
  return `\n## Functions\n\n| function | what it does | signature |\n|---|---|---|\n${rows.join('\n')}\n${sections}`;
}

/** Options by the first page with a function that takes them, or takes options that hold them. */
function optionsByPage(): ReadonlyMap<string, readonly LibraryOptions[]> {
  const [functions, all] = [libraryFunctions(), libraryOptions()];
  return Map.groupBy(all, ({ name }) => pageOf(name, functions, all));
}

function pageOf(name: string, functions: readonly LibraryFunction[], all: readonly LibraryOptions[]): string {
  const takes = new RegExp(`\\b${name}\\b`);
  const users = functions.filter(({ signature }) => takes.test(signature)).map((one) => one.name);
  const page = LIBRARY_PAGES.find((path) => functionsOf(path).some((one) => users.includes(one)));
  const holder = all.find(({ fields }) => fields.some(({ type }) => takes.test(type)));
  return page ?? (holder === undefined ? (LIBRARY_PAGES[0] ?? '') : pageOf(holder.name, functions, all));
}

function optionsSection({ name, doc, parents, fields }: LibraryOptions): string {
  const more = parents === null ? '' : ` Also: \`${parents}\`.`;
  const rows = fields.map(
    (field) =>
      `| \`${field.name}\` | \`${cell(field.type)}\` | ${cell(field.doc)} | ${field.required ? 'required' : cell(field.byDefault)} |`,
  );
  const table =
    rows.length === 0 ? '' : `\n| option | type | meaning | default |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  return `### ${name}\n\n${doc}${more}\n${table}`;
}

function firstSentence(doc: string): string {
  return (
    /^(?:`[^`]*`: )?([\s\S]*?[.])(?: [A-Z`]|$)/.exec(doc.split('@')[0]?.trim() ?? '')?.[0]?.replace(/ [A-Z`]$/, '') ??
    doc
  );
}

function cleaned(doc: string): string {
  return doc
    .split('\n')
    .map((line) => line.replace(/^\s*\*?\s?/, '').trim())
    .join(' ')
    .replaceAll('**\\/', '**/')
    .trim();
}

function oneLine(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\( | \)/g, (found) => found.trim())
    .replaceAll(/, \)/g, ')')
    .replace(/\(\s+/, '(')
    .replace(/,\)/, ')')
    .trim();
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function sources(): readonly string[] {
  const paths = [...read('src/index.ts').matchAll(/ from '\.\/(?<path>(?:operations|sandbox|web)\/[^']+)'/g)].map(
    (match) => match.groups?.['path'],
  );
  return [...new Set(paths)].sort().map((path) => read(`src/${path}`));
}

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

/** The pages as they should be, by their paths. */
export function libraryPages(): ReadonlyMap<string, string> {
  const options = optionsByPage();
  return new Map(LIBRARY_PAGES.map((path) => [path, pageWith(path, options.get(path) ?? [])]));
}

function pageWith(path: string, options: readonly LibraryOptions[]): string {
  const page = read(path);
  const mark = MARK.exec(page);
  if (mark === null) throw new Error(`${path} does not say which functions it is about`);
  return page.slice(0, mark.index) + mark[0] + reference(functionsOf(path), options);
}

/** The pages that are not as they should be; and pages of the library that LIBRARY_PAGES does not have. */
export function staleLibraryPages(): readonly string[] {
  const pages = globSync('docs/reference/library-*.md', { cwd: fileURLToPath(ROOT) });
  const unknown = pages.filter((path) => !LIBRARY_PAGES.includes(path));
  return [...[...libraryPages()].filter(([path, text]) => read(path) !== text).map(([path]) => path), ...unknown];
}

if (process.argv[1] === import.meta.filename) {
  for (const [path, text] of libraryPages()) writeFileSync(new URL(path, ROOT), text);
}

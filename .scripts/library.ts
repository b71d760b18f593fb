/**
 * Makes the end of docs/library.md from the docstrings of what src/index.ts exports: signatures and options.
 * `node .scripts/library.ts` writes it; a test fails while it is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { OptionSpec, OptionTable } from '../src/operations/options.ts';

const ROOT = new URL('..', import.meta.url);

export const LIBRARY_PAGE = 'docs/library.md';

/** Where the part begins that is made; everything after it is. */
const MARK = '<!-- What follows is made from the sources by .scripts/library.ts. -->\n';

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
  // Never beyond the end of a function: one without a written result type would take the next one with it.
  const forms =
    /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\nexport (?:async )?function(\*?) (\w+)\(((?:(?!\n\}\n)[\s\S])*?)\n?\): ((?:(?!\n\}\n)[\s\S])*?) \{\n/g;
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
    /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\nexport interface (\w+(?:Options|Key))(?: extends ([^{]+))? \{\n?([\s\S]*?)\n?\}\n/g;
  const all = sources().flatMap((text) =>
    [...text.matchAll(form)].map(([, doc = '', name = '', parents = '', body = '']) => {
      const tables = [...parents.matchAll(/OptionsOf<typeof (\w+)>/g)].map(([, table = '']) => table);
      const others = oneLine(parents.replaceAll(/(?:^|, )\s*OptionsOf<typeof \w+>/g, '')).replace(/^, /, '');
      return {
        name,
        doc: cleaned(doc),
        parents: others === '' ? null : others,
        fields: [...tables.flatMap((table) => fieldsOfTable(TABLES[table] ?? {})), ...fieldsOf(body)],
      };
    }),
  );
  return all.filter(({ name }) => types.includes(name)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The tables of options, by their names. */
const TABLES: Readonly<Record<string, OptionTable>> = Object.assign(
  {},
  ...(await Promise.all(sourcePaths().map((path) => import(`../src/${path}`)))),
);

function fieldsOfTable(table: OptionTable): readonly LibraryField[] {
  return Object.entries(table).map(([name, spec]) => {
    const { says, byDefault } = sentenceOf(spec);
    const [least, most = Number.POSITIVE_INFINITY] = spec.range ?? [];
    const bounds = most < 1e9 ? `From ${least} to ${most}.` : undefined;
    const doc = [says, bounds, spec.more].filter((one) => one !== undefined).join(' ');
    return { name, type: typeOf(spec), required: spec.required === true, doc, byDefault };
  });
}

/** The sentence of an option, and what holds without it. */
function sentenceOf({ flag, says, without, preset }: OptionSpec): {
  readonly says: string;
  readonly byDefault: string;
} {
  const [, sentence = says, inSentence] = /^(.*?)(?: \(default: (.*)\))?$/.exec(says) ?? [];
  const byDefault =
    without ?? inSentence ?? preset?.toString() ?? (flag !== undefined && /[<[]/.test(flag) ? '' : 'false');
  return { says: `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`, byDefault };
}

function typeOf({ flag = '<>', kind, range, choices }: OptionSpec): string {
  if (!/[<[]/.test(flag)) return 'boolean';
  const word =
    choices !== undefined
      ? choices.map((choice) => `'${choice}'`).join(' | ')
      : kind === 'codes'
        ? 'readonly Allowable[]'
        : kind === 'shares'
          ? '{ delivered?: number; replied?: number; optedOut?: number }'
          : range !== undefined || kind === 'duration' || kind === 'instant' || kind === 'rate'
            ? 'number'
            : kind === 'day'
              ? 'number | string'
              : 'string';
  return flag.includes('...') ? `readonly ${choices === undefined ? word : `(${word})`}[]` : word;
}

function fieldsOf(body: string): readonly LibraryField[] {
  const form = /(?: {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)? {2}readonly (\w+)(\??): ([\s\S]*?);(?=\n|$)/g;
  return [...body.matchAll(form)].flatMap(([, doc = '', name = '', optional, type = '']) => {
    // Of commands and tests: the declarations in the package do not have it.
    if (doc.includes('@internal')) return [];
    const [said = '', byDefault = ''] = cleaned(doc).split(/ ?\bDefault: /);
    return { name, type: oneLine(type), required: optional === '', doc: said, byDefault: byDefault.replace(/\.$/, '') };
  });
}

/** The page as it should be: as it is down to the mark, then what is made. */
export function libraryPage(): string {
  const rows = libraryFunctions().map(
    ({ name, signature, doc }) => `| \`${name}\` | ${cell(firstSentence(doc))} | \`${cell(signature)}\` |`,
  );
  const functions = `## Functions\n\n| function | what it does | signature |\n|---|---|---|\n${rows.join('\n')}\n`;
  const [written = ''] = read(LIBRARY_PAGE).split(MARK);
  return `${written}${MARK}\n${functions}\n## Options\n\n${libraryOptions().map(optionsSection).join('\n')}`;
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
  return sourcePaths().map((path) => read(`src/${path}`));
}

function sourcePaths(): readonly string[] {
  const paths = read('src/index.ts').matchAll(/ from '\.\/((?:operations|sandbox|web)\/[^']+)'/g);
  return [...new Set([...paths].map(([, path = '']) => path))].sort();
}

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

if (import.meta.main) writeFileSync(new URL(LIBRARY_PAGE, ROOT), libraryPage());

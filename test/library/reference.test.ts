import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exportedNames, LIBRARY_PAGE, libraryFunctions, libraryOptions, libraryPage } from '../../.scripts/library.ts';
import { COMMANDS } from '../../src/cli/table.ts';
import * as handbill from '../../src/index.ts';
import { ROOT } from './consumer.ts';
import { readGuide } from './examples.ts';

const { guide, examples } = readGuide();
const page = libraryPage();
const { values, types } = exportedNames();
const functions = libraryFunctions();

/** Exported, but neither a command nor told apart by its options. */
const OTHERS = ['CODES', 'EXIT', 'HandbillError', 'formatDiagnostics'];

describe('docs/library.md', () => {
  it('is what the sources make of it', () => {
    expect(page === read(LIBRARY_PAGE), 'run `node .scripts/library.ts`').toBe(true);
  });

  it('has every function that the package exports, and no other', () => {
    expect(Object.keys(handbill).sort()).toEqual([...values].sort());
    expect([...functions.map(({ name }) => name), ...OTHERS].sort()).toEqual([...values].sort());
    const documented = [...page.matchAll(/^\| `(\w+)` \| .* \| `\1\(/gm)].map(([, name = '']) => name);
    expect(documented.toSorted()).toEqual(functions.map(({ name }) => name).toSorted());
    const [, options = ''] = page.split('\n## Options\n');
    const sections = [...options.matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name);
    expect(sections.toSorted()).toEqual(
      libraryOptions()
        .map(({ name }) => name)
        .toSorted(),
    );
  });

  it('leads to each function by its name', () => {
    for (const name of [...functions.map((one) => one.name), ...OTHERS]) expect(guide).toContain(`\`${name}\``);
  });

  it('has an example for each', () => {
    const code = examples.map(({ text }) => text).join('\n');
    const without = [...functions.map(({ name }) => name), 'formatDiagnostics', 'EXIT', 'HandbillError'].filter(
      (name) => !new RegExp(`\\b${name}\\b[(.;]|instanceof ${name}`).test(code),
    );
    expect(without).toEqual([]);
  });

  it('explains every option, and what holds where it is left out', () => {
    const options = libraryOptions();
    expect(options.length).toBeGreaterThan(20);
    const wrong = options.flatMap(({ name, doc, fields }) => [
      ...(doc.length < 10 ? [name] : []),
      ...fields.filter((field) => isUnexplained(field)).map((field) => `${name}.${field.name}`),
    ]);
    expect(wrong).toEqual([]);
  });

  it('tells the unit of every number that has one', () => {
    const numbers = libraryOptions().flatMap(({ name, fields }) =>
      fields
        .filter(({ name: field, type }) => /^(?:number|\(\) => number)$/.test(type) && /Ms$|^at$|^now$/.test(field))
        .map(({ name: field, doc }) => [`${name}.${field}`, /\bms\b|[Mm]illiseconds/.test(doc)] as const),
    );
    expect(numbers.filter(([, said]) => !said)).toEqual([]);
  });
});

/** Calls back, or needs nothing: what it is says what its absence means. */
function isUnexplained({
  name,
  doc,
  required,
  byDefault,
}: ReturnType<typeof libraryOptions>[number]['fields'][number]) {
  if (doc.length < 5) return !SELF_EXPLAINING.has(name);
  return !required && byDefault === '' && !/^(?:Called|Kubernetes: the container|GitHub Actions)/.test(doc);
}

/** Required, and of a type that says it all. */
const SELF_EXPLAINING: ReadonlySet<string> = new Set(['verdict', 'as']);

describe('the library', () => {
  it.each(COMMANDS.map(({ name }) => name).filter((name) => NOT_IN_PROGRAMS[name] === undefined))(
    'has a function for the command %s',
    (name) => {
      const says = functions.filter(({ doc }) => new RegExp(`^\`handbill ${name}\\b`).test(doc));
      expect(says.length).toBeGreaterThan(0);
    },
  );

  it('exports every type that its declarations name', () => {
    // Some have another name outside.
    const renamed = [...read('src/index.ts').matchAll(/(\w+) as \w+/g)].map(([, name = '']) => name);
    const known = new Set([...types, ...values, ...renamed]);
    const missing = [...namedTypes()].filter(([name]) => !known.has(name));
    expect(missing.map(([name, where]) => `${name} (${where})`)).toEqual([]);
  });
});

/** Commands that make no sense in a program. */
const NOT_IN_PROGRAMS: Readonly<Record<string, string>> = {
  completion: 'it is for shells',
  help: 'it is for people',
};

/**
 * `Campaign` has some sixty parts; a user who needs the type of one writes `Campaign['send']`. `OptionsOf` makes the types of
 * options from their tables.
 */
const NOT_FOLLOWED: ReadonlySet<string> = new Set(['Campaign', 'OptionsOf']);

/** Made from the schemas. Parts of exported types are named in the same way: `DueItem['why']`. */
const RESULT_TYPES = join('src', 'model', 'result-types.ts');

/** Every type of ours that is named by what is exported, or by what that names, with the file that names it. */
function namedTypes(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const visit = (name: string, file: string): void => {
    for (const used of namesIn(declarationOf(name, file))) {
      const source = sourceOf(used, file);
      if (source === null || source === RESULT_TYPES || found.has(used)) continue;
      found.set(used, file);
      if (!NOT_FOLLOWED.has(used)) visit(used, source);
    }
  };
  for (const [, body = '', path = ''] of read('src/index.ts').matchAll(
    /^export (?:type )?\{([^}]*)\} from '([^']+)'/gm,
  )) {
    for (const entry of body.split(',').map((one) => one.trim().replace(/^type /, ''))) {
      const name = entry.split(' as ')[0] ?? '';
      const file = definedIn(name, join('src', path));
      if (name !== '' && !NOT_FOLLOWED.has(name)) visit(name, file);
    }
  }
  expect(found.size).toBeGreaterThan(40);
  return found;
}

/** The text of an exported type, or of a function as far as its result. */
function declarationOf(name: string, file: string): string {
  const text = read(file).replaceAll(/\/\*[\s\S]*?\*\//g, '');
  const type = new RegExp(`^(?:export )?(?:interface|type) ${name}\\b[\\s\\S]*?(?:^\\}|\\{\\}$|;$)`, 'm').exec(
    text,
  )?.[0];
  const head = new RegExp(`^export (?:async )?function\\*? ${name}\\([\\s\\S]*? \\{$`, 'm').exec(text)?.[0];
  return (type ?? head ?? '').replaceAll(/'[^']*'/g, '');
}

function namesIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/\b[A-Z]\w+\b/g)].map(([name]) => name))];
}

/** The file of ours that a name comes from: where it is declared, or what it is imported from; null: it is not ours. */
function sourceOf(name: string, file: string): string | null {
  const text = read(file);
  if (new RegExp(`^(?:export )?(?:interface|type|class) ${name}\\b`, 'm').test(text)) return file;
  const from = [...text.matchAll(/^import (?:type )?\{([^}]*)\} from '(\.[^']+)'/gm)].find(([, names = '']) =>
    names.split(',').some((one) => one.trim().replace(/^type /, '') === name),
  )?.[2];
  return from === undefined ? null : definedIn(name, join(dirname(file), from));
}

/** `model.ts` names the files below model/. */
function definedIn(name: string, file: string): string {
  if (file !== join('src', 'model.ts')) return file;
  const files = [...read(file).matchAll(/^export \* from '\.\/([^']+)'/gm)].map(([, path = '']) => join('src', path));
  return files.find((one) => new RegExp(`^export (?:interface|type) ${name}\\b`, 'm').test(read(one))) ?? file;
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

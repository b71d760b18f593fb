import { dirname, join } from 'node:path/posix';

/** Folders and files of src, top first; those in one row are siblings, which never import each other. The nouns name the channels, which are in `content`. */
const ROWS: readonly (readonly string[])[] = [
  ['cli', 'index'],
  ['web'],
  ['telemetry'],
  ['operations'],
  ['send', 'diff'],
  ['plan'],
  [
    'campaign',
    'recipients',
    'templates',
    'approval',
    'http',
    'ledger',
    'report',
    'webhook',
    'sandbox',
    'suppression',
    'schedule',
    'scaffold',
  ],
  ['model'],
  ['providers'],
  ['content'],
  ['util'],
  ['errors'],
];

/** Source files by their path below src, with `/`. */
export type Tree = ReadonlyMap<string, string>;

/** One sentence for each import that breaks the order of the house, and for each circle of files. Empty means sound. */
export function layerProblems(tree: Tree): string[] {
  const edges = new Map(
    [...tree].map(([file, text]) => [file, relativeImports(file, text).flatMap((path) => named(tree, path))] as const),
  );
  return [...wrongDirections(tree, edges), ...circles(edges)];
}

/** The files below src that a file names in `import`, `export ... from`, `import()` and in types written `import('...')`. */
export function relativeImports(file: string, text: string): string[] {
  const code = withoutComments(text);
  const forms = [
    /^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*(['"])(?<path>\.[^'"]*)\1/gm,
    /^\s*import\s*(['"])(?<path>\.[^'"]*)\1/gm,
    /\bimport\s*\(\s*(['"`])(?<path>\.[^'"`]*)\1/g,
  ];
  const found = forms.flatMap((form) => [...code.matchAll(form)].map((match) => match.groups?.['path'] ?? ''));
  return [...new Set(found.map((path) => join(dirname(file), path)))];
}

/** The files that `import(`./${name}/command.ts`)` can name; a path without a hole is one file, there or not. */
function named(tree: Tree, path: string): readonly string[] {
  if (!path.includes('${')) return [path];
  const parts = path.split(/\$\{[^}]*\}/).map((part) => part.replaceAll('.', '\\.'));
  const pattern = new RegExp(`^${parts.join('[^/]+')}$`);
  return [...tree.keys()].filter((file) => pattern.test(file));
}

function wrongDirections(tree: Tree, edges: ReadonlyMap<string, readonly string[]>): string[] {
  const problems: string[] = [];
  for (const [file, targets] of edges) {
    if (rowOf(file) === -1) problems.push(`${file}: lies in no folder of the house`);
    for (const target of targets) {
      const problem = directionProblem(tree, file, target);
      if (problem !== undefined) problems.push(`${file} imports ${target}: ${problem}`);
    }
  }
  return problems;
}

function directionProblem(tree: Tree, file: string, target: string): string | undefined {
  if (target.startsWith('..')) return 'outside src';
  if (!tree.has(target)) return 'no such file';
  if (placeOf(file) === placeOf(target)) return undefined;
  const [from, to] = [rowOf(file), rowOf(target)];
  if (to < from) return 'upward';
  if (to === from) return 'sideways';
  return undefined;
}

/** The first folder of a path, or the name of a file that lies in src itself. */
function placeOf(file: string): string {
  return file.split('/')[0]?.replace(/\.ts$/, '') ?? '';
}

function rowOf(file: string): number {
  return ROWS.findIndex((row) => row.includes(placeOf(file)));
}

/** Every circle once, as the path that closes it: depth-first, an edge back into the present path is a circle. */
function circles(edges: ReadonlyMap<string, readonly string[]>): string[] {
  const problems: string[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    const start = path.indexOf(file);
    if (start !== -1) problems.push(`circle: ${[...path.slice(start), file].join(' -> ')}`);
    if (start !== -1 || done.has(file)) return;
    path.push(file);
    for (const target of edges.get(file) ?? []) visit(target);
    path.pop();
    done.add(file);
  };
  for (const file of edges.keys()) visit(file);
  return problems;
}

/** Whole-line comments go: examples in docstrings often show an import. What comes after code is left, for `//` may be part of a text. */
function withoutComments(text: string): string {
  return text.replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, '').replaceAll(/^\s*\/\/.*$/gm, '');
}

import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { LIBRARY_PAGE } from '../../.scripts/library.ts';
import { ROOT } from './consumer.ts';

export const EXAMPLES = join(ROOT, 'docs', 'examples', 'library');

/** A program of docs/library.md. */
export interface Example {
  readonly name: string;
  /** The file, with what it prints. */
  readonly text: string;
  readonly prints: string;
}

/** docs/library.md as far as it is written by hand, and its programs in the order in which they are run. */
export function readGuide(): { readonly guide: string; readonly examples: readonly Example[] } {
  const [guide = ''] = readFileSync(join(ROOT, LIBRARY_PAGE), 'utf8').split('\n## Functions\n');
  const programs = [...guide.matchAll(/^\[`([a-z-]+\.ts)`\]\(examples\/library\/\1\)/gm)];
  return { guide, examples: programs.map(([, file = '']) => readExample(file)) };
}

/** The files that are there, whether or not the page shows them. */
export function exampleFiles(): readonly string[] {
  return globSync('*.ts', { cwd: EXAMPLES }).sort();
}

function readExample(file: string): Example {
  const text = readFileSync(join(EXAMPLES, file), 'utf8');
  const prints = /\/\* prints\n([\s\S]*)\*\/\n$/.exec(text)?.[1];
  if (prints === undefined) throw new Error(`${file} does not say what it prints`);
  return { name: basename(file, '.ts'), text, prints };
}

/**
 * A program that runs the examples one after the other in the project, and prints as JSON what each of them prints. In
 * one process: a process for each would take most of the time to start.
 */
export const RUNNER = `import { formatWithOptions } from 'node:util';
const [project, ...names] = process.argv.slice(2);
process.chdir(project);
const said = {};
for (const name of names) {
  const lines = [];
  console.log = (...args) => void lines.push(formatWithOptions({ colors: false }, ...args) + '\\n');
  console.error = console.log;
  await import('./examples/' + name + '.ts');
  said[name] = lines.join('');
}
process.stdout.write(JSON.stringify(said));
`;

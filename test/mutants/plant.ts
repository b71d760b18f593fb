import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import process from 'node:process';
import { type Edit, editsOf, type Mutant } from './mutant.ts';

/** What the proofs need of the project: its sources, and of its build what runs in a browser. */
const COPIED = ['src', 'test', 'schemas', 'campaigns', '.scripts', 'package.json', 'tsconfig.json', 'dist/web/client'];

/** Only the sources, and nothing about what a change leaves unused: a planted bug must compile, not be tidy. */
const TYPES = {
  extends: './tsconfig.json',
  compilerOptions: { noUnusedLocals: false, noUnusedParameters: false },
  include: ['src'],
};

/** A copy of the project in a folder of its own, removed at the end of `using`. */
export interface Tree extends Disposable {
  readonly root: string;
}

/** Copies a project, without its installed packages, which are linked. */
export function copyTree(from: string): Tree {
  const folder = mkdtempSync(join(tmpdir(), 'handbill-mutants-'));
  // PostgreSQL runs as another user where the tests run as root, and its data lie below this.
  chmodSync(folder, 0o711);
  const root = join(folder, 'project');
  // A folder of links and not one link: tools keep caches beside the packages.
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  // The bench installs the programs that it compares with beside their scripts: half a gigabyte.
  const filter = (path: string): boolean => basename(path) !== 'node_modules';
  for (const name of COPIED) cpSync(join(from, name), join(root, name), { recursive: true, filter });
  for (const name of readdirSync(join(from, 'node_modules'))) {
    if (!CACHES.has(name)) symlinkSync(join(from, 'node_modules', name), join(root, 'node_modules', name));
  }
  writeFileSync(join(root, 'tsconfig.mutant.json'), JSON.stringify(TYPES));
  // What the proofs leave in the folder for temporary files goes with the copy.
  mkdirSync(join(folder, 'tmp'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.once('exit', remove);
  return {
    root,
    [Symbol.dispose]() {
      process.off('exit', remove);
      remove();
    },
  };
}

/** The folder for temporary files of whatever runs in a copy. */
export function temporaryFolder(root: string): string {
  return join(root, '..', 'tmp');
}

/** Plants a bug into a copy. @throws Error when it does not fit the sources any more */
export function plant(root: string, mutant: Mutant): void {
  for (const edit of editsOf(mutant)) {
    const path = join(root, edit.file);
    writeFileSync(path, changed(readFileSync(path, 'utf8'), edit, mutant.name));
  }
}

/** The text with the edit made. @throws Error when the old text is not there exactly once */
export function changed(text: string, { file, was, is }: Edit, name: string): string {
  const times = text.split(was).length - 1;
  if (times === 1 && was !== is) return text.replace(was, () => is);
  throw new Error(`The mutant ${name} no longer applies: its text stands ${times} times in ${file}:\n${was}`);
}

const CACHES = new Set(['.vite', '.vite-temp', '.vitest', '.cache']);

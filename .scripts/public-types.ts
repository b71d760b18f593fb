import { globSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

/** What a program that imports handbill sees first. */
const ENTRY = 'index.d.ts';

/**
 * Removes the declarations that a program cannot reach from the library's entry: most of them describe the inside, and an
 * editor would offer them as if they were promised. Those that stay describe each option.
 *
 * @param folder - a build with a declaration for each source
 */
export function keepPublicTypes(folder: string): void {
  const reached = reachedFrom(folder, ENTRY);
  for (const file of globSync('**/*.d.ts', { cwd: folder })) {
    const path = join(folder, file);
    if (!reached.has(file.split(sep).join('/'))) rmSync(path);
    else writeFileSync(path, describeOptions(readFileSync(path, 'utf8')));
  }
  removeEmptyFolders(folder);
}

/** Gives each option of a table the docstring that editors show, made from its sentence. */
export function describeOptions(declaration: string): string {
  return declaration.replaceAll(
    /^( +)readonly \w+: \{\n(?:\1 +readonly \w+: .*\n)*\1\};$/gm,
    (block, indent: string) => {
      const textOf = (key: string) => new RegExp(`^ +readonly ${key}: (['"])(.*)\\1;$`, 'm').exec(block)?.[2] ?? '';
      const [says, more, without] = [textOf('says'), textOf('more'), textOf('without')];
      if (says === '') return block;
      const sentences = [`${says}.`, more, without === '' ? '' : `Default: ${without}.`].filter((one) => one !== '');
      return `${indent}/** ${sentences.join(' ').replaceAll('*/', '*\\/')} */\n${block}`;
    },
  );
}

/**
 * Declarations that are named from `entry`, directly or by each other, with `entry` itself.
 *
 * @returns paths relative to `folder`, with `/`
 */
export function reachedFrom(folder: string, entry: string): ReadonlySet<string> {
  const reached = new Set<string>();
  const waiting = [entry];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    const path = join(folder, file);
    for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(
      /(?:\bfrom |\bimport |\bimport\()["'](\.[^"']+)["']/g,
    )) {
      const named = join(dirname(path), name.replace(/\.[jt]s$/, '.d.ts'));
      waiting.push(relative(folder, named).split(sep).join('/'));
    }
  }
  return reached;
}

function removeEmptyFolders(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeEmptyFolders(join(folder, entry.name));
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}

import type { Dirent } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A repository has fewer; a walk that got lost in something else ends here. */
const MAX_FOLDERS = 5000;

/** Every YAML file below a folder; node_modules, hidden folders and links to folders are left out. */
export async function yamlFilesBelow(folder: string): Promise<readonly string[]> {
  const files: string[] = [];
  const open = [folder];
  for (let count = 0; count < MAX_FOLDERS; count += 1) {
    const next = open.pop();
    if (next === undefined) break;
    for (const entry of await entriesOf(next)) {
      if (entry.isDirectory()) {
        if (!entry.name.startsWith('.') && entry.name !== 'node_modules') open.push(join(next, entry.name));
      } else if (/\.ya?ml$/.test(entry.name) && !entry.name.startsWith('.')) files.push(join(next, entry.name));
    }
  }
  return files;
}

/** What lies in a folder, sorted by name; nothing where it cannot be read. */
export async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}

/** Null when there is nothing; whatever is no folder counts as a file here, and is judged when it is opened. */
export async function kindOf(path: string): Promise<'file' | 'folder' | null> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file';
  } catch {
    // A link that leads nowhere is there all the same, and what is wrong with it is said later.
    return await lstat(path).then(
      () => 'file' as const,
      () => null,
    );
  }
}

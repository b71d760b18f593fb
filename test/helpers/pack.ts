import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/**
 * Packs what would be published, with the scripts that npm runs then. They change package.json for a moment, so that it is
 * done in a copy: other tests read it.
 *
 * @param folder gets the archive
 * @returns its path, and the files in it
 */
export function pack(folder: string): { readonly archive: string; readonly files: readonly string[] } {
  const copy = mkdtempSync(join(tmpdir(), 'handbill-pack-'));
  try {
    const { files: published } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: string[] };
    const paths = published.filter((path) => !path.startsWith('!'));
    for (const path of [...paths, 'package.json', 'README.md', 'LICENSE', '.scripts', 'src']) {
      // With their times: a build that is older than a script is made again.
      cpSync(join(ROOT, path), join(copy, path), { recursive: true, preserveTimestamps: true });
    }
    // Folders are new, and the build would seem older than they are: it gets a time that no clock of files can be past.
    const later = new Date(Date.now() + 3_600_000);
    utimesSync(join(copy, 'dist', 'cli.js'), later, later);
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    const said = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: copy,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [{ filename, files }] = Object.values(JSON.parse(said)) as [{ filename: string; files: { path: string }[] }];
    return { archive: join(folder, filename), files: files.map(({ path }) => path).sort() };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

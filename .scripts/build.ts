// Builds dist/ from src/. Run by `npm run build`, and by `npm ci` in a clone.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
const entry = join(root, 'dist', 'cli.js');

removeOldBuild();
compile();
makeExecutable();
linkCommand();

/** A file that was renamed in src must not live on in dist, where the package would publish it. */
function removeOldBuild(): void {
  rmSync(join(root, 'dist'), { recursive: true, force: true });
}

/** The compiler is started by its script, not by its link in `.bin`, so that this very Node runs it. */
function compile(): void {
  const manifest = join(root, 'node_modules', 'typescript', 'package.json');
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: { tsc: string } };
  const compiler = join(manifest, '..', bin.tsc);
  try {
    execFileSync(process.execPath, [compiler, '-p', join(root, 'src', 'tsconfig.json')], { stdio: 'inherit' });
  } catch {
    process.stderr.write('The build stopped: the compiler found the errors above.\n');
    process.exit(1);
  }
}

/** The compiler writes plain files; a command needs the executable bit. */
function makeExecutable(): void {
  if (!existsSync(entry)) {
    process.stderr.write('The build is without dist/cli.js: src/cli.ts is missing.\n');
    process.exit(1);
  }
  chmodSync(entry, 0o755);
}

/** npm links the commands of dependencies only; npm scripts and `npm exec -c` in a clone find this one by a link of its own. */
function linkCommand(): void {
  const folder = join(root, 'node_modules', '.bin');
  if (!existsSync(folder)) return;
  const link = join(folder, 'handbill');
  rmSync(link, { force: true });
  symlinkSync(relative(folder, entry), link);
}

import { existsSync, globSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Whether there is a build in `root`, and nothing that goes into it is younger. */
export function isFresh(root: string): boolean {
  const entry = join(root, 'dist', 'cli.js');
  if (!existsSync(entry)) return false;
  const builtMs = statSync(entry).mtimeMs;
  const inputs = globSync(['src/**', 'schemas/**', '.scripts/**', 'package-lock.json'], { cwd: root });
  return inputs.every((file) => statSync(join(root, file)).mtimeMs < builtMs);
}

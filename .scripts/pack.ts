// Run by npm before and after it packs (`npm pack`, `npm publish`): the published package.json has no scripts, because they
// are for a clone, and npm warns of `prepare` at every install. Where packing is cut off, `git checkout package.json`.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const file = join(import.meta.dirname, '..', 'package.json');
const kept = `${file}.kept`;

if (process.argv[2] === 'after') renameSync(kept, file);
else {
  const text = readFileSync(file, 'utf8');
  writeFileSync(kept, text);
  const { scripts: _, ...published } = JSON.parse(text) as { readonly scripts?: object };
  writeFileSync(file, `${JSON.stringify(published, null, 2)}\n`);
}

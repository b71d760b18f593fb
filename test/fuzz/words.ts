import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', 'fixtures', 'fuzz');

/**
 * Words of a format: what a file of it is made of, and what its authors never thought of. One in each line of
 * fixtures/fuzz/NAME.txt, written as inside a JSON string, so that every character can be in it and be seen.
 */
export function words(name: 'any' | 'csv' | 'http' | 'json' | 'template' | 'yaml'): readonly string[] {
  const lines = readFileSync(join(FOLDER, `${name}.txt`), 'utf8')
    .split('\n')
    .slice(0, -1);
  return lines.map((line) => JSON.parse(`"${line}"`) as string);
}

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { expect, it, test } from 'vitest';
import { MUTANTS } from './catalogue.ts';
import { editsOf } from './mutant.ts';
import { changed } from './plant.ts';

const ROOT = join(import.meta.dirname, '..', '..');

test('each mutant has a name of its own', () => {
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
  expect(MUTANTS.filter(({ name }) => !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name))).toEqual([]);
});

it.each(MUTANTS)('fits the sources: $name', (mutant) => {
  const texts = new Map<string, string>();
  for (const edit of editsOf(mutant)) {
    const text = texts.get(edit.file) ?? readFileSync(join(ROOT, edit.file), 'utf8');
    texts.set(edit.file, changed(text, edit, mutant.name));
  }
  expect(texts.size).toBeGreaterThan(0);
});

it('does not fit where its text is missing or there twice', () => {
  const edit = { file: 'a.ts', was: 'one', is: 'two' };
  expect(changed('is one.', edit, 'sample')).toBe('is two.');
  for (const text of ['is three.', 'one and one']) {
    expect(() => changed(text, edit, 'sample')).toThrow('The mutant sample no longer applies');
  }
});

test.runIf(process.env['HANDBILL_FULL'] === '1')(
  'every planted bug is caught',
  async () => {
    const { PATH, HOME, TMPDIR } = process.env;
    const env = { PATH, HOME, ...(TMPDIR === undefined ? {} : { TMPDIR }) };
    const hunt = spawn(process.execPath, [join(import.meta.dirname, 'hunt.ts')], { env });
    let said = '';
    for (const stream of [hunt.stdout, hunt.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    }
    const status = await new Promise((resolve) => hunt.on('close', resolve));
    expect(status, said).toBe(0);
  },
  40 * 60_000,
);

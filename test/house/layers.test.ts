import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { layerProblems, relativeImports } from './layers.ts';

const src = join(import.meta.dirname, '..', '..', 'src');

test('the source imports downwards only, and without circles', () => {
  const tree = new Map(
    globSync(['**/*.ts', '*/**/*.json'], { cwd: src, exclude: ['web/client/tsconfig.json'] }).map((file) => [
      file,
      readFileSync(join(src, file), 'utf8'),
    ]),
  );
  expect(tree.size).toBeGreaterThan(50);
  expect([...tree].flatMap(([file, text]) => relativeImports(file, text)).length).toBeGreaterThan(tree.size);
  expect(layerProblems(tree)).toEqual([]);
});

const ground = { 'model.ts': '', 'errors.ts': '', 'util/a.ts': '' };

describe('a sound tree', () => {
  it.each<[label: string, files: Record<string, string>]>([
    ['downwards over several floors', { 'cli.ts': `import './util/a.ts';` }],
    ['within one folder', { 'http/a.ts': `import { b } from './b.ts';`, 'http/b.ts': '' }],
    ['within one folder, deeper', { 'http/a/b.ts': `import { c } from '../c.ts';`, 'http/c.ts': '' }],
    ['packages and built-ins', { 'http/a.ts': `import x from 'undici';\nimport 'node:fs';` }],
    ['the nouns name the codes', { 'model.ts': `import type { Code } from './errors.ts';` }],
    ['the nouns name the channels', { 'model.ts': `import type { C } from './content/c.ts';`, 'content/c.ts': '' }],
    ['an import in a docstring', { 'util/a.ts': `/**\n * import { x } from '../cli.ts';\n */`, 'cli.ts': '' }],
  ])('%s', (_label, files) => {
    expect(problemsOf(files)).toEqual([]);
  });
});

describe('a planted fault is found', () => {
  it.each<[label: string, files: Record<string, string>, problem: string]>([
    [
      'upward, static',
      { 'plan/a.ts': `import { run } from '../send/b.ts';`, 'send/b.ts': '' },
      'plan/a.ts imports send/b.ts: upward',
    ],
    [
      'upward, over several lines',
      { 'util/b.ts': `import {\n  one,\n  two,\n} from '../http/b.ts';`, 'http/b.ts': '' },
      'util/b.ts imports http/b.ts: upward',
    ],
    [
      'upward, types only',
      { 'errors.ts': `import type { A } from './util/a.ts';` },
      'errors.ts imports util/a.ts: upward',
    ],
    [
      'upward, exported from',
      { 'send/a.ts': `export * from '../cli.ts';`, 'cli.ts': '' },
      'send/a.ts imports cli.ts: upward',
    ],
    [
      'upward, dynamic',
      { 'http/a.ts': `const x = await import('../plan/b.ts');`, 'plan/b.ts': '' },
      'http/a.ts imports plan/b.ts: upward',
    ],
    [
      'upward, for its effect',
      { 'http/a.ts': `import "../plan/b.ts";`, 'plan/b.ts': '' },
      'http/a.ts imports plan/b.ts: upward',
    ],
    [
      'sideways between stages',
      { 'http/a.ts': `import { b } from '../ledger/b.ts';`, 'ledger/b.ts': '' },
      'http/a.ts imports ledger/b.ts: sideways',
    ],
    [
      'sideways between the two entrances',
      { 'cli.ts': `import { b } from './index.ts';`, 'index.ts': '' },
      'cli.ts imports index.ts: sideways',
    ],
    [
      'outside src',
      { 'http/a.ts': `import { b } from '../../test/b.ts';` },
      'http/a.ts imports ../test/b.ts: outside src',
    ],
    ['a file that is not there', { 'http/a.ts': `import './b.js';` }, 'http/a.ts imports http/b.js: no such file'],
    ['a folder that the house does not know', { 'misc/a.ts': '' }, 'misc/a.ts: lies in no folder of the house'],
    [
      'a circle within one folder',
      { 'http/a.ts': `import './b.ts';`, 'http/b.ts': `import './c.ts';`, 'http/c.ts': `import './a.ts';` },
      'circle: http/a.ts -> http/b.ts -> http/c.ts -> http/a.ts',
    ],
    [
      'upward from the channels to the nouns',
      { 'content/a.ts': `import type { A } from '../model.ts';` },
      'content/a.ts imports model.ts: upward',
    ],
    ['a file that imports itself', { 'http/a.ts': `import './a.ts';` }, 'circle: http/a.ts -> http/a.ts'],
  ])('%s', (_label, files, problem) => {
    expect(problemsOf(files)).toEqual([problem]);
  });
});

function problemsOf(files: Record<string, string>): string[] {
  return layerProblems(new Map(Object.entries({ ...ground, ...files })));
}

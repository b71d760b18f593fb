import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

/** Written apart, so that this file does not contain what it forbids. */
const FORBIDDEN: readonly { what: string; pattern: RegExp }[] = [
  { what: 'a path of one machine', pattern: new RegExp(`(?<![\\w.}/-])/${'work'}/|(?<![\\w.}/-])/${'root'}/`) },
  { what: 'a home folder', pattern: new RegExp(`(?<![\\w.}/-])/${'home'}/(?!you/|user/)\\w+/`) },
  {
    what: 'the host of a package registry',
    pattern: new RegExp(`registry\\.${'npmjs'}\\.org|registry\\.${'yarnpkg'}`),
  },
  { what: 'where a package was fetched from', pattern: new RegExp(`"${'resolved'}": "https?:`) },
];

test('files in git name no machine and no registry', () => {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
  expect(files).toContain('package-lock.json');
  expect(files.flatMap((file) => wordProblems(file, textOf(file)))).toEqual([]);
});

describe('a planted word is found', () => {
  it.each<[label: string, text: string, what: string]>([
    ['an import', `import '/${'work'}/main/src/cli.ts'`, 'a path of one machine'],
    ['a folder of root', `cd /${'root'}/x`, 'a path of one machine'],
    ['a folder of a person', `"/${'home'}/alice/handbill"`, 'a home folder'],
    ['a registry', `https://registry.${'npmjs'}.org/yaml`, 'the host of a package registry'],
    [
      'a lock file with addresses',
      `"${'resolved'}": "https://mirror.example/a.tgz"`,
      'where a package was fetched from',
    ],
  ])('%s', (_label, text, what) => {
    expect(wordProblems('a', `first\n${text}`)).toEqual([`a:2: ${what}`]);
  });

  it('and what only looks alike is not', () => {
    expect(wordProblems('a', `src/${'work'}/x https://a.example/${'work'}/x`)).toEqual([]);
  });
});

/** A file may be deleted in the checkout and still stand in git's index. */
function textOf(file: string): string {
  try {
    return readFileSync(join(root, file), 'utf8');
  } catch {
    return '';
  }
}

function wordProblems(file: string, text: string): string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      FORBIDDEN.filter(({ pattern }) => pattern.test(line)).map(({ what }) => `${file}:${index + 1}: ${what}`),
    );
}

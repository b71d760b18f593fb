import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
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

/** Words with which a sentence does not say who or what it means, or that are not the term of the field; and 5 % for 5%. */
const UNCLEAR =
  /\b(?:nobody|somebody|anybody|everybody|whoever|whomever|whom|for ever|dearest|dearer|besides|stands?(?![- ]in\b)|cures?|burned|what c[ao]mes? back|sealed plans?|of them again|to pass on|takes? over exported)\b|(?<=[\d}]) %/gi;

/** Sentences in which no one acts, and idioms of a translation, in a text that users read. */
const UNCLEAR_TEXT =
  /\b(?:of (?:its|their|your) own|all the same|(?:has|have|is|are|do|does|sends?|want) (?:it |them )?no more(?=[.,;:)]|$)|(?:is|are|was|were|be|been) (?:said|meant|looked (?:at|for)|told (?!to\b))|(?:is|are|was|were) told to (?!stop))\b/gi;

/** Names that do not say what a thing is. */
const UNCLEAR_NAME = /\w*(?:nobody|somebody|anybody|everybody|whoever|desk)\w*/gi;

/**
 * Comments that begin with a noun that looks for a verb, or in which no one acts. A room is listed once its comments are
 * clean, and stays clean.
 */
const NO_ACTOR =
  /^(?:\/\*\*?|\/\/)\s*(?:What|Who|Of|So)\b|\b(?:is|are|was|were|be|been) (?:said|looked|meant)\b|\bof (?:its|their) own\b|\bleft out\b|\ball the same\b/g;

const CLEAN_COMMENTS = [
  ...'approval campaign cli content http diff ledger model operations plan recipients report sandbox'.split(' '),
  ...'scaffold schedule send suppression telemetry templates util web webhook *.ts'.split(' '),
];

/** Metaphors that stood for a term of the field, as a word of a name: `sealedPlan`, `Reach`. Array.shift is none. */
const METAPHOR = new Set(
  'shift parcel parcels turn turns reach reached leg legs seal sealed memory recall witness look looks'.split(' '),
);
const NOT_OURS = /^(?:shift|unshift|memoryUsage|look(?:Up|up|alike|ahead|behind|s?Like)\w*)$/i;

const CLEAN_NAMES = [
  ...'approval campaign http model recipients report sandbox scaffold schedule suppression telemetry'.split(' '),
  ...'templates util *.ts'.split(' '),
];

/** A row of docs/failures.md, or of a page that is not in this project. */
const BARE_CODE = /(?<![\w.'"`#%+$/-])[A-KS]\d{1,2}\b(?![-:]\d)/;

/** A code belongs behind the words of a title. */
const CODE_FIRST = /^(?:[A-KS]\d{1,2}(?:, )?)+:/;

describe('what people read says who and what', () => {
  const pages = globSync(
    ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'campaigns/README.md', 'docs/**/*.md', 'schemas/*.json'],
    {
      cwd: root,
    },
  );

  test.each(pages)('%s', (page) => {
    // Code is as it is written; so is what the examples of diagnostics print, which the messages below are tested for.
    const code = page.startsWith('docs/diagnostics') ? /```[\s\S]*?```/g : /`[^`\n]*`/g;
    const text = textOf(page).replaceAll(code, (found) => found.replaceAll(/[^\n]/g, ''));
    expect([...unclearWords(text), ...unclearWords(text, UNCLEAR_TEXT)]).toEqual([]);
  });

  // The sentences of the types of results are those of the schemas, which are among the pages.
  const sources = globSync('src/**/*.ts', { cwd: root, exclude: ['src/model/result-types.ts'] });

  test('messages in src', () => {
    expect(sources.length).toBeGreaterThan(100);
    expect(
      sources.flatMap((path) => {
        const texts = textsIn(textOf(path));
        return [...unclearWords(texts), ...unclearWords(texts, UNCLEAR_TEXT)].map((found) => `${path}: ${found}`);
      }),
    ).toEqual([]);
  });

  test('names in src', () => {
    expect(
      sources.flatMap((path) => [...textOf(path).matchAll(UNCLEAR_NAME)].map(([name]) => `${path}: ${name}`)),
    ).toEqual([]);
    expect('const NOBODY = aDesk;'.match(UNCLEAR_NAME)).toEqual(['NOBODY', 'aDesk']);
  });

  const rooms = [...new Set(sources.map((path) => path.split('/').slice(0, -1)[1] ?? '*.ts'))];

  test.each(rooms)('comments in src/%s', (room) => {
    const comments = globSync(room === '*.ts' ? 'src/*.ts' : `src/${room}/**/*.ts`, { cwd: root }).flatMap((path) =>
      commentsIn(textOf(path)).map((comment) => ({ path, comment })),
    );
    expect(comments.length).toBeGreaterThan(5);
    expect(
      comments.flatMap(({ path, comment }) => [
        ...unclearWords(comment).map((found) => `${path}: ${found}: ${comment}`),
        ...(BARE_CODE.test(comment) && !comment.includes('failures.md') ? [`${path}: a code alone: ${comment}`] : []),
      ]),
    ).toEqual([]);
  });

  const inRoom = (room: string) => sources.filter((path) => (path.split('/').slice(0, -1)[1] ?? '*.ts') === room);

  test.each(CLEAN_COMMENTS)('comments in src/%s say who does what', (room) => {
    expect(inRoom(room).length).toBeGreaterThan(0);
    expect(
      inRoom(room).flatMap((path) =>
        commentsIn(textOf(path)).flatMap((comment) =>
          passives(comment).map((found) => `${path}: ${found}: ${comment}`),
        ),
      ),
    ).toEqual([]);
  });

  test.each(CLEAN_NAMES)('names in src/%s are no metaphors', (room) => {
    expect(inRoom(room).flatMap((path) => metaphors(textOf(path)).map((name) => `${path}: ${name}`))).toEqual([]);
  });

  const tests = globSync('test/**/*.test.ts', { cwd: root });

  test('comments in test', () => {
    const files = globSync('test/**/*.ts', { cwd: root }).filter((path) => !path.endsWith('house/words.test.ts'));
    expect(
      files.flatMap((path) =>
        commentsIn(textOf(path)).flatMap((comment) =>
          unclearWords(comment).map((found) => `${path}: ${found}: ${comment}`),
        ),
      ),
    ).toEqual([]);
  });

  test('titles of tests', () => {
    expect(tests.length).toBeGreaterThan(100);
    expect(
      tests.flatMap((path) =>
        titlesIn(textOf(path)).flatMap((title) => [
          ...unclearWords(title).map((found) => `${path}: ${found}: ${title}`),
          ...(CODE_FIRST.test(title) ? [`${path}: a code before the words: ${title}`] : []),
        ]),
      ),
    ).toEqual([]);
  });

  test('an unclear word is found, in a page, in a message, in a title and in a comment', () => {
    expect(unclearWords('first\nNobody is sent to.')).toEqual(['2: Nobody']);
    expect(unclearWords('understanding, standard')).toEqual([]);
    expect(unclearWords('It is looked at in a file\nof its own.', UNCLEAR_TEXT)).toEqual([
      '1: is looked at',
      '2: of its own',
    ]);
    expect(unclearWords('takes no more than 5; was told to stop', UNCLEAR_TEXT)).toEqual([]);
    expect(textsIn("// somebody\nconst a = 'for everybody', nobody;")).toBe("\n'for everybody'");
    expect(commentsIn('/** For whoever. */\nconst a = 1;\n// K3: suppressed.\n// Twice.')).toEqual([
      '/** For whoever. */',
      '// K3: suppressed.\n// Twice.',
    ]);
    expect(BARE_CODE.test('// K3: suppressed.')).toBe(true);
    expect(titlesIn("it.each([1])('for %s', () => a('not this'));\ndescribe('of a', { skip }, () => {});")).toEqual([
      'for %s',
      'of a',
    ]);
    expect(CODE_FIRST.test('K3, A1: suppressed')).toBe(true);
    expect(passives('/** What is planned. */')).toEqual(['/** What']);
    expect(passives('/**\n * A row of its\n * own.\n */')).toEqual(['of its own']);
    expect(metaphors("const sealedPlan = look(); // a seal\nrest.shift(lookUp, 'the turn');")).toEqual([
      'sealedPlan',
      'look',
    ]);
  });
});

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

/** A file may be deleted in the checkout and still be in git's index. */
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

function unclearWords(text: string, pattern = UNCLEAR): string[] {
  return text
    .split('\n')
    .flatMap((line, index) => [...line.matchAll(pattern)].map(([word]) => `${index + 1}: ${word}`));
}

function passives(comment: string): string[] {
  return [...comment.replaceAll(/\n\s*(?:\*(?!\/)|\/\/)?\s*/g, ' ').matchAll(NO_ACTOR)].map(([found]) => found);
}

/** Names of code that have a metaphor among their words. */
function metaphors(source: string): string[] {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '').replaceAll(TEXTS, '');
  return [...new Set(code.match(/[A-Za-z]\w*/g))].filter(
    (name) =>
      !NOT_OURS.test(name) &&
      (name.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? []).some((word) => METAPHOR.has(word.toLowerCase())),
  );
}

/** The texts of several words in a source, each on its line; comments and names of code are left out. */
function textsIn(source: string): string {
  return source
    .replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, (comment) => comment.replaceAll(/[^\n]/g, ''))
    .split('\n')
    .map((line) =>
      /^\s*\/\//.test(line) ? '' : (line.match(TEXTS) ?? []).filter((text) => text.includes(' ')).join(' '),
    )
    .map((line) => line.replaceAll(/\$\{[^}]*\}/g, ''))
    .join('\n');
}

/** What `test`, `it` and `describe` are called with first, also after the table of `each`. */
function titlesIn(source: string): string[] {
  return [...source.matchAll(TITLES)].map(([, title = '']) => title.slice(1, -1));
}

/** Each comment as one text. */
function commentsIn(source: string): string[] {
  return [...source.matchAll(/^[ \t]*(?:\/\*[\s\S]*?\*\/|(?:\/\/.*(?:\n[ \t]*(?=\/\/))?)+)/gm)].map(([comment]) =>
    comment.trim(),
  );
}

const TEXTS = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`?/g;
const TITLES =
  /(?:\b(?:test|it|describe)(?:\.\w+(?:\((?:[^()'"`\n]|'[^'\n]*')*\))?)*\(|\)\()\s*('(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|"(?:[^"\\\n]|\\.)*")\s*,/g;

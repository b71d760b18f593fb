import { describe, expect, it, test } from 'vitest';
import { MAX_YAML_BYTES, readYaml } from '../../src/campaign/yaml.ts';
import { diagnosticLines, golden } from '../helpers/golden.ts';
import { examples } from '../helpers/quick.ts';
import { brief } from './helper.ts';

function read(text: string | Uint8Array) {
  return readYaml(typeof text === 'string' ? Buffer.from(text) : text, 'file.yaml');
}

const bomb = [
  'a: &a [lol]',
  ...[...'bcdefghi'].map((c, i) => `${c}: &${c} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(', ')}]`),
];

describe('values', () => {
  golden('values are read as YAML 1.2 core reads them', 'campaign/yaml-values', (written) => {
    const value = read(`key: ${written}`).yaml?.value;
    return value;
  });

  it('have no prototype', () => {
    const value = read('a: { b: [{ c: 1 }] }').yaml?.value as { a: { b: [object] } };
    expect([value, value.a, value.a.b[0]].map((o) => Object.getPrototypeOf(o))).toEqual([null, null, null]);
    expect(read('toString: 1\nhasOwnProperty: 2').yaml?.value).toEqual({ toString: 1, hasOwnProperty: 2 });
  });

  it('keep keys as they are written', () => {
    expect(Object.keys(read('no: 1\n1.0: 2\nnull: 3\n"a b": 4').yaml?.value as object)).toEqual([
      'no',
      '1.0',
      'null',
      'a b',
    ]);
  });

  it('take a merge key for an ordinary one', () => {
    expect(read('a: &a { x: 1 }\nb:\n  <<: *a\n').yaml?.value).toEqual({ a: { x: 1 }, b: { '<<': { x: 1 } } });
  });

  it('expand a few aliases, each as it was at that place', () => {
    expect(read('a: &x 1\nb: *x\nc: &x 2\nd: *x\n').yaml?.value).toEqual({ a: 1, b: 1, c: 2, d: 2 });
  });

  it('may begin with a byte order mark, and lines may end with CRLF', () => {
    const { yaml } = read('\ufeffa: 1\r\nb: x\r\n');
    expect(yaml?.value).toEqual({ a: 1, b: 'x' });
    expect(yaml?.text.at(yaml.places.get('/b')?.value[0] ?? 0)).toMatchObject({
      at: { line: 2, column: 4 },
      source: 'b: x',
    });
  });
});

golden(
  'what is no YAML 1.2 of one plain document is refused, with the way to write a slip',
  'campaign/yaml',
  (text) => {
    const { yaml, diagnostics } = read(text);
    return yaml === null ? diagnosticLines(diagnostics, 'file.yaml') : 'is read';
  },
);

describe('what is refused', () => {
  test.each<[label: string, text: string | Uint8Array, expected: readonly string[]]>([
    ['the ninth level of an alias bomb', bomb.join('\n'), ['yaml-alias-limit 2:8']],
    ['fifty-one aliases', `a: &a 1\nb: [${Array(51).fill('*a').join(', ')}]\n`, ['yaml-alias-limit 2:205']],
    ['20,000 brackets', '['.repeat(20_000), ['yaml-too-deep 1:65']],
    ['20,000 braces', '{'.repeat(20_000), ['yaml-too-deep 1:65']],
    ['20,000 dashes', '- '.repeat(20_000), ['yaml-too-deep 1:129']],
    ['20,000 question marks', '? '.repeat(20_000), ['yaml-too-deep 1:129']],
    [
      'keys that are each indented more',
      Array.from({ length: 100 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
      ['yaml-too-deep 65:66'],
    ],
    [
      'depth by aliases',
      `a: &a ${'['.repeat(40)}${']'.repeat(40)}\nb: ${'['.repeat(40)}*a${']'.repeat(40)}\n`,
      ['yaml-too-deep 1:31'],
    ],
    [
      'bytes that are not UTF-8',
      Buffer.from([0x61, 0x3a, 0x20, 0x31, 0x0a, 0x62, 0x3a, 0x20, 0xff]),
      ['invalid-encoding 2:4'],
    ],
    ['UTF-16', Buffer.from('\ufeffa: 1', 'utf16le'), ['invalid-encoding 1:1']],
    ['more than a megabyte', `# ${'x'.repeat(MAX_YAML_BYTES)}`, ['file-too-large -:-']],
    ['a hundred thousand brackets in a row', `[${'[],'.repeat(50_000)}]`, ['file-too-large 1:100000']],
    [
      'more values than anyone writes',
      `a: &a [${'1,'.repeat(2000)}]\nb: [${'*a,'.repeat(40)}]\n`,
      ['file-too-large 1:3906'],
    ],
  ])('%s', (_label, text, expected) => {
    const { yaml, diagnostics } = read(text);
    expect(yaml).toBeNull();
    expect(brief(diagnostics)).toEqual(expected);
    expect(diagnostics.every((d) => d.message.endsWith('.'))).toBe(true);
  });

  it('is not what is merely unusual', () => {
    for (const text of ['%YAML 1.2\n---\na: 1\n', '---\na: 1\n...\n', '# only a comment\n', '', 'a: "[[[[{{{{"\n']) {
      expect(brief(read(text).diagnostics), text).toEqual([]);
    }
    const smiley = `a: |\n  ${':[ '.repeat(100)}${'{{'.repeat(100)}\nb: "${'['.repeat(100)}"\nc: ${'('.repeat(100)}\n# ${'['.repeat(100)}\n`;
    expect(brief(read(smiley).diagnostics)).toEqual([]);
    const depth64 = '['.repeat(63);
    expect(brief(read(`a: ${depth64}${']'.repeat(63)}\n`).diagnostics)).toEqual([]);
  });

  it('pollutes nothing', () => {
    read('__proto__: { polluted: true }\nconstructor: { prototype: { polluted: true } }\n');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe('a slip is told with the way to write it', () => {
  it('beside what is wrong above it, and beside other slips, but not what follows from it', () => {
    const text = 'a: b: c\nb: {{x}}\nc: "x "y" z"\nd: {{#if}}\ne: 1\n';
    expect(brief(read(text).diagnostics)).toEqual([
      'yaml-syntax 1:4',
      'yaml-syntax 2:4',
      'yaml-syntax 3:7',
      'yaml-syntax 4:4',
    ]);
  });

  it('without the key in its line', () => {
    const [slip] = read('apiKey: "test-of-a-secret"-key"\n').diagnostics;
    expect(slip?.code).toBe('yaml-syntax');
    expect(JSON.stringify(slip)).not.toContain('secret');
  });

  it('not in a text or a comment, and not where texts in quotes follow each other', () => {
    for (const text of [
      'a: |\n  {{x}} "a" b\nb: "{{x}}" # {{x}} "a" b\n',
      'a: ["x", "y"]\nb: { "x": "y" }\n"c": "d"\n',
      `a: 'it''s'\nb: "a \\"b\\" c"\nc: say "hi" {{x}}\n`,
      'a: >\n  "a" b\n',
      'a: x.hbs # {{name}} is a column\nb: "{{x}}" #{{x}}\nc: Hi {{d}} # why\nd: | #{{x}}\n  {{a}} #{{b}}\n#{{x}}\n',
      'a: #1 of them\n  b: 1\n',
    ]) {
      expect(brief(read(text).diagnostics), text).toEqual([]);
    }
  });
});

describe('places', () => {
  const text = [
    'a: 1',
    "b: 'x y'",
    'c: "x"',
    'd: |',
    '  one',
    '  two',
    'e: >-',
    '    one',
    'f: [ { g: plain } ]',
    'h/~i: 1',
    '',
  ].join('\n');
  const { yaml } = read(text);
  const position = (offset: number | undefined) => yaml?.text.position(offset ?? -1);

  test.each([
    ['/a', 1, 1, 4],
    ['/b', 2, 1, 4],
    ['/f/0/g', 9, 8, 11],
    ['/h~1~0i', 10, 1, 7],
  ])('%s', (pointer, line, keyColumn, valueColumn) => {
    const place = yaml?.places.get(pointer);
    expect(position(place?.key?.[0])).toEqual({ line, column: keyColumn });
    expect(position(place?.value[0])).toEqual({ line, column: valueColumn });
  });

  test.each([
    ['plain', '/f/0/g', 9, 11],
    ['single quotes', '/b', 2, 5],
    ['double quotes', '/c', 3, 5],
    ['a literal block', '/d', 5, 3],
    ['a folded block', '/e', 8, 5],
  ])('of the first character of a text: %s', (_label, pointer, line, column) => {
    expect(position(yaml?.places.get(pointer)?.textStart)).toEqual({ line, column });
  });

  it('know how a plain scalar was written', () => {
    const { yaml } = read('a: +447700900123\nb: "07700"\n');
    expect(yaml?.places.get('/a')?.plain).toBe('+447700900123');
    expect(yaml?.places.get('/b')?.plain).toBeNull();
  });
});

test.each([
  ['newlines', '\n'],
  ['comments', '#\n'],
  ['closing brackets', ']'],
  ['closing braces', '}\n'],
  ['anchors', '&a '],
  ['tags', '!a '],
  ['keys', '?\n'],
  ['colons', ':'],
  ['documents', '---\n'],
  ['directives', '%a\n'],
  ['the same key', 'a:\n'],
  ['items', '- a\n'],
  ['quotes', "'"],
  ['lines of a block', 'a: |\n  x\n'],
])('a megabyte of %s is read or refused', (_label, unit) => {
  const text = unit.repeat(examples(Math.floor(MAX_YAML_BYTES / unit.length)));
  const { yaml, diagnostics } = read(text);
  expect(yaml !== null || diagnostics.length > 0).toBe(true);
});

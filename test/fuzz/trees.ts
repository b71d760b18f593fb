import fc from 'fast-check';
import { stringify } from 'yaml';
import { words } from './words.ts';

/*
 * Files that are well-formed and wrong: mappings and lists of which some parts were taken away, doubled, filled with
 * other things or called by other names. What a parser refuses is the matter of mutate.ts; this gets behind it.
 */

export type Tree = string | number | boolean | null | readonly Tree[] | { readonly [key: string]: Tree };

/** One change; `at` counts the parts of the tree, modulo their number. */
export interface Change {
  readonly kind: (typeof KINDS)[number];
  readonly at: number;
  readonly key: string;
  readonly value: Tree;
}

const KINDS = ['remove', 'put', 'put', 'put', 'add', 'rename', 'repeat', 'bury', 'copy'] as const;

/** Names that mean something to a program, or to another part of the file. */
const KEYS = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'length', '', ' ', '0', '-1', '$where'],
  ...['$expr', '$regex', '$function', '$and', '$or', '$nor', '$not', '$in', '$gte', '$exists', 'a/b~c', '~1', 'a.b'],
  ...['text', 'url', 'reply', 'buttons', 'cards', 'header', 'html', 'subject', 'name', 'handbill', 'msisdn', 'to'],
  ...['{{name}}', '<b>', '\u001b[2J', '\u202e', '😀', 'x'.repeat(300)],
];

const ODD: readonly Tree[] = [
  ...['', ' ', '\n', '{{name}}', '{{{name}}}', '{{nope}}', '{{#if plan}}x{{/if}}', '{{#each name}}x{{/each}}', '{{'],
  ...['{{> sign-off}}', '{{lookup this "__proto__"}}', '\\{{name}}', '{{default name "x"}}', 'plan', 'age', 'nope'],
  ...['/__proto__/polluted', '/body/constructor', '/recipients/0/__proto__', '/recipients/-', '/body/text', '/', '//'],
  ...['/body/content', '/metaData/handbill', '/recipients/0/metaData', '/x/~0~1', '/a'.repeat(90)],
  ...['https://riverside.example/{{name}}', 'javascript:alert(1)', 'http://x', 'mailto:a@b', '+447400100001', '00'],
  ...['2026-12-01', '2026-12-01T09:00:00Z', 'gold', 'en-GB', '5%', 'a', 'b', 'page.html', 'page.mjml', '../page.html'],
  ...['\u001b]52;c;ZXZpbA==\u0007', '\u202e', '\ufeff', '😀'.repeat(50), 'x'.repeat(5_000), '(a+)+$', "'); drop"],
  ...[
    '@daily',
    '0 0 29 2 *',
    '0 0 31 2 *',
    '* * * * *',
    'PST',
    'pacific/apia',
    '../../etc/passwd',
    'recipient',
    'hold',
  ],
  ...'24:00 00:00 09:60 weekdays exempt none 1% 99.9999% 0s 366d week rich@once @'.split(' '),
  ...[0, 1, 3, -1, 1.5, 1e308, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, true, false, null, [], {}],
  ...[[[]], [null], ['a', 'a'], { a: 1 }, { $in: [] }, { $where: 'this.x' }, { $gte: 18 }, { $not: { $not: {} } }],
];

/** Changes that are made one after the other; mostly few, so that much of what comes out is valid. */
export const changes: fc.Arbitrary<readonly Change[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...KINDS),
    at: fc.nat(9_999),
    key: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...KEYS) }, fc.constantFrom(...words('yaml'))),
    value: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...ODD) },
      { weight: 1, arbitrary: fc.constantFrom(...words('any')) },
      { weight: 1, arbitrary: fc.constantFrom(...words('template')) },
    ),
  }),
  { maxLength: 3, size: 'max' },
);

/** The tree after the changes. */
export function changed(tree: Tree, list: readonly Change[]): Tree {
  return list.reduce((now, change) => {
    const count = sizeOf(now) - 1;
    if (count < 1) return now;
    // Never the whole tree: a file that is one word is the matter of mutate.ts.
    const walk: Walk = { change, left: change.at % count, source: partAt(now, (change.at * 7) % count) };
    return inside(now, walk);
  }, tree);
}

interface Walk {
  readonly change: Change;
  /** Parts to pass before the one that is changed. */
  left: number;
  /** Another part of the tree, for `copy`. */
  readonly source: Tree;
}

function inside(tree: Tree, walk: Walk): Tree {
  if (isList(tree)) return tree.flatMap((item) => apply('', item, walk).map(([, value]) => value));
  if (tree === null || typeof tree !== 'object') return tree;
  return Object.fromEntries(Object.entries(tree).flatMap(([key, value]) => apply(key, value, walk)));
}

function apply(key: string, value: Tree, walk: Walk): readonly (readonly [string, Tree])[] {
  const here = walk.left === 0;
  walk.left -= 1;
  if (!here) return [[key, walk.left < 0 ? value : inside(value, walk)]];
  const { change, source } = walk;
  switch (change.kind) {
    case 'remove':
      return [];
    case 'put':
      return [[key, change.value]];
    case 'add':
      return [[key, extended(value, change)]];
    case 'rename':
      return [[change.key, value]];
    case 'repeat':
      return [[key, isList(value) ? Array.from({ length: 40 }, () => value).flat() : [value, value]]];
    case 'bury':
      return [[key, buried(value, change.key)]];
    case 'copy':
      return [[key, source]];
  }
}

function extended(value: Tree, change: Change): Tree {
  if (isList(value)) return [...value, change.value];
  if (value === null || typeof value !== 'object') return { [change.key]: value };
  return Object.fromEntries([...Object.entries(value), [change.key, change.value]]);
}

function buried(value: Tree, key: string): Tree {
  let deep = value;
  for (let depth = 0; depth < 30; depth++) deep = depth % 2 === 0 ? [deep] : { [key]: deep };
  return deep;
}

function sizeOf(tree: Tree): number {
  if (tree === null || typeof tree !== 'object') return 1;
  return 1 + Object.values(tree).reduce<number>((sum, inner: Tree) => sum + sizeOf(inner), 0);
}

function partAt(tree: Tree, index: number): Tree {
  if (index <= 0 || tree === null || typeof tree !== 'object') return tree;
  let left = index - 1;
  for (const inner of Object.values(tree) as readonly Tree[]) {
    const size = sizeOf(inner);
    if (left < size) return partAt(inner, left);
    left -= size;
  }
  return tree;
}

function isList(tree: Tree): tree is readonly Tree[] {
  return Array.isArray(tree);
}

/** The tree as a file of YAML, without anchors: what repeats is written again. */
export function yamlOf(tree: Tree): string {
  return stringify(tree, { aliasDuplicateObjects: false, lineWidth: 0 });
}

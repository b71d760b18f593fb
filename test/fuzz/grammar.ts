import fc from 'fast-check';

const tilde = fc.constantFrom('', '', '', '~', '&', '>', '*', '#', '/', '^');

const HELPERS = [
  'default',
  'upper',
  'lower',
  'title',
  'trim',
  'number',
  'currency',
  'date',
  'plural',
  'eq',
  'lookup',
  'log',
  'nope',
  'if',
] as const;

/** Templates by the grammar: blocks within blocks, expressions within expressions, columns of the list or not. */
export const template = fc.letrec<{ text: string; node: string; expression: string }>((tie) => ({
  text: fc.array(tie('node'), { maxLength: 6 }).map((nodes) => nodes.join('')),
  node: fc.oneof(
    { maxDepth: 8, depthSize: 'medium' },
    fc.constantFrom(
      'Hello ',
      '\n',
      ', ',
      '😀',
      '{{name}}',
      '{{order}}',
      '{{! c }}',
      '{{!-- }} --}}',
      '{{> sign-off}}',
      '\\{{name}}',
    ),
    fc.tuple(tilde, tie('expression'), tilde).map(([a, e, b]) => `{{${a}${e}${b}}}`),
    tie('expression').map((e) => `{{{${e}}}}`),
    fc
      .tuple(
        fc.constantFrom('if', 'unless', 'each', 'with', 'name', 'nope', '#if', '*inline', '> x'),
        tie('expression'),
        tie('text'),
        tie('text'),
      )
      .map(([block, e, a, b]) => `{{#${block} ${e}}}${a}{{else}}${b}{{/${block.replace(/^[#*> ]+/, '')}}}`),
    fc.tuple(tie('expression'), tie('text')).map(([e, a]) => `{{^${e}}}${a}{{/${e.split(' ')[0]}}}`),
  ),
  expression: fc.oneof(
    { maxDepth: 8, depthSize: 'medium' },
    fc.constantFrom(
      ...'name order parcels arrives this . ../name ./name @root.name @key "x" 1 true null nope name.length'.split(' '),
      ...'__proto__ constructor [name]'.split(' '),
      '[a b]',
      'this.constructor',
    ),
    fc
      .tuple(fc.constantFrom(...HELPERS), fc.array(argument(tie('expression')), { maxLength: 4 }))
      .map(([h, args]) => [h, ...args].join(' ')),
  ),
})).text;

function argument(expression: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return expression.map((e) => (e.includes(' ') ? `(${e})` : e));
}

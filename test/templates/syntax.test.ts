import { expect, test } from 'vitest';
import { findings } from './harness.ts';

test.each([
  ['an open tag', 'Hi {{name', '1:4 "{{" is never closed. (Close it with }}.)'],
  ['an open tag at the end', 'Hi {{', '1:4 "{{" is never closed. (Close it with }}.)'],
  ['half a close', 'a\n{{name}', '2:1 "{{" is never closed. (Close it with }}.)'],
  ['an empty tag', 'Hi {{}}', '1:4 The tag is empty. (Write the name of a column: {{name}}.)'],
  ['a tag of white space', 'Hi {{ }}', '1:4 The tag is empty. (Write the name of a column: {{name}}.)'],
  ['an open block', 'a\n {{#if a}}x', '2:2 {{#if}} is never closed. (Close it with {{/if}}.)'],
  [
    'the outer of two blocks',
    '{{#unless a}}{{#if b}}{{/if}}',
    '1:1 {{#unless}} is never closed. (Close it with {{/unless}}.)',
  ],
  [
    'a block that is not open',
    'x{{/if}}',
    '1:2 {{/if}} closes a block that is not open. (A block is opened with #: {{#if name}}.)',
  ],
  [
    'a block without #',
    '{{if a}}x{{/if}}',
    '1:10 {{/if}} closes a block that is not open. (A block is opened with #: {{#if name}}.)',
  ],
  ['another close', 'x\n{{#if a}}x{{/unless}}', '2:4 {{#if}} is closed by {{/unless}}. (Close it with {{/if}}.)'],
  [
    'only else',
    'a\nb {{else}} c',
    '2:3 {{else}} is outside {{#if}}, or after the last {{else}}. (A column named "else" is written {{[else]}}.)',
  ],
  [
    'two elses',
    '{{#if a}}{{else}}{{else}}{{/if}}',
    '1:18 {{else}} is outside {{#if}}, or after the last {{else}}. (A column named "else" is written {{[else]}}.)',
  ],
  ['two braces for three', '{{{a}}', '1:5 "}}" closes a tag that "{{{" opened. (Use as many braces on both sides.)'],
  ['three braces for two', '{{a}}}', '1:4 "}}}" closes a tag that "{{" opened. (Use as many braces on both sides.)'],
  ['an open quote', '{{upper "a}}', '1:9 A text that begins with " is never closed.'],
  ['an open bracket', '{{[a}}', '1:3 A "[" is never closed.'],
  ['an open parenthesis', '{{upper (trim a}}', '1:16 A "(" is never closed.'],
  [
    'a value after a named one',
    '{{upper x=a b}}',
    '1:14 A value follows a named one. (Named values (name=value) come last.)',
  ],
  ['a named value without a value', '{{upper a=}}', '1:11 The tag ends too early.'],
  ['a filter', '{{a|upper}}', '1:4 "|" is not allowed here. (A helper comes first, then its values: {{upper name}}.)'],
  [
    'a semicolon in a name',
    '{{a;b}}',
    '1:4 ";" is not allowed here. (If that is the name of a column, write {{[a;b]}}.)',
  ],
  [
    'a comma',
    '{{first,last}}',
    '1:8 "," is not allowed here. (If that is the name of a column, write {{[first,last]}}.)',
  ],
  [
    'an apostrophe in a name',
    "{{a's}}",
    '1:4 "\'" is not allowed here. (If that is the name of a column, write {{[a\'s]}}.)',
  ],
  [
    'a comparison',
    '{{#if a == "x"}}y{{/if}}',
    '1:10 "=" is not allowed here. (To compare, write {{#if (eq plan "gold")}}.)',
  ],
  [
    'a blank before a slash',
    '{{#if a}}y{{ /if }}',
    '1:14 "/" is not allowed here. (Write {{/if}}, without a blank before the "/".)',
  ],
  [
    'a merge conflict',
    'Hi\n<<<<<<< HEAD\na',
    '2:1 "<<<<<<< HEAD" is the mark of a merge conflict. (Keep one of the two texts.)',
  ],
  [
    'its end',
    'Hi\r\n>>>>>>> main\r\na',
    '2:1 ">>>>>>> main" is the mark of a merge conflict. (Keep one of the two texts.)',
  ],
  ['a dot before a name', '{{.a}}', '1:3 "." is not allowed here.'],
  ['a path through the parent', '{{a/../b}}', '1:3 "a/.." is not a name.'],
  ['an open comment', 'x {{!-- y }} z', '1:3 A comment is never closed. (Close it with --}}.)'],
  ['an open raw block', 'x\n{{{{raw}}}} y', '2:1 {{{{raw}}}} is never closed. (Close it with {{{{/raw}}}}.)'],
  ['NUL', 'a\nb\0', '2:2 The template holds a NUL character.'],
  [
    'an error after a comment',
    '{{!-- }} --}} {{! x }}{{a,b}}',
    '1:26 "," is not allowed here. (If that is the name of a column, write {{[a,b]}}.)',
  ],
  ['an error after CR LF', 'a\r\n\r\n{{}}', '3:1 The tag is empty. (Write the name of a column: {{name}}.)'],
])('%s', (_, text, expected) => {
  expect(findings(text, ['a', 'b'])).toEqual([`template-syntax ${expected}`]);
});

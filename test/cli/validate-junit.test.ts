import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { element, junitText, xmlDocument } from '../../src/cli/validate/junit.ts';
import { safe } from '../../src/util/escape.ts';
import { anyText } from '../helpers/any-text.ts';
import { examples } from '../helpers/quick.ts';
import { elementsOf, readXml } from '../helpers/xml.ts';

const anything = anyText(10, true);
/** Half of a pair of surrogates, which a list in UTF-16 can hold. */
const broken = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
  .map((codes) => String.fromCharCode(...codes));

describe('element', () => {
  test.each([
    ['the end of a section', ']]>', ']]&gt;'],
    ['markup', '<a b="c">&amp;</a>', '&lt;a b=&quot;c&quot;&gt;&amp;amp;&lt;/a&gt;'],
    ['NUL and ESC', 'a\0b\u001b', 'a\\u{0}b\\u{1b}'],
    ['what XML cannot write', '\ufffe\uffff\ud83d', '\\u{fffe}\\u{ffff}\\u{d83d}'],
    ['an emoji', '😀', '😀'],
    ['a line break', 'a\nb', 'a\nb'],
  ])('%s in text', (_label, text, markup) => {
    expect(element('a', {}, text).markup).toBe(`<a>${markup}</a>\n`);
  });

  it('keeps a line break of an attribute, and leaves out what is null', () => {
    expect(element('a', { b: 'x\ny', c: null, d: 1 }).markup).toBe('<a b="x&#10;y" d="1"/>\n');
  });

  it('is well-formed, and holds the text, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(anything, broken), (text) => {
        const shown = safe(text).replace(/[\ufffe\uffff]/g, (c) => `\\u{${c.charCodeAt(0).toString(16)}}`);
        const root = readXml(xmlDocument(element('a', { b: text }, [element('c', {}, text)])));
        expect(root.attributes['b']).toBe(shown);
        expect(elementsOf(root, 'c')[0]?.text).toBe(shown);
      }),
      { numRuns: examples(1000) },
    );
  });
});

describe('junitText', () => {
  const failure = fc.record({ message: anything, type: anything });
  const one = fc.record({ name: anything, failure, details: anything }, { requiredKeys: ['name', 'details'] });
  const suites = fc.array(fc.record({ name: anything, properties: fc.constant({ a: 1 }), cases: fc.array(one) }));

  it('adds up, whatever the cases', () => {
    fc.assert(
      fc.property(suites, (given) => {
        const root = readXml(junitText('all', given));
        for (const counted of [root, ...root.children]) {
          expect(counted.attributes).toMatchObject({
            tests: String(elementsOf(counted, 'testcase').length),
            failures: String(elementsOf(counted, 'failure').length),
            errors: '0',
            skipped: '0',
          });
        }
        expect(elementsOf(root, 'testcase').length).toBe(given.flatMap(({ cases }) => cases).length);
      }),
    );
  });
});

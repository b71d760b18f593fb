import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../src/errors.ts';
import { formatDiagnostics } from '../../src/util/diagnostic-text.ts';
import { anyText } from '../helpers/any-text.ts';

const plain = { colour: false };
const diagnostic: Diagnostic = {
  code: 'unknown-key',
  severity: 'error',
  message: '"chanel" is not a key of a campaign.',
  at: { file: 'campaigns/hello/campaign.yaml', line: 3, column: 1, length: 6 },
  hint: 'Did you mean "channel"?',
  source: 'chanel: sms',
};

/** The line and the carets below it, without the gutter. */
function excerpt(source: string, column: number, length = 1, width = 107): readonly [line: string, caret: string] {
  const at = { file: 'f', line: 1, column, length };
  const lines = formatDiagnostics([{ ...diagnostic, at, source }], { ...plain, width }).split('\n');
  return [(lines[2] ?? '').replace(/^ {2}1 \| ?/, ''), (lines[3] ?? '').replace(/^ {4}\| /, '')];
}

describe('formatDiagnostics', () => {
  it('shows message, place, line with caret, and what to do next', () => {
    expect(formatDiagnostics([diagnostic], plain)).toBe(
      [
        'error[unknown-key]: "chanel" is not a key of a campaign.',
        '  campaigns/hello/campaign.yaml:3:1',
        '  3 | chanel: sms',
        '    | ^^^^^^',
        '  help: Did you mean "channel"?',
        '',
      ].join('\n'),
    );
  });

  it('shows only the place without a line of the file', () => {
    const { source: _, hint: __, ...rest } = diagnostic;
    expect(formatDiagnostics([rest], plain)).toBe(
      'error[unknown-key]: "chanel" is not a key of a campaign.\n  campaigns/hello/campaign.yaml:3:1\n',
    );
  });

  it('is empty for nothing', () => expect(formatDiagnostics([], plain)).toBe(''));

  it('counts errors, warnings and what is not shown', () => {
    const warning: Diagnostic = { ...diagnostic, severity: 'warning' };
    const last = (list: readonly Diagnostic[], options: object) =>
      formatDiagnostics(list, { ...plain, ...options })
        .trimEnd()
        .split('\n')
        .at(-1);
    expect(last([diagnostic, diagnostic, warning], {})).toBe('2 errors, 1 warning');
    expect(formatDiagnostics([warning], plain)).not.toContain('1 warning');
    expect(last([diagnostic, diagnostic, warning], { limit: 1 })).toBe('2 errors, 1 warning (2 not shown)');
    expect(last([diagnostic, diagnostic], { limit: 1, total: 20 })).toBe('20 errors (19 not shown)');
  });

  it('names pages where there is something to read, not for a slip that the hint corrects', () => {
    const { hint: _, ...open } = diagnostic;
    const explained = (list: readonly Diagnostic[]) => formatDiagnostics(list, { ...plain, explain: true });
    expect(explained([diagnostic])).toBe(formatDiagnostics([diagnostic], plain));
    expect(explained([{ ...open, code: 'usage' }])).not.toContain('More:');
    expect(explained([open])).toMatch(/\n\nMore: handbill help unknown-key\n$/);
    expect(explained([open, open])).toMatch(/\n\n2 errors\nMore: handbill help unknown-key\n$/);
  });

  it('puts colour around the same text', () => {
    const coloured = formatDiagnostics([diagnostic], { colour: true });
    expect(coloured).toContain('\u001b[1;31m');
    expect(stripVTControlCharacters(coloured)).toBe(formatDiagnostics([diagnostic], plain));
  });

  it('lets nothing through that a terminal would obey', () => {
    const evil = 'a\u001b]52;c;x\u0007\r\u202e\u0085\u2028';
    const text = formatDiagnostics(
      [{ ...diagnostic, message: evil, hint: evil, source: evil, at: { file: evil, line: 1, column: 3, length: 2 } }],
      plain,
    );
    expect(text).toMatch(/^[\n\x20-\x7e]*$/);
    expect(text).toContain('\\u{1b}]52');
  });
});

describe('the caret', () => {
  it('is below wide characters, tabs and escapes', () => {
    expect(excerpt('日本: x', 5)).toEqual(['日本: x', '      ^']);
    expect(excerpt('\tx: y', 2)).toEqual(['    x: y', '    ^']);
    expect(excerpt('a\u001bb: c', 3)).toEqual(['a\\u{1b}b: c', '       ^']);
    expect(excerpt('👩‍👩‍👧 x', 10)).toEqual(['👩‍👩‍👧 x', '   ^']);
    expect(excerpt('e\u0301x', 3)).toEqual(['e\u0301x', ' ^']);
  });

  it('may be behind the line, and marks only the line', () => {
    expect(excerpt('abc', 4)).toEqual(['abc', '   ^']);
    expect(excerpt('abc', 2, 100)).toEqual(['abc', ' ^^']);
    expect(excerpt('', 1)).toEqual(['', '^']);
  });

  it('is kept in sight when a long line is cut', () => {
    const [line, caret] = excerpt(`${'x'.repeat(500)}HERE${'y'.repeat(500)}`, 501, 4);
    expect(line.length).toBeLessThanOrEqual(102);
    expect(line).toMatch(/^…x+HEREy+…$/);
    expect(line.slice(caret.indexOf('^'), caret.lastIndexOf('^') + 1)).toBe('HERE');
    expect(excerpt(`HERE${'y'.repeat(500)}`, 1, 4, 108)[0]).toMatch(/^HEREy{96}…$/);
    for (const width of [40, 80]) {
      const [narrow, below] = excerpt(`${'x'.repeat(500)}HERE${'y'.repeat(500)}`, 501, 4, width);
      expect(narrow).toHaveLength(width - '  1 | '.length);
      expect(narrow.slice(below.indexOf('^'), below.lastIndexOf('^') + 1)).toBe('HERE');
    }
  });

  it('shows a piece of a line of a megabyte', () => {
    expect(excerpt('x'.repeat(1 << 20), 500_000)[0].length).toBeLessThanOrEqual(102);
  });

  it('never throws, and stays within the width', () => {
    const sources = anyText(400, true);
    fc.assert(
      fc.property(
        sources,
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 1, max: 500 }),
        (source, column, length) => {
          const [, caret] = excerpt(source.replaceAll('\n', ' '), column, length);
          expect(caret).toMatch(/^ *\^+$/);
          expect(caret.length).toBeLessThanOrEqual(112);
        },
      ),
    );
  });
});

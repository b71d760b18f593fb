import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { ABOUT_NOTHING } from '../../src/operations/observer.ts';
import { type LogRecord, logLine } from '../../src/telemetry/log.ts';
import { createRedactor } from '../../src/util/redact.ts';
import { recordsIn } from './log-schema.ts';

const asItIs = (text: string): string => text;

function refused(text: string): LogRecord<'webhook-refused'> {
  const about = { ...ABOUT_NOTHING, campaign: text, occurrence: text };
  const fields = { httpStatus: 401, reason: text, count: 1 };
  return {
    timeMs: 0,
    level: 'warn',
    event: 'webhook-refused',
    message: `Said: ${text}`,
    command: 'listen',
    about,
    fields,
  };
}

/** Lines as readers may count them: those of Python's splitlines are the most. */
function linesOf(text: string): number {
  return 1 + [...text].filter((sign) => LINE_ENDS.includes(sign)).length;
}

const LINE_ENDS = '\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029';

/** Any units at all, halves of characters too. */
const UTF_16 = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0, max: 0xa0 })), { maxLength: 20 })
  .map((units) => String.fromCharCode(...units));

describe('a record is one line', () => {
  it.each([
    ['a newline and a forged record', 'x\n{"level":"error"}'],
    ['a carriage return', 'x\r{"level":"error"}'],
    ['separators of lines and paragraphs', 'x\u2028y\u2029z\u0085'],
    ['a terminal sequence', '\u001b[2J\u009b31m'],
    ['text from right to left', '\u202egpj.exe'],
    ['half of a character', '\ud800'],
    ['what a shell would run', '$(touch PWNED) `touch PWNED` \\$HOME'],
  ])('%s', (_label, text) => {
    const line = logLine(refused(text), asItIs);
    expect(linesOf(line.slice(0, -1))).toBe(1);
    expect(line.slice(0, -1)).toMatch(/^[\x20-\x7e\u00a0-\u{10ffff}]*$/u);
    expect(line).not.toMatch(/[\u202e\u2028$`]/);
    expect(recordsIn(line)).toMatchObject([{ campaign: text }]);
  });

  test('whatever the text is, and read back it is the same', () => {
    fc.assert(
      fc.property(UTF_16, (text) => {
        const line = logLine(refused(text), asItIs);
        expect(linesOf(line.slice(0, -1))).toBe(1);
        expect(recordsIn(line)[0]?.['occurrence']).toBe(text);
      }),
    );
  });
});

describe('what is not in a record', () => {
  it.each([
    ['a number in a sentence', 'The row of +447700900123 is bad.', '900123'],
    ['an email address in a sentence', 'The row of ann.other@example.com is bad.', 'ann.other'],
  ])('%s', (_label, text, hidden) => {
    const line = logLine(refused(text), asItIs);
    const [record] = recordsIn(line);
    expect(record?.['message']).not.toContain(hidden);
    expect(record?.['reason']).not.toContain(hidden);
  });

  it('a secret, in any field', () => {
    const line = logLine(refused('it holds SEKRET-0123456789 there'), createRedactor(['SEKRET-0123456789']));
    expect(line).not.toContain('SEKRET');
    expect(line.match(/\[key\]/g)?.length).toBe(4);
  });
});

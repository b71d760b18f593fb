import { execFileSync } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { parse } from 'csv-parse/sync';
import { describe, expect, it, test } from 'vitest';
import type { Report } from '../../src/model.ts';
import { formatReport, PRINT_FORMATS } from '../../src/report/formats.ts';
import { CSV_FIELDS } from '../../src/report/record.ts';
import {
  collect,
  FELL_BACK,
  OPTIONS,
  OUTCOMES_OF_ALL_KINDS,
  outcome,
  PLAIN,
  RETURNED,
  SPLIT,
  TROUBLED,
} from './examples.ts';

const REPORT_FORMATS = PRINT_FORMATS.filter((format) => format !== 'html');

const EXTENSIONS = { text: 'txt', brief: 'brief.txt', json: 'json', jsonl: 'jsonl', csv: 'csv' } as const;
const golden = (name: string) => new URL(`../fixtures/report/${name}`, import.meta.url).pathname;

test.each(['csv', 'jsonl'] as const)(
  '%s has one batch of rows at a time, and lets others run after each',
  async (format) => {
    let [made, written, most, turns] = [0, 0, 0, 0];
    function* batches() {
      for (; made < 5; most = Math.max(most, made - written)) {
        made += 1;
        setImmediate(() => {
          turns += 1;
        });
        yield [outcome({ row: made })];
      }
    }
    for await (const text of formatReport(format, PLAIN, batches(), OPTIONS)) {
      if (text.includes('+')) written += 1;
    }
    expect({ made, written, most, turns }).toEqual({ made: 5, written: 5, most: 0, turns: 5 });
  },
);

describe('golden outputs', () => {
  test.each(REPORT_FORMATS)('a run in trouble as %s', async (format) => {
    const options = { ...OPTIONS, campaignFile: 'campaigns/spring sale/campaign.yaml', currency: 'EUR' };
    const text = await collect(formatReport(format, TROUBLED, [OUTCOMES_OF_ALL_KINDS], options));
    await expect(text).toMatchFileSnapshot(golden(`troubled.${EXTENSIONS[format]}`));
  });
  test.each(['text'] as const)('a run without trouble as %s', async (format) => {
    const text = await collect(formatReport(format, PLAIN, [OUTCOMES_OF_ALL_KINDS.slice(0, 1)], OPTIONS));
    await expect(text).toMatchFileSnapshot(golden(`plain.${EXTENSIONS[format]}`));
  });
  test.each(['text', 'json'] as const)('a run about which something came back as %s', async (format) => {
    const lost = outcome({ row: 8, line: 11, delivery: 'undeliverable' });
    const text = await collect(
      formatReport(format, RETURNED, [[outcome({ delivery: 'read' }), lost]], { ...OPTIONS, width: 100 }),
    );
    await expect(text).toMatchFileSnapshot(golden(`returned.${EXTENSIONS[format]}`));
  });
  test.each([
    ['without trouble', 5, 'plain', PLAIN],
    ['with steps and variants', 9, 'split', SPLIT],
    ['in trouble, with six ends', 8, 'troubled', TROUBLED],
  ])('the end of a send %s, in %i lines', async (_, lines, name, report) => {
    const text = await collect(formatReport('text', report, [], { ...OPTIONS, short: true, currency: 'EUR' }));
    expect(text.trimEnd().split('\n')).toHaveLength(lines);
    await expect(text).toMatchFileSnapshot(golden(`${name}.short.txt`));
  });
  test.each(REPORT_FORMATS)('a run with steps and variants as %s', async (format) => {
    const text = await collect(
      formatReport(format, SPLIT, [[outcome({}), FELL_BACK]], { ...OPTIONS, currency: 'EUR' }),
    );
    await expect(text).toMatchFileSnapshot(golden(`split.${EXTENSIONS[format]}`));
  });
});

describe('text', () => {
  it('has no escape sequences without colour, and the same words with it', async () => {
    const plain = await collect(formatReport('text', TROUBLED, [], OPTIONS));
    const coloured = await collect(formatReport('text', TROUBLED, [], { ...OPTIONS, colour: true }));
    expect(plain).not.toContain('\u001b');
    expect(coloured).toContain('\u001b[');
    const uncoloured = stripVTControlCharacters(coloured).replaceAll(/ +\n/g, '\n');
    expect(uncoloured).toBe(plain);
  });
  test.each(
    [
      ['in trouble', TROUBLED],
      ['with steps and variants', SPLIT],
    ].flatMap(([label, report]) => [40, 50, 60, 70, 80, 100, 120].map((width) => [label, width, report] as const)),
  )('a run %s: tables and sentences fit %i columns', async (_label, width, report) => {
    const text = await collect(formatReport('text', report as Report, [], { ...OPTIONS, width, currency: 'EUR' }));
    const table = text.split('\n').filter((line) => line.startsWith('  ') && !line.startsWith('    handbill'));
    expect(table.length).toBeGreaterThan(8);
    for (const line of table) expect(line.length).toBeLessThanOrEqual(width);
  });
});

describe('jsonl', () => {
  test.each([
    ['accepted', 0.06, 0.06],
    ['in-doubt', 0.06, 0.06],
    ['rejected', 0.06, 0],
    ['failed', 0.06, 0],
    ['pending', 0.06, 0],
    ['accepted', null, null],
    ['rejected', null, null],
  ] as const)('a step that is %s and has the price %s costs %s', async (state, price, cost) => {
    const steps = FELL_BACK.steps?.map((step) => ({ ...step, outcome: state, cost: price })) ?? [];
    const record = JSON.parse(await collect(formatReport('jsonl', SPLIT, [[{ ...FELL_BACK, steps }]], OPTIONS)));
    expect(record.steps.map((step: { cost: number | null }) => step.cost)).toEqual([cost, cost]);
  });
  it('is nothing for a run without rows', async () => {
    expect(await collect(formatReport('jsonl', PLAIN, [], OPTIONS))).toBe('');
    expect(await collect(formatReport('jsonl', PLAIN, [[], []], OPTIONS))).toBe('');
  });
});

describe('csv', () => {
  it('has the same columns, every cell quoted, nothing for null', async () => {
    const text = await collect(formatReport('csv', PLAIN, [OUTCOMES_OF_ALL_KINDS], OPTIONS));
    const rows: string[][] = parse(text);
    expect(rows[0]).toEqual([...CSV_FIELDS]);
    expect(rows).toHaveLength(OUTCOMES_OF_ALL_KINDS.length + 1);
    expect(rows[1]?.[1]).toBe("'+447700900123");
    for (const line of text.trimEnd().split('\n')) expect(line).toMatch(/^("(?:[^"]|"")*",){18}"(?:[^"]|"")*"$/);
  });
});

describe('a large run', () => {
  // 200,000 outcomes are about 60 MB as objects: what kept them would not survive in this heap.
  test.each(['jsonl', 'csv'] as const)('200,000 outcomes as %s need a heap of 32 MB', (format) => {
    const script = new URL('../fixtures/report/stream-outcomes.ts', import.meta.url).pathname;
    const printed = execFileSync(process.execPath, ['--max-old-space-size=32', script, format, '200000'], {
      encoding: 'utf8',
    });
    const { lines, characters } = JSON.parse(printed);
    expect(lines).toBeGreaterThanOrEqual(200_000);
    expect(characters).toBeGreaterThan(20_000_000);
  });
});

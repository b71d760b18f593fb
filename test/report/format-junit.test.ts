import { describe, expect, it, test } from 'vitest';
import { OUTCOMES, type Outcome, type Report } from '../../src/model.ts';
import { formatReport } from '../../src/report/format.ts';
import { buildReport } from '../../src/report/tally.ts';
import { elementsOf, readXml, type XmlElement } from '../helpers/xml.ts';
import { collect, count, OPTIONS, OUTCOMES_OF_ALL_KINDS, outcome, PLAIN, REQUESTS, RUN, TROUBLED } from './examples.ts';

type Rows = Iterable<readonly Outcome[]> | AsyncIterable<readonly Outcome[]>;

async function junit(report: Report, rows: Rows = []): Promise<XmlElement> {
  return readXml(await collect(formatReport('junit', report, rows, { ...OPTIONS, campaignFile: 'a/campaign.yaml' })));
}

/** Names of the cases with what became of them. */
function resultsOf(document: XmlElement): Readonly<Record<string, string>> {
  const cases = elementsOf(document, 'testcase').map(({ attributes, children }) => {
    const result = children.find(({ name }) => name !== 'system-out')?.name ?? 'passed';
    return [attributes['name'] ?? '', result];
  });
  return Object.fromEntries(cases);
}

describe('a run as tests', () => {
  it('has one for the run and one for each outcome and reason', async () => {
    expect(resultsOf(await junit(TROUBLED, [OUTCOMES_OF_ALL_KINDS]))).toEqual({
      run: 'error',
      accepted: 'passed',
      'rejected: status': 'failure',
      'failed: connect': 'failure',
      'skipped: duplicate': 'skipped',
      'skipped: suppressed': 'skipped',
      'in-doubt: timeout': 'error',
      'in-doubt: no-response': 'error',
      pending: 'skipped',
    });
  });

  it('has its counts and totals right', async () => {
    const document = await junit(TROUBLED, [OUTCOMES_OF_ALL_KINDS]);
    const facts = { tests: '9', failures: '2', errors: '3', skipped: '3', time: '64.120' };
    expect(document.attributes).toMatchObject(facts);
    expect(document.children[0]?.attributes).toMatchObject({ ...facts, timestamp: '2026-11-21T09:00:00' });
    const properties = elementsOf(document, 'property').map(({ attributes }) => [
      attributes['name'],
      attributes['value'],
    ]);
    const totals = Object.entries(TROUBLED.totals).map(([name, total]) => [`totals.${name}`, String(total)]);
    for (const total of totals) expect(properties).toContainEqual(total);
    const messages = elementsOf(document, 'testcase')
      .slice(1)
      .map((one) => {
        const [child] = one.children;
        return Number(
          /^([\d,]+) recipient/.exec(child?.attributes['message'] ?? child?.text ?? '')?.[1]?.replace(',', ''),
        );
      });
    expect(messages.reduce((sum, each) => sum + each, 0)).toBe(TROUBLED.totals.recipients);
  });

  it('passes where all is well', async () => {
    expect(resultsOf(await junit(PLAIN))).toEqual({
      run: 'passed',
      accepted: 'passed',
      'skipped: duplicate': 'skipped',
    });
  });

  test.each([
    ['running', 'skipped'],
    ['interrupted', 'error'],
    ['halted', 'error'],
    ['partial', 'passed'],
  ] as const)('a run that is %s: %s', async (state, result) => {
    expect(resultsOf(await junit({ ...PLAIN, state }))['run']).toBe(result);
  });

  it('of every outcome is something that a page can show', async () => {
    const counts = OUTCOMES.map((state) => count({ outcome: state, count: 3 }));
    const results = resultsOf(await junit(buildReport(RUN, counts, REQUESTS)));
    expect(Object.keys(results)).toEqual(['run', ...OUTCOMES]);
  });
});

describe('recipients', () => {
  const REPORT = buildReport(
    RUN,
    [count({ outcome: 'rejected', reason: 'status', count: 500_000 }), count({ count: 500_000 })],
    REQUESTS,
  );

  it('are named by line and masked address, 20 of a group, and nothing of the answer of the API', async () => {
    const rows = Array.from({ length: 30 }, (_, row) =>
      outcome({
        row,
        line: row + 2,
        outcome: 'rejected',
        reason: 'status',
        httpStatus: 400,
        error: 'no +447700900123',
      }),
    );
    const [failure] = elementsOf(await junit(REPORT, [rows]), 'failure');
    expect(failure?.text.trim().split('\n')).toEqual([
      ...Array.from({ length: 20 }, (_, row) => `line ${row + 2}: +44••••••0123, HTTP 400`),
      '499,980 more.',
    ]);
  });

  it('are read no further than until enough are named', async () => {
    let batches = 0;
    async function* rows() {
      for (let row = 0; row < 1000; row += 1) {
        batches += 1;
        yield Array.from({ length: 50 }, () => outcome({ row, outcome: 'rejected', reason: 'status' }));
      }
    }
    await junit(REPORT, rows());
    expect(batches).toBe(1);
    batches = 0;
    await junit(PLAIN, rows());
    expect(batches).toBe(0);
  });

  it('without an address are named by their line', async () => {
    const rows = [outcome({ line: 9, to: null, outcome: 'rejected', reason: 'status', httpStatus: null })];
    expect(elementsOf(await junit(REPORT, [rows]), 'failure')[0]?.text).toContain('line 9: no address\n');
  });
});

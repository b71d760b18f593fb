import { describe, expect, it } from 'vitest';
import { findColumns } from '../../src/suppression/entries.ts';

const find = (...columns: readonly string[]) => findColumns(columns, 'list.csv', 3);

describe('the columns of a suppression list', () => {
  it('are found by their names, in whatever case and order', () => {
    expect(find('Until', 'note', 'EMAIL', 'msisdn', 'Hash')).toEqual({
      addresses: [
        { kind: 'msisdn', at: 3 },
        { kind: 'email', at: 2 },
      ],
      hash: 4,
      reason: -1,
      until: 0,
      topic: -1,
    });
  });

  it.each([
    ['msisdn', ['msisdn', 'MSISDN']],
    ['email', ['Email', 'msisdn', 'eMail']],
    ['hash', ['hash', 'HASH']],
    ['until', ['msisdn', 'until', 'Until']],
    ['reason', ['msisdn', 'Reason', 'reason']],
    ['topic', ['msisdn', 'Topic', 'topic']],
  ])('of two that mean %s, neither is read over: they are refused', (name, columns) => {
    expect(find(...columns)).toMatchObject({
      code: 'csv-duplicate-header',
      message: `list.csv has two columns named "${name}" but for upper and lower case.`,
      at: { file: 'list.csv', line: 3 },
    });
  });

  it('other columns may be named as they are', () => {
    expect(find('msisdn', 'note', 'Note')).toMatchObject({ addresses: [{ kind: 'msisdn', at: 0 }] });
  });

  it('without a header, the numbers in its place are masked, and long ones cut', () => {
    const found = find('+447400100000', 'ann@example.com', 'x'.repeat(100_000));
    const hint = 'hint' in found ? (found.hint ?? '') : '';
    expect(hint).toContain('it has: +44••••••0000, a•••@example.com, xxx');
    expect(hint.length).toBeLessThan(400);
  });
});

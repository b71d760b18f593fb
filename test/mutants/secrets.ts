import type { Mutant } from './mutant.ts';

/** What is printed and written: SECURITY. */
export const SECRETS: readonly Mutant[] = [
  {
    name: 'key-in-an-error',
    planted: 'the message about a bad key repeats the key',
    edits: [
      {
        file: 'src/http/credentials.ts',
        was: "`, {\n    hint: 'Only printable",
        is: " It is: `.concat(value), {\n    hint: 'Only printable",
      },
    ],
    proof: { in: 'http/credentials.test.ts' },
  },
  {
    name: 'key-kept-from-an-answer',
    planted: 'what an API says of a refusal is kept as it is, the key in it too',
    edits: [
      {
        file: 'src/run/api.ts',
        was: 'createRedactor(key.length < SHORTEST_KEY ? [] : [key])',
        is: 'createRedactor(SHORTEST_KEY > 0 ? [] : [key])',
      },
    ],
    proof: { in: 'faults/behaviours.test.ts', only: ': 400 that repeats the' },
  },
  {
    name: 'key-file-for-everybody',
    planted: 'a key file that others can read is used',
    edits: [
      {
        file: 'src/util/secret.ts',
        was: 'if ((stat.mode & 0o077) !== 0) {',
        is: 'if ((stat.mode & 0o077) === -1) {',
      },
    ],
    proof: { in: 'http/credentials.test.ts' },
  },
  {
    name: 'formula-in-csv',
    planted: 'a cell that a spreadsheet would run is exported without its quote',
    edits: [{ file: 'src/util/csv-cell.ts', was: 'NEEDS_GUARD.test(value) ?', is: 'value.length < 0 ?' }],
    proof: { in: 'report/hostile.test.ts' },
  },
  {
    name: 'quote-in-csv',
    planted: 'a quote in a cell is not doubled, so that it ends the cell',
    edits: [{ file: 'src/util/csv-cell.ts', was: `.replaceAll('"', '""')`, is: '' }],
    proof: { in: 'util/csv-cell.test.ts' },
  },
];

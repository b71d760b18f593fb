import type { Mutant } from './mutant.ts';

const NEIGHBOURS = 'src/ledger/neighbours.ts';

/** What one statement for many people may get wrong. */
export const NEIGHBOURING: readonly Mutant[] = [
  {
    name: 'neighbours-claimed-unseen',
    planted: 'where one statement claims less than all, all are taken for claimed',
    edits: [{ file: NEIGHBOURS, was: 'texts) !== claims.length)', is: 'texts) > claims.length)' }],
    proof: { in: 'ledger/neighbours.test.ts' },
  },
  {
    name: 'neighbours-accepted-unseen',
    planted: 'where one statement records less than all outcomes, the others are forgotten',
    edits: [{ file: NEIGHBOURS, was: 'status) !== usual.length)', is: 'status) > usual.length)' }],
    proof: { in: 'ledger/neighbours.test.ts' },
  },
  {
    name: 'neighbours-claimed-unasked',
    planted: 'whoever stands between two who are claimed is claimed too',
    edits: [
      {
        file: NEIGHBOURS,
        was: 'AND key = ?5 ->> CAST(row - ?3 AS INTEGER) AND address = key',
        is: 'AND ?5 IS NOT NULL AND address = key',
      },
      { file: NEIGHBOURS, was: 'texts) !== claims.length)', is: 'texts) < claims.length)' },
    ],
    proof: { in: 'ledger/neighbours.test.ts' },
  },
  {
    name: 'neighbours-accepted-unasked',
    planted: 'whoever stands between two who were accepted is taken for accepted too',
    edits: [
      { file: NEIGHBOURS, was: '\n      AND ?5 ->> CAST(row - ?3 AS INTEGER) IS NOT NULL', is: '' },
      { file: NEIGHBOURS, was: 'status) !== usual.length)', is: 'status) < usual.length)' },
    ],
    proof: { in: 'ledger/neighbours.test.ts' },
  },
  {
    name: 'neighbours-tried-before',
    planted: 'a row that another process tried meanwhile is claimed with its neighbours',
    edits: [{ file: NEIGHBOURS, was: "state = 'pending' AND attempts = 0", is: "state = 'pending'" }],
    proof: { in: 'ledger/neighbours.test.ts' },
  },
  {
    name: 'neighbours-counted-before',
    planted: 'an answer that comes after its attempt was taken for a crash is recorded for the claim that stands now',
    edits: [{ file: NEIGHBOURS, was: "state = 'claimed' AND attempts = 0", is: "state = 'claimed'" }],
    proof: { in: 'ledger/neighbours.test.ts' },
  },
  {
    name: 'neighbours-with-other-texts',
    planted: 'texts that JSON has only escapes for are handed to SQLite as JSON',
    edits: [{ file: NEIGHBOURS, was: "texts.includes('\\\\') ? null", is: "texts === '' ? null" }],
    proof: { in: 'ledger/neighbours.test.ts' },
  },
];

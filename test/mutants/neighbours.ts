import type { Mutant } from './mutant.ts';

const NEIGHBOURS = 'src/ledger/neighbours.ts';

/** What one statement for many people may get wrong. */
export const NEIGHBOURING: readonly Mutant[] = [
  {
    name: 'neighbours-claimed-unseen',
    planted: 'where one statement claims less than all, all are taken for claimed',
    edits: [{ file: NEIGHBOURS, was: 'width) !== claims.length)', is: 'width) > claims.length)' }],
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
        was: 'AND key = rtrim(CAST(substr(?5, (row - ?3) * ?6 + 1, ?6) AS TEXT)) AND address = key',
        is: 'AND ?5 IS NOT NULL AND ?6 > 0 AND address = key',
      },
      { file: NEIGHBOURS, was: 'width) !== claims.length)', is: 'width) < claims.length)' },
    ],
    proof: { in: 'ledger/neighbours.test.ts' },
  },
  {
    name: 'neighbours-accepted-unasked',
    planted: 'whoever stands between two who were accepted is taken for accepted too',
    edits: [
      { file: NEIGHBOURS, was: "\n      AND rtrim(CAST(substr(?5, (row - ?3) * ?6 + 1, ?6) AS TEXT)) <> ''", is: '' },
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
    planted: 'texts whose characters take several bytes are cut where the characters of others would be',
    edits: [{ file: NEIGHBOURS, was: 'scratch.write(joined) !== joined.length', is: 'scratch.write(joined) === 0' }],
    proof: { in: 'ledger/neighbours.test.ts' },
  },
  {
    name: 'neighbours-with-spaces',
    planted: 'an id that ends in a space loses it when it is recorded with others',
    edits: [{ file: NEIGHBOURS, was: "text === '' || text.endsWith(' ')", is: "text === ''" }],
    proof: { in: 'ledger/neighbours.test.ts' },
  },
];

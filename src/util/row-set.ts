/** Numbers of rows, at a bit each: 128 KB for a million rows one after the other. */
export type RowSet = ReturnType<typeof createRowSet>;

const PAGE_BITS = 15;
const PAGE_ROWS = 1 << PAGE_BITS;

export function createRowSet() {
  // Rows that are next to each other are in the same page: of shards here and there, only those are kept.
  const pages = new Map<number, Uint32Array>();
  let size = 0;
  return {
    add(row: number): void {
      const number = row >>> PAGE_BITS;
      let page = pages.get(number);
      if (page === undefined) {
        page = new Uint32Array(PAGE_ROWS / 32);
        pages.set(number, page);
      }
      const at = (row & (PAGE_ROWS - 1)) >>> 5;
      const word = page[at] ?? 0;
      const bit = 1 << (row & 31);
      if ((word & bit) !== 0) return;
      page[at] = word | bit;
      size += 1;
    },
    delete(row: number): void {
      const page = pages.get(row >>> PAGE_BITS);
      const at = (row & (PAGE_ROWS - 1)) >>> 5;
      const word = page?.[at] ?? 0;
      const bit = 1 << (row & 31);
      if (page === undefined || (word & bit) === 0) return;
      page[at] = word & ~bit;
      size -= 1;
    },
    has(row: number): boolean {
      const word = pages.get(row >>> PAGE_BITS)?.[(row & (PAGE_ROWS - 1)) >>> 5] ?? 0;
      return (word & (1 << (row & 31))) !== 0;
    },
    get size(): number {
      return size;
    },
    /** In order. */
    *[Symbol.iterator](): Generator<number> {
      for (const number of [...pages.keys()].sort((a, b) => a - b)) {
        const page = pages.get(number) ?? [];
        for (const [at, word] of page.entries()) {
          if (word === 0) continue;
          for (let bit = 0; bit < 32; bit += 1) {
            if ((word & (1 << bit)) !== 0) yield number * PAGE_ROWS + at * 32 + bit;
          }
        }
      }
    },
  };
}

const FIRST_MS = [500, 1000, 2000] as const;
const LATER_MS = 5000;

/** How long it is waited before a ledger that was lost is tried again, after so many tries: at first it may be back soon. */
export function againMs(tries: number): number {
  return FIRST_MS[tries] ?? LATER_MS;
}

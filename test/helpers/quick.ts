import process from 'node:process';

/** A run that takes samples: neither a whole set (`HANDBILL_FULL=1`) nor a hunt. */
export const QUICK = process.env['VITEST'] !== undefined && process.env['HANDBILL_FULL'] !== '1';

/** How many examples of a property are tried: all of them in the whole sets, a third of them otherwise. */
export function examples(all: number): number {
  return QUICK ? Math.ceil(all / 3) : all;
}

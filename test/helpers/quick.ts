import process from 'node:process';

/** This is `npm test`, which takes samples: neither a whole set (`HANDBILL_FULL=1`) nor a hunt. */
export const QUICK = process.env['VITEST'] !== undefined && process.env['HANDBILL_FULL'] !== '1';

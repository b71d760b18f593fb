import { createRequire } from 'node:module';
import { onDemand } from './on-demand.ts';

/** csv-parse, loaded when the first record needs it (6 ms): in most lists none has a quote. */
export const csvParse = onDemand(
  () => createRequire(import.meta.url)('csv-parse/sync') as typeof import('csv-parse/sync'),
);

import { createRequire } from 'node:module';

/**
 * Handlebars as the one file that it publishes for browsers: the same code in 10 ms, where its 45 files take 25. Nor
 * does that file teach `require` to load templates, which the entry for Node does to the whole process.
 */
export const Handlebars = createRequire(import.meta.url)(
  'handlebars/dist/handlebars.min.js',
) as typeof import('handlebars');

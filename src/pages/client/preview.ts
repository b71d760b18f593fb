import { browse } from './preview-browse.ts';

/** Older browsers keep what the page shows without it. */
if ('DecompressionStream' in globalThis) void browse();

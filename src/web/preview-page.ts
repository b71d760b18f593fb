import type { Preview } from '../operations/preview.ts';
import { previewFacts } from '../operations/preview.ts';
import { previewPage } from '../pages/preview.ts';

/** The page of a dry run: every row of its batches, and what all of them come to. */
export function previewHtml(preview: Preview): AsyncGenerator<string> {
  return previewPage(preview, { facts: () => previewFacts(preview) });
}

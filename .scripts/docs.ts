/**
 * Makes the reference pages that can be made: from the JSON Schemas, from the help of every command, from the files of
 * providers, and from the closed set of codes, whose examples are run. `node .scripts/docs.ts` writes them, with `--check` it only compares and leaves
 * with status 1 where a page is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { commandsPage } from './docs-commands.ts';
import { diagnosticsPage } from './docs-diagnostics.ts';
import type { Pages } from './docs-markdown.ts';
import { movesPage } from './docs-moves.ts';
import { fetchPage, knownProviders, providerPage, providersPage, readmeWithProviders } from './docs-providers.ts';
import { campaignPage, formatsPage, projectPage, providerFilePage } from './docs-schemas.ts';

const ROOT = new URL('..', import.meta.url);

/** What makes each page, by its path from the root of the project. */
export const MAKERS: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/diagnostics.md': () => diagnosticsPage(),
  'docs/commands.md': commandsPage,
  'docs/campaign.md': campaignPage,
  'docs/project.md': projectPage,
  'docs/provider-file.md': providerFilePage,
  'docs/formats.md': formatsPage,
  'docs/reference/outcomes.md': movesPage,
  'docs/providers.md': providersPage,
  'docs/fetch.md': fetchPage,
  'README.md': readmeWithProviders,
  ...Object.fromEntries(
    knownProviders().map((known) => [`docs/providers/${known.provider.name}.md`, () => providerPage(known)]),
  ),
};

/** Makes pages; all of them when none is named. */
export async function makePages(names: readonly string[] = Object.keys(MAKERS)): Promise<Pages> {
  const made = new Map<string, string>();
  for (const name of names) made.set(name, (await MAKERS[name]?.()) ?? '');
  return made;
}

/** The pages among these whose file is not what would be made. */
export function stalePages(made: Pages): readonly string[] {
  return [...made].filter(([path, text]) => textOf(path) !== text).map(([path]) => path);
}

function textOf(path: string): string | null {
  try {
    return readFileSync(new URL(path, ROOT), 'utf8');
  } catch {
    return null;
  }
}

if (import.meta.main) {
  const made = await makePages();
  const stale = stalePages(made);
  if (process.argv.includes('--check')) {
    for (const path of stale) process.stderr.write(`${path} is stale: run \`node .scripts/docs.ts\`.\n`);
    process.exitCode = stale.length === 0 ? 0 : 1;
  } else {
    for (const path of stale) writeFileSync(new URL(path, ROOT), made.get(path) ?? '');
    process.stdout.write(stale.length === 0 ? 'Every page is up to date.\n' : `Wrote ${stale.join(', ')}.\n`);
  }
}

/**
 * Makes the reference pages that can be made: from the JSON Schemas, from the help of every command, and from the closed
 * set of codes, whose examples are run. `node .scripts/docs.ts` writes them, with `--check` it only compares and leaves
 * with status 1 where a page is stale.
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandsPages } from './docs-commands.ts';
import { diagnosticsPage } from './docs-diagnostics.ts';
import type { Pages } from './docs-markdown.ts';
import { movesPage } from './docs-moves.ts';
import { campaignPage, formatsPages, projectPage } from './docs-schemas.ts';

const ROOT = new URL('..', import.meta.url);

/** Every set of pages that is made, by the page that leads to the others: those are in the folder of its name. */
export const MAKERS: Readonly<Record<string, () => Pages | Promise<Pages>>> = {
  'docs/diagnostics.md': async () => new Map([['docs/diagnostics.md', await diagnosticsPage()]]),
  'docs/commands.md': commandsPages,
  'docs/campaign.md': () => new Map([['docs/campaign.md', campaignPage()]]),
  'docs/project.md': () => new Map([['docs/project.md', projectPage()]]),
  'docs/formats.md': formatsPages,
  'docs/reference/outcomes.md': () => new Map([['docs/reference/outcomes.md', movesPage()]]),
};

/** Makes sets of pages; all of them when none is named. */
export async function makePages(names: readonly string[] = Object.keys(MAKERS)): Promise<Pages> {
  const made = new Map<string, string>();
  for (const name of names) for (const [path, text] of (await MAKERS[name]?.()) ?? []) made.set(path, text);
  return made;
}

/** The pages among these whose file is not what would be made, and files in their folders that would not be made. */
export function stalePages(made: Pages): readonly string[] {
  const changed = [...made].filter(([path, text]) => textOf(path) !== text).map(([path]) => path);
  return [...changed, ...leftPages(made)];
}

function leftPages(made: Pages): readonly string[] {
  const folders = new Set([...made.keys()].map((path) => dirname(path)).filter((folder) => made.has(`${folder}.md`)));
  const files = [...folders].flatMap((folder) => globSync(`${folder}/*.md`, { cwd: fileURLToPath(ROOT) }));
  return files.filter((path) => !made.has(path));
}

function textOf(path: string): string | null {
  try {
    return readFileSync(new URL(path, ROOT), 'utf8');
  } catch {
    return null;
  }
}

function write(path: string, text: string | undefined): void {
  const file = new URL(path, ROOT);
  if (text === undefined) rmSync(file);
  else {
    mkdirSync(new URL('.', file), { recursive: true });
    writeFileSync(file, text);
  }
}

if (import.meta.main) {
  const made = await makePages();
  const stale = stalePages(made);
  if (process.argv.includes('--check')) {
    for (const path of stale) process.stderr.write(`${path} is stale: run \`node .scripts/docs.ts\`.\n`);
    process.exitCode = stale.length === 0 ? 0 : 1;
  } else {
    for (const path of stale) write(path, made.get(path));
    process.stdout.write(stale.length === 0 ? 'Every page is up to date.\n' : `Wrote ${stale.join(', ')}.\n`);
  }
}

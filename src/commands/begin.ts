import process from 'node:process';
import { boundOldGeneration } from '../util/old-generation.ts';
import { hasSmallLists } from './small-list.ts';
import { COMMANDS } from './table.ts';
import { boundYoungGeneration } from './young-generation.ts';

/** Runs the command line, in a process with the memory that its command needs: before anything else is loaded. */
export async function begin(args: readonly string[]): Promise<void> {
  // To start again takes as long as an empty script, and a short list needs no bounds.
  if (!hasSmallLists(args, process.cwd())) boundYoungGeneration(args, COMMANDS, process);
  boundOldGeneration(globalThis.gc);
  const { main } = await import('./main.ts');
  await main(args);
}
